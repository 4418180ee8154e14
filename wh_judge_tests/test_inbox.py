"""The inbox: what is left alone, what is brought in, what is set aside."""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from wh_judge.errors import UserError
from wh_judge.inbox import QUIET_SECONDS, ready_files
from wh_judge.ingest import read_file
from wh_judge.rowwise import Batch
from wh_judge.store.inputs import bring_in
from wh_judge.store.problems import read_problems
from wh_judge_tests.builders import turn
from wh_judge_tests.house import House, Line, at, rows, settle

Connection = duckdb.DuckDBPyConnection
T_90 = turn("T-90", turn_at=at(1))


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """A house with an inbox, into which nothing was put and from which nothing was brought in; no file waits in it."""
    monkeypatch.setattr("wh_judge.inbox.REJECT_SECONDS", 0.0)
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
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())
    return sorted(name for name in found if not name.startswith("."))


def test_without_an_inbox_there_is_nothing(tmp_path: Path) -> None:
    assert ready_files(tmp_path / "inbox") == []


@pytest.mark.parametrize("seconds", [0, 900, -3600], ids=["now", "just now", "in the future"])
def test_a_file_that_is_still_being_written_is_left_alone(
    seconds: float, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wh_judge.inbox.QUIET_SECONDS", 1000.0)  # However slow the machine is.
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
    assert reasons == problems != []


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


def test_a_name_as_long_as_can_be_holds_no_other_file_up(house: House) -> None:
    name = "가" * 82 + "a.jsonl"
    put(house, name, "no JSON")
    put(house, "힣.jsonl", T_90)
    with house.warehouse() as connection:
        bring_in(connection, house.settings)
        assert rows(connection, "SELECT file FROM chat_turn WHERE turn_id = 'T-90'") == [("inbox/힣.jsonl",)]
    _, file, reason = names(house.settings.inbox)[::-1]
    assert file == f"rejected/{name}"
    assert reason.startswith("rejected/가가가") and reason.endswith(".reason.txt")
    assert "is no JSON" in (house.settings.inbox / reason).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("first", "then", "expected"),
    [
        ("a", "a", {"a": "first", "2/a": "then"}),
        ("a/b", "a", {"a/b": "first", "2/a": "then"}),
        ("a", "a/b", {"a": "first", "2/a/b": "then"}),
        ("a", "a.reason.txt", {"a": "first", "2/a.reason.txt": "then"}),
        ("a.reason.txt", "a", {"a.reason.txt": "first", "2/a": "then"}),
    ],
    ids=["its name", "its folder's name", "in a folder of its name", "the name of its reasons", "reasons of its name"],
)
def test_what_was_set_aside_before_stays(first: str, then: str, expected: dict[str, str], house: House) -> None:
    inbox = house.settings.inbox
    with house.warehouse() as connection:
        for name, content in ((first, "first"), (then, "then")):
            put(house, name, content)
            bring_in(connection, house.settings)
            for folder in (path for path in inbox.iterdir() if path.is_dir() and path.name != "rejected"):
                folder.rmdir()
    found = {path: (inbox / "rejected" / path).read_text().strip() for path in expected}
    assert found == expected
    reasons = {path: (inbox / "rejected" / f"{path}.reason.txt").read_text() for path in expected}
    assert all("is none of" in reason for reason in reasons.values())
    assert len(names(inbox)) == 4


def test_what_is_set_aside_once_more_lies_there_once(house: House) -> None:
    with house.warehouse() as connection:
        for _ in range(3):
            put(house, "bad.jsonl", "no JSON")
            bring_in(connection, house.settings)
    assert names(house.settings.inbox) == ["rejected/bad.jsonl", "rejected/bad.jsonl.reason.txt"]


@pytest.mark.parametrize("content", ["", "no JSON", "[]"], ids=["cut to nothing", "no JSON", "an empty list"])
def test_a_file_that_came_to_hold_nothing_leaves_its_turns(content: str, house: House) -> None:
    name = "new.json"
    put(house, name, "[" + T_90.model_dump_json() + "]")
    with house.warehouse() as connection:
        bring_in(connection, house.settings)
        put(house, name, *([content] if content else []))
        bring_in(connection, house.settings)
        assert rows(connection, "SELECT file FROM chat_turn WHERE turn_id = 'T-90'") == [("inbox/new.json",)]
        put(house, name, "[" + T_90.model_dump_json() + "]")
        bring_in(connection, house.settings)
        assert [problem for problem in read_problems(connection) if problem.file == "inbox/new.json"] == []
    assert "new.json" in names(house.settings.inbox)


