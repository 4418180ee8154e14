"""The cells of an input that decisions made what they are, in the words in which a cause names them. Pure.

Each decision is taken once and touches only its own cells, so that a long book costs no more than its length.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from wh_judge.review.decisions import Decision, Standing, Subject
from wh_judge.review.effects import Row, instead_by_topic, table_of
from wh_judge.review.narrowing import standing_for
from wh_judge.rules import RuleSettings
from wh_judge.rules.rule import TRAILING_PART
from wh_judge.text import is_trailing


class Made(NamedTuple):
    """A cell, and the decision that made it what it is."""

    cell: str
    decision_id: str


class Place(NamedTuple):
    """A text in an input: a name of a card, a row of the lexicon, an ending."""

    where: str
    text: str


def made_cells(table: str, rows: Sequence[Row], before: Sequence[Decision], now: Sequence[Decision]) -> list[Made]:
    """The cells that the decisions in `now` and not in `before` make other than they were, each with the last that did.

    Args:
        table: `character_card`, `topic_lexicon` or `settings`; decisions change no cell of any other.
        rows: what the input's files say, the same on both sides: nothing is named here that a file did.
        before: decisions that are known.
        now: these and newer ones, oldest first.
    """
    if table not in _INPUTS:
        return []
    there, standing = _INPUTS[table](rows), Standing()
    counting: dict[Subject, Decision | None] = {}
    known = {row.decision_id for row in before}
    was: dict[Place, bool] = {}
    last: dict[Place, str] = {}
    for row in [*before, *(row for row in now if row.decision_id not in known)]:
        subject = standing.add(row)
        if subject is None:
            continue
        old, new = counting.get(subject), standing.newest(subject)
        if new is old or table_of(new or old or row) != table:
            continue
        counting[subject] = new
        for place, held in there.take(old, new):
            if row.decision_id not in known:
                was.setdefault(place, held)
                last[place] = row.decision_id
    # What one of them did and another took back has made nothing.
    return [
        Made(f"{place.where} {'-' if held else '+'} {place.text}", last[place])
        for place, held in was.items()
        if there.holds(place) != held
    ]


class _Texts(ABC):
    """The texts of an input as they come and go with the decisions that count."""

    @abstractmethod
    def __init__(self, rows: Sequence[Row]) -> None:
        """Args:
        rows: what the input's files say.
        """

    @abstractmethod
    def holds(self, place: Place) -> bool:
        """Whether a text is there."""

    @abstractmethod
    def take(self, old: Decision | None, new: Decision | None) -> list[tuple[Place, bool]]:
        """Let a decision count in the place of another: the texts that came or went, and whether they were there."""


class _Counted(_Texts):
    """Texts that each decision adds by itself."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._held: Counter[Place] = Counter()
        """How many times a text is there; it is gone where that is none."""

    def holds(self, place: Place) -> bool:
        return self._held[place] > 0

    def take(self, old: Decision | None, new: Decision | None) -> list[tuple[Place, bool]]:
        changes: Counter[Place] = Counter()
        for decision, by in ((old, -1), (new, 1)):
            for place, more in self._changes(decision, by) if decision else ():
                changes[place] += by * more
        found = []
        for place, more in changes.items():
            held = self.holds(place)
            self._held[place] += more
            if self.holds(place) != held:
                found.append((place, held))
        return found

    @abstractmethod
    def _changes(self, decision: Decision, by: int) -> Iterator[tuple[Place, int]]:
        """What a decision that counts adds to the texts; `by` is -1 where it ceases to count."""


class _Cards(_Counted):
    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__(rows)
        self._known = {row["character_id"] for row in rows}
        for row in rows:
            self._held.update(self._place(row["character_id"], name) for name in row["canon_entities"])

    def _changes(self, decision: Decision, by: int) -> Iterator[tuple[Place, int]]:
        if decision.choice == "add" and decision.character_id in self._known:
            yield self._place(decision.character_id or "", decision.name or ""), 1

    @staticmethod
    def _place(character_id: str, name: str) -> Place:
        return Place(f"character_card {character_id} canon_entities:", name)


class _Lexicon(_Texts):
    """The rows of the lexicon: what a decision changes depends on others of its topic."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._of_files: dict[str, set[str]] = {}
        for row in rows:
            self._of_files.setdefault(row["topic"], set()).add(row["term"])
        self._terms = {topic: set(terms) for topic, terms in self._of_files.items()}
        self._held = Counter(self._place(term, topic) for topic, terms in self._terms.items() for term in terms)
        self._instead: dict[str, dict[str, Sequence[str]]] = {}

    def holds(self, place: Place) -> bool:
        return self._held[place] > 0

    def take(self, old: Decision | None, new: Decision | None) -> list[tuple[Place, bool]]:
        topic, term = next((row.topic or "", row.term or "") for row in (new, old) if row is not None)
        instead = self._instead.setdefault(topic, {})
        instead.pop(term, None)
        for chosen in (instead_by_topic([new]) if new else {}).values():
            instead |= chosen
        terms = self._of_files.get(topic, set())
        now = terms - instead.keys() | {one for term in terms & instead.keys() for one in standing_for(term, instead)}
        before, self._terms[topic] = self._terms.get(topic, set()), now
        found = []
        for one in sorted(before ^ now):
            place = self._place(one, topic)
            held = self.holds(place)
            self._held[place] += 1 if one in now else -1
            if self.holds(place) != held:
                found.append((place, held))
        return found

    @staticmethod
    def _place(term: str, topic: str) -> Place:
        return Place("topic_lexicon:", f"{term} -> {topic}")


class _Settings(_Counted):
    """Of the settings, what decisions say beside the default."""

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__(rows)
        self._held.update(self._place(part) for part in RuleSettings().parts)
        self._passed_over: Counter[str] = Counter()
        """Endings that were added and cannot hold while what trails an ending is passed over."""
        self._ignoring = False

    def _changes(self, decision: Decision, by: int) -> Iterator[tuple[Place, int]]:
        if decision.kind == "trailing" and decision.choice == "ignore":
            self._ignoring = by > 0
            yield self._place(TRAILING_PART), 1
            for ending, count in self._passed_over.items():
                yield self._place(ending), -count
        elif decision.kind == "ending" and decision.choice == "add":
            ending = decision.ending or ""
            if _holds_trailing(ending):
                self._passed_over[ending] += by
            if not (self._ignoring and _holds_trailing(ending)):
                yield self._place(ending), 1

    @staticmethod
    def _place(part: str) -> Place:
        return Place("endings:", part)


def _holds_trailing(ending: str) -> bool:
    return any(map(is_trailing, ending))


_INPUTS: dict[str, type[_Texts]] = {"character_card": _Cards, "topic_lexicon": _Lexicon, "settings": _Settings}
