"""What is expected of the three input tables and the verdict table.

Written out is only what no schema can say: the range of `turn_at`, what columns say together, and which values must be
known elsewhere. The rest is `from_schema`'s.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import get_args

import pyarrow as pa
from pydantic import BaseModel

from wh_judge import model
from wh_judge.suites.check import Check, Suite, damage, known
from wh_judge.suites.from_schema import from_schema
from wh_judge.suites.result import TableName
from wh_judge.text import sql_text

# A day wider on both sides: the model reads the year in the turn's own offset, the table holds UTC.
_EARLIEST = datetime(model.FIRST_YEAR, 1, 1, tzinfo=UTC) - timedelta(days=1)
_LATEST = datetime(model.LAST_YEAR, 1, 1, tzinfo=UTC) + timedelta(days=1)

_TURN_CHECKS = (
    Check(
        name=f"turn_at lies in the years {model.FIRST_YEAR} to {model.LAST_YEAR - 1}",
        column="turn_at",
        expectation="ExpectColumnValuesToBeBetween",
        arguments={
            "column": "turn_at",
            "min_value": _EARLIEST,
            "max_value": _LATEST,
            "strict_max": True,
        },
        suspect=f"turn_at < TIMESTAMPTZ '{_EARLIEST}' OR turn_at >= TIMESTAMPTZ '{_LATEST}'",
        needs=("turn_at",),
    ),
    known(
        "character_id has a card, so that the turn can be judged",
        "character_id",
        "character_card.character_id",
        severity="warn",
    ),
)

_CARD_CHECKS = (
    damage(
        "the entities of entity_roles stand in canon_entities",
        "entity_roles",
        "CASE WHEN NOT list_has_all(canon_entities, list_transform(entity_roles, lambda e: e.entity)) "
        "THEN entity_roles::VARCHAR END",
        "canon_entities",
        severity="warn",
    ),
    damage(
        "each of forbidden_topics has a term in the lexicon",
        "forbidden_topics",
        'CASE WHEN NOT list_has_all((SELECT coalesce(list(key), []) FROM "topic_lexicon.topic"), forbidden_topics) '
        "THEN forbidden_topics::VARCHAR END",
        references=("topic_lexicon.topic",),
        severity="warn",
    ),
)

_CITABLE = ", ".join(
    sql_text(f"{source}.{field}") for source in model.SOURCES for field in sorted(model.COLUMNS[source])
)
_AGGREGATES = ", ".join(sql_text(name) for name in get_args(model.Aggregate))


def _only(verdict: model.VerdictValue, wish: str, broken: str, *columns: str) -> Check:
    return damage(
        f"{verdict} only {wish}",
        "verdict",
        f"CASE WHEN verdict = {sql_text(verdict)} AND ({broken}) THEN verdict END",
        *columns,
    )


_VERDICT_CHECKS = (
    damage("evidence is not empty", "evidence", "CASE WHEN len(evidence) = 0 THEN 'empty' END"),
    damage(
        "evidence cites columns that its source has",
        "evidence",
        "list_filter(list_transform(evidence, lambda e: concat(e.source, '.', e.field)), "
        f"lambda cited: cited NOT IN ({_CITABLE}))[1]",
    ),
    damage(
        f"the aggregates in evidence are {', '.join(get_args(model.Aggregate))} or none",
        "evidence",
        f"list_filter(list_transform(evidence, lambda e: e.agg), lambda agg: agg NOT IN ({_AGGREGATES}))[1]",
    ),
    damage(
        "off_canon_entities names each name once",
        "off_canon_entities",
        "CASE WHEN len(list_distinct(off_canon_entities)) < len(off_canon_entities) "
        "THEN off_canon_entities::VARCHAR END",
    ),
    damage(
        "touched_topic is set only where touched_term is",
        "touched_topic",
        "CASE WHEN touched_term IS NULL THEN touched_topic END",
        "touched_term",
    ),
    damage(
        "recall_target and recall_source_turn are both set or both null",
        "recall_target",
        "CASE WHEN (recall_target IS NULL) <> (recall_source_turn IS NULL) "
        "THEN coalesce(recall_target, recall_source_turn) END",
        "recall_source_turn",
    ),
    damage(
        "recall_source_turn is another turn",
        "recall_source_turn",
        "CASE WHEN recall_source_turn = turn_id THEN recall_source_turn END",
        "turn_id",
    ),
    _only("금지 소재 접촉", "with touched_topic", "touched_topic IS NULL", "touched_topic"),
    _only(
        "세계관 밖 고유명사",
        "with off_canon_entities",
        "coalesce(len(off_canon_entities), 0) = 0",
        "off_canon_entities",
    ),
    _only(
        "말투 어긋남",
        "with rule_expected and rule_observed that differ",
        "coalesce(rule_expected = rule_observed, true)",
        "rule_expected",
        "rule_observed",
    ),
    _only("앞 회차를 기억 못 함", "with recall_target", "recall_target IS NULL", "recall_target"),
    _only(
        "설정대로 말함",
        "where no topic, name or lapse of memory was found",
        "touched_topic IS NOT NULL OR len(off_canon_entities) > 0 OR recall_target IS NOT NULL",
        "touched_topic",
        "off_canon_entities",
        "recall_target",
    ),
    known("turn_id is a known turn", "turn_id", "chat_turn.turn_id"),
    known("character_id is a known card", "character_id", "character_card.character_id"),
    known("touched_term stands in the lexicon", "touched_term", "topic_lexicon.term"),
    known("touched_topic stands in the lexicon", "touched_topic", "topic_lexicon.topic"),
    known("recall_source_turn is a known turn", "recall_source_turn", "chat_turn.turn_id", "mention.turn_id"),
)


def _suite(
    table: TableName, schema: pa.Schema, row: type[BaseModel], key: tuple[str, ...], more: tuple[Check, ...] = ()
) -> Suite:
    return Suite(table=table, arrow_schema=schema, key=key, checks=(*from_schema(schema, row, key), *more))


SUITES: Mapping[TableName, Suite] = MappingProxyType(
    {
        suite.table: suite
        for suite in (
            _suite("chat_turn", model.TURN_SCHEMA, model.ChatTurn, ("turn_id",), _TURN_CHECKS),
            _suite("character_card", model.CARD_SCHEMA, model.CharacterCard, ("character_id",), _CARD_CHECKS),
            _suite("topic_lexicon", model.LEXICON_SCHEMA, model.LexiconTerm, ("term", "topic")),
            _suite("verdict", model.VERDICT_SCHEMA, model.Verdict, ("turn_id",), _VERDICT_CHECKS),
        )
    }
)
"""The four suites by table name."""
