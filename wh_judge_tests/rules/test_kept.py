"""설정대로 말함, and the order in which the rules are tried."""

from itertools import combinations
from typing import Any

import pytest

from wh_judge.rules.rule import Example, example
from wh_judge_tests.builders import Record, by_kernel, by_references, judged, together

FORBIDDEN, CANON, SPEECH, RECALL, KEPT = (
    "금지 소재 접촉",
    "세계관 밖 고유명사",
    "말투 어긋남",
    "앞 회차를 기억 못 함",
    "설정대로 말함",
)
ORDER = (FORBIDDEN, CANON, SPEECH, RECALL)
HOLDS: dict[str, dict[str, Any]] = {
    FORBIDDEN: {"reply_text": "선거다."},
    CANON: {"named_entities": ["리안"]},
    SPEECH: {"first_person": "저"},
    RECALL: {"user_asked_recall": True},
}
"""Cells by which each verdict holds, apart from the others."""

SETS = [held for size in range(len(ORDER) + 1) for held in combinations(ORDER, size)]


def case(held: tuple[str, ...]) -> Example:
    """A turn for which these verdicts hold and no others."""
    cells = {name: cell for verdict in held for name, cell in HOLDS[verdict].items()}
    earlier = {"turn_id": "T-1", "reply_text": "하늘이다.", "named_entities": ["하늘"]}
    return example({"user_message": "내 동생 기억나?"} | cells, {}, [("선거", "현실 정치")], [earlier])


@pytest.mark.parametrize("held", SETS, ids=" + ".join)
def test_the_first_that_holds_gives_the_verdict(held: tuple[str, ...]) -> None:
    assert judged(case(held))["verdict"] == next(iter(held), KEPT)


@pytest.mark.parametrize("held", SETS, ids=" + ".join)
def test_all_fields_are_filled_whichever_verdict_wins(held: tuple[str, ...]) -> None:
    record = judged(case(held))
    assert {name: record[name] for name in expected(held)} == expected(held)


def expected(held: tuple[str, ...]) -> Record:
    """What the four comparisons find."""
    return {
        "rule_expected": "반말 · 나",
        "rule_observed": "반말 · 저" if SPEECH in held else "반말 · 나",
        "off_canon_entities": ["리안"] if CANON in held else [],
        "touched_term": "선거" if FORBIDDEN in held else None,
        "touched_topic": "현실 정치" if FORBIDDEN in held else None,
        "recall_target": "하늘" if RECALL in held else None,
        "recall_source_turn": "T-1" if RECALL in held else None,
    }


def test_both_forms_agree_on_all_that_can_hold_together() -> None:
    log = together(map(case, SETS))
    assert by_kernel(log) == by_references(log)


SUMMARIES: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (
        {"named_entities": ["하늘", "검술원", "하늘"]},
        {},
        "견준 말투·1인칭 2가지가 모두 카드와 같고 등장 이름 3개 가운데 카드 밖 이름은 없습니다.",
    ),
    (
        {"first_person": None},
        {},
        "견준 말투·1인칭 1가지가 모두 카드와 같고 등장 이름 0개 가운데 카드 밖 이름은 없습니다.",
    ),
    (
        {"first_person": None, "named_entities": None},
        {"honorific_rule": None},
        "말투와 1인칭은 0가지를 견줄 수 있었고 등장 이름은 견주지 못했습니다.",
    ),
]


@pytest.mark.parametrize(("turn", "card", "summary"), SUMMARIES)
def test_the_summary_says_how_much_was_compared(turn: dict[str, Any], card: dict[str, Any], summary: str) -> None:
    assert judged(example(turn, card))["summary"] == summary


def test_both_forms_agree_on_the_summaries() -> None:
    log = together(example(turn, card) for turn, card, _ in SUMMARIES)
    assert by_kernel(log) == by_references(log)
