"""The inbox: files put into `data/inbox/`. One still being written is left alone, a bad one is set aside.

Log files lie in it anywhere; its folders `cards/`, `lexicon/` and `gold/` hold files of the small tables.
"""

import time
from collections.abc import Sequence
from pathlib import Path

from wh_judge.errors import UserError
from wh_judge.ingest import TABLES, InputTable, Problem, files_of

QUIET_SECONDS = 5.0
"""A file that changed within so many seconds may still be being written."""

REJECTED = "rejected"
_SMALL = frozenset(table.place for table in TABLES.values() if table.name != "chat_turn")


def ready_files(inbox: Path) -> list[Path]:
    """The log files that are complete as far as can be seen, in order of name."""
    return [file for file in _quiet_files(inbox, inbox) if file.relative_to(inbox).parts[0] not in {REJECTED, *_SMALL}]


def later_files(inbox: Path, table: InputTable) -> list[Path]:
    """The complete files of a small table, in order of name: each counts over the inputs and the ones before it."""
    return _quiet_files(inbox, inbox / table.place)


def _quiet_files(inbox: Path, folder: Path) -> list[Path]:
    # A link in the inbox could lead anywhere, so a table's folder must be one itself.
    if not folder.is_dir() or (folder != inbox and folder.is_symlink()):
        return []
    now = time.time()
    return [file for file in files_of(folder) if _quiet_since(file) <= now - QUIET_SECONDS]


def _quiet_since(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return float("inf")


def reject(inbox: Path, file: Path, problems: Sequence[Problem]) -> Path:
    """Move a file in which nothing can be read to `rejected/`, with its reasons beside it; returns where it is now.

    Raises:
        UserError: it cannot be moved there.
    """
    place = inbox / REJECTED / file.relative_to(inbox)
    reasons = "".join(f"{problem}\n" for problem in problems) or f"{file.name}: holds no row\n"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.with_name(place.name + ".reason.txt").write_text(reasons, encoding="utf-8", errors="backslashreplace")
        file.replace(place)
    except OSError as error:
        raise UserError(
            f"{file}: holds no row, and cannot be moved to {place}: {error.strerror}; move it away"
        ) from None
    return place
