"""Which files an input has, in which order, and what they are called."""

import os
from pathlib import Path

import pytest

from wh_judge.errors import UserError
from wh_judge.inputs import TABLES, file_name, files_of, input_path
from wh_judge.parts import Part, reading_parts
from wh_judge_tests.input_files import keys, places, read, rows, write


def test_a_file_is_its_own_only_file(tmp_path: Path) -> None:
    assert files_of(tmp_path / "x.jsonl") == [tmp_path / "x.jsonl"]


def test_the_files_of_a_folder_come_by_name_at_any_depth(tmp_path: Path) -> None:
    names = ["2026/10/a.jsonl", "2026/9/b.jsonl", "2026-09-02.csv", "2026-09-01.jsonl", "a.txt", "하늘.json", "z"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert [file.relative_to(tmp_path).as_posix() for file in files_of(tmp_path)] == sorted(names)


@pytest.mark.parametrize(
    "name",
    [".hidden.jsonl", ".DS_Store", "README", "README.md", "README.txt", "_SUCCESS", ".git/x.jsonl", "a/.cache/b/x.csv"],
)
def test_hidden_files_and_readmes_are_no_input(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).touch()
    assert files_of(tmp_path) == []


@pytest.mark.parametrize("name", ["README.jsonl", "README-2026.csv", "README.ko.md", "readme.txt"])
def test_what_is_only_called_almost_so_is_an_input(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    assert files_of(tmp_path) == [tmp_path / name]


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet", "a.csv", "a.json", "a"])
def test_a_pipe_is_told_and_not_waited_for(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    batch = read(tmp_path)
    assert batch.rows.num_rows == 0
    [problem] = batch.problems
    assert problem.reason == "is no regular file" or problem.reason.startswith("is none of ")
    assert [len(part.problems) for part in _parts(tmp_path)] == [1]


def _parts(path: Path) -> list[Part]:
    with reading_parts(path) as log:
        return list(log.parts)


def test_a_hidden_file_that_is_named_is_read(tmp_path: Path) -> None:
    assert keys(read(write(tmp_path / ".x.jsonl", rows("chat_turn", "a")))) == ["a"]


def test_a_folder_may_be_called_like_a_file(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").mkdir()
    write(tmp_path / "x.jsonl" / "y.jsonl", rows("chat_turn", "a"))
    assert keys(read(tmp_path)) == ["a"]
    assert keys(read(tmp_path / "x.jsonl")) == ["a"]


def test_an_empty_folder_has_no_rows(tmp_path: Path) -> None:
    batch = read(tmp_path)
    assert (batch.rows.num_rows, batch.problems) == (0, [])
    assert batch.rows.schema == TABLES["chat_turn"].schema


def test_links_that_lead_nowhere_or_round_are_problems(tmp_path: Path) -> None:
    folder = tmp_path / "turns"
    (folder / "in").mkdir(parents=True)
    write(tmp_path / "elsewhere.jsonl", rows("chat_turn", "b"))
    write(folder / "a.jsonl", rows("chat_turn", "a"))
    (folder / "b.jsonl").symlink_to(tmp_path / "elsewhere.jsonl")
    (folder / "gone.jsonl").symlink_to("nowhere")
    (folder / "in" / "round").symlink_to(folder)
    (folder / "self.jsonl").symlink_to("self.jsonl")
    batch = read(folder)
    assert keys(batch) == ["a", "b"]
    not_followed = "is a folder behind a link, which is not followed; give that folder itself"
    assert places(batch.problems) == [
        ("turns/gone.jsonl", None, "rejected", "cannot be read: No such file or directory"),
        ("turns/in/round", None, "rejected", not_followed),
        ("turns/self.jsonl", None, "rejected", "cannot be read: Too many levels of symbolic links"),
    ]


def test_a_link_to_a_folder_that_is_given_is_followed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    write(tmp_path / "there" / "a.jsonl", rows("chat_turn", "a"))
    (tmp_path / "turns").symlink_to("there")
    assert keys(read(tmp_path / "turns")) == ["a"]


def test_a_folder_that_cannot_be_listed_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "closed").mkdir()
    scandir = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(UserError, match=r"closed: cannot be listed: Permission denied$"):
        files_of(tmp_path)


def test_a_folder_is_read_over_what_is_broken_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "turns"
    folder.mkdir()
    write(folder / "1.jsonl", rows("chat_turn", "a"))
    (folder / "2.txt").write_text("x")
    (folder / "3.parquet").write_text("x")
    (folder / "4.csv").write_text("x")
    (folder / "5.json").write_text("")
    write(folder / "6.PARQUET", [])
    write(folder / "7.csv", rows("chat_turn", "b"))
    batch = read(folder)
    assert keys(batch) == ["a", "b"]
    assert [(problem.file, problem.line) for problem in batch.problems] == [
        ("turns/2.txt", None),
        ("turns/3.parquet", None),
        ("turns/4.csv", 1),
        ("turns/5.json", 1),
    ]
    assert {problem.severity for problem in batch.problems} == {"rejected"}


def test_a_card_that_stands_in_two_files_counts_where_it_stands_first(tmp_path: Path) -> None:
    folder = tmp_path / "cards"
    folder.mkdir()
    first, second = rows("character_card", "C-1", "C-1")
    write(folder / "a.json", [first | {"name": "먼저"}])
    write(folder / "b.csv", [second | {"name": "나중"}])
    batch = read(folder, "character_card")
    assert batch.rows["name"].to_pylist() == ["먼저"]
    assert places(batch.problems) == [
        ("cards/b.csv", 2, "rejected", "character_id C-1 stands already in cards/a.json:2")
    ]


def test_a_file_is_called_by_its_folder(tmp_path: Path) -> None:
    assert file_name(Path("turns.jsonl"), Path("turns.jsonl")) == "turns.jsonl"
    assert file_name(tmp_path / "turns", tmp_path / "turns" / "9" / "x.jsonl") == "turns/9/x.jsonl"
    assert file_name(Path("../turns"), Path("../turns/x.jsonl")) == "turns/x.jsonl"


def test_a_name_that_is_not_utf_8_is_written_out(tmp_path: Path) -> None:
    folder = tmp_path / "turns"
    folder.mkdir()
    name = os.fsdecode(b"\xed\x95.jsonl")
    try:
        (folder / name).write_text("x\n")
    except OSError:
        pytest.skip("this file system holds no such name")
    [problem] = read(folder).problems
    assert problem.file == r"turns/\xed\x95.jsonl"


@pytest.mark.parametrize("name", ["turns", "turns.jsonl", "turns.json", "turns.csv", "turns.parquet"])
def test_an_input_is_a_folder_or_a_file(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    assert input_path(tmp_path, TABLES["chat_turn"]) == tmp_path / name


def test_an_input_that_is_not_there_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "turns.txt").touch()
    with pytest.raises(
        UserError, match=r"holds no turns; put a folder turns/ or a file turns\.jsonl .*WH_JUDGE_INPUTS"
    ):
        input_path(tmp_path, TABLES["chat_turn"])
    assert input_path(tmp_path, TABLES["gold_label"], optional=True) is None


def test_an_input_that_is_there_twice_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").touch()
    (tmp_path / "gold").mkdir()
    with pytest.raises(
        UserError, match=r"holds gold and gold\.csv; keep one of them, or move the files into one folder"
    ):
        input_path(tmp_path, TABLES["gold_label"], optional=True)


def test_the_mark_that_spark_leaves_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "day=2026-09-01").mkdir()
    for name in ("_SUCCESS", "day=2026-09-01/part-0.parquet", "_x.jsonl"):
        (tmp_path / name).touch()
    assert [file.name for file in files_of(tmp_path)] == ["_x.jsonl", "part-0.parquet"]
