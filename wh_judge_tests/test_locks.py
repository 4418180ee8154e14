"""One process works at a time; whoever waits says so once."""

import logging
import os
import threading
from pathlib import Path

import pytest

from wh_judge import locks
from wh_judge.errors import UserError
from wh_judge.locks import alone
from wh_judge_tests.holder import hold_lock


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "a.lock"


def test_whoever_holds_it_stands_in_it(path: Path) -> None:
    for _ in range(2):
        with alone(path):
            assert path.read_text() == f"{os.getpid()}\n"


def test_a_process_that_is_killed_lets_go(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with hold_lock(path) as process:
        threading.Timer(0.3, process.kill).start()
        with alone(path):
            assert process.wait() != 0
    assert caplog.messages == [], "a short wait is silent"


def test_whoever_waits_says_so_once(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(locks, "SILENT_SECONDS", 0.1)
    with hold_lock(path) as process, caplog.at_level(logging.WARNING):
        for _ in range(2):
            with pytest.raises(UserError) as error, alone(path, most=0.4):
                pass
    assert str(error.value) == f"{path}: another wh-judge is at work (PID {process.pid}); wait for it to end"
    assert caplog.messages == [f"{path}: waiting for another wh-judge that is at work (PID {process.pid})"]


def test_what_fails_inside_lets_go(path: Path) -> None:
    with pytest.raises(ValueError), alone(path):
        raise ValueError
    with alone(path, most=0.0):
        pass
