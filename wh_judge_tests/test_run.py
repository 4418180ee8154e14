"""Runs from the command line: what is stale, and nothing else. One story: each step changes something and runs."""

import datetime as dt
import importlib
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any, NamedTuple

import dagster as dg
import pytest

from wh_judge.errors import UserError
from wh_judge.judge import Judgement, judge
from wh_judge.report import summarise
from wh_judge.run import RunResult, run_range, run_stale
from wh_judge.store.verdicts import judged_versions
from wh_judge.validations.summary import SUMMARY
from wh_judge_tests.builders import turn
from wh_judge_tests.house import CARDS, DAY_1, DAY_2, DAY_3, DAYS, LOG, House, Table, at, settle, spoilt, tables
from wh_judge_tests.plain import make_plain

DAY = importlib.import_module("wh_judge.day")
PUBLISHED = importlib.import_module("wh_judge.assets.published")


class Step(NamedTuple):
    """A run: what it did, what it told, and everything in the warehouse and of the snapshots before and after."""

    result: RunResult
    told: list[tuple[str, int, int]]
    before: dict[str, Any]
    after: dict[str, Any]
    stale: list[dt.date]
    """Days that are stale afterwards."""
    rejected: tuple[bool, int]
    """Whether all rows of the log are accepted, by the newest check, and how many are not."""
    reported: bool
    """Whether Dagster knows the verdicts of every day."""

    @property
    def did(self) -> tuple[int, list[dt.date], list[str]]:
        """Runs, days, and what failed."""
        return len(self.result.runs), self.result.days, list(self.result.failed)


class Story:
    """A house, the instance that keeps its runs, and the runs."""

    def __init__(self, house: House, instance: dg.DagsterInstance) -> None:
        self.house, self.instance = house, instance
        self.steps: dict[str, Step] = {}

    def step(self, name: str, run: Callable[..., RunResult] = run_stale, *days: dt.date, **settings: Any) -> None:
        """Run, with some settings changed."""
        told: list[tuple[str, int, int]] = []
        before = self.contents()
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr("wh_judge.run.open_instance", lambda _settings: nullcontext(self.instance))
            result = run(
                self.house.settings.model_copy(update=settings), *days, lambda *progress: told.append(progress)
            )
        with self.house.warehouse() as connection:
            stale, versions = self.house.stale(connection), judged_versions(connection)
        self.steps[name] = Step(
            result, told, before, self.contents(), stale, self.rejected(), self.versions() == versions
        )

    def contents(self) -> dict[str, Any]:
        """All tables, and the name of the newest snapshot."""
        current = self.house.settings.published / "current"
        with self.house.warehouse() as connection:
            return {**tables(connection, runs=True), "current": current.read_text() if current.exists() else None}

    def rejected(self) -> tuple[bool, int]:
        key = dg.AssetCheckKey(dg.AssetKey("turns"), "rows_accepted")
        [record] = self.instance.event_log_storage.get_asset_check_execution_history(key, limit=1)
        assert record.event is not None and record.event.dagster_event is not None
        check = record.event.dagster_event.asset_check_evaluation_data
        count = check.metadata["rejected"].value
        assert isinstance(count, int)
        return check.passed, count

    def versions(self) -> dict[dt.date, str]:
        """The versions of the days' verdicts that Dagster knows."""
        found = self.instance.event_log_storage.get_latest_tags_by_partition(
            dg.AssetKey("verdicts"), dg.DagsterEventType.ASSET_MATERIALIZATION, ["dagster/data_version"]
        )
        return {dt.date.fromisoformat(day): tags["dagster/data_version"] for day, tags in found.items()}


def no_space(*_arguments: object, **_options: object) -> None:
    raise OSError("no space left on device")


