"""What lies in `data/inbox/rejected/`: files of the inbox in which no row can be read, with their reasons beside."""

import errno
import filecmp
import hashlib
import os
import time
from collections.abc import Sequence
from pathlib import Path

from wh_judge.errors import UserError
from wh_judge.inbox import REJECTED, Seen, is_quiet
from wh_judge.inputs import files_of
from wh_judge.rowwise import Problem

REASON = ".reason.txt"
MOST_NAMESAKES = 999
"""Rejected files of one name that are kept apart."""
NAME_BYTES = 255
"""The longest name of a file."""


def was_rejected(inbox: Path) -> set[Path]:
    """What the files that were set aside, and are still there, were called in the inbox; some more names besides."""
    folder = inbox / REJECTED
    if not folder.is_dir():
        return set()
    names = {file.relative_to(folder) for file in files_of(folder)}
    names |= {_without_number(name) for name in names}
    return {inbox / name for name in names}


def _without_number(name: Path) -> Path:
    return Path(*name.parts[1:]) if len(name.parts) > 1 and name.parts[0].isdigit() else name


def changed_since(inbox: Path) -> list[Path]:
    """The files that changed after they were set aside, such as one whose writer went on; not those being written."""
    folder, now = inbox / REJECTED, time.time()
    if not folder.is_dir():
        return []
    return [file for file in files_of(folder) if _has_changed(file) and is_quiet(file, now)]


def _has_changed(file: Path) -> bool:
    try:
        return reason_of(file).lstat().st_mtime_ns != file.lstat().st_mtime_ns
    except OSError:
        return False  # Nobody set it aside.


def put_back(inbox: Path, file: Path) -> Path | None:
    """Move a file that was set aside back to where it lay in the inbox; None where another file lies there now."""
    place = inbox / _without_number(file.relative_to(inbox / REJECTED))
    if os.path.lexists(place):
        return None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        file.rename(place)
        reason_of(file).unlink(missing_ok=True)
    except FileExistsError:
        return None  # What was the folder is a file now.
    except OSError as error:
        raise UserError(
            f"{file}: changed after it was set aside, and cannot be moved back to {place}: {error.strerror}; move it"
        ) from None
    return place


def reject(inbox: Path, file: Path, seen: Seen, problems: Sequence[Problem]) -> Path | None:
    """Move a file in which nothing can be read to `rejected/`, with its reasons beside it.

    Another file of its name that was set aside before stays: this one goes into a folder `2`, `3` … there. The reasons
    get the file's time of change, by which `changed_since` knows a file that was not to go.

    Returns:
        Where it is now; None where it is no longer as it was seen, and stays.

    Raises:
        UserError: it cannot be moved there.
    """
    relative = file.relative_to(inbox)
    reasons = "".join(f"{problem}\n" for problem in problems)
    folders = (inbox / REJECTED / str(number or "") for number in (0, *range(2, MOST_NAMESAKES + 1)))
    try:
        place = next((folder / relative for folder in folders if _is_free(folder / relative, file)), None)
        if place is None:
            raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
        place.parent.mkdir(parents=True, exist_ok=True)
        reason_of(place).write_text(reasons, encoding="utf-8", errors="backslashreplace")
        mtime_ns = seen.mtime_ns if not file.is_symlink() else file.lstat().st_mtime_ns
        os.utime(reason_of(place), ns=(mtime_ns, mtime_ns))
        if _facts(file) != seen[:3]:
            reason_of(place).unlink()
            return None
        file.replace(place)
    except OSError as error:
        place = inbox / REJECTED / relative
        raise UserError(
            f"{file}: holds no row, and cannot be moved to {place}: {error.strerror}; move it away"
        ) from None
    return place


def _facts(file: Path) -> tuple[int, int, int]:
    found = file.stat()
    return found.st_size, found.st_mtime_ns, found.st_ino


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
