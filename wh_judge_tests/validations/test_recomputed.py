"""What the recomputing validations accept, where they do not apply, and what the log is made of."""

from typing import Any

import pytest

from wh_judge.rules import RuleSettings
from wh_judge.rules.rule import Mention
from wh_judge.validations import Log
from wh_judge_tests.validations.states import STATE, all_failures, claim_about, reasons, turn

LOG = STATE.log()


@pytest.mark.parametrize(
    ("turn_id", "hedge"),
    [
        ("log level differs", "로그의 말투와 답장이 다릅니다."),
        ("log level differs", "로그에는 존댓말로 적혀 있습니다."),
        ("log level differs", "honorific_level 값이 다릅니다."),
        ("names null", "등장 이름 목록이 비어 있어 세계관 대조는 건너뛰었습니다."),
        ("names null", "named_entities 가 null 입니다."),
        ("person null", "로그에 1인칭이 없어 말투만 견줬습니다."),
        ("person null", "first_person 이 null 이라 견주지 않았습니다."),
        ("kept", "더 볼 것이 없습니다."),
    ],
)
def test_a_hedge_in_other_words_passes(turn_id: str, hedge: str) -> None:
    assert all_failures([claim_about(STATE.claims(), turn_id) | {"hedge": hedge}], LOG) == {}


@pytest.mark.parametrize("name", ["rule_expected", "touched_term", "recall_target", "hedge"])
def test_a_missing_cell_is_null(name: str) -> None:
    claim = claim_about(STATE.claims(), "card open" if name == "rule_expected" else "kept")
    del claim[name]
    assert reasons("verdict_schema", claim, LOG) == ""
    assert [code for code in all_failures([claim], LOG) if code != "v07_nulls_skipped"] == []


def test_an_agreeing_honorific_level_may_be_cited() -> None:
    claim = claim_about(STATE.claims(), "kept")
    claim["evidence"].append({"source": "chat_turn", "field": "honorific_level", "value": "반말"})
    assert all_failures([claim], LOG) == {}


@pytest.mark.parametrize(
    ("name", "value"), [("touched_topic", 5), ("off_canon_entities", "리안"), ("recall_target", 5)]
)
def test_malformed_cells_are_not_followed_to_a_verdict(name: str, value: Any) -> None:
    claim = claim_about(STATE.claims(), "kept") | {name: value}
    assert reasons("verdict_precedence", claim, LOG) == ""


def test_the_endings_are_those_of_the_settings() -> None:
    polite = Log.of(STATE.turns, STATE.cards, STATE.lexicon, RuleSettings(endings=("본다",)))
    reason = reasons("v03_speech_reread", claim_about(STATE.claims(), "kept"), polite)
    assert reason is not None and reason.startswith("rule_observed: expected '존댓말 · 나', found '반말 · 나'")


@pytest.mark.parametrize(("earlier", "source"), [("T-2", "T-2"), ("T-30", "T-9")])
def test_the_earliest_mention_counts_whichever_day_knows_it(earlier: str, source: str) -> None:
    turns = [turn("T-9", session_id="S", named_entities=["하늘"])]
    log = Log.of(turns, STATE.cards, STATE.lexicon, earlier={("S", "하늘"): Mention(earlier, "하늘이다.")})
    assert log.mentions["S", "하늘"].turn_id == source


def test_a_mention_of_another_day_is_known() -> None:
    mention = Mention("T-2", "하늘이다.")
    assert Log.of([], STATE.cards, STATE.lexicon, earlier={("S", "하늘"): mention}).mentions == {("S", "하늘"): mention}
