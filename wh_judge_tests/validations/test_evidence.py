"""What evidence may cite, and how; what it may not stands in `evidence_damages`."""

from dataclasses import replace
from typing import Any

import pytest

from wh_judge.rules.rule import Mention
from wh_judge.validations import Log
from wh_judge.validations.evidence import aggregate
from wh_judge_tests.validations.states import STATE, Claim, all_failures, card, claim_about, reasons, turn

LOG = STATE.log()


def claim(turn_id: str, *evidence: Claim, keyed: bool = False) -> Claim:
    """The sound claim about a turn, with other evidence where some is given."""
    sound = claim_about(STATE.claims(keyed), turn_id)
    return sound | {"evidence": list(evidence)} if evidence else sound


def cell(source: str, field: str, value: Any, **more: Any) -> Claim:
    """An evidence row."""
    return {"source": source, "field": field, "value": value} | more


SOUND_ROWS = [
    ("a whole text", "kept", cell("chat_turn", "reply_text", "검을 잡아. 오늘은 손목부터 본다.")),
    ("null", "person null", cell("chat_turn", "first_person", None)),
    ("agg null", "kept", cell("chat_turn", "first_person", "나", agg=None)),
    ("key null", "kept", cell("chat_turn", "first_person", "나", key=None)),
    ("false", "kept", cell("chat_turn", "user_asked_recall", False)),
    ("a card's truth", "kept", cell("character_card", "public", True)),
    ("an element", "canon", cell("chat_turn", "named_entities", "하늘")),
    ("a role", "kept", cell("character_card", "entity_roles", "스승")),
    ("a role's entity", "kept", cell("character_card", "entity_roles", "무명")),
    ("a count", "canon", cell("chat_turn", "named_entities", 3, agg="count")),
    ("a count as 3.0", "canon", cell("chat_turn", "named_entities", 3.0, agg="count")),
    ("a count of none", "kept", cell("chat_turn", "named_entities", 0, agg="count")),
    ("a count of roles", "kept", cell("character_card", "entity_roles", 2, agg="count")),
    ("the first name", "canon", cell("chat_turn", "named_entities", "리안", agg="min")),
    ("the last name", "canon", cell("chat_turn", "named_entities", "하늘", agg="max")),
    ("an instant as written", "kept", cell("chat_turn", "turn_at", "2026-09-02T10:00:00+09:00")),
    ("an instant elsewhere", "kept", cell("chat_turn", "turn_at", "2026-09-02T01:00:00Z")),
    ("the source turn", "T-10", cell("chat_turn", "named_entities", "하늘")),
    ("the source turn's time", "T-10", cell("chat_turn", "turn_at", "2026-09-01T10:00:00+09:00")),
    ("any term", "kept", cell("topic_lexicon", "term", "선거")),
    ("any keyed term", "kept", cell("topic_lexicon", "term", "선거", key="2")),
    ("the touched row", "forbidden", cell("topic_lexicon", "topic", "현실 정치")),
    ("either row of the term", "second topic", cell("topic_lexicon", "topic", "놀이")),
    ("extra cells", "kept", cell("chat_turn", "first_person", "나", why="1인칭")),
]


@pytest.mark.parametrize(("turn_id", "row"), [pytest.param(*case, id=name) for name, *case in SOUND_ROWS])
def test_sound_evidence_passes(turn_id: str, row: Claim) -> None:
    assert all_failures([claim(turn_id, row)], LOG) == {}


def test_a_source_turn_of_another_session_is_not_cited() -> None:
    elsewhere = turn("E", reply_text="하늘이다.")
    log = replace(STATE, turns=(*STATE.turns, elsewhere)).log()
    damaged = claim("T-10", cell("chat_turn", "reply_text", "하늘이다.")) | {"recall_source_turn": "E"}
    assert "found '하늘이다.'" in (reasons("v09_evidence_value", damaged, log) or "")


