"""Files to records: JSONL, JSON, CSV and Parquet, told apart by suffix. What cannot be read becomes a record too.

Nothing here knows what a record means; `wh_judge.ingest` does. A record that could not be read carries the reason and
as much of its text as there is, so that a caller can keep it.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from wh_judge.readers.csv import read_csv
from wh_judge.readers.json import read_json, read_jsonl
from wh_judge.readers.parquet import read_parquet
from wh_judge.readers.records import Columns, Line, Record, no_file

READERS: Mapping[str, Callable[[Path, Columns], Iterator[Record] | Iterator[Line]]] = {
    ".jsonl": read_jsonl,
    ".json": read_json,
    ".csv": read_csv,
    ".parquet": read_parquet,
}
"""The one place where a file type is registered."""


def read_records(path: Path, columns: Columns) -> Iterator[Record]:
    """The records of one file, in order."""
    return (entry.record() for entry in read_entries(path, columns))


def read_entries(path: Path, columns: Columns) -> Iterator[Record | Line]:
    """The same, of a JSONL file as lines."""
    reader = READERS.get(path.suffix.lower())
    reason = no_file(path) if reader is not None or path.is_dir() else None
    if reason is not None or reader is None:
        yield Record(None, None, reason or f"is none of {', '.join(READERS)}; rename it or convert it")
        return
    try:
        yield from reader(path, columns)
    except OSError as error:
        yield Record(None, None, f"cannot be read: {error.strerror or error}")
