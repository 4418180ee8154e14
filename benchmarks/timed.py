"""Processes and how long they take."""

import os
import subprocess
import sys
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
    """The most memory that it held."""


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
    told = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in sound:
        raise RuntimeError(f"{command}: exit code {process.returncode}\n{told[-2000:]}")
    return Took(time.perf_counter() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024**2)


def python(code: str) -> list[str]:
    """A process of this Python that runs the code."""
    return [sys.executable, "-c", code]


def module(name: str, *arguments: object) -> list[str]:
    """A process of this Python that runs the module."""
    return [sys.executable, "-m", name, *map(str, arguments)]


def middle(runs: Sequence[Took]) -> Took:
    """The median of each figure; of the memory the most."""
    return Took(median(r.seconds for r in runs), median(r.cpu for r in runs), max(r.gigabytes for r in runs))
