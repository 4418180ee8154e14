"""The files of the log into the warehouse: new and changed ones, each in one transaction."""

import errno
import hashlib
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from wh_judge.ahead import reading_ahead
from wh_judge.ingest import read_file
from wh_judge.inputs import TABLES, file_name, files_of
from wh_judge.model import KST
from wh_judge.rowwise import Batch
from wh_judge.store import transaction
from wh_judge.store.inputs_version import forget_log_versions
from wh_judge.store.problems import forget_problems, keep_problems, no_row
from wh_judge.store.schema import number, one
from wh_judge.store.versions import keep_replaced_turns

_ROWS_OF_FILE = "SELECT count(*) FROM turn_row WHERE file = ?"


def ingest_log(connection: duckdb.DuckDBPyConnection, path: Path) -> list[str]:
    """Bring in the files of a log that are new or changed; their names."""
    return [*ingest_files(connection, path, files_of(path))]


def ingest_files(
    connection: duckdb.DuckDBPyConnection, path: Path, files: Sequence[Path], *, empty_is_bad: bool = False
) -> dict[str, int]:
    """Bring in the files below `path` that are new or changed, in order; a file's rows replace those it had before.

    A file whose size and time of change are known is not read again. Each file is one transaction. A file that is gone
    leaves its turns behind, and so does one that can no longer be read, which becomes a problem.

    Args:
        connection: the warehouse.
        path: the folder, or the file itself.
        files: the files.
        empty_is_bad: whether a file without a row and without a problem leaves its turns behind, too.

    Returns:
        Names of the files that were brought in, with the rows that were read.
    """
    done = {}
    for file in files:
        name = file_name(path, file)
        known = one(connection, "SELECT sha256, size, mtime_ns FROM log_file WHERE name = ?", [name])
        try:
            stat = file.stat()
            if known and known[1:] == (stat.st_size, stat.st_mtime_ns):
                continue
            sha256 = file_hash(file)
        except OSError:
            _keep_unreadable(connection, file, name, [None, None, None])
            continue
        if known and known[0] == sha256:
            connection.execute(
                "UPDATE log_file SET size = ?, mtime_ns = ? WHERE name = ?", [stat.st_size, stat.st_mtime_ns, name]
            )
            continue
        facts: list[str | int] = [sha256, stat.st_size, stat.st_mtime_ns]
        try:
            with transaction(connection):
                done[name] = _replace_file(connection, file, name, facts, empty_is_bad=empty_is_bad)
        except _NothingReadError:
            _keep_unreadable(connection, file, name, facts, empty_is_bad=empty_is_bad)
            done[name] = 0
        if _has_changed(file, facts):
            # What was read is not what was hashed: it is read again, whatever it holds then.
            connection.execute("UPDATE log_file SET sha256 = NULL, size = NULL, mtime_ns = NULL WHERE name = ?", [name])
    return done


def _has_changed(file: Path, facts: Sequence[str | int]) -> bool:
    try:
        stat = file.stat()
    except OSError:
        return True
    return [stat.st_size, stat.st_mtime_ns] != facts[1:]


def file_hash(file: Path) -> str:
    """SHA-256 of a regular file's content.

    Raises:
        OSError: it is none, or cannot be read.
    """
    if not file.is_file():
        raise OSError(errno.EINVAL, "is no regular file")
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


class _NothingReadError(Exception):
    """A file that brought turns before has problems now and not one row."""


def _keep_unreadable(
    connection: duckdb.DuckDBPyConnection,
    file: Path,
    name: str,
    facts: Sequence[str | int | None],
    *,
    empty_is_bad: bool = False,
) -> None:
    """Keep why nothing of a file can be read; the turns that it brought before stay.

    Without facts the file is tried again each time; with them once it has changed.
    """
    table = TABLES["chat_turn"]
    with transaction(connection):
        connection.execute("UPDATE log_file SET sha256 = ?, size = ?, mtime_ns = ? WHERE name = ?", [*facts, name])
        forget_problems(connection, table, name)
        problems = [problem for batch in read_file(file, table, name) for problem in batch.problems]
        keep_problems(connection, problems or ([no_row(table, name)] if empty_is_bad else []))


def _replace_file(
    connection: duckdb.DuckDBPyConnection, file: Path, name: str, facts: list[str | int], *, empty_is_bad: bool
) -> int:
    had_rows, read, problems = number(connection, _ROWS_OF_FILE, [name]) > 0, 0, 0
    arrival, table, normalised = number(connection, "SELECT nextval('arrival')"), TABLES["chat_turn"], 0
    connection.execute("CREATE OR REPLACE TEMP TABLE touched AS SELECT turn_id FROM turn_row WHERE file = ?", [name])
    connection.execute("CREATE OR REPLACE TEMP TABLE old_turn AS SELECT * FROM turn_row WHERE file = ?", [name])
    connection.execute("DELETE FROM turn_row WHERE file = ?", [name])
    forget_problems(connection, table, name)
    fields = ", ".join(f'"{column}" := "{column}"' for column in table.schema.names)
    with reading_ahead(read_file(file, table, name)) as batches:
        for batch in batches:
            connection.register("batch", _with_day(batch))
            connection.execute(
                f"""INSERT INTO turn_row BY NAME
                    SELECT *, ? AS file, ? AS arrival, true AS is_current,
                           md5(to_json(struct_pack({fields}))::VARCHAR) AS row_hash
                    FROM batch""",
                [name, arrival],
            )
            connection.execute("INSERT INTO touched SELECT turn_id FROM batch")
            connection.unregister("batch")
            keep_problems(connection, batch.problems)
            normalised += batch.normalised
            read, problems = read + batch.rows.num_rows, problems + len(batch.problems)
    if had_rows and (empty_is_bad or problems) and not read:
        raise _NothingReadError
    if empty_is_bad and not read and not problems:
        keep_problems(connection, [no_row(table, name)])
    # A turn may stand in several files: of those rows, the one that arrived last counts.
    connection.execute(
        """UPDATE turn_row SET is_current = (turn_row.arrival = newest.arrival)
           FROM (SELECT turn_id, max(arrival) AS arrival FROM turn_row SEMI JOIN touched USING (turn_id)
                 GROUP BY turn_id HAVING count(*) > 1 OR NOT bool_or(is_current)) AS newest
           WHERE turn_row.turn_id = newest.turn_id"""
    )
    changed = "FROM old_turn UNION ALL SELECT day, session_id FROM turn_row SEMI JOIN touched USING (turn_id)"
    forget_log_versions(connection, f"SELECT day, session_id {changed}")
    keep_replaced_turns(connection)
    connection.execute("DROP TABLE touched")
    connection.execute("INSERT OR REPLACE INTO log_file VALUES (?, ?, ?, ?, ?, ?)", [name, *facts, arrival, normalised])
    return read


CHUNK_ROWS = 10_000
"""Rows that one thread of DuckDB takes at a time."""


def _with_day(batch: Batch) -> pa.Table:
    local = pc.local_timestamp(batch.rows["turn_at"].cast(pa.timestamp("us", KST.key)))
    rows = batch.rows.append_column("day", local.cast(pa.date32(), safe=False))
    rows = rows.append_column("line", pa.array(batch.lines, pa.int64()))
    # As one chunk, all of them would be a single thread's.
    return pa.Table.from_batches(rows.to_batches(CHUNK_ROWS), rows.schema)
