"""A log judged on Spark: Parquet in, Parquet by day out, with what is to be told of it."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wh_judge.model import UNJUDGED_SCHEMA, Verdict
from wh_judge.rowwise import Problem
from wh_judge.spark.reading import read_log
from wh_judge.spark.session import spark_errors
from wh_judge.spark.tasks import DEALT_SCHEMA, JUDGED_SCHEMA, Inputs, judging
from wh_judge.validations import VALIDATIONS, Failure, ValidationResult

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

FAILURES_TOLD = 100
"""Failing turns whose reasons come back from the cluster; all are counted."""


@dataclass(frozen=True)
class JudgedLog:
    """What became of a log. It lies on the disks of the cluster until the end of the block."""

    counts: Mapping[str, int]
    """Verdicts, by their value."""
    not_judged: int
    """Turns without a card."""
    problems: int
    """Rows that were rejected, and what was noted."""
    validations: Sequence[ValidationResult]
    """Over all verdicts; of the failures, `FAILURES_TOLD` turns."""
    _read: "DataFrame"
    _judged: "DataFrame"
    _notes: Sequence[Problem]

    @property
    def sound(self) -> bool:
        """No validation failed."""
        return all(result.ok for result in self.validations)

    def write(self, out: str) -> None:
        """Write the verdicts as Parquet, a folder `day=…` for each day. It takes the place of that day's folder, if
        there is one; other days stay."""
        rows = self._judged.where("reason IS NULL").select(*Verdict.model_fields, "day")
        writer = rows.write.mode("overwrite").option("partitionOverwriteMode", "dynamic")
        with spark_errors():
            writer.option("compression", "zstd").partitionBy("day").parquet(out)

    def rejects(self) -> Iterator[dict[str, Any]]:
        """What got no verdict, as `wh_judge.files.rejects_of` has it, a row at a time."""
        from pyspark.sql import functions as f

        for note in self._notes:
            yield note._asdict() | {"turn_id": None}
        with spark_errors():
            # In one task: a sort over all partitions would cost a job for each.
            wrong = (
                self._read.where("reason IS NOT NULL").select("file", "line", "severity", "reason", "raw").coalesce(1)
            )
            for row in wrong.sortWithinPartitions("file", "line", "reason").toLocalIterator():
                yield {"table": "chat_turn", **row.asDict(), "turn_id": None}
            left = self._judged.where("reason IS NOT NULL").select(*UNJUDGED_SCHEMA.names, "file", "line").coalesce(1)
            for row in left.sortWithinPartitions(f.length("turn_id"), "turn_id").toLocalIterator():
                place = {"table": "chat_turn", "file": row["file"], "line": row["line"], "severity": "unjudged"}
                raw = json.dumps({name: row[name] for name in UNJUDGED_SCHEMA.names}, ensure_ascii=False)
                yield place | {"turn_id": row["turn_id"], "reason": row["reason"], "raw": raw}


@contextmanager
def judging_log(spark: "SparkSession", path: str, inputs: Inputs) -> Iterator[JudgedLog]:
    """Judge and validate the turns of Parquet files.

    Args:
        spark: the session.
        path: a file or a folder, anywhere Spark can read.
        inputs: what is judged by.

    Raises:
        UserError: what Spark says of the files.
    """
    from pyspark.sql import functions as f
    from pyspark.storagelevel import StorageLevel

    with spark_errors():
        log = read_log(spark, path)
        read = log.rows.persist(StorageLevel.DISK_ONLY)
        judged = deal(spark, read.where("reason IS NULL"), inputs).persist(StorageLevel.DISK_ONLY)
        summary = judged.groupBy("verdict", "letters").count().collect()
        problems = read.where("reason IS NOT NULL").count() + len(log.notes)
        failed = judged.where(f.col("failed").isNotNull())
        told = failed.select("turn_id", "line", "failed").orderBy("turn_id").limit(FAILURES_TOLD).collect()
    counts: Counter[str] = Counter()
    letters: Counter[str] = Counter()
    for row in summary:
        if row["verdict"] is not None:
            counts[row["verdict"]] += row["count"]
            letters[row["letters"]] += row["count"]
    try:
        yield JudgedLog(
            counts=counts,
            not_judged=sum(row["count"] for row in summary if row["verdict"] is None),
            problems=problems,
            validations=results_of(letters, told),
            _read=read,
            _judged=judged,
            _notes=log.notes,
        )
    finally:
        with spark_errors():
            judged.unpersist()
            read.unpersist()


def deal(spark: "SparkSession", turns: "DataFrame", inputs: Inputs) -> "DataFrame":
    """What became of turns (DEALT_SCHEMA), in JUDGED_SCHEMA: each session judged whole, in one task."""
    from pyspark.sql import functions as f
    from pyspark.sql.pandas.types import from_arrow_schema

    shared = spark.sparkContext.broadcast(inputs)
    dealt = turns.select(*DEALT_SCHEMA.names).repartition("session_id")
    in_order = dealt.sortWithinPartitions("session_id", f.length("turn_id"), "turn_id")
    return in_order.mapInArrow(judging(lambda: shared.value), from_arrow_schema(JUDGED_SCHEMA))


def results_of(letters: Mapping[str, int], failed: "Sequence[Row]") -> list[ValidationResult]:
    """The validations' results.

    Args:
        letters: how many verdicts have each text of letters.
        failed: of verdicts that failed `turn_id`, `line` and `failed`, as JUDGED_SCHEMA has them.
    """
    reasons = [(row["turn_id"], row["line"], json.loads(row["failed"])) for row in failed]
    results = []
    for place, validation in enumerate(VALIDATIONS):
        count: Counter[str] = Counter()
        for text, number in letters.items():
            count[text[place]] += number
        results.append(
            ValidationResult(
                number=validation.number,
                code=validation.code,
                title=validation.title,
                description=validation.description,
                looked_at=count.total(),
                passed=count["P"],
                failed=count["F"],
                not_applicable=count["N"],
                failures=tuple(
                    Failure(turn_id, line or 0, why[validation.code])
                    for turn_id, line, why in reasons
                    if validation.code in why
                ),
            )
        )
    return results
