"""Decisions taken one by one give what all of them taken anew at each step would give."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wh_judge.review.decisions import Decision, Draft, Standing, in_force
from wh_judge.review.effects import cards_with, lexicon_with, settings_with
from wh_judge.review.made import made_cells
from wh_judge.rules import RuleSettings
from wh_judge_tests.review.build import book, draft, name, undo

CARDS: list[dict[str, Any]] = [
    {"character_id": "C-1", "canon_entities": ["하늘", "검술원"]},
    {"character_id": "C-2", "canon_entities": []},
]
LEXICON = [{"term": "가", "topic": "x"}, {"term": "나", "topic": "x"}, {"term": "가", "topic": "y"}]
ROWS: dict[str, list[dict[str, Any]]] = {"character_card": CARDS, "topic_lexicon": LEXICON, "settings": []}

TERMS = ("가", "나", "다", "라")
DRAFTS = st.one_of(
    st.builds(
        name,
        st.sampled_from(["add", "block"]),
        st.sampled_from(["하늘", "리안", "레온"]),
        st.sampled_from(["C-1", "C-2", "C-9"]),
    ),
    st.builds(
        lambda choice, term, topic: draft("term", choice, term=term, topic=topic),
        st.sampled_from(["drop", "keep"]),
        st.sampled_from(TERMS),
        st.sampled_from(["x", "y"]),
    ),
    st.builds(
        lambda term, instead: draft("term", "narrow", term=term, topic="x", instead=instead),
        st.sampled_from(TERMS),
        st.lists(st.sampled_from(TERMS), min_size=1, max_size=3),
    ),
    st.builds(
        lambda choice, ending: draft("ending", choice, ending=ending),
        st.sampled_from(["add", "reject"]),
        st.sampled_from(["용", "용~", "요"]),
    ),
    st.builds(lambda choice: draft("trailing", choice), st.sampled_from(["ignore", "reject"])),
)


@st.composite
def books(drawn: st.DrawFn) -> list[Decision]:
    """Decisions, among which some undo any earlier one, an undo too."""
    drafts: list[Draft] = []
    for _ in range(drawn(st.integers(0, 14))):
        if drafts and drawn(st.integers(0, 2)) == 0:
            drafts.append(undo(f"D-{drawn(st.integers(1, len(drafts)))}"))
        else:
            drafts.append(drawn(DRAFTS))
    return book(*drafts)


def plainly_in_force(rows: Sequence[Decision]) -> list[Decision]:
    """From the newest to the oldest: what an undo that counts undoes does not count."""
    undone: set[str] = set()
    for row in reversed(rows):
        if row.kind == "undo" and row.decision_id not in undone:
            undone.add(row.undoes or "")
    newest = {row.subject: row for row in rows if row.kind != "undo" and row.decision_id not in undone}
    return [row for row in rows if row in newest.values()]


def texts(table: str, decisions: Sequence[Decision]) -> set[str]:
    if table == "character_card":
        return {
            f"character_card {card['character_id']} canon_entities: {name}"
            for card in cards_with(CARDS, decisions)
            for name in card["canon_entities"]
        }
    if table == "topic_lexicon":
        return {f"topic_lexicon: {row['term']} -> {row['topic']}" for row in lexicon_with(LEXICON, decisions)}
    return {f"endings: {part}" for part in settings_with(RuleSettings(), decisions).parts}


def differences(table: str, old: Sequence[Decision], new: Sequence[Decision]) -> Iterator[str]:
    before, after = texts(table, old), texts(table, new)
    for mark, found in (("-", before - after), ("+", after - before)):
        for text in found:
            where, what = text.split(": ", 1)
            yield f"{where}: {mark} {what}"


def plainly_made(table: str, decisions: Sequence[Decision], known: int) -> dict[str, str]:
    made: dict[str, str] = {}
    for place in range(known, len(decisions)):
        cells = differences(table, decisions[:place], decisions[: place + 1])
        made |= dict.fromkeys(cells, decisions[place].decision_id)
    return {cell: made[cell] for cell in differences(table, decisions[:known], decisions)}


@given(books())
def test_what_counts_is_the_same_one_by_one(decisions: list[Decision]) -> None:
    standing = Standing()
    for place, row in enumerate(decisions, start=1):
        standing.add(row)
        assert standing.in_force() == plainly_in_force(decisions[:place])
    assert in_force(decisions) == standing.in_force()


@pytest.mark.parametrize("table", ROWS)
@given(decisions=books(), known=st.integers(0, 14))
def test_the_cells_are_the_same_one_by_one(table: str, decisions: list[Decision], known: int) -> None:
    known = min(known, len(decisions))
    made = made_cells(table, ROWS[table], decisions[:known], decisions)
    assert {cell.cell: cell.decision_id for cell in made} == plainly_made(table, decisions, known)
    assert len(made) == len({cell.cell for cell in made})


def test_other_tables_have_no_such_cells() -> None:
    assert made_cells("gold_label", [], [], book(draft("label", "말투 어긋남", turn_id="T-1"))) == []
