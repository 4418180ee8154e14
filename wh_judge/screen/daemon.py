"""Whether the Dagster daemon runs, which takes what lies in the inbox."""

from wh_judge.settings import Settings


def daemon_is_running(settings: Settings) -> bool | None:
    """Whether the daemon that looks into the inbox has shown itself lately; None where nobody can tell."""
    # Dagster is large and only this page asks for it.
    import dagster as dg

    from wh_judge.instance import dagster_home

    try:
        with dg.DagsterInstance.from_config(str(dagster_home(settings))) as instance:
            statuses = instance.get_daemon_statuses(["SENSOR"])
    except Exception:
        return None
    return statuses["SENSOR"].healthy is True
