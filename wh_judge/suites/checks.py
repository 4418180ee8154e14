"""What is expected of the three input tables and the verdict table, as data.

Columns, types, required values and value sets are read from the row models and Arrow schemas in `wh_judge.model`, so
that a column added there is guarded here. Only what no schema can say is written out: the range of `turn_at`, what
verdict columns say together, and which keys must be known elsewhere.

Most expectations on rows are written as the *damage* they look for: an SQL expression that is null for a sound row
and says what is wrong with an unsound one. The expectation is then that the damage column holds nothing but nulls.
It is computed once for all rows by DuckDB; Great Expectations never walks through lists or long texts.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from wh_judge import model
from wh_judge.suites.result import Severity, TableName
from wh_judge.text import sql_text

FIRST_INSTANT, END_OF_TIME = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
"""A turn lies in [FIRST_INSTANT, END_OF_TIME); anything else is a clock or a unit gone wrong."""

REFERENCES: Mapping[str, pa.DataType] = MappingProxyType(
    {
        f"{table}.{field.name}": field.type
        for table, schema in (
            ("chat_turn", model.TURN_SCHEMA),
            ("character_card", model.CARD_SCHEMA),
            ("topic_lexicon", model.LEXICON_SCHEMA),
            ("mention", model.MENTION_SCHEMA),
        )
        for field in schema
        if pa.types.is_string(field.type)
    }
)
"""The `table.column` names whose values may be given as known keys."""


class Check(BaseModel):
    """One expectation.

    `expectation` is a class of `great_expectations.expectations` and `arguments` what it is given. It looks at the
    table's column types (`types`: a frame of one row, the types as text) or at its `rows`. `damage` is SQL over the
    columns in `needs`; the table behind a `reference` has its name and one column, `key`.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    column: str | None = None
    expectation: str = "ExpectColumnValuesToBeNull"
    arguments: Mapping[str, Any] = MappingProxyType({})
    frame: Literal["types", "rows"] = "rows"
    damage: str | None = None
    needs: tuple[str, ...] = ()
    reference: str | None = None
    severity: Severity = "error"


class Suite(BaseModel):
    """All that is expected of one table. `key` names the columns that identify a row."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    table: TableName
    arrow_schema: pa.Schema
    key: tuple[str, ...]
    checks: tuple[Check, ...]


def _damage(name: str, column: str, sql: str, *others: str, **more: Any) -> Check:
    """A check that `sql`, an expression over `column` and `others`, is null in every row."""
    return Check(
        name=name, column=column, damage=sql, needs=(column, *others), arguments={"column": name}, **more
    )


def _known(name: str, column: str, reference: str, severity: Severity = "error") -> Check:
    """A check that the column's values, or the entries of its lists, are among the keys of a reference."""
    if column == "forbidden_topics":
        sql = f'CASE WHEN NOT list_has_all((SELECT coalesce(list(key), []) FROM "{reference}"), {column}) THEN {column}::VARCHAR END'
    else:
        sql = f'CASE WHEN {column} NOT IN (SELECT key FROM "{reference}") THEN {column} END'
    return _damage(name, column, sql, reference=reference, severity=severity)


