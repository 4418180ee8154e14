"""Files into the warehouse: the log file by file, the small tables whole."""

import errno
import hashlib
import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from wh_judge.inbox import REJECTED, later_files, note_waiting, overdue_files, ready_files, see, waiting
from wh_judge.ingest import (
    KST,
    TABLES,
    Batch,
    InputTable,
    Problem,
    file_name,
    files_of,
    input_path,
    read_file,
    read_layers,
)
from wh_judge.rejected import changed_since, put_back, reject, was_rejected
from wh_judge.review.decisions import Decision
from wh_judge.review.effects import TABLE_EFFECTS, digest_for
from wh_judge.settings import Settings
from wh_judge.store import transaction
from wh_judge.store.decisions import decisions_of, keep_decisions, note_effects
from wh_judge.store.schema import number, one
from wh_judge.store.versions import keep_replaced_turns, keep_versions

_PROBLEM_SCHEMA = pa.schema([(name, pa.int64() if name == "line" else pa.string()) for name in Problem._fields])


def bring_in(connection: duckdb.DuckDBPyConnection, settings: Settings) -> list[str]:
    """Bring in the decisions, then the log files that are new or changed: those among the inputs, those in the inbox.

    A file in the inbox of which no row can be read waits there; where it stays as it is, it is moved to the folder
    `rejected`. One that changed after it was moved is put back first.

    Returns:
        Names of the files that were read or moved.
    """
    keep_decisions(connection, decisions_of(settings))
    log, inbox = input_path(settings.inputs, TABLES["chat_turn"]), settings.inbox
    done = ingest_log(connection, log)
    inbox.mkdir(parents=True, exist_ok=True)
    stuck = [file for file in changed_since(inbox) if put_back(inbox, file) is None]
    noted = waiting(inbox)
    for file in ready_files(inbox):
        found = ingest_files(connection, inbox, [file], empty_is_bad=True)
        done += found
        for name, rows in found.items():
            noted.pop(name, None)
            # By what was read, not by what stands there now: the file may be being written again.
            known = one(connection, "SELECT sha256 FROM log_file WHERE name = ?", [name])
            if not rows and known and known[0]:
                noted[name] = known[0]
    note_waiting(inbox, noted)
    done += [name for name in _give_up(connection, inbox) if name not in done]
    _forget_gone(connection, log, inbox)
    _tell_stuck(connection, inbox, stuck)
    return done


def _give_up(connection: duckdb.DuckDBPyConnection, inbox: Path) -> list[str]:
    """Move the files to `rejected` that hold no row and have waited in vain; their names."""
    noted, moved = waiting(inbox), []
    for file in overdue_files(inbox):
        name, seen = file_name(inbox, file), see(file)
        if seen is None or seen.sha256 != noted[name]:
            continue  # It is another one by now, and will be read.
        if reject(inbox, file, seen, read_problems(connection, file=name)):
            connection.execute("DELETE FROM log_file WHERE name = ?", [name])
            moved.append(name)
    there = {file_name(inbox, file) for file in files_of(inbox)} if noted else set()
    note_waiting(inbox, {name: sha256 for name, sha256 in noted.items() if name in there})
    return moved


def _tell_stuck(connection: duckdb.DuckDBPyConnection, inbox: Path, files: Sequence[Path]) -> None:
    """Keep which files changed after they were set aside and cannot be put back."""
    reason = "changed after it was set aside, and another file has its place; move it into the inbox by another name"
    with transaction(connection):
        connection.execute("DELETE FROM problem WHERE starts_with(file, ?)", [f"{file_name(inbox, inbox / REJECTED)}/"])
        _keep_problems(
            connection, [Problem("chat_turn", file_name(inbox, file), None, "noted", reason, None) for file in files]
        )


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
            sha256 = _sha256(file)
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


def _forget_gone(connection: duckdb.DuckDBPyConnection, log: Path, inbox: Path) -> None:
    """Forget the problems of files that brought no turn and are gone, also from where rejected files lie."""
    idle = connection.execute(
        """SELECT DISTINCT file FROM problem WHERE "table" = 'chat_turn'
           AND file NOT IN (SELECT file FROM turn_row) ORDER BY file"""
    ).fetchall()
    if not idle:
        return
    there = {file_name(log, file) for file in files_of(log)}
    there |= {file_name(inbox, file) for file in [*files_of(inbox), *was_rejected(inbox)]}
    with transaction(connection):
        for (name,) in idle:
            if name not in there:
                _forget_problems(connection, TABLES["chat_turn"], name)
                connection.execute("DELETE FROM log_file WHERE name = ?", [name])


