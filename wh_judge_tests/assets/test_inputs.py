"""`cards` and `lexicon`: what they report of files, good and bad."""

import dagster as dg
import pytest

from wh_judge.model import CARD_SCHEMA, LEXICON_SCHEMA
from wh_judge_tests.assets.graph import Ran, checks, materialized, values
from wh_judge_tests.builders import card
from wh_judge_tests.house import rows


def test_the_lexicon_comes_before_the_cards(ran: Ran) -> None:
    assert materialized(ran.runs["inputs"]) == ["lexicon", "cards"]


def test_cards_carry_their_numbers(ran: Ran) -> None:
    metadata = ran.metadata("cards", "inputs")
    assert metadata["dagster/row_count"] == 3
    assert metadata["public_characters"] == 2
    assert metadata["speech_level_left_open"] == 1
    assert metadata["preview"].splitlines()[2] == "| C-1 | 교관 | 반말 | 나 | 검술원, 하늘 |"


def test_the_lexicon_carries_its_numbers(ran: Ran) -> None:
    metadata = ran.metadata("lexicon", "inputs")
    assert (metadata["dagster/row_count"], metadata["topics"]) == (3, 3)
    assert metadata["preview"].splitlines()[2:] == ["| 축제 | 행사 |", "| 선거 | 현실 정치 |", "| 주사위 | 도박 |"]


@pytest.mark.parametrize(
    ("asset", "names"), [("cards", CARD_SCHEMA.names), ("lexicon", LEXICON_SCHEMA.names)], ids=["cards", "lexicon"]
)
def test_the_column_schema_is_the_model_s(asset: str, names: list[str], ran: Ran) -> None:
    schema = ran.metadata(asset, "inputs")["dagster/column_schema"]
    assert [column.name for column in schema.columns] == names
    assert all(column.description for column in schema.columns)


def test_good_files_pass_their_checks(ran: Ran) -> None:
    found = {key: check.passed for key, check in checks(ran.runs["inputs"]).items()}
    assert found == {
        ("lexicon", "rows_accepted"): True,
        ("lexicon", "suite"): True,
        ("cards", "rows_accepted"): True,
        ("cards", "suite"): False,
    }


def test_what_the_suite_only_warns_of_holds_nothing_up(ran: Ran) -> None:
    check = ran.check("cards", "suite", "inputs")
    assert (check.passed, check.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert values(check)["failed_expectations"] == 1
    assert "the entities of entity&#95;roles stand in canon&#95;entities" in values(check)["failures"]
    assert ran.runs["inputs"].success


def test_the_suite_links_its_page(ran: Ran) -> None:
    found = values(ran.check("cards", "suite", "inputs"))
    assert found["data_docs"] == "http://127.0.0.1:3001/character_card/all.html"
    assert found["data_docs_file"] == str(ran.house.data / "docs/character_card/all.html")
    assert (ran.house.data / "docs/index.html").is_file()


def test_bad_rows_are_counted_shown_and_warned_of_and_the_good_ones_go_on(copy: Ran) -> None:
    copy.house.lexicon(("선거", "현실 정치"), ("", "도박"), ("선거", "현실 정치"))
    text = (copy.house.inputs / "cards.json").read_text()
    (copy.house.inputs / "cards.json").write_text(
        text.replace('"C-2"', '""').replace('"public": true', '"public": 1', 1)
    )
    result = copy.run("inputs")
    assert result.success
    for asset, rejected, good in (("lexicon", 2, 1), ("cards", 2, 1)):
        check = checks(result)[asset, "rows_accepted"]
        assert (check.passed, check.severity) == (False, dg.AssetCheckSeverity.WARN)
        assert (values(check)["rejected"], values(check)["noted"]) == (rejected, 0)
        assert len(values(check)["rows"].splitlines()) == 2 + rejected
        assert copy.metadata(asset, "inputs")["dagster/row_count"] == good
    assert "| rejected | lexicon.csv | 3 | term is " in values(checks(result)["lexicon", "rows_accepted"])["rows"]
    with copy.house.warehouse() as connection:
        assert rows(connection, "SELECT character_id FROM character_card") == [("C-3",)]


def test_data_versions_are_those_of_the_rows(copy: Ran) -> None:
    first = versions(copy)
    text = (copy.house.inputs / "cards.json").read_text()
    (copy.house.inputs / "cards.json").write_text(text.replace(", ", ",\n "))
    assert versions(copy) == first
    copy.house.cards(card("C-1"))
    assert [asset for asset, version in versions(copy).items() if version != first[asset]] == ["cards"]


def versions(graph: Ran) -> dict[str, str]:
    """The data versions of the inputs after a run."""
    result = graph.run("inputs")
    return {
        asset: (event.tags or {})["dagster/data_version"]
        for asset in ("cards", "lexicon")
        for event in result.asset_materializations_for_node(asset)
    }


def test_a_missing_input_fails_with_one_clear_line(copy: Ran) -> None:
    (copy.house.inputs / "lexicon.csv").unlink()
    result = copy.run("inputs")
    assert not result.success
    [failure] = result.filter_events(lambda event: event.is_step_failure)
    error = failure.step_failure_data.error
    assert error is not None and error.cause is not None
    assert "holds no lexicon; put a folder lexicon/ or a file lexicon.jsonl" in error.cause.message
