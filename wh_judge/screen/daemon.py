"""Whether the Dagster daemon runs, which takes what lies in the inbox."""

import time

from wh_judge.home import dagster_home
from wh_judge.settings import Settings

SILENT_SECONDS = 180.0
"""After so long without a sign a daemon counts as gone. It gives one every 30 seconds; Dagster waits half an hour."""


def daemon_is_running(settings: Settings) -> bool | None:
    """Whether the daemon that looks into the inbox has shown itself lately; None where nobody can tell."""
    # Dagster is large and only this page asks for it.
    import dagster as dg

    try:
        with dg.DagsterInstance.from_config(str(dagster_home(settings))) as instance:
            statuses = instance.get_daemon_statuses(["SENSOR"])
    except Exception:
        return None
    heartbeat = statuses["SENSOR"].last_heartbeat
    return heartbeat is not None and time.time() - heartbeat.timestamp < SILENT_SECONDS
