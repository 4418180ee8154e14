"""What decisions may be about: turns, characters and lexicon rows that readers have, or that were decided on before.

Whoever decides has read a published snapshot, which can be looked at whoever has the warehouse open. What is gone from
it later was there when somebody decided on it: the book says so.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import duckdb

from wh_judge.errors import UserError
from wh_judge.review.book import book_of, read_book, write_down
from wh_judge.review.decisions import Decision, Draft
from wh_judge.rules import RuleSettings
from wh_judge.text import is_trailing, quoted

MEND = "correct it, or let wh-judge run publish it first"


class Given(NamedTuple):
    """A decision that somebody gives, and where it stands, such as a row of a file."""

    draft: Draft
    where: str


def decide(snapshot: duckdb.DuckDBPyConnection | None, data: Path, given: Sequence[Given]) -> list[Decision]:
    """Write decisions down, all of them or none: what is written is about something that there is.

    Args:
        snapshot: what is published; None where nothing is.
        data: the folder of the book.
        given: decisions in their order.

    Returns:
        What was written, as `wh_judge.review.book.write_down` does.

    Raises:
        UserError: a decision is about what does not exist, adds what is there, or cannot be written down.
    """
    path = book_of(data)
    known = _Known(snapshot, read_book(path))
    for draft, where in given:
        if what := known.lacks(draft) or known.has(draft):
            raise UserError(f"{where}: {what}")
    return write_down(path, [one.draft for one in given])


def check_endings(given: Sequence[Given], configured: RuleSettings, *, ignoring: bool) -> None:
    """Refuse decisions on endings that could never count beside the settings.

    Args:
        given: decisions in their order.
        configured: the settings without any decision.
        ignoring: whether what trails an ending is passed over now.

    Raises:
        UserError: one of them is such a decision.
    """
    held = next((ending for ending in configured.endings if _holds_trailing(ending)), None)
    for draft, where in given:
        if draft.kind == "trailing" and draft.choice == "ignore" and held:
            raise UserError(
                f"{where}: the setting endings names {quoted(held)}, which holds a mark that would be passed over;"
                " change the setting first"
            )
        if draft.kind == "ending" and draft.choice == "add" and ignoring and _holds_trailing(draft.ending or ""):
            raise UserError(
                f"{where}: {quoted(draft.ending or '')} holds a mark that is passed over, so that it would never count;"
                " leave out what trails it"
            )


def _holds_trailing(ending: str) -> bool:
    return any(map(is_trailing, ending))


def by_hand(draft: Draft) -> list[Given]:
    """A decision that stands in no file."""
    return [Given(draft, f"{draft.kind} {draft.choice}")]


class _Known:
    def __init__(self, snapshot: duckdb.DuckDBPyConnection | None, decisions: Sequence[Decision]) -> None:
        self._snapshot = snapshot
        self._decided = {key for row in decisions for key in _keys(row)}
        self._found: set[tuple[str, ...]] = set()
        # A card may have a name by a decision that is undone since the copy was published.
        self._added = {row.subject for row in decisions if row.kind == "name" and row.choice == "add"}
        self._canon: dict[str, set[str]] = {}

    def lacks(self, draft: Draft) -> str | None:
        """What a decision names and nobody knows, with what to do about it; None where everything is known."""
        for key in _keys(draft):
            if key in self._decided or key in self._found:
                continue
            if self._snapshot is None:
                return "nothing is published yet, so that there is nothing to decide on; run wh-judge run first"
            sql, words = _LOOKED_UP[key[0]]
            if not self._snapshot.execute(sql, list(key[1:])).fetchall():
                return f"{words.format(*map(quoted, key[1:]))}; {MEND}"
            self._found.add(key)
        return None

    def has(self, draft: Draft) -> str | None:
        """What a decision would add and is there already; None where it is not, or is there by a decision."""
        if self._snapshot is None or (draft.kind, draft.choice) != ("name", "add") or draft.subject in self._added:
            return None
        card, name = draft.character_id or "", draft.name or ""
        if card not in self._canon:
            rows = self._snapshot.execute(_CANON, [card]).fetchall()
            self._canon[card] = {row[0] for row in rows}
        if name not in self._canon[card]:
            return None
        return f"the card of {quoted(card)} has the name {quoted(name)} already, so that there is nothing to add"


def _keys(row: Draft) -> list[tuple[str, ...]]:
    """What a decision names. Names and endings may be new."""
    keys: list[tuple[str, ...]] = []
    if row.turn_id is not None:
        keys.append(("turn", row.turn_id))
    if row.character_id is not None:
        keys.append(("card", row.character_id))
    if row.choice == "mistake":
        keys += [("canon", row.character_id or "", name) for name in row.instead]
    if row.term is not None and row.topic is not None:
        keys.append(("term", row.term, row.topic))
        if row.turn_id is not None:
            keys.append(("hit", row.turn_id, row.term))
    return keys


_CANON = "SELECT unnest(canon_entities) FROM character_card WHERE character_id = ?"

_LOOKED_UP = {
    "turn": ("SELECT 1 FROM chat_turn WHERE turn_id = ?", "there is no turn {0}"),
    "card": ("SELECT 1 FROM character_card WHERE character_id = ?", "there is no character {0}"),
    "canon": (
        "SELECT 1 FROM character_card WHERE character_id = $1 AND (name = $2 OR list_contains(canon_entities, $2))",
        "the card of {0} does not have the name {1}",
    ),
    "term": ("SELECT 1 FROM topic_lexicon WHERE term = ? AND topic = ?", "the lexicon has no row {0} -> {1}"),
    "hit": (
        "SELECT 1 FROM chat_turn WHERE turn_id = ? AND contains(reply_text, ?)",
        "the reply of turn {0} does not hold {1}",
    ),
}
"""How each is looked up in a snapshot, and the words where it is not there."""
