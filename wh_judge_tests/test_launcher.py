"""Runs whose process is gone, against a real instance and real processes."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.events import EngineEventData
from dagster._core.launcher import WorkerStatus

from wh_judge.instance import STARTED_HERE
from wh_judge.launcher import RunLauncher
from wh_judge.locks import alone, is_alive
from wh_judge_tests.documents import ROOT

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


@pytest.fixture
def instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:
    """Of the project's own dagster.yaml."""
    (tmp_path / "dagster.yaml").write_text((ROOT / "dagster.yaml").read_text("utf-8"), "utf-8")
    monkeypatch.chdir(tmp_path)
    with dg.DagsterInstance.from_config(str(tmp_path)) as found:
        yield found


def status(instance: dg.DagsterInstance, run: dg.DagsterRun) -> WorkerStatus:
    assert isinstance(instance.run_launcher, RunLauncher) and instance.run_launcher.supports_check_run_worker_health
    return instance.run_launcher.check_run_worker_health(run).status


def started(instance: dg.DagsterInstance, pid: int) -> dg.DagsterRun:
    run = instance.create_run_for_job(dg.GraphDefinition(name="days").to_job())
    instance.report_engine_event(f"Started process for run (pid: {pid}).", run, EngineEventData.in_process(pid))
    return run


def test_a_run_whose_process_lives_is_running_and_one_whose_process_was_killed_has_failed(
    instance: dg.DagsterInstance,
) -> None:
    with subprocess.Popen(SLEEP) as process:
        run = started(instance, process.pid)
        assert status(instance, run) == WorkerStatus.RUNNING
        process.kill()
        # Not waited for yet, so that it is there as a zombie.
        time.sleep(0.5)
        assert status(instance, run) == WorkerStatus.FAILED
    assert status(instance, run) == WorkerStatus.FAILED


def test_a_run_that_says_nothing_of_its_process_counts_as_running(instance: dg.DagsterInstance) -> None:
    run = instance.create_run_for_job(dg.GraphDefinition(name="days").to_job())
    assert status(instance, run) == WorkerStatus.RUNNING


def test_a_run_of_the_command_line_lives_while_its_lock_is_held(instance: dg.DagsterInstance) -> None:
    run = instance.create_run_for_job(dg.GraphDefinition(name="days").to_job(), tags=STARTED_HERE)
    with alone(Path(instance.storage_directory()).parent / "wh-judge.lock"):
        assert status(instance, run) == WorkerStatus.RUNNING
    assert status(instance, run) == WorkerStatus.FAILED


def test_a_number_that_was_given_again_is_another_process() -> None:
    assert is_alive(os.getpid(), since=time.time())
    assert not is_alive(os.getpid(), since=time.time() - 1_000_000)