def damaged(*inputs: Any) -> Judgement:
    """The judgement, spoilt on the day of T-7."""
    judgement = judge(*inputs)
    return spoilt(judgement) if "T-7" in judgement.verdicts["turn_id"].to_pylist() else judgement


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    house = settle(tmp_path_factory.mktemp("story"))
    with dg.DagsterInstance.ephemeral() as instance, pytest.MonkeyPatch.context() as plain:
        make_plain(plain)
        told = Story(house, instance)
        step = told.step
        step("first")
        step("again")

        house.log(str(DAY_1), *LOG.day_1[1:], turn("T-1", turn_at=at(1, 1), first_person="저"))
        step("a file corrected")

        house.cards(*CARDS[:2], CARDS[2].model_copy(update={"honorific_rule": "존댓말"}))
        step("a card changed")

        house.gold(("T-1", "설정대로 말함"))
        step("labels changed")

        house.log("more", "no JSON")
        step("a file of bad rows")

        shutil.rmtree(house.settings.published)
        step("the snapshots deleted")

        house.log("more")
        house.log(str(DAY_2), *LOG.day_2[:-1])
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(PUBLISHED, "publish", no_space)
            step("publication fails")
        step("after publication failed")

        changed = turn("T-7", turn_at=at(2, 7), reply_text="요즘 선거 얘기로 시끄럽더군.", user_message="뭐?")
        house.log(str(DAY_2), LOG.day_2[0], changed, *LOG.day_2[2:-2])
        house.log(str(DAY_3), *LOG.day_3[1:])
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(DAY, "judge", damaged)
            step("a day fails")
        step("after the day failed")

        house.log(str(DAY_3), *LOG.day_3)
        with house.warehouse() as connection:
            house.bring_in(connection)
            house.judge(connection, DAY_3, "killed")
        step("a day was written and not reported")

        later = dt.datetime.now(dt.UTC) + dt.timedelta(days=2)
        outside = turn("T-90", turn_at="2025-12-31T10:00:00+09:00"), turn("T-91", turn_at=later.isoformat())
        house.log("more", *outside)
        step("days without a partition")
        house.log("more")
        step("without them")

        step("a range", run_range, DAY_2, dt.date(2026, 10, 1), endings=("시끄럽더군",), keep_snapshots=1)

        step("a range, only what is stale", partial(run_range, only_stale=True), DAY_1, DAY_2)

        told.instance = dg.DagsterInstance.ephemeral()
        with told.instance:
            step("the history deleted")
            yield told


def of_day(table: Table, day: dt.date) -> Table:
    return [row for row in table if row[0] == day]


def test_the_first_run_does_everything(story: Story) -> None:
    step = story.steps["first"]
    assert step.did == (5, DAYS, [])
    assert (step.stale, step.reported) == ([], True)


@pytest.mark.parametrize(
    ("name", "turns"), [("first", 16), ("again", 0), ("a file corrected", 1), ("a card changed", 2)]
)
def test_the_turns_that_were_judged_are_counted(story: Story, name: str, turns: int) -> None:
    assert story.steps[name].result.turns == turns


def test_progress_is_told_by_day(story: Story) -> None:
    assert story.steps["first"].told == [
        ("cards and lexicon", 0, 0),
        ("log files", 0, 0),
        (str(DAY_1), 0, 3),
        (str(DAY_2), 1, 3),
        (str(DAY_3), 2, 3),
        ("days judged", 3, 3),
        ("evaluations", 0, 0),
    ]


def test_the_second_run_does_and_changes_nothing(story: Story) -> None:
    step = story.steps["again"]
    assert step.result == RunResult()
    assert step.after == step.before


def test_a_corrected_file_is_judged_and_measured_again(story: Story) -> None:
    step = story.steps["a file corrected"]
    assert step.did == (2, [DAY_1], [])
    assert step.stale == []
    for name in ("verdict", "evaluation", "current"):
        assert step.after[name] != step.before[name]


def test_a_changed_card_is_read_and_its_days_are_judged_again(story: Story) -> None:
    step = story.steps["a card changed"]
    assert step.did == (3, [DAY_3], [])
    assert step.after["character_card"] != step.before["character_card"]


def test_changed_labels_are_measured_and_no_day_is_judged(story: Story) -> None:
    step = story.steps["labels changed"]
    assert step.did == (1, [], [])
    assert step.after["verdict"] == step.before["verdict"]
    assert step.after["evaluation"] != step.before["evaluation"]


def test_a_file_without_a_good_row_is_warned_of(story: Story) -> None:
    assert story.steps["labels changed"].rejected == (False, 1)
    step = story.steps["a file of bad rows"]
    assert step.did == (2, [DAY_3], []), "the newest day reports it"
    assert step.rejected == (False, 2)
    assert step.after["current"] != step.before["current"]


def test_a_log_is_warned_of_until_it_is_corrected(story: Story) -> None:
    assert story.steps["publication fails"].rejected == (True, 0)


def test_a_snapshot_that_was_deleted_is_published_again(story: Story) -> None:
    step = story.steps["the snapshots deleted"]
    assert step.did == (1, [], [])
    assert step.before["current"] is None
    assert step.after["current"] == story.steps["a file of bad rows"].after["current"]


def test_what_fails_is_named_in_one_line(story: Story) -> None:
    step = story.steps["publication fails"]
    assert step.did == (2, [DAY_3], ["evaluations"])
    assert step.result.failed == {"evaluations": "published: OSError: no space left on device"}
    assert step.after["current"] == step.before["current"]


def test_what_failed_in_the_end_is_done_by_the_next_run(story: Story) -> None:
    step = story.steps["after publication failed"]
    assert step.did == (1, [], [])
    assert step.after["current"] != step.before["current"]


