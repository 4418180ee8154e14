"""Runs of the graph from the command line: what is missing or stale, or a range of days, in this one process."""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

import dagster as dg

from wh_judge.definitions import build_definitions
from wh_judge.drafts.tally import Tally
from wh_judge.errors import UserError
from wh_judge.inputs import TABLES, input_path
from wh_judge.instance import STARTED_HERE, open_instance
from wh_judge.model import KST
from wh_judge.resources import Warehouse
from wh_judge.settings import Settings
from wh_judge.store import open_warehouse, read_warehouse
from wh_judge.store.days import JUDGED
from wh_judge.store.drafts import days_to_draft
from wh_judge.store.inputs import bring_in
from wh_judge.store.log import log_days
from wh_judge.store.probes import probes_known
from wh_judge.store.snapshot import is_published
from wh_judge.store.stale import refresh_stale
from wh_judge.store.verdicts import judged_versions
from wh_judge.store.votes import is_read, people_known

Progress = Callable[[str, int, int], None]
"""Told what is being done, how many days are done, and how many there are."""

_DATA_VERSION = "dagster/data_version"


@dataclass
class RunResult:
    """What was done."""

    runs: list[str] = field(default_factory=list)
    """Dagster runs that were launched, by id."""
    days: list[dt.date] = field(default_factory=list)
    """Days that were judged."""
    turns: int = 0
    """Turns that were judged on these days."""
    failed: dict[str, str] = field(default_factory=dict)
    """What failed, and why, by day or job."""
    drafted: Tally = field(default_factory=Tally)
    """What came of the drafts of these days."""
    outside: list[dt.date] = field(default_factory=list)
    """Days with turns that have no partition: before the setting first_day, or in the future."""


def run_stale(settings: Settings, progress: Progress) -> RunResult:
    """Materialise what is missing or no longer follows from its inputs; nothing where nothing changed."""
    result = RunResult()
    _check_inputs(settings)
    with open_instance(settings) as instance:
        with open_warehouse(settings.warehouse) as connection:
            small = [TABLES["character_card"], TABLES["topic_lexicon"]]
            changed = [t for t in small if not is_read(connection, settings, t)]
        if changed or not _succeeded(instance, "inputs"):
            progress("cards and lexicon", 0, 0)
            _execute(result, instance, settings, "inputs", "inputs")
        with open_warehouse(settings.warehouse) as connection:
            progress("log files", 0, 0)
            brought_in = bring_in(connection, settings)
            # What a file holds may concern no day, such as rejected rows: the newest day then reports it.
            untold = log_days(connection)[-1:] if brought_in else []
            unreported = _unreported(instance, judged_versions(connection))
            found = refresh_stale(connection, settings)
            stale = sorted({*(entry.day for entry in found), *unreported}) or untold
        _judge(result, instance, stale, settings, progress)
        with open_warehouse(settings.warehouse) as connection:
            relabelled = not is_read(connection, settings, TABLES["gold_label"])
            relabelled = relabelled or not people_known(connection, settings) or not probes_known(connection, settings)
            finished = is_published(connection, settings.published)
        if result.runs or relabelled or not finished or not _succeeded(instance, "evaluations"):
            progress("evaluations", 0, 0)
            _execute(result, instance, settings, "evaluations", "evaluations")
    return result


def run_range(
    settings: Settings, first: dt.date, last: dt.date, progress: Progress, *, only_stale: bool = False
) -> RunResult:
    """Materialise every day from `first` to `last` that has turns, or of them the stale ones, then the evaluations."""
    result = RunResult()
    _check_inputs(settings)
    with open_instance(settings) as instance:
        progress("cards and lexicon", 0, 0)
        _execute(result, instance, settings, "inputs", "inputs")
        with open_warehouse(settings.warehouse) as connection:
            progress("log files", 0, 0)
            bring_in(connection, settings)
            stale = refresh_stale(connection, settings)
            known = log_days(connection)
            if not any(first <= day <= last for day in known):
                raise UserError(f"FROM {first} TO {last}: no turns lie on these days; {_lie(known)}")
            chosen = [entry.day for entry in stale] if only_stale else known
            days = [day for day in chosen if first <= day <= last]
        _judge(result, instance, days, settings, progress)
        progress("evaluations", 0, 0)
        _execute(result, instance, settings, "evaluations", "evaluations")
    return result


def _lie(days: Sequence[dt.date]) -> str:
    return f"the log has turns from {min(days)} to {max(days)}" if days else "the log has none at all"


def run_drafts(settings: Settings, first: dt.date, last: dt.date, progress: Progress) -> RunResult:
    """Materialise the drafts of every judged day from `first` to `last`, then the evaluations, for their snapshot.

    Raises:
        UserError: the setting drafts names no verdict, no usable endpoint is named, or no day of these was judged.
    """
    from wh_judge.drafts.day import WATCHER, endpoint_of

    endpoint_of(settings)
    result = RunResult()
    with open_instance(settings) as instance:
        with read_warehouse(settings.warehouse) as connection:
            days = days_to_draft(connection, first, last)
        for number, day in enumerate(days, 1):
            head = f"{day} ({number}/{len(days)})"
            progress(head, 0, 0)
            token = WATCHER.set(_watcher(progress, head, any(settings.drafts_prices)))
            try:
                outcome = _execute(result, instance, settings, "write_drafts", str(day), partition_key=str(day))
            finally:
                WATCHER.reset(token)
            if outcome is None:
                # What fails one day, such as a server that is not there, fails the others, too.
                break
            result.days.append(day)
            result.drafted += _tally(outcome)
        if result.days:
            progress("evaluations", 0, 0)
            _execute(result, instance, settings, "evaluations", "evaluations")
    return result


