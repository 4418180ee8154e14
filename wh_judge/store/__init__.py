"""The DuckDB warehouse: schema, atomic replacement, reads. Nothing outside this package writes SQL against it.

`inputs.py` brings files in, `days.py` reads and replaces a day, `snapshot.py` publishes. Each takes an open connection;
`open_warehouse` is the one place that opens one.
"""

import hashlib
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
from dagster_duckdb import DuckDBResource

from wh_judge.errors import UserError
from wh_judge.store.schema import DDL, one

__all__ = ["open_warehouse", "transaction"]

WAIT_SECONDS = 60.0
"""How long a process waits for another one that has the warehouse open."""
_SILENT_SECONDS, _PAUSE_SECONDS = 2.0, 0.1
_CONFIG: dict[str, Any] = {"autoinstall_known_extensions": False, "memory_limit": "2GB"}
"""DuckDB would take four fifths of the machine; with less it works on disk, beside the warehouse, on a large day."""

_log = logging.getLogger(__name__)


@contextmanager
def open_warehouse(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The warehouse, its tables made where they are missing; closed afterwards whatever happens.

    While another process has it open this waits, at most `WAIT_SECONDS`.

    Raises:
        UserError: it stays locked, or is no warehouse.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    resource = DuckDBResource(database=str(path), connection_config=_CONFIG)
    # Connections of one process share the opened file, so the second costs nothing and cannot be kept waiting.
    with _first_connection(path):
        connection: duckdb.DuckDBPyConnection = resource.get_connection().__enter__()
    try:
        try:
            connection.execute("SET TimeZone = 'Asia/Seoul'")
            if not _is_made(connection):
                connection.execute(DDL)
                _check_layout(connection, path)
                with transaction(connection):
                    connection.execute("DELETE FROM layout")
                    connection.execute("INSERT INTO layout VALUES (?)", [_DDL_VERSION])
        except (duckdb.CatalogException, duckdb.BinderException) as error:
            raise UserError(f"{path}: is no warehouse of wh-judge: {_first_line(error)}") from None
        yield connection
    finally:
        connection.close()


def _is_made(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether everything is there as this version makes it: to make it once more takes longer than to look."""
    return _expected_layout() <= _layout(connection) and one(connection, "FROM layout") == (_DDL_VERSION,)


def _check_layout(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Refuse a warehouse whose tables another version made, before a run fails on each day of it."""
    missing = sorted(_expected_layout() - _layout(connection))
    if missing:
        table, column, kind = missing[0]
        raise UserError(
            f"{path}: was made by another version of wh-judge ({table} has no {column} {kind}); move it away and run"
            " again"
        )


_DDL_VERSION = hashlib.md5(DDL.encode()).hexdigest()


def _layout(connection: duckdb.DuckDBPyConnection) -> frozenset[tuple[str, str, str]]:
    """The columns of all tables and views, with their types."""
    sql = "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE schema_name = 'main' AND NOT internal"
    return frozenset(connection.execute(sql).fetchall())


@cache
def _expected_layout() -> frozenset[tuple[str, str, str]]:
    with duckdb.connect(config=_CONFIG) as connection:
        connection.execute(DDL)
        return _layout(connection)


def _first_connection(path: Path) -> duckdb.DuckDBPyConnection:
    """Wait for other processes, and refuse what is no warehouse at once.

    The resource's own waiting is of no use for either: its pauses double up to 51 seconds, 102 in all, also for a file
    that will never open.
    """
    begun, told = time.monotonic(), False
    while True:
        if not path.exists():
            _make(path)
        try:
            return duckdb.connect(str(path), config={"custom_user_agent": "dagster"} | _CONFIG)
        except duckdb.Error as error:
            if "Could not set lock" not in str(error):
                raise UserError(f"{path}: is no DuckDB file that can be opened: {_first_line(error)}") from None
            waited, holder = time.monotonic() - begun, _holder(error)
        if waited >= WAIT_SECONDS:
            raise UserError(f"{path}: another process has the warehouse open ({holder}); wait for it to end")
        if waited >= _SILENT_SECONDS and not told:
            _log.warning("%s: waiting for another process that has the warehouse open (%s)", path, holder)
            told = True
        time.sleep(_PAUSE_SECONDS)


def _make(path: Path) -> None:
    """An empty database, made aside: a process that is killed while it makes one leaves no half of it in its place."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.new")
    partial.unlink(missing_ok=True)
    duckdb.connect(str(partial)).close()
    try:
        os.link(partial, path)
    except (FileExistsError, FileNotFoundError):
        pass  # Another process was faster.
    except OSError:
        partial.rename(path)  # There are no hard links here.
    for left in path.parent.glob(f".{path.name}.*.new*"):
        left.unlink(missing_ok=True)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _holder(error: Exception) -> str:
    text = str(error)
    start = text.find("PID")
    return text[start : text.find(")", start)].strip() if start >= 0 else "its process is not known"


@contextmanager
def transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """All that is written inside becomes visible at once, or not at all."""
    connection.execute("BEGIN")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
