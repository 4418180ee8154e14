"""Where Dagster keeps its runs: which folder, that nothing is reported, and that one process has it at a time."""

import logging
import os
import subprocess
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from wh_judge import store
from wh_judge.errors import UserError
from wh_judge.home import dagster_home
from wh_judge.instance import STARTED_HERE, open_instance
from wh_judge.resources import POOL
from wh_judge.settings import Settings
from wh_judge_tests.holder import process_that_holds

ROOT = Path(__file__).parents[1]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings in a folder that no dagster.yaml is above, with no DAGSTER_HOME."""
    # Set first, so that it is put back afterwards whatever a test does to it.
    monkeypatch.setenv("DAGSTER_HOME", "")
    monkeypatch.chdir(tmp_path)
    return Settings.model_validate({"data": tmp_path / "data", "inputs": tmp_path / "inputs"})


def test_the_variable_counts_first(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dagster.yaml").touch()
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    assert dagster_home(settings) == tmp_path / "home"


def test_the_variable_may_be_relative(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("DAGSTER_HOME", "home")
    assert dagster_home(settings) == tmp_path / "home"


def test_a_variable_that_names_no_folder_is_an_error(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    with pytest.raises(UserError) as error:
        dagster_home(settings)
    assert str(error.value) == f"DAGSTER_HOME: {tmp_path}/home is no folder; make it, or unset the variable"


def test_the_nearest_folder_above_with_a_dagster_yaml_counts_next(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dagster.yaml").touch()
    nearer = tmp_path / "a"
    (nearer / "b" / "c").mkdir(parents=True)
    monkeypatch.chdir(nearer / "b" / "c")
    assert dagster_home(settings) == tmp_path
    (nearer / "dagster.yaml").touch()
    assert dagster_home(settings) == nearer
    assert (nearer / "dagster.yaml").read_text() == "", "what is there stays as it is"


def test_away_from_a_checkout_it_is_made_among_the_data(settings: Settings) -> None:
    home = dagster_home(settings)
    assert home == settings.data / "dagster"
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    assert dagster_home(settings) == home
    assert (home / "dagster.yaml").read_text() == "telemetry: {enabled: false}\n", "it is written once"


@pytest.mark.parametrize("given", [True, False], ids=["a folder that is given", "a folder of its own"])
def test_nothing_is_reported_and_the_pool_has_one_place(
    given: bool, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if given:
        (tmp_path / "home").mkdir()
        monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    with open_instance(settings) as instance:
        _closed(instance)


def _closed(instance: dg.DagsterInstance) -> None:
    assert not instance.telemetry_enabled
    pools = instance.event_log_storage.get_pool_config()
    assert pools.default_pool_limit == 1
    assert pools.pool_granularity is not None and pools.pool_granularity.value == "op"


def test_the_project_s_own_instance_reports_to_nobody_and_has_a_pool_of_one(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "dagster.yaml").write_bytes((ROOT / "dagster.yaml").read_bytes())
    with open_instance(settings) as instance:
        _closed(instance)
    assert {path.name for path in tmp_path.iterdir()} == {"dagster.yaml", ".dagster", "data"}


def test_a_run_of_the_daemon_that_is_killed_gives_its_place_in_the_pool_back() -> None:
    config: dict[str, Any] = yaml.safe_load((ROOT / "dagster.yaml").read_text("utf-8"))["run_monitoring"]
    assert config["enabled"] is True
    assert 0 < config["free_slots_after_run_end_seconds"] <= 60


def test_nothing_stands_in_the_way_of_the_workspace_file() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    assert not {"dagster", "dg"} & set(tools)


def test_the_working_folder_is_the_home_as_long_as_it_is_open(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), open_instance(settings):
        assert Path.cwd() == settings.data / "dagster"
        assert os.environ["DAGSTER_HOME"] == str(settings.data / "dagster")
        raise ZeroDivisionError
    assert Path.cwd() == tmp_path


def test_data_that_cannot_be_a_folder_is_an_error(settings: Settings) -> None:
    settings.data.write_text("no folder")
    with pytest.raises(UserError, match=f"^{settings.data}: File exists$"), open_instance(settings):
        pass


_HOLD = """
import fcntl, pathlib, sys, time
file = open(sys.argv[1], "a+")
fcntl.flock(file, fcntl.LOCK_EX)
file.truncate(0)
file.write(sys.argv[2])
file.flush()
print("held", flush=True)
time.sleep(120)
"""


@contextmanager
def held(settings: Settings) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the instance, as `wh-judge` would."""
    with open_instance(settings):
        pass
    lock = settings.data / "dagster" / "wh-judge.lock"
    assert lock.read_text() == f"{os.getpid()}\n"
    with process_that_holds(_HOLD, lock, "4711\n") as process:
        yield process


