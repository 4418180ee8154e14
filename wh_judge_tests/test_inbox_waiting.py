"""Files of the inbox in which no row can be read: they wait, are given up, and come back when their writer goes on."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import duckdb
import pytest

from wh_judge.automation import fingerprints
from wh_judge.errors import UserError
from wh_judge.inbox import REJECT_SECONDS, later_files, overdue_files, ready_files, see
from wh_judge.inputs import TABLES
from wh_judge.rejected import reason_of, reject
from wh_judge.store.inputs import bring_in
from wh_judge.store.problems import read_problems
from wh_judge_tests.builders import turn
from wh_judge_tests.house import House, at, rows, settle

Connection = duckdb.DuckDBPyConnection
ROW = turn("T-90", turn_at=at(1)).model_dump_json() + "\n"
HEADER = "turn_id,session_id,character_id,turn_at,user_message,reply_text\n"
MINUTE = 60.0


@pytest.fixture
def house(tmp_path: Path) -> House:
    house = settle(tmp_path)
    house.settings.inbox.mkdir()
    return house


@pytest.fixture
def warehouse(house: House) -> Iterator[Connection]:
    """What is among the inputs was brought in."""
    with house.warehouse() as connection:
        bring_in(connection, house.settings)
        yield connection


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds by which it is later than it is."""
    ahead = [MINUTE]
    now = time.time
    monkeypatch.setattr("wh_judge.inbox.time.time", lambda: now() + ahead[0])
    return ahead


def told(connection: Connection, name: str) -> list[str]:
    return [problem.reason for problem in read_problems(connection) if problem.file == f"inbox/{name}"]


def turns_of(connection: Connection, name: str) -> list[str]:
    return [row[0] for row in rows(connection, "SELECT turn_id FROM chat_turn WHERE file = ?", f"inbox/{name}")]


EMPTY = [
    pytest.param("a.jsonl", "", id="empty"),
    pytest.param("a.csv", HEADER, id="only a header"),
    pytest.param("a.csv", HEADER[:20], id="half a header"),
    pytest.param("a.json", "[", id="half a list"),
    pytest.param("a.jsonl", "no JSON", id="a line that is cut off"),
    pytest.param("a.jsonl", "no JSON\n", id="a bad line"),
]


@pytest.mark.parametrize(("name", "content"), EMPTY)
def test_a_file_without_a_row_waits_where_it_is_and_is_told(
    name: str, content: str, house: House, warehouse: Connection, clock: list[float]
) -> None:
    path = house.settings.inbox / name
    path.write_text(content)
    for seconds in (MINUTE, REJECT_SECONDS - MINUTE):
        clock[0] = seconds
        bring_in(warehouse, house.settings)
        assert path.read_text() == content
        assert len(told(warehouse, name)) == 1
    clock[0] = REJECT_SECONDS + MINUTE
    assert bring_in(warehouse, house.settings) == [f"inbox/{name}"]
    assert not path.exists()
    assert (house.settings.inbox / "rejected" / name).read_text() == content
    assert len(told(warehouse, name)) == 1


def test_a_file_that_waits_is_read_once(house: House, warehouse: Connection, clock: list[float]) -> None:
    (house.settings.inbox / "a.jsonl").touch()
    assert bring_in(warehouse, house.settings) == ["inbox/a.jsonl"]
    assert bring_in(warehouse, house.settings) == []


@pytest.mark.parametrize(("name", "content"), [("a.jsonl", ""), ("a.jsonl", "[\n"), ("a.jsonl", "half")])
def test_what_comes_while_it_waits_is_brought_in(
    name: str, content: str, house: House, warehouse: Connection, clock: list[float]
) -> None:
    path = house.settings.inbox / name
    path.write_text(content)
    bring_in(warehouse, house.settings)
    path.write_text(ROW)
    clock[0] = 2 * REJECT_SECONDS
    bring_in(warehouse, house.settings)
    assert turns_of(warehouse, name) == ["T-90"]
    assert told(warehouse, name) == []
    assert path.exists()


def test_what_an_open_writer_writes_after_the_file_was_set_aside_is_brought_in(
    house: House, warehouse: Connection, clock: list[float]
) -> None:
    path = house.settings.inbox / "export.jsonl"
    with path.open("w") as writer:
        give_up(house, warehouse, clock)
        assert (house.settings.inbox / "rejected/export.jsonl").exists()
        write(writer, ROW)
        bring_in(warehouse, house.settings)
        assert turns_of(warehouse, "export.jsonl") == ["T-90"]
        write(writer, ROW.replace("T-90", "T-91"))
        bring_in(warehouse, house.settings)
    assert turns_of(warehouse, "export.jsonl") == ["T-90", "T-91"]
    assert [path.name for path in (house.settings.inbox / "rejected").iterdir()] == []
    assert told(warehouse, "export.jsonl") == []


def give_up(house: House, warehouse: Connection, clock: list[float]) -> None:
    """Whatever holds no row is moved to the folder of rejected files."""
    bring_in(warehouse, house.settings)
    clock[0] += 2 * REJECT_SECONDS
    bring_in(warehouse, house.settings)