def test_a_source_turn_that_is_later_is_not_cited() -> None:
    damaged = claim("T-10", cell("chat_turn", "turn_id", "T-12")) | {"recall_source_turn": "T-12"}
    assert "expected 'T-10', found 'T-12'" in (reasons("v09_evidence_value", damaged, LOG) or "")


def test_a_source_turn_is_cited_from_its_mention_alone() -> None:
    """A log of one day knows earlier turns only by whom they named first."""
    later = [one for one in STATE.turns if one.turn_id != "T-9"]
    earlier = {("S-recall", "하늘"): Mention("T-9", "검을 잡아. 오늘은 손목부터 본다.")}
    log = Log.of(later, STATE.cards, STATE.lexicon, earlier=earlier)
    assert all_failures([one for one in STATE.claims() if one["turn_id"] != "T-9"], log) == {}


def test_a_mention_knows_only_the_id_and_the_reply() -> None:
    log = Log.of([one for one in STATE.turns if one.turn_id != "T-9"], STATE.cards, STATE.lexicon, earlier=LOG.mentions)
    row = cell("chat_turn", "model_id", "M-1", key="T-9")
    assert "expected a cell that the log knows" in (reasons("v09_evidence_value", claim("T-10", row), log) or "")


@pytest.mark.parametrize("wrong", [{"recall_target": "무명"}, {"recall_source_turn": "T-7"}])
def test_another_mention_than_the_claimed_one_is_not_cited(wrong: Claim) -> None:
    log = Log.of([one for one in STATE.turns if one.turn_id != "T-9"], STATE.cards, STATE.lexicon, earlier=LOG.mentions)
    damaged = claim("T-10", keyed=True) | wrong
    assert "may cite, found 'T-9'" in (reasons("v09_evidence_value", damaged, log) or "")


@pytest.mark.parametrize("code", ["v08_evidence_field", "v09_evidence_value"])
@pytest.mark.parametrize("evidence", [None, [], {}, "reply_text", 5])
def test_without_evidence_rows_nothing_applies(code: str, evidence: Any) -> None:
    assert reasons(code, claim("kept") | {"evidence": evidence}, LOG) is None


@pytest.mark.parametrize("row", [None, 5, "a", [], {}, cell("chat_turn", "mood", "x"), cell("x", "term", "선거")])
def test_an_unknown_field_is_not_a_wrong_value(row: Any) -> None:
    damaged = claim("kept") | {"evidence": [row]}
    assert reasons("v08_evidence_field", damaged, LOG)
    assert reasons("v09_evidence_value", damaged, LOG) is None


def test_a_wrong_value_beside_an_unknown_field_is_still_named() -> None:
    damaged = claim("kept", cell("chat_turn", "mood", "x"), cell("chat_turn", "first_person", "저"))
    assert (
        reasons("v09_evidence_value", damaged, LOG) == "evidence[1] chat_turn.first_person: expected '나', found '저'"
    )


def test_a_wrong_value_is_not_an_unknown_field() -> None:
    assert reasons("v08_evidence_field", claim("kept", cell("chat_turn", "first_person", "저")), LOG) == ""


def test_a_card_that_does_not_exist_is_not_cited() -> None:
    log = Log.of(STATE.turns, [card("C-9")], STATE.lexicon)
    reason = reasons("v09_evidence_value", claim("kept", cell("character_card", "name", "교관")), log)
    assert reason == "evidence[0] character_card.name: expected a row of the log, found none to cite"


@pytest.mark.parametrize(
    ("cell_value", "agg", "expected"),
    [
        ([], "count", 0),
        (["나", "가"], "count", 2),
        (["나", "가"], "min", "가"),
        (["나", "가"], "max", "나"),
        ([], "min", None),
        ([{"role": "동생", "entity": "하늘"}], "max", None),
        (["가"], "sum", None),
        (["가"], "avg", None),
        (["가"], "median", None),
        (["가"], ["count"], None),
        ("가", "count", None),
        ("가", "max", None),
        (True, "sum", None),
        (None, "count", None),
    ],
)
def test_aggregates(cell_value: Any, agg: Any, expected: int | str | None) -> None:
    assert aggregate(cell_value, agg) == expected