def _sha256(file: Path) -> str:
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
        _forget_problems(connection, table, name)
        problems = [problem for batch in read_file(file, table, name) for problem in batch.problems]
        _keep_problems(connection, problems or ([_no_row(table, name)] if empty_is_bad else []))


def _no_row(table: InputTable, name: str) -> Problem:
    return Problem(table.name, name, None, "noted", "holds no row", None)


def _replace_file(
    connection: duckdb.DuckDBPyConnection, file: Path, name: str, facts: list[str | int], *, empty_is_bad: bool
) -> int:
    had_rows, read, problems = number(connection, _ROWS_OF_FILE, [name]) > 0, 0, 0
    arrival, table, normalised = number(connection, "SELECT nextval('arrival')"), TABLES["chat_turn"], 0
    connection.execute("CREATE OR REPLACE TEMP TABLE touched AS SELECT turn_id FROM turn_row WHERE file = ?", [name])
    connection.execute("CREATE OR REPLACE TEMP TABLE old_turn AS SELECT * FROM turn_row WHERE file = ?", [name])
    connection.execute("DELETE FROM turn_row WHERE file = ?", [name])
    _forget_problems(connection, table, name)
    fields = ", ".join(f'"{column}" := "{column}"' for column in table.schema.names)
    for batch in read_file(file, table, name):
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
        _keep_problems(connection, batch.problems)
        normalised += batch.normalised
        read, problems = read + batch.rows.num_rows, problems + len(batch.problems)
    if had_rows and (empty_is_bad or problems) and not read:
        raise _NothingReadError
    if empty_is_bad and not read and not problems:
        _keep_problems(connection, [_no_row(table, name)])
    # A turn may stand in several files: of those rows, the one that arrived last counts.
    connection.execute(
        """UPDATE turn_row SET is_current = (turn_row.arrival = newest.arrival)
           FROM (SELECT turn_id, max(arrival) AS arrival FROM turn_row SEMI JOIN touched USING (turn_id)
                 GROUP BY turn_id HAVING count(*) > 1 OR NOT bool_or(is_current)) AS newest
           WHERE turn_row.turn_id = newest.turn_id"""
    )
    keep_replaced_turns(connection)
    connection.execute("DROP TABLE touched")
    connection.execute("INSERT OR REPLACE INTO log_file VALUES (?, ?, ?, ?, ?, ?)", [name, *facts, arrival, normalised])
    return read


def _with_day(batch: Batch) -> pa.Table:
    local = pc.local_timestamp(batch.rows["turn_at"].cast(pa.timestamp("us", KST.key)))
    rows = batch.rows.append_column("day", local.cast(pa.date32(), safe=False))
    return rows.append_column("line", pa.array(batch.lines, pa.int64()))


def _forget_problems(connection: duckdb.DuckDBPyConnection, table: InputTable, file: str | None = None) -> None:
    connection.execute('DELETE FROM problem WHERE "table" = ? AND (file = ? OR ? IS NULL)', [table.name, file, file])


def _keep_problems(connection: duckdb.DuckDBPyConnection, problems: Sequence[Problem]) -> None:
    for chunk in itertools.batched(problems, 10_000) if hasattr(itertools, "batched") else [problems]:
        rows = pa.Table.from_pylist([problem._asdict() for problem in chunk], schema=_PROBLEM_SCHEMA)
        connection.register("problems", rows)
        connection.execute("INSERT INTO problem BY NAME SELECT * FROM problems")
        connection.unregister("problems")


def signature(path: Path | None, later: Mapping[str, Path], decided: str = "") -> str:
    """Hash of the names and the contents of an input's files, and of what decisions change in it."""
    digest = hashlib.sha256()
    named = {file_name(path, file): file for file in files_of(path)} if path else {}
    for name, file in [*named.items(), *later.items()]:
        try:
            content = _sha256(file)
        except OSError as error:
            content = str(error.strerror)
        digest.update(f"{name}\0{content}\0".encode())
    digest.update(decided.encode())
    return digest.hexdigest()


def later_named(inbox: Path | None, table: InputTable) -> dict[str, Path]:
    """The files of a small table in the inbox, by the names that problems call them."""
    return {file_name(inbox, file): file for file in later_files(inbox, table)} if inbox else {}


