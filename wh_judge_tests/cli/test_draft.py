"""`wh-judge draft`: the days that were judged, and a plain word where nothing is switched on."""

import json
from pathlib import Path

import pytest

from wh_judge_tests.cli.call import call
from wh_judge_tests.drafts.scripted import copying, serving
from wh_judge_tests.house import settle


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
    (here / "pyproject.toml").write_text('[tool.wh_judge]\ndrafts = ["금지 소재 접촉"]\n', encoding="utf-8")
    with serving(copying(), copying(), copying(verdict="합격")) as script:
        monkeypatch.setenv("WH_JUDGE_DRAFTS_URL", script.url)
        monkeypatch.setenv("WH_JUDGE_DRAFTS_MODEL", "m")
        result = call("draft", "2026-09-02", "2026-09-03", *flags, "--json")
    assert result.code == 1
    assert json.loads(result.out) == {
        "drafts": [
            {"model": "m", "outcome": "kept", "reason": None, "drafts": 2},
            {"model": "m", "outcome": "thrown_away", "reason": "v01_verdict_value", "drafts": 1},
        ],
        "failed": {},
    }
