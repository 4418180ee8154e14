"""What runs, and when: days that are due, what the sensor sees, which days the condition asks for."""

import datetime as dt
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from wh_judge.automation import (
    CATCH_UP_DAYS,
    automation,
    changed_inputs,
    drafts_automation,
    due_days,
    fingerprints,
    nightly,
)
from wh_judge.definitions import build_definitions, defs
from wh_judge.store.stale import StaleDay, write_stale
from wh_judge_tests.builders import card, turn
from wh_judge_tests.documents import ROOT
from wh_judge_tests.house import CARDS, DAY_1, DAY_2, DAY_3, LEXICON, LOG, House, at, settle

GRAPH = defs.resolve_asset_graph()
TONIGHT = dt.date(2026, 10, 10)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """A house that the settings lead to."""
    house = settle(tmp_path)
    monkeypatch.setenv("WH_JUDGE_DATA", str(house.data))
    monkeypatch.setenv("WH_JUDGE_INPUTS", str(house.inputs))
    monkeypatch.setenv("WH_JUDGE_FIRST_DAY", "2026-09-01")
    return house


@pytest.mark.parametrize(
    ("done", "first", "count"),
    [
        (set(), "2026-10-09", 1),
        ({"2026-10-08"}, "2026-10-09", 1),
        ({"2026-10-09"}, "2026-10-09", 1),
        ({"2026-10-10"}, "2026-10-09", 1),
        ({"2026-10-05"}, "2026-10-06", 4),
        ({"2026-09-02", "2026-10-05"}, "2026-10-06", 4),
        ({"2026-09-08"}, "2026-09-09", 31),
        ({"2026-09-01"}, "2026-09-09", CATCH_UP_DAYS),
    ],
    ids=["nothing yet", "the night before", "yesterday", "today", "a gap", "an older gap", "31 days", "longer"],
)
def test_days_that_are_due(done: set[str], first: str, count: int, house: House) -> None:
    due = due_days(TONIGHT, done)
    assert (due[0], due[-1], len(due)) == (first, "2026-10-09", count)
    assert due == sorted(set(due))


