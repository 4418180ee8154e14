"""Logs, and the sound claims about them: by the references, by the kernel, and the worked ones."""

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from wh_judge.judge import judge
from wh_judge.model import CARD_SCHEMA, LEXICON_SCHEMA, TURN_SCHEMA, CharacterCard, ChatTurn, Evidence, LexiconTerm
from wh_judge.rules import Case, Lexicon, first_mentions, judge_turn
from wh_judge.validations import VALIDATIONS, Failure, Log, ValidationResult, validate

DATA = Path(__file__).parents[1] / "data"

Claim = dict[str, Any]


@dataclass(frozen=True)
class State:
    """The rows of a log. Every turn has a card."""

    turns: tuple[ChatTurn, ...]
    cards: tuple[CharacterCard, ...]
    lexicon: tuple[LexiconTerm, ...] = ()

    def log(self) -> Log:
        """The log that claims are held against."""
        return Log.of(self.turns, self.cards, self.lexicon)

    def claims(self, keyed: bool = True) -> list[Claim]:
        """The references' verdict on every turn, as JSON documents, with or without the keys of the cited rows."""
        cards = {card.character_id: card for card in self.cards}
        lexicon, mentions = Lexicon(self.lexicon), first_mentions(self.turns)
        claims = []
        for turn in self.turns:
            verdict, _ = judge_turn(Case(turn, cards[turn.character_id], lexicon, mentions))
            evidence = [_row(row, keyed) for row in verdict.evidence]
            claims.append(
                {name: getattr(verdict, name) for name in type(verdict).model_fields} | {"evidence": evidence}
            )
        return claims

    def records(self) -> list[dict[str, Any]]:
        """The kernel's verdict on every turn, as records of its table."""
        tables = [
            pa.Table.from_pylist([row.model_dump() for row in rows], schema=schema)
            for rows, schema in ((self.turns, TURN_SCHEMA), (self.cards, CARD_SCHEMA), (self.lexicon, LEXICON_SCHEMA))
        ]
        records: list[dict[str, Any]] = judge(*tables).verdicts.to_pylist()
        return records


def _row(row: Evidence, keyed: bool) -> Claim:
    cells = {"source": row.source, "field": row.field, "agg": row.agg, "value": row.value}
    return cells | ({"key": row.key} if keyed else {})


def results(claims: Sequence[Any], log: Log) -> dict[str, ValidationResult]:
    """All validations of the claims, by code."""
    return {result.code: result for result in validate(claims, log)}


def reasons(code: str, claim: Any, log: Log) -> str | None:
    """Why one validation fails one claim: "" where it passes, None where it does not apply."""
    [result] = validate([claim], log, [validation for validation in VALIDATIONS if validation.code == code])
    return None if result.not_applicable else "".join(failure.reason for failure in result.failures)


def all_failures(claims: Sequence[Any], log: Log) -> dict[str, tuple[Failure, ...]]:
    """What fails, by code; empty where all is sound."""
    return {result.code: result.failures for result in validate(claims, log) if not result.ok}


def claim_about(claims: Sequence[Claim], turn_id: str) -> Claim:
    """The claim about one turn."""
    return next(claim for claim in claims if claim["turn_id"] == turn_id)


def worked_claims() -> list[Claim]:
    """The seven worked examples as they stand."""
    claims: list[Claim] = json.loads((DATA / "worked_examples.json").read_text("utf-8"))
    return claims


def worked() -> State:
    """The log that the worked examples are about."""
    inputs = DATA / "worked_inputs"
    with (inputs / "lexicon.csv").open(encoding="utf-8", newline="") as file:
        lexicon = [LexiconTerm.model_validate(row) for row in csv.DictReader(file)]
    turns = [ChatTurn.model_validate_json(line) for line in (inputs / "turns.jsonl").read_text("utf-8").splitlines()]
    cards = [CharacterCard.model_validate(card) for card in json.loads((inputs / "cards.json").read_text("utf-8"))]
    return State(tuple(turns), tuple(cards), tuple(lexicon))


def turn(turn_id: str, **cells: Any) -> ChatTurn:
    """A turn in a session of its own that keeps to the card C-1, but for the cells given."""
    return ChatTurn.model_validate(_TURN | {"turn_id": turn_id, "session_id": f"S of {turn_id}"} | cells)


