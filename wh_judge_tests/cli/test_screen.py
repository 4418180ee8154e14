"""`wh-judge screen`: the address that it prints, whom it answers, and what it refuses to start with."""

import signal
import socket
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from wh_judge_tests.cli.call import call
from wh_judge_tests.screen.server import served, started

_HERE = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def ask(address: str, **headers: str) -> tuple[int, str]:
    """The status and the text of an answer, redirects followed."""
    try:
        with _HERE.open(urllib.request.Request(address, headers=headers), timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_the_printed_address_answers_at_once_and_needs_no_token_here(tmp_path: Path) -> None:
    with served(tmp_path) as address:
        assert address.startswith("http://127.0.0.1:") and "token" not in address
        status, text = ask(address)
    assert status == 503 and "아직 공개된 판정이 없습니다" in text


def test_beyond_this_machine_the_token_is_asked_for(tmp_path: Path) -> None:
    with served(tmp_path, "--host", "0.0.0.0", "--name", "Judge.example.org", WH_JUDGE_TOKEN="s3cret") as printed:
        assert printed.startswith("http://0.0.0.0:") and printed.endswith("/?token=s3cret")
        address = printed.replace("0.0.0.0", "127.0.0.1").partition("?")[0]
        assert ask(address)[0] == 401
        assert ask(address, Authorization="Bearer s3cret")[0] == 503
        assert ask(address, Authorization="Bearer s3cret", Host="judge.example.org")[0] == 503
        assert ask(address, Authorization="Bearer s3cret", Host="evil.example")[0] == 400


def test_without_one_given_a_token_is_made_up_each_time(tmp_path: Path) -> None:
    tokens = set()
    for _ in range(2):
        with served(tmp_path, "--host", "0.0.0.0") as printed:
            address, _, token = printed.partition("?token=")
            assert ask(address.replace("0.0.0.0", "127.0.0.1"))[0] == 401
            tokens.add(token)
    assert len(tokens) == 2 and min(map(len, tokens)) >= 32


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = str(listener.getsockname()[1])
        code, _, err = call("screen", "--port", port, "--data", tmp_path)
    assert (code, "give another --port" in err) == (2, True)


@pytest.mark.parametrize("token", ["with blank", "한글", "a;b", 'a"b', "a\nb"])
def test_a_token_that_no_header_can_hold_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv("WH_JUDGE_TOKEN", token)
    code, _, err = call("screen", "--host", "0.0.0.0", "--port", "0", "--data", tmp_path)
    assert (code, err.startswith("wh-judge: WH_JUDGE_TOKEN: is no token")) == (2, True)


def test_an_address_that_is_none_is_refused(tmp_path: Path) -> None:
    code, _, err = call("screen", "--host", "203.0.113.7", "--port", "0", "--data", tmp_path)
    assert (code, "203.0.113.7:0" in err) == (2, True)


IMPORTED = """
import os, signal, time
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
except BaseException:
    raise SystemExit(7)
"""
"""A library that keeps an interruption while it is imported for itself."""


def test_an_interruption_before_it_serves_ends_it(tmp_path: Path) -> None:
    (tmp_path / "uvicorn.py").write_text(IMPORTED)
    process = started(tmp_path, PYTHONPATH=str(tmp_path))
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "")


def test_an_interruption_once_it_serves_ends_it(tmp_path: Path) -> None:
    process = started(tmp_path)
    assert process.stderr and process.stderr.readline().startswith("http://127.0.0.1:")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "")
