"""Publication: an immutable DuckDB file for readers, written aside and renamed."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from wh_judge.errors import UserError
from wh_judge.store import transaction
from wh_judge.store.layout import CONFIG
from wh_judge.store.schema import (
    FOLLOWING,
    IN_ORDER,
    LOOKED_UP,
    PUBLISHED,
    STORED,
    UNCOMPRESSED,
    VERSIONED,
    VIEWED,
    number,
    one,
)
from wh_judge.store.versions import rows_version, table_version
from wh_judge.text import sql_text

CURRENT = "current"
"""The file that names the newest snapshot."""


@dataclass(frozen=True)
class Snapshot:
    """A published snapshot."""

    id: str
    path: Path
    written: bool
    """False where a snapshot of the same contents was there already."""
    rows: dict[str, int]


def publish(connection: duckdb.DuckDBPyConnection, folder: Path, *, keep: int) -> Snapshot:
    """Copy what readers need into `folder/<id>.duckdb`, name it in `folder/current`, and drop all but the newest.

    Args:
        connection: the warehouse.
        folder: where snapshots lie; made if it is missing.
        keep: how many snapshots stay, this one included.
    """
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    for name in [name for name in PUBLISHED if name not in FOLLOWING]:
        if name in VERSIONED:
            digest.update(rows_version(connection, VERSIONED[name]).encode())
        else:
            digest.update(table_version(connection, f"SELECT * FROM {name}", PUBLISHED[name]).encode())
    snapshot_id = digest.hexdigest()[:16]
    path = folder / f"{snapshot_id}.duckdb"
    written = not path.exists()
    if written:
        partial = folder / f".{snapshot_id}.{os.getpid()}.partial"
        partial.unlink(missing_ok=True)
        _write(connection, partial)
        partial.rename(path)
    path.touch()
    pointer = folder / f".{CURRENT}.{os.getpid()}"
    pointer.write_text(snapshot_id + "\n", encoding="utf-8")
    pointer.rename(folder / CURRENT)
    _drop_old(folder, snapshot_id, keep)
    if not is_published(connection, folder):
        with transaction(connection):
            connection.execute("DELETE FROM publication")
            connection.execute("INSERT INTO publication VALUES (?)", [_state(connection)])
    rows = {name: number(connection, f"SELECT count(*) FROM {name}") for name in PUBLISHED}
    return Snapshot(snapshot_id, path, written, rows)


@contextmanager
def open_published(folder: Path) -> Iterator[duckdb.DuckDBPyConnection | None]:
    """The newest snapshot, for reading only, whoever has the warehouse open; None where nothing is published.

    Raises:
        UserError: it cannot be read.
    """
    connection = None
    while (named := _named(folder)) and connection is None:
        try:
            connection = duckdb.connect(str(folder / f"{named}.duckdb"), read_only=True)
        except duckdb.Error as error:
            # It may be dropped between the two looks: by then another one is named.
            if _named(folder) == named:
                raise UserError(
                    f"{folder / named}.duckdb: cannot be read: {str(error).splitlines()[0]}; delete it and run again"
                ) from None
    try:
        yield connection
    finally:
        if connection is not None:
            connection.close()


def _named(folder: Path) -> str | None:
    try:
        return (folder / CURRENT).read_text(encoding="utf-8").strip() or None
    except FileNotFoundError:
        return None


def _write(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    tables = {name: order for name, order in PUBLISHED.items() if name not in VIEWED}
    tables["verdict_closed"] = PUBLISHED["verdict_history"]
    connection.execute(f"ATTACH {sql_text(str(path))} AS snapshot")
    try:
        for name, order in tables.items():
            source = STORED.get(name, f"SELECT * FROM {name}")
            connection.execute(f"CREATE TABLE snapshot.{name} ({_columns(connection, name, source)})")
            # DuckDB takes longer to sort wide rows than to copy them, and mostly they lie in order.
            sorting = "" if name in IN_ORDER and _lie_in_order(connection, name, order) else f" ORDER BY {order}"
            connection.execute(f"INSERT INTO snapshot.{name} {source}{sorting}")
        for name, column in LOOKED_UP.items():
            connection.execute(f"CREATE INDEX {name}_{column} ON snapshot.{name} ({column})")
    finally:
        connection.execute("DETACH snapshot")
    # A view means the tables beside it only where it was made among them.
    with duckdb.connect(str(path), config=CONFIG) as snapshot:
        for name, sql in VIEWED.items():
            snapshot.execute(f"CREATE VIEW {name} AS {sql}")


def _lie_in_order(connection: duckdb.DuckDBPyConnection, name: str, order: str) -> bool:
    """Whether the rows of a table or view, whose keys are never null, lie in ascending order."""
    falling = f"SELECT row({order}) < lag(row({order})) OVER () AS falls FROM {name}"
    return number(connection, f"SELECT count(*) FROM ({falling}) WHERE falls") == 0


def _columns(connection: duckdb.DuckDBPyConnection, name: str, source: str) -> str:
    """A table's columns as a definition."""
    described = connection.execute(f"SELECT column_name, column_type FROM (DESCRIBE {source})").fetchall()
    uncompressed = UNCOMPRESSED.get(name, ())
    return ", ".join(
        f'"{column}" {kind}{" USING COMPRESSION uncompressed" if column in uncompressed else ""}'
        for column, kind in described
    )


def is_published(connection: duckdb.DuckDBPyConnection, folder: Path) -> bool:
    """Whether the newest snapshot is there and was made from what stands in the warehouse now."""
    known = one(connection, "SELECT state FROM publication")
    current = folder / CURRENT
    return (
        known is not None
        and known[0] == _state(connection)
        and current.is_file()
        and (folder / f"{current.read_text(encoding='utf-8').strip()}.duckdb").is_file()
    )


def _state(connection: duckdb.DuckDBPyConnection) -> str:
    """Hash of the few rows from which everything published follows."""
    sources = {
        "SELECT name, sha256, arrival FROM log_file": "name",
        "SELECT * FROM input_file": '"table"',
        "SELECT * FROM problem": '"table", file, line, reason',
        "SELECT * FROM judged_day": "day",
        "SELECT * FROM validation": "day, code",
        "SELECT * FROM failed_row": "day, code, turn_id, reason",
        "SELECT * FROM evaluation": "name",
        "SELECT * FROM decision": "position",
        "SELECT * FROM draft_answer": "day, turn_id, model, asked_at, written_at",
    }
    return " ".join(table_version(connection, sql, order) for sql, order in sources.items())


def _drop_old(folder: Path, current: str, keep: int) -> None:
    snapshots = sorted(folder.glob("*.duckdb"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
    for file in [file for file in snapshots if file.stem != current][keep - 1 :]:
        file.unlink(missing_ok=True)
    for file in [*folder.glob(".*.partial*"), *folder.glob(f".{CURRENT}.*")]:
        file.unlink(missing_ok=True)
