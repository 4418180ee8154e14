"""Runs from the command line: what is stale, in the right order, and nothing else."""

import datetime as dt
import importlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from wh_judge.errors import UserError
from wh_judge.judge import Judgement, judge
from wh_judge.report import summarise
from wh_judge.run import RunResult, run_range, run_stale
from wh_judge.settings import Settings
from wh_judge.store.days import judged_versions
from wh_judge.validations.summary import SUMMARY
from wh_judge_tests.builders import turn
from wh_judge_tests.home import Home
from wh_judge_tests.house import CARDS, DAY_1, DAY_2, DAY_3, DAYS, LOG, at, rows, settle, spoilt, tables

VERDICTS = importlib.import_module("wh_judge.assets.verdicts")
PUBLISHED = importlib.import_module("wh_judge.assets.published")


def silent(_what: str, _done: int, _total: int) -> None:
    """Progress that nobody watches."""


class First(NamedTuple):
    """A house after its first run."""

    root: Path
    result: RunResult
    told: list[tuple[str, int, int]]
    runs: list[tuple[str, str | None, str]]


@pytest.fixture(scope="session")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[First]:
    root = tmp_path_factory.mktemp("first")
    settle(root)
    told: list[tuple[str, int, int]] = []
    with pytest.MonkeyPatch.context() as monkeypatch:
        home = Home(root, monkeypatch)
        result = run_stale(home.settings, lambda *progress: told.append(progress))
        yield First(root, result, told, home.runs())


