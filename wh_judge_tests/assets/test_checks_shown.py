"""Which results of checks Dagster shows of a day, whatever runs there were and whichever ended last."""

import importlib
from collections.abc import Callable
from typing import Any

import dagster as dg
import pytest

from wh_judge.validations import VALIDATIONS
from wh_judge_tests.assets.graph import Ran, checks
from wh_judge_tests.house import CARDS, DAY_2, spoilt

TURNS, DAY = importlib.import_module("wh_judge.assets.turns"), importlib.import_module("wh_judge.day")
CHECKS = [
    *(dg.AssetCheckKey(dg.AssetKey("verdicts"), name) for name in (*(v.code for v in VALIDATIONS), "suite")),
    *(
        dg.AssetCheckKey(dg.AssetKey("turns"), name)
        for name in ("suite", "characters_have_cards", "turn_order_follows_time")
    ),
]


def shown(graph: Ran) -> dict[str, Any]:
    """Of each check of the day the status of its newest result; None where it is not about the newest verdicts."""
    storage = graph.instance.event_log_storage
    found = storage.get_asset_check_partition_info(CHECKS, partition_keys=[str(DAY_2)])
    return {_name(i.check_key): i.latest_execution_status.value if i.is_current else None for i in found}


def _name(key: dg.AssetCheckKey) -> str:
    return f"{key.asset_key.to_user_string()} {key.name}"


ORDER = _name(CHECKS[-1])
AS_JUDGED = {_name(key): "SUCCEEDED" for key in CHECKS} | {ORDER: "FAILED"}
"""What is shown of the second day, in which turns of a session stand in another order than their times."""


def overtaken(
    graph: Ran, monkeypatch: pytest.MonkeyPatch, between: Callable[[], object] = lambda: None
) -> dg.ExecuteInProcessResult:
    """Run the second day; while it is at its turns, another run of the day begins and ends, then `between` is done."""
    suite = TURNS.run_suite

    def run_suite(*args: Any, **named: Any) -> Any:
        monkeypatch.setattr(TURNS, "run_suite", suite)
        assert graph.run("day", DAY_2).success
        between()
        return suite(*args, **named)

    monkeypatch.setattr(TURNS, "run_suite", run_suite)
    return graph.run("day", DAY_2)


def test_every_check_of_a_day_is_shown(ran: Ran) -> None:
    assert shown(ran) == AS_JUDGED


def test_every_check_is_shown_after_a_second_run(copy: Ran) -> None:
    assert copy.run("day", DAY_2).success
    assert shown(copy) == AS_JUDGED


def test_every_check_is_shown_where_the_run_that_was_created_first_ended_last(
    copy: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert overtaken(copy, monkeypatch).success
    assert shown(copy) == AS_JUDGED


def test_every_check_is_shown_where_the_other_run_is_past_the_turns_and_still_at_work(
    copy: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    def still_at_work() -> None:
        [other] = copy.instance.get_runs(limit=1)
        copy.instance.report_dagster_event(dg.DagsterEvent(dg.DagsterEventType.RUN_START.value, "day"), other.run_id)
        assert {run.status for run in copy.instance.get_runs(limit=2)} == {dg.DagsterRunStatus.STARTED}

    assert overtaken(copy, monkeypatch, still_at_work).success
    assert shown(copy) == AS_JUDGED


def test_a_failure_is_shown_of_a_run_that_was_overtaken(copy: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = DAY.judge

    def spoil_what_comes() -> None:
        monkeypatch.setattr(DAY, "judge", lambda *inputs: spoilt(judge(*inputs)))
        copy.house.cards(CARDS[0].model_copy(update={"first_person": "저"}), *CARDS[1:])
        with copy.house.warehouse() as connection:
            copy.house.bring_in(connection)

    result = overtaken(copy, monkeypatch, spoil_what_comes)
    failed = {f"{asset} {name}" for (asset, name), one in checks(result).items() if not one.passed} & AS_JUDGED.keys()
    assert not result.success
    assert {name for name, status in shown(copy).items() if status == "FAILED"} == failed
    assert failed > {ORDER}


def test_results_are_reported_once_where_no_other_run_is_in_the_way(copy: Ran) -> None:
    copy.run("day", DAY_2)
    events = copy.instance.event_log_storage.get_asset_check_execution_history(CHECKS[0], limit=10)
    assert all(record.run_id for record in events)