@pytest.mark.parametrize("name", ["runs.db", "index.db", "schedules.db"])
def test_a_damaged_history_is_an_error_in_one_line(name: str, settings: Settings) -> None:
    with open_instance(settings) as instance:
        instance.report_runless_asset_event(dg.AssetMaterialization("day"))
    [path] = settings.data.rglob(name)
    path.write_bytes(b"damaged " * 1000)
    with pytest.raises(UserError) as error, open_instance(settings) as instance:
        assert instance.get_runs() == []
        instance.report_runless_asset_event(dg.AssetMaterialization("day"))
        instance.all_instigator_state()
    assert "Dagster's history of runs is damaged: file is not a database; move" in str(error.value)
    assert "\n" not in str(error.value)


def test_another_process_at_work_is_named_after_the_wait(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with held(settings):
        monkeypatch.setattr(store, "WAIT_SECONDS", 0.3)
        with pytest.raises(UserError) as error, open_instance(settings):
            pass
    lock = settings.data / "dagster" / "wh-judge.lock"
    assert str(error.value) == f"{lock}: another wh-judge is at work (PID 4711); wait for it to end"


def test_the_instance_is_opened_when_the_other_process_is_killed(settings: Settings) -> None:
    with held(settings) as process:
        threading.Timer(0.5, process.kill).start()
        with open_instance(settings):
            assert process.wait() != 0


def unfinished(instance: dg.DagsterInstance, status: dg.DagsterRunStatus, **tags: str) -> dg.DagsterRun:
    """A run that has the only place in the pool."""

    @dg.job
    def nothing() -> None: ...

    run = instance.create_run_for_job(nothing, status=status, tags=tags)
    instance.event_log_storage.initialize_concurrency_limit_to_default(POOL)
    assert instance.event_log_storage.claim_concurrency_slot(POOL, run.run_id, "verdicts").is_claimed
    return run


def is_free(instance: dg.DagsterInstance) -> bool:
    return bool(instance.event_log_storage.claim_concurrency_slot(POOL, "next", "verdicts").is_claimed)


@pytest.mark.parametrize("status", [dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTED])
def test_a_killed_run_is_ended_and_gives_its_place_in_the_pool_back(
    status: dg.DagsterRunStatus, settings: Settings
) -> None:
    with open_instance(settings) as instance:
        run = unfinished(instance, status, **STARTED_HERE)
        assert not is_free(instance)
    with open_instance(settings) as instance:
        ended = instance.get_run_by_id(run.run_id)
        assert ended is not None and ended.status == dg.DagsterRunStatus.FAILURE
        assert is_free(instance)


def test_a_finished_run_of_anyone_gives_its_place_in_the_pool_back(settings: Settings) -> None:
    with open_instance(settings) as instance:
        unfinished(instance, dg.DagsterRunStatus.CANCELED)
    with open_instance(settings) as instance:
        assert is_free(instance)


def test_a_run_of_the_daemon_is_left_alone_and_named(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    with open_instance(settings) as instance:
        run = unfinished(instance, dg.DagsterRunStatus.STARTED)
    with caplog.at_level(logging.WARNING), open_instance(settings) as instance:
        same = instance.get_run_by_id(run.run_id)
        assert same is not None and same.status == dg.DagsterRunStatus.STARTED
        assert not is_free(instance)
    assert caplog.messages == [
        f"waiting for run {run.run_id}, which has the warehouse; if it hangs, end it in the Dagster UI"
    ]