def _literals(annotation: Any) -> tuple[str, ...]:
    """The values of the `Literal` in an annotation; none where there is no Literal."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return tuple(value for part in get_args(annotation) for value in _literals(part))


def _takes_blank(row: type[model.Row], column: str) -> bool:
    """Whether the row model lets a blank text through: what people wrote may be blank, keys and labels may not."""
    try:
        return bool(TypeAdapter(row.model_fields[column].rebuild_annotation()).validate_python(" ") == " ")
    except ValidationError:
        return False


def _is_blank(value: str, required: bool) -> str:
    missing = f"WHEN {value} IS NULL THEN 'null' " if required else ""
    return f"CASE {missing}WHEN is_blank({value}) THEN 'blank: ' || {value} END"


def _entries(field: pa.Field) -> Check:
    """No list entry, and no part of one that the model requires, is null or blank."""
    kind = field.type.value_type
    required = [""]
    if pa.types.is_struct(kind):
        row = model.EntityRole if field.name == "entity_roles" else model.Evidence
        required = [f".{part}" for part, info in row.model_fields.items() if info.is_required() and part != "value"]
    bad = " OR ".join(f"e{part} IS NULL OR is_blank(e{part})" for part in required)
    return _damage(
        f"{field.name} has no null or blank entry",
        field.name,
        f"CASE WHEN len(list_filter({field.name}, lambda e: {bad})) > 0 THEN {field.name}::VARCHAR END",
    )


def _from_schema(schema: pa.Schema, row: type[BaseModel], key: tuple[str, ...]) -> Iterator[Check]:
    """What the model and the schema say: columns, types, required and blank values, entries, value sets, the key."""
    yield Check(
        name="the columns are those of the model, no more and no fewer",
        expectation="ExpectTableColumnsToMatchSet",
        arguments={"column_set": schema.names},
        frame="types",
    )
    for field in schema:
        name, text = field.name, pa.types.is_string(field.type)
        yield Check(
            name=f"{name} is of type {field.type}",
            column=name,
            expectation="ExpectColumnValuesToBeInSet",
            arguments={"column": name, "value_set": [str(field.type)]},
            frame="types",
        )
        if text and not (issubclass(row, model.Row) and _takes_blank(row, name)):
            wish = "null or filled, never blank" if field.nullable else "filled in every row"
            yield _damage(f"{name} is {wish}", name, _is_blank(name, required=not field.nullable))
        elif not field.nullable:
            yield _damage(f"{name} is given in every row", name, f"CASE WHEN {name} IS NULL THEN 'null' END")
        if pa.types.is_list(field.type):
            yield _entries(field)
        if name in row.model_fields and (values := _literals(row.model_fields[name].annotation)):
            yield Check(
                name=f"{name} is one of {', '.join(values)}",
                column=name,
                expectation="ExpectColumnValuesToBeInSet",
                arguments={"column": name, "value_set": list(values)},
                needs=(name,),
            )
    single = len(key) == 1
    yield Check(
        name=f"{' and '.join(key)} {'is' if single else 'together are'} unique",
        column=key[0] if single else None,
        expectation="ExpectColumnValuesToBeUnique" if single else "ExpectCompoundColumnsToBeUnique",
        arguments={"column": key[0]} if single else {"column_list": list(key)},
        needs=key,
    )


_TURN_CHECKS = (
    Check(
        name=f"turn_at lies in the years {FIRST_INSTANT.year} to {END_OF_TIME.year - 1}",
        column="turn_at",
        expectation="ExpectColumnValuesToBeBetween",
        arguments={"column": "turn_at", "min_value": FIRST_INSTANT, "max_value": END_OF_TIME, "strict_max": True},
        needs=("turn_at",),
    ),
    _known("character_id has a card, so that the turn can be judged", "character_id", "character_card.character_id", "warn"),
)

_CARD_CHECKS = (
    _damage(
        "the entities of entity_roles stand in canon_entities",
        "entity_roles",
        "CASE WHEN NOT list_has_all(canon_entities, list_transform(entity_roles, lambda e: e.entity)) "
        "THEN entity_roles::VARCHAR END",
        "canon_entities",
        severity="warn",
    ),
    _known("each of forbidden_topics has a term in the lexicon", "forbidden_topics", "topic_lexicon.topic", "warn"),
)

_CITABLE = ", ".join(sql_text(f"{source}.{field}") for source in model.SOURCES for field in sorted(model.COLUMNS[source]))
_AGGREGATES = ", ".join(sql_text(name) for name in get_args(model.Aggregate))


def _only(verdict: model.VerdictValue, wish: str, broken: str, *columns: str) -> Check:
    return _damage(
        f"{verdict} only {wish}",
        "verdict",
        f"CASE WHEN verdict = {sql_text(verdict)} AND ({broken}) THEN verdict END",
        *columns,
    )


_VERDICT_CHECKS = (
    _damage("evidence is not empty", "evidence", "CASE WHEN len(evidence) = 0 THEN 'empty' END"),
    _damage(
        "evidence cites columns that its source has",
        "evidence",
        "list_filter(list_transform(evidence, lambda e: concat(e.source, '.', e.field)), "
        f"lambda cited: cited NOT IN ({_CITABLE}))[1]",
    ),
    _damage(
        f"the aggregates in evidence are {', '.join(get_args(model.Aggregate))} or none",
        "evidence",
        f"list_filter(list_transform(evidence, lambda e: e.agg), lambda agg: agg NOT IN ({_AGGREGATES}))[1]",
    ),
    _damage(
        "off_canon_entities names each name once",
        "off_canon_entities",
        "CASE WHEN len(list_distinct(off_canon_entities)) < len(off_canon_entities) THEN off_canon_entities::VARCHAR END",
    ),
    _damage(
        "touched_topic is set only where touched_term is",
        "touched_topic",
        "CASE WHEN touched_term IS NULL THEN touched_topic END",
        "touched_term",
    ),
    _damage(
        "recall_target and recall_source_turn are both set or both null",
        "recall_target",
        "CASE WHEN (recall_target IS NULL) <> (recall_source_turn IS NULL) "
        "THEN coalesce(recall_target, recall_source_turn) END",
        "recall_source_turn",
    ),
    _damage(
        "recall_source_turn is another turn",
        "recall_source_turn",
        "CASE WHEN recall_source_turn = turn_id THEN recall_source_turn END",
        "turn_id",
    ),
    _only("금지 소재 접촉", "with touched_topic", "touched_topic IS NULL", "touched_topic"),
    _only(
        "세계관 밖 고유명사", "with off_canon_entities", "coalesce(len(off_canon_entities), 0) = 0", "off_canon_entities"
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
    _known("turn_id is a known turn", "turn_id", "chat_turn.turn_id"),
    _known("character_id is a known card", "character_id", "character_card.character_id"),
    _known("touched_term stands in the lexicon", "touched_term", "topic_lexicon.term"),
    _known("touched_topic stands in the lexicon", "touched_topic", "topic_lexicon.topic"),
    _known("recall_source_turn is a turn that named somebody", "recall_source_turn", "mention.turn_id"),
)


def _suite(
    table: TableName, schema: pa.Schema, row: type[BaseModel], key: tuple[str, ...], more: tuple[Check, ...] = ()
) -> Suite:
    return Suite(table=table, arrow_schema=schema, key=key, checks=(*_from_schema(schema, row, key), *more))


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
