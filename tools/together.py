"""Runs several servers until one of them ends or this process is told to: `python together.py COMMAND... -- COMMAND...`

A shell cannot: what it starts in the background ignores Ctrl-C, and Dagster takes its other signals from that one.
"""

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable


def main() -> int:
    """Exit code 128 and the signal's number where a signal ended it, else that of the server which ended first."""
    parts = itertools.groupby(sys.argv[1:], key=lambda word: word == "--")
    commands = [list(words) for is_mark, words in parts if not is_mark]
    early: list[int] = []
    _on_signal(early.append)
    running: list[subprocess.Popen[bytes]] = []
    try:
        for command in commands:
            running.append(subprocess.Popen(command))
        # Only now: a signal amid a start would leave behind a server that nobody knows of.
        _on_signal(lambda number: sys.exit(128 + number))
        if early:
            return 128 + early[0]
        ended, status = os.wait()
        for server in running:
            if server.pid == ended:
                server.returncode = os.waitstatus_to_exitcode(status)
        return os.waitstatus_to_exitcode(status)
    finally:
        for server in running:
            server.terminate()
        for server in running:
            server.wait()


def _on_signal(act: Callable[[int], object]) -> None:
    for told in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(told, lambda number, _frame: act(number))


if __name__ == "__main__":
    sys.exit(main())
