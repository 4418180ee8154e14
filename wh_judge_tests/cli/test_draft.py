"""`wh-judge draft`: the days that were judged, and a plain word where nothing is switched on."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from wh_judge_tests.cli.call import call
from wh_judge_tests.drafts.scripted import Step, copying, given, serving
from wh_judge_tests.house import settle

V01 = (
    "verdict: expected one of 설정대로 말함 / 말투 어긋남 / 세계관 밖 고유명사 / 금지 소재 접촉 / 앞 회차를 기억 못 함,"
    " found '합격'"
)


@pytest.fixture
def flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """A judged log, and a Dagster home of its own."""
    house = settle(tmp_path / "house")
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    return "--inputs", str(house.inputs), "--data", str(house.data)


def test_off_it_says_how_to_switch_it_on(flags: tuple[str, ...]) -> None:
    result = call("draft", "2026-09-01", "2026-09-03", *flags)
    assert (result.code, result.out) == (2, "")
    assert "drafts: names no verdict; set drafts" in result.err


def test_the_days_that_were_judged_are_drafted(
    flags: tuple[str, ...], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WH_JUDGE_FIRST_DAY", "2026-09-01")
    call("run", *flags)
    (here / "pyproject.toml").write_text(
        '[tool.wh_judge]\ndrafts_at_once = 1\ndrafts = ["금지 소재 접촉"]\n', encoding="utf-8"
    )
    with serving(copying(), copying(), copying(verdict="합격")) as script:
        monkeypatch.setenv("WH_JUDGE_DRAFTS_URL", script.url)
        monkeypatch.setenv("WH_JUDGE_DRAFTS_MODEL", "m")
        result = call("draft", "2026-09-02", "2026-09-03", *flags, "--json")
    assert result.code == 1
    document = json.loads(result.out)
    assert document["drafts"] == [
        {"model": "m", "outcome": "kept", "reason": None, "answers": 2, "turns": 2, "turn_id": "T-7", "found": None},
        {"model": "m", "outcome": "thrown_away", "reason": "v01_verdict_value", "answers": 1, "turns": 1}
        | {"turn_id": "T-18", "found": V01},
    ]
    seconds = document["summary"].pop("seconds")
    assert seconds == round(seconds, 1) and document["failed"] == {}
    assert {name: value for name, value in document["summary"].items() if value} == {
        "turns": 3,
        "kept": 2,
        "thrown_away": 1,
        "reasons": {"v01_verdict_value": 1},
        "requests": 3,
        "prompt_tokens": 3000,
        "response_tokens": 600,
    }
    assert document["summary"]["money"] is None
    again = call("draft", "2026-09-02", "2026-09-03", *flags)
    lines = again.out.splitlines()
    assert lines == [
        "m  kept  2 turns, 2 answers",
        f"m  thrown_away  v01_verdict_value  1 turn, 1 answer  such as T-18: {V01}",
    ]
    assert re.sub(r"[0-9.]+ s", "… s", again.err).splitlines()[1:] == [
        "3 turns: 2 kept, 0 default, 1 thrown away, 0 without a response",
        "  v01_verdict_value: 1 turn",
        "from the cache: 3 turns, which had used 3,600 tokens (3,000 of prompts, 600 of responses)",
        "asked now: 0 requests in … s, 0 tokens (0 of prompts, 0 of responses)",
    ]
    with serving(copying()) as script:
        monkeypatch.setenv("WH_JUDGE_DRAFTS_URL", script.url)
        monkeypatch.setenv("WH_JUDGE_DRAFTS_MODEL", "better")
        other = call("draft", "2026-09-02", "2026-09-03", *flags)
    assert other.out.splitlines() == ["better  kept  3 turns, 3 answers", *lines] and other.code == 0
    assert "no verdict of these days is one of 금지 소재 접촉" in call("draft", "2026-09-01", "2026-09-01", *flags).err


def test_days_that_were_not_judged_are_told(
    flags: tuple[str, ...], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WH_JUDGE_FIRST_DAY", "2026-09-01")
    (here / "pyproject.toml").write_text('[tool.wh_judge]\ndrafts = ["금지 소재 접촉"]\n', encoding="utf-8")
    call("run", *flags)
    days = ("draft", "2026-10-01", "2026-10-02", *flags)
    assert "no endpoint is; set WH_JUDGE_DRAFTS_URL" in call(*days).err
    monkeypatch.setenv("WH_JUDGE_DRAFTS_MODEL", "m")
    monkeypatch.setenv("WH_JUDGE_DRAFTS_URL", "nonsense")
    assert "WH_JUDGE_DRAFTS_URL: is no address" in call(*days).err
    monkeypatch.setenv("WH_JUDGE_DRAFTS_URL", "http://127.0.0.1:9/v1")
    code, out, error = call(*days)
    assert (code, out) == (2, "")
    assert "none of these days was judged; judged are 2026-09-01 to 2026-09-03; do wh-judge run first" in error


def test_killed_in_mid_work_it_goes_on_and_asks_nothing_again(
    flags: tuple[str, ...], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WH_JUDGE_FIRST_DAY", "2026-09-01")
    monkeypatch.setenv("WH_JUDGE_DRAFTS_MODEL", "m")
    call("run", *flags)
    chosen = ["금지 소재 접촉", "세계관 밖 고유명사", "앞 회차를 기억 못 함"]
    (here / "pyproject.toml").write_text(
        f"[tool.wh_judge]\ndrafts_at_once = 1\ndrafts = {json.dumps(chosen, ensure_ascii=False)}\n", encoding="utf-8"
    )
    command = [str(Path(sys.executable).parent / "wh-judge"), "draft", "2026-09-02", "2026-09-02", *flags]
    with serving(copying(), copying(), Step(seconds=30.0)) as script:
        monkeypatch.setenv("WH_JUDGE_DRAFTS_URL", script.url)
        with subprocess.Popen(command, cwd=here) as process:
            while len(script.requests) < 3 and process.poll() is None:
                time.sleep(0.05)
            process.kill()
    answered = [turn_of(request) for request in script.requests[:2]]
    assert process.returncode == -signal.SIGKILL and len(answered) == 2
    with serving(copying()) as script:
        monkeypatch.setenv("WH_JUDGE_DRAFTS_URL", script.url)
        result = call("draft", "2026-09-02", "2026-09-02", *flags, "--json")
    again = [turn_of(request) for request in script.requests]
    assert (result.code, json.loads(result.out)["drafts"][0]["turns"]) == (0, 4)
    assert sorted([*answered, *again]) == sorted(["T-6", "T-7", "T-8", "T-12"])


def turn_of(request: dict[str, Any]) -> str:
    """The turn that a model was asked about."""
    return str(given(request)["verdict"]["turn_id"])


SWITCHED_ON = '[tool.wh_judge]\ndrafts_at_once = 1\ndrafts = ["금지 소재 접촉", "세계관 밖 고유명사"]\n'


@pytest.fixture
def judged(flags: tuple[str, ...], here: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """The flags, once the log is judged and drafts are on."""
    monkeypatch.setenv("WH_JUDGE_FIRST_DAY", "2026-09-01")
    monkeypatch.setenv("WH_JUDGE_DRAFTS_MODEL", "m")
    call("run", *flags)
    (here / "pyproject.toml").write_text(SWITCHED_ON, encoding="utf-8")
    return flags


def test_on_a_terminal_it_shows_how_far_it_is(
    judged: tuple[str, ...], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [str(Path(sys.executable).parent / "wh-judge"), "draft", "2026-09-02", "2026-09-02", *judged]
    leader, follower = pty.openpty()
    with serving(copying(), Step(copying(verdict="합격").content, seconds=1.0)) as script:
        monkeypatch.setenv("WH_JUDGE_DRAFTS_URL", script.url)
        monkeypatch.setenv("COLUMNS", "120")
        with subprocess.Popen(command, cwd=here, stderr=follower, stdout=subprocess.DEVNULL):
            os.close(follower)
            shown = ""
            # The terminal is gone once the process is.
            with contextlib.suppress(OSError):
                while piece := os.read(leader, 10_000):
                    shown += piece.decode(errors="replace")
    os.close(leader)
    assert re.search(r"2026-09-02 \(1/1\) 1 kept, 0 refused, 1,200 tokens .*1/2", shown), shown


def test_a_server_that_is_not_there_ends_the_days_and_leaves_nothing(
    judged: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WH_JUDGE_DRAFTS_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setattr("wh_judge.drafts.day.FIRST_PAUSE", 0.001)
    code, out, error = call("draft", "2026-09-02", "2026-09-03", *judged)
    assert (code, out) == (1, "")
    [line] = error.splitlines()
    assert line.startswith("wh-judge: 2026-09-02 failed: http://127.0.0.1:9/v1: the connection broke: ")
    assert "start the server there, set WH_JUDGE_DRAFTS_URL to another one, or raise drafts_seconds" in line


def test_requests_are_written_and_nobody_is_asked(judged: tuple[str, ...], here: Path) -> None:
    result = call("draft", "2026-09-02", "2026-09-03", *judged, "--requests", here / "requests.jsonl")
    assert (result.code, result.out) == (0, "")
    assert "4 requests written to" in result.err and "nobody was asked" in result.err
    lines = [json.loads(line) for line in (here / "requests.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["custom_id"] for line in lines] == ["T-7", "T-8", "T-15", "T-18"]
    assert {(line["method"], line["url"], line["body"]["model"]) for line in lines} == {
        ("POST", "/v1/chat/completions", "m")
    }
    assert all(given(line["body"])["verdict"]["turn_id"] == line["custom_id"] for line in lines)
    assert {line["body"]["response_format"]["type"] for line in lines} == {"json_schema"}


def test_what_a_model_makes_of_the_requests_is_scored(judged: tuple[str, ...], here: Path) -> None:
    """There and back: as any tool would, each request is put to a server, and what came goes into a file."""
    call("draft", "2026-09-02", "2026-09-03", *judged, "--requests", here / "requests.jsonl")
    answered = []
    with serving(copying(), copying(verdict="합격"), copying(), Step(status=500)) as script:
        for line in (here / "requests.jsonl").read_text(encoding="utf-8").splitlines():
            asked = json.loads(line)
            answer = httpx2.post(script.url + asked["url"].removeprefix("/v1"), json=asked["body"])
            response = {"status_code": answer.status_code, "body": answer.json()}
            answered.append({"id": "b", "custom_id": asked["custom_id"], "response": response, "error": None})
    out = here / "answers.jsonl"
    out.write_text("".join(json.dumps(line) + "\n" for line in answered), encoding="utf-8")
    inputs = Path(judged[1])
    files = ("--turns", inputs / "turns", "--cards", inputs / "cards.json", "--lexicon", inputs / "lexicon.csv")
    result = call("validate", "--drafts", "--verdicts", out, *files, "--json")
    [score] = json.loads(result.out)
    assert score["outcomes"] == {"kept": 2, "thrown_away": 1, "no_response": 1}
    assert score["reasons"] == {"v01_verdict_value": 1, "no_answer": 1}
    assert [refusal["turn_id"] for refusal in score["refusals"]] == ["T-8", "T-18"]


@pytest.mark.parametrize(
    ("name", "words"),
    [("r.json", "requests are written to a name that ends in .jsonl"), ("no/r.jsonl", "is no folder")],
)
def test_requests_go_to_a_file_of_lines(judged: tuple[str, ...], here: Path, name: str, words: str) -> None:
    result = call("draft", "2026-09-02", "2026-09-03", *judged, "--requests", here / name)
    assert result.code == 2 and words in result.err


def test_requests_need_a_model_and_no_endpoint(
    judged: tuple[str, ...], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WH_JUDGE_DRAFTS_MODEL")
    result = call("draft", "2026-09-02", "2026-09-03", *judged, "--requests", here / "requests.jsonl")
    assert result.code == 2 and "set WH_JUDGE_DRAFTS_MODEL" in result.err
    assert not (here / "requests.jsonl").exists()
