"""What the local engine says of Parquet files, and what Spark does."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from wh_judge.files import rejects_of
from wh_judge.judge import Judge, Judgement
from wh_judge.model import CARD_SCHEMA, LEXICON_SCHEMA, TURN_SCHEMA, VERDICT_SCHEMA, ChatTurn, Verdict
from wh_judge.parts import reading_parts
from wh_judge.spark.engine import judging_log
from wh_judge.spark.tasks import Inputs
from wh_judge.stream import Done, judge_parts
from wh_judge_tests.builders import Record, Rows
from wh_judge_tests.house import spoilt

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Said(NamedTuple):
    """Verdicts as they are written, by turn; and what got none: file, line, severity, turn, reason."""

    verdicts: list[Record]
    rejects: list[tuple[Any, ...]]


def inputs_of(log: Rows) -> Inputs:
    """What a log is judged by."""
    cards = pa.Table.from_pylist([row.model_dump() for row in log.cards], CARD_SCHEMA)
    return Inputs(cards, pa.Table.from_pylist([row.model_dump() for row in log.lexicon], LEXICON_SCHEMA), log.settings)


def table(turns: Sequence[ChatTurn]) -> pa.Table:
    return pa.Table.from_pylist([row.model_dump() for row in turns], TURN_SCHEMA)


def write(folder: Path, *files: Sequence[ChatTurn] | pa.Table) -> Path:
    """Turns as Parquet files of a folder, by number."""
    folder.mkdir()
    for number, turns in enumerate(files):
        pq.write_table(turns if isinstance(turns, pa.Table) else table(turns), folder / f"{number}.parquet")
    return folder


def by_local(folder: Path, inputs: Inputs) -> Said:
    done = Done(keep_raw=False)
    kernel = Judge(inputs.cards, inputs.lexicon, inputs.settings, threads=1)
    with reading_parts(folder) as log:
        parts = [done.verdicts_of(judged) for judged in judge_parts(log, kernel, workers=1)]
    return _said(pa.concat_tables([VERDICT_SCHEMA.empty_table(), *parts]), rejects_of(done.problems, done.unjudged))


def by_spark(spark: "SparkSession", folder: Path, inputs: Inputs) -> Said:
    out = folder.parent / "out"
    with judging_log(spark, str(folder), inputs) as log:
        assert log.sound
        log.write(str(out))
        return _said(read(out), log.rejects())


def read(out: Path) -> pa.Table:
    """The verdicts of a folder that Spark wrote."""
    return pq.read_table(out) if any(out.glob("day=*")) else VERDICT_SCHEMA.empty_table()


def _said(verdicts: pa.Table, rejects: Any) -> Said:
    return Said(by_turn(verdicts), sorted(map(_reject, rejects), key=repr))


def by_turn(verdicts: pa.Table) -> list[Record]:
    """The rows as they are written, sorted."""
    rows: list[Record] = verdicts.select(list(Verdict.model_fields)).to_pylist()
    return sorted(rows, key=lambda row: str(row["turn_id"]))


def _reject(row: Record) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("file", "line", "severity", "turn_id", "reason"))


class SpoiltInputs(Inputs):
    """A kernel that gives T-7 a summary which says nothing."""

    @cached_property
    def kernel(self) -> Judge:
        return SpoiltJudge(self.cards, self.lexicon, self.settings, threads=1)


class SpoiltJudge(Judge):
    def judge(self, turns: pa.Table, earlier: pa.Table | None = None, *, used: bool = True) -> Judgement:
        found = super().judge(turns, earlier, used=used)
        return spoilt(found) if "T-7" in found.verdicts["turn_id"].to_pylist() else found
