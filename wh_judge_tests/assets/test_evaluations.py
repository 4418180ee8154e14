"""`gold_agreement` and `model_divergence`: numbers once they have run, and none before."""

import base64
import json
from typing import Any

import dagster as dg
import pytest

from wh_judge.definitions import build_definitions
from wh_judge.report import summarise
from wh_judge.store import evaluations
from wh_judge_tests.assets.graph import Ran, checks, values
from wh_judge_tests.house import DAY_1, DAY_2, House, rows, settle

PNG = base64.b64encode(b"\x89PNG").decode()[:4]


def numbers(metadata: dict[str, Any]) -> dict[str, int | float]:
    return {name: value for name, value in metadata.items() if isinstance(value, int | float)}


def test_before_it_has_run_there_is_no_number(tmp_path: Any) -> None:
    house = settle(tmp_path)
    with house.warehouse() as connection:
        house.bring_in(connection)
        house.judge(connection, DAY_1)
        assert evaluations.read(connection, "gold_agreement") is None
        assert evaluations.read(connection, "model_divergence") is None
        summary = summarise(connection)
        assert rows(connection, "FROM evaluation") == []
    assert (summary["gold_agreement"], summary["model_divergence"]) == (None, None)


def test_agreement_carries_its_numbers(ran: Ran) -> None:
    found = numbers(ran.metadata("gold_agreement", "evaluations"))
    assert {name: found[name] for name in ("labels", "found", "not_found", "not_judged")} == {
        "labels": 3,
        "found": 3,
        "not_found": 0,
        "not_judged": 0,
    }
    assert found["agreement"] == pytest.approx(2 / 3)
    assert found["agreement_low"] < 2 / 3 < found["agreement_high"]
    assert isinstance(found["kappa"], float)


def test_agreement_shows_where_the_two_differ(ran: Ran) -> None:
    metadata = ran.metadata("gold_agreement", "evaluations")
    [line] = metadata["diverging_turns"].splitlines()[2:]
    assert line.startswith("| T-2 | 설정대로 말함 | 말투 어긋남 |")
    assert len(metadata["per_verdict"].splitlines()) == 2 + 5
    assert "not defined" in metadata["per_verdict"]
    assert metadata["confusion"].startswith(f"![confusion matrix](data:image/png;base64,{PNG}")


def test_agreement_is_what_the_warehouse_keeps(ran: Ran) -> None:
    with ran.house.warehouse() as connection:
        document = evaluations.read(connection, "gold_agreement")
        [(run_id,)] = rows(connection, "SELECT run_id FROM evaluation WHERE name = 'gold_agreement'")
    assert document is not None
    assert document["agreement"] == numbers(ran.metadata("gold_agreement", "evaluations"))["agreement"]
    assert run_id == ran.runs["evaluations"].run_id


def test_good_labels_are_accepted(ran: Ran) -> None:
    assert ran.check("gold_agreement", "rows_accepted", "evaluations").passed


def test_a_bad_label_is_warned_of_and_the_good_ones_count(copy: Ran) -> None:
    copy.house.gold(("T-1", "설정대로 말함"), ("T-2", "그럭저럭"), ("T-1", "말투 어긋남"), ("T-77", "설정대로 말함"))
    result = copy.run("evaluations")
    check = checks(result)["gold_agreement", "rows_accepted"]
    assert (check.passed, check.severity, values(check)["rejected"]) == (False, dg.AssetCheckSeverity.WARN, 2)
    found = numbers(copy.metadata("gold_agreement", "evaluations"))
    assert (found["labels"], found["found"], found["not_found"], found["agreement"]) == (2, 1, 1, 1.0)


