"""One process at a time: a file that whoever works holds locked, and in which its number stands."""

import fcntl
import logging
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from wh_judge.errors import UserError

SILENT_SECONDS = 2.0
"""How long whoever waits says nothing of it."""
_PAUSE_SECONDS = 0.1
_CLOCK_SECONDS = 120.0
"""By how much a clock may have been set since, in whose seconds the start of a process is told."""

_log = logging.getLogger(__name__)


@contextmanager
def alone(path: Path, most: float = math.inf) -> Iterator[None]:
    """Holds a lock that no other process can hold meanwhile, and that ends with this process, however that ends.

    Args:
        path: the file; made where it is missing, and left behind.
        most: seconds to wait for another one that holds it.

    Raises:
        UserError: the other one holds it for longer.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path, begun = path.absolute(), time.monotonic()
    with path.open("a+", encoding="utf-8") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                file.seek(0)
                holder, waited = file.read().strip(), time.monotonic() - begun
            if waited >= most:
                raise UserError(f"{path}: another wh-judge is at work (PID {holder}); wait for it to end")
            if waited >= SILENT_SECONDS:
                _tell(path, holder)
            time.sleep(_PAUSE_SECONDS)
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def is_held(path: Path) -> bool:
    """Whether a process holds the lock."""
    try:
        with path.open("a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def is_alive(pid: int, since: float) -> bool:
    """Whether a process that was there at a moment (seconds since 1970) is there yet.

    A number is given again: a process that began later is another one. Where the system does not tell when it began,
    any process of that number counts.
    """
    try:
        state, *rest = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        [boot] = [line for line in Path("/proc/stat").read_text("utf-8").splitlines() if line.startswith("btime ")]
    except (FileNotFoundError, ProcessLookupError):
        if Path("/proc/self/stat").exists():
            return False
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True
    began = int(boot.split()[1]) + int(rest[18]) / os.sysconf("SC_CLK_TCK")
    return state != "Z" and began <= since + _CLOCK_SECONDS


@cache
def _tell(path: Path, holder: str) -> None:
    """Once, however often this process meets the other one: each day of a range may have to wait for it."""
    _log.warning("%s: waiting for another wh-judge that is at work (PID %s)", path, holder)
