"""Labels by who gave them, and how far two people who read the same turns agree."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from wh_judge.evaluation.agreement import cohens_kappa
from wh_judge.model import VERDICTS
from wh_judge.review.effects import Labelled


class PairAgreement(NamedTuple):
    """Two labellers on the turns that both labelled; None is the file of labels."""

    one: str | None
    other: str | None
    turns: int
    agreed: int
    kappa: float | None
    """Cohen's; None where it is not defined."""
    differing: tuple[tuple[str, str, str], ...]
    """Turn, the label of the one, the label of the other."""


def by_labeller(labels: Sequence[Labelled]) -> dict[str | None, list[Labelled]]:
    """Everybody's labels, in the order in which people began; None is the file of labels."""
    found: dict[str | None, list[Labelled]] = {}
    for label in labels:
        found.setdefault(label.by, []).append(label)
    return found


def pair_agreements(labels: Sequence[Labelled]) -> list[PairAgreement]:
    """Each pair of labellers that have turns in common."""
    found = []
    for (one, mine), (other, theirs) in combinations(by_labeller(labels).items(), 2):
        first, second = ({label.turn_id: label.verdict for label in of} for of in (mine, theirs))
        common = sorted(first.keys() & second.keys(), key=lambda turn_id: (len(turn_id), turn_id))
        if not common:
            continue
        confusion = [[0] * len(VERDICTS) for _ in VERDICTS]
        for turn_id in common:
            confusion[VERDICTS.index(first[turn_id])][VERDICTS.index(second[turn_id])] += 1
        differing = tuple((t, first[t], second[t]) for t in common if first[t] != second[t])
        agreed = len(common) - len(differing)
        found.append(PairAgreement(one, other, len(common), agreed, cohens_kappa(confusion), differing))
    return found