@pytest.mark.parametrize("labels", [None, [("T-77", "설정대로 말함")]], ids=["no file", "no judged turn"])
def test_without_a_judged_label_there_is_no_agreement(labels: list[tuple[str, str]] | None, copy: Ran) -> None:
    if labels is None:
        (copy.house.inputs / "gold.csv").unlink()
    else:
        copy.house.gold(*labels)
    with copy.house.warehouse() as connection:
        connection.execute("DELETE FROM evaluation")
    result = copy.run("evaluations")
    assert result.success
    metadata = copy.metadata("gold_agreement", "evaluations")
    assert set(numbers(metadata)) == {"labels", "found", "not_found", "not_judged"}
    assert metadata["note"] == "no labelled turn was judged, so there is no agreement"
    with copy.house.warehouse() as connection:
        document = summarise(connection)["gold_agreement"]
    assert (document["agreement"], document["kappa"]) == (None, None)


def test_divergence_carries_its_numbers(ran: Ran) -> None:
    found = numbers(ran.metadata("model_divergence", "evaluations"))
    assert {name: found[name] for name in ("models", "prompts_compared", "prompts_left_out")} == {
        "models": 2,
        "prompts_compared": 3,
        "prompts_left_out": 0,
    }
    assert 0 <= found["p_value"] <= 1


def test_divergence_compares_models_on_the_same_prompts(ran: Ran) -> None:
    metadata = ran.metadata("model_divergence", "evaluations")
    lines = [line.split(" | ")[:4] for line in metadata["per_model"].splitlines()[2:]]
    assert lines == [["| M-1", "3", "1", "0.333"], ["| M-2", "3", "1", "0.333"]]
    assert metadata["reasons"].splitlines()[2:] == ["| M-1 | 금지 소재 접촉 | 1 |", "| M-2 | 말투 어긋남 | 1 |"]
    assert (metadata["test"], metadata["pairs"]) == ("exact McNemar", "none")
    assert metadata["picture"].startswith("![divergence by model](data:image/png;base64,")


def test_without_a_shared_prompt_there_is_no_rate(copy: Ran) -> None:
    with copy.house.warehouse() as connection:
        connection.execute("UPDATE turn_row SET prompt_id = NULL")
    copy.run("evaluations")
    metadata = copy.metadata("model_divergence", "evaluations")
    assert set(numbers(metadata)) == {"models", "prompts_compared", "prompts_left_out"}
    assert "picture" not in metadata


def test_an_equal_document_stays_as_it_is(copy: Ran) -> None:
    sql = "SELECT * FROM evaluation ORDER BY name"
    with copy.house.warehouse() as connection:
        before = rows(connection, sql)
    copy.run("evaluations")
    with copy.house.warehouse() as connection:
        assert rows(connection, sql) == before


def test_a_document_is_replaced_when_a_label_changes(copy: Ran) -> None:
    copy.house.gold(("T-1", "설정대로 말함"))
    copy.run("evaluations")
    with copy.house.warehouse() as connection:
        [(document, run_id)] = rows(connection, "SELECT document, run_id FROM evaluation WHERE name = 'gold_agreement'")
    assert (json.loads(document)["labels"], run_id) == (1, copy.runs["evaluations"].run_id)


@pytest.mark.parametrize("asset", ["gold_agreement", "model_divergence"])
def test_it_is_asked_for_when_a_day_is_judged_again(asset: str, tmp_path: Any) -> None:
    house = House(tmp_path)
    definitions = build_definitions({"warehouse": Ran(house, dg.DagsterInstance.ephemeral()).resource})
    with dg.DagsterInstance.ephemeral() as instance:
        instance.report_runless_asset_event(dg.AssetMaterialization(asset))
        selection = dg.AssetSelection.assets(asset)
        first = dg.evaluate_automation_conditions(definitions, instance, asset_selection=selection)
        assert first.total_requested == 0
        instance.report_runless_asset_event(dg.AssetMaterialization("verdicts", partition=str(DAY_2)))
        second = dg.evaluate_automation_conditions(
            definitions, instance, asset_selection=selection, cursor=first.cursor
        )
        assert second.total_requested == 1
        third = dg.evaluate_automation_conditions(
            definitions, instance, asset_selection=selection, cursor=second.cursor
        )
        assert third.total_requested == 0
