"""What a person should look at in the files of the inputs, as the warehouse keeps it."""

import itertools
from collections.abc import Sequence

import duckdb
import pyarrow as pa

from wh_judge.inputs import InputTable
from wh_judge.rowwise import Problem

_PROBLEM_SCHEMA = pa.schema([(name, pa.int64() if name == "line" else pa.string()) for name in Problem._fields])


def read_problems(
    connection: duckdb.DuckDBPyConnection, table: InputTable | None = None, file: str | None = None
) -> list[Problem]:
    """What a person should look at in the files of a table, or in one file, or in all."""
    rows = connection.execute(
        """SELECT * FROM rejected_rows WHERE ("table" = $1 OR $1 IS NULL) AND (file = $2 OR $2 IS NULL)
           ORDER BY "table", file, line, reason""",
        [table.name if table else None, file],
    ).fetchall()
    return [Problem(*row) for row in rows]


def no_row(table: InputTable, name: str) -> Problem:
    """What is said of a file in which there is nothing."""
    return Problem(table.name, name, None, "noted", "holds no row", None)


def keep_problems(connection: duckdb.DuckDBPyConnection, problems: Sequence[Problem]) -> None:
    """Add problems; those that were kept before stay."""
    for chunk in itertools.batched(problems, 10_000) if hasattr(itertools, "batched") else [problems]:
        rows = pa.Table.from_pylist([problem._asdict() for problem in chunk], schema=_PROBLEM_SCHEMA)
        connection.register("problems", rows)
        connection.execute("INSERT INTO problem BY NAME SELECT * FROM problems")
        connection.unregister("problems")


def forget_problems(connection: duckdb.DuckDBPyConnection, table: InputTable, file: str | None = None) -> None:
    """Forget the problems of a table, or those of one file of it."""
    connection.execute('DELETE FROM problem WHERE "table" = ? AND (file = ? OR ? IS NULL)', [table.name, file, file])
