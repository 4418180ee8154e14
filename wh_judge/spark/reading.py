"""A log of Parquet files as clean turns, read and validated as everywhere, and what is wrong with the other rows."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wh_judge.errors import UserError
from wh_judge.ingest import read_turns
from wh_judge.inputs import files_of
from wh_judge.model import TURN_SCHEMA
from wh_judge.rowwise import QUOTE_LIMIT, UNKNOWN_TOLD, Problem
from wh_judge.spark.tasks import DEALT_SCHEMA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

READ_SCHEMA = pa.schema(
    [*DEALT_SCHEMA, ("severity", pa.string()), ("reason", pa.string()), ("raw", pa.string())],
)
"""Turns; and problems, of which there are only the place and the last three cells."""
_FILE, _LINE = "wh_judge file", "wh_judge line"
_PATTERN = re.compile(r"[][\\*?{}]")
"""What Spark takes for a pattern of names."""


class ReadLog(NamedTuple):
    """What stands in the files, each row once."""

    rows: "DataFrame"
    """In READ_SCHEMA."""
    notes: Sequence[Problem]
    """What is to be told of the columns."""


def check_files(path: str) -> None:
    """Raise a UserError where the files of this machine are none that Spark reads. Files elsewhere it finds itself."""
    if "://" in path or not Path(path).exists():
        return
    files = files_of(Path(path))
    if not files:
        raise UserError(f"{path}: holds no file that is read")
    other = next((file for file in files if file.suffix.lower() != ".parquet"), None)
    if other is not None:
        raise UserError(f"{other}: is no .parquet file, and the engine spark reads no others; use --engine local")
    hidden = next((file for file in files if file.name.startswith("_")), None)
    if hidden is not None:
        raise UserError(f"{hidden}: Spark passes over what begins with _; rename it, or use --engine local")


def read_log(spark: "SparkSession", path: str) -> ReadLog:
    """The log of a file or a folder anywhere that Spark can read.

    As on one machine, of a turn that stands in several files the last file by name counts and the others are noted; of
    rows with one key in one file the first counts and the others are rejected.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    reader = spark.read.option("recursiveFileLookup", "true").option("mergeSchema", "true")
    if "://" in path:
        every = reader.option("pathGlobFilter", "*.[pP][aA][rR][qQ][uU][eE][tT]").parquet(path)
    else:  # The very files that one machine reads, none of them taken for a pattern.
        every = reader.parquet(*(_PATTERN.sub(r"\\\g<0>", str(file)) for file in files_of(Path(path))))
    known = [name for name in TURN_SCHEMA.names if name in every.columns]
    meta = every["_metadata"]
    placed = every.select(*known, meta["file_path"].alias(_FILE), (meta["row_index"] + 1).alias(_LINE))
    rows = placed.mapInArrow(_reading(_parent(path)), from_arrow_schema(READ_SCHEMA))
    return ReadLog(_each_once(rows), _notes(path, [name for name in every.columns if name not in known]))


def _parent(path: str) -> str:
    """What is cut off the names of the files."""
    given = urlsplit(path).path if "://" in path else os.path.abspath(path)  # noqa: PTH100 - links stay as they are
    return given.rstrip("/").rpartition("/")[0] + "/"


def _notes(path: str, unknown: Sequence[str]) -> list[Problem]:
    name = path.rstrip("/").rpartition("/")[2]
    return [
        Problem(
            "chat_turn", name, None, "noted", f"chat_turn has no column {column[:QUOTE_LIMIT]!r}; it is ignored", None
        )
        for column in unknown[:UNKNOWN_TOLD]
    ]


def _reading(parent: str) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function for `mapInArrow`: rows with their file and line to READ_SCHEMA."""

    def read_task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            files, lines = batch.column(_FILE), batch.column(_LINE).to_numpy()
            rows = batch.drop_columns([_FILE, _LINE])
            for file in pc.unique(files).to_pylist():
                chosen = np.flatnonzero(pc.equal(files, file).to_numpy(zero_copy_only=False))
                chosen = chosen[np.argsort(lines[chosen])]
                name = unquote(urlsplit(file).path).removeprefix(parent)
                yield from _read(rows.take(pa.array(chosen)), name, lines[chosen])

    return read_task


def _read(rows: pa.RecordBatch, name: str, lines: np.ndarray) -> list[pa.RecordBatch]:
    read = read_turns(rows, name, lines)
    count = len(read.lines)
    place = {
        "file": pa.repeat(name, count),
        "line": pa.array(read.lines, pa.int64()),
        "wanted": pa.repeat(True, count),
    }
    cells = {column: read.rows[column] for column in TURN_SCHEMA.names} | place
    turns = pa.table([cells.get(f.name, pa.nulls(count, f.type)) for f in READ_SCHEMA], schema=READ_SCHEMA)
    wrong = [{"file": name, **problem._asdict()} for problem in read.problems]
    problems = pa.Table.from_pylist(wrong, READ_SCHEMA)
    return [*turns.combine_chunks().to_batches(), *problems.to_batches()]


def _each_once(rows: "DataFrame") -> "DataFrame":
    """The rows with each turn once; those that do not count as problems."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    same = Window.partitionBy("turn_id")
    newest = same.orderBy(f.desc("file"), "line")
    in_file = same.orderBy(f.desc("file")).rangeBetween(Window.currentRow, Window.currentRow)
    read = rows.where("reason IS NULL").select(
        "*",
        f.row_number().over(newest).alias("place"),
        f.first("file").over(newest).alias("by"),
        f.first("line").over(newest).alias("by_line"),
        f.min("line").over(in_file).alias("first_line"),
    )
    old, again = f.col("file") != f.col("by"), f.col("line") != f.col("first_line")
    key = f.left("turn_id", f.lit(QUOTE_LIMIT))
    stands = f.concat(f.lit("turn_id "), key, f.lit(" stands already in "), "file", f.lit(":"), "first_line")
    replaced = f.concat(f.lit("turn_id "), "turn_id", f.lit(" is replaced by the row in "), "by", f.lit(":"), "by_line")
    told = {
        "severity": f.when(again, "rejected").otherwise("noted"),
        "reason": f.when(again, stands).otherwise(replaced),
    }
    beside = read.where(old | again).withColumns(told).select(*READ_SCHEMA.names)
    return read.where("place = 1").select(*READ_SCHEMA.names).union(beside).union(rows.where("reason IS NOT NULL"))
