"""Sound rows of the four tables, and tables in which a row was changed."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from wh_judge.suites import SUITES, TableName

SOUND: dict[TableName, dict[str, Any]] = {
    "chat_turn": {
        "turn_id": "T-1",
        "session_id": "S-1",
        "character_id": "CHR-1",
        "model_id": "claude-sonnet",
        "prompt_id": "P-1",
        "turn_at": datetime(2026, 9, 1, 11, 0, tzinfo=UTC),
        "user_message": "동생은 잘 지내?",
        "reply_text": "하늘이는 검술원에 있어.",
        "named_entities": ["하늘", "검술원"],
        "first_person": "나",
        "honorific_level": "반말",
        "user_asked_recall": False,
    },
    "character_card": {
        "character_id": "CHR-1",
        "name": "교관",
        "public": True,
        "honorific_rule": "반말",
        "first_person": "나",
        "canon_entities": ["검술원", "하늘"],
        "forbidden_topics": ["현실 정치"],
        "entity_roles": [{"role": "동생", "entity": "하늘"}],
    },
    "topic_lexicon": {"term": "선거", "topic": "현실 정치"},
    "verdict": {
        "turn_id": "T-1",
        "session_id": "S-1",
        "character_id": "CHR-1",
        "model_id": "claude-sonnet",
        "verdict": "설정대로 말함",
        "rule_expected": "반말 · 나",
        "rule_observed": "반말 · 나",
        "off_canon_entities": [],
        "touched_term": None,
        "touched_topic": None,
        "recall_target": None,
        "recall_source_turn": None,
        "evidence": [{"source": "chat_turn", "field": "reply_text", "agg": None, "value": "응.", "key": "T-1"}],
        "summary": "답장이 카드대로 반말입니다.",
        "hedge": None,
        "notes": ["name_null"],
    },
}

KNOWN: Mapping[str, frozenset[str]] = {
    "chat_turn.turn_id": frozenset({"T-1", "T-2"}),
    "character_card.character_id": frozenset({"CHR-1"}),
    "topic_lexicon.term": frozenset({"선거"}),
    "topic_lexicon.topic": frozenset({"현실 정치"}),
    "mention.turn_id": frozenset({"T-0"}),
}
"""The keys that sound rows refer to."""

OTHER_KEY: dict[TableName, dict[str, Any]] = {
    "chat_turn": {"turn_id": "T-2"},
    "character_card": {"character_id": "CHR-2"},
    "topic_lexicon": {"term": "국회"},
    "verdict": {"turn_id": "T-2"},
}


def table_of(table: TableName, *changes: dict[str, Any]) -> pa.Table:
    """A table with a sound row per change, changed."""
    return pa.Table.from_pylist([SOUND[table] | change for change in changes], SUITES[table].arrow_schema)


def changed(table: TableName, **change: Any) -> pa.Table:
    """Two rows: a sound one with another key, and one that was changed."""
    return table_of(table, OTHER_KEY[table], change)
