"""Which two replies to show next, and on which sides: where the ratings are least certain, and blind."""

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from wh_judge.evaluation.ratings import Ratings
from wh_judge.votes.rows import Side

Pair = tuple[str, str]
"""Two models, the first of which comes first by name."""


class Offer(NamedTuple):
    """Two replies to vote on. Models stand in order of name, so that only `shown_left` says where each is."""

    case_id: str
    model_a: str
    model_b: str
    shown_left: Side


def candidates(
    answers: Mapping[str, Mapping[str, Hashable]], voted: Iterable[tuple[str | None, str, str]] = ()
) -> list[tuple[str, Pair]]:
    """What can be voted on: each case with each pair of models whose replies to it a reader can tell apart.

    Args:
        answers: by case and model, what stands for the reply: of two that look the same, the same.
        voted: what is left out, as (case_id, model, model) in any order: what this annotator voted on already.
    """
    done = {(case, min(first, second), max(first, second)) for case, first, second in voted}
    found = []
    for case, replies in sorted(answers.items()):
        pairs = [pair for pair in itertools.combinations(sorted(replies), 2) if replies[pair[0]] != replies[pair[1]]]
        found += [(case, pair) for pair in pairs if (case, *pair) not in done]
    return found


def all_alike(answers: Mapping[str, Mapping[str, Hashable]]) -> list[str]:
    """The cases that several models answered, all with the same reply: nothing of them can be voted on."""
    return [case for case, replies in sorted(answers.items()) if len(replies) > 1 == len(set(replies.values()))]


def uncertainty(ratings: Ratings | None) -> dict[Pair, tuple[float, int]]:
    """How uncertain the distance of each pair is (infinite without one), and how many votes it has."""
    if ratings is None:
        return {}
    return {
        (pair.first, pair.second): (np.inf if pair.deviation is None else pair.deviation, pair.votes)
        for pair in ratings.pairs
    }


def choose(
    possible: Sequence[tuple[str, Pair]],
    uncertain: Mapping[Pair, tuple[float, int]],
    generator: np.random.Generator,
    voted: Mapping[str, int] | None = None,
) -> Offer | None:
    """The next two replies, or None where nothing is left.

    The pair of models whose distance is least certain, of equals the one with fewest votes; of its cases one with
    fewest votes. What is still equal is drawn, and so are the sides.

    Args:
        possible: from `candidates`.
        uncertain: from `uncertainty`; a pair that is not in it was never compared.
        generator: what draws.
        voted: how many votes each case has.
    """
    if not possible:
        return None
    counts = voted or {}
    ranks = {pair: _rank(uncertain.get(pair, (np.inf, 0))) for _, pair in possible}
    best = min(ranks.values())
    pairs = sorted(pair for pair, rank in ranks.items() if rank == best)
    pair = pairs[int(generator.integers(len(pairs)))]
    cases = [case for case, other in possible if other == pair]
    fewest = min(counts.get(case, 0) for case in cases)
    cases = [case for case in cases if counts.get(case, 0) == fewest]
    case = cases[int(generator.integers(len(cases)))]
    left: Side = "model_a" if generator.integers(2) else "model_b"
    return Offer(case, *pair, left)


def _rank(known: tuple[float, int]) -> tuple[float, int]:
    deviation, votes = known
    return -deviation, votes


def choose_many(
    possible: Sequence[tuple[str, Pair]],
    uncertain: Mapping[Pair, tuple[float, int]],
    generator: np.random.Generator,
    number: int,
    voted: Mapping[str, int] | None = None,
) -> list[Offer]:
    """Up to so many offers, no case and pair twice, each chosen as if those before it had been voted on.

    A vote more makes a distance more certain as the square root of the number of votes does.
    """
    left, known, counts = list(possible), dict(uncertain), Counter(voted or {})
    offers: list[Offer] = []
    while len(offers) < number and (offer := choose(left, known, generator, counts)) is not None:
        pair = (offer.model_a, offer.model_b)
        deviation, votes = known.get(pair, (np.inf, 0))
        known[pair] = (deviation * np.sqrt((votes + 1) / (votes + 2)), votes + 1)
        counts[offer.case_id] += 1
        left.remove((offer.case_id, pair))
        offers.append(offer)
    return offers