def write(writer: IO[str], text: str) -> None:
    before = os.fstat(writer.fileno()).st_mtime_ns
    while os.fstat(writer.fileno()).st_mtime_ns == before:  # The clock of the disk goes in steps.
        time.sleep(0.01)
        writer.write(text)
        text = ""
        writer.flush()
        os.utime(writer.fileno())


def test_a_changed_file_whose_place_is_taken_is_told(house: House, warehouse: Connection, clock: list[float]) -> None:
    path = house.settings.inbox / "a.jsonl"
    with path.open("w") as writer:
        give_up(house, warehouse, clock)
        path.write_text(ROW.replace("T-90", "T-91"))
        write(writer, ROW)
    for _ in range(2):
        bring_in(warehouse, house.settings)
        assert turns_of(warehouse, "a.jsonl") == ["T-91"]
        [reason] = told(warehouse, "rejected/a.jsonl")
        assert reason.startswith("changed after it was set aside")
    path.unlink()
    bring_in(warehouse, house.settings)
    assert turns_of(warehouse, "a.jsonl") == ["T-90"]
    assert told(warehouse, "rejected/a.jsonl") == []


def test_what_cannot_be_put_back_is_said_in_one_line(house: House, warehouse: Connection, clock: list[float]) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    path = house.settings.inbox / "a.jsonl"
    with path.open("w") as writer:
        give_up(house, warehouse, clock)
        write(writer, ROW)
    house.settings.inbox.chmod(0o555)
    try:
        with pytest.raises(UserError, match="changed after it was set aside, and cannot be moved back to "):
            bring_in(warehouse, house.settings)
    finally:
        house.settings.inbox.chmod(0o755)


def test_a_good_file_that_takes_the_place_of_a_bad_one_is_not_moved(
    house: House, warehouse: Connection, clock: list[float]
) -> None:
    """As if it came between the look at the bad one and its move."""
    path = house.settings.inbox / "a.jsonl"
    path.touch()
    seen = see(path)
    assert seen
    path.with_name(".new").write_text(ROW)
    path.with_name(".new").rename(path)
    assert reject(house.settings.inbox, path, seen, []) is None
    assert path.read_text() == ROW
    assert list((house.settings.inbox / "rejected").iterdir()) == []


def test_a_file_that_changed_since_it_was_read_is_not_given_up(
    house: House, warehouse: Connection, clock: list[float]
) -> None:
    path = house.settings.inbox / "cards" / "a.json"
    path.parent.mkdir()
    path.write_text("[")
    house.bring_in(warehouse)
    (house.settings.inbox / ".waiting.json").write_text('{"inbox/cards/a.json": "of other content"}')
    clock[0] = 2 * REJECT_SECONDS
    assert bring_in(warehouse, house.settings) == []
    assert path.exists()


@pytest.mark.parametrize("suffix", [".part", ".PARTIAL", ".tmp", ".crdownload", ".download", ".filepart"])
@pytest.mark.parametrize("place", ["", "cards/"])
def test_unfinished_downloads_are_left_alone(place: str, suffix: str, house: House, clock: list[float]) -> None:
    path = house.settings.inbox / f"{place}a.jsonl{suffix}"
    path.parent.mkdir(exist_ok=True)
    path.write_text(ROW)
    assert ready_files(house.settings.inbox) == []
    assert later_files(house.settings.inbox, TABLES["character_card"]) == []


def test_what_was_put_into_rejected_by_hand_stays(house: House, warehouse: Connection, clock: list[float]) -> None:
    path = house.settings.inbox / "rejected" / "a.jsonl"
    path.parent.mkdir()
    path.write_text(ROW)
    bring_in(warehouse, house.settings)
    assert path.exists() and not reason_of(path).exists()


def test_the_sensor_sees_a_file_that_is_overdue_and_one_that_changed(
    house: House, warehouse: Connection, clock: list[float]
) -> None:
    path = house.settings.inbox / "a.jsonl"
    with path.open("w") as writer:
        bring_in(warehouse, house.settings)
        found = [fingerprints(house.settings)["log"]]
        clock[0] += MINUTE
        assert fingerprints(house.settings)["log"] == found[0]
        clock[0] = 2 * REJECT_SECONDS
        assert overdue_files(house.settings.inbox) == [path]
        found.append(fingerprints(house.settings)["log"])
        bring_in(warehouse, house.settings)
        found.append(fingerprints(house.settings)["log"])
        write(writer, ROW)
        found.append(fingerprints(house.settings)["log"])
    assert len(set(found)) == 4


def test_a_pipe_is_told_once_and_stays(house: House, warehouse: Connection, clock: list[float]) -> None:
    path = house.settings.inbox / "a.jsonl"
    os.mkfifo(path)
    clock[0] = 2 * REJECT_SECONDS
    for _ in range(2):
        assert bring_in(warehouse, house.settings) == []
        assert told(warehouse, "a.jsonl") == ["is no regular file"]
    assert path.is_fifo()


@pytest.mark.parametrize("content", ["[]", "{", "\xff", '{"inbox/a.jsonl": 1}'])
def test_a_list_of_waiting_files_that_is_none_does_no_harm(
    content: str, house: House, warehouse: Connection, clock: list[float]
) -> None:
    (house.settings.inbox / ".waiting.json").write_bytes(content.encode("latin-1"))
    path = house.settings.inbox / "a.jsonl"
    path.touch()
    give_up(house, warehouse, clock)
    assert not path.exists()
