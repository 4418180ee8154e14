"""LMArena's battles read by columns: the same votes and the same errors as one by one."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wh_judge.errors import UserError
from wh_judge.votes import certain, formats
from wh_judge.votes.formats import read_votes
from wh_judge.votes.rows import Vote, votes_from
from wh_judge_tests.input_files import SUFFIXES, write
from wh_judge_tests.votes.test_certain import CELLS, LINES, ODD, TEXTS
from wh_judge_tests.votes.test_certain import nothing_of_cells as nothing

OTHERS: dict[str, st.SearchStrategy[Any]] = {
    "id": st.integers(0, 99).map(str) | st.integers(0, 9),
    "question_id": TEXTS | st.integers(0, 9),
    "judge": TEXTS,
    "tstamp": st.floats(1e9, 2e9) | st.integers(10**9, 2 * 10**9) | st.sampled_from([0, -1, 1e20, 1e300, "1", True]),
    "conversation_a": st.just([{"role": "user", "content": "안녕"}]),
    "cost": st.floats(),
}


@st.composite
def contents(draw: st.DrawFn) -> bytes:
    """A file of battles, most of them sound; all of its lines name mostly the same."""
    names = draw(st.lists(st.sampled_from([*CELLS, *OTHERS]), max_size=8))
    wanted = {"model_a", "model_b", "winner"} | set(names)
    lines = []
    for _ in range(draw(st.integers(0, 6))):
        row = {name: draw((CELLS | OTHERS)[name]) for name in sorted(wanted)} | {"model_a": "a", "model_b": "b"}
        if "vote_id" in row:
            row["vote_id"] = draw(st.integers(0, 99).map(str))
        row["winner"] = draw(st.sampled_from(["model_a", "tie", "tie (bothbad)", "both_bad"]))
        for name in draw(st.lists(st.sampled_from([*wanted, "mood"]), max_size=1)):
            if draw(st.integers(0, 3)) == 0:
                row[name] = draw(ODD)
        lines.append(json.dumps(row, ensure_ascii=draw(st.booleans())).encode() + b"\n")
        if draw(st.integers(0, 19)) == 0:
            lines.append(draw(st.sampled_from(LINES)))
    return b"".join(lines)


def read(path: Path) -> list[Vote] | str:
    """The votes of a file, or why there are none."""
    try:
        return votes_from(read_votes(path, "lmarena", "하늘"))
    except UserError as error:
        return str(error)


def line(**cells: Any) -> bytes:
    return json.dumps({"model_a": "a", "model_b": "b", "winner": "tie"} | cells).encode() + b"\n"


@settings(max_examples=200, deadline=None)
@given(contents(), st.integers(1, 9))
@example(line() + line(winner="?") + line(), 9)
@example(line(case_id=None, question_id="q") + line(question_id="q"), 9)
@example(line(id="1") + line(id="1") + line(winner="?"), 9)
@example(line(source=None) + line(), 9)
@example(line(id="1").replace(b'"id"', b'"vote\\u005fid": null, "id"'), 9)
@example(line(id=False) + line(winner="tie (bothbad)") + line(winner="both_bad"), 9)
def test_by_columns_gives_what_one_by_one_gives(content: bytes, at_once: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.jsonl")
        path.write_bytes(content)
        with patch.object(certain, "AT_ONCE", at_once):
            by_columns = read(path)
        with patch.object(formats, "certain_cells", nothing):
            assert by_columns == read(path)


BATTLES: list[dict[str, Any]] = [
    {"question_id": f"q{n}", "model_a": "a", "model_b": "b", "winner": "tie", "tstamp": 1682351591.5 + n}
    for n in range(3)
]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_battles_are_the_same_votes_in_every_flat_form(suffix: str, tmp_path: Path) -> None:
    found = read(write(tmp_path / f"battles{suffix}", BATTLES))
    assert found == read(write(tmp_path / "battles.jsonl", BATTLES))
    assert [vote.voted_at and vote.voted_at.timestamp() for vote in found] == [row["tstamp"] for row in BATTLES]  # type: ignore[union-attr]


@pytest.mark.parametrize("tstamp", ["soon", 1e20, "nan"])
def test_a_time_that_is_none_is_an_error_that_names_the_line(tstamp: Any, tmp_path: Path) -> None:
    found = read(write(tmp_path / "battles.csv", [*BATTLES, BATTLES[0] | {"tstamp": tstamp}]))
    assert isinstance(found, str) and "battles.csv:5: tstamp is no time in seconds since 1970" in found
