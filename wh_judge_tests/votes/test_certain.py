"""Votes read by columns: the same rows, lines and problems as one by one, and most of them by columns indeed."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wh_judge import ingest
from wh_judge.ingest import read_file, read_table
from wh_judge.inputs import TABLES
from wh_judge.readers.records import Line, Record
from wh_judge.rowwise import Batch
from wh_judge.votes import certain
from wh_judge.votes.certain import CertainVotes, certain_cells, certain_votes
from wh_judge_tests.input_files import SOUND, SUFFIXES, write
from wh_judge_tests.strategies import PIECES

TEXTS = st.lists(st.sampled_from([*PIECES, "하늘", "V-1", "V-2"]), max_size=3).map("".join)
ODD: st.SearchStrategy[Any] = st.one_of(
    TEXTS, st.none(), st.booleans(), st.integers(-3, 3), st.floats(), st.just([1]), st.just({"a": "b"})
)
CELLS: dict[str, st.SearchStrategy[Any]] = {
    "vote_id": st.integers(0, 9).map(str),
    "case_id": TEXTS | st.none(),
    "model_a": st.sampled_from(["a", "b", "가", "\u1100\u1161"]),
    "model_b": st.sampled_from(["a", "b", "c", "가"]),
    "winner": st.sampled_from(["model_a", "model_b", "tie", "both_bad", "tie (bothbad)", "draw"]),
    "annotator": TEXTS | st.none(),
    "source": st.sampled_from(["arena", "capability_support", "하늘"]),
    "shown_left": st.sampled_from(["model_a", "model_b", "left"]) | st.none(),
    "voted_at": st.none()
    | st.sampled_from(
        [
            *("2026-09-20T10:00:00+09:00", "2026-09-20T10:00:00.123Z", "2026-09-20T10:00:00.123456-03:30"),
            *("2026-02-30T10:00:00Z", "2026-09-20 10:00", "2026-09-20", "1999-12-31T23:59:59Z", "2000-01-01T00:00:00Z"),
            *("2099-12-31T23:59:59+09:00", "2100-01-01T00:00:00Z", "2026-09-20T24:00:00Z", "2026-W01-1T00:00:00Z", ""),
            *("2026-09-20T10:00:00.1Z", "2026-09-20T10:00:00+00:00:30", "2026-09-20T10:00:60Z", "어제"),
        ]
    ),
}
LINES = [
    *(b"\n", b" \t\r\n", b"\x0b\n", b"{\n", b'{"vote_id": \n', b"}\n", b"[]\n", b"null\n", b"{}{}\n", b'"\xff"\n'),
    *(b'{"vote_id": "1", "vote_id": "2"}\n', b'{"mood": "\xff"}\n', b'{"mood": NaN}\n', b'{"model_a": "\\ud800"}\n'),
    *(b'{"mood": ' + b"[" * 300 + b"]" * 300 + b"}\n", b'{"mood": ' + b"9" * 5000 + b"}\n", b'{"a": "\t"}\n'),
]


@st.composite
def contents(draw: st.DrawFn) -> bytes:
    """A file of votes, most of them sound."""
    lines = []
    for _ in range(draw(st.integers(0, 8))):
        if draw(st.integers(0, 9)) == 0:
            lines.append(draw(st.sampled_from(LINES)))
            continue
        row = {name: draw(cells) for name, cells in CELLS.items()}
        for name in draw(st.lists(st.sampled_from([*row, "mood", "tempo"]), max_size=1)):
            row[name] = draw(ODD)
        if draw(st.integers(0, 3)) == 0:
            del row[draw(st.sampled_from(list(CELLS)))]
        text = json.dumps(row, ensure_ascii=draw(st.booleans()))
        lines.append(draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf", b" "])) + text.encode() + b"\n")
    content = b"".join(lines)
    return content.removesuffix(b"\n") if draw(st.booleans()) else content


def read(path: Path) -> Batch:
    """All batches of a file as one."""
    return read_table(path, TABLES["vote"])


def nothing(entries: Sequence[Record | Line]) -> CertainVotes:
    """What is found where nothing is certain."""
    return nothing_of_cells([entry.record().value for entry in entries])


def nothing_of_cells(records: Sequence[Mapping[str, Any] | None], *options: Any) -> CertainVotes:
    """The same, of cells."""
    found = certain_cells(records, *options)
    return found._replace(mask=np.zeros(len(records), dtype=bool))


def line(**cells: Any) -> bytes:
    return json.dumps(SOUND["vote"] | cells, ensure_ascii=False).encode() + b"\n"


def check(path: Path, at_once: int) -> None:
    """A file gives the same by columns as one by one."""
    with patch.object(certain, "AT_ONCE", at_once):
        by_columns = read(path)
    with patch.object(ingest, "certain_votes", nothing):
        assert by_columns == read(path)


@settings(max_examples=200, deadline=None)
@given(contents(), st.integers(1, 9))
@example(b"".join([line(vote_id="1"), line(vote_id="2", mood=1), line(vote_id="1", winner="tie")]), 9)
@example(b'{"vote_id":\n' + line() + b"{}{}\n", 9)
@example(line(vote_id="1") + line(vote_id="2", voted_at="2026-02-30T10:00:00Z"), 9)
def test_reading_by_columns_gives_what_reading_one_by_one_gives(content: bytes, at_once: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.jsonl")
        path.write_bytes(content)
        check(path, at_once)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.fixed_dictionaries(CELLS), min_size=1, max_size=8), st.sampled_from(SUFFIXES), st.integers(1, 9))
def test_so_it_does_in_every_form_of_file(rows: list[dict[str, Any]], suffix: str, at_once: int) -> None:
    with TemporaryDirectory() as folder:
        check(write(Path(folder, f"x{suffix}"), rows), at_once)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_rows_stay_in_the_order_of_their_file(suffix: str, tmp_path: Path) -> None:
    ids = [("\tV-" if number % 3 == 0 else "V-") + str(number) for number in range(300)]
    path = write(tmp_path / f"v{suffix}", [SOUND["vote"] | {"vote_id": key} for key in ids])
    if suffix == ".json":
        path.write_text(path.read_text().replace("\n", ""))
    assert read(path).rows["vote_id"].to_pylist() == ids


@pytest.mark.parametrize("voted_at", [datetime.fromisoformat("2026-09-20T10:00:00+09:00"), None])
def test_a_moment_of_parquet_is_certain(voted_at: datetime | None) -> None:
    assert certain_cells([SOUND["vote"] | {"voted_at": voted_at}]).mask.all()


@pytest.mark.parametrize("voted_at", [datetime(2026, 9, 20), datetime.fromisoformat("1999-09-20T10:00:00+09:00"), 5])
def test_a_moment_that_is_none_is_in_doubt(voted_at: Any) -> None:
    assert not certain_cells([SOUND["vote"] | {"voted_at": voted_at}]).mask.any()


def test_of_many_sound_votes_and_broken_ones_the_sound_are_certain() -> None:
    records: list[dict[str, Any] | None] = [SOUND["vote"] | {"vote_id": f"V-{number}"} for number in range(1000)]
    records[700:702] = [{"vote_id": 1}, None]
    assert np.flatnonzero(~certain_cells(records).mask).tolist() == [700, 701]


@pytest.mark.parametrize(
    "cells",
    [
        {},
        {"mood": "glad"},
        {"turn": 1},
        {"winner": "tie (bothbad)"},
        {"voted_at": None, "annotator": None, "case_id": None, "shown_left": None},
        {"annotator": "가" * 10_000},
        {"annotator": "\u1100\u1161"},
        {"annotator": "[{" * 40},
        {"voted_at": "2026-09-20T01:00:00.000000Z"},
    ],
)
def test_a_usual_vote_is_certain(cells: dict[str, Any]) -> None:
    assert certain_cells([SOUND["vote"] | cells]).mask.all()
    with patch.object(certain, "certain_cells", None):
        assert certain_votes([Line(1, line(**cells))]).mask.all()


def test_a_name_that_no_column_has_is_told_once(tmp_path: Path) -> None:
    path = write(tmp_path / "v.jsonl", [SOUND["vote"] | {"vote_id": str(n), "mood": 1} for n in range(3)])
    batch = read(path)
    assert [(entry.line, entry.severity) for entry in batch.problems] == [(1, "noted")]
    assert batch.rows.num_rows == 3


def test_an_empty_file_has_no_vote(tmp_path: Path) -> None:
    (tmp_path / "v.jsonl").write_bytes(b"")
    [batch] = read_file(tmp_path / "v.jsonl", TABLES["vote"], "v.jsonl")
    assert (batch.rows.num_rows, batch.lines, batch.problems) == (0, [], [])


def test_lines_longer_than_are_looked_at_together_are_read_one_by_one() -> None:
    with patch.object(certain, "LONGEST", 10), patch.object(certain, "certain_cells", nothing_of_cells):
        assert not certain_votes([Line(1, line())]).mask.any()