@pytest.fixture
def home(first: First, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A house after its first run, to be changed."""
    shutil.copytree(first.root, tmp_path, dirs_exist_ok=True)
    return Home(tmp_path, monkeypatch)


@pytest.fixture
def new_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A house in which nothing was run."""
    settle(tmp_path)
    return Home(tmp_path, monkeypatch)


def contents(home: Home, *, runs: bool = True) -> dict[str, Any]:
    """All tables, and the newest snapshot."""
    with home.warehouse() as connection:
        return {**tables(connection, runs=runs), "current": (home.settings.published / "current").read_text()}


def test_the_first_run_does_everything(first: First) -> None:
    assert (first.result.jobs, first.result.days) == (5, DAYS)
    assert (first.result.failed, first.result.outside) == ({}, [])
    days = [("day", str(day), "SUCCESS") for day in DAYS]
    assert first.runs == [("inputs", None, "SUCCESS"), *days, ("evaluations", None, "SUCCESS")]


def test_progress_is_told_by_day(first: First) -> None:
    assert first.told == [
        ("cards and lexicon", 0, 0),
        ("log files", 0, 0),
        (str(DAY_1), 0, 3),
        (str(DAY_2), 1, 3),
        (str(DAY_3), 2, 3),
        ("days judged", 3, 3),
        ("evaluations", 0, 0),
    ]


def test_the_second_run_does_nothing(home: Home) -> None:
    before, runs = contents(home), home.runs()
    assert run_stale(home.settings, silent) == RunResult()
    assert contents(home) == before
    assert home.runs() == runs


def test_a_corrected_file_is_judged_and_measured_again(home: Home) -> None:
    home.log(str(DAY_1), *LOG.day_1[1:], turn("T-1", turn_at=at(1, 1), **{"first_person": "저"}))
    result = run_stale(home.settings, silent)
    assert (result.jobs, result.days) == (2, [DAY_1])
    with home.warehouse() as connection:
        agreement = summarise(connection)["gold_agreement"]
    assert (agreement["found"], agreement["agreed"]) == (3, 1)


def test_a_changed_card_is_read_and_its_days_are_judged_again(home: Home) -> None:
    home.cards(*CARDS[:2], CARDS[2].model_copy(update={"honorific_rule": "존댓말"}))
    result = run_stale(home.settings, silent)
    assert (result.jobs, result.days) == (3, [DAY_3])


def test_changed_labels_are_measured_and_no_day_is_judged(home: Home) -> None:
    home.gold(("T-1", "설정대로 말함"))
    result = run_stale(home.settings, silent)
    assert (result.jobs, result.days) == (1, [])
    with home.warehouse() as connection:
        assert summarise(connection)["gold_agreement"]["labels"] == 1


def test_a_file_without_a_good_row_is_warned_of(home: Home) -> None:
    home.log("more", "no JSON")
    result = run_stale(home.settings, silent)
    assert (result.days, result.failed) == ([DAY_3], {})
    check = home.check("turns", "rows_accepted")
    assert (check.passed, check.metadata["rejected"].value) == (False, 2)
    assert run_stale(home.settings, silent) == RunResult()


def test_a_file_is_warned_of_until_it_is_corrected(home: Home) -> None:
    home.log(str(DAY_2), *LOG.day_2[:-1])
    run_stale(home.settings, silent)
    assert home.check("turns", "rows_accepted").passed


def test_other_endings_count_whatever_stands_where_the_instance_is(home: Home) -> None:
    endings = {"endings": (*home.settings.endings, "잡아.")[1:], "keep_snapshots": 1}
    settings = home.settings.model_copy(update=endings)
    assert run_stale(settings, silent).days == DAYS
    assert run_stale(settings, silent) == RunResult()
    with home.warehouse() as connection:
        found = rows(connection, "SELECT DISTINCT settings_version FROM verdict")
    assert found == [("endings=" + ",".join(settings.endings),)]
    assert len(list(settings.published.glob("*.duckdb"))) == 1


def test_days_that_dagster_does_not_know_are_reported_again(home: Home) -> None:
    before = contents(home)
    home.forget_history()
    result = run_stale(home.settings, silent)
    assert (result.jobs, result.days) == (5, DAYS)
    assert contents(home) == before
    assert home.check("verdicts", SUMMARY.code).passed


def test_a_day_that_was_written_and_not_reported_is_reported(home: Home) -> None:
    home.cards(*CARDS[:2], CARDS[2].model_copy(update={"honorific_rule": "존댓말"}))
    with home.warehouse() as connection:
        home.bring_in(connection)
        home.judge(connection, DAY_3, "killed")
        assert home.stale(connection) == []
    result = run_stale(home.settings, silent)
    assert result.days == [DAY_3]
    with home.warehouse() as connection:
        versions = {str(day): version for day, version in judged_versions(connection).items()}
    with home.instance() as instance:
        reported = instance.event_log_storage.get_latest_tags_by_partition(
            VERDICTS.verdicts.key, VERDICTS.dg.DagsterEventType.ASSET_MATERIALIZATION, ["dagster/data_version"]
        )
    assert {day: tags["dagster/data_version"] for day, tags in reported.items()} == versions


def test_what_failed_in_the_end_is_done_by_the_next_run(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_arguments: object, **_options: object) -> None:
        raise OSError("no space left on device")

    home.log(str(DAY_1), *LOG.day_1[1:])
    with monkeypatch.context() as patch:
        patch.setattr(PUBLISHED, "publish", fails)
        result = run_stale(home.settings, silent)
    assert (result.days, list(result.failed)) == ([DAY_1], ["evaluations"])
    assert result.failed["evaluations"] == "published: OSError: no space left on device"
    before = (home.settings.published / "current").read_text()
    result = run_stale(home.settings, silent)
    assert (result.jobs, result.days, result.failed) == (1, [], {})
    assert (home.settings.published / "current").read_text() != before


def test_a_snapshot_that_was_deleted_is_published_again(home: Home) -> None:
    before = contents(home)
    shutil.rmtree(home.settings.published)
    assert run_stale(home.settings, silent).jobs == 1
    assert contents(home) == before


def test_a_day_that_fails_holds_no_other_day_up(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(*inputs: Any) -> Judgement:
        judgement = judge(*inputs)
        return spoilt(judgement) if "T-7" in judgement.verdicts["turn_id"].to_pylist() else judgement

    home.cards(CARDS[0].model_copy(update={"first_person": "저"}), *CARDS[1:])
    before = contents(home)
    monkeypatch.setattr(VERDICTS, "judge", damaged)
    result = run_stale(home.settings, silent)
    assert result.days == [DAY_1, DAY_3]
    assert list(result.failed) == [str(DAY_2)]
    assert result.failed[str(DAY_2)].startswith(f"{DAY_2} keeps its old verdicts: {SUMMARY.code} failed")
    day = f"SELECT * FROM verdict WHERE day = '{DAY_2}' ORDER BY turn_id"
    with home.warehouse() as connection:
        assert len(rows(connection, day)) == len([row for row in before["verdict"] if row[0] == DAY_2])
        assert summarise(connection)["validations"] != []
        assert home.stale(connection) == [DAY_2]


def test_a_day_that_failed_is_tried_again(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.log(str(DAY_2), *LOG.day_2[:-2])
    with monkeypatch.context() as patch:
        patch.setattr(VERDICTS, "judge", lambda *inputs: spoilt(judge(*inputs)))
        assert list(run_stale(home.settings, silent).failed) == [str(DAY_2)]
    result = run_stale(home.settings, silent)
    assert (result.days, result.failed) == ([DAY_2], {})
    with home.warehouse() as connection:
        assert rows(connection, "FROM failed_row") == []


def test_days_without_a_partition_are_named_and_not_judged(home: Home) -> None:
    tomorrow = dt.datetime.now(dt.UTC) + dt.timedelta(days=2)
    early = turn("T-90", turn_at="2025-12-31T10:00:00+09:00")
    home.log("more", early, turn("T-91", turn_at=tomorrow.isoformat()))
    result = run_stale(home.settings, silent)
    assert result.days == []
    assert result.outside[0] == dt.date(2025, 12, 31)
    assert len(result.outside) == 2


@pytest.mark.parametrize("run", [run_stale, lambda settings, told: run_range(settings, DAY_1, DAY_3, told)])
@pytest.mark.parametrize("name", ["cards.json", "lexicon.csv", "turns"])
def test_a_missing_input_is_an_error_and_nothing_is_written(name: str, run: Any, new_home: Home) -> None:
    path = new_home.inputs / name
    path.rename(new_home.root / name)
    before = sorted(new_home.root.rglob("*"))
    with pytest.raises(UserError, match=f"holds no {name.split('.')[0]}; put a folder"):
        run(new_home.settings, silent)
    assert sorted(new_home.root.rglob("*")) == before


def test_a_range_is_judged_with_both_its_ends_whether_stale_or_not(home: Home) -> None:
    before = contents(home)
    result = run_range(home.settings, DAY_2, DAY_3, silent)
    assert (result.jobs, result.days) == (4, [DAY_2, DAY_3])
    assert contents(home) == before, "nothing changed"


def test_a_range_has_only_days_with_turns(new_home: Home) -> None:
    result = run_range(new_home.settings, dt.date(2026, 8, 1), DAY_1, silent)
    assert result.days == [DAY_1]
    with new_home.warehouse() as connection:
        assert new_home.stale(connection) == [DAY_2, DAY_3]


def test_days_one_by_one_and_backwards_end_in_the_same_tables(first: First, new_home: Home) -> None:
    for day in reversed(DAYS):
        assert run_range(new_home.settings, day, day, silent).days == [day]
    found, expected = contents(new_home, runs=False), first_contents(first)
    assert {name: found[name] for name in found if name != "current"} == expected


def first_contents(first: First) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        found = contents(Home(first.root, monkeypatch), runs=False)
    return {name: found[name] for name in found if name != "current"}


def test_settings_are_those_of_the_caller(home: Home) -> None:
    assert isinstance(home.settings, Settings)
