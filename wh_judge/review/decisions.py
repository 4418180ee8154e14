"""What a decision is: a row with who, when and why, about one subject. The newest on a subject counts, until undone."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from wh_judge.model import TERM_LIMIT, VERDICTS, Instant, Key
from wh_judge.text import nfc

Kind = Literal["name", "hit", "term", "speech", "ending", "trailing", "label", "undo"]

CHOICES: Mapping[Kind, tuple[str, ...]] = {
    "name": ("add", "block"),
    "hit": ("harmful", "harmless"),
    "term": ("drop", "narrow", "keep"),
    "speech": ("반말", "존댓말", "섞임"),
    "ending": ("add", "reject"),
    "trailing": ("ignore", "reject"),
    "label": VERDICTS,
    "undo": ("undo",),
}
"""What may be chosen, by kind."""

SUBJECTS: Mapping[Kind, tuple[str, ...]] = {
    "name": ("character_id", "name"),
    "hit": ("turn_id", "term", "topic"),
    "term": ("term", "topic"),
    "speech": ("turn_id",),
    "ending": ("ending",),
    "trailing": (),
    "label": ("turn_id",),
    "undo": ("undoes",),
}
"""The fields that say what a decision is about, by kind; each must be filled."""

PERSONAL: frozenset[Kind] = frozenset({"label", "speech"})
"""Kinds of which each person's own decision counts beside the others'."""

WHY_LIMIT = 2_000
"""Characters of a reason: every list of decisions and every cause shows it whole."""

Subject = tuple[str, ...]


class Draft(BaseModel):
    """A decision before it is written down: it has no number yet."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    choice: str
    by: Key = Field(description="Who decided")
    why: str | None = Field(None, max_length=WHY_LIMIT, description="Why, in their words")
    turn_id: Key | None = Field(None, description="The turn that was looked at")
    character_id: Key | None = None
    name: Key | None = None
    term: Key | None = None
    topic: Key | None = None
    instead: tuple[Key, ...] = Field((), description="The terms that take the place of one that is narrowed")
    ending: Key | None = None
    undoes: Key | None = Field(None, description="The decision that is undone")

    @model_validator(mode="before")
    @classmethod
    def _nfc(cls, value: Any) -> Any:
        """Texts as inputs have them: in NFC, and an empty one is none."""
        if not isinstance(value, dict):
            return value
        cells = {name: nfc(cell) if isinstance(cell, str) else cell for name, cell in value.items()}
        if isinstance(cells.get("instead"), list | tuple):
            cells["instead"] = tuple(nfc(term) if isinstance(term, str) else term for term in cells["instead"])
        return {name: None if cell == "" else cell for name, cell in cells.items()}

    @model_validator(mode="after")
    def _whole(self) -> "Draft":
        if self.choice not in CHOICES[self.kind]:
            raise ValueError(f"choice of {self.kind} is none of {', '.join(CHOICES[self.kind])}: {self.choice!r}")
        for name in SUBJECTS[self.kind]:
            if getattr(self, name) is None:
                raise ValueError(f"{name} is missing; {self.kind} needs {', '.join(SUBJECTS[self.kind])}")
        if (self.choice == "narrow") != bool(self.instead):
            raise ValueError("instead names the terms of a term that is narrowed, and of nothing else")
        if any(len(term) > TERM_LIMIT for term in self.instead):
            raise ValueError(f"a term is longer than {TERM_LIMIT} characters")
        if self.kind == "ending" and self.choice == "add":
            from wh_judge.rules import RuleSettings

            RuleSettings(endings=(self.ending or "",))
        return self

    @property
    def subject(self) -> Subject:
        """What it is about: of several decisions on one subject the newest counts."""
        about = tuple(str(getattr(self, name)) for name in SUBJECTS[self.kind])
        return (self.kind, *about, *([self.by] if self.kind in PERSONAL else []))


class Decision(Draft):
    """A decision as it stands in the book."""

    decision_id: Key
    at: Instant = Field(description="When it was written down")


def in_force(decisions: Iterable[Decision]) -> list[Decision]:
    """The decisions that count, in their order: not undone, and the newest on their subject.

    An undo may itself be undone; then what it undid counts again.
    """
    rows = list(decisions)
    undone: set[str] = set()
    for row in reversed(rows):
        if row.kind == "undo" and row.decision_id not in undone:
            undone.add(row.undoes or "")
    newest = {row.subject: row for row in rows if row.kind != "undo" and row.decision_id not in undone}
    chosen = {row.decision_id for row in newest.values()}
    return [row for row in rows if row.decision_id in chosen]


def shown(row: Draft) -> str:
    """What was decided, on one line."""
    if row.kind == "undo":
        return f"undo {row.undoes}"
    about = " ".join(str(getattr(row, name)) for name in SUBJECTS[row.kind])
    more = f" -> {', '.join(row.instead)}" if row.instead else ""
    return f"{row.kind} {row.choice}{' ' if about else ''}{about}{more}"


def stamp(draft: Draft, number: int, at: datetime) -> Decision:
    """The draft with its number and time."""
    return Decision(**draft.model_dump(), decision_id=f"D-{number}", at=at)
