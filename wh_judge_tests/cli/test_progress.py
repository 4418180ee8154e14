"""The progress bar: on a terminal, and nowhere else."""

import os
import pty
import subprocess
import sys

import pytest

CODE = """
from wh_judge.cli.progress import bar
with bar() as told:
    for day in range(3):
        told(f"day {day}", day, 3)
print("done")
"""


def output(stderr: int, **variables: str) -> str:
    """What the process prints to stdout."""
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        env=os.environ | {"TERM": "xterm"} | variables,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        check=True,
    )
    return done.stdout


def test_on_a_terminal_progress_is_shown_on_stderr() -> None:
    master, slave = pty.openpty()
    try:
        assert output(slave) == "done\n"
        shown = os.read(master, 100_000).decode()
    finally:
        os.close(slave)
        os.close(master)
    assert "day 2" in shown


@pytest.mark.parametrize(
    "variables", [{}, {"FORCE_COLOR": "1"}, {"TTY_COMPATIBLE": "1"}], ids=["plain", "colour", "tty"]
)
def test_elsewhere_there_is_none(variables: dict[str, str]) -> None:
    read, write = os.pipe()
    try:
        assert output(write, **variables) == "done\n"
    finally:
        os.close(write)
    with os.fdopen(read) as shown:
        assert shown.read() == ""