def card(character_id: str, **cells: Any) -> CharacterCard:
    """A card that wants 반말 and 나, but for the cells given."""
    return CharacterCard.model_validate(_CARD | {"character_id": character_id} | cells)


_TURN: dict[str, Any] = {
    "character_id": "C-1",
    "model_id": "M-1",
    "turn_at": "2026-09-02T10:00:00+09:00",
    "user_message": "오늘은 뭐부터 해?",
    "reply_text": "검을 잡아. 오늘은 손목부터 본다.",
    "named_entities": [],
    "first_person": "나",
    "honorific_level": "반말",
    "user_asked_recall": False,
}
_CARD: dict[str, Any] = {
    "name": "교관",
    "public": True,
    "honorific_rule": "반말",
    "first_person": "나",
    "canon_entities": ["검술원", "하늘"],
    "forbidden_topics": ["현실 정치", "도박"],
    "entity_roles": [{"role": "동생", "entity": "하늘"}, {"role": "스승", "entity": "무명"}],
}
_POLITE = {"reply_text": "저는 그렇게 생각해요. 쉬세요.", "honorific_level": "존댓말"}
_ASKED = {"session_id": "S-recall", "user_asked_recall": True, "user_message": "내 동생 이름 기억나?"}

STATE = State(
    turns=(
        turn("kept"),
        turn("level", **_POLITE),
        turn("person", first_person="저"),
        turn("both", **_POLITE, first_person="저"),
        turn("canon", reply_text="리안이 불러.", named_entities=["리안", "하늘", "리안"]),
        turn("canon many", named_entities=["가", "나", "다", "라"]),
        turn("canon polite", **_POLITE, named_entities=["리안"]),
        turn("forbidden", reply_text="요즘 선거 얘기로 시끄럽더군."),
        turn("forbidden canon", reply_text="국회에 리안이 있어.", named_entities=["리안"]),
        turn("harmless term", reply_text="내일은 축제다."),
        turn("second topic", reply_text="주사위를 굴려."),
        turn("reply null", reply_text=None),
        turn("reply blank", reply_text=" \n"),
        turn("names null", named_entities=None),
        turn("person null", first_person=None),
        turn("person null level", **_POLITE, first_person=None),
        turn("both null", named_entities=None, first_person=None),
        turn("no hangul", reply_text="OK!"),
        turn("card level open", character_id="C-2"),
        turn("card person open", character_id="C-3"),
        turn("card open", character_id="C-4", **_POLITE),
        turn("log level differs", honorific_level="존댓말"),
        turn("flag null", user_asked_recall=None),
        turn("message null", user_asked_recall=True, user_message=None),
        turn("role not found", user_asked_recall=True),
        turn("T-8", session_id="S-recall", turn_at="2026-08-30T10:00:00+09:00", named_entities=["무명"]),
        turn("T-9", session_id="S-recall", turn_at="2026-09-01T10:00:00+09:00", named_entities=["하늘"]),
        turn("T-10", **_ASKED, reply_text="글쎄, 몰라."),
        turn("T-11", **_ASKED | {"user_message": "내 스승이 누구게?"}, reply_text="글쎄, 몰라."),
        turn("T-12", **_ASKED, reply_text="하늘이지. 어제도 물었잖아.", named_entities=["하늘"]),
        turn("T-13", **_ASKED | {"user_asked_recall": False}, reply_text="글쎄, 몰라."),
        turn("T-14", **_ASKED | _POLITE),
    ),
    cards=(
        card("C-1"),
        card("C-2", honorific_rule=None),
        card("C-3", first_person=None),
        card("C-4", honorific_rule=None, first_person=None, canon_entities=[], entity_roles=[]),
    ),
    lexicon=tuple(
        LexiconTerm(term=term, topic=topic)
        for term, topic in (
            ("축제", "행사"),
            ("주사위", "놀이"),
            ("선거", "현실 정치"),
            ("국회", "현실 정치"),
            ("주사위", "도박"),
        )
    ),
)
"""Every verdict, every skipped comparison, a disagreeing log, and recall across days; the ids say which."""
