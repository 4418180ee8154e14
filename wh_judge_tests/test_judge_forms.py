"""The kernel says what the references say: on hostile rows, however they lie, in whatever days they are cut."""

import itertools
from collections.abc import Sequence
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from wh_judge.model import ChatTurn
from wh_judge_tests.builders import (
    STATE,
    Judged,
    Layout,
    Rows,
    as_it_is,
    by_kernel,
    by_references,
    card,
    lexicon,
    turn,
)
from wh_judge_tests.strategies import rows

_SEOUL = ZoneInfo("Asia/Seoul")
_STATE = Rows(STATE.turns, STATE.cards, STATE.lexicon)


def sliced(cuts: Sequence[int]) -> Layout:
    """Rows in chunks that are cut out of a longer table, so that no chunk starts where its buffers do.

    A cut outside the table or at another cut makes an empty chunk; no cut at all in an empty table makes none.
    """

    def layout(table: pa.Table) -> pa.Table:
        long = pa.concat_tables([table.slice(table.num_rows // 2), table, table]).combine_chunks()
        first = table.num_rows - table.num_rows // 2
        places = [0, *sorted(min(cut, table.num_rows) for cut in cuts), table.num_rows]
        chunks = [long.slice(first + start, end - start) for start, end in itertools.pairwise(places)]
        batches = [batch for chunk in chunks for batch in chunk.to_batches() or _empty(table.schema)]
        return pa.Table.from_batches(batches if cuts or table.num_rows else [], table.schema)

    return layout


def _empty(schema: pa.Schema) -> list[pa.RecordBatch]:
    return [pa.RecordBatch.from_pylist([], schema)]


def days_of(turns: Sequence[ChatTurn]) -> list[list[ChatTurn]]:
    """The turns by their day in Seoul."""
    days: dict[object, list[ChatTurn]] = {}
    for row in turns:
        days.setdefault(row.turn_at.astimezone(_SEOUL).date(), []).append(row)
    return list(days.values())


def about(judged: Judged, turns: Sequence[ChatTurn]) -> Judged:
    """What was said of some of the turns."""
    chosen = {row.turn_id for row in turns}
    return Judged(*([record for record in part if record["turn_id"] in chosen] for part in judged))


_BORDER = Rows(
    [turn("T-1", reply_text="오늘은 선"), turn("T-2", reply_text="거울.")], [card("C-1")], lexicon(("선거", "도박"))
)
"""A term across the border of two replies."""


@given(rows(), st.lists(st.integers(0, 8), max_size=4), st.none() | st.integers(0, 2))
@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@example(_STATE, [], None)
@example(_STATE, [0, 3, 3, 99], 0)
@example(_BORDER, [], None)
@example(_BORDER, [1], None)
@example(Rows([], []), [], None)
@example(Rows([turn("T-1")], []), [0], None)
def test_both_forms_agree(log: Rows, cuts: list[int], day: int | None) -> None:
    """In all columns. With a day, that day is judged by itself, and the other days only tell whom they named."""
    expected, layout = by_references(log), sliced(cuts)
    if day is None:
        assert by_kernel(log, layout=layout) == expected
        return
    days = days_of(log.turns)
    today = days[day] if day < len(days) else []
    earlier = [row for row in log.turns if row not in today]
    assert by_kernel(log._replace(turns=today), earlier, layout) == about(expected, today)


def test_the_days_of_a_log_are_judged_as_the_whole_log() -> None:
    days = days_of(STATE.turns)
    assert len(days) > 2
    for today in days:
        earlier = [row for row in STATE.turns if row not in today]
        assert by_kernel(_STATE._replace(turns=today), earlier) == about(by_kernel(_STATE), today)


def test_a_day_alone_forgets_what_other_days_named() -> None:
    """Or the test above would show nothing."""
    today = [row for row in STATE.turns if row.turn_id == "T-10"]
    assert by_kernel(_STATE._replace(turns=today)) != about(by_kernel(_STATE), today)


@pytest.mark.parametrize("turns", [STATE.turns[::-1], sorted(STATE.turns, key=lambda row: row.turn_id)])
def test_the_order_of_the_turns_decides_nothing_but_the_order_of_the_verdicts(turns: Sequence[ChatTurn]) -> None:
    verdicts = {record["turn_id"]: record for record in by_kernel(_STATE).verdicts}
    reordered = by_kernel(_STATE._replace(turns=turns)).verdicts
    assert reordered == [verdicts[row.turn_id] for row in turns]


def test_the_order_of_the_cards_decides_nothing() -> None:
    assert by_kernel(_STATE._replace(cards=STATE.cards[::-1])) == by_kernel(_STATE)


@pytest.mark.parametrize("layout", [sliced([]), sliced([0, 0, 1]), sliced(range(30))])
def test_how_the_rows_lie_in_chunks_decides_nothing(layout: Layout) -> None:
    assert by_kernel(_STATE, layout=layout) == by_kernel(_STATE, layout=as_it_is)
