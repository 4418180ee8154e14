"""LMArena's battles read many lines at once: the same votes and the same errors as line by line."""

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
from wh_judge.votes.certain import certain_votes
from wh_judge.votes.formats import read_votes
from wh_judge.votes.lmarena import read_lines
from wh_judge.votes.rows import Vote, votes_from
from wh_judge_tests.votes.test_certain import CELLS, LINES, ODD, TEXTS, nothing

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


@settings(max_examples=400, deadline=None)
@given(contents(), st.integers(1, 4), st.integers(1, 3))
@example(line() + line(winner="?") + line(), 9, 1)
@example(line(case_id=None, question_id="q") + line(question_id="q"), 9, 1)
@example(line(id="1") + line(id="1"), 9, 1)
@example(line(source=None) + line(), 9, 1)
@example(line(id="1").replace(b'"id"', b'"vote\\u005fid": null, "id"'), 9, 1)
@example(line(winner="tie (bothbad)") + line(winner="both_bad"), 9, 1)
def test_many_lines_at_once_give_what_each_by_itself_gives(content: bytes, lines: int, fewest: int) -> None:
    with TemporaryDirectory() as folder, patch.object(formats, "VOTE_LINES", lines):
        path = Path(folder, "x.jsonl")
        path.write_bytes(content)
        with patch.object(certain, "FEWEST", fewest):
            at_once = read(path)
        with patch.object(formats, "certain_votes", lambda lines, *_: nothing(lines)):
            assert at_once == read(path)


@pytest.mark.parametrize(
    "cells",
    [
        {},
        {"question_id": "q", "judge": "j", "id": "1", "tstamp": 1682351591.1322, "turn": 1, "anony": True},
        {"conversation_a": [{"role": "user", "content": "안녕"}], "cost": 0.5},
        {"case_id": "q", "annotator": None, "vote_id": "1", "source": "s", "tstamp": None},
        {"judge": "가" * 10_000},
    ],
)
def test_a_usual_battle_is_certain(cells: dict[str, Any]) -> None:
    found = certain_votes([line(**cells)], lambda lines: read_lines(lines, "s"), frozenset(["vote_id"]))
    assert found.mask.all()
