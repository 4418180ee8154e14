"""The inbox: files put into `data/inbox/`. One still being written is left alone, a bad one is set aside.

Log files lie in it anywhere; its folders `cards/`, `lexicon/` and `gold/` hold files of the small tables.
"""

import errno
import filecmp
import hashlib
import os
import time
from collections.abc import Sequence
from pathlib import Path

from wh_judge.errors import UserError
from wh_judge.ingest import TABLES, InputTable, Problem, files_of

QUIET_SECONDS = 5.0
"""A file that changed within so many seconds may still be being written."""
CLOCK_SECONDS = 3600.0
"""No machine that shares the folder has a clock that is ahead by more."""

REJECTED, REASON = "rejected", ".reason.txt"
MOST_NAMESAKES = 999
"""Rejected files of one name that are kept apart."""
NAME_BYTES = 255
"""The longest name of a file."""
_SMALL = frozenset(table.place for table in TABLES.values() if table.name != "chat_turn")


def ready_files(inbox: Path) -> list[Path]:
    """The log files that are complete as far as can be seen, in order of name."""
    return [file for file in _quiet_files(inbox, inbox) if file.relative_to(inbox).parts[0] not in {REJECTED, *_SMALL}]


def later_files(inbox: Path, table: InputTable) -> list[Path]:
    """The complete files of a small table, in order of name: each counts over the inputs and the ones before it."""
    return _quiet_files(inbox, inbox / table.place)


def was_rejected(inbox: Path) -> set[Path]:
    """What the files that were set aside, and are still there, were called in the inbox; some more names besides."""
    folder = inbox / REJECTED
    if not folder.is_dir():
        return set()
    names = {file.relative_to(folder) for file in files_of(folder)}
    names |= {Path(*name.parts[1:]) for name in names if len(name.parts) > 1 and name.parts[0].isdigit()}
    return {inbox / name for name in names}


def _quiet_files(inbox: Path, folder: Path) -> list[Path]:
    # A link in the inbox could lead anywhere, so a table's folder must be one itself.
    if not folder.is_dir() or (folder != inbox and folder.is_symlink()):
        return []
    now = time.time()
    return [file for file in files_of(folder) if _is_quiet(file, now)]


def _is_quiet(file: Path, now: float) -> bool:
    """Whether nobody writes the file, as far as its times tell.

    A copy may keep a time of change that lies ahead; then the time counts at which it came here. Where that lies far
    ahead too, the clock was set back, and whoever had written the file since would have left a time of now.
    """
    try:
        # A link that leads to no file is looked at itself, so that reading it says so.
        stat = file.stat() if file.exists() else file.lstat()
    except OSError:
        return False
    changed = stat.st_mtime if stat.st_mtime <= now else stat.st_ctime
    return changed <= now - QUIET_SECONDS or changed > now + CLOCK_SECONDS


def reject(inbox: Path, file: Path, problems: Sequence[Problem]) -> Path:
    """Move a file in which nothing can be read to `rejected/`, with its reasons beside it; returns where it is now.

    Another file of its name that was set aside before stays: this one goes into a folder `2`, `3` … there.

    Raises:
        UserError: it cannot be moved there.
    """
    relative = file.relative_to(inbox)
    reasons = "".join(f"{problem}\n" for problem in problems) or f"{file.name}: holds no row\n"
    folders = (inbox / REJECTED / str(number or "") for number in (0, *range(2, MOST_NAMESAKES + 1)))
    try:
        place = next((folder / relative for folder in folders if _is_free(folder / relative, file)), None)
        if place is None:
            raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
        place.parent.mkdir(parents=True, exist_ok=True)
        reason_of(place).write_text(reasons, encoding="utf-8", errors="backslashreplace")
        file.replace(place)
    except OSError as error:
        place = inbox / REJECTED / relative
        raise UserError(
            f"{file}: holds no row, and cannot be moved to {place}: {error.strerror}; move it away"
        ) from None
    return place


def reason_of(place: Path) -> Path:
    """Where the reasons for a rejected file stand; a name that would be too long with them is cut."""
    name = place.name
    if len(os.fsencode(name)) > NAME_BYTES - len(REASON):
        digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:8]
        while len(os.fsencode(name)) > NAME_BYTES - len(REASON) - len(digest) - 1:
            name = name[:-1]
        name += f"-{digest}"
    return place.with_name(name + REASON)


def _is_free(place: Path, file: Path) -> bool:
    """Whether a file can be set aside there with its reasons, and takes the place of nothing but its own copy."""
    above = next(folder for folder in place.parents if os.path.lexists(folder))
    if not above.is_dir():
        # Where even the first folder is none, a person has to look; that is said when it is tried.
        return above.name == REJECTED
    # What was set aside earlier may be called as the reasons would be; it then has reasons itself.
    reason = reason_of(place)
    if reason.is_dir() or os.path.lexists(reason_of(reason)):
        return False
    if not os.path.lexists(place):
        return True
    return place.is_file() and file.is_file() and filecmp.cmp(place, file, shallow=False)
