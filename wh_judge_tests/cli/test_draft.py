"""`wh-judge draft`: the days that were judged, and a plain word where nothing is switched on."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

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
    assert json.loads(result.out) == {
        "drafts": [
            {"model": "m", "outcome": "kept", "reason": None, "drafts": 2, "turn_id": "T-7", "found": None},
            {"model": "m", "outcome": "thrown_away", "reason": "v01_verdict_value", "drafts": 1}
            | {"turn_id": "T-18", "found": V01},
        ],
        "failed": {},
    }
    lines = call("draft", "2026-09-02", "2026-09-03", *flags).out.splitlines()
    assert lines == ["m  kept  2", f"m  thrown_away  v01_verdict_value  1  such as T-18: {V01}"]
    with serving(copying()) as script:
        monkeypatch.setenv("WH_JUDGE_DRAFTS_URL", script.url)
        monkeypatch.setenv("WH_JUDGE_DRAFTS_MODEL", "better")
        other = call("draft", "2026-09-02", "2026-09-03", *flags)
    assert other.out.splitlines() == ["better  kept  3", *lines] and other.code == 0
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
    assert (result.code, json.loads(result.out)["drafts"][0]["drafts"]) == (0, 4)
    assert sorted([*answered, *again]) == sorted(["T-6", "T-7", "T-8", "T-12"])


def turn_of(request: dict[str, Any]) -> str:
    """The turn that a model was asked about."""
    return str(given(request)["verdict"]["turn_id"])
