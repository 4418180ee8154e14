"""`wh-judge tree`: the tree of a turn of the warehouse, as text and as JSON."""

import json
from pathlib import Path

import duckdb
import pytest

from wh_judge.evaluation.tree import evidence_tree
from wh_judge.rules import RuleSettings
from wh_judge.store.snapshot import publish
from wh_judge.store.tree import read_case
from wh_judge.store.versions import settings_of, settings_version
from wh_judge_tests.cli.call import Result, call
from wh_judge_tests.house import CARDS, DAYS, VERDICTS, House, settle


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    """A house in which every day is judged."""
    house = settle(tmp_path_factory.mktemp("tree"))
    with house.warehouse() as connection:
        house.bring_in(connection)
        for day in DAYS:
            house.judge(connection, day)
    return house


def told(house: House, *arguments: str) -> Result:
    return call("tree", *arguments, "--data", house.data)


@pytest.mark.parametrize("turn_id", VERDICTS)
def test_the_tree_of_every_turn_has_its_verdict_and_agrees(house: House, turn_id: str) -> None:
    with house.warehouse() as connection:
        tree = evidence_tree(*read_case(connection, turn_id))
    assert (tree.verdict, tree.validator.agrees) == (VERDICTS[turn_id], True)


def test_json_holds_the_whole_tree(house: House) -> None:
    code, out, error = told(house, "T-6", "--json")
    tree = json.loads(out)
    assert (code, error) == (0, "")
    [recall] = [entry for entry in tree["checks"] if entry["decided"]]
    [first] = [question for question in recall["questions"] if question["code"] == "first_named"]
    assert (recall["code"], recall["score"], first["answer"]) == ("recall", 0, "T-4")
    assert first["evidence"][0] == {"source": "chat_turn", "field": "turn_id", "agg": None, "value": "T-4"}


def test_text_has_a_line_for_each_check_question_and_evidence(house: House) -> None:
    code, out, error = told(house, "T-7")
    assert (code, error) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("T-7  금지 소재 접촉  ")
    assert [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "] == [
        "forbidden",
        "canon",
        "speech",
        "recall",
        "validator",
    ]
    assert '      topic_lexicon.term  "선거"' in lines


def test_text_of_the_log_is_no_markup(house: House) -> None:
    assert "<script>alert(1)</script> |" in told(house, "T-15").out


@pytest.mark.parametrize(
    ("turn_id", "reason"),
    [("T-99", "no such turn in the warehouse"), ("T-5", "was not judged: no card for character C-9")],
)
def test_a_turn_without_a_verdict_is_refused(house: House, turn_id: str, reason: str) -> None:
    code, out, error = told(house, turn_id)
    assert (code, out) == (2, "")
    assert error.startswith(f"wh-judge: {turn_id}: ") and reason in error and error.count("\n") == 1


def test_a_verdict_that_no_longer_follows_is_seen(tmp_path: Path) -> None:
    house = settle(tmp_path)
    with house.warehouse() as connection:
        house.bring_in(connection)
        house.judge(connection, DAYS[1])
        house.lexicon(("축제", "행사"))
        house.bring_in(connection)
        tree = evidence_tree(*read_case(connection, "T-7"))
    assert not tree.validator.agrees
    assert "touched_topic" in [claim.cell for claim in tree.validator.claims if not claim.agrees]


def test_the_card_is_the_one_that_judged(tmp_path: Path) -> None:
    house = settle(tmp_path)
    with house.warehouse() as connection:
        house.bring_in(connection)
        house.judge(connection, DAYS[1])
        house.cards(CARDS[0].model_copy(update={"canon_entities": ["리안"]}), *CARDS[1:])
        house.bring_in(connection)
        tree = evidence_tree(*read_case(connection, "T-8"))
    assert (tree.verdict, tree.validator.agrees) == ("세계관 밖 고유명사", True)


def test_a_published_copy_gives_the_same_trees(house: House) -> None:
    with house.warehouse() as connection:
        snapshot = publish(connection, house.settings.published, keep=1)
        expected = [evidence_tree(*read_case(connection, turn_id)) for turn_id in VERDICTS]
    with duckdb.connect(str(snapshot.path), read_only=True) as connection:
        assert [evidence_tree(*read_case(connection, turn_id)) for turn_id in VERDICTS] == expected


@pytest.mark.parametrize("endings", [("요", "죠", "니다", "십시오"), ("습니까",)])
def test_settings_are_read_back_from_their_version(endings: tuple[str, ...]) -> None:
    rules = RuleSettings(endings=endings)
    assert settings_of(settings_version(rules)) == rules


@pytest.mark.parametrize("command", ["tree", "why", "profile"])
def test_what_is_no_text_is_refused(command: str, house: House) -> None:
    result = call(command, "\udcff", "--data", house.data)
    assert result.code == 2 and "is not UTF-8" in result.err
