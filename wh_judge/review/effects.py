"""What decisions change: cards, lexicon, endings and labels as they count, from what files say and people decide.

Pure. The files stay as they are; a decision that is undone leaves them as they were.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from wh_judge.review.decisions import Decision, in_force
from wh_judge.review.narrowing import standing_for
from wh_judge.rules import RuleSettings

Row = dict[str, Any]


def cards_with(cards: Sequence[Row], decisions: Iterable[Decision]) -> list[Row]:
    """The cards with the names that were added, at the end of their canon, in the order of the decisions."""
    added: dict[str, list[str]] = {}
    for row in in_force(decisions):
        if row.kind == "name" and row.choice == "add":
            added.setdefault(row.character_id or "", []).append(row.name or "")
    return [_with_names(card, added.get(card["character_id"], ())) for card in cards]


def _with_names(card: Row, names: Iterable[str]) -> Row:
    new = [name for name in names if name not in card["canon_entities"]]
    return card | {"canon_entities": [*card["canon_entities"], *new]} if new else card


def lexicon_with(rows: Sequence[Row], decisions: Iterable[Decision]) -> list[Row]:
    """The lexicon without the rows that were dropped; narrower terms stand where the term stood that they replace, and
    may be dropped or narrowed like any other."""
    instead = instead_by_topic(in_force(decisions))
    own = {(row["term"], row["topic"]) for row in rows}
    placed: set[tuple[str, str]] = set()
    result: list[Row] = []
    for row in rows:
        term, topic = row["term"], row["topic"]
        if term not in instead.get(topic, {}):
            result.append(row)
            continue
        for other in standing_for(term, instead[topic]):
            # One that the file has, too, stands in its own place.
            if (other, topic) not in placed and (other == term or (other, topic) not in own):
                placed.add((other, topic))
                result.append({"term": other, "topic": topic})
    return result


def instead_by_topic(counting: Iterable[Decision]) -> dict[str, dict[str, Sequence[str]]]:
    """By topic and term, the terms that take the place of one that was dropped or narrowed.

    Args:
        counting: decisions that are in force.
    """
    found: dict[str, dict[str, Sequence[str]]] = {}
    for row in counting:
        if row.kind == "term" and row.choice != "keep":
            found.setdefault(row.topic or "", {})[row.term or ""] = row.instead
    return found


def settings_with(settings: RuleSettings, decisions: Iterable[Decision]) -> RuleSettings:
    """The settings with the endings that were added, and with trailing marks ignored where that was decided.

    An ending that the settings could not hold, such as one that ends in a mark that is passed over, is left out.
    """
    rows = in_force(decisions)
    ignore = settings.ignore_trailing or any(row.kind == "trailing" and row.choice == "ignore" for row in rows)
    parts = dict.fromkeys(settings.endings)
    for row in rows:
        if row.kind == "ending" and row.choice == "add" and row.ending not in parts:
            try:
                RuleSettings(endings=(row.ending or "",), ignore_trailing=ignore)
            except ValueError:
                continue
            parts[row.ending or ""] = None
    return RuleSettings(endings=tuple(parts), ignore_trailing=ignore)


class Labelled(NamedTuple):
    """Who gave a turn which label. `by` is None for the file of labels."""

    turn_id: str
    verdict: str
    by: str | None
    note: str | None


def all_labels(gold: Sequence[Row], decisions: Iterable[Decision]) -> list[Labelled]:
    """Every label in force: those of the file first, then those of people, in the order in which they were given."""
    of_file = [Labelled(row["turn_id"], row["verdict"], None, row.get("note")) for row in gold]
    given = [
        Labelled(row.turn_id or "", row.choice, row.by, row.why) for row in in_force(decisions) if row.kind == "label"
    ]
    return [*of_file, *given]


def labels_with(gold: Sequence[Row], decisions: Iterable[Decision]) -> list[Row]:
    """One label for each turn: the one that most gave; of several that as many gave, the one that was given first."""
    by_turn: dict[str, list[Labelled]] = {}
    for label in all_labels(gold, decisions):
        by_turn.setdefault(label.turn_id, []).append(label)
    result = []
    for turn_id, labels in by_turn.items():
        votes = [label.verdict for label in labels]
        chosen = max(labels, key=lambda label: votes.count(label.verdict))
        result.append({"turn_id": turn_id, "verdict": chosen.verdict, "note": chosen.note})
    return result


WITHOUT_EFFECT = frozenset({"block", "keep", "mistake", "reject"})
"""Choices that leave an input as its files have it."""

TABLE_EFFECTS: Mapping[str, Any] = {
    "character_card": cards_with,
    "topic_lexicon": lexicon_with,
    "gold_label": labels_with,
}
"""How decisions change the rows of an input table, by table."""


def digest_for(table: str, decisions: Iterable[Decision]) -> str:
    """What of the decisions changes an input table: equal texts change it equally."""
    chosen = [row for row in in_force(decisions) if table_of(row) == table and row.choice not in WITHOUT_EFFECT]
    return " ".join(f"{row.decision_id} {row.choice}" for row in chosen)


def table_of(row: Decision) -> str:
    """The input that a decision is about: a table, `settings`, or none."""
    tables = {"name": "character_card", "term": "topic_lexicon", "ending": "settings", "trailing": "settings"}
    return tables.get(row.kind, "gold_label" if row.kind == "label" else "")
