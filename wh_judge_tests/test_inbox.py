"""The inbox: what is left alone, what is brought in, what is set aside."""

import os
import time
from pathlib import Path

import duckdb
import pytest

from wh_judge.errors import UserError
from wh_judge.inbox import QUIET_SECONDS, ready_files
from wh_judge.store.inputs import bring_in, read_problems
from wh_judge_tests.builders import turn
from wh_judge_tests.house import House, Line, at, rows, settle

Connection = duckdb.DuckDBPyConnection
T_90 = turn("T-90", turn_at=at(1))


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A house with an inbox, into which nothing was put and from which nothing was brought in."""
    house = settle(tmp_path)
    house.settings.inbox.mkdir()
    return house


def put(house: House, name: str, *lines: Line, seconds: float = 2 * QUIET_SECONDS) -> Path:
    """A file in the inbox that changed so many seconds ago."""
    written = house.log("for the inbox", *lines)
    path = house.settings.inbox / name
    path.parent.mkdir(parents=True, exist_ok=True)
    written.rename(path)
    changed = time.time() - seconds
    os.utime(path, (changed, changed))
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def test_without_an_inbox_there_is_nothing(tmp_path: Path) -> None:
    assert ready_files(tmp_path / "inbox") == []


@pytest.mark.parametrize("seconds", [0, QUIET_SECONDS - 1, -3600], ids=["now", "just now", "in the future"])
def test_a_file_that_is_still_being_written_is_left_alone(seconds: float, house: House) -> None:
    path = put(house, "new.jsonl", T_90, seconds=seconds)
    assert ready_files(house.settings.inbox) == []
    with house.warehouse() as connection:
        assert "inbox/new.jsonl" not in bring_in(connection, house.settings)
    assert path.exists()


def test_a_complete_file_is_brought_in_once_and_stays(house: House) -> None:
    path = put(house, "new.jsonl", T_90)
    with house.warehouse() as connection:
        assert bring_in(connection, house.settings)[-1] == "inbox/new.jsonl"
        assert rows(connection, "SELECT file, line FROM chat_turn WHERE turn_id = 'T-90'") == [("inbox/new.jsonl", 1)]
        assert bring_in(connection, house.settings) == []
    assert path.exists()


def test_a_file_that_is_put_there_again_replaces_its_turns(house: House) -> None:
    put(house, "new.jsonl", T_90, turn("T-91", turn_at=at(1)))
    with house.warehouse() as connection:
        bring_in(connection, house.settings)
        put(house, "new.jsonl", T_90.model_copy(update={"reply_text": "고쳤다."}))
        assert bring_in(connection, house.settings) == ["inbox/new.jsonl"]
        found = rows(connection, "SELECT turn_id, reply_text FROM chat_turn WHERE file = 'inbox/new.jsonl'")
        assert found == [("T-90", "고쳤다.")]


def test_a_turn_of_the_inbox_stands_before_the_same_turn_of_the_inputs(house: House) -> None:
    put(house, "new.jsonl", turn("T-1", turn_at=at(1, 1), reply_text="고쳤다."))
    with house.warehouse() as connection:
        bring_in(connection, house.settings)
        assert rows(connection, "SELECT reply_text FROM chat_turn WHERE turn_id = 'T-1'") == [("고쳤다.",)]


def test_a_file_that_is_deleted_leaves_its_turns(house: House) -> None:
    path = put(house, "new.jsonl", T_90)
    with house.warehouse() as connection:
        bring_in(connection, house.settings)
        path.unlink()
        assert bring_in(connection, house.settings) == []
        assert rows(connection, "SELECT count(*) FROM chat_turn WHERE turn_id = 'T-90'") == [(1,)]


@pytest.mark.parametrize("content", ["no JSON", '{"turn_id": "T-1"}', ""], ids=["no JSON", "no row", "empty"])
def test_a_file_in_which_nothing_can_be_read_is_set_aside_with_its_reasons(content: str, house: House) -> None:
    put(house, "bad.jsonl", *([content] if content else []))
    with house.warehouse() as connection:
        assert "inbox/bad.jsonl" in bring_in(connection, house.settings)
        problems = [str(problem) for problem in read_problems(connection) if problem.file == "inbox/bad.jsonl"]
        assert bring_in(connection, house.settings) == []
    inbox = house.settings.inbox
    assert names(inbox) == ["rejected/bad.jsonl", "rejected/bad.jsonl.reason.txt"]
    reasons = (inbox / "rejected/bad.jsonl.reason.txt").read_text(encoding="utf-8").splitlines()
    assert reasons == (problems or ["bad.jsonl: holds no row"])


def test_a_file_with_one_good_row_is_not_set_aside(house: House) -> None:
    put(house, "some.jsonl", "no JSON", T_90)
    with house.warehouse() as connection:
        bring_in(connection, house.settings)
        assert [p.line for p in read_problems(connection) if p.file == "inbox/some.jsonl"] == [1]
    assert names(house.settings.inbox) == ["some.jsonl"]


def test_a_file_that_was_set_aside_can_be_put_there_again(house: House) -> None:
    put(house, "bad.jsonl", "no JSON")
    with house.warehouse() as connection:
        bring_in(connection, house.settings)
        put(house, "bad.jsonl", "no JSON")
        assert bring_in(connection, house.settings) == ["inbox/bad.jsonl"]
        put(house, "bad.jsonl", T_90)
        assert bring_in(connection, house.settings) == ["inbox/bad.jsonl"]
        assert rows(connection, "SELECT file FROM chat_turn WHERE turn_id = 'T-90'") == [("inbox/bad.jsonl",)]


def test_folders_in_the_inbox_are_looked_into(house: House) -> None:
    put(house, "a/b/good.jsonl", T_90)
    put(house, "a/b/bad.jsonl", "no JSON")
    with house.warehouse() as connection:
        assert bring_in(connection, house.settings)[-2:] == ["inbox/a/b/bad.jsonl", "inbox/a/b/good.jsonl"]
    assert names(house.settings.inbox) == [
        "a/b/good.jsonl",
        "rejected/a/b/bad.jsonl",
        "rejected/a/b/bad.jsonl.reason.txt",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "it's.jsonl",
        "a\nb.jsonl",
        "; DROP TABLE turn_row; --.jsonl",
        "..jsonl..",
        "<b>|`.jsonl",
        "\udcff.jsonl",
        "가.jsonl",
    ],
)
def test_a_name_is_only_a_name(name: str, house: House, tmp_path: Path) -> None:
    (tmp_path / "beside").write_text("as it was")
    put(house, f"x{name}", T_90)
    put(house, f"y{name}", "no JSON")
    outside = [path for path in names(tmp_path) if not path.startswith("data/")]
    with house.warehouse() as connection:
        done = bring_in(connection, house.settings)
    assert len([entry for entry in done if entry.startswith("inbox/")]) == 2
    assert [path for path in names(tmp_path) if not path.startswith("data/")] == outside
    assert [path.startswith("rejected/") for path in names(house.settings.inbox) if "y" in path] != []


def test_what_a_link_leads_to_outside_stays_there(house: House, tmp_path: Path) -> None:
    folder = tmp_path / "outside"
    folder.mkdir()
    for name in ("bad.jsonl", "linked.jsonl"):
        (folder / name).write_text("no JSON")
        os.utime(folder / name, (0, 0))
    (house.settings.inbox / "folder").symlink_to(folder)
    (house.settings.inbox / "linked.jsonl").symlink_to(folder / "linked.jsonl")
    with house.warehouse() as connection:
        bring_in(connection, house.settings)
    assert names(folder) == ["bad.jsonl", "linked.jsonl"]
    assert (folder / "linked.jsonl").read_text() == "no JSON"


def test_what_was_set_aside_is_not_looked_at(house: House) -> None:
    put(house, "rejected/new.jsonl", T_90)
    assert ready_files(house.settings.inbox) == []


def test_a_file_in_the_place_of_the_folder_of_rejected_files_is_said_in_one_line(house: House) -> None:
    put(house, "rejected", T_90)
    path = put(house, "bad.jsonl", "no JSON")
    with house.warehouse() as connection, pytest.raises(UserError) as told:
        bring_in(connection, house.settings)
    assert str(told.value).startswith(f"{path}: holds no row, and cannot be moved to ")
    assert "\n" not in str(told.value)
    assert path.exists()
