"""The DuckDB warehouse: schema, atomic replacement, reads. Nothing outside this package writes SQL against it.

`layout.py` makes its tables and brings older ones up to date, `inputs.py` brings files in, `days.py` reads and replaces
a day, `snapshot.py` publishes. Each takes an open connection; `open_warehouse` is the one place that opens one.
"""

import errno
import logging
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
from dagster_duckdb import DuckDBResource

from wh_judge.errors import UserError
from wh_judge.store.layout import CONFIG, bring_up_to_date
from wh_judge.store.transactions import roll_back, transaction

__all__ = ["is_of_the_disk", "open_warehouse", "read_warehouse", "roll_back", "transaction", "waiting_on"]

WAIT_SECONDS = 60.0
"""How long a process waits for another one that has the warehouse open, or is at work with it."""
_SILENT_SECONDS, _PAUSE_SECONDS = 2.0, 0.1

_log = logging.getLogger(__name__)


@contextmanager
def waiting_on() -> Iterator[None]:
    """Until the end of the block, this process waits for others as long as they take."""
    global WAIT_SECONDS
    before, WAIT_SECONDS = WAIT_SECONDS, math.inf
    try:
        yield
    finally:
        WAIT_SECONDS = before


@contextmanager
def open_warehouse(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The warehouse, its tables made where they are missing; closed afterwards whatever happens.

    While another process has it open this waits, at most `WAIT_SECONDS`.

    Raises:
        UserError: it stays locked, is no warehouse, or cannot be written, also later on.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    resource = DuckDBResource(database=str(path), connection_config=CONFIG)
    # Connections of one process share the opened file, so the second costs nothing and cannot be kept waiting.
    with _first_connection(path):
        connection: duckdb.DuckDBPyConnection = resource.get_connection().__enter__()
    try:
        connection.execute("SET TimeZone = 'Asia/Seoul'")
        try:
            bring_up_to_date(connection, path)
        except (duckdb.CatalogException, duckdb.BinderException) as error:
            raise UserError(
                f"{path}: is no warehouse of wh-judge, or a damaged one ({_first_line(error)}); restore the back-up, or"
                " move the file away"
            ) from None
        yield connection
    except duckdb.Error as error:
        if not is_of_the_disk(error):
            raise
        raise _not_written(path, error) from None
    finally:
        connection.close()


@contextmanager
def read_warehouse(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """As `open_warehouse`, for those who only read: where there is none, none is made.

    Raises:
        UserError: there is none.
    """
    if not path.is_file():
        raise UserError(f"{path}: is not there; name the folder of the warehouse with --data, or do wh-judge run first")
    with open_warehouse(path) as connection:
        yield connection


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
            return duckdb.connect(str(path), config={"custom_user_agent": "dagster"} | CONFIG)
        except duckdb.Error as error:
            if "Could not set lock" not in str(error):
                if path.is_file() and (_FULL in str(error) or not _is_writable(path)):
                    raise _not_written(path, error) from None
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
    try:
        duckdb.connect(str(partial)).close()
    except duckdb.Error as error:
        raise _not_written(path, error) from None
    try:
        os.link(partial, path)
    except (FileExistsError, FileNotFoundError):
        pass  # Another process was faster.
    except OSError:
        partial.rename(path)  # There are no hard links here.
    for left in path.parent.glob(f".{path.name}.*.new*"):
        left.unlink(missing_ok=True)


_FULL = os.strerror(errno.ENOSPC)


def is_of_the_disk(error: BaseException) -> bool:
    """Whether something could not be read or written, or was cut off by that: nothing is wrong with the inputs."""
    if isinstance(error, (OSError, duckdb.IOException, duckdb.FatalException)):
        return True
    return isinstance(error, duckdb.TransactionException) and "Failed to commit" in str(error)


def _is_writable(path: Path) -> bool:
    return all(os.access(place, os.R_OK | os.W_OK) for place in (path, path.parent))


def _not_written(path: Path, error: duckdb.Error) -> UserError:
    return UserError(
        f"{path}: cannot be written: {_first_line(error)}; make room on its disk, or see to the right to write there,"
        " and run again: what was committed is kept"
    )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _holder(error: Exception) -> str:
    text = str(error)
    start = text.find("PID")
    return text[start : text.find(")", start)].strip() if start >= 0 else "its process is not known"
