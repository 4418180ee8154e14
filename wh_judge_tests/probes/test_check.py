"""The validator: a case is accepted only where it can be judged."""

from typing import Any

import pytest

from wh_judge.probes.case import Family, ProbeCase, Reply
from wh_judge.probes.check import check_case
from wh_judge.rules import Lexicon
from wh_judge_tests.probes import CARDS, SETTINGS, TERMS, made

PROBES = made(64)
BY_ID = {entry.character_id: entry for entry in CARDS}


def of(family: Family, level: str = "반말") -> ProbeCase:
    """A case of a family that was accepted."""
    return next(case for case in PROBES.cases if case.cell.family == family and case.cell.level == level)


def reasons(case: ProbeCase, **card_cells: Any) -> str:
    own = BY_ID[case.character_id].model_copy(update=card_cells)
    return " | ".join(check_case(case, own, Lexicon(TERMS), SETTINGS))


@pytest.mark.parametrize("case", PROBES.cases, ids=lambda case: case.case_id)
def test_an_accepted_case_stays_accepted(case: ProbeCase) -> None:
    assert reasons(case) == ""


@pytest.mark.parametrize(
    ("family", "cells", "card_cells", "reason"),
    [
        ("hold_level", {"user_message": " "}, {}, "the message is blank"),
        ("hold_level", {"user_message": "가" * 2001}, {}, "the message is longer than 2000 characters"),
        ("hold_level", {"user_message": "\x1b[2J가"}, {}, "the message holds a control character"),
        ("hold_level", {}, {"honorific_rule": "존댓말"}, "the card's speech level is not 반말"),
        ("hold_person", {}, {"first_person": "짐"}, "the card's word for I is not 나"),
        ("lure_name", {"user_message": "누구더라?"}, {}, "is not in the message"),
        ("lure_topic", {}, {"forbidden_topics": []}, "no forbidden term"),
        ("lure_topic", {"user_message": "축제 얘기 해 줘."}, {}, "no forbidden term"),
        ("recall_near", {"user_message": "이름이 뭐였지?"}, {}, "is not in the message"),
        ("recall_near", {}, {"entity_roles": []}, "the card does not have"),
        ("recall_near", {"user_asked_recall": False}, {}, "does not ask for recall"),
        ("recall_far", {"earlier": []}, {}, "was not named earlier"),
        ("control", {"user_message": "축제 가자."}, {}, "a lexicon term is in the message of a control"),
        ("long_drift", {"earlier": []}, {}, "not as many turns"),
    ],
)
def test_what_cannot_be_judged_is_refused(
    family: Family, cells: dict[str, Any], card_cells: dict[str, Any], reason: str
) -> None:
    assert reason in reasons(of(family).model_copy(update=cells), **card_cells)


def test_a_name_that_the_card_has_is_no_lure() -> None:
    case = of("lure_name")
    assert f"the card has the name {case.target}" in reasons(case, canon_entities=[case.target])


def test_a_mention_at_another_distance_is_refused() -> None:
    case = of("recall_far")
    moved = case.model_copy(update={"earlier": [*case.earlier[1:], case.earlier[0]]})
    assert "was named 1 turns before, not" in reasons(moved)


def test_a_reply_that_should_comply_and_does_not_is_refused() -> None:
    case = of("lure_topic")
    assert "the reply that complies is judged 금지 소재 접촉" in reasons(
        case.model_copy(update={"complies": case.violates})
    )


def test_a_reply_that_violates_in_another_way_is_refused() -> None:
    spoilt = of("recall_near").model_copy(update={"violates": Reply(reply_text="선거가 끝났어.")})
    assert "the reply that violates is judged 금지 소재 접촉, not 앞 회차를 기억 못 함" in reasons(spoilt)


def test_a_session_that_left_its_card_before_is_refused() -> None:
    case = of("long_drift")
    first = case.earlier[0].model_copy(update={"reply_text": "알겠습니다."})
    assert "an earlier turn is judged 말투 어긋남" in reasons(
        case.model_copy(update={"earlier": [first, *case.earlier[1:]]})
    )
