"""Where Dagster keeps its runs and events: its own SQLite storage, with connections that stay open.

By itself Dagster opens the file anew for each event and each question, some 280 times for a day, and compiles each
statement anew with it; that takes more than half of what it does for a day. `dagster.yaml` names this.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as db
from dagster._core.event_api import EventHandlerFn
from dagster._core.storage.event_log import SqlPollingEventWatcher
from dagster._core.storage.event_log.sqlite.sqlite_event_log import INDEX_SHARD_NAME, SqliteEventLogStorage
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage, _event_logs_directory, _runs_directory
from dagster._serdes import ConfigurableClassData

RUNS_OPEN = 4
"""Runs whose events are kept open at a time; each has a file of its own."""


def _engine(url: str) -> db.Engine:
    """Keeps one connection open; threads that come meanwhile get one for the time that they need it.

    What was told survives the end of any process at once. The disk is not waited for at each of some 250 writes of a
    day: a power cut may take the last events with it, and the next run tells of such a day again.
    """
    engine = db.create_engine(url, pool_size=1, max_overflow=-1, connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS})
    db.event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous = NORMAL"))
    return engine


class _Runs(SqliteRunStorage):
    def __init__(self, conn_string: str, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(conn_string, inst_data)
        self._kept = _engine(conn_string)

    @contextmanager
    def connect(self) -> Iterator[db.Connection]:
        with self._kept.begin() as connection:
            yield connection

    def dispose(self) -> None:
        self._kept.dispose()
        super().dispose()


class _Events(SqliteEventLogStorage):
    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._kept: OrderedDict[str, db.Engine] = OrderedDict()
        self._choosing = threading.Lock()
        self._watcher = SqlPollingEventWatcher(self)
        self._empty = b""
        """The file of a run without events."""
        super().__init__(base_dir, inst_data)

    def run_connection(self, run_id: str | None = None) -> AbstractContextManager[db.Connection]:
        assert run_id is not None
        return self._connection(run_id)

    def index_connection(self) -> AbstractContextManager[db.Connection]:
        return self._connection(INDEX_SHARD_NAME)

    @contextmanager
    def _connection(self, shard: str) -> Iterator[db.Connection]:
        with self._engine_of(shard).begin() as connection:
            yield connection

    def _engine_of(self, shard: str) -> db.Engine:
        with self._choosing:
            if shard not in self._kept:
                self._make(shard)
                self._kept[shard] = _engine(self.conn_string_for_shard(shard))
                self._let_go(keep=1 + RUNS_OPEN)
            for used in (INDEX_SHARD_NAME, shard):
                if used in self._kept:
                    self._kept.move_to_end(used)
            return self._kept[shard]

    def _make(self, shard: str) -> None:
        """Make the tables where they are missing: once by Dagster, which reads all its migrations, then by copy."""
        path = Path(self.path_for_shard(shard))
        is_new = not path.exists()
        if is_new and self._empty and self._is_copied(path):
            return
        with super().run_connection(shard) as connection:
            if is_new and shard != INDEX_SHARD_NAME:
                content = connection.connection.driver_connection.serialize()
                # Another process may have begun to write in it.
                if connection.execute(db.text("SELECT 1 FROM event_logs LIMIT 1")).first() is None:
                    self._empty = content

    def _is_copied(self, path: Path) -> bool:
        """Make the file of a run, whole or not at all; where that cannot be done, Dagster tries and tells why."""
        partial = path.with_name(f"{path.name}.{os.getpid()}.new")
        try:
            partial.write_bytes(self._empty)
            os.link(partial, path)
        except FileExistsError:
            return True  # Another process was faster.
        except OSError:
            return False
        finally:
            partial.unlink(missing_ok=True)
        return True

    def _let_go(self, keep: int) -> None:
        while len(self._kept) > keep:
            self._kept.popitem(last=False)[1].dispose()

    def watch(self, run_id: str, cursor: str | None, callback: EventHandlerFn) -> None:
        """Tell of a run's events by asking for them: a file that another process keeps open changes late."""
        self._watcher.watch_run(run_id, cursor, callback)

    def end_watch(self, run_id: str, handler: EventHandlerFn) -> None:
        self._watcher.unwatch_run(run_id, handler)

    def wipe(self) -> None:
        """Delete the files of all runs: no connection may hold one."""
        with self._choosing:
            self._let_go(keep=0)
        super().wipe()

    def dispose(self) -> None:
        self._watcher.close()
        super().dispose()
        with self._choosing:
            self._let_go(keep=0)


class History(DagsterSqliteStorage):
    """Dagster's own storage, in the same files, but for the connections."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(base_dir, inst_data)
        self._run_storage = _Runs.from_local(_runs_directory(base_dir))
        self._event_log_storage = _Events(_event_logs_directory(base_dir))

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData, config_value: Mapping[str, Any]) -> "History":
        """As Dagster has it, whose own method makes its own class."""
        return cls.from_local(inst_data=inst_data, **config_value)
