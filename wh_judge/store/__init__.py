"""The DuckDB warehouse: schema, atomic replacement, reads. Nothing outside this package writes SQL against it.

`inputs.py` brings files in, `days.py` reads and replaces a day, `snapshot.py` publishes. Each takes an open connection;
`open_warehouse` is the one place that opens one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
from dagster_duckdb import DuckDBResource

from wh_judge.errors import UserError
from wh_judge.store.schema import DDL

__all__ = ["open_warehouse", "transaction"]


@contextmanager
def open_warehouse(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The warehouse, its tables made where they are missing; closed afterwards whatever happens.

    While another process has it open this waits and tries again for some seconds.

    Raises:
        UserError: it stays locked, or is no warehouse.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    resource = DuckDBResource(database=str(path), connection_config={"autoinstall_known_extensions": False})
    try:
        opened = resource.get_connection()
        connection = opened.__enter__()
    except duckdb.IOException as error:
        if "lock" in str(error).lower():
            raise UserError(
                f"{path}: another process has the warehouse open ({_holder(error)}); wait for it to end"
            ) from None
        raise UserError(f"{path}: is no DuckDB file that can be opened: {str(error).splitlines()[0]}") from None
    try:
        connection.execute("SET TimeZone = 'Asia/Seoul'")
        connection.execute(DDL)
        yield connection
    finally:
        connection.close()


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
