"""Makes the warehouse's tables, and brings those of an older version up to date."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from wh_judge.errors import UserError
from wh_judge.store.schema import DDL, one
from wh_judge.store.transactions import transaction

CONFIG: dict[str, Any] = {"autoinstall_known_extensions": False, "memory_limit": "2GB"}
"""DuckDB would take four fifths of the machine; with less it works on disk, beside the warehouse, on a large day."""

MIGRATIONS: tuple[str, ...] = (
    """ALTER TABLE judged_day ADD COLUMN IF NOT EXISTS card_as_of VARCHAR;
       ALTER TABLE verdict_closed ADD COLUMN IF NOT EXISTS card_as_of VARCHAR""",
    "ALTER TABLE IF EXISTS draft_row ADD COLUMN IF NOT EXISTS asked_at TIMESTAMPTZ",
)
"""SQL by which a warehouse of version n becomes one of version n + 1, from n = 1 on; never changed once released.

Only what `CREATE ... IF NOT EXISTS` of the DDL does not do stands here: columns that are added, renamed or filled.
"""

_DDL_HASH = hashlib.md5(DDL.encode()).hexdigest()


def bring_up_to_date(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Make what is missing and migrate what is older, all of it or nothing. Does nothing to an up-to-date warehouse.

    Raises:
        UserError: a newer version has written this warehouse, or its tables are not what its version has.
    """
    if _is_made(connection):
        return
    theirs = _of_others(connection)
    if theirs:
        raise UserError(
            f"{path}: is no warehouse of wh-judge: it has tables of its own that are called as ours are"
            f" ({', '.join(theirs)}); name another folder with WH_JUDGE_DATA, or move the file away"
        )
    with transaction(connection):
        known = len(MIGRATIONS) + 1
        found = _version(connection) or known
        if found > known:
            raise UserError(
                f"{path}: was written by a newer version of wh-judge (schema {found}, this one knows {known}); install"
                " that version, or put the back-up from before the upgrade in its place"
            )
        for migration in MIGRATIONS[found - 1 :]:
            connection.execute(migration)
        connection.execute(DDL)
        _check_layout(connection, path)
        connection.execute("DELETE FROM layout")
        connection.execute("INSERT INTO layout VALUES (?)", [_DDL_HASH])
        connection.execute("DELETE FROM schema_version")
        connection.execute("INSERT INTO schema_version VALUES (?)", [known])


def _is_made(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether everything is there as this version makes it: to make it once more takes longer than to look."""
    return (
        _expected_layout() <= _layout(connection)
        and one(connection, "FROM layout") == (_DDL_HASH,)
        and one(connection, "FROM schema_version") == (len(MIGRATIONS) + 1,)
    )


def _of_others(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The tables that have our names in a database that no version of wh-judge made, in order of name.

    What it made holds turns with their ids from the first version on, and its number, where that stands in it, in one
    column.
    """
    layout, ours = _layout(connection), {table for table, _, _ in _expected_layout()}
    number = [(column, kind) for table, column, kind in layout if table == "schema_version"]
    is_made = ("turn_row", "turn_id", "VARCHAR") in layout and number in ([], [("version", "INTEGER")])
    return [] if is_made else sorted({table for table, _, _ in layout} & ours)


def _version(connection: duckdb.DuckDBPyConnection) -> int | None:
    """The schema version of the tables, None where there are none. The first version did not write it down."""
    tables = {table for table, _, _ in _layout(connection)}
    if "schema_version" not in tables:
        return 1 if "turn_row" in tables else None
    row = one(connection, "FROM schema_version")
    return row[0] if row else None


def _check_layout(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Refuse tables that no version made, before a run fails on each day of them."""
    missing = sorted(_expected_layout() - _layout(connection))
    if missing:
        table, column, kind = missing[0]
        raise UserError(
            f"{path}: was made by another version of wh-judge ({table} has no {column} {kind}); move it away and run"
            " again"
        )


def _layout(connection: duckdb.DuckDBPyConnection) -> frozenset[tuple[str, str, str]]:
    """The columns of all tables and views, with their types."""
    sql = "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE schema_name = 'main' AND NOT internal"
    return frozenset(connection.execute(sql).fetchall())


@cache
def _expected_layout() -> frozenset[tuple[str, str, str]]:
    with duckdb.connect(config=CONFIG) as connection:
        connection.execute(DDL)
        return _layout(connection)
