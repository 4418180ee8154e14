"""Dagster's storage with connections that stay open, beside Dagster's own on the same files."""

import errno
import gc
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import dagster as dg
import pytest
import yaml
from dagster._core.storage.event_log import SqliteEventLogStorage
from dagster._core.storage.runs import SqliteRunStorage

from wh_judge.history import RUNS_OPEN

KEY = dg.AssetKey("day")
ONE = "00000000-0000-4000-8000-000000000001"
SUCCESS = dg.DagsterEventType.RUN_SUCCESS


@dg.asset
def day() -> dg.MaterializeResult[None]:
    return dg.MaterializeResult(metadata={"turns": 3})


def settings(kept: bool) -> str:
    where = {"base_dir": {"env": "DAGSTER_HOME"}}
    custom = {"custom": {"module": "wh_judge.history", "class": "History", "config": where}}
    pools = {"pools": {"granularity": "op", "default_limit": 1}}
    return str(
        yaml.dump(
            {"telemetry": {"enabled": False}, "concurrency": pools, "storage": custom if kept else {"sqlite": where}}
        )
    )


def opened(home: Path, *, kept: bool = True) -> dg.DagsterInstance:
    (home / "dagster.yaml").write_text(settings(kept))
    return dg.DagsterInstance.from_config(str(home))


def held(home: Path) -> set[str]:
    """Files below the folder that this process holds open."""
    found = set()
    for number in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # The one that lists them is closed by now.
            found.add(number.readlink())
    return {path.name for path in found if path.is_relative_to(home) and ".db" in path.name}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    yield tmp_path
    assert not held(tmp_path), "an instance that ended lets go of its files"


def run(instance: dg.DagsterInstance, run_id: str | None = None) -> str:
    job = dg.Definitions(assets=[day]).resolve_implicit_global_asset_job_def()
    result = job.execute_in_process(instance=instance, run_id=run_id)
    assert result.success
    return result.run_id


def events(instance: dg.DagsterInstance, run_id: str) -> list[dg.DagsterEventType]:
    return [entry.dagster_event_type for entry in instance.all_logs(run_id) if entry.dagster_event_type]


@pytest.mark.parametrize("kept", [True, False])
def test_what_one_wrote_the_other_reads_and_goes_on_with(kept: bool, home: Path) -> None:
    with opened(home, kept=kept) as instance:
        first = run(instance)
        before = events(instance, first)
    with opened(home, kept=not kept) as instance:
        assert (type(instance.run_storage) is not SqliteRunStorage) == (not kept)
        assert events(instance, first) == before and dg.DagsterEventType.ASSET_MATERIALIZATION in before
        second = run(instance)
        found = instance.fetch_materializations(KEY, limit=5).records
        assert [record.run_id for record in found] == [second, first]
        assert {one.run_id for one in instance.get_runs()} == {first, second}


def test_files_of_the_newest_runs_stay_open_and_no_more(home: Path) -> None:
    with opened(home) as instance:
        runs = [run(instance) for _ in range(RUNS_OPEN + 2)]
        databases = {name for name in held(home) if name.endswith(".db")}
        assert databases == {"runs.db", "index.db", *(f"{one}.db" for one in runs[-RUNS_OPEN:])}
        # One that was let go is opened again.
        assert SUCCESS in events(instance, runs[0])


@pytest.mark.parametrize("wiped", [False, True])
def test_a_file_that_others_drove_out_or_deleted_meanwhile_is_let_go_after_use(wiped: bool, home: Path) -> None:
    with opened(home) as instance:
        used = run(instance)
        storage = instance.event_log_storage
        assert isinstance(storage, SqliteEventLogStorage)
        gc.disable()  # It would close it some time later.
        try:
            with storage.run_connection(used):
                if wiped:
                    instance.wipe()
                else:
                    for number in range(RUNS_OPEN):
                        instance.all_logs(f"{number:08}-0000-4000-8000-000000000000")
            assert not any(name.startswith(used) for name in held(home))
        finally:
            gc.enable()


@pytest.mark.parametrize("chosen", [None, 2])
def test_a_pool_has_its_places_after_all_was_wiped(chosen: int | None, home: Path) -> None:
    @dg.asset(pool="warehouse")
    def pooled() -> None: ...

    with opened(home) as instance:
        job = dg.Definitions(assets=[pooled]).resolve_implicit_global_asset_job_def()
        assert job.execute_in_process(instance=instance).success
        if chosen:
            instance.event_log_storage.set_concurrency_slots("warehouse", chosen)
        [limit] = instance.event_log_storage.get_pool_limits()
        instance.wipe()
        assert instance.event_log_storage.get_pool_limits() == [limit]
        assert instance.event_log_storage.get_concurrency_info("warehouse").slot_count == (chosen or 1)
        assert job.execute_in_process(instance=instance).success