def test_no_day_before_the_first_is_due(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WH_JUDGE_FIRST_DAY", "2026-10-08")
    assert due_days(TONIGHT, {"2026-10-01"}) == ["2026-10-08", "2026-10-09"]
    monkeypatch.setenv("WH_JUDGE_FIRST_DAY", "2026-10-10")
    assert due_days(TONIGHT, set()) == []


def test_at_night_the_days_since_the_newest_one_are_run(house: House, tmp_path: Path) -> None:
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        for asset, day in (("verdicts", "2026-10-06"), ("turns", "2026-10-08")):
            instance.report_runless_asset_event(dg.AssetMaterialization(asset, partition=day))
        moment = dt.datetime(2026, 10, 9, 19, 0, tzinfo=dt.UTC)
        context = dg.build_schedule_context(instance=instance, scheduled_execution_time=moment)
        requests: Any = nightly(context)
    assert [request.partition_key for request in requests] == ["2026-10-07", "2026-10-08", "2026-10-09"]
    assert len({request.run_key for request in requests}) == 3


def test_the_night_is_that_of_seoul() -> None:
    assert (nightly.cron_schedule, nightly.execution_timezone) == ("0 4 * * *", "Asia/Seoul")
    assert nightly.job_name == "day"


def looked(
    house: House, cursor: str | None = None, instance: dg.DagsterInstance | None = None
) -> tuple[list[str], str]:
    """The jobs that the sensor starts, and its cursor. With an instance, runs are created as the daemon does."""
    with ExitStack() as stack:
        kept = instance or stack.enter_context(dg.DagsterInstance.ephemeral())
        context = dg.build_sensor_context(cursor=cursor, instance=kept)
        looked_at: Any = changed_inputs(context)
        found = list(looked_at)
        for request in found:
            if instance and isinstance(request, dg.RunRequest):
                tags = {"dagster/run_key": str(request.run_key)}
                assert not instance.get_runs(dg.RunsFilter(tags=tags)), (
                    "Dagster would start no second run with this key"
                )
                instance.create_run_for_job(dg.job(name=request.job_name)(lambda: None), tags=tags)
    assert context.cursor is not None
    requests = [request for request in found if isinstance(request, dg.RunRequest)]
    assert bool(requests) != any(isinstance(entry, dg.SkipReason) for entry in found)
    return [request.job_name or "" for request in requests], context.cursor


def test_at_the_first_look_everything_is_read(house: House) -> None:
    assert looked(house)[0] == ["inputs", "log", "evaluations"]


def test_where_nothing_changed_nothing_is_started(house: House) -> None:
    _, cursor = looked(house)
    assert looked(house, cursor) == ([], cursor)


def into_the_inbox(house: House, seconds: float) -> None:
    path = house.log("new", turn("T-90", turn_at=at(1)))
    house.settings.inbox.mkdir(exist_ok=True)
    path = path.rename(house.settings.inbox / path.name)
    os.utime(path, (time.time() - seconds,) * 2)


def touch(house: House) -> None:
    for path in (house.inputs / "cards.json", house.turns / f"{DAY_1}.jsonl"):
        os.utime(path, (0, 0))


@pytest.mark.parametrize(
    ("edit", "jobs"),
    [
        (lambda house: house.cards(*CARDS, card("C-9")), ["inputs"]),
        (lambda house: house.lexicon(*LEXICON[1:]), ["inputs"]),
        (lambda house: house.gold(("T-1", "말투 어긋남")), ["evaluations"]),
        (lambda house: (house.inputs / "gold.csv").unlink(), ["evaluations"]),
        (lambda house: house.log(str(DAY_1), *LOG.day_1[1:]), ["log"]),
        (lambda house: house.log("more", turn("T-90", turn_at=at(1))), ["log"]),
        (lambda house: (house.turns / f"{DAY_1}.jsonl").unlink(), ["log"]),
        (lambda house: into_the_inbox(house, 60), ["log"]),
        (lambda house: into_the_inbox(house, 0), []),
        (touch, []),
        (lambda house: house.cards(*CARDS), []),
        (lambda house: (house.data / "other.txt").write_text("x"), []),
    ],
    ids=[
        "a card",
        "the lexicon",
        "a label",
        "no labels any more",
        "a log file",
        "a new log file",
        "a log file went",
        "a file in the inbox",
        "a file that is being written",
        "only touched",
        "written again as it was",
        "something else",
    ],
)
def test_what_changed_is_read_and_nothing_else(edit: Callable[[House], object], jobs: list[str], house: House) -> None:
    _, cursor = looked(house)
    edit(house)
    assert looked(house, cursor)[0] == jobs


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        ({"endings": ("요",)}, {"log"}),
        ({"card_as_of": "turn"}, {"log"}),
        ({"keep_snapshots": 1, "docs_url": "http://docs.example"}, set()),
    ],
    ids=["endings", "card_as_of", "what decides nothing"],
)
def test_settings_that_decide_verdicts_count(options: dict[str, Any], changed: set[str], house: House) -> None:
    before = fingerprints(house.settings)
    house.options |= options
    after = fingerprints(house.settings)
    assert {job for job in before if before[job] != after[job]} == changed


def test_a_large_file_counts_by_its_size_and_time(house: House) -> None:
    path = house.turns / "large.jsonl"
    path.write_text(" " * (1 << 20), encoding="utf-8")
    before = fingerprints(house.settings)
    assert fingerprints(house.settings) == before
    os.utime(path, (0, 0))
    assert fingerprints(house.settings)["log"] != before["log"]


def test_a_run_is_asked_for_once_for_the_same_change(house: House) -> None:
    """The run key says what was found, so that a look that is repeated after a crash starts nothing twice."""
    keys = []
    for _ in range(2):
        context = dg.build_sensor_context(cursor=None)
        looked_at: Any = changed_inputs(context)
        keys.append([request.run_key for request in looked_at])
    assert keys[0] == keys[1]
    assert len(set(keys[0])) == 3


