"""`verdicts`: judged, validated, and only then committed."""

import importlib
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import dagster as dg
import duckdb
import pytest

from wh_judge.assets.verdicts import LINEAGE
from wh_judge.judge import Judgement, judge
from wh_judge.model import VERDICT_SCHEMA, VERDICTS
from wh_judge.rules import RULE_BY_VERDICT, RULES
from wh_judge.store.stale import StaleDay, listed_days, write_stale
from wh_judge.store.verdicts import judged_versions
from wh_judge.validations import VALIDATIONS
from wh_judge.validations.summary import SUMMARY
from wh_judge_tests import house
from wh_judge_tests.assets.graph import Ran, checks, materialized, values
from wh_judge_tests.house import CARDS, DAY_1, DAY_2, DAYS, SPOILT, House, Table, rows, spoilt, tables

ERROR = dg.AssetCheckSeverity.ERROR
CODES = {entry.code for entry in VALIDATIONS}


@pytest.mark.parametrize("day", DAYS)
def test_a_day_carries_counts_and_rates_as_numbers(day: object, ran: Ran) -> None:
    with ran.house.warehouse() as connection:
        found = [verdict for (verdict,) in rows(connection, f"SELECT verdict FROM verdict WHERE day = '{day}'")]
    metadata, counts = ran.metadata("verdicts", day), Counter(found)
    assert metadata["dagster/row_count"] == len(found) > 0
    for verdict in VERDICTS:
        code = RULE_BY_VERDICT[verdict].code
        count, rate = metadata[f"{code}_count"], metadata[f"{code}_rate"]
        assert (type(count), type(rate)) == (int, float)
        assert (count, rate) == (counts[verdict], counts[verdict] / len(found))


def test_the_log_has_every_verdict() -> None:
    """So that none of the counts is always zero."""
    assert set(house.VERDICTS.values()) == set(VERDICTS)
    assert {rule.verdict for rule in RULES} == set(VERDICTS)


def test_turns_that_could_not_be_judged_are_counted(ran: Ran) -> None:
    assert [ran.metadata("verdicts", day)["unjudged"] for day in DAYS] == [1, 0, 0]


def test_a_preview_shows_the_turns_that_left_their_card(ran: Ran) -> None:
    lines = ran.metadata("verdicts", DAY_2)["preview"].splitlines()
    assert lines[0] == "| turn_id | verdict | summary |"
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| T-6", "| T-7", "| T-8", "| T-12"]


def test_verdicts_and_hedges_are_counted_in_tables(ran: Ran) -> None:
    metadata = ran.metadata("verdicts", DAY_2)
    assert metadata["verdicts"].splitlines()[2:] == [
        "| 설정대로 말함 | 2 |",
        "| 말투 어긋남 | 0 |",
        "| 세계관 밖 고유명사 | 1 |",
        "| 금지 소재 접촉 | 1 |",
        "| 앞 회차를 기억 못 함 | 2 |",
    ]
    counts = [int(line.rstrip(" |").rsplit(" ", 1)[1]) for line in metadata["hedges"].splitlines()[2:]]
    assert sum(counts) > 0, "T-10 has no reply"


def test_every_column_has_a_description_and_a_source(ran: Ran) -> None:
    metadata = ran.metadata("verdicts", DAY_1)
    columns = metadata["dagster/column_schema"].columns
    assert [column.name for column in columns] == VERDICT_SCHEMA.names
    lineage = metadata["dagster/column_lineage"].deps_by_column
    assert set(lineage) <= set(VERDICT_SCHEMA.names)
    assert len(metadata["column_lineage_table"].splitlines()) == 2 + len(lineage)


def test_lineage_names_columns_that_are_there(ran: Ran) -> None:
    graph = {asset: ran.metadata(asset, run) for asset, run in _RUNS.items()}
    known = {
        (asset, column.name)
        for asset, metadata in graph.items()
        for column in metadata["dagster/column_schema"].columns
    }
    named = {(asset, column) for sources in LINEAGE.values() for asset, column in sources}
    assert named <= known


_RUNS = {"cards": "inputs", "lexicon": "inputs", "turns": str(DAY_1)}


def test_the_data_version_is_that_of_the_day(ran: Ran) -> None:
    with ran.house.warehouse() as connection:
        expected = {str(day): version for day, version in judged_versions(connection).items()}
    found = {
        str(day): (event.tags or {})["dagster/data_version"]
        for day in DAYS
        for event in ran.runs[str(day)].asset_materializations_for_node("verdicts")
        if event.asset_key == dg.AssetKey("verdicts")
    }
    assert found == expected


def test_every_validation_reports_on_every_day(ran: Ran) -> None:
    for day in DAYS:
        found = {name: check for (asset, name), check in checks(ran.runs[str(day)]).items() if asset == "verdicts"}
        assert set(found) == {*CODES, "suite"}
        assert {name for name, check in found.items() if not check.passed} == set()
        assert {check.partition for check in found.values()} == {str(day)}


def test_a_validation_says_how_much_it_looked_at(ran: Ran) -> None:
    found = values(ran.check("verdicts", SUMMARY.code, DAY_2))
    assert found == {"looked_at": 6, "passed": 6, "failed": 0, "not_applicable": 0}