def labels_of_files(settings: Settings) -> list[dict[str, Any]]:
    """The labels as files have them, without any decision."""
    table = TABLES["gold_label"]
    path = input_path(settings.inputs, table, optional=True)
    rows: list[dict[str, Any]] = read_layers(path, later_named(settings.inbox, table), table).rows.to_pylist()
    return rows


def is_known(
    connection: duckdb.DuckDBPyConnection,
    table: InputTable,
    path: Path | None,
    inbox: Path | None = None,
    more: Mapping[str, Path] = MappingProxyType({}),
    decisions: Sequence[Decision] = (),
) -> bool:
    """Whether the files of an input, and the decisions on it, are those of last time; `more` as for `replace_table`."""
    row = one(connection, 'SELECT signature FROM input_file WHERE "table" = ?', [table.name])
    files, decided = later_named(inbox, table) | dict(more), digest_for(table.name, decisions)
    return row is not None and row[0] == signature(path, files, decided)


def read_problems(
    connection: duckdb.DuckDBPyConnection, table: InputTable | None = None, file: str | None = None
) -> list[Problem]:
    """What a person should look at in the files of a table, or in one file, or in all."""
    rows = connection.execute(
        """SELECT * FROM rejected_rows WHERE ("table" = $1 OR $1 IS NULL) AND (file = $2 OR $2 IS NULL)
           ORDER BY "table", file, line, reason""",
        [table.name if table else None, file],
    ).fetchall()
    return [Problem(*row) for row in rows]


def has_rows(connection: duckdb.DuckDBPyConnection, table: InputTable) -> bool:
    """Whether the warehouse holds rows of a small table."""
    return number(connection, f"SELECT count(*) FROM (SELECT 1 FROM {table.name} LIMIT 1)") > 0


def _note_empty(inbox: Path, files: Mapping[str, Path], table: InputTable, told: Collection[str]) -> list[Problem]:
    """Note the files of a small table in which no row can be read; a problem for each of which nothing was told."""
    noted, empty = {name: sha256 for name, sha256 in waiting(inbox).items() if name not in files}, []
    for name, file in files.items():
        seen = see(file)
        if any(part.rows.num_rows for part in read_file(file, table, name)):
            continue
        empty.append(name)
        if seen and seen == see(file):
            noted[name] = seen.sha256
    note_waiting(inbox, noted)
    return [_no_row(table, name) for name in empty if name not in told]


def replace_table(
    connection: duckdb.DuckDBPyConnection,
    table: InputTable,
    path: Path | None,
    inbox: Path | None = None,
    more: Mapping[str, Path] = MappingProxyType({}),
    decisions: Sequence[Decision] = (),
) -> Batch:
    """Bring in a small table whole, with what was decided on it, in one transaction.

    A file of them in the inbox of which no row can be read is noted, so that `bring_in` moves it when it stays so.
    `more` are files that count over all others, by the names that problems call them.
    """
    # Taken before the files are read: a file that is swapped in between is then read once more, not never.
    dropped = later_named(inbox, table)
    later = dropped | dict(more)
    signed = signature(path, later, digest_for(table.name, decisions))
    batch = read_layers(path, later, table)
    if inbox and inbox.is_dir():
        batch.problems.extend(_note_empty(inbox, dropped, table, {problem.file for problem in batch.problems}))
    of_files = batch.rows.to_pylist() if decisions else []
    if decisions:
        rows = TABLE_EFFECTS[table.name](of_files, decisions)
        batch = replace(batch, rows=pa.Table.from_pylist(rows, schema=table.schema))
    rows = batch.rows
    version = ""
    if table.name == "topic_lexicon":
        rows = rows.append_column("position", pa.array(range(rows.num_rows), pa.int64()))
    if table.name == "character_card":
        version = ", md5(to_json(batch)::VARCHAR) AS version"
    with transaction(connection):
        connection.register("batch", rows)
        connection.execute("INSERT OR REPLACE INTO input_file VALUES (?, ?, ?)", [table.name, signed, list(later)])
        connection.execute(f"DELETE FROM {table.name}")
        connection.execute(f"INSERT INTO {table.name} BY NAME SELECT *{version} FROM batch")
        connection.unregister("batch")
        _forget_problems(connection, table)
        _keep_problems(connection, batch.problems)
        keep_versions(connection, table)
        note_effects(connection, table.name, of_files, decisions)
    return batch