@pytest.mark.parametrize(
    ("job", "edit", "back"),
    [
        ("inputs", lambda house: house.cards(*CARDS, card("C-9")), lambda house: house.cards(*CARDS)),
        ("inputs", lambda house: house.lexicon(*LEXICON[1:]), lambda house: house.lexicon(*LEXICON)),
        ("log", lambda house: house.log("more", turn("T-90", turn_at=at(1))), lambda house: house.log("more")),
        ("evaluations", lambda house: house.gold(("T-1", "말투 어긋남")), lambda house: house.gold()),
    ],
    ids=["a card", "the lexicon", "a log file", "labels"],
)
def test_an_edit_that_is_taken_back_is_read_each_time(
    job: str,
    edit: Callable[[House], object],
    back: Callable[[House], object],
    house: House,
    instance: dg.DagsterInstance,
) -> None:
    back(house)
    _, cursor = looked(house, None, instance)
    for change in (edit, back, edit, back):
        change(house)
        started, cursor = looked(house, cursor, instance)
        assert started == [job]


def test_an_input_whose_run_failed_is_read_again_after_pauses_that_grow(
    house: House, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, cursor = looked(house, None, instance)
    clock = time.time()
    monkeypatch.setattr("wh_judge.automation.time.time", lambda: clock)
    for pause in (30, 60, 120, 240, 480, 960, 1920, 3600, 3600):
        [run, *_] = instance.get_runs(dg.RunsFilter(job_name="inputs"))
        assert looked(house, cursor, instance) == ([], cursor), "while the run is under way"
        instance.report_run_failed(run)
        ended = instance.get_run_records(dg.RunsFilter(run_ids=[run.run_id]))[0].end_time or 0.0
        clock = ended + pause - 1
        assert looked(house, cursor, instance) == ([], cursor)
        clock = ended + pause
        started, cursor = looked(house, cursor, instance)
        assert started == ["inputs"]


@pytest.mark.parametrize("end", [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.CANCELED])
def test_an_input_that_was_read_or_that_nobody_wants_read_is_not_read_again(
    end: dg.DagsterRunStatus, house: House, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, cursor = looked(house, None, instance)
    for run in instance.get_runs():
        instance.report_run_canceled(run) if end == dg.DagsterRunStatus.CANCELED else _succeed(instance, run)
    monkeypatch.setattr("wh_judge.automation.time.time", lambda: time.monotonic() + 10**11)
    assert looked(house, cursor, instance)[0] == []


def _succeed(instance: dg.DagsterInstance, run: dg.DagsterRun) -> None:
    event = dg.DagsterEvent(dg.DagsterEventType.RUN_SUCCESS.value, run.job_name)
    instance.report_dagster_event(event, run.run_id)


def test_inputs_are_read_before_the_days_that_wait(house: House) -> None:
    context = dg.build_sensor_context()
    looked_at: Any = changed_inputs(context)
    priorities = {request.job_name: request.tags.get("dagster/priority") for request in looked_at}
    assert priorities == {"inputs": "1", "log": "1", "evaluations": None}


def test_the_cursor_of_an_older_version_is_taken_up(house: House) -> None:
    assert looked(house, json.dumps(fingerprints(house.settings)))[0] == ["inputs", "log", "evaluations"]


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def asked_for(instance: dg.DagsterInstance, cursor: Any = None) -> tuple[dict[str, set[str | None]], Any]:
    """The days that are asked for by asset, and the cursor."""
    selection = dg.AssetSelection.assets("turns", "verdicts", "verdict_changes")
    result = dg.evaluate_automation_conditions(build_definitions(), instance, asset_selection=selection, cursor=cursor)
    found = {name: set(result.get_requested_partitions(dg.AssetKey(name))) for name in ("turns", "verdicts")}
    return found, result.cursor


def both(*days: dt.date) -> dict[str, set[str | None]]:
    return {name: {str(day) for day in days} for name in ("turns", "verdicts")}


def listed(house: House, *days: dt.date) -> None:
    write_stale([StaleDay(day, "version", ("a cause",), False) for day in days], house.data)


def test_without_a_list_no_day_is_asked_for(house: House, instance: dg.DagsterInstance) -> None:
    assert asked_for(instance)[0] == both()


def test_exactly_the_listed_days_are_asked_for(house: House, instance: dg.DagsterInstance) -> None:
    listed(house, DAY_1, DAY_3)
    assert asked_for(instance)[0] == both(DAY_1, DAY_3)


def test_days_that_have_no_partition_are_not_asked_for(house: House, instance: dg.DagsterInstance) -> None:
    listed(house, dt.date(2020, 1, 1), DAY_2, dt.date(2090, 1, 1))
    assert asked_for(instance)[0] == both(DAY_2)


def test_a_day_that_is_off_the_list_is_not_asked_for_again(house: House, instance: dg.DagsterInstance) -> None:
    listed(house, DAY_1, DAY_2)
    _, cursor = asked_for(instance)
    listed(house, DAY_2)
    assert asked_for(instance, cursor)[0]["verdicts"] == {str(DAY_2)}


def test_an_update_that_was_seen_while_another_day_was_at_work_is_measured_when_it_is_done(
    house: House, instance: dg.DagsterInstance
) -> None:
    """Dagster says of an update only at the first look that it is new."""
    cursor = None

    def is_asked_for() -> bool:
        nonlocal cursor
        of = dg.AssetSelection.assets("gold_agreement")
        result = dg.evaluate_automation_conditions(build_definitions(), instance, asset_selection=of, cursor=cursor)
        cursor = result.cursor
        return result.total_requested == 1

    is_asked_for()
    assert not is_asked_for(), "nothing is new"
    day = build_definitions().resolve_job_def("day")
    at_work = instance.create_run_for_job(
        day, tags={"dagster/partition": str(DAY_2)}, status=dg.DagsterRunStatus.STARTED
    )
    instance.report_runless_asset_event(dg.AssetMaterialization("verdicts", partition=str(DAY_1)))
    assert not is_asked_for(), "a day is at work"
    instance.report_run_canceled(at_work)
    assert is_asked_for()
    assert not is_asked_for(), "once"


def test_verdict_changes_come_with_verdicts() -> None:
    """They are one step, and cannot be asked for apart."""
    assert GRAPH.get(dg.AssetKey("verdicts")).execution_set_entity_keys >= {
        dg.AssetKey("verdicts"),
        dg.AssetKey("verdict_changes"),
    }


def test_readers_get_verdicts_while_a_model_is_asked(house: House, instance: dg.DagsterInstance) -> None:
    of = dg.AssetSelection.assets("published")
    cursor = dg.evaluate_automation_conditions(build_definitions(), instance, asset_selection=of).cursor
    drafts = build_definitions().resolve_job_def("write_drafts")
    instance.create_run_for_job(drafts, tags={"dagster/partition": str(DAY_2)}, status=dg.DagsterRunStatus.STARTED)
    instance.report_runless_asset_event(dg.AssetMaterialization("verdicts", partition=str(DAY_1)))
    result = dg.evaluate_automation_conditions(build_definitions(), instance, asset_selection=of, cursor=cursor)
    assert result.total_requested == 1


def test_a_day_is_judged_in_a_run_that_asks_no_model() -> None:
    keys = [sensor.asset_selection.resolve(GRAPH) for sensor in (automation, drafts_automation)]
    assert dg.AssetKey("drafts") not in keys[0] and keys[1] == {dg.AssetKey("drafts")}
    assert keys[0] | keys[1] == GRAPH.materializable_asset_keys


def test_of_the_runs_that_ask_a_model_one_is_at_work() -> None:
    runs = yaml.safe_load((ROOT / "dagster.yaml").read_text(encoding="utf-8"))["concurrency"]["runs"]
    [limit] = runs["tag_concurrency_limits"]
    assert limit["limit"] < runs["max_concurrent_runs"]
    for tags in (drafts_automation.run_tags, defs.resolve_job_def("write_drafts").tags):
        assert tags[limit["key"]] == limit["value"]
