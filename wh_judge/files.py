"""Whole inputs from files for the commands that need no warehouse."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from wh_judge.errors import UserError
from wh_judge.inputs import file_name, files_of
from wh_judge.model import TURN_SCHEMA, VERDICT_SCHEMA
from wh_judge.parts import PLACED_SCHEMA, reading_parts
from wh_judge.readers import read_records
from wh_judge.readers.records import Columns, Record
from wh_judge.rowwise import Problem
from wh_judge.validations import typed_evidence


@dataclass(frozen=True)
class LogTable:
    """A whole log."""

    rows: pa.Table
    """In TURN_SCHEMA, in turn order."""
    files: pa.ChunkedArray
    """Of each row, the file that it stands in."""
    lines: pa.ChunkedArray
    """Of each row, the line that it stands in."""
    problems: list[Problem]


def read_log_table(path: Path) -> LogTable:
    """All turns of a log, in turn order; where a turn stands in several files, the last file by name counts.

    The warehouse does the same with files that arrive together.
    """
    with reading_parts(path) as log:
        parts = list(log.parts)
    rows = pa.concat_tables([PLACED_SCHEMA.empty_table(), *(part.rows for part in parts)])
    problems = [problem for part in parts for problem in part.problems]
    return LogTable(rows.select(TURN_SCHEMA.names), rows["file"], rows["line"], problems)


def with_places(unjudged: pa.Table, rows: pa.Table) -> pa.Table:
    """The unjudged turns (UNJUDGED_SCHEMA, in the order of the rows) with the `file` and `line` of the rows."""
    places = rows.filter(pc.is_in(rows["turn_id"], unjudged["turn_id"].combine_chunks()))
    return unjudged.append_column("file", places["file"]).append_column("line", places["line"])


def rejects_of(problems: Sequence[Problem], unjudged: Iterable[pa.Table]) -> Iterator[dict[str, Any]]:
    """What got no verdict: problems of the files, then turns without a card, as `with_places` gives them."""
    for problem in problems:
        yield problem._asdict() | {"turn_id": None}
    for table in unjudged:
        for row in table.to_pylist():
            place = {"table": "chat_turn", "file": row.pop("file"), "line": row.pop("line"), "severity": "unjudged"}
            raw = json.dumps(row, ensure_ascii=False)
            yield place | {"turn_id": row["turn_id"], "reason": row["reason"], "raw": raw}


def need_rows(path: Path | str, rows: int, problems: Sequence[object]) -> None:
    """Raise a UserError where an input holds nothing that could be read; it names the first row that was rejected, or
    else the first problem."""
    if not rows:
        first = next((problem for problem in problems if not _is_noted(problem)), problems[0] if problems else None)
        raise UserError(f"{path}: holds no row that can be read{f' ({first})' if first else ''}")


def need_no_worse(path: Path | str, rows: int, problems: Sequence[Problem]) -> None:
    """As `need_rows`, for a table that may be empty: where it has rows, one of them must be readable."""
    if not all(map(_is_noted, problems)):
        need_rows(path, rows, problems)


def _is_noted(problem: object) -> bool:
    return isinstance(problem, Problem) and problem.severity == "noted"


_VERDICT_COLUMNS = Columns(
    required=frozenset({"turn_id", "verdict"}),
    known=frozenset(VERDICT_SCHEMA.names),
    lists=frozenset({"off_canon_entities", "evidence", "notes"}),
    booleans=frozenset(),
)


def read_claims(path: Path) -> Iterator[tuple[str, Record]]:
    """Verdicts from anywhere, as they stand in a file or in the files of a folder, each with the name of its file.

    Nothing is checked here.
    """
    for file in files_of(path):
        name = file_name(path, file)
        for record in read_records(file, _VERDICT_COLUMNS):
            yield name, _with_typed_evidence(record) if file.suffix.lower() == ".parquet" else record


def _with_typed_evidence(record: Record) -> Record:
    """A Parquet column has one type, so that evidence values are text there."""
    rows = record.value and record.value.get("evidence")
    if not isinstance(rows, list):
        return record
    typed = [typed_evidence(row) if isinstance(row, dict) else row for row in rows]
    return record._replace(value={**(record.value or {}), "evidence": typed})
