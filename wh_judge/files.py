"""Whole inputs from files for the commands that need no warehouse."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from wh_judge.errors import UserError
from wh_judge.ingest import TABLES, Problem, file_name, files_of, input_path, read_file, read_table
from wh_judge.model import TURN_SCHEMA, VERDICT_SCHEMA
from wh_judge.readers import Columns, Record, read_records
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
    normalised: int
    """Rows in which some text was not in NFC."""


def read_log_table(path: Path) -> LogTable:
    """All turns of a log, in turn order; where a turn stands in several files, the last file by name counts.

    The warehouse does the same with files that arrive together.
    """
    table = TABLES["chat_turn"]
    tables, problems, normalised = [_PLACED_SCHEMA.empty_table()], [], 0
    for number, file in enumerate(files_of(path)):
        name = file_name(path, file)
        for batch in read_file(file, table, name):
            place = [[number] * len(batch.lines), [name] * len(batch.lines), batch.lines]
            tables.append(pa.table([*batch.rows.columns, *place], schema=_PLACED_SCHEMA))
            problems += batch.problems
            normalised += batch.normalised
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        rows, replaced = _latest(connection, pa.concat_tables(tables))
    return LogTable(rows.select(TURN_SCHEMA.names), rows["file"], rows["line"], [*problems, *replaced], normalised)


_PLACED_SCHEMA = pa.schema([*TURN_SCHEMA, ("number", pa.int64()), ("file", pa.string()), ("line", pa.int64())])


def _latest(connection: duckdb.DuckDBPyConnection, rows: pa.Table) -> tuple[pa.Table, list[Problem]]:
    connection.register("rows", rows)
    connection.execute(
        """CREATE TEMP TABLE old AS
           SELECT turn_id, max(number) AS newest, max_by(file, number) AS file, max_by(line, number) AS line
           FROM rows GROUP BY turn_id HAVING count(*) > 1"""
    )
    latest = connection.sql(
        """SELECT rows.* FROM rows LEFT JOIN old USING (turn_id) WHERE coalesce(number = newest, true)
            ORDER BY length(turn_id), turn_id"""
    )
    replaced = connection.sql(
        """SELECT rows.file, rows.line, turn_id, old.file, old.line FROM rows JOIN old USING (turn_id)
           WHERE number < newest ORDER BY ALL"""
    ).fetchall()
    problems = [
        Problem("chat_turn", file, line, "noted", f"turn_id {turn} is replaced by the row in {by}:{by_line}", None)
        for file, line, turn, by, by_line in replaced
    ]
    return latest.to_arrow_table().cast(_PLACED_SCHEMA), problems


def rejects_of(problems: Sequence[Problem], unjudged: pa.Table, log: LogTable) -> Iterator[dict[str, Any]]:
    """What got no verdict: problems of the files, then turns without a card (UNJUDGED_SCHEMA, in the log's order)."""
    for problem in problems:
        yield problem._asdict() | {"turn_id": None}
    without = pc.is_in(log.rows["turn_id"], unjudged["turn_id"])
    places = zip(log.files.filter(without).to_pylist(), log.lines.filter(without).to_pylist(), strict=True)
    for row, (file, line) in zip(unjudged.to_pylist(), places, strict=True):
        place = {"table": "chat_turn", "file": file, "line": line, "severity": "unjudged"}
        yield place | {"turn_id": row["turn_id"], "reason": row["reason"], "raw": json.dumps(row, ensure_ascii=False)}


def read_gold(inputs: Path) -> list[dict[str, Any]]:
    """The labels among the inputs, as they stand in the files; none where there are none."""
    table = TABLES["gold_label"]
    path = input_path(inputs, table, optional=True)
    return list(read_table(path, table).rows.to_pylist()) if path else []


def need_rows(path: Path, rows: int, problems: Sequence[object]) -> None:
    """Raise a UserError where an input holds nothing that could be read; it names the first problem."""
    if not rows:
        first = f" ({problems[0]})" if problems else ""
        raise UserError(f"{path}: holds no row that can be read{first}")


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
    return replace(record, value={**(record.value or {}), "evidence": typed})
