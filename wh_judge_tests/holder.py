"""Another process that has a DuckDB file open."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_CODE = """
import sys, time, duckdb
connection = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "True")
print("open", flush=True)
time.sleep(120)
"""


@contextmanager
def hold(path: Path, *, read_only: bool = False) -> Iterator[subprocess.Popen[str]]:
    """The process that holds the file; it ends with the block."""
    command = [sys.executable, "-c", _CODE, str(path), str(read_only)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "open\n"
            yield process
        finally:
            process.kill()
