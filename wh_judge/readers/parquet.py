"""Parquet in batches, and the rows of a batch."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from wh_judge.parquet import TooLargeError, bounded_batches
from wh_judge.readers.records import Columns, Record, no_file, twice


def read_batches(path: Path, rows: int) -> Iterator[pa.RecordBatch | Record]:
    """A Parquet file in batches of at most `rows` rows, in order; where it cannot be read, a record that says why."""
    reason = no_file(path)
    if reason is not None:
        yield Record(None, None, reason)
        return
    line = 0
    try:
        with pq.ParquetFile(path) as file:
            wrong = twice(file.schema_arrow.names)
            if wrong:
                yield Record(None, None, wrong)
                return
        for batch in bounded_batches(path, rows):
            yield batch
            line += batch.num_rows
    except TooLargeError as error:
        yield Record(None, None, str(error))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        where = f"cannot be read after row {line}" if line else "is no Parquet file"
        yield Record(None, None, f"{where}; it may be cut off ({_first_line(error)})")


def read_parquet(path: Path, _columns: Columns) -> Iterator[Record]:
    """The rows of a Parquet file."""
    line = 0
    for batch in read_batches(path, 8192):
        if isinstance(batch, Record):
            yield batch
            continue
        for value in batch_values(batch):
            line += 1
            yield batch_record(line, value)


def batch_record(line: int, value: dict[str, Any] | str) -> Record:
    """The record of a row of a Parquet file."""
    return Record(line, None, value) if isinstance(value, str) else Record(line, value)


def batch_values(batch: pa.RecordBatch) -> Iterator[dict[str, Any] | str]:
    """The rows; for one that holds what Python cannot hold, the reason."""
    try:
        yield from batch.to_pylist()
    except _NO_VALUE:
        for row in range(batch.num_rows):
            try:
                yield batch.slice(row, 1).to_pylist()[0]
            except UnicodeDecodeError:
                yield "holds text that is not UTF-8"
            except _NO_VALUE as error:
                yield f"holds a value that cannot be read ({_first_line(error)})"


_NO_VALUE = (ValueError, OverflowError, KeyError)
"""Text that is not UTF-8, a date before year 1 or after 9999, an unknown time zone."""


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
