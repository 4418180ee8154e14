"""`wh-judge screen` in a process of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def started(folder: Path, *flags: str, **environment: str) -> subprocess.Popen[str]:
    """A screen over a folder, in a process that has just begun."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("WH_JUDGE")}
    return subprocess.Popen(
        [str(Path(sys.executable).with_name("wh-judge")), "screen", "--port", "0", "--data", str(folder), *flags],
        cwd=folder,
        env=known | environment,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


@contextmanager
def served(folder: Path, *flags: str, **environment: str) -> Iterator[str]:
    """The address that a screen over a folder prints."""
    process = started(folder, *flags, **environment)
    try:
        assert process.stderr
        yield process.stderr.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
