"""Processes and how long they take."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple


class Took(NamedTuple):
    """What one process took."""

    seconds: float
    cpu: float
    """Seconds of processors, of the system's part too. Where others use the machine, this is what stays comparable."""
    gigabytes: float
    """The most memory that it and its own processes held at a time."""


def run(
    command: Sequence[str | Path], environment: Mapping[str, str] | None = None, sound: Sequence[int] = (0,)
) -> Took:
    """Run a process to its end.

    Raises:
        RuntimeError: it ended with none of the exit codes that are sound.
    """
    begun = time.perf_counter()
    process = subprocess.Popen(
        [str(part) for part in command], env=os.environ | dict(environment or {}), stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    watch = _Memory(process.pid)
    watch.start()
    told = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    watch.ended.set()
    watch.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in sound:
        raise RuntimeError(f"{command}: exit code {process.returncode}\n{told[-2000:]}")
    gigabytes = max(usage.ru_maxrss, watch.most) / 1024**2
    return Took(time.perf_counter() - begun, usage.ru_utime + usage.ru_stime, gigabytes)


class _Memory(threading.Thread):
    """Looks now and then at how much memory a process and all that it started hold together, in KiB."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.most = 0
        self.ended = threading.Event()
        self._process = process

    def run(self) -> None:
        while not self.ended.wait(0.5):
            self.most = max(self.most, sum(_held(process) for process in _family(self._process)))


def _family(process: int) -> list[int]:
    """A process and all that it started, as far as they are alive."""
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
        children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []
    return [process, *(one for child in children for one in _family(child))]


def _held(process: int) -> int:
    """Memory of its own in KiB: what it shares with others is its program and its libraries."""
    try:
        _, resident, shared = Path(f"/proc/{process}/statm").read_text().split()[:3]
    except OSError:
        return 0
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE") // 1024


def python(code: str) -> list[str]:
    """A process of this Python that runs the code."""
    return [sys.executable, "-c", code]


def module(name: str, *arguments: object) -> list[str]:
    """A process of this Python that runs the module."""
    return [sys.executable, "-m", name, *map(str, arguments)]


def middle(runs: Sequence[Took]) -> Took:
    """The median of each figure; of the memory the most."""
    return Took(median(r.seconds for r in runs), median(r.cpu for r in runs), max(r.gigabytes for r in runs))
