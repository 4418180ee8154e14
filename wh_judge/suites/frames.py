"""The two slim frames that Great Expectations is given of a table, as Arrow.

The types frame has no rows; its columns are named after the table's, with their types. The rows frame has the columns
that expectations read, and a damage column per check that looks for damage, named after the check.
"""

from collections.abc import Collection, Mapping, Sequence

import duckdb
import pyarrow as pa

from wh_judge.suites.check import Check, Suite, typed_name
from wh_judge.text import SQL_MACROS

_SHOWN_CHARACTERS = 200
"""Characters of a damaged cell that are kept; a cell may hold megabytes."""


def types_frame(suite: Suite, rows: pa.Table) -> pa.Table:
    """An empty table with a column per column of `rows`, named by name and type; a second of the same name says so."""
    expected = {field.name: field for field in suite.arrow_schema}
    names: list[str] = []
    for field in rows.schema:
        same = field.name in expected and expected[field.name].type == field.type
        name = typed_name(expected[field.name] if same else field)
        names.append(f"{name} (again)" if name in names else name)
    return pa.table({name: pa.array([], pa.bool_()) for name in names})


def usable_columns(suite: Suite, rows: pa.Table) -> tuple[list[str], dict[str, str]]:
    """The columns that can be looked into, and what is wrong with each of the others that the model has."""
    usable, problems = [], {}
    for field in suite.arrow_schema:
        times = rows.schema.names.count(field.name)
        if times != 1:
            problems[field.name] = f"the column {field.name} is " + ("there more than once" if times else "missing")
        elif rows.schema.field(field.name).type != field.type:
            problems[field.name] = f"the column {field.name} is {rows.schema.field(field.name).type}, not {field.type}"
        else:
            usable.append(field.name)
    return usable, problems


def rows_frame(
    suite: Suite, checks: Sequence[Check], rows: pa.Table, references: Mapping[str, Collection[str]]
) -> pa.Table:
    """The columns that the expectations read: those of the table that they name, and a damage column by check name."""
    able = [check for check in checks if set(check.needs) <= set(rows.column_names)]
    plain = dict.fromkeys(column for check in able if check.damage is None for column in check.needs)
    damaged = [check for check in able if check.damage is not None]
    columns = {
        name: rows[name].combine_chunks() if name in suite.key else _slim(rows[name].combine_chunks()) for name in plain
    }
    if damaged:
        found = _damages(suite, damaged, rows, references)
        columns |= {check.name: _slim(found.column(position)) for position, check in enumerate(damaged)}
    return pa.table(columns)


def _slim(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """Text as a dictionary: Great Expectations hashes every column, and few of these texts differ."""
    return column.dictionary_encode() if pa.types.is_string(column.type) else column


def _damages(
    suite: Suite, checks: Sequence[Check], rows: pa.Table, references: Mapping[str, Collection[str]]
) -> pa.Table:
    """A text column per check: the row's key and what is wrong with it, or null."""
    keys = [f"nullif(trim({name}), '')" for name in suite.key if name in rows.column_names]
    label = f"coalesce({joined}, 'row ' || number)" if (joined := " || ' · ' || ".join(keys)) else "'row ' || number"
    damages = ", ".join(
        f"{label} || ': ' || left(({check.damage})::VARCHAR, {_SHOWN_CHARACTERS}) AS damage_{position}"
        for position, check in enumerate(checks)
    )
    connection = duckdb.connect(config={"autoinstall_known_extensions": False})
    try:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(SQL_MACROS)
        connection.register("batch_rows", rows)
        for name in {name for check in checks for name in check.references}:
            known = [key for key in references[name] if key is not None]
            connection.register(name, pa.table({"key": pa.array(known, pa.string())}))
        numbered = "SELECT *, row_number() OVER () AS number FROM batch_rows"
        return connection.sql(f"SELECT {damages} FROM ({numbered})").to_arrow_table().combine_chunks()
    finally:
        connection.close()