def test_a_day_that_fails_holds_no_other_day_up(story: Story) -> None:
    step = story.steps["a day fails"]
    assert step.did == (3, [DAY_3], [str(DAY_2)])
    assert step.result.failed[str(DAY_2)].startswith(f"{DAY_2} keeps its old verdicts: {SUMMARY.code} failed")
    for name in ("verdict", "judged_day"):
        assert of_day(step.after[name], DAY_2) == of_day(step.before[name], DAY_2)
    assert step.stale == [DAY_2]


def test_a_day_that_failed_is_tried_again(story: Story) -> None:
    step = story.steps["after the day failed"]
    assert step.did == (2, [DAY_2], [])
    assert (len(step.before["failed_row"]), len(step.after["failed_row"])) == (1, 0)
    assert (step.stale, step.reported) == ([], True)


def test_a_day_that_was_written_and_not_reported_is_reported(story: Story) -> None:
    step = story.steps["a day was written and not reported"]
    assert step.did == (2, [DAY_3], [])
    assert step.reported
    assert step.after["verdict"] == step.before["verdict"]


def test_days_without_a_partition_are_named_and_not_judged(story: Story) -> None:
    step = story.steps["days without a partition"]
    assert (step.result.days, step.result.failed) == ([], {})
    assert len(step.result.outside) == 2
    assert step.result.outside == step.stale
    assert story.steps["without them"].result.outside == []


def test_a_range_has_the_days_between_its_ends_that_have_turns(story: Story) -> None:
    step = story.steps["a range"]
    assert step.did == (4, [DAY_2, DAY_3], [])
    assert [told for told, _, _ in step.told] == [
        "cards and lexicon",
        "log files",
        str(DAY_2),
        str(DAY_3),
        "days judged",
        "evaluations",
    ]


def test_the_settings_of_the_caller_count_in_every_run(story: Story) -> None:
    days = {row[0] for row in story.steps["a range"].after["verdict"] if "endings=시끄럽더군" in row}
    assert days == {DAY_2, DAY_3}
    assert story.steps["a range"].stale == [DAY_2, DAY_3], "to other settings"


def test_of_a_range_the_fresh_days_can_be_left_out(story: Story) -> None:
    step = story.steps["a range, only what is stale"]
    assert step.did == (3, [DAY_2], []), "the first day is fresh, the third is not asked for"
    assert step.stale == [DAY_3]


def test_what_dagster_does_not_know_is_reported_again(story: Story) -> None:
    step = story.steps["the history deleted"]
    assert step.did == (5, DAYS, [])
    assert (step.stale, step.reported) == ([], True)


def test_after_all_this_everything_is_as_if_it_had_been_so_from_the_start(story: Story, tmp_path: Any) -> None:
    house = story.house
    other = House(tmp_path)
    shutil.copytree(house.inputs, other.inputs, dirs_exist_ok=True)
    with other.warehouse() as connection:
        other.bring_in(connection)
        for day in DAYS:
            other.judge(connection, day)
        expected = tables(connection)
    with house.warehouse() as connection:
        found = tables(connection)
        assert summarise(connection)["gold_agreement"]["labels"] == 1
    for name in ("chat_turn", "character_card", "topic_lexicon", "rejected_rows", "verdict", "unjudged", "validation"):
        assert found[name] == expected[name], name


def test_an_interruption_ends_the_run_and_no_other_day_is_begun(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def press(*_inputs: object) -> None:
        signal.raise_signal(signal.SIGINT)

    house = settle(tmp_path)
    told: list[str] = []
    monkeypatch.setattr(DAY, "judge", press)
    make_plain(monkeypatch)
    with dg.DagsterInstance.ephemeral() as instance:
        monkeypatch.setattr("wh_judge.run.open_instance", lambda _settings: nullcontext(instance))
        with pytest.raises(KeyboardInterrupt):
            run_stale(house.settings, lambda what, _done, _total: told.append(what))
        assert instance.event_log_storage.get_concurrency_run_ids() == set()
    assert told == ["cards and lexicon", "log files", str(DAY_1)]
    with house.warehouse() as connection:
        assert tables(connection)["verdict"] == []


@pytest.mark.parametrize("run", [run_stale, lambda settings, told: run_range(settings, DAY_1, DAY_3, told)])
@pytest.mark.parametrize("name", ["cards.json", "lexicon.csv", "turns"])
def test_a_missing_input_is_an_error_and_nothing_is_written(name: str, run: Any, tmp_path: Any) -> None:
    house = settle(tmp_path)
    (house.inputs / name).rename(tmp_path / name)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UserError, match=f"holds no {name.split('.')[0]}; put a folder"):
        run(house.settings, lambda *_progress: None)
    assert sorted(tmp_path.rglob("*")) == before
