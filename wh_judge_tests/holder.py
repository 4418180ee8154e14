"""Other processes that hold something: a DuckDB file open, or the lock of whoever works."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_OPEN = """
import sys, time, duckdb
connection = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "True")
print("held", flush=True)
time.sleep(120)
"""

_LOCK = """
import pathlib, sys, time
from wh_judge.locks import alone
with alone(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(120)
"""


@contextmanager
def process_that_holds(code: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A process of this code, once it has said that it holds what it is to hold; it ends with the block."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


@contextmanager
def hold(path: Path, *, read_only: bool = False) -> Iterator[subprocess.Popen[str]]:
    """The process that holds the DuckDB file; it ends with the block."""
    with process_that_holds(_OPEN, path, read_only) as process:
        yield process


@contextmanager
def hold_lock(path: Path) -> Iterator[subprocess.Popen[str]]:
    """The process that works alone, as the command line does; it ends with the block."""
    with process_that_holds(_LOCK, path) as process:
        yield process
