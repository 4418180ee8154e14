"""Where Dagster keeps its runs and events: its own SQLite storage, with connections that stay open.

By itself Dagster opens the file anew for each event and each question, some 280 times for a day, and compiles each
statement anew with it; that takes more than half of what it does for a day. `dagster.yaml` names this.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as db
from dagster._core.event_api import EventHandlerFn
from dagster._core.storage.event_log.polling_event_watcher import SqlPollingRunIdEventWatcherThread
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


@dataclass
class _Kept:
    engine: db.Engine
    users: int = 0
    """How many are at work with it."""


class _Events(SqliteEventLogStorage):
    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._choosing = threading.Lock()
        self._watching: dict[tuple[str, EventHandlerFn], SqlPollingRunIdEventWatcherThread] = {}
        self._empty = b""
        """The file of a run without events."""
        super().__init__(base_dir, inst_data)
        # Of processes that were killed. One that is at work has Dagster make the file then.
        for left in Path(self._base_dir).glob("*.db.*.new"):
            with suppress(OSError):
                left.unlink()

    def run_connection(self, run_id: str | None = None) -> AbstractContextManager[db.Connection]:
        assert run_id is not None
        return self._connection(run_id)

    def index_connection(self) -> AbstractContextManager[db.Connection]:
        return self._connection(INDEX_SHARD_NAME)

    @contextmanager
    def _connection(self, shard: str) -> Iterator[db.Connection]:
        kept = self._take(shard)
        try:
            with kept.engine.begin() as connection:
                yield connection
        finally:
            self._give_back(kept)

    def _take(self, shard: str) -> _Kept:
        with self._choosing:
            if shard not in self._kept:
                self._make(shard)
                self._kept[shard] = _Kept(_engine(self.conn_string_for_shard(shard)))
                self._let_go(keep=1 + RUNS_OPEN)
            for used in (INDEX_SHARD_NAME, shard):
                if used in self._kept:
                    self._kept.move_to_end(used)
            self._kept[shard].users += 1
            return self._kept[shard]

    def _give_back(self, kept: _Kept) -> None:
        with self._choosing:
            kept.users -= 1
            if not kept.users and not any(kept is other for other in self._kept.values()):
                kept.engine.dispose()

    def _make(self, shard: str) -> None:
        """Make the tables where they are missing: once by Dagster, which reads all its migrations, then by copy."""
        path = Path(self.path_for_shard(shard))
        is_new = not path.exists()
        if is_new and self._empty and self._is_copied(path):
            return
        with super().run_connection(shard) as connection:
            if is_new and shard != INDEX_SHARD_NAME:
                # SQLite before 3.36 mostly cannot say what is in a file: Dagster then makes each.
                serialize = getattr(connection.connection.driver_connection, "serialize", bytes)
                content = serialize()
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
            with suppress(OSError):  # Where nothing can be written, nothing can be deleted.
                partial.unlink()
        return True

    def _let_go(self, keep: int) -> None:
        """Close what was used longest ago; what somebody is at work with is closed when it is given back."""
        while len(self._kept) > keep:
            _, kept = self._kept.popitem(last=False)
            if not kept.users:
                kept.engine.dispose()

    def watch(self, run_id: str, cursor: str | None, callback: EventHandlerFn) -> None:
        """Tell of a run's events by asking for them: a file that another process keeps open changes late.

        Each who watches has a thread, which begins at the first event: one that served several would tell those who
        come later only of what it has not read yet.
        """
        self.end_watch(run_id, callback)
        watcher = SqlPollingRunIdEventWatcherThread(self, run_id)
        watcher.daemon = True
        watcher.add_callback(cursor, callback)
        self._watching[run_id, callback] = watcher
        watcher.start()

    def end_watch(self, run_id: str, handler: EventHandlerFn) -> None:
        watcher = self._watching.pop((run_id, handler), None)
        if watcher is not None:
            watcher.should_thread_exit.set()

    def wipe(self) -> None:
        """Delete the files of all runs: no connection may hold one.

        Dagster deletes the places in a pool, too, and makes none while the pool's limit stands: every run would wait.
        """
        pools = self.get_pool_limits()
        with self._choosing:
            self._let_go(keep=0)
        super().wipe()
        for pool in pools:
            if pool.from_default:
                self.initialize_concurrency_limit_to_default(pool.name)
            else:
                self.set_concurrency_slots(pool.name, pool.limit)

    def dispose(self) -> None:
        watchers = list(self._watching.values())
        for run_id, handler in list(self._watching):
            self.end_watch(run_id, handler)
        for watcher in watchers:
            if watcher is not threading.current_thread():
                watcher.join()
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