def _check_inputs(settings: Settings) -> None:
    """Raise a UserError where an input is missing, before anything is written."""
    for table in TABLES.values():
        input_path(settings.inputs, table, optional=table.optional)


def _succeeded(instance: dg.DagsterInstance, job: str) -> bool:
    """Whether the job's last run told all that it had to tell; one that was killed may have written and not told."""
    runs = instance.get_runs(dg.RunsFilter(job_name=job), limit=1)
    return bool(runs) and runs[0].is_success


def _unreported(instance: dg.DagsterInstance, versions: Mapping[dt.date, str]) -> list[dt.date]:
    """The days whose verdicts Dagster does not know: a run was killed in between, or its history was deleted."""
    known = instance.event_log_storage.get_latest_tags_by_partition(
        dg.AssetKey("verdicts"), dg.DagsterEventType.ASSET_MATERIALIZATION, [_DATA_VERSION]
    )
    return [day for day, version in versions.items() if known.get(str(day), {}).get(_DATA_VERSION) != version]


def _judge(
    result: RunResult, instance: dg.DagsterInstance, days: Sequence[dt.date], settings: Settings, progress: Progress
) -> None:
    today = dt.datetime.now(KST).date()
    result.outside = [day for day in days if not settings.first_day <= day <= today]
    days = [day for day in days if day not in result.outside]
    for done, day in enumerate(days):
        progress(str(day), done, len(days))
        if outcome := _execute(result, instance, settings, "day", str(day), partition_key=str(day)):
            result.days.append(day)
            result.turns += _turns_judged(outcome)
    if days:
        progress("days judged", len(days), len(days))


def _execute(
    result: RunResult,
    instance: dg.DagsterInstance,
    settings: Settings,
    job: str,
    name: str,
    partition_key: str | None = None,
) -> dg.ExecuteInProcessResult | None:
    """Run a job; None where it failed."""
    outcome = (
        _definitions(settings)
        .resolve_job_def(job)
        .execute_in_process(
            instance=instance,
            partition_key=partition_key,
            raise_on_error=False,
            tags=STARTED_HERE,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )
    )
    result.runs.append(outcome.run_id)
    if _was_interrupted(outcome):
        # Dagster ends the run that Ctrl-C meets and returns; the runs after it are not wanted either.
        raise KeyboardInterrupt
    if not outcome.success:
        result.failed[name] = _reason(outcome)
        return None
    return outcome


def _turns_judged(outcome: dg.ExecuteInProcessResult) -> int:
    told = (event.materialization.metadata.get(JUDGED) for event in outcome.get_asset_materialization_events())
    return sum(int(str(value.value)) for value in told if value is not None)


def _watcher(progress: Progress, head: str, priced: bool) -> Callable[[Tally, int], None]:
    return lambda tally, turns: progress(f"{head} {tally.so_far(priced)}", tally.turns, turns)


def _tally(outcome: dg.ExecuteInProcessResult) -> Tally:
    """What a run told of its drafts."""
    [event] = outcome.get_asset_materialization_events()
    metadata = event.materialization.metadata
    told: dict[str, Any] = {one.name: metadata[one.name].value for one in fields(Tally) if one.name in metadata}
    return Tally(**told | {"reasons": Counter(told["reasons"])})


@cache
def _definitions(settings: Settings) -> dg.Definitions:
    """The graph with these settings: in the instance's folder, where runs work, another pyproject.toml may count."""
    return build_definitions({"warehouse": Warehouse(given=settings.model_dump_json(), decided=settings.decided)})


def _was_interrupted(outcome: dg.ExecuteInProcessResult) -> bool:
    """Whether Ctrl-C ended the run, between its steps or inside one, where libraries may wrap the interruption."""
    failures = [event.step_failure_data for event in outcome.filter_events(lambda event: event.is_step_failure)]
    errors = [data.error for data in failures if data.error is not None]
    return any("DagsterExecutionInterruptedError" in error.to_string() for error in errors) or bool(
        outcome.filter_events(lambda event: event.event_type == dg.DagsterEventType.RUN_CANCELED)
    )


def _reason(outcome: dg.ExecuteInProcessResult) -> str:
    """The failing step's own words, in one line."""
    for event in outcome.filter_events(lambda event: event.is_step_failure):
        data = event.step_failure_data
        error = data.error
        while error is not None and error.cause is not None:
            error = error.cause
        if data.user_failure_data is not None and data.user_failure_data.description:
            return data.user_failure_data.description
        if error is not None:
            return f"{event.step_key}: {error.message.strip()}".replace("\n", " ")
    return "the run failed before its first step"
