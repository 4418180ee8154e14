"""What a rule is: its documentation, its reference in plain Python and its set-based form, side by side.

The reference judges one turn and is written to be read; the validations recompute with it. The set-based form is SQL
over columns of the kernel (`wh_judge.judge`): the turn's columns, the card's as `card_honorific_rule`,
`card_first_person`, `canon_first` (its first name) and `canon_count`, and those of the tables that the rules make. No
list of a card is among them: it would be copied for every turn. A property test holds the two together.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from wh_judge.model import CharacterCard, ChatTurn, Evidence, LexiconTerm, Source, VerdictValue
from wh_judge.text import SENTENCE_ENDS, is_trailing, nfc

if TYPE_CHECKING:
    from wh_judge.rules.forbidden import Lexicon, Touch
    from wh_judge.rules.recall import Recall
    from wh_judge.rules.speech import Speech

DEFAULT_ENDINGS = ("요", "죠", "니다", "십시오")

TRAILING_PART = "ignore_trailing."
"""Stands for `ignore_trailing` among the parts; no ending has a sentence end in it."""


class RuleSettings(BaseModel):
    """What creators may adjust in the rules."""

    model_config = ConfigDict(frozen=True)

    endings: tuple[str, ...] = DEFAULT_ENDINGS
    ignore_trailing: bool = False
    """Whether what trails an ending (`~`, ㅎㅎ, ♡, emoji, closing quotes) is passed over when the ending is read."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The settings as single texts, of which each can be added or taken away; `of_parts` makes them anew."""
        return (*self.endings, *([TRAILING_PART] if self.ignore_trailing else []))

    @classmethod
    def of_parts(cls, parts: Collection[str]) -> "RuleSettings":
        """The settings of these parts. Not validated: between two sound settings there may be one without endings."""
        endings = tuple(part for part in parts if part != TRAILING_PART)
        return cls.model_construct(endings=endings, ignore_trailing=TRAILING_PART in parts)

    @field_validator("endings")
    @classmethod
    def _usable(cls, endings: tuple[str, ...]) -> tuple[str, ...]:
        if not endings:
            raise ValueError("endings is empty: name at least one, such as 요")
        if any("," in ending for ending in endings):
            raise ValueError("an ending has a comma in it; write each ending as a text of its own")
        for ending in endings:
            if not ending or any(c.isspace() or c in SENTENCE_ENDS for c in ending):
                raise ValueError(f"the ending {ending!r} is empty or has white space or a sentence end in it")
        return tuple(nfc(ending) for ending in endings)

    @model_validator(mode="after")
    def _trails_nothing(self) -> "RuleSettings":
        for ending in self.endings if self.ignore_trailing else ():
            if any(map(is_trailing, ending)):
                raise ValueError(f"the ending {ending!r} holds a mark that ignore_trailing passes over")
        return self


DEFAULT_SETTINGS = RuleSettings()


class Mention(NamedTuple):
    """The earliest turn of a session that named an entity."""

    turn_id: str
    reply_text: str | None


@dataclass(frozen=True)
class Case:
    """A turn with everything it is judged by."""

    turn: ChatTurn
    card: CharacterCard
    lexicon: "Lexicon"
    mentions: Mapping[tuple[str, str], Mention] = field(default_factory=dict)
    """The earliest mention in the log by (session_id, entity), this turn's own included."""
    settings: RuleSettings = DEFAULT_SETTINGS


@dataclass(frozen=True)
class Findings:
    """What the four comparisons found in one turn; all are filled whichever verdict wins."""

    speech: "Speech"
    off_canon: list[str] | None
    touch: "Touch | None"
    recall: "Recall"


@dataclass(frozen=True)
class Example:
    """A turn for the documentation, complete enough to be judged."""

    turn: ChatTurn
    card: CharacterCard
    lexicon: tuple[LexiconTerm, ...] = ()
    earlier: tuple[ChatTurn, ...] = ()


def example(
    turn: dict[str, Any],
    card: dict[str, Any],
    lexicon: Sequence[tuple[str, str]] = (),
    earlier: Sequence[dict[str, Any]] = (),
) -> Example:
    """An example from only the fields that matter to it; the others are those of a turn that keeps to its card."""
    return Example(
        turn=ChatTurn.model_validate(_TURN | turn),
        card=CharacterCard.model_validate(_CARD | card),
        lexicon=tuple(LexiconTerm(term=term, topic=topic) for term, topic in lexicon),
        earlier=tuple(ChatTurn.model_validate(_TURN | fields) for fields in earlier),
    )


_TURN: dict[str, Any] = {
    "turn_id": "T-2",
    "session_id": "S-1",
    "character_id": "C-1",
    "model_id": "M-1",
    "turn_at": "2026-09-01T20:00:00+09:00",
    "user_message": "오늘은 뭐부터 해?",
    "reply_text": "검을 잡아.",
    "named_entities": [],
    "first_person": "나",
    "user_asked_recall": False,
}
_CARD: dict[str, Any] = {
    "character_id": "C-1",
    "name": "교관",
    "public": True,
    "honorific_rule": "반말",
    "first_person": "나",
    "canon_entities": ["검술원", "하늘"],
    "forbidden_topics": ["현실 정치"],
    "entity_roles": [{"role": "동생", "entity": "하늘"}],
}


@dataclass(frozen=True)
class Rule:
    """One rule. The SQL fragments see the columns named in the module docstring and those of every rule."""

    code: str
    verdict: VerdictValue
    what: str
    why: str
    reference: str
    """The sentence of the specification that the rule carries out."""
    breaks: Example
    keeps: Example
    holds: Callable[[Findings], bool]
    evidence: Callable[[Case, Findings], list[Evidence]]
    summary: Callable[[Case, Findings], str]
    columns_sql: Callable[[RuleSettings], Mapping[str, str]]
    holds_sql: str
    evidence_sql: str
    summary_sql: str


def cite(source: Source, key: str, field: str, value: str | bool | None) -> Evidence:
    """An evidence row for one cell of the row `key` of `source`."""
    return Evidence.model_construct(source=source, field=field, agg=None, value=value, key=key)


def cite_count(source: Source, key: str, field: str, count: int) -> Evidence:
    """An evidence row for the number of elements of a list cell."""
    return Evidence.model_construct(source=source, field=field, agg="count", value=count, key=key)


SQL_MACROS = """
CREATE MACRO cite(source, key, field, value) AS
    {'source': source, 'field': field, 'agg': NULL::VARCHAR, 'value': value::VARCHAR, 'key': key};
CREATE MACRO cite_count(source, key, field, number) AS
    {'source': source, 'field': field, 'agg': 'count', 'value': number::VARCHAR, 'key': key};
"""
