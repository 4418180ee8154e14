"""Small files of any content, and the records that a reader makes of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wh_judge.readers import read_records
from wh_judge.readers.records import Columns, Record

COLUMNS = Columns(
    required=frozenset({"id"}),
    known=frozenset({"id", "text", "names", "flag"}),
    lists=frozenset({"names"}),
    booleans=frozenset({"flag"}),
)
Reasons = Sequence[tuple[int | None, str]]


def read(path: Path) -> list[Record]:
    return list(read_records(path, COLUMNS))


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def ids(records: Sequence[Record]) -> list[tuple[int | None, Any]]:
    return [(record.line, record.value["id"]) for record in records if record.value is not None]


def reasons(records: Sequence[Record]) -> list[tuple[int | None, str | None]]:
    return [(record.line, record.reason) for record in records if record.value is None]
