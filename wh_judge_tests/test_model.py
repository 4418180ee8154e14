"""Rows of tables as models."""

import datetime as dt

import pyarrow as pa
import pytest

from wh_judge.model import TURN_SCHEMA, turns_from
from wh_judge_tests.builders import STATE

MOMENTS = [
    dt.datetime(2000, 1, 1, tzinfo=dt.UTC),
    dt.datetime(2026, 9, 1, 20, 1, 2, 3, dt.timezone(dt.timedelta(hours=9))),
    dt.datetime(2099, 12, 31, 23, 59, 59, 999_999, dt.UTC),
]
TURNS = [turn.model_copy(update={"turn_at": at}) for turn in STATE.turns for at in MOMENTS]
TABLE = pa.Table.from_pylist([turn.model_dump() for turn in TURNS], TURN_SCHEMA)


@pytest.mark.parametrize("table", [TABLE, pa.concat_tables([TABLE.slice(0, 2), TABLE.slice(2)])], ids=["one", "two"])
def test_turns_come_out_of_a_table_as_they_went_in(table: pa.Table) -> None:
    found = turns_from(table)
    assert found == TURNS
    assert [list(turn.model_dump()) for turn in found] == [TURN_SCHEMA.names] * len(TURNS)
    assert turns_from(table.slice(1)) == TURNS[1:]
    assert turns_from(table.slice(0, 0)) == []


def test_moments_are_in_utc() -> None:
    assert {turn.turn_at.tzinfo for turn in turns_from(TABLE)} == {dt.UTC}
