"""The small tables into the warehouse, each whole, with what people decided on it."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import duckdb
import pyarrow as pa

from wh_judge.inbox import later_files, note_waiting, see, waiting
from wh_judge.ingest import read_file, read_layers
from wh_judge.inputs import TABLES, InputTable, file_name, files_of, input_path
from wh_judge.review.decisions import Decision
from wh_judge.review.effects import TABLE_EFFECTS, digest_for
from wh_judge.rowwise import Batch, Problem
from wh_judge.settings import Settings
from wh_judge.store import transaction
from wh_judge.store.decisions import note_effects
from wh_judge.store.log_files import file_hash
from wh_judge.store.problems import forget_problems, keep_problems, no_row
from wh_judge.store.schema import number, one
from wh_judge.store.versions import keep_versions


def signature(path: Path | None, later: Mapping[str, Path], decided: str = "") -> str:
    """Hash of the names and the contents of an input's files, and of what decisions change in it."""
    digest = hashlib.sha256()
    named = {file_name(path, file): file for file in files_of(path)} if path else {}
    for name, file in [*named.items(), *later.items()]:
        try:
            content = file_hash(file)
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
    return [no_row(table, name) for name in empty if name not in told]


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
        forget_problems(connection, table)
        keep_problems(connection, batch.problems)
        keep_versions(connection, table)
        note_effects(connection, table.name, of_files, decisions)
    return batch
