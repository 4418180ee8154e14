"""The rows of a probe set."""

import hashlib
import json
from collections.abc import Sequence
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from wh_judge.model import CharacterCard, ChatTurn, Honorific, LexiconTerm, VerdictValue
from wh_judge.rules import Case, Lexicon, RuleSettings, first_mentions, judge_turn

Family = Literal[
    "hold_level", "hold_person", "lure_name", "lure_topic", "recall_near", "recall_far", "long_drift", "control"
]
FAMILIES: tuple[Family, ...] = get_args(Family)
FAMILY_NAMES: dict[Family, tuple[str, str]] = {
    "hold_level": ("말투 지키기", "hold the speech level"),
    "hold_person": ("1인칭 지키기", "hold the word for I"),
    "lure_name": ("모르는 이름 꾀기", "lure to an unknown name"),
    "lure_topic": ("금지 소재 꾀기", "lure to a forbidden topic"),
    "recall_near": ("바로 앞 기억", "recall from the turn before"),
    "recall_far": ("먼 기억", "recall after unrelated turns"),
    "long_drift": ("긴 대화", "drift in a long session"),
    "control": ("대조군", "nothing that lures"),
}
Genre = Literal["일상", "모험", "고민", "놀이"]
GENRES: tuple[Genre, ...] = get_args(Genre)
Strength = Literal["weak", "strong"]

KEPT: VerdictValue = "설정대로 말함"
"""What is expected of every case."""


class Part(BaseModel):
    """A part of a probe set: frozen, and JSON after `model_dump`."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Cell(Part):
    """The place of a case in the taxonomy."""

    family: Family
    level: Honorific | None
    """The card's."""
    person: Literal["set", "open"]
    """Whether the card sets the word for I."""
    genre: Genre
    relation: str | None = None
    """The role that is asked for."""
    strength: Strength | None = None
    """Of the lure."""
    distance: int | None = None
    """Turns from the question back to the one that named whom it asks for."""
    turns: int
    """Of the session, the tried one included."""


class Reply(Part):
    """A reply with what a log would say of it."""

    reply_text: str
    named_entities: list[str] = []
    first_person: str | None = None


class ScriptedTurn(Reply):
    """A turn before the one that is tried."""

    user_message: str


class ProbeCase(Part):
    """One case. Its id is what a log gives as prompt_id."""

    case_id: str
    cell: Cell
    character_id: str
    earlier: list[ScriptedTurn]
    user_message: str
    user_asked_recall: bool
    target: str
    """What is at stake: a speech level, a word for I, a name, a lexicon term."""
    intended: VerdictValue
    """What a reply gets that falls for it."""
    complies: Reply
    violates: Reply
    writer: str = "templates"
    """Who wrote the user's message."""


class Refusal(Part):
    """A draft that was not accepted."""

    cell: Cell
    character_id: str
    user_message: str
    reasons: list[str]


class Unfillable(Part):
    """A cell, or a kind of cells, for which there is no case."""

    family: Family
    level: Honorific | None
    cell: Cell | None
    """None where no card has such cells at all."""
    reason: str


class ProbeSet(Part):
    """A frozen set."""

    digest: str
    """Of the cases and of what they were checked with; `frozen` gives it."""
    seed: int
    cards: dict[str, str]
    """By character_id, the hash of the card that the cases were checked with."""
    lexicon: str
    endings: list[str]
    cases: list[ProbeCase]
    refused: list[Refusal]
    unfillable: list[Unfillable]


def identified(case: ProbeCase) -> ProbeCase:
    """The case with an id that follows from what it says."""
    content = case.model_dump(exclude={"case_id"})
    return case.model_copy(update={"case_id": f"PROBE-{case.cell.family}-{_hash(content)[:10]}"})


def frozen(
    seed: int,
    cards: Sequence[CharacterCard],
    lexicon: Sequence[LexiconTerm],
    settings: RuleSettings,
    cases: Sequence[ProbeCase],
    refused: Sequence[Refusal] = (),
    unfillable: Sequence[Unfillable] = (),
) -> ProbeSet:
    """A set of cases, in order of their ids, under its digest."""
    used = {case.character_id for case in cases}
    unfrozen = ProbeSet(
        digest="",
        seed=seed,
        cards={card.character_id: card_hash(card) for card in cards if card.character_id in used},
        lexicon=_hash([row.model_dump() for row in lexicon]),
        endings=list(settings.endings),
        cases=sorted(cases, key=lambda case: case.case_id),
        refused=list(refused),
        unfillable=list(unfillable),
    )
    return unfrozen.model_copy(update={"digest": digest_of(unfrozen)})


def digest_of(probes: ProbeSet) -> str:
    """The digest of what a set is to be judged by; refusals are no part of it."""
    return _hash(probes.model_dump(include={"cards", "lexicon", "endings", "cases"}))


def card_hash(card: CharacterCard) -> str:
    """The same exactly where the cards are."""
    return _hash(card.model_dump())[:16]


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def turns_of(case: ProbeCase, reply: Reply) -> list[ChatTurn]:
    """The case as a session of a log, the tried turn last."""
    script = [*case.earlier, ScriptedTurn(user_message=case.user_message, **reply.model_dump())]
    return [
        ChatTurn.model_validate(
            {
                "turn_id": f"T-{number}",
                "session_id": case.case_id or "S",
                "character_id": case.character_id,
                "model_id": "probe",
                "turn_at": "2026-09-01T00:00:00+09:00",
                "user_message": turn.user_message,
                "reply_text": turn.reply_text,
                "named_entities": turn.named_entities,
                "first_person": turn.first_person,
                "user_asked_recall": number == len(script) and case.user_asked_recall,
            }
        )
        for number, turn in enumerate(script, 1)
    ]


def verdicts_of(
    case: ProbeCase, reply: Reply, card: CharacterCard, lexicon: Lexicon, settings: RuleSettings
) -> list[VerdictValue]:
    """What the judge says of each turn of the case with this reply, the tried turn last."""
    turns = turns_of(case, reply)
    mentions = first_mentions(turns)
    return [judge_turn(Case(turn, card, lexicon, mentions, settings))[0].verdict for turn in turns]
