"""Whole inputs from files for the commands that need no warehouse."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from wh_judge.ingest import TABLES, Batch, Problem, file_name, files_of, read_file
from wh_judge.model import TURN_SCHEMA, VERDICT_SCHEMA
from wh_judge.readers import Columns, Record, read_records


def read_log_table(path: Path) -> Batch:
    """All turns of a log, in turn order; where a turn stands in several files, the last file by name counts.

    The warehouse does the same with files that arrive together.
    """
    table = TABLES["chat_turn"]
    tables, problems, normalised = [table.schema.empty_table()], [], 0
    places: list[pa.Table] = []
    for number, file in enumerate(files_of(path)):
        name = file_name(path, file)
        for batch in read_file(file, table, name):
            tables.append(batch.rows)
            problems += batch.problems
            normalised += batch.normalised
            places.append(
                pa.table(
                    {"number": [number] * len(batch.lines), "file": [name] * len(batch.lines), "line": batch.lines}
                )
            )
    rows = pa.concat_tables(tables)
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        if places:
            rows, replaced = _latest(connection, rows, pa.concat_tables(places, promote_options="permissive"))
            problems += replaced
    return Batch(rows, [], problems, normalised)


def _latest(connection: duckdb.DuckDBPyConnection, rows: pa.Table, places: pa.Table) -> tuple[pa.Table, list[Problem]]:
    for column in places.schema.names:
        rows = rows.append_column(column, places[column])
    connection.register("rows", rows)
    connection.execute(
        """CREATE TEMP TABLE old AS
           SELECT turn_id, max(number) AS newest, max_by(file, number) AS file, max_by(line, number) AS line
           FROM rows GROUP BY turn_id HAVING count(*) > 1"""
    )
    names = ", ".join(TURN_SCHEMA.names)
    latest = connection.sql(
        f"""SELECT {names} FROM rows LEFT JOIN old USING (turn_id) WHERE coalesce(number = newest, true)
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
    return latest.to_arrow_table().cast(TURN_SCHEMA), problems


def rejects_of(problems: Sequence[Problem], unjudged: pa.Table) -> Iterator[dict[str, Any]]:
    """What got no verdict: problems of the files, then turns without a card."""
    for problem in problems:
        yield problem._asdict() | {"turn_id": None}
    for row in unjudged.to_pylist():
        place = {"table": "chat_turn", "file": None, "line": None, "severity": "unjudged"}
        yield place | {"turn_id": row["turn_id"], "reason": row["reason"], "raw": json.dumps(row, ensure_ascii=False)}


_VERDICT_COLUMNS = Columns(
    required=frozenset({"turn_id", "verdict"}),
    known=frozenset(VERDICT_SCHEMA.names),
    lists=frozenset({"off_canon_entities", "evidence", "notes"}),
    booleans=frozenset(),
)


def read_claims(path: Path) -> Iterable[Record]:
    """Verdicts from anywhere, as they stand in a file or in the files of a folder; nothing is checked here."""
    for file in files_of(path):
        yield from read_records(file, _VERDICT_COLUMNS)
