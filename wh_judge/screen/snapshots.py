"""Reading published snapshots while new ones are being published."""

import datetime as dt
import logging
import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from wh_judge.store.snapshot import CURRENT

Found = TypeVar("Found")

CACHE_BYTES = 64_000_000
"""Size of the results that are kept per snapshot, such as the places of a list, as pickle writes them; in memory
they may take a few times as much. A snapshot never changes, so results never grow old."""
CACHE_ENTRIES = 1_000
"""How many of them: small ones take more than their size, and whoever makes addresses up can ask for any number."""

_CONFIG: dict[str, Any] = {"memory_limit": "512MB", "threads": 2, "enable_external_access": False}


_LOG = logging.getLogger(__name__)


class SnapshotError(Exception):
    """The published snapshot cannot be read."""


class Snapshot:
    """One published snapshot. Safe for several threads; each query has a cursor of its own."""

    def __init__(self, snapshot_id: str, path: Path) -> None:
        self.id = snapshot_id
        self.published_at = dt.datetime.fromtimestamp(path.stat().st_mtime, dt.UTC)
        self._connection = duckdb.connect(str(path), read_only=True, config=_CONFIG)
        self._cache: OrderedDict[Any, Future[Any]] = OrderedDict()
        self._sizes: dict[Any, int] = {}
        self._kept = 0
        self._lock = threading.Lock()
        self.readers = 0

    def rows(self, sql: str, parameters: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        """The rows of a query, each as a mapping."""
        with self._connection.cursor() as cursor:
            found = cursor.execute(sql, parameters or {})
            names = [column[0] for column in found.description or ()]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def columns(self, sql: str, parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The columns of a query, each as an array."""
        with self._connection.cursor() as cursor:
            return cursor.execute(sql, parameters or {}).fetchnumpy()

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """For what the domain reads by itself, from a warehouse or a snapshot alike."""
        with self._connection.cursor() as cursor:
            yield cursor

    @contextmanager
    def batches(self, sql: str, parameters: Mapping[str, Any], rows: int) -> Iterator[Iterator[list[dict[str, Any]]]]:
        """The rows of a query in lists of at most `rows`, for results that do not fit into memory."""
        with self._connection.cursor() as cursor:
            reader = cursor.sql(sql, params=dict(parameters)).to_arrow_reader(rows)
            yield (batch.to_pylist() for batch in reader)

    def found(self, key: Any, read: Callable[[duckdb.DuckDBPyConnection], Found]) -> Found:
        """What `read` finds with a cursor, kept as `cached` keeps it."""

        def compute() -> Found:
            with self.cursor() as cursor:
                return read(cursor)

        return self.cached(key, compute)

    def cached(self, key: Any, compute: Callable[[], Found]) -> Found:
        """The result of `compute`, computed once, however many ask, as long as it is among those asked for last."""
        with self._lock:
            known = self._cache.get(key)
            if known is None:
                own: Future[Found] = Future()
                self._cache[key] = own
            else:
                self._cache.move_to_end(key)
        if known is not None:
            found: Found = known.result()
            return found
        try:
            found = compute()
        except BaseException as error:
            with self._lock:
                del self._cache[key]
            own.set_exception(error)
            raise
        own.set_result(found)
        self._keep(key, len(pickle.dumps((key, found))))
        return found

    def _keep(self, key: Any, size: int) -> None:
        """Forget what was asked for longest ago until all that is kept is small enough."""
        with self._lock:
            self._sizes[key] = size
            self._kept += size
            for old in list(self._cache):
                if self._kept <= CACHE_BYTES and len(self._sizes) <= CACHE_ENTRIES:
                    break
                # What is still being computed has no size yet.
                if old in self._sizes:
                    self._kept -= self._sizes.pop(old)
                    del self._cache[old]

    def close(self) -> None:
        self._connection.close()


class Snapshots:
    """The newest snapshot of a folder. An older one stays open until the last request that reads it is done."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._newest: Snapshot | None = None
        self._lock = threading.Lock()

    @contextmanager
    def read(self) -> Iterator[Snapshot | None]:
        """The newest snapshot for as long as the block lasts; None where nothing was published yet.

        Raises:
            SnapshotError: there is one, but it cannot be opened.
        """
        with self._lock:
            snapshot = self._open_newest()
            if snapshot:
                snapshot.readers += 1
        try:
            yield snapshot
        finally:
            if snapshot:
                with self._lock:
                    snapshot.readers -= 1
                    if not snapshot.readers and snapshot is not self._newest:
                        snapshot.close()

    def close(self) -> None:
        """Let go of the newest snapshot, once its readers are done."""
        with self._lock:
            newest, self._newest = self._newest, None
            if newest and not newest.readers:
                newest.close()

    @contextmanager
    def read_if_any(self) -> Iterator[Snapshot | None]:
        """The same for pages that can do without: None, too, where it cannot be opened."""
        with ExitStack() as stack:
            try:
                snapshot = stack.enter_context(self.read())
            except SnapshotError:
                snapshot = None
            yield snapshot

    def _open_newest(self) -> Snapshot | None:
        snapshot_id = self._named()
        while snapshot_id and not (self._newest and self._newest.id == snapshot_id):
            try:
                found = Snapshot(snapshot_id, self._folder / f"{snapshot_id}.duckdb")
            except (duckdb.Error, OSError, ValueError) as error:
                # A snapshot may be dropped between the two looks: by then another one is named.
                again = self._named()
                if again == snapshot_id and self._newest:
                    # What is open is sound, and older than what is damaged.
                    _LOG.error("%s.duckdb: %s", snapshot_id, error)
                    return self._newest
                if again == snapshot_id:
                    raise SnapshotError(f"{snapshot_id}.duckdb: {error}") from error
                snapshot_id = again
                continue
            if self._newest and not self._newest.readers:
                self._newest.close()
            self._newest = found
        return self._newest

    def _named(self) -> str | None:
        try:
            name = (self._folder / CURRENT).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return None
        return name or None
