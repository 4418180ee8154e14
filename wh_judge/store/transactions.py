"""Transactions of the warehouse."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import duckdb


@contextmanager
def transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """All that is written inside becomes visible at once, or not at all."""
    connection.execute("BEGIN")
    try:
        yield
    except BaseException:
        roll_back(connection)
        raise
    connection.execute("COMMIT")


def roll_back(connection: duckdb.DuckDBPyConnection) -> None:
    """End a transaction that failed; one that could not be committed has ended by itself."""
    with suppress(duckdb.Error):
        connection.execute("ROLLBACK")
