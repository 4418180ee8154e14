"""Every expectation catches the damage that it is named after, and nothing else does."""

from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest

from wh_judge.suites import SUITES, SuiteResult, TableName, validate_table

from .build import KNOWN, SOUND, changed, table_of

_EVIDENCE = SOUND["verdict"]["evidence"][0]
_TOUCHED = {"verdict": "금지 소재 접촉", "touched_term": "선거", "touched_topic": "현실 정치"}
_FORGOT = {"verdict": "앞 회차를 기억 못 함", "recall_target": "하늘", "recall_source_turn": "T-0"}

CASES: list[tuple[TableName, str, dict[str, Any]]] = [
    ("chat_turn", "turn_id is filled in every row", {"turn_id": None}),
    ("chat_turn", "turn_id is filled in every row", {"turn_id": "\u3000"}),
    ("chat_turn", "session_id is filled in every row", {"session_id": ""}),
    ("chat_turn", "character_id is filled in every row", {"character_id": None}),
    ("chat_turn", "model_id is filled in every row", {"model_id": "\t\n"}),
    ("chat_turn", "prompt_id is null or filled, never blank", {"prompt_id": " "}),
    ("chat_turn", "turn_at is given in every row", {"turn_at": None}),
    ("chat_turn", "turn_at lies in the years 2000 to 2099", {"turn_at": datetime(1970, 1, 1, tzinfo=UTC)}),
    ("chat_turn", "turn_at lies in the years 2000 to 2099", {"turn_at": datetime(2100, 1, 2, tzinfo=UTC)}),
    ("chat_turn", "named_entities has no null or blank entry", {"named_entities": ["하늘", " "]}),
    ("chat_turn", "named_entities has no null or blank entry", {"named_entities": [None]}),
    ("chat_turn", "first_person is null or filled, never blank", {"first_person": ""}),
    ("chat_turn", "honorific_level is null or filled, never blank", {"honorific_level": ""}),
    ("chat_turn", "turn_id is unique", {"turn_id": "T-2"}),
    ("chat_turn", "character_id has a card, so that the turn can be judged", {"character_id": "CHR-9"}),
    ("character_card", "character_id is filled in every row", {"character_id": None}),
    ("character_card", "name is filled in every row", {"name": " "}),
    ("character_card", "public is given in every row", {"public": None}),
    ("character_card", "honorific_rule is null or filled, never blank", {"honorific_rule": ""}),
    ("character_card", "honorific_rule is one of 반말, 존댓말", {"honorific_rule": "해요체"}),
    ("character_card", "first_person is null or filled, never blank", {"first_person": " "}),
    ("character_card", "canon_entities is given in every row", {"canon_entities": None}),
    ("character_card", "canon_entities has no null or blank entry", {"canon_entities": ["하늘", ""]}),
    ("character_card", "forbidden_topics is given in every row", {"forbidden_topics": None}),
    ("character_card", "forbidden_topics has no null or blank entry", {"forbidden_topics": ["현실 정치", None]}),
    ("character_card", "entity_roles is given in every row", {"entity_roles": None}),
    ("character_card", "entity_roles has no null or blank entry", {"entity_roles": [{"role": " ", "entity": "하늘"}]}),
    ("character_card", "entity_roles has no null or blank entry", {"entity_roles": [{"role": "동생", "entity": None}]}),
    ("character_card", "entity_roles has no null or blank entry", {"entity_roles": [None]}),
    (
        "character_card",
        "the entities of entity_roles stand in canon_entities",
        {"entity_roles": [{"role": "동생", "entity": "노을"}]},
    ),
    ("character_card", "each of forbidden_topics has a term in the lexicon", {"forbidden_topics": ["현실 종교"]}),
    ("character_card", "character_id is unique", {"character_id": "CHR-2"}),
    ("topic_lexicon", "term is filled in every row", {"term": None}),
    ("topic_lexicon", "topic is filled in every row", {"topic": " "}),
    ("topic_lexicon", "term and topic together are unique", {"term": "국회"}),
    ("verdict", "turn_id is filled in every row", {"turn_id": None}),
    ("verdict", "session_id is filled in every row", {"session_id": " "}),
    ("verdict", "character_id is filled in every row", {"character_id": None}),
    ("verdict", "model_id is filled in every row", {"model_id": ""}),
    ("verdict", "verdict is filled in every row", {"verdict": None}),
    (
        "verdict",
        "verdict is one of 설정대로 말함, 말투 어긋남, 세계관 밖 고유명사, 금지 소재 접촉, 앞 회차를 기억 못 함",
        {"verdict": "판단 보류"},
    ),
    ("verdict", "rule_expected is null or filled, never blank", {"rule_expected": " "}),
    ("verdict", "rule_observed is null or filled, never blank", {"rule_observed": " "}),
    (
        "verdict",
        "off_canon_entities has no null or blank entry",
        {"verdict": "세계관 밖 고유명사", "off_canon_entities": ["리안", ""]},
    ),
    (
        "verdict",
        "off_canon_entities names each name once",
        {"verdict": "세계관 밖 고유명사", "off_canon_entities": ["리안", "리안"]},
    ),
    ("verdict", "touched_topic is null or filled, never blank", _TOUCHED | {"touched_topic": " "}),
    ("verdict", "touched_term is null or filled, never blank", _TOUCHED | {"touched_term": ""}),
    ("verdict", "touched_term stands in the lexicon", _TOUCHED | {"touched_term": "투표"}),
    ("verdict", "touched_topic stands in the lexicon", _TOUCHED | {"touched_topic": "현실 종교"}),
    ("verdict", "touched_topic is set only where touched_term is", _TOUCHED | {"touched_term": None}),
    ("verdict", "recall_target is null or filled, never blank", _FORGOT | {"recall_target": " "}),
    ("verdict", "recall_source_turn is null or filled, never blank", _FORGOT | {"recall_source_turn": " "}),
    (
        "verdict",
        "recall_target and recall_source_turn are both set or both null",
        _FORGOT | {"recall_source_turn": None},
    ),
    ("verdict", "recall_target and recall_source_turn are both set or both null", {"recall_source_turn": "T-0"}),
    ("verdict", "recall_source_turn is another turn", _FORGOT | {"recall_source_turn": "T-1"}),
    ("verdict", "recall_source_turn is a known turn", _FORGOT | {"recall_source_turn": "T-9"}),
    ("verdict", "evidence is given in every row", {"evidence": None}),
    ("verdict", "evidence is not empty", {"evidence": []}),
    ("verdict", "evidence has no null or blank entry", {"evidence": [_EVIDENCE | {"field": None}]}),
    ("verdict", "evidence cites columns that its source has", {"evidence": [_EVIDENCE | {"field": "mood"}]}),
    ("verdict", "evidence cites columns that its source has", {"evidence": [_EVIDENCE | {"source": "gold_label"}]}),
    (
        "verdict",
        "the aggregates in evidence are count, sum, avg, min, max or none",
        {"evidence": [_EVIDENCE | {"agg": "median"}]},
    ),
    ("verdict", "summary is filled in every row", {"summary": " "}),
    ("verdict", "hedge is null or filled, never blank", {"hedge": ""}),
    ("verdict", "notes is given in every row", {"notes": None}),
    ("verdict", "notes has no null or blank entry", {"notes": [""]}),
    ("verdict", "금지 소재 접촉 only with touched_topic", {"verdict": "금지 소재 접촉"}),
    ("verdict", "세계관 밖 고유명사 only with off_canon_entities", {"verdict": "세계관 밖 고유명사"}),
    (
        "verdict",
        "세계관 밖 고유명사 only with off_canon_entities",
        {"verdict": "세계관 밖 고유명사", "off_canon_entities": None},
    ),
    ("verdict", "말투 어긋남 only with rule_expected and rule_observed that differ", {"verdict": "말투 어긋남"}),
    ("verdict", "앞 회차를 기억 못 함 only with recall_target", {"verdict": "앞 회차를 기억 못 함"}),
    (
        "verdict",
        "설정대로 말함 only where no topic, name or lapse of memory was found",
        {"off_canon_entities": ["리안"]},
    ),
    ("verdict", "turn_id is unique", {"turn_id": "T-2"}),
    ("verdict", "turn_id is a known turn", {"turn_id": "T-9"}),
    ("verdict", "character_id is a known card", {"character_id": "CHR-9"}),
]

