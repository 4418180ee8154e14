"""The warehouse file: made, opened, locked, refused."""

import logging
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import duckdb
import pytest

from wh_judge import store
from wh_judge.errors import UserError
from wh_judge.store import is_of_the_disk, layout, open_warehouse, transaction
from wh_judge.store.schema import number, one
from wh_judge_tests.holder import hold
from wh_judge_tests.house import DAY_1, House, rows, tables


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "warehouse.duckdb"


def test_it_is_made_with_its_folder(tmp_path: Path) -> None:
    with open_warehouse(tmp_path / "new" / "folder" / "warehouse.duckdb") as connection:
        assert number(connection, "SELECT count(*) FROM verdict") == 0


def test_what_a_process_left_that_was_killed_while_it_made_one_is_swept_up(path: Path) -> None:
    for name in (".warehouse.duckdb.1.new", ".warehouse.duckdb.1.new.wal"):
        path.with_name(name).write_bytes(b"half")
    with open_warehouse(path):
        pass
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_process_that_is_killed_while_it_makes_one_leaves_no_half_of_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(made: str, **_options: object) -> None:
        Path(made).write_bytes(b"half")
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(duckdb, "connect", killed)
        with pytest.raises(SystemExit), open_warehouse(path):
            pass
    with open_warehouse(path) as connection:
        assert number(connection, "SELECT count(*) FROM verdict") == 0


def test_where_there_are_no_hard_links_it_is_renamed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_paths: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", link)
    with open_warehouse(path):
        pass
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_one_that_another_process_made_meanwhile_is_left_alone(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    with house.warehouse() as connection:
        before = tables(connection)
    store._make(house.settings.warehouse)
    with house.warehouse() as connection:
        assert tables(connection) == before


def test_what_was_written_is_there_when_it_is_opened_again(house: House) -> None:
    with house.warehouse() as connection:
        first = tables(connection, runs=True)
    with house.warehouse() as connection:
        assert tables(connection, runs=True) == first


def test_it_is_closed_when_something_goes_wrong(path: Path) -> None:
    with pytest.raises(ZeroDivisionError), open_warehouse(path) as connection:
        raise ZeroDivisionError
    with pytest.raises(duckdb.ConnectionException):
        connection.execute("SELECT 1")
    code = "import duckdb, sys; duckdb.connect(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)


def test_a_transaction_is_visible_as_a_whole(path: Path) -> None:
    with open_warehouse(path) as connection:
        with transaction(connection):
            connection.execute("INSERT INTO gold_label VALUES ('T-1', '설정대로 말함', NULL)")
        assert number(connection, "SELECT count(*) FROM gold_label") == 1


def test_a_transaction_that_fails_leaves_nothing(path: Path) -> None:
    with open_warehouse(path) as connection:
        with pytest.raises(KeyboardInterrupt), transaction(connection):
            connection.execute("INSERT INTO gold_label VALUES ('T-1', '설정대로 말함', NULL)")
            raise KeyboardInterrupt
        assert number(connection, "SELECT count(*) FROM gold_label") == 0


def test_one_row_or_none(path: Path) -> None:
    with open_warehouse(path) as connection:
        assert one(connection, "SELECT 1, ?", ["a"]) == (1, "a")
        assert one(connection, "FROM verdict") is None


def test_times_are_those_of_seoul(path: Path) -> None:
    with open_warehouse(path) as connection:
        assert rows(connection, "SELECT TIMESTAMPTZ '2026-09-01T00:00:00Z'::VARCHAR") == [("2026-09-01 09:00:00+09",)]


@contextmanager
def at_once() -> Iterator[None]:
    """What happens inside does not wait."""
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"hello world " * 1000, b"SQLite format 3\0" + bytes(4080)], ids=len
)
def test_a_file_that_is_no_database_is_refused_at_once(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    with pytest.raises(UserError) as error, at_once(), open_warehouse(path):
        pass
    assert str(error.value).startswith(f"{path}: is no DuckDB file that can be opened: ")
    assert "\n" not in str(error.value)
    assert path.read_bytes() == content


def test_a_damaged_database_is_refused_at_once(house: House) -> None:
    path = house.settings.warehouse
    content = path.read_bytes()
    path.write_bytes(content[:4096] + bytes(8192) + content[12288:])
    with pytest.raises(UserError, match="is no DuckDB file that can be opened: "), at_once(), open_warehouse(path):
        pass


def test_a_folder_is_refused(path: Path) -> None:
    path.mkdir()
    with pytest.raises(UserError, match=r"is no DuckDB file that can be opened: .*directory"), open_warehouse(path):
        pass


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("CREATE TABLE chat_turn (i INTEGER)", "chat_turn"),
        (
            "CREATE TABLE vote (i INTEGER); CREATE TABLE log_file (i INTEGER); CREATE TABLE x (i INTEGER)",
            "log_file, vote",
        ),
        ("CREATE TABLE turn_row (i INTEGER)", "turn_row"),
        ("CREATE TABLE schema_version AS SELECT '20260901' AS version", "schema_version"),
        ("CREATE VIEW verdict AS SELECT 1 AS i", "verdict"),
    ],
)
def test_a_database_of_something_else_is_refused(sql: str, names: str, path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute(sql)
        before = connection.execute(COLUMNS).fetchall()
    with pytest.raises(UserError) as error, open_warehouse(path):
        pass
    assert str(error.value) == (
        f"{path}: is no warehouse of wh-judge: it has tables of its own that are called as ours are ({names}); name"
        " another folder with WH_JUDGE_DATA, or move the file away"
    )
    with duckdb.connect(str(path)) as connection:
        assert connection.execute(COLUMNS).fetchall() == before


COLUMNS = "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal ORDER BY ALL"


def test_a_database_that_lacks_what_every_version_has_is_refused(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE turn_row (turn_id VARCHAR)")
    with pytest.raises(UserError, match="is no warehouse of wh-judge, or a damaged one "), open_warehouse(path):
        pass


def test_tables_that_another_version_made_are_refused(house: House) -> None:
    with house.warehouse() as connection:
        connection.execute("ALTER TABLE judged_day RENAME COLUMN inputs TO before")
    message = r"was made by another version of wh-judge \(judged_day has no inputs VARCHAR\); move it away"
    with pytest.raises(UserError, match=message), house.warehouse():
        pass


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE evaluation",
        "DROP VIEW verdict_history",
        "CREATE OR REPLACE VIEW chat_turn AS SELECT * EXCLUDE (arrival, is_current, row_hash) FROM turn_row;"
        "UPDATE layout SET version = 'older'",
    ],
    ids=["a table", "a view", "an older version"],
)
def test_what_is_missing_or_older_is_made_when_it_is_opened(damage: str, house: House) -> None:
    with house.warehouse() as connection:
        before = connection.execute(_VIEWS).fetchall()
        connection.execute(damage)
    with house.warehouse() as connection:
        assert number(connection, "SELECT count(*) FROM evaluation") == 0
        assert [len(sql) for (sql,) in connection.execute(_VIEWS).fetchall()] == [len(sql) for (sql,) in before]


