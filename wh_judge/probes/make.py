"""The generator: fills the least covered cells of the taxonomy first, and draws a refused draft again."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import get_args

import numpy as np

from wh_judge.errors import UserError
from wh_judge.model import CharacterCard, Honorific, LexiconTerm
from wh_judge.probes.case import (
    FAMILIES,
    GENRES,
    Cell,
    Family,
    ProbeCase,
    ProbeSet,
    Refusal,
    Strength,
    Unfillable,
    frozen,
    identified,
)
from wh_judge.probes.check import check_case, check_known
from wh_judge.probes.templates import draft, free_names
from wh_judge.rules import Lexicon, RuleSettings

TRIES = 5
"""Drafts for one character and cell before it is given up."""
STRENGTHS: tuple[Strength, ...] = get_args(Strength)
SHORT, LONG, FAR = (1, 3), (6, 12), (4, 8)
"""Turns of a session, of a long one, and turns back to a far mention."""

Writer = Callable[[ProbeCase], str]
"""Given a draft by templates, another message for it; what it writes is checked like any draft. Raises WriterError."""


class WriterError(Exception):
    """A writer wrote no message; the text is a clause that says why."""


def make_probes(
    cards: Sequence[CharacterCard],
    lexicon: Sequence[LexiconTerm],
    settings: RuleSettings,
    *,
    cases: int,
    seed: int,
    writer: tuple[str, Writer] | None = None,
    known: Sequence[ProbeCase] = (),
) -> ProbeSet:
    """A frozen set of accepted cases.

    Args:
        cards: the characters.
        lexicon: in lexicon order.
        settings: the endings.
        cases: how many are wanted, the known ones included.
        seed: the same inputs and seed give the same set.
        writer: a name and a function that writes the user's messages in place of the templates.
        known: cases of an earlier set that are kept and count as covered, where they would be accepted now; the others
            are refused.

    Raises:
        UserError: the writer failed TRIES times in a row before any case was accepted; later on that ends the set.
    """
    generator, terms = np.random.default_rng(seed), Lexicon(lexicon)
    by_id = {card.character_id: card for card in cards}
    open_cells = [(card.character_id, cell) for card in cards for cell in cells_of(card, lexicon)]
    accepted, refused = dict[str, ProbeCase](), list[Refusal]()
    for case in known:
        if reasons := check_known(case, by_id.get(case.character_id), terms, settings):
            refused.append(_refusal(case, reasons))
        else:
            accepted[case.case_id] = case
    kept, unfillable = len(accepted), [*missing_cells(cards, lexicon)]
    coverage, failed = _Coverage([*accepted.values()]), 0
    while open_cells and len(accepted) < cases and failed < TRIES:
        character_id, cell = coverage.least(open_cells, generator)
        card = by_id[character_id]
        forbidden = [row for row in lexicon if row.topic in card.forbidden_topics]
        reasons = []
        for _ in range(TRIES):
            case = draft(cell, card, forbidden, generator)
            try:
                case = identified(case if writer is None else _written(case, *writer))
                reasons, failed = check_case(case, card, terms, settings), 0
            except WriterError as error:
                reasons, failed = [f"the writer {error}"], failed + 1
            if case.case_id in accepted:
                reasons = ["the set has this case already"]
            if not reasons:
                accepted[case.case_id] = case
                coverage.count(case)
                break
            refused.append(_refusal(case, reasons))
        else:
            told = f"{character_id}: {TRIES} drafts were refused, the last because {'; '.join(reasons)}"
            unfillable.append(Unfillable(family=cell.family, level=cell.level, cell=cell, reason=told))
            open_cells.remove((character_id, cell))
    if writer and failed == TRIES and len(accepted) == kept:
        raise UserError(f"{writer[0]}: {failed} times in a row {refused[-1].reasons[0]}")
    return frozen(seed, cards, lexicon, settings, list(accepted.values()), refused, unfillable)


def _written(case: ProbeCase, name: str, write: Writer) -> ProbeCase:
    return case.model_copy(update={"user_message": write(case), "writer": name})


def _refusal(case: ProbeCase, reasons: list[str]) -> Refusal:
    return Refusal(cell=case.cell, character_id=case.character_id, user_message=case.user_message, reasons=reasons)


def cells_of(card: CharacterCard, lexicon: Sequence[LexiconTerm]) -> Iterator[Cell]:
    """The cells that a card can have."""
    for family in FAMILIES:
        if why_not(family, card, lexicon) is None:
            yield from _cells(family, card)


def why_not(family: Family, card: CharacterCard, lexicon: Sequence[LexiconTerm]) -> str | None:
    """Why a card has no cell of a family; None where it has."""
    if family in ("hold_level", "long_drift") and card.honorific_rule is None:
        return "the card leaves the speech level open"
    if family == "hold_person" and card.first_person is None:
        return "the card leaves the word for I open"
    if family == "lure_topic" and not any(row.topic in card.forbidden_topics for row in lexicon):
        return "the lexicon has no term of a topic that the card forbids"
    if family in ("lure_name", "control") and not free_names(card):
        return "the card's world has every name that the templates have"
    if family in ("recall_near", "recall_far") and not card.entity_roles:
        return "the card has no role"
    return None


def _cells(family: Family, card: CharacterCard) -> Iterator[Cell]:
    strengths: Sequence[Strength | None] = [None] if family in ("long_drift", "control") else STRENGTHS
    lengths: Sequence[tuple[int, int | None]] = [(turns, None) for turns in SHORT]
    relations: Sequence[str | None] = [None]
    if family == "long_drift":
        lengths = [(turns, None) for turns in LONG]
    if family in ("recall_near", "recall_far"):
        lengths = [(2, 1)] if family == "recall_near" else [(distance + 1, distance) for distance in FAR]
        relations = list(dict.fromkeys(row.role for row in card.entity_roles))
    for genre, strength, relation, (turns, distance) in product(GENRES, strengths, relations, lengths):
        yield Cell(
            family=family,
            level=card.honorific_rule,
            person="open" if card.first_person is None else "set",
            genre=genre,
            relation=relation,
            strength=strength,
            distance=distance,
            turns=turns,
        )


def missing_cells(cards: Sequence[CharacterCard], lexicon: Sequence[LexiconTerm]) -> Iterator[Unfillable]:
    """Families and speech levels for which no card has a cell, and why."""
    levels: tuple[Honorific | None, ...] = (*get_args(Honorific), None)
    for family, level in product(FAMILIES, levels):
        of_level = [card for card in cards if card.honorific_rule == level]
        reasons = {reason for card in of_level if (reason := why_not(family, card, lexicon))}
        if level is None and family in ("hold_level", "long_drift"):
            continue  # There is no level to hold: no cell of the taxonomy.
        if not of_level:
            yield Unfillable(family=family, level=level, cell=None, reason="no card has this speech level")
        elif len(reasons) and all(why_not(family, card, lexicon) for card in of_level):
            yield Unfillable(family=family, level=level, cell=None, reason="; ".join(sorted(reasons)))


class _Coverage:
    """How often each cell, family and character is covered."""

    def __init__(self, cases: Sequence[ProbeCase]) -> None:
        self.cells: Counter[Cell] = Counter()
        self.families: Counter[str] = Counter()
        self.parts: Counter[tuple[str, object]] = Counter()
        for case in cases:
            self.count(case)

    def count(self, case: ProbeCase) -> None:
        """Count a case."""
        self.cells[case.cell] += 1
        self.families[case.cell.family] += 1
        self.parts.update(_parts(case.cell, case.character_id))

    def least(self, open_cells: Sequence[tuple[str, Cell]], generator: np.random.Generator) -> tuple[str, Cell]:
        """A least covered cell: of those the one whose family, and then whose single values, are least covered."""
        ranks = [
            (self.cells[cell], self.families[cell.family], sum(self.parts[part] for part in _parts(cell, character_id)))
            for character_id, cell in open_cells
        ]
        best = min(ranks)
        places = [place for place, rank in enumerate(ranks) if rank == best]
        return open_cells[places[int(generator.integers(len(places)))]]


def _parts(cell: Cell, character_id: str) -> list[tuple[str, object]]:
    values = {**cell.model_dump(exclude={"family"}), "character": character_id}
    return [(f"{cell.family} {name}", value) for name, value in values.items()]