SOFT = {
    "character_id has a card, so that the turn can be judged",
    "the entities of entity_roles stand in canon_entities",
    "each of forbidden_topics has a term in the lexicon",
}

IMPLIED = {
    "is null or filled, never blank": ("stands in the lexicon", "is a known turn", "is one of"),
    "evidence has no null or blank entry": ("evidence cites columns that its source has",),
}
"""Damage that two expectations see, by the end of the names of the one and parts of the names of the other."""


@cache
def _case(position: int) -> SuiteResult:
    table, _, change = CASES[position]
    return validate_table(table, changed(table, **change), references=KNOWN, batch="day")


_EACH_CASE = pytest.mark.parametrize(
    "position", range(len(CASES)), ids=[f"{table}: {name}, {change}" for table, name, change in CASES]
)


@_EACH_CASE
def test_damage_is_caught_by_name(position: int) -> None:
    name, failed = CASES[position][1], {one.name for one in _case(position).failed}
    allowed = tuple(part for end, parts in IMPLIED.items() if name.endswith(end) for part in parts)
    assert name in failed
    assert {other for other in failed - {name} if not any(part in other for part in allowed)} == set()


@_EACH_CASE
def test_damage_counts_the_damaged_rows(position: int) -> None:
    name = CASES[position][1]
    found = next(one for one in _case(position).expectations if one.name == name)
    assert found.unexpected_count == (2 if name.endswith("unique") else 1)


