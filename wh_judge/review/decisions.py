"""What a decision is: a row with who, when and why, about one subject. The newest on a subject counts, until undone."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from heapq import heappop, heappush
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from wh_judge.model import TERM_LIMIT, VERDICTS, Instant, Key
from wh_judge.text import nfc_inside, quoted

Kind = Literal["name", "hit", "term", "speech", "ending", "trailing", "label", "undo"]

CHOICES: Mapping[Kind, tuple[str, ...]] = {
    "name": ("add", "block", "mistake"),
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

BY_LIMIT = 200
"""Characters of who decided, for the same reason."""

TOLD_LIMIT = 200
"""Characters of a name, a term or an id that lists of decisions show: a log may hold names of any length."""

ENDING_LIMIT = 20
"""Characters of an ending: all of them stand in one pattern, which each sentence is held against."""

Subject = tuple[str, ...]


class Draft(BaseModel):
    """A decision before it is written down: it has no number yet."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    choice: str
    by: Key = Field(max_length=BY_LIMIT, description="Who decided")
    why: str | None = Field(None, max_length=WHY_LIMIT, description="Why, in their words")
    turn_id: Key | None = Field(None, description="The turn that was looked at")
    character_id: Key | None = None
    name: Key | None = None
    term: Key | None = None
    topic: Key | None = None
    instead: tuple[Key, ...] = Field(
        (),
        description="The terms that take the place of one that is narrowed; the card's name that a mistake stands for",
    )
    ending: Key | None = None
    undoes: Key | None = Field(None, description="The decision that is undone")

    @model_validator(mode="before")
    @classmethod
    def _nfc(cls, value: Any) -> Any:
        """Texts as inputs have them: in NFC, and an empty one is none. Who decided, by the name that a reader sees."""
        if not isinstance(value, dict):
            return value
        if isinstance(value.get("by"), str):
            value = value | {"by": " ".join(value["by"].split()) or " "}
        if isinstance(value.get("instead"), tuple):
            value = value | {"instead": list(value["instead"])}
        try:
            cells, _ = nfc_inside(value)
        except UnicodeEncodeError:
            raise ValueError("it holds half of a surrogate pair, which is no text") from None
        return {name: None if cell == "" else cell for name, cell in cells.items()}

    @model_validator(mode="after")
    def _whole(self) -> "Draft":
        if self.choice not in CHOICES[self.kind]:
            raise ValueError(f"choice of {self.kind} is none of {', '.join(CHOICES[self.kind])}: {quoted(self.choice)}")
        for name in SUBJECTS[self.kind]:
            if getattr(self, name) is None:
                raise ValueError(f"{name} is missing; {self.kind} needs {', '.join(SUBJECTS[self.kind])}")
        if self.choice == "narrow" and not self.instead:
            raise ValueError("instead is missing; it names the terms that take the place of a term that is narrowed")
        if self.instead and self.choice not in ("narrow", "mistake"):
            raise ValueError(
                "instead stands with a term that is narrowed or a name that is a mistake, and nothing else"
            )
        if self.choice == "mistake" and len(self.instead) > 1:
            raise ValueError("instead names one name of the card that a mistake stands for, or none")
        if any(len(term) > TERM_LIMIT for term in self.instead):
            raise ValueError(f"a term is longer than {TERM_LIMIT} characters")
        if len(self.ending or "") > ENDING_LIMIT:
            raise ValueError(f"an ending is longer than {ENDING_LIMIT} characters")
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


class Standing:
    """Which decisions count, kept up as they come in one by one.

    On a subject the newest that is not undone counts. An undo may itself be undone; then what it undid counts again.
    Each decision costs the logarithm of those on its subject, an undo also the length of its chain of undos.
    """

    def __init__(self, decisions: Iterable[Decision] = ()) -> None:
        self._rows: dict[str, tuple[int, Decision]] = {}
        self._order: list[Decision] = []
        self._undone: Counter[str] = Counter()
        """By how many undos that count a decision is undone."""
        self._places: dict[Subject, list[int]] = {}
        """A heap of places, negative, so that the newest is first; undone ones go when they come first."""
        for row in decisions:
            self.add(row)

    def add(self, row: Decision) -> Subject | None:
        """Take one more; the subject on which another decision may count now."""
        place = len(self._order)
        self._rows[row.decision_id] = place, row
        self._order.append(row)
        if row.kind == "undo":
            return self._undo(row)
        heappush(self._places.setdefault(row.subject, []), -place)
        return row.subject

    def _undo(self, row: Decision) -> Subject | None:
        by, found = 1, self._rows.get(row.undoes or "")
        while found is not None:
            place, row = found
            counted = not self._undone[row.decision_id]
            self._undone[row.decision_id] += by
            counts = not self._undone[row.decision_id]
            if counts == counted:
                return None
            if row.kind != "undo":
                if counts:
                    heappush(self._places[row.subject], -place)
                return row.subject
            by, found = 1 if counts else -1, self._rows.get(row.undoes or "")
        return None

    def newest(self, subject: Subject) -> Decision | None:
        """The decision that counts on a subject."""
        places = self._places.get(subject, [])
        while places and self._undone[self._order[-places[0]].decision_id]:
            heappop(places)
        return self._order[-places[0]] if places else None

    def knows(self, decision_id: str) -> bool:
        """Whether there is such a decision."""
        return decision_id in self._rows

    def counts(self, decision_id: str) -> bool:
        """Whether a decision, or an undo, has an effect: only that can be undone."""
        if decision_id not in self._rows or self._undone[decision_id]:
            return False
        _, row = self._rows[decision_id]
        return row.kind == "undo" or self.newest(row.subject) is row

    def in_force(self) -> list[Decision]:
        """The decisions that count, undos apart, in their order."""
        found = (self.newest(subject) for subject in self._places)
        return sorted((row for row in found if row is not None), key=lambda row: self._rows[row.decision_id][0])


def in_force(decisions: Iterable[Decision]) -> list[Decision]:
    """The decisions that count, in their order: not undone, and the newest on their subject."""
    return Standing(decisions).in_force()


def undone_by(decisions: Iterable[Decision]) -> dict[str, Decision]:
    """By what is undone, the undo that counts."""
    rows = list(decisions)
    standing = Standing(rows)
    return {row.undoes or "": row for row in rows if row.kind == "undo" and standing.counts(row.decision_id)}


def shown(row: Draft) -> str:
    """What was decided, on one line."""
    if row.kind == "undo":
        return f"undo {row.undoes}"
    about = about_told(row)
    more = f" -> {', '.join(map(quoted, row.instead))}" if row.instead else ""
    return f"{row.kind} {row.choice}{' ' if about else ''}{about}{more}"


def about_told(row: Draft) -> str:
    """What a decision is about, each cell cut at `TOLD_LIMIT`."""
    cells = (str(getattr(row, name)) for name in SUBJECTS[row.kind])
    return " ".join(f"{cell[:TOLD_LIMIT]}…" if len(cell) > TOLD_LIMIT else cell for cell in cells)


def stamp(draft: Draft, number: int, at: datetime) -> Decision:
    """The draft with its number and time."""
    return Decision(**draft.model_dump(), decision_id=f"D-{number}", at=at)
