"""Which inputs are not as they were when they were read last. Nothing of the log is read for that."""

from pathlib import Path

import duckdb

from wh_judge.inbox import ready_files
from wh_judge.inputs import TABLES, file_name, files_of, input_path
from wh_judge.rejected import changed_since
from wh_judge.settings import Settings
from wh_judge.store.votes import is_read


def unread_inputs(connection: duckdb.DuckDBPyConnection, settings: Settings) -> list[str]:
    """The small inputs whose files are not those that were brought in last, and the log files that changed or are new.

    Log files count by size and time of change; those in the inbox that are still being written do not count yet.
    """
    small = [table for table in TABLES.values() if table.name != "chat_turn"]
    places = [table.place for table in small if not is_read(connection, settings, table)]
    return places + _unread_log(connection, settings)


def _unread_log(connection: duckdb.DuckDBPyConnection, settings: Settings) -> list[str]:
    log, inbox = input_path(settings.inputs, TABLES["chat_turn"]), settings.inbox
    files = [(log, file) for file in files_of(log)]
    files += [(inbox, file) for file in [*ready_files(inbox), *changed_since(inbox)]]
    rows = connection.execute("SELECT name, size, mtime_ns FROM log_file").fetchall()
    known = {name: (size, mtime_ns) for name, size, mtime_ns in rows}
    # What is no file, such as a link that leads nowhere, is told as a problem and never counts as read.
    return [
        name
        for place, file in files
        if file.is_file() and known.get(name := file_name(place, file)) != _size_and_time(file)
    ]


def _size_and_time(file: Path) -> tuple[int, int]:
    stat = file.stat()
    return stat.st_size, stat.st_mtime_ns
