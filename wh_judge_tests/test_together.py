"""What `make ui` and `make serve` run their servers with."""

import signal
import subprocess
import sys

import pytest

from wh_judge_tests.documents import ROOT

TOGETHER = [sys.executable, str(ROOT / "tools" / "together.py")]
SLEEP = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"]


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_all_end_when_it_is_told_to(told: signal.Signals) -> None:
    with subprocess.Popen([*TOGETHER, *SLEEP, "--", *SLEEP], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and [process.stdout.readline() for _ in "12"] == ["up\n"] * 2
        process.send_signal(told)
        # The pipe ends with the last process that has it.
        assert process.stdout.read() == ""
    assert process.returncode == 128 + told


def test_when_one_ends_the_others_do_and_its_code_is_told() -> None:
    ending = [sys.executable, "-c", "raise SystemExit(7)"]
    assert subprocess.run([*TOGETHER, *SLEEP, "--", *ending], timeout=60, check=False).returncode == 7
