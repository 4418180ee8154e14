"""The rows and the closed vocabularies.

Everything that crosses a border of the program is one of these models: the three input tables, the gold label, the
verdict and its evidence. Inside, rows travel as Arrow tables with the schemas at the end of this file.
"""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal, get_args
from zoneinfo import ZoneInfo

import pyarrow as pa
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    StringConstraints,
)
from pydantic.json_schema import SkipJsonSchema

Honorific = Literal["반말", "존댓말"]
VerdictValue = Literal["설정대로 말함", "말투 어긋남", "세계관 밖 고유명사", "금지 소재 접촉", "앞 회차를 기억 못 함"]
Source = Literal["chat_turn", "character_card", "topic_lexicon"]
Aggregate = Literal["count", "sum", "avg", "min", "max"]

VERDICTS: tuple[str, ...] = get_args(VerdictValue)
SOURCES: tuple[str, ...] = get_args(Source)

SCHEMA_VERSION = 1
"""Raised by hand when a table's columns change meaning; part of the code version of every asset."""


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("is blank")
    return value


def _blank_is_null(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


def _an_instant(value: Any) -> Any:
    """Only texts and datetimes: pydantic would read a number as seconds since 1970, which no log line says it means."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise ValueError("is no ISO 8601 date and time, such as 2026-09-01T20:01:00+09:00") from None
    if not isinstance(value, datetime):
        raise ValueError("is no date and time")
    if value.tzinfo is None:
        raise ValueError("has no offset; write it out, such as +09:00")
    if not FIRST_YEAR <= value.year < LAST_YEAR:
        raise ValueError(f"lies outside the years {FIRST_YEAR} to {LAST_YEAR - 1}")
    return value


KST = ZoneInfo("Asia/Seoul")
"""A turn's day is its date here."""

FIRST_YEAR, LAST_YEAR = 2000, 2100


def _text_or_null(value: Any) -> Any:
    return value if isinstance(value, str) else None


Key = Annotated[str, StringConstraints(min_length=1), AfterValidator(_not_blank)]
"""A text that identifies something: never null, empty or blank."""

Label = Annotated[str | None, BeforeValidator(_blank_is_null)]
"""A short label that a server extracted; blank means that it extracted nothing."""

Instant = Annotated[AwareDatetime, BeforeValidator(_an_instant)]


TERM_LIMIT = 200
"""Characters of a lexicon term: the automaton that looks for all terms at once is slow to build for longer ones."""


class Row(BaseModel):
    """A row of an input table. Unknown columns are ignored here and reported by the reader."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class ChatTurn(Row):
    """One turn of a chat log: what the user wrote and what the character replied."""

    turn_id: Key = Field(description="Identifies the turn in the whole log")
    session_id: Key = Field(description="The conversation that the turn belongs to")
    character_id: Key = Field(description="The character that replied")
    model_id: Key = Field(description="The language model that wrote the reply")
    prompt_id: Label = Field(None, description="Ties together the turns in which several models answered one prompt")
    turn_at: Instant = Field(description="When the reply was given; its date in Asia/Seoul is the turn's day")
    user_message: str | None = Field(None, description="What the user wrote")
    reply_text: str | None = Field(None, description="What the character replied")
    named_entities: list[Key] | None = Field(
        None, description="Names found in the reply; null where none could be read"
    )
    first_person: Label = Field(None, description="The word the reply uses for I; null where none could be read")
    honorific_level: Label = Field(None, description="The chat server's guess at the speech level; decides nothing")
    user_asked_recall: bool | None = Field(None, description="Whether the user asked about something said before")


class EntityRole(Row):
    """Who is whom to a character: the word a user would use, and the name it stands for."""

    role: Key
    entity: Key


class CharacterCard(Row):
    """How a character speaks, what exists in its world and what it must not touch."""

    character_id: Key = Field(description="Identifies the character")
    name: Key = Field(description="The character's name")
    public: bool = Field(description="Whether anyone may read this character's past conversations")
    honorific_rule: Honorific | None = Field(None, description="The speech level; null where the card leaves it open")
    first_person: Label = Field(None, description="The word for I; null where the card leaves it open")
    canon_entities: list[Key] = Field(description="The names that exist in the character's world")
    forbidden_topics: list[Key] = Field(description="Topics that the character must not touch")
    entity_roles: list[EntityRole] = Field(description="Who is whom to the character, in the card's order")


class LexiconTerm(Row):
    """A term that betrays a topic. The order of the rows matters; one term may stand in several rows."""

    term: Annotated[Key, StringConstraints(max_length=TERM_LIMIT)] = Field(
        description="Looked for as a literal substring of the reply"
    )
    topic: Key = Field(description="The topic that the term belongs to")


class GoldLabel(Row):
    """What a creator who read a turn says of it."""

    turn_id: Key = Field(description="The labelled turn")
    verdict: VerdictValue = Field(description="The verdict that the creator gives")
    note: Label = Field(None, description="Why, in the creator's words")


class Evidence(BaseModel):
    """One cited cell: `value` is the cell, or one element of a list cell, to the letter.

    With `agg` the value is that aggregate of the cell. `key` is the key of the cited row (turn_id, character_id, or
    position in the lexicon) and stays inside the program.
    """

    model_config = ConfigDict(frozen=True)

    source: Source
    field: str
    agg: Aggregate | None = None
    value: str | int | FiniteFloat | bool | None
    key: Annotated[str | None, BeforeValidator(_text_or_null), SkipJsonSchema()] = Field(None, exclude=True)


class Verdict(BaseModel):
    """The judgement of one turn, in the output schema."""

    model_config = ConfigDict(frozen=True)

    turn_id: str = Field(description="The judged turn")
    session_id: str = Field(description="Its conversation")
    character_id: str = Field(description="The character that replied")
    model_id: str = Field(description="The language model that wrote the reply")
    verdict: VerdictValue = Field(description="The first rule that holds, else 설정대로 말함")
    rule_expected: str | None = Field(None, description="The card's speech level and word for I, joined")
    rule_observed: str | None = Field(
        None, description="The speech level read from the reply and the log's word for I, joined"
    )
    off_canon_entities: list[str] | None = Field(
        None, description="Names of the reply that the card does not have; null where not compared"
    )
    touched_term: str | None = Field(None, description="A lexicon term that stands in the reply")
    touched_topic: str | None = Field(None, description="Its topic, where the card forbids it")
    recall_target: str | None = Field(
        None, description="The asked name that an earlier turn named and this reply does not"
    )
    recall_source_turn: str | None = Field(None, description="The earliest turn that named it")
    evidence: list[Evidence] = Field(description="The cells that decided, each with its source, field and value")
    summary: str = Field(description="One polite Korean sentence with the figures that the verdict rests on")
    hedge: str | None = Field(None, description="What could not be compared, and where the log disagrees")


_TEXT = pa.string()
_TEXTS = pa.list_(_TEXT)
_ROLES = pa.list_(pa.struct([("role", _TEXT), ("entity", _TEXT)]))
_EVIDENCE = pa.list_(pa.struct([(name, _TEXT) for name in ("source", "field", "agg", "value", "key")]))

TURN_SCHEMA = pa.schema(
    [
        pa.field("turn_id", _TEXT, nullable=False),
        pa.field("session_id", _TEXT, nullable=False),
        pa.field("character_id", _TEXT, nullable=False),
        pa.field("model_id", _TEXT, nullable=False),
        ("prompt_id", _TEXT),
        pa.field("turn_at", pa.timestamp("us", "UTC"), nullable=False),
        ("user_message", _TEXT),
        ("reply_text", _TEXT),
        ("named_entities", _TEXTS),
        ("first_person", _TEXT),
        ("honorific_level", _TEXT),
        ("user_asked_recall", pa.bool_()),
    ]
)
CARD_SCHEMA = pa.schema(
    [
        pa.field("character_id", _TEXT, nullable=False),
        pa.field("name", _TEXT, nullable=False),
        pa.field("public", pa.bool_(), nullable=False),
        ("honorific_rule", _TEXT),
        ("first_person", _TEXT),
        pa.field("canon_entities", _TEXTS, nullable=False),
        pa.field("forbidden_topics", _TEXTS, nullable=False),
        pa.field("entity_roles", _ROLES, nullable=False),
    ]
)
LEXICON_SCHEMA = pa.schema([pa.field("term", _TEXT, nullable=False), pa.field("topic", _TEXT, nullable=False)])
GOLD_SCHEMA = pa.schema(
    [pa.field("turn_id", _TEXT, nullable=False), pa.field("verdict", _TEXT, nullable=False), ("note", _TEXT)]
)
MENTION_SCHEMA = pa.schema(
    [
        pa.field("session_id", _TEXT, nullable=False),
        pa.field("entity", _TEXT, nullable=False),
        pa.field("turn_id", _TEXT, nullable=False),
        ("reply_text", _TEXT),
    ]
)
"""Who was named in which turn: the first turn of the session that named the entity, with its reply."""

VERDICT_SCHEMA = pa.schema(
    [
        pa.field("turn_id", _TEXT, nullable=False),
        pa.field("session_id", _TEXT, nullable=False),
        pa.field("character_id", _TEXT, nullable=False),
        pa.field("model_id", _TEXT, nullable=False),
        pa.field("verdict", _TEXT, nullable=False),
        ("rule_expected", _TEXT),
        ("rule_observed", _TEXT),
        ("off_canon_entities", _TEXTS),
        ("touched_term", _TEXT),
        ("touched_topic", _TEXT),
        ("recall_target", _TEXT),
        ("recall_source_turn", _TEXT),
        pa.field("evidence", _EVIDENCE, nullable=False),
        pa.field("summary", _TEXT, nullable=False),
        ("hedge", _TEXT),
        pa.field("notes", _TEXTS, nullable=False),
    ]
)
"""The verdict with one column more than the output schema: `notes`, the codes of what the hedge says.

Evidence values are text here; `evidence_value` gives them the type of the column they cite.
"""

USED_SCHEMA = pa.schema(
    [
        pa.field("turn_id", _TEXT, nullable=False),
        pa.field("lexicon_rows", pa.list_(pa.struct([("term", _TEXT), ("topic", _TEXT)])), nullable=False),
        pa.field("mentions", pa.list_(pa.struct([("entity", _TEXT), ("turn_id", _TEXT)])), nullable=False),
    ]
)
"""What a verdict rests on besides its turn, card and settings: the lexicon rows whose term stands in the reply, in
lexicon order, and of the entities that the user asked for the earlier turn that named each first. Exactly these decide:
with other lexicon rows and other mentions beside them the verdict would be the same."""

UNJUDGED_SCHEMA = pa.schema(
    [pa.field(name, _TEXT, nullable=False) for name in VERDICT_SCHEMA.names[:4]] + [("reason", _TEXT)]
)

COLUMNS: dict[str, frozenset[str]] = {
    "chat_turn": frozenset(TURN_SCHEMA.names),
    "character_card": frozenset(CARD_SCHEMA.names),
    "topic_lexicon": frozenset(LEXICON_SCHEMA.names),
}
"""The columns that evidence may cite, by source."""

_BOOLEAN_FIELDS = {"user_asked_recall", "public"}


def evidence_value(field: str, agg: str | None, text: str | None) -> str | int | bool | None:
    """The typed value of an evidence row whose value is stored as text."""
    if text is None:
        return None
    if agg == "count":
        return int(text)
    return text == "true" if field in _BOOLEAN_FIELDS else text


def verdict_from_record(record: dict[str, Any]) -> Verdict:
    """A verdict from one record of an Arrow table in `VERDICT_SCHEMA` (extra columns are ignored)."""
    evidence = [
        Evidence.model_construct(**row | {"value": evidence_value(row["field"], row["agg"], row["value"])})
        for row in record["evidence"]
    ]
    return Verdict.model_construct(**{name: record[name] for name in Verdict.model_fields} | {"evidence": evidence})


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def turns_from(table: pa.Table) -> list[ChatTurn]:
    """The rows of a table in TURN_SCHEMA; they were validated when they were read."""
    turns = [ChatTurn.__new__(ChatTurn) for _ in range(table.num_rows)]
    place, moments = table.schema.names.index("turn_at"), table["turn_at"]
    # Arrow makes a moment in more time than all other cells of a turn; their keys stay in order.
    others = table.set_column(place, "turn_at", pa.nulls(table.num_rows)).to_pylist()
    passed = moments.cast(pa.timestamp("us", "UTC")).to_numpy().view("timedelta64[us]").tolist()
    for turn, record, since in zip(turns, others, passed, strict=True):
        record["turn_at"] = _EPOCH + since
        _fill(turn, record)
    return turns


_NAMES = set(TURN_SCHEMA.names)


def _fill(turn: ChatTurn, record: dict[str, Any]) -> None:
    """What `model_construct` does, for a record that has every field and no other: that takes ten times as long."""
    object.__setattr__(turn, "__dict__", record)
    object.__setattr__(turn, "__pydantic_fields_set__", _NAMES)
    object.__setattr__(turn, "__pydantic_extra__", None)
    object.__setattr__(turn, "__pydantic_private__", None)


def cards_from(table: pa.Table) -> list[CharacterCard]:
    """The rows of a table in CARD_SCHEMA."""
    return [
        CharacterCard.model_construct(
            **record | {"entity_roles": [EntityRole.model_construct(**role) for role in record["entity_roles"]]}
        )
        for record in table.to_pylist()
    ]


def lexicon_from(table: pa.Table) -> list[LexiconTerm]:
    """The rows of a table in LEXICON_SCHEMA."""
    return [LexiconTerm.model_construct(**record) for record in table.to_pylist()]


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """The verdict as a JSON document in the output schema; `agg` is left out where there is none."""
    document = verdict.model_dump()
    for row in document["evidence"]:
        if row["agg"] is None:
            del row["agg"]
    return document
