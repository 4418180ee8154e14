"""Where Dagster keeps its runs when the command line starts them."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
from sqlalchemy.exc import DatabaseError, OperationalError

from wh_judge import store
from wh_judge.errors import UserError
from wh_judge.home import dagster_home
from wh_judge.locks import alone, is_alive, is_held
from wh_judge.settings import Settings

STARTED_HERE = {"wh_judge/started_by": "command line"}
"""The tag of runs that live in a process of the command line and end with it."""
_UNFINISHED = [dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED]

_log = logging.getLogger(__name__)


@contextmanager
def open_instance(settings: Settings) -> Iterator[dg.DagsterInstance]:
    """The instance, for one process of the command line at a time, with the working folder at its home: dagster.yaml
    has its paths relative to that.

    Raises:
        UserError: another process keeps the instance, a folder cannot be made, or the history is damaged or cannot be
            written.
    """
    try:
        settings.data.mkdir(parents=True, exist_ok=True)
        home, before = dagster_home(settings), Path.cwd()
    except OSError as error:
        raise UserError(f"{error.filename}: {error.strerror}") from None
    os.environ["DAGSTER_HOME"] = str(home)
    os.chdir(home)
    try:
        with dg.DagsterInstance.get() as instance, alone(_lock(instance), store.WAIT_SECONDS):
            _end_the_dead(instance)
            yield instance
    except OperationalError as error:
        raise UserError(
            f"{home}: Dagster cannot keep its history of runs: {error.orig}; make room on its disk, or see to the right"
            " to write there, and run again"
        ) from None
    except DatabaseError as error:
        if type(error) is not DatabaseError:  # What stands in a file is no other kind's fault.
            raise
        raise UserError(
            f"{home}: Dagster's history of runs is damaged: {error.orig}; move its folders history and schedules away"
            " (in a checkout .dagster) while nothing runs, and run again: no verdict is lost"
        ) from None
    finally:
        os.chdir(before)


def _lock(instance: dg.DagsterInstance) -> Path:
    return Path(instance.storage_directory()).parent / "wh-judge.lock"


def is_gone(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    """Whether the process of an unfinished run has ended; False also where nobody can tell."""
    if _is_started_here(run):
        return not is_held(_lock(instance))
    for entry in instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT):
        event = entry.dagster_event
        if event and (event.message or "").startswith("Started process for run"):
            pid = event.engine_event_data.metadata.get("pid")
            return pid is not None and not is_alive(int(str(pid.value)), since=entry.timestamp)
    return False


def _is_started_here(run: dg.DagsterRun) -> bool:
    return STARTED_HERE.items() <= run.tags.items()


def _end_the_dead(instance: dg.DagsterInstance) -> None:
    """A run whose process was killed counts as running for ever and keeps its place in the pool of one: end it.

    Whoever holds the lock knows that no run of the command line is alive.
    """
    for run in instance.get_runs(dg.RunsFilter(statuses=_UNFINISHED)):
        if _is_started_here(run) or is_gone(instance, run):
            instance.report_run_failed(run, "Its process ended before the run did.")
    storage = instance.event_log_storage
    for run_id in storage.get_concurrency_run_ids() if storage.supports_global_concurrency_limits else ():
        holder = instance.get_run_by_id(run_id)
        if holder is None or holder.is_finished:
            storage.free_concurrency_slots_for_run(run_id)
        else:
            _log.warning("waiting for run %s, which has the warehouse; if it hangs, end it in the Dagster UI", run_id)
