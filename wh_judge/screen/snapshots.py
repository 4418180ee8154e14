"""Reading published snapshots while new ones are being published."""

import datetime as dt
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from wh_judge.store.snapshot import CURRENT

Found = TypeVar("Found")

CACHED = 2_000
"""Small results kept per snapshot, such as counts; a snapshot never changes, so they never grow old."""

_CONFIG: dict[str, Any] = {"memory_limit": "1GB", "threads": 2, "enable_external_access": False}


class Snapshot:
    """One published snapshot. Safe for several threads; each query has a cursor of its own."""

    def __init__(self, snapshot_id: str, path: Path) -> None:
        self.id = snapshot_id
        self.published_at = dt.datetime.fromtimestamp(path.stat().st_mtime, dt.UTC)
        self._connection = duckdb.connect(str(path), read_only=True, config=_CONFIG)
        self._cache: OrderedDict[Any, Any] = OrderedDict()
        self._lock = threading.Lock()
        self.readers = 0

    def rows(self, sql: str, parameters: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        """The rows of a query, each as a mapping."""
        with self._connection.cursor() as cursor:
            found = cursor.execute(sql, parameters or {})
            names = [column[0] for column in found.description or ()]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    @contextmanager
    def batches(self, sql: str, parameters: Mapping[str, Any], rows: int) -> Iterator[Iterator[list[dict[str, Any]]]]:
        """The rows of a query in lists of at most `rows`, for results that do not fit into memory."""
        with self._connection.cursor() as cursor:
            reader = cursor.sql(sql, params=dict(parameters)).to_arrow_reader(rows)
            yield (batch.to_pylist() for batch in reader)

    def cached(self, key: Any, compute: Callable[[], Found]) -> Found:
        """The result of `compute`, computed once as long as it is among the `CACHED` asked for last."""
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                found: Found = self._cache[key]
                return found
        found = compute()
        with self._lock:
            self._cache[key] = found
            while len(self._cache) > CACHED:
                self._cache.popitem(last=False)
        return found

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
        """The newest snapshot for as long as the block lasts; None where nothing was published yet."""
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

    def _open_newest(self) -> Snapshot | None:
        snapshot_id = self._named()
        # A snapshot that was dropped between the two looks: by then another one is named.
        for _ in range(5):
            if snapshot_id is None or (self._newest and self._newest.id == snapshot_id):
                return self._newest
            try:
                found = Snapshot(snapshot_id, self._folder / f"{snapshot_id}.duckdb")
            except (duckdb.IOException, FileNotFoundError):
                again = self._named()
                if again == snapshot_id:
                    raise
                snapshot_id = again
                continue
            if self._newest and not self._newest.readers:
                self._newest.close()
            self._newest = found
            return found
        return self._newest

    def _named(self) -> str | None:
        try:
            name = (self._folder / CURRENT).read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return None
        return name or None
