"""What a task does with its turns: judge them, validate every verdict, and hold no more than a batch of them.

The turns come sorted by session and, within it, in turn order. A verdict looks back only, so that of a session that
goes on in the next batch no more is kept than who was named first in it: a session may be of any length.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from wh_judge.judge import Judge, Judgement
from wh_judge.model import (
    KST,
    MENTION_SCHEMA,
    TURN_SCHEMA,
    UNJUDGED_SCHEMA,
    USED_SCHEMA,
    VERDICT_SCHEMA,
    cards_from,
    lexicon_from,
)
from wh_judge.parquet import BATCH_BYTES
from wh_judge.portions import portions
from wh_judge.rules import Lexicon, RuleSettings
from wh_judge.validated import Judged, Known, validate_here
from wh_judge.validations import Outcomes

DEALT_SCHEMA = pa.schema(
    [
        *(field.with_nullable(True) for field in TURN_SCHEMA),
        *[("file", pa.string()), ("line", pa.int64()), ("wanted", pa.bool_())],
    ]
)
"""What is dealt out: turns with their place. One whose verdict is not `wanted` counts for what it names."""
JUDGED_SCHEMA = pa.schema(
    [
        *(field.with_nullable(True) for field in VERDICT_SCHEMA),
        *(USED_SCHEMA.field(name).with_nullable(True) for name in ("lexicon_rows", "mentions")),
        *[("day", pa.date32()), ("letters", pa.string()), ("failed", pa.string())],
        *[("file", pa.string()), ("line", pa.int64()), ("reason", pa.string())],
    ]
)
"""Verdicts with what they rest on, their day in Asia/Seoul, a letter per validation and, by the codes of those that
failed, why, as JSON; and turns that could not be judged, with the `reason`. Each with its place."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """What every task judges by; broadcast, and made ready once in each process that judges."""

    cards: pa.Table
    lexicon: pa.Table
    settings: RuleSettings

    @cached_property
    def kernel(self) -> Judge:
        """The kernel on one processor: there are as many tasks at work as processors."""
        return Judge(self.cards, self.lexicon, self.settings, threads=1)

    @cached_property
    def terms(self) -> Lexicon:
        """The lexicon as the validations look at it."""
        return Lexicon(lexicon_from(self.lexicon))


def judging(inputs: Callable[[], Inputs]) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function for `mapInArrow`: batches in DEALT_SCHEMA to batches in JUDGED_SCHEMA."""

    def judge_task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        memory = _Memory()
        for batch in batches:
            for rows in portions(pa.Table.from_batches([batch]), memory.mentions, batch.num_rows, BATCH_BYTES):
                turns = rows.select(TURN_SCHEMA.names).cast(TURN_SCHEMA)
                yield from _judge(rows, turns, memory, inputs())
                memory.add(turns)

    return judge_task


class _Memory:
    """The session that the last turns end in: who was named first where."""

    def __init__(self) -> None:
        self._begin("")

    def _begin(self, session: str) -> None:
        self._session = session
        self.mentions = MENTION_SCHEMA.empty_table()
        self.turns = TURN_SCHEMA.empty_table()

    def add(self, turns: pa.Table) -> None:
        """Go on with turns that stand after all before."""
        if not turns.num_rows:
            return
        session = turns["session_id"][-1].as_py()
        if session != self._session:
            self._begin(session)
        tail = turns.filter(pc.equal(turns["session_id"], session))
        known, first = set(self.mentions["entity"].to_pylist()), dict[str, int]()
        for place, names in enumerate(tail["named_entities"].to_pylist()):
            for name in names or ():
                if name not in known:
                    first.setdefault(name, place)
        places = pa.array(first.values(), pa.int64())
        named = tail.take(places).select(["session_id", "turn_id", "reply_text"])
        mentions = named.append_column("entity", pa.array(first, pa.string())).select(MENTION_SCHEMA.names)
        self.mentions = pa.concat_tables([self.mentions, mentions.cast(MENTION_SCHEMA)])
        self.turns = pa.concat_tables([self.turns, tail.take(pc.unique(places))])


def _judge(rows: pa.Table, turns: pa.Table, memory: _Memory, inputs: Inputs) -> Iterator[pa.RecordBatch]:
    found = _wanted(inputs.kernel.judge(turns, memory.mentions), rows)
    verdicts, unjudged, used = found
    outcomes = _validate(verdicts, turns, memory, inputs)
    of_used = pc.index_in(verdicts["turn_id"], used["turn_id"].combine_chunks())
    columns = {name: verdicts[name] for name in VERDICT_SCHEMA.names}
    columns |= {name: used[name].take(of_used) for name in ("lexicon_rows", "mentions")}
    columns |= {
        "day": pc.local_timestamp(_of(verdicts, rows, turns["turn_at"]).cast(pa.timestamp("us", KST.key))).cast(
            pa.date32(), safe=False
        ),
        "letters": pa.array(outcomes.letters, pa.string()),
        "failed": pa.array(_failed(outcomes), pa.string()),
    }
    for table, cells in ((verdicts, columns), (unjudged, {name: unjudged[name] for name in UNJUDGED_SCHEMA.names})):
        placed = cells | {name: _of(table, rows, rows[name]) for name in ("file", "line")}
        yield from _filled(placed, table.num_rows)


def _wanted(judgement: Judgement, rows: pa.Table) -> Judgement:
    """The judgement of those turns of which one is wanted."""
    if pc.all(rows["wanted"]).as_py():
        return judgement
    wanted = rows.filter(rows["wanted"])["turn_id"].combine_chunks()
    return Judgement(*(table.filter(pc.is_in(table["turn_id"], wanted)) for table in judgement))


def _validate(verdicts: pa.Table, turns: pa.Table, memory: _Memory, inputs: Inputs) -> Outcomes:
    speaking = pc.unique(turns["character_id"].combine_chunks())
    judged = Judged(
        turns=turns,
        cited=memory.turns.filter(pc.is_in(memory.turns["turn_id"], verdicts["recall_source_turn"].combine_chunks())),
        cards=inputs.cards.filter(pc.is_in(inputs.cards["character_id"], speaking)),
        lexicon=inputs.lexicon,
        earlier=memory.mentions,
        settings=inputs.settings,
    )
    known = Known(cards_from(judged.cards), inputs.terms)
    return validate_here(verdicts, judged, known)


def _failed(outcomes: Outcomes) -> list[str | None]:
    """Of every verdict why it failed, by validation, as JSON; null where it did not."""
    reasons: list[dict[str, str]] = [{} for _ in outcomes.letters]
    for result in outcomes.results:
        for failure in result.failures:
            reasons[failure.row - 1][result.code] = failure.reason
    return [json.dumps(each, ensure_ascii=False) if each else None for each in reasons]


def _of(some: pa.Table, rows: pa.Table, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column's cells of the turns that are in `some`."""
    return column.take(pc.index_in(some["turn_id"], rows["turn_id"].combine_chunks()))


def _filled(columns: Mapping[str, Any], count: int) -> list[pa.RecordBatch]:
    """A table in JUDGED_SCHEMA, with nulls where there is no column."""
    every = [columns.get(field.name, pa.nulls(count, field.type)) for field in JUDGED_SCHEMA]
    batches: list[pa.RecordBatch] = pa.table(every, schema=JUDGED_SCHEMA).combine_chunks().to_batches()
    return batches