def test_every_expectation_on_rows_has_a_case() -> None:
    declared = {(suite.table, check.name) for suite in SUITES.values() for check in suite.checks if check.needs}
    assert {(table, name) for table, name, _ in CASES} == declared


def test_only_what_can_be_lived_with_is_a_warning() -> None:
    soft = {check.name for suite in SUITES.values() for check in suite.checks if check.severity == "warn"}
    assert soft == SOFT


@pytest.mark.parametrize("table", SUITES)
def test_sound_rows_meet_every_expectation(table: TableName) -> None:
    result = validate_table(table, changed(table), references=KNOWN, batch="day")
    assert (result.rows, result.failed, result.not_checked) == (2, (), ())


SOUND_CHANGES: list[tuple[TableName, dict[str, Any]]] = [
    ("chat_turn", dict.fromkeys(["prompt_id", "user_message", "reply_text", "named_entities", "first_person"])),
    ("chat_turn", {"honorific_level": None, "user_asked_recall": None}),
    ("chat_turn", {"user_message": " ", "reply_text": ""}),
    ("chat_turn", {"named_entities": []}),
    ("chat_turn", {"honorific_level": "해요체"}),
    ("chat_turn", {"turn_at": datetime(1999, 12, 31, 15, tzinfo=UTC)}),
    ("chat_turn", {"turn_at": datetime(2100, 1, 1, 11, tzinfo=UTC)}),
    ("character_card", {"honorific_rule": None, "first_person": None}),
    ("character_card", {"canon_entities": [], "forbidden_topics": [], "entity_roles": []}),
    ("topic_lexicon", {"term": "국회", "topic": "국내 정치"}),
    ("verdict", dict.fromkeys(["rule_expected", "rule_observed", "off_canon_entities"])),
    ("verdict", _TOUCHED),
    ("verdict", _FORGOT),
    ("verdict", _FORGOT | {"recall_source_turn": "T-2"}),
    ("verdict", {"verdict": "세계관 밖 고유명사", "off_canon_entities": ["리안"]}),
    ("verdict", {"verdict": "말투 어긋남", "rule_observed": "존댓말 · 저"}),
    ("verdict", {"touched_term": "선거"}),
    ("verdict", {"evidence": [_EVIDENCE | {"agg": "count", "value": None, "key": None}]}),
    ("verdict", {"hedge": "등장 이름이 비어 있습니다.", "notes": []}),
]


@pytest.mark.parametrize(("table", "change"), SOUND_CHANGES)
def test_what_is_allowed_passes(table: TableName, change: dict[str, Any]) -> None:
    assert validate_table(table, changed(table, **change), references=KNOWN, batch="day").failed == ()


def test_a_key_column_of_nulls_alone_fails() -> None:
    rows = table_of("chat_turn", {"turn_id": None}, {"turn_id": None})
    assert [one.name for one in validate_table("chat_turn", rows, batch="day").failed] == [
        "turn_id is filled in every row"
    ]