_VIEWS = "SELECT sql FROM duckdb_views() WHERE NOT internal ORDER BY view_name"


def older(connection: duckdb.DuckDBPyConnection) -> None:
    """What the first version might have left: a column of another name, and no number of its version."""
    connection.execute("ALTER TABLE judged_day RENAME COLUMN inputs TO before")
    connection.execute("DROP TABLE schema_version")


def test_an_older_warehouse_is_migrated_and_keeps_its_rows(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    with house.warehouse() as connection:
        house.bring_in(connection)
        house.judge(connection, DAY_1)
        before = connection.execute("FROM judged_day").fetchall()
        older(connection)
    monkeypatch.setattr(layout, "MIGRATIONS", ("ALTER TABLE judged_day RENAME COLUMN before TO inputs",))
    for _ in range(2):
        with house.warehouse() as connection:
            assert connection.execute("FROM judged_day").fetchall() == before != []
            assert number(connection, "FROM schema_version") == 2


def test_drafts_of_an_older_version_are_kept(house: House) -> None:
    with house.warehouse() as connection:
        connection.execute("DROP VIEW draft")
        connection.execute("DROP VIEW draft_answer")
        connection.execute("ALTER TABLE draft_row DROP COLUMN asked_at")
        connection.execute(
            """INSERT INTO draft_row VALUES
               ('2026-09-01', 'T-1', 'row', 'request', 'm', 'kept', [], '예.', '{}', 1, 1, 0.5, 'run', now())"""
        )
        connection.execute("UPDATE schema_version SET version = 2")
    with house.warehouse() as connection:
        assert connection.execute("SELECT turn_id, asked_at FROM draft_row").fetchall() == [("T-1", None)]


def test_a_migration_that_fails_leaves_what_was(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    with house.warehouse() as connection:
        older(connection)
    good, bad = "ALTER TABLE judged_day RENAME COLUMN before TO inputs", "ALTER TABLE no_table ADD COLUMN a INTEGER"
    monkeypatch.setattr(layout, "MIGRATIONS", (good, bad))
    with pytest.raises(UserError, match="no_table"), house.warehouse():
        pass
    monkeypatch.setattr(layout, "MIGRATIONS", (good,))
    with house.warehouse() as connection:
        assert number(connection, "FROM schema_version") == 2


def test_what_a_newer_version_wrote_is_refused(house: House) -> None:
    with house.warehouse() as connection:
        connection.execute("UPDATE schema_version SET version = 9")
    message = r"was written by a newer version of wh-judge \(schema 9, this one knows 3\); install that version"
    with pytest.raises(UserError, match=message), house.warehouse():
        pass


@contextmanager
def no_more_room(path: Path) -> Iterator[None]:
    """No file can become longer than this one is, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("whole", [True, False], ids=["in a transaction", "by itself"])
def test_a_full_disk_is_told_in_one_line_and_costs_nothing(whole: bool, house: House) -> None:
    path, many = house.settings.warehouse, "SELECT uuid()::VARCHAR, 'x', repeat(uuid()::VARCHAR, 100) FROM range(9000)"
    with house.warehouse() as connection:
        before = tables(connection, runs=True)
    with pytest.raises(UserError) as told, no_more_room(path), house.warehouse() as connection:
        with transaction(connection) if whole else nullcontext():
            connection.execute(f"INSERT INTO gold_label {many}")
        pytest.fail("there was room")
    assert str(told.value).startswith(f"{path}: cannot be written: ")
    assert str(told.value).endswith("run again: what was committed is kept")
    assert "\n" not in str(told.value)
    with house.warehouse() as connection:
        assert tables(connection, runs=True) == before


def test_without_room_no_warehouse_is_made(path: Path) -> None:
    (path.parent / "small").touch()
    with pytest.raises(UserError, match="cannot be written: "), no_more_room(path.parent / "small"):
        open_warehouse(path).__enter__()
    assert not path.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="who may do everything is refused nothing")
def test_a_warehouse_that_may_not_be_written_is_no_damaged_one(house: House) -> None:
    house.settings.warehouse.chmod(0o400)
    with pytest.raises(UserError, match=r"cannot be written: .*right to write"), house.warehouse():
        pass


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(28, "No space left on device"), True),
        (duckdb.IOException("IO Error: Could not write file"), True),
        (duckdb.TransactionException("TransactionContext Error: Failed to commit: Could not write file"), True),
        (duckdb.TransactionException("TransactionContext Error: cannot rollback"), False),
        (duckdb.BinderException("Binder Error: Referenced column"), False),
        (ValueError("a value"), False),
    ],
)
def test_what_is_a_matter_of_the_disk(error: Exception, expected: bool) -> None:
    assert is_of_the_disk(error) is expected


def test_a_name_that_speaks_of_locks_is_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "warehouse.duckdb"
    path.parent.mkdir()
    path.write_bytes(b"hello")
    with pytest.raises(UserError, match="is no DuckDB file"), at_once(), open_warehouse(path):
        pass


def test_who_holds_it_is_named_after_the_wait(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "WAIT_SECONDS", 0.5)
    with hold(path) as process:
        with pytest.raises(UserError) as error, open_warehouse(path):
            pass
        message = f"{path}: another process has the warehouse open (PID {process.pid}); wait for it to end"
        assert str(error.value) == message


def test_it_is_opened_when_the_other_process_lets_go(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(store, "_SILENT_SECONDS", 0.2)
    with hold(path) as process, caplog.at_level(logging.WARNING):
        threading.Timer(1, process.kill).start()
        with open_warehouse(path) as connection:
            assert number(connection, "SELECT 1") == 1
    assert caplog.messages == [f"{path}: waiting for another process that has the warehouse open (PID {process.pid})"]


def test_a_short_wait_is_silent(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with hold(path) as process, caplog.at_level(logging.WARNING):
        threading.Timer(0.3, process.kill).start()
        with open_warehouse(path):
            pass
    assert caplog.messages == []


def test_a_reader_of_the_warehouse_is_waited_for_too(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "WAIT_SECONDS", 0.3)
    path = house.settings.warehouse
    with (
        hold(path, read_only=True) as process,
        pytest.raises(UserError, match=f"PID {process.pid}"),
        open_warehouse(path),
    ):
        pass
