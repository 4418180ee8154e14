"""앞 회차를 기억 못 함: what was asked, whom it means, and which turn named them first."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wh_judge.model import ChatTurn
from wh_judge.rules import first_mentions
from wh_judge.rules.recall import turn_order
from wh_judge.rules.rule import Example, Mention, example
from wh_judge_tests.builders import by_kernel, by_references, judged, together, turn

Cells = dict[str, Any]

ROLES = [{"role": "동생", "entity": "하늘"}, {"role": "스승", "entity": "무명"}]
ASKED: Cells = {
    "turn_id": "T-10",
    "user_asked_recall": True,
    "user_message": "내 동생 기억나?",
    "reply_text": "글쎄, 몰라.",
}
BOTH: Cells = {"user_message": "내 스승과 동생 기억나?"}
NAMED: Cells = {"turn_id": "T-9", "reply_text": "하늘이다.", "named_entities": ["하늘"]}
MASTER: Cells = {"turn_id": "T-8", "reply_text": "무명이다.", "named_entities": ["무명"]}


def case(asked: Cells, earlier: list[Cells], roles: list[dict[str, str]] = ROLES, **card: Any) -> Example:
    """A turn that keeps to its card and asks, after others."""
    return example(ASKED | asked, {"canon_entities": ["하늘", "무명"], "entity_roles": roles} | card, earlier=earlier)


CASES: dict[str, tuple[Example, str | None, str | None]] = {
    "forgotten": (case({}, [NAMED]), "하늘", "T-9"),
    "not asked": (case({"user_asked_recall": False}, [NAMED]), None, None),
    "not known whether asked": (case({"user_asked_recall": None}, [NAMED]), None, None),
    "no message": (case({"user_message": None}, [NAMED]), None, None),
    "no role in the message": (case({"user_message": "기억나?"}, [NAMED]), None, None),
    "an entity in the message": (case({"user_message": "하늘 기억나?"}, [NAMED]), None, None),
    "a role inside a word": (case({"user_message": "남동생이랑?"}, [NAMED]), "하늘", "T-9"),
    "a role cut by white space": (case({"user_message": "동 생?"}, [NAMED]), None, None),
    "no roles in the card": (case({}, [NAMED], []), None, None),
    "nobody was named before": (case({}, []), None, None),
    "somebody else was named before": (case({}, [MASTER]), None, None),
    "a longer name was named before": (case({}, [NAMED | {"named_entities": ["하늘이"]}]), None, None),
    "named before in the reply only": (case({}, [NAMED | {"named_entities": []}]), None, None),
    "named before in the list only": (case({}, [NAMED | {"reply_text": None}]), "하늘", "T-9"),
    "null names before": (case({}, [NAMED | {"named_entities": None}]), None, None),
    "remembered": (case({"reply_text": "하늘이지."}, [NAMED]), None, None),
    "remembered inside a word": (case({"reply_text": "밤하늘이 곱다."}, [NAMED]), None, None),
    "remembered in the list only": (case({"named_entities": ["하늘"]}, [NAMED]), "하늘", "T-9"),
    "cut by white space in the reply": (case({"reply_text": "하 늘."}, [NAMED]), "하늘", "T-9"),
    "no reply": (case({"reply_text": None}, [NAMED]), None, None),
    "an empty reply": (case({"reply_text": ""}, [NAMED]), None, None),
    "a blank reply": (case({"reply_text": " \u3000\x1c"}, [NAMED]), None, None),
    "a reply that only looks blank": (case({"reply_text": "\u200b"}, [NAMED]), "하늘", "T-9"),
    "another session": (case({}, [NAMED | {"session_id": "S-2"}]), None, None),
    "another model": (case({}, [NAMED | {"model_id": "M-2"}]), "하늘", "T-9"),
    "named in this turn only": (case({"named_entities": ["하늘"]}, []), None, None),
    "named later": (case({}, [NAMED | {"turn_id": "T-11"}]), None, None),
    "named later and before": (case({}, [NAMED | {"turn_id": "T-11"}, NAMED]), "하늘", "T-9"),
    "the earliest turn": (case({}, [NAMED, NAMED | {"turn_id": "T-7"}, NAMED | {"turn_id": "T-8"}]), "하늘", "T-7"),
    "T-9 before T-10": (case({"turn_id": "T-11"}, [NAMED | {"turn_id": "T-10"}, NAMED]), "하늘", "T-9"),
    "the length is that of the text and not of its bytes": (
        case({"turn_id": "T-100"}, [NAMED | {"turn_id": "T-12"}, NAMED | {"turn_id": "가-8"}]),
        "하늘",
        "가-8",
    ),
    "T-9 is no later than T-10 is": (case({"turn_id": "T-9"}, [NAMED | {"turn_id": "T-10"}]), None, None),
    "turn order and not time": (
        case({"turn_at": "2026-09-01T00:00:00+09:00"}, [NAMED | {"turn_at": "2026-09-05T00:00:00+09:00"}]),
        "하늘",
        "T-9",
    ),
    "another day": (case({}, [NAMED | {"turn_at": "2026-08-01T00:00:00+09:00"}]), "하늘", "T-9"),
    "card order": (case(BOTH, [NAMED, MASTER]), "하늘", "T-9"),
    "card order the other way": (case(BOTH, [NAMED, MASTER], ROLES[::-1]), "무명", "T-8"),
    "the first was not named before": (case(BOTH, [MASTER]), "무명", "T-8"),
    "the first is remembered": (case(BOTH | {"reply_text": "하늘이지."}, [NAMED, MASTER]), "무명", "T-8"),
    "both are remembered": (case(BOTH | {"reply_text": "하늘과 무명이지."}, [NAMED, MASTER]), None, None),
    "one role, two entities": (
        case({}, [MASTER], [{"role": "동생", "entity": "하늘"}, {"role": "동생", "entity": "무명"}]),
        "무명",
        "T-8",
    ),
    "two roles, one entity": (
        case({"user_message": "막내 동생?"}, [NAMED], [{"role": "막내", "entity": "하늘"}, ROLES[0]]),
        "하늘",
        "T-9",
    ),
    "overlapping roles": (
        case(
            {"user_message": "동생?"}, [MASTER], [{"role": "생", "entity": "하늘"}, {"role": "동생", "entity": "무명"}]
        ),
        "무명",
        "T-8",
    ),
    "a role is literal": (case({"user_message": "누구?"}, [NAMED], [{"role": ".", "entity": "하늘"}]), None, None),
    "a role is literal and there": (
        case({"user_message": "누구..."}, [NAMED], [{"role": ".", "entity": "하늘"}]),
        "하늘",
        "T-9",
    ),
    "not in the canon": (case({}, [NAMED], canon_entities=[]), "하늘", "T-9"),
}
"""The case, the target and the source turn."""


@pytest.mark.parametrize(("asked", "target", "source"), CASES.values(), ids=CASES)
def test_whom_the_reply_forgot(asked: Example, target: str | None, source: str | None) -> None:
    record = judged(asked)
    assert (record["recall_target"], record["recall_source_turn"]) == (target, source)


@pytest.mark.parametrize(("asked", "target", "source"), CASES.values(), ids=CASES)
def test_the_verdict_holds_where_somebody_was_forgotten(asked: Example, target: str | None, source: str | None) -> None:
    assert (judged(asked)["verdict"] == "앞 회차를 기억 못 함") == (target is not None)


@pytest.mark.parametrize(("canon", "field"), [(["하늘"], "canon_entities"), (["무명"], "entity_roles")])
def test_evidence(canon: list[str], field: str) -> None:
    """The question, whom the card names for it and where, the turn that named them, and the reply that does not."""
    evidence = judged(case({}, [NAMED], canon_entities=canon))["evidence"]
    assert [tuple(row[name] for name in ("source", "field", "agg", "value", "key")) for row in evidence] == [
        ("chat_turn", "user_asked_recall", None, "true", "T-10"),
        ("chat_turn", "user_message", None, "내 동생 기억나?", "T-10"),
        ("character_card", "entity_roles", None, "동생", "C-1"),
        ("character_card", field, None, "하늘", "C-1"),
        ("chat_turn", "turn_id", None, "T-9", "T-9"),
        ("chat_turn", "reply_text", None, "하늘이다.", "T-9"),
        ("chat_turn", "reply_text", None, "글쎄, 몰라.", "T-10"),
    ]


def test_the_role_that_is_cited_is_that_of_the_target() -> None:
    evidence = judged(case(BOTH | {"reply_text": "하늘이지."}, [NAMED, MASTER]))["evidence"]
    assert [row["value"] for row in evidence if row["field"] == "entity_roles"] == ["스승"]


def test_the_summary_names_role_target_and_turn() -> None:
    assert judged(case({}, [NAMED]))["summary"] == (
        "유저가 물은 「동생」의 카드 이름은 「하늘」이고 앞 회차 「T-9」에 나왔는데,"
        " 이번 답장에는 한 번도 나오지 않습니다."
    )


def test_both_forms_agree_on_the_cases() -> None:
    log = together(asked for asked, *_ in CASES.values())
    assert by_kernel(log) == by_references(log)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [("T-9", "T-10"), ("T-1", "T-2"), ("T-099", "T-100"), ("Z", "a"), ("9", "10"), ("z-9", "a-10"), ("a-9", "하-9")],
)
def test_the_order_of_turns_is_by_length_and_then_by_text(earlier: str, later: str) -> None:
    assert turn_order(earlier) < turn_order(later)


def test_a_first_mention_is_the_earliest_of_its_session() -> None:
    turns = [
        turn("T-10", session_id="S-1", named_entities=["하늘"], reply_text="열"),
        turn("T-9", session_id="S-1", named_entities=["하늘", "무명", "하늘"], reply_text="아홉"),
        turn("T-1", session_id="S-2", named_entities=["하늘"], reply_text=None),
        turn("T-2", session_id="S-1", named_entities=None),
    ]
    assert first_mentions(turns) == {
        ("S-1", "하늘"): Mention("T-9", "아홉"),
        ("S-1", "무명"): Mention("T-9", "아홉"),
        ("S-2", "하늘"): Mention("T-1", None),
    }


MENTIONING = [
    turn(turn_id, session_id=session, named_entities=names, reply_text=turn_id)
    for turn_id, session, names in [
        ("T-9", "S-1", ["가", "나"]),
        ("T-10", "S-1", ["나", "다"]),
        ("T-11", "S-1", ["가", "라"]),
        ("T-8", "S-2", ["가"]),
        ("T-7", "S-2", ["가", "가"]),
    ]
]


@given(st.permutations(MENTIONING))
def test_first_mentions_do_not_depend_on_the_order_of_the_turns(turns: list[ChatTurn]) -> None:
    assert first_mentions(turns) == first_mentions(MENTIONING)