def test_threads_and_processes_write_at_the_same_time(home: Path) -> None:
    script = f"from {__name__} import *; run(dg.DagsterInstance.get())"

    def told(instance: dg.DagsterInstance, number: int) -> int:
        instance.report_runless_asset_event(dg.AssetMaterialization(KEY, metadata={"number": number}))
        return len(instance.fetch_materializations(KEY, limit=1).records)

    with opened(home) as instance, ThreadPoolExecutor(4) as pool:
        begun = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(2)]
        found = list(pool.map(lambda number: told(instance, number), range(40)))
        assert found == [1] * 40
        assert [process.wait(timeout=100) for process in begun] == [0, 0]
        assert len(instance.fetch_materializations(KEY, limit=50).records) == 42
        assert all(events(instance, one.run_id)[-1] == SUCCESS for one in instance.get_runs())


def test_what_is_deleted_is_gone_and_comes_back_only_as_new(home: Path) -> None:
    with opened(home) as instance:
        gone, left = run(instance), run(instance)
        instance.delete_run(gone)
        assert not events(instance, gone) and events(instance, left)
        instance.wipe()
        assert not instance.get_runs() and not events(instance, left)
        assert events(instance, run(instance))[-1] == SUCCESS


def test_who_watches_a_run_is_told_of_what_another_process_does(home: Path) -> None:
    script = f"from {__name__} import *; run(dg.DagsterInstance.get(), ONE)"
    with opened(home) as instance:
        told: list[dg.DagsterEventType] = []
        over = threading.Event()

        def tell(entry: dg.EventLogEntry, _: str) -> None:
            told.extend([entry.dagster_event_type] if entry.dagster_event_type else [])
            if SUCCESS in told:
                over.set()

        instance.watch_event_logs(ONE, None, tell)
        subprocess.run([sys.executable, "-c", script], check=True, timeout=100)
        assert over.wait(timeout=60), told
        assert told == events(instance, ONE)
        instance.end_watch_event_logs(ONE, tell)


def test_where_files_cannot_be_linked_runs_are_kept_all_the_same(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    with opened(home) as instance:
        runs = [run(instance)]
        monkeypatch.setattr("wh_judge.history.os.link", refuse)
        runs += [run(instance), run(instance)]
        assert all(events(instance, one)[-1] == SUCCESS for one in runs)
        assert not list(home.rglob("*.new"))


def test_the_file_of_a_run_begins_without_events_of_another(home: Path) -> None:
    with opened(home) as instance:
        first, second = run(instance), run(instance)
        assert {entry.run_id for entry in instance.all_logs(second)} == {second}
        with closing(sqlite3.connect(next(home.rglob(f"{second}.db")))) as connection:
            found = connection.execute("SELECT DISTINCT run_id FROM event_logs").fetchall()
        assert found == [(second,)] and first != second


def test_who_watches_later_is_told_what_others_were_told_before(home: Path) -> None:
    def watch(instance: dg.DagsterInstance, run_id: str) -> list[dg.DagsterEventType | None]:
        told, over = [], threading.Event()

        def tell(entry: dg.EventLogEntry, _: str) -> None:
            told.append(entry.dagster_event_type)
            if entry.dagster_event_type == SUCCESS:
                over.set()

        instance.watch_event_logs(run_id, None, tell)
        assert over.wait(timeout=60), told
        return told

    with opened(home) as instance:
        run_id = run(instance)
        assert watch(instance, run_id) == watch(instance, run_id) == events(instance, run_id)


def test_who_watches_is_not_left_alone_where_another_one_fails(home: Path) -> None:
    def fail(*_: object) -> None:
        failed.set()
        raise RuntimeError

    failed, told = threading.Event(), threading.Event()
    with opened(home) as instance:
        run_id = run(instance)
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(threading, "excepthook", id)
            instance.watch_event_logs(run_id, None, fail)
            assert failed.wait(timeout=60)
            instance.watch_event_logs(run_id, None, lambda *_: told.set())
            assert told.wait(timeout=60)


def test_no_one_is_told_any_more_who_watches_no_more(home: Path) -> None:
    before = threading.active_count()
    with opened(home) as instance:
        run_id = run(instance)
        for _ in range(5):
            instance.watch_event_logs(run_id, None, print)
        instance.end_watch_event_logs(run_id, print)
        instance.watch_event_logs(run_id, None, lambda *_: None)
    assert threading.active_count() <= before + 1


def test_an_sqlite_that_cannot_say_what_is_in_a_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Older(sqlite3.Connection):
        @property
        def serialize(self) -> None:  # type: ignore[override]
            raise AttributeError

    connect = sqlite3.dbapi2.connect
    monkeypatch.setattr("sqlite3.dbapi2.connect", lambda *given, **named: connect(*given, **named, factory=Older))
    with opened(home) as instance:
        runs = [run(instance), run(instance)]
        assert all(events(instance, one)[-1] == SUCCESS for one in runs)


def test_what_a_killed_process_has_left_is_taken_away(home: Path) -> None:
    with opened(home) as instance:
        run(instance)
    left = next(home.rglob("index.db")).with_name(f"{ONE}.db.1234.new")
    left.write_bytes(b"half a fi")
    with opened(home) as instance:
        assert not left.exists()
        assert events(instance, run(instance, ONE))[-1] == SUCCESS


def test_a_folder_that_cannot_be_written_any_more_is_told_as_dagster_tells_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "read-only")

    with opened(home) as instance:
        run(instance)
        for name in ("write_bytes", "unlink"):
            monkeypatch.setattr(Path, name, refuse)
        assert events(instance, run(instance))[-1] == SUCCESS
