"""A DuckDB in memory that is started once and kept: to start one takes as long as to judge some turns."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import duckdb


class InMemory:
    """Started at its first use. Threads may share it, each with cursors of its own."""

    def __init__(self, sql: str, **config: int) -> None:
        """What it begins with, such as macros, and settings that are not DuckDB's own."""
        self._sql = sql
        self._settings: dict[str, Any] = {"autoinstall_known_extensions": False, **config}
        self._starting = Lock()
        self._kept: duckdb.DuckDBPyConnection | None = None

    @contextmanager
    def database(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """To make cursors of. After an error of its own a database answers no more: the next use starts another."""
        with self._starting:
            if self._kept is None:
                started = duckdb.connect(config=self._settings)
                started.execute(self._sql)
                self._kept = started
            database = self._kept
        try:
            yield database
        except (duckdb.InternalException, duckdb.FatalException):
            with self._starting:
                if self._kept is database:
                    self._kept = None
            raise
