"""What decisions change: cards, lexicon, endings and labels as they count, from what files say and people decide.

Pure. The files stay as they are; a decision that is undone leaves them as they were.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from wh_judge.review.decisions import Decision, in_force
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
    """The lexicon without the rows that were dropped; narrower terms stand where the term stood that they replace."""
    chosen = {(row.term, row.topic): row for row in in_force(decisions) if row.kind == "term" and row.choice != "keep"}
    known = {(row["term"], row["topic"]) for row in rows}
    result: list[Row] = []
    for row in rows:
        decision = chosen.get((row["term"], row["topic"]))
        if decision is None:
            result.append(row)
            continue
        for term in dict.fromkeys(decision.instead):
            if (term, row["topic"]) not in known:
                known.add((term, row["topic"]))
                result.append({"term": term, "topic": row["topic"]})
    return result


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


WITHOUT_EFFECT = frozenset({"block", "keep", "reject"})
"""Choices that leave an input as its files have it."""

TABLE_EFFECTS: Mapping[str, Any] = {
    "character_card": cards_with,
    "topic_lexicon": lexicon_with,
    "gold_label": labels_with,
}
"""How decisions change the rows of an input table, by table."""


class Made(NamedTuple):
    """A cell of an input that a decision made what it is, in the words in which a cause names it."""

    cell: str
    decision_id: str


def made_cells(table: str, rows: Sequence[Row], before: Sequence[Decision], now: Sequence[Decision]) -> list[Made]:
    """The cells that the decisions in `now` and not in `before` make other than they were, each with the last that did.

    The rows of the files are the same on both sides, so that nothing is named here that a file did.
    """
    about = _tables([*before, *now])
    before, now = ([row for row in some if about[row.decision_id] == table] for some in (before, now))
    known, so_far = {row.decision_id for row in before}, list(before)
    made: dict[str, str] = {}
    for decision in now:
        if decision.decision_id not in known:
            old = list(so_far)
            so_far.append(decision)
            made |= dict.fromkeys(_cells(table, rows, old, so_far), decision.decision_id)
    # What one of them did and another took back has made nothing.
    return [Made(cell, made[cell]) for cell in _cells(table, rows, before, now) if cell in made]


def _tables(rows: Iterable[Decision]) -> dict[str, str]:
    """The input table that each decision is about, by decision; of an undo, what it undoes."""
    found: dict[str, str] = {}
    for row in rows:
        found[row.decision_id] = found.get(row.undoes or "", "") if row.kind == "undo" else _table_of(row)
    return found


def _table_of(row: Decision) -> str:
    tables = {"name": "character_card", "term": "topic_lexicon", "ending": "settings", "trailing": "settings"}
    return tables.get(row.kind, "gold_label" if row.kind == "label" else "")


def _cells(table: str, rows: Sequence[Row], old: Sequence[Decision], new: Sequence[Decision]) -> Iterator[str]:
    if table == "character_card":
        for before, after in zip(cards_with(rows, old), cards_with(rows, new), strict=True):
            where = f"character_card {after['character_id']} canon_entities:"
            yield from _differences(where, before["canon_entities"], after["canon_entities"])
    elif table == "topic_lexicon":
        texts = [[f"{row['term']} -> {row['topic']}" for row in lexicon_with(rows, some)] for some in (old, new)]
        yield from _differences("topic_lexicon:", *texts)
    elif table == "settings":
        yield from _differences(
            "endings:", settings_with(RuleSettings(), old).parts, settings_with(RuleSettings(), new).parts
        )


def _differences(where: str, before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    for text in before:
        if text not in after:
            yield f"{where} - {text}"
    for text in after:
        if text not in before:
            yield f"{where} + {text}"


def digest_for(table: str, decisions: Iterable[Decision]) -> str:
    """What of the decisions changes an input table: equal texts change it equally."""
    chosen = [row for row in in_force(decisions) if _table_of(row) == table and row.choice not in WITHOUT_EFFECT]
    return " ".join(f"{row.decision_id} {row.choice}" for row in chosen)
