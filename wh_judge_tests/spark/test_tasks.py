"""What a task makes of its batches is what the kernel makes of the whole log, wherever the batches are cut."""

from collections.abc import Sequence

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wh_judge.judge import Judge, Judgement
from wh_judge.model import VERDICT_SCHEMA, ChatTurn
from wh_judge.rules.recall import turn_order
from wh_judge.spark import tasks
from wh_judge.spark.tasks import DEALT_SCHEMA, judging
from wh_judge_tests.builders import STATE, Judged, Record, Rows, by_kernel, card, turn
from wh_judge_tests.spark.engines import inputs_of, table
from wh_judge_tests.strategies import rows as hostile_rows


def by_task(log: Rows, size: int, wanted: Sequence[str] | None = None) -> list[Record]:
    """What a task says of the turns, which come to it sorted, so many at a time."""
    turns = table(sorted(log.turns, key=lambda row: (row.session_id, turn_order(row.turn_id))))
    count = turns.num_rows
    asked = [wanted is None or turn_id in wanted for turn_id in turns["turn_id"].to_pylist()]
    place = [pa.repeat("x.parquet", count), pa.array(range(count), pa.int64()), pa.array(asked, pa.bool_())]
    dealt = pa.table([*turns.columns, *place], schema=DEALT_SCHEMA)
    inputs = inputs_of(log)
    found = judging(lambda: inputs)(iter(dealt.to_batches(max_chunksize=size)))
    return [row for batch in found for row in batch.to_pylist()]


def verdicts_of(rows: Sequence[Record]) -> list[Record]:
    kept = [{name: row[name] for name in VERDICT_SCHEMA.names} for row in rows if row["reason"] is None]
    return sorted(kept, key=lambda row: str(row["turn_id"]))


def whole(log: Rows) -> Judged:
    judged = by_kernel(log)
    return Judged(sorted(judged.verdicts, key=lambda row: str(row["turn_id"])), judged.unjudged)


@settings(max_examples=10)
@given(hostile_rows(), st.integers(1, 4))
def test_batches_are_judged_as_the_whole(log: Rows, size: int) -> None:
    found = by_task(log, size)
    assert verdicts_of(found) == whole(log).verdicts
    assert all("F" not in (row["letters"] or "") for row in found)


@pytest.mark.parametrize("weight", [1, 300])
def test_batches_are_cut_where_their_verdicts_would_be_too_large(weight: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrow puts two gigabytes into a column, and a reply of megabytes may be cited by every turn after it."""
    cut: list[int] = []

    def judged(kernel: Judge, turns: pa.Table, *more: pa.Table, **options: bool) -> Judgement:
        cut.append(turns.num_rows)
        return judge(kernel, turns, *more, **options)

    judge = Judge.judge
    monkeypatch.setattr(Judge, "judge", judged)
    log = Rows(STATE.turns, STATE.cards, STATE.lexicon)
    expected = whole(log).verdicts
    cut.clear()
    monkeypatch.setattr(tasks, "BATCH_BYTES", weight)
    assert verdicts_of(by_task(log, len(STATE.turns))) == expected
    assert sum(cut) == len(STATE.turns) and len(cut) > 1


def test_a_verdict_that_is_not_wanted_is_not_given() -> None:
    """The turn counts all the same."""
    asked = {"session_id": "S", "user_asked_recall": True, "user_message": "내 동생 기억나?", "reply_text": "몰라."}
    turns = [turn("T-1", session_id="S", named_entities=["하늘"]), turn("T-2", **asked), turn("T-3", **asked)]
    [found] = by_task(Rows(turns, [card("C-1")]), 2, wanted=["T-2"])
    assert (found["turn_id"], found["recall_source_turn"]) == ("T-2", "T-1")


def test_what_a_verdict_carries() -> None:
    turns = [turn("T-1", turn_at="2026-09-01T15:00:00+00:00"), turn("T-2", character_id="C-9")]
    one, other = by_task(Rows(turns, [card("C-1")]), 10)
    assert (str(one["day"]), one["letters"], one["failed"], one["line"]) == ("2026-09-02", "PPPPPPNPPPPP", None, 0)
    assert (other["turn_id"], other["verdict"], other["line"]) == ("T-2", None, 1)
    assert other["reason"] == "no card for character C-9"


@pytest.mark.parametrize("turns", [(), STATE.turns])
def test_a_task_of_any_size(turns: Sequence[ChatTurn]) -> None:
    assert (
        verdicts_of(by_task(Rows(turns, STATE.cards, STATE.lexicon), 5))
        == whole(Rows(turns, STATE.cards, STATE.lexicon)).verdicts
    )
