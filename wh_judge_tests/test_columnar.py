"""Parquet turns read by columns: the same rows, lines and problems as row by row, and most rows by columns indeed."""

import unicodedata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wh_judge import ingest
from wh_judge.columnar import COMPOSED, certain_turns
from wh_judge.ingest import read_file
from wh_judge.inputs import TABLES
from wh_judge.model import TURN_SCHEMA
from wh_judge.rowwise import Batch
from wh_judge_tests.input_files import SOUND
from wh_judge_tests.strategies import PIECES

TEXTS = st.lists(st.sampled_from([*PIECES, "하늘", "T-1", "T-2"]), max_size=3).map("".join) | st.none()
NAMES = st.none() | st.lists(TEXTS, max_size=2)
KINDS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
ZONES = ["UTC", "Asia/Seoul", "-11:00", "America/New_York"]
SECONDS = (
    st.sampled_from([1788260460, 946684800, 946684799, 4102444799, 4102444800, 946720800, -62135596801]) | st.none()
)


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Turns, some sound and some not, in columns of any type that may hold them, with columns left out or added."""
    count = draw(st.integers(0, 6))
    columns: dict[str, pa.Array] = {}
    for field in TURN_SCHEMA:
        if field.nullable and draw(st.integers(0, 7)) == 0:
            continue
        if field.name == "turn_at":
            kind = pa.timestamp(draw(st.sampled_from(["s", "ms", "us"])), draw(st.sampled_from(ZONES)))
            seconds = draw(st.lists(SECONDS, min_size=count, max_size=count))
            columns[field.name] = pa.array(seconds, pa.timestamp("s")).cast(pa.timestamp(kind.unit)).cast(kind)
        elif field.name == "named_entities":
            cells: list[Any] = draw(st.lists(NAMES, min_size=count, max_size=count))
            columns[field.name] = pa.array(cells, draw(st.sampled_from([pa.list_, pa.large_list]))(pa.string()))
        elif field.name == "user_asked_recall":
            columns[field.name] = pa.array(
                draw(st.lists(st.sampled_from([True, False, None]), min_size=count, max_size=count))
            )
        else:
            often = st.just("T-3") | st.integers(0, 9).map(str) if not field.nullable else TEXTS
            cells = draw(st.lists(often | TEXTS, min_size=count, max_size=count))
            columns[field.name] = pa.array(cells, pa.string()).cast(draw(st.sampled_from(KINDS)))
    if draw(st.booleans()):
        columns["mood"] = pa.array(
            draw(st.lists(st.none() | st.integers(0, 3), min_size=count, max_size=count)), pa.int8()
        )
    return pa.table(columns)


def both(path: Path) -> tuple[list[Batch], list[Batch]]:
    """The batches of a file, by columns and row by row."""
    by_columns = list(read_file(path, TABLES["chat_turn"], "x"))
    with patch.object(ingest, "key_hashes", lambda _file: None):
        return by_columns, list(read_file(path, TABLES["chat_turn"], "x"))


@settings(max_examples=200)
@given(tables(), st.integers(1, 4))
def test_reading_by_columns_gives_what_reading_by_rows_gives(table: pa.Table, rows: int) -> None:
    with TemporaryDirectory() as folder, patch.object(ingest, "BATCH_ROWS", rows):
        pq.write_table(table, Path(folder, "x.parquet"))
        by_columns, by_rows = both(Path(folder, "x.parquet"))
    assert by_columns == by_rows


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("turn_at", pa.array([1788260460000000001], pa.timestamp("ns", "UTC"))),
        ("turn_at", pa.array([1788260460], pa.timestamp("s"))),
        ("turn_at", pa.array(["2026-09-01T20:01:00+09:00"])),
        ("reply_text", pa.array([b"abc"])),
        ("reply_text", pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"]).buffers())),
        ("turn_id", pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"]).buffers())),
        ("turn_id", pa.array([7])),
        ("named_entities", pa.array([[None]])),
        ("named_entities", pa.array(["하늘"])),
        ("user_asked_recall", pa.array([1])),
        ("mood", pa.array([b"x"])),
        ("mood", pa.array([{"a": [1]}])),
    ],
)
def test_a_column_of_another_type_is_read_by_rows(column: str, cells: pa.Array, tmp_path: Path) -> None:
    table = pa.Table.from_pylist([SOUND["chat_turn"]])
    moment = pa.array([1788260460], pa.timestamp("s", "UTC"))
    columns = (
        {name: table[name].combine_chunks() for name in table.column_names} | {"turn_at": moment} | {column: cells}
    )
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    by_columns, by_rows = both(tmp_path / "x.parquet")
    assert by_columns == by_rows


@pytest.mark.parametrize("column", ["turn_id", "first_person", "reply_text", "mood"])
@pytest.mark.parametrize(
    "cell",
    [b"\xc0\x80", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xea\xb0", b"\xea\xb0a", b"\xf4\x90\x80\x80", b"a\xff", b"\x80"],
)
def test_bytes_that_are_no_text_are_told_by_rows(column: str, cell: bytes, tmp_path: Path) -> None:
    """Overlong, half of a pair, cut off, past the last character: none is taken for text that is as it should be."""
    rows = [SOUND["chat_turn"] | {"turn_id": f"T-{n}", "first_person": "나", "mood": "x"} for n in range(3)]
    table = pa.Table.from_pylist(rows)
    bytes_of = [str(row[column]).encode() for row in rows[:2]] + [cell]
    texts = pa.Array.from_buffers(pa.string(), 3, pa.array(bytes_of).buffers())
    columns = {name: table[name].combine_chunks() for name in table.column_names}
    moments = pa.array([1788260460] * 3, pa.timestamp("s", "UTC"))
    pq.write_table(pa.table(columns | {"turn_at": moments, column: texts}), tmp_path / "x.parquet")
    by_columns, by_rows = both(tmp_path / "x.parquet")
    assert by_columns == by_rows
    assert [problem.line for batch in by_columns for problem in batch.problems if problem.severity == "rejected"] == [3]


def test_sound_rows_are_certain() -> None:
    """Or nothing would be gained."""
    batch = pa.RecordBatch.from_pylist([SOUND["chat_turn"] | {"turn_at": None, "turn_id": str(n)} for n in range(3)])
    moments = pa.array([1788260460] * 3, pa.timestamp("s", "Asia/Seoul"))
    found = certain_turns(batch.set_column(batch.schema.get_field_index("turn_at"), "turn_at", moments))
    assert found is not None and found.mask.tolist() == [True] * 3


def test_the_composed_ranges_hold_nothing_that_normalising_could_change() -> None:
    """Neither by itself nor after any other character: what composes with one before it is the second of a pair."""
    every = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
    pairs = (unicodedata.decomposition(mark).split() for mark in every)
    second = {chr(int(pair[1], 16)) for pair in pairs if len(pair) == 2 and not pair[0].startswith("<")}
    composed = [mark for mark in every if any(first <= ord(mark) <= last for first, last in COMPOSED)]
    assert len(composed) > 40_000
    for mark in composed:
        assert unicodedata.is_normalized("NFC", mark) and not unicodedata.combining(mark) and mark not in second