def test_a_day_without_turns_has_counts_and_no_rates(copy: Ran) -> None:
    result = copy.run("day", "2026-09-05")
    assert result.success
    metadata = copy.metadata("verdicts", "2026-09-05")
    assert metadata["dagster/row_count"] == 0
    assert [name for name in metadata if name.endswith("_rate")] == []
    assert {metadata[name] for name in metadata if name.endswith("_count") and name != "dagster/row_count"} == {0}


class Failed(NamedTuple):
    """A day whose inputs changed and whose judgement was damaged."""

    graph: Ran
    result: dg.ExecuteInProcessResult
    before: dict[str, Table]
    after: dict[str, Table]


MODULE = importlib.import_module("wh_judge.day")


@pytest.fixture(scope="module")
def failed(ran: Ran, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Failed]:
    root = tmp_path_factory.mktemp("failed")
    shutil.copytree(ran.house.inputs, root / "inputs")
    shutil.copytree(ran.house.data, root / "data")
    with dg.DagsterInstance.ephemeral() as instance:
        graph = Ran(House(root), instance)
        graph.house.cards(CARDS[0].model_copy(update={"first_person": "저"}), *CARDS[1:])
        graph.run("inputs")
        with graph.house.warehouse() as connection:
            before = tables(connection)
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(MODULE, "judge", lambda *inputs: spoilt(judge(*inputs)))
            result = graph.materialize(
                ["verdicts", "verdict_changes", "gold_agreement", "model_divergence", "published"], DAY_2
            )
        with graph.house.warehouse() as connection:
            after = tables(connection)
        yield Failed(graph, result, before, after)


def test_a_day_that_fails_keeps_its_old_verdicts(failed: Failed) -> None:
    for name in ("verdict", "unjudged", "judged_day"):
        assert failed.after[name] == failed.before[name]


def test_the_failing_rows_are_kept(failed: Failed) -> None:
    [(day, code, turn_id, _, verdict)] = failed.after["failed_row"]
    assert (day, code, turn_id) == (DAY_2, SUMMARY.code, "T-7")
    assert json.loads(verdict)["summary"] == SPOILT


def test_all_checks_of_a_day_that_fails_report(failed: Failed) -> None:
    found = {name: check for (_, name), check in checks(failed.result).items()}
    assert set(found) == {*CODES, "suite"}
    bad = [name for name, check in found.items() if not check.passed]
    assert bad == [SUMMARY.code]
    check = found[SUMMARY.code]
    assert (check.severity, check.blocking, check.partition) == (ERROR, True, str(DAY_2))
    assert values(check)["failed"] == 1
    assert values(check)["failing_turns"].splitlines()[2].startswith("| T-7 | summary: expected ")


def test_nothing_below_a_day_that_fails_is_run(failed: Failed) -> None:
    result = failed.result
    assert not result.success
    assert materialized(result) == []
    skipped = {event.step_key for event in result.filter_events(lambda event: event.is_step_skipped)}
    started = {event.step_key for event in result.filter_events(lambda event: event.is_step_start)}
    assert started == {"verdicts"}
    assert skipped <= {"gold_agreement", "model_divergence", "published"}


def test_a_day_that_fails_says_so_in_one_line_and_is_not_retried(failed: Failed) -> None:
    [event] = failed.result.filter_events(lambda event: event.is_step_failure)
    data = event.step_failure_data.user_failure_data
    assert data is not None
    assert data.description == (
        f"{DAY_2} keeps its old verdicts: {SUMMARY.code} failed; the failing rows are in failed_row of the warehouse"
    )
    assert failed.result.filter_events(lambda event: event.is_step_up_for_retry) == []


def test_a_day_that_failed_succeeds_once_the_judge_is_mended(failed: Failed) -> None:
    graph = failed.graph
    assert graph.run("day", DAY_2).success
    with graph.house.warehouse() as connection:
        assert rows(connection, "FROM failed_row") == []
        assert rows(connection, "SELECT rule_expected FROM verdict WHERE turn_id = 'T-7'") == [("반말 · 저",)]


def test_a_judge_that_breaks_down_leaves_the_day_as_it_was(copy: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_inputs: object) -> Judgement:
        raise RecursionError("too deep")

    copy.house.cards(CARDS[0].model_copy(update={"first_person": "저"}), *CARDS[1:])
    copy.run("inputs")
    with copy.house.warehouse() as connection:
        before = tables(connection, runs=True)
    monkeypatch.setattr(MODULE, "judge", breaks)
    result = copy.materialize(["verdicts", "verdict_changes"], DAY_2)
    assert not result.success
    assert checks(result) == {}
    with copy.house.warehouse() as connection:
        assert tables(connection, runs=True) == before


@pytest.mark.parametrize(
    ("error", "listed"),
    [
        (RecursionError("too deep"), set()),
        (OSError(28, "No space left on device"), {str(DAY_2)}),
        (duckdb.IOException("IO Error: Could not write file"), {str(DAY_2)}),
    ],
    ids=["it would break down again", "a full disk", "a full disk under the warehouse"],
)
def test_a_day_that_the_disk_held_up_stays_on_the_list_of_stale_days(
    error: Exception, listed: set[str], copy: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_inputs: object) -> Judgement:
        raise error

    data = copy.house.data
    write_stale([StaleDay(DAY_2, "version", ("a cause",), False)], data)
    monkeypatch.setattr(MODULE, "judge", breaks)
    assert not copy.materialize(["verdicts", "verdict_changes"], DAY_2).success
    assert listed_days(data).keys() == listed
