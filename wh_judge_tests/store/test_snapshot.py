"""Snapshots: immutable, complete, named by their contents, and in nobody's way."""

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from wh_judge.store import snapshot
from wh_judge.store.log_files import ingest_log
from wh_judge.store.schema import PUBLISHED
from wh_judge.store.snapshot import Snapshot, is_published, publish
from wh_judge_tests.builders import turn
from wh_judge_tests.house import CARDS, DAY_2, House, at, rows, spoilt, tables

Connection = duckdb.DuckDBPyConnection


@pytest.fixture
def folder(house: House) -> Path:
    return house.settings.published


def another(warehouse: Connection, house: House, folder: Path, number: int, keep: int = 5) -> Snapshot:
    """Publish again with one turn more."""
    house.log("more", *(turn(f"T-{900 + n}", turn_at=at(1)) for n in range(number)))
    ingest_log(warehouse, house.turns)
    return publish(warehouse, folder, keep=keep)


def ids(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*.duckdb")}


def test_readers_get_every_row_of_every_published_table(warehouse: Connection, folder: Path) -> None:
    path = publish(warehouse, folder, keep=5).path
    with duckdb.connect(str(path), read_only=True) as reader:
        assert {name for (name,) in rows(reader, "SHOW TABLES")} == {*PUBLISHED, "verdict_closed"}
        reader.execute("SET TimeZone = 'Asia/Seoul'")
        found, expected = tables(reader, runs=True), tables(warehouse, runs=True)
        columns = "* EXCLUDE (run_id, written_at)"
        found["verdict"] = rows(reader, f"SELECT {columns} FROM verdict ORDER BY {PUBLISHED['verdict']}")
        assert found == expected


def test_a_verdict_in_force_names_the_run_that_wrote_it(warehouse: Connection, folder: Path) -> None:
    path = publish(warehouse, folder, keep=5).path
    sql = "SELECT turn_id, run_id, written_at FROM {} ORDER BY turn_id"
    with duckdb.connect(str(path), read_only=True) as reader:
        reader.execute("SET TimeZone = 'Asia/Seoul'")
        assert rows(reader, sql.format("verdict")) == rows(warehouse, sql.format("verdict_row")) != []


@pytest.mark.parametrize("order", [None, "DESC", "ASC"], ids=["as written", "falling", "rising"])
def test_rows_lie_in_their_order(order: str | None, warehouse: Connection, folder: Path) -> None:
    for table in ("turn_row", "verdict_row") if order else ():
        warehouse.execute(
            f"""CREATE TEMP TABLE other AS FROM {table} ORDER BY day {order}, length(turn_id) {order}, turn_id {order};
                DELETE FROM {table}; INSERT INTO {table} FROM other; DROP TABLE other"""
        )
    path = publish(warehouse, folder, keep=5).path
    with duckdb.connect(str(path), read_only=True) as reader:
        for table in ("chat_turn", "verdict"):
            found = rows(reader, f"SELECT day, length(turn_id), turn_id FROM {table}")
            assert found == sorted(found)
            assert len(found) > 10


def test_a_snapshot_counts_its_rows(warehouse: Connection, folder: Path) -> None:
    found = publish(warehouse, folder, keep=5).rows
    assert found["chat_turn"] == 17
    assert (found["verdict"], found["unjudged"], found["rejected_rows"]) == (16, 1, 1)
    assert list(found) == list(PUBLISHED)


def test_a_file_beside_the_snapshots_names_the_newest(warehouse: Connection, house: House, folder: Path) -> None:
    first = publish(warehouse, folder, keep=5)
    assert first.path == folder / f"{first.id}.duckdb"
    assert (folder / "current").read_text() == f"{first.id}\n"
    second = another(warehouse, house, folder, 1)
    assert second.id != first.id
    assert (folder / "current").read_text() == f"{second.id}\n"


def test_the_same_contents_have_the_same_id_and_are_not_written_again(warehouse: Connection, folder: Path) -> None:
    first = publish(warehouse, folder, keep=5)
    inode, content = first.path.stat().st_ino, first.path.read_bytes()
    second = publish(warehouse, folder, keep=5)
    assert (first.written, second.written) == (True, False)
    assert second.id == first.id
    assert (second.path.stat().st_ino, second.path.read_bytes()) == (inode, content)


def test_a_day_that_is_judged_again_to_the_same_end_has_the_same_id(
    warehouse: Connection, house: House, folder: Path
) -> None:
    first = publish(warehouse, folder, keep=5)
    house.judge(warehouse, DAY_2, "second")
    assert publish(warehouse, folder, keep=5).id == first.id


def test_contents_that_come_back_get_their_old_snapshot_again(
    warehouse: Connection, house: House, folder: Path
) -> None:
    first = another(warehouse, house, folder, 0)
    another(warehouse, house, folder, 1)
    third = another(warehouse, house, folder, 0)
    assert (third.id, third.written) == (first.id, False)
    assert (folder / "current").read_text() == f"{first.id}\n"


def test_only_the_newest_snapshots_are_kept(warehouse: Connection, house: House, folder: Path) -> None:
    made = [another(warehouse, house, folder, number, keep=2).id for number in range(4)]
    assert ids(folder) == set(made[-2:])


def test_a_snapshot_that_came_back_is_new_again(warehouse: Connection, house: House, folder: Path) -> None:
    first, second = (another(warehouse, house, folder, number, keep=2).id for number in (0, 1))
    assert another(warehouse, house, folder, 0, keep=2).id == first
    third = another(warehouse, house, folder, 2, keep=2).id
    assert ids(folder) == {first, third}, f"{second} is the oldest"


def test_the_current_snapshot_is_always_kept(warehouse: Connection, house: House, folder: Path) -> None:
    made = [another(warehouse, house, folder, number, keep=1).id for number in range(2)]
    assert ids(folder) == {made[-1]}


def test_an_open_snapshot_stays_readable_when_it_is_dropped(warehouse: Connection, house: House, folder: Path) -> None:
    path = publish(warehouse, folder, keep=1).path
    with duckdb.connect(str(path), read_only=True) as reader:
        another(warehouse, house, folder, 1, keep=1)
        assert not path.exists()
        assert rows(reader, "SELECT count(*) FROM chat_turn") == [(17,)]
        assert len(rows(reader, "SELECT reply_text, evidence FROM verdict JOIN chat_turn USING (turn_id)")) == 16


def test_other_processes_read_while_the_warehouse_is_open_for_writing(warehouse: Connection, folder: Path) -> None:
    path = publish(warehouse, folder, keep=5).path
    warehouse.execute("BEGIN")
    warehouse.execute("DELETE FROM verdict_row")
    code = "import duckdb, sys; print(duckdb.connect(sys.argv[1], read_only=True).sql('FROM verdict').count('*'))"
    reader = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert (reader.returncode, "16" in reader.stdout) == (0, True), reader.stderr
    blocked = subprocess.run(
        [sys.executable, "-c", code, str(folder.parent / "warehouse.duckdb")], capture_output=True, check=False
    )
    assert blocked.returncode != 0, "the warehouse itself is locked meanwhile"
    warehouse.execute("ROLLBACK")


def test_nobody_writes_to_a_snapshot_that_is_opened_to_read(warehouse: Connection, folder: Path) -> None:
    path = publish(warehouse, folder, keep=5).path
    with duckdb.connect(str(path), read_only=True) as reader, pytest.raises(duckdb.InvalidInputException):
        reader.execute("DELETE FROM verdict")


def test_a_snapshot_is_never_there_in_part(
    warehouse: Connection, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PUBLISHED, "no_such_table", "1")
    monkeypatch.setattr(snapshot, "table_version", lambda *_arguments: "same")
    with pytest.raises(duckdb.CatalogException):
        publish(warehouse, folder, keep=5)
    assert ids(folder) == set()
    assert not (folder / "current").exists()


def test_what_a_killed_publication_left_is_swept_up(warehouse: Connection, folder: Path) -> None:
    folder.mkdir()
    for name in (".0.1.partial", ".0.1.partial.wal", ".current.1"):
        (folder / name).write_bytes(b"half")
    found = publish(warehouse, folder, keep=5)
    assert {path.name for path in folder.iterdir()} == {"current", f"{found.id}.duckdb"}


def test_a_folder_with_a_quote_in_its_name_is_a_folder(warehouse: Connection, tmp_path: Path) -> None:
    assert publish(warehouse, tmp_path / "it's", keep=5).path.is_file()


def test_nothing_is_published_at_first(warehouse: Connection, folder: Path) -> None:
    assert not is_published(warehouse, folder)


def test_after_publication_everything_is_published(warehouse: Connection, folder: Path) -> None:
    publish(warehouse, folder, keep=5)
    assert is_published(warehouse, folder)


def test_a_failing_day_is_not_published_yet(warehouse: Connection, house: House, folder: Path) -> None:
    house.cards(CARDS[0].model_copy(update={"first_person": "저"}), *CARDS[1:])
    house.bring_in(warehouse)
    publish(warehouse, folder, keep=5)
    assert not house.judge(warehouse, DAY_2, "bad", change=spoilt).committed
    assert not is_published(warehouse, folder)


def test_a_rejected_row_is_not_published_yet(warehouse: Connection, house: House, folder: Path) -> None:
    publish(warehouse, folder, keep=5)
    house.log("more", "no JSON")
    ingest_log(warehouse, house.turns)
    assert not is_published(warehouse, folder)


@pytest.mark.parametrize("pattern", ["current", "*.duckdb"])
def test_what_was_deleted_is_not_published(pattern: str, warehouse: Connection, folder: Path) -> None:
    publish(warehouse, folder, keep=5)
    for path in folder.glob(pattern):
        path.unlink()
    assert not is_published(warehouse, folder)
    publish(warehouse, folder, keep=5)
    assert is_published(warehouse, folder)
