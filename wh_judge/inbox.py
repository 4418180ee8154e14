"""The inbox: files put into `data/inbox/`. One still being written is left alone, one without a row waits.

Log files lie in it anywhere; its folders `cards/`, `lexicon/` and `gold/` hold files of the small tables. What becomes
of files that wait in vain is in `wh_judge.rejected`.
"""

import hashlib
import json
import os
import stat
import time
from pathlib import Path
from typing import NamedTuple

from wh_judge.inputs import TABLES, InputTable, file_name, files_of

QUIET_SECONDS = 5.0
"""A file that changed within so many seconds may still be being written."""
CLOCK_SECONDS = 3600.0
"""No machine that shares the folder has a clock that is ahead by more."""

REJECT_SECONDS = 600.0
"""A file without a row is given up when it stayed as it is for so long: an export that asks a slow database, or comes
over a slow line, opens its file minutes before it writes the first row."""
UNFINISHED = frozenset({".part", ".partial", ".tmp", ".crdownload", ".download", ".filepart"})
"""What names end in while browsers and other programs are still writing; they rename the file when it is complete."""

REJECTED = "rejected"
_WAITING = ".waiting.json"
"""In the inbox, so that the sensor, which must not wait for the warehouse, can tell which files hold no row."""
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
    return [file for file in files_of(folder) if file.suffix.lower() not in UNFINISHED and is_quiet(file, now)]


def is_quiet(file: Path, now: float) -> bool:
    """Whether nobody writes the file, as far as its times tell.

    A copy may keep a time of change that lies ahead; then the time counts at which it came here. Where that lies far
    ahead too, the clock was set back, and whoever had written the file since would have left a time of now.
    """
    try:
        # A link that leads to no file is looked at itself, so that reading it says so.
        found = file.stat() if file.exists() else file.lstat()
    except OSError:
        return False
    changed = found.st_mtime if found.st_mtime <= now else found.st_ctime
    return _lies_back(changed, now, QUIET_SECONDS)


def _lies_back(changed: float, now: float, seconds: float) -> bool:
    return changed <= now - seconds or changed > now + CLOCK_SECONDS


class Seen(NamedTuple):
    """A file as it was at some moment."""

    size: int
    mtime_ns: int
    inode: int
    sha256: str


def see(file: Path) -> Seen | None:
    """A file as it is now; None where it cannot be read, or is being written meanwhile."""
    try:
        before = file.stat()
        if not stat.S_ISREG(before.st_mode):
            return None
        with file.open("rb") as content:
            sha256 = hashlib.file_digest(content, "sha256").hexdigest()
        after = file.stat()
    except OSError:
        return None
    found = Seen(before.st_size, before.st_mtime_ns, before.st_ino, sha256)
    return found if found[:3] == (after.st_size, after.st_mtime_ns, after.st_ino) else None


def waiting(inbox: Path) -> dict[str, str]:
    """The files in which no row could be read, by the names that problems call them, with the hash of what was read."""
    try:
        return dict(json.loads((inbox / _WAITING).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def note_waiting(inbox: Path, files: dict[str, str]) -> None:
    """Write down which files wait; a reader sees the old list or the new one."""
    if files == waiting(inbox):
        return
    partial = inbox / f"{_WAITING}.{os.getpid()}"
    partial.write_text(json.dumps(files), encoding="utf-8")
    partial.replace(inbox / _WAITING)


def overdue_files(inbox: Path) -> list[Path]:
    """The files that wait and have stayed as they are for `REJECT_SECONDS`, as far as their times tell.

    The time of the last change of anything counts, too, such as that at which a file was put there.
    """
    noted, now = waiting(inbox), time.time()
    if not noted:
        return []
    tables = [TABLES[name] for name in TABLES if name != "chat_turn"]
    files = [*ready_files(inbox), *(file for table in tables for file in later_files(inbox, table))]
    return [file for file in files if file_name(inbox, file) in noted and _has_rested(file, now)]


def _has_rested(file: Path, now: float) -> bool:
    try:
        found = file.stat()
    except OSError:
        return False
    times = [found.st_ctime, *([found.st_mtime] if found.st_mtime <= now else [])]
    return all(_lies_back(changed, now, REJECT_SECONDS) for changed in times)