def test_a_file_is_judged_by_what_was_read_of_it(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if it were being written again as soon as it was read."""
    path = put(house, "new.jsonl", T_90)

    def read_and_cut(file: Path, *arguments: Any, **options: Any) -> Iterator[Batch]:
        yield from read_file(file, *arguments, **options)
        if file == path:
            file.write_text("")

    monkeypatch.setattr("wh_judge.store.log_files.read_file", read_and_cut)
    with house.warehouse() as connection:
        bring_in(connection, house.settings)
        assert rows(connection, "SELECT file FROM chat_turn WHERE turn_id = 'T-90'") == [("inbox/new.jsonl",)]
    assert path.exists()


HOUR = 3600.0


@pytest.mark.parametrize(
    ("changed", "came", "ready"),
    [
        (-HOUR, -HOUR, True),
        (-1.0, -HOUR, False),
        (HOUR * 9, -HOUR, True),
        (HOUR * 9, -1.0, False),
        (HOUR * 9, HOUR * 9, True),
        (30.0, 30.0, False),
    ],
    ids=[
        "long ago",
        "just now",
        "a copy that keeps a time ahead",
        "such a copy that came just now",
        "the clock was set back",
        "another machine's clock is ahead",
    ],
)
def test_times_that_lie_ahead(
    changed: float, came: float, ready: bool, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Times of the change and of the coming, as seen from now."""
    path = put(house, "new.jsonl", T_90)
    now = path.stat().st_ctime - came
    os.utime(path, (now + changed, now + changed))
    now = path.stat().st_ctime - came
    monkeypatch.setattr("wh_judge.inbox.time.time", lambda: now)
    assert (ready_files(house.settings.inbox) == [path]) is ready


def test_a_link_that_leads_nowhere_is_told(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    (house.settings.inbox / "new.jsonl").symlink_to("nothing.jsonl")
    later = time.time() + 60
    monkeypatch.setattr("wh_judge.inbox.time.time", lambda: later)
    with house.warehouse() as connection:
        bring_in(connection, house.settings)
        [problem] = [p for p in read_problems(connection) if p.file == "inbox/new.jsonl"]
        assert problem.reason == "cannot be read: No such file or directory"
        (house.settings.inbox / "new.jsonl").unlink()
        bring_in(connection, house.settings)
        assert "inbox/new.jsonl" not in {p.file for p in read_problems(connection)}


@pytest.mark.parametrize("place", ["rejected", "twice", "inputs"])
def test_of_a_bad_file_that_is_taken_away_nothing_is_told_any_more(place: str, house: House) -> None:
    inbox = house.settings.inbox
    file = put(house, "bad.jsonl", "no JSON") if place != "inputs" else house.log("bad", "no JSON")
    with house.warehouse() as connection:

        def told() -> int:
            bring_in(connection, house.settings)
            return len([p for p in read_problems(connection) if p.file.endswith("bad.jsonl")])

        assert (told(), told()) == (1, 1), "as long as it is there"
        if place == "twice":
            put(house, "bad.jsonl", "no JSON either")
            assert told() == 1
            (inbox / "rejected/bad.jsonl").unlink()
            assert told() == 1
            shutil.rmtree(inbox / "rejected/2")
        elif place == "rejected":
            shutil.rmtree(inbox / "rejected")
        else:
            file.unlink()
        assert told() == 0
        if place == "inputs":
            house.log("bad", "no JSON")
            assert told() == 1, "it came back"


def test_problems_of_a_file_whose_turns_stay_are_told_as_long_as_they_do(house: House) -> None:
    path = put(house, "some.jsonl", T_90, "no JSON")
    with house.warehouse() as connection:
        bring_in(connection, house.settings)
        path.unlink()
        bring_in(connection, house.settings)
        assert [p.line for p in read_problems(connection) if p.file == "inbox/some.jsonl"] == [2]
