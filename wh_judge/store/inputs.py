"""What came in: decisions, the log among the inputs, the inbox and the files that wait there."""

from collections.abc import Sequence
from pathlib import Path

import duckdb

from wh_judge.inbox import REJECTED, note_waiting, overdue_files, ready_files, see, waiting
from wh_judge.inputs import TABLES, file_name, files_of, input_path
from wh_judge.rejected import changed_since, put_back, reject, was_rejected
from wh_judge.rowwise import Problem
from wh_judge.settings import Settings
from wh_judge.store import transaction
from wh_judge.store.decisions import keep_decisions
from wh_judge.store.log_files import ingest_files, ingest_log
from wh_judge.store.problems import forget_problems, keep_problems, read_problems
from wh_judge.store.schema import one


def bring_in(connection: duckdb.DuckDBPyConnection, settings: Settings) -> list[str]:
    """Bring in the decisions, then the log files that are new or changed: those among the inputs, those in the inbox.

    A file in the inbox of which no row can be read waits there; where it stays as it is, it is moved to the folder
    `rejected`. One that changed after it was moved is put back first.

    Returns:
        Names of the files that were read or moved.
    """
    keep_decisions(connection, settings)
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
        keep_problems(
            connection, [Problem("chat_turn", file_name(inbox, file), None, "noted", reason, None) for file in files]
        )


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
                forget_problems(connection, TABLES["chat_turn"], name)
                connection.execute("DELETE FROM log_file WHERE name = ?", [name])
