"""New votes: each is a line, also beside others that are being written and after a crash."""

import resource
from multiprocessing import get_context
from pathlib import Path

import pytest

from wh_judge.ingest import read_table
from wh_judge.inputs import TABLES
from wh_judge.votes.journal import JOURNAL, append
from wh_judge_tests.votes import vote


def written(folder: Path) -> list[str]:
    batch = read_table(folder, TABLES["vote"])
    assert batch.problems == []
    ids: list[str] = batch.rows["vote_id"].to_pylist()
    return ids


def test_votes_are_appended(tmp_path: Path) -> None:
    folder = tmp_path / "votes"
    for name in ("V-1", "V-2"):
        append(folder, vote(name, annotator="하늘"))
    assert written(folder) == ["V-1", "V-2"]
    assert "하늘" in (folder / JOURNAL).read_text(encoding="utf-8")


def test_a_line_that_was_cut_off_does_not_swallow_the_next(tmp_path: Path) -> None:
    (tmp_path / JOURNAL).write_text('{"vote_id": "V-0", "mod', encoding="utf-8")
    append(tmp_path, vote("V-1"))
    batch = read_table(tmp_path, TABLES["vote"])
    assert (batch.rows["vote_id"].to_pylist(), len(batch.problems)) == (["V-1"], 1)


def test_a_vote_that_the_disk_does_not_hold_leaves_the_journal_as_it_was(tmp_path: Path) -> None:
    append(tmp_path, vote("V-1"))
    before = (tmp_path / JOURNAL).read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, limits[1]))
    try:
        with pytest.raises(OSError, match="No space left"):
            append(tmp_path, vote("V-2"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (tmp_path / JOURNAL).read_bytes() == before
    append(tmp_path, vote("V-3"))
    assert written(tmp_path) == ["V-1", "V-3"]


def _append_many(folder: Path, who: str) -> None:
    for number in range(50):
        append(folder, vote(f"{who}-{number}", annotator=who * 500))


def test_processes_do_not_write_into_each_other_s_lines(tmp_path: Path) -> None:
    context = get_context("spawn")
    processes = [context.Process(target=_append_many, args=(tmp_path, who)) for who in "ab"]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert sorted(written(tmp_path)) == sorted(f"{who}-{number}" for who in "ab" for number in range(50))
