"""The two slim frames that Great Expectations is given of a table, as Arrow.

The types frame has no rows; its columns are named after the table's, with their types. The rows frame has the columns
that expectations read, and a damage column per check that looks for damage, named after the check. Of these it has the
rows that some expectation could object to: a day of a million sound turns is a frame of one row.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pyarrow as pa

from wh_judge.in_memory import InMemory
from wh_judge.suites.check import ROWS, Check, Suite, typed_name
from wh_judge.text import SQL_MACROS

_DATABASE = InMemory(f"SET enable_progress_bar = false; {SQL_MACROS}")

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
    """The columns that the expectations read, of the rows that one of them could object to, and of the first row.

    The columns of the table that they name, and a damage column by check name. DuckDB looks at every row.
    """
    able = [check for check in checks if set(check.needs) <= set(rows.column_names)]
    plain = [check for check in able if check.damage is None]
    damaged = [check for check in able if check.damage is not None]
    if not able:
        return pa.table({})
    found = _look(suite, damaged, plain, rows, references)
    kept = np.zeros(rows.num_rows, dtype=bool)
    kept[found["number"].to_numpy() - 1] = True
    # Not `take`, which copies all chunks into one before it takes a row.
    some = rows.filter(pa.array(kept))
    columns = {column: some[column].combine_chunks() for check in plain for column in check.needs}
    return pa.table(columns | {check.name: found[f"damage_{place}"] for place, check in enumerate(damaged)})


def _look(
    suite: Suite,
    damaged: Sequence[Check],
    plain: Sequence[Check],
    rows: pa.Table,
    references: Mapping[str, Collection[str]],
) -> pa.Table:
    """Of each row that is kept its number, from 1, and a text per check: the row's key and what is wrong, or null."""
    keys = [f"nullif(trim({name}), '')" for name in suite.key if name in rows.column_names]
    label = f"coalesce({joined}, 'row ' || number)" if (joined := " || ' · ' || ".join(keys)) else "'row ' || number"
    names = [f"damage_{place}" for place in range(len(damaged))]
    damages = "".join(
        f", left(({check.damage})::VARCHAR, {_SHOWN_CHARACTERS}) AS {name}"
        for name, check in zip(names, damaged, strict=True)
    )
    suspects = [f"coalesce({check.suspect or 'true'}, false)" for check in plain]
    kept = " OR ".join(["number = 1", "suspect", *(f"{name} IS NOT NULL" for name in names)])
    labelled = "".join(f", {label} || ': ' || {name} AS {name}" for name in names)
    with _DATABASE.database() as database, database.cursor() as connection:
        # Numbered here: a window over the rows would hold all of them once more.
        numbered = rows.append_column("number", pa.array(np.arange(1, rows.num_rows + 1)))
        connection.register(ROWS, numbered)
        for name in {name for check in damaged for name in check.references}:
            known = [key for key in references[name] if key is not None]
            connection.register(name, pa.table({"key": pa.array(known, pa.string())}))
        return connection.sql(
            f"""SELECT number{labelled} FROM (
                    SELECT *, {" OR ".join(suspects) or "false"} AS suspect{damages}
                    FROM {ROWS})
                WHERE {kept} ORDER BY number"""
        ).to_arrow_table()
