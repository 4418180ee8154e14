"""`drafts`: off by default, and what it reports of a day where it is on."""

import json
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from wh_judge.automation import DraftsAreOn
from wh_judge_tests.assets.graph import Ran, materialized
from wh_judge_tests.drafts.scripted import Step, copying, serving
from wh_judge_tests.house import DAY_2, DAY_3, settle


@pytest.fixture
def ran(tmp_path: Path) -> Ran:
    ran = Ran(settle(tmp_path), dg.DagsterInstance.ephemeral())
    ran.run("inputs")
    ran.run("day", DAY_2)
    ran.run("day", DAY_3)
    return ran


def switch_on(folder: Path, monkeypatch: pytest.MonkeyPatch, url: str, **more: Any) -> None:
    """Settings in the working directory, as a user would give them."""
    monkeypatch.chdir(folder)
    table = {"drafts": ["금지 소재 접촉", "세계관 밖 고유명사"], "drafts_url": url, "drafts_model": "m"} | more
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in table.items()]
    (folder / "pyproject.toml").write_text("\n".join(["[tool.wh_judge]", *lines]), encoding="utf-8")


def test_by_default_nobody_is_asked(ran: Ran) -> None:
    result = ran.run("write_drafts", DAY_2)
    assert result.success and materialized(result) == ["drafts"]
    assert ran.metadata("drafts", "2026-09-02") == {"note": "off: the setting drafts names no verdict"}


def test_a_day_is_reported_with_counts_by_reason_and_model(
    ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = copying(), copying(summary="리안과 선거 이야기가 나왔다.")
    with serving(good, bad) as script:
        switch_on(tmp_path, monkeypatch, script.url)
        assert ran.run("write_drafts", DAY_2).success
    metadata = ran.metadata("drafts", "2026-09-02")
    assert metadata["dagster/row_count"] == 2
    assert [metadata[name] for name in ("turns", "kept", "default", "thrown_away", "no_response")] == [2, 1, 1, 0, 0]
    told = [metadata[name] for name in ("requests", "prompt_tokens", "response_tokens", "from_cache")]
    assert told == [2, 2000, 400, 0]
    assert metadata["reasons"] == {"v10_summary_one_polite_sentence": 1}
    assert "| m | v10&#95;summary&#95;one&#95;polite&#95;sentence | 1 | 1 |" in metadata["refusals"]


@pytest.mark.parametrize("prices", [(0.0, 0.0), (1.0, 10.0)])
def test_money_is_told_where_prices_are_set_and_time_to_tenths(
    ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prices: tuple[float, float]
) -> None:
    with serving(Step(copying().content, seconds=0.15)) as script:
        switch_on(tmp_path, monkeypatch, script.url, drafts_prices=prices)
        ran.run("write_drafts", DAY_2)
    metadata = ran.metadata("drafts", "2026-09-02")
    assert {name: value for name, value in metadata.items() if "money" in name} == (
        {"money": 0.006, "cached_money": 0.0} if any(prices) else {}
    )
    assert metadata["seconds"] == round(metadata["seconds"], 1) > 0


def test_a_rerun_says_what_came_from_the_cache_and_had_cost(
    ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(copying()) as script:
        switch_on(tmp_path, monkeypatch, script.url)
        ran.run("write_drafts", DAY_2)
        ran.run("write_drafts", DAY_2)
    metadata = ran.metadata("drafts", "2026-09-02")
    told = [metadata[name] for name in ("requests", "prompt_tokens", "from_cache", "cached_prompt_tokens")]
    assert told == [0, 0, 2, 2000] and metadata["cached_response_tokens"] == 400


def test_chat_text_in_a_refusal_is_no_markup(ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(copying(verdict="<script>alert(1)</script>")) as script:
        switch_on(tmp_path, monkeypatch, script.url)
        ran.run("write_drafts", DAY_3)
    assert "<script>" not in ran.metadata("drafts", "2026-09-03")["refused"]


def test_without_an_endpoint_the_run_fails_at_once(ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    switch_on(tmp_path, monkeypatch, "")
    assert not ran.run("write_drafts", DAY_2).success


def test_an_interruption_ends_the_run_without_a_further_try(
    ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise dg.DagsterExecutionInterruptedError

    switch_on(tmp_path, monkeypatch, "http://127.0.0.1:9/v1")
    monkeypatch.setattr("wh_judge.drafts.day.draft_day", interrupted)
    result = ran.run("write_drafts", DAY_2)
    assert not result.success
    assert not [event for event in result.all_events if event.is_step_up_for_retry]


def test_the_automation_waits_for_the_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    day = dg.DailyPartitionsDefinition("2026-09-01", end_date="2026-09-03")

    @dg.asset(partitions_def=day, automation_condition=DraftsAreOn())
    def sentences() -> None: ...

    def asked() -> int:
        with dg.DagsterInstance.ephemeral() as instance:
            return dg.evaluate_automation_conditions(dg.Definitions(assets=[sentences]), instance).total_requested

    assert asked() == 0
    switch_on(tmp_path, monkeypatch, "http://127.0.0.1:1/v1")
    assert asked() > 0
