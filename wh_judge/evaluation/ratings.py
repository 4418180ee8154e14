"""Ratings of models from votes: Bradley-Terry by maximum likelihood, `rate`.

Ratings are on Elo's scale (400 points are odds of ten to one), their mean is 1000. A common scale exists only where the
graph of wins is strongly connected, each model reached from each other over wins and halves; where it is not the
likelihood has no maximum, and no number is given across its components. Source of the scale, and of comparisons that
follow from what models support: HappyWorld-Bench.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from wh_judge.evaluation.agreement import Figures
from wh_judge.evaluation.bradley_terry import (
    LOST_RESAMPLES,
    RESAMPLES,
    Tally,
    components_of,
    fit,
    points,
    resample,
    win_matrix,
)
from wh_judge.evaluation.profile import few_models, percentiles
from wh_judge.text import listed
from wh_judge.votes.rows import SUPPORT_SOURCE, SYNTHETIC_SOURCE


class ModelRating(Figures):
    """One model. Without a common scale `rating` is None; `own_rating` is its rating inside its component."""

    model_id: str
    rating: float | None
    low: float | None
    high: float | None
    """95 % bootstrap interval; None without a rating, where it is open, where no resample differs from another, and for
    a model on which nobody voted: its comparisons are never drawn, so what varies is only the others."""
    component: int
    """Place in `components`."""
    own_rating: float | None
    """With the mean of its component at 1000; None in a component of one model."""
    votes: int
    won: int
    lost: int
    halves: int
    """Ties and both bad."""


class Component(Figures):
    """Models that can be rated against each other."""

    models: list[str]
    why_apart: str | None
    """Why there is no scale with the others, in words; None where there is one component only."""


class PairVotes(Figures):
    """Two models: how often they were compared, and how uncertain their distance is."""

    first: str
    second: str
    votes: int
    deviation: float | None
    """Standard deviation, in points, of the difference of their ratings over the resamples; None without a scale, and
    where no resample differs from another: that one tie stays one tie does not make it certain."""


class Ratings(Figures):
    """The ratings from one set of votes."""

    votes: int
    sources: dict[str, int]
    common_scale: bool
    ratings: list[ModelRating]
    """The best first; without a common scale by component and own rating."""
    components: list[Component]
    pairs: list[PairVotes]
    resamples: int
    resamples_without_scale: int
    """Of them, those whose votes had no common scale; they are left out of the intervals."""


class ArenaRatings(Figures):
    """With people's votes alone, and with the comparisons that follow from what models support."""

    people: Ratings
    with_support: Ratings
    support_votes: int
    cautions: list[str]


def rate_arena(tallies: Sequence[Tally], support: Sequence[Tally], sources: Mapping[str, int]) -> ArenaRatings:
    """Both ratings.

    Args:
        tallies: votes of people, each pair once.
        support: comparisons that nobody cast; fixed in the bootstrap, since nothing about them is drawn.
        sources: how many of the votes come from where.
    """
    people = rate(tallies, sources=sources)
    extra = sum(entry.votes for entry in support)
    both = dict(sources) | ({SUPPORT_SOURCE: extra} if extra else {})
    with_support = rate(tallies, support, both) if extra else people
    return ArenaRatings(
        people=people,
        with_support=with_support,
        support_votes=extra,
        cautions=_cautions(people, with_support, sources, extra),
    )


def rate(tallies: Sequence[Tally], fixed: Sequence[Tally] = (), sources: Mapping[str, int] | None = None) -> Ratings:
    """The ratings from votes, each pair at most once in `tallies` and in `fixed`."""
    every = [*tallies, *fixed]
    models = sorted({model for entry in every for model in (entry.first, entry.second)})
    place = {model: number for number, model in enumerate(models)}
    labels = components_of(win_matrix(every, place))
    components = [[m for m in models if labels[place[m]] == label] for label in range(max(labels, default=-1) + 1)]
    common = len(components) == 1
    own: dict[str, float] = {}
    for members in components:
        if len(members) > 1:
            inside = [entry for entry in every if {entry.first, entry.second} <= set(members)]
            strengths = fit(inside, {model: n for n, model in enumerate(members)})
            own |= {model: float(value) for model, value in zip(members, points(strengths), strict=True)}
    sample, lost = resample(tallies, fixed, place) if common else (np.empty((0, len(models))), 0)
    closed = common and len(sample) > 0 and lost <= LOST_RESAMPLES * RESAMPLES
    voted = {model for entry in tallies for model in (entry.first, entry.second)}
    ratings = []
    for model in models:
        own_sample = sample[:, place[model]]
        drawn = closed and model in voted and _differs(own_sample)
        low, high = percentiles(own_sample) if drawn else (None, None)
        won, fought, halves = _record(every, model)
        ratings.append(
            ModelRating(
                model_id=model,
                rating=own[model] if common else None,
                low=low,
                high=high,
                component=labels[place[model]],
                own_rating=own.get(model),
                votes=fought,
                won=won,
                lost=fought - won - halves,
                halves=halves,
            )
        )
    return Ratings(
        votes=sum(entry.votes for entry in tallies),
        sources=dict(sources or {}),
        common_scale=common,
        ratings=sorted(ratings, key=lambda r: (r.component, -(r.own_rating or 0), r.model_id)),
        components=[
            Component(models=members, why_apart=None if common else _why_apart(members, every))
            for members in components
        ],
        pairs=[
            PairVotes(
                first=entry.first,
                second=entry.second,
                votes=entry.votes,
                deviation=_deviation(sample, place[entry.first], place[entry.second]) if closed else None,
            )
            for entry in _every_pair(tallies, models)
        ],
        resamples=RESAMPLES if common else 0,
        resamples_without_scale=lost,
    )


def _record(tallies: Sequence[Tally], model: str) -> tuple[int, int, int]:
    """Wins, votes and halves of a model."""
    won = fought = halves = 0
    for entry in tallies:
        if model in (entry.first, entry.second):
            won += entry.first_won if model == entry.first else entry.second_won
            fought += entry.votes
            halves += entry.ties + entry.both_bad
    return won, fought, halves


def _every_pair(tallies: Sequence[Tally], models: Sequence[str]) -> list[Tally]:
    """The tally of each pair of models, also of those that were never compared."""
    known = {(entry.first, entry.second): entry for entry in tallies}
    pairs = [(first, second) for place, first in enumerate(models) for second in models[place + 1 :]]
    return [known.get(pair, Tally(*pair, 0, 0, 0, 0)) for pair in pairs]


def _deviation(sample: np.ndarray, first: int, second: int) -> float | None:
    distances = sample[:, first] - sample[:, second]
    return float(np.std(distances)) if _differs(distances) else None


def _differs(values: np.ndarray) -> bool:
    """Whether resamples differ by more than what the iteration leaves over."""
    return bool(np.ptp(values) > 1e-6)


def _why_apart(members: Sequence[str], tallies: Sequence[Tally]) -> str:
    inside = set(members)
    beaten: set[str] = set()
    beaten_by: set[str] = set()
    for entry in tallies:
        for ours, theirs, won, lost in (
            (entry.first, entry.second, entry.first_won, entry.second_won),
            (entry.second, entry.first, entry.second_won, entry.first_won),
        ):
            if ours in inside and theirs not in inside:
                beaten |= {theirs} if won else set()
                beaten_by |= {theirs} if lost else set()
    who = listed(members)
    if not beaten and not beaten_by:
        return f"{who}: never compared with the other models, so there is no distance to them"
    if not beaten_by:
        return f"{who}: won every comparison with others ({listed(sorted(beaten))}); the distance has no bound"
    if not beaten:
        return f"{who}: lost every comparison with others ({listed(sorted(beaten_by))}); the distance has no bound"
    return (
        f"{who}: won every comparison with {listed(sorted(beaten))} and lost every one with"
        f" {listed(sorted(beaten_by))}; neither distance has a bound"
    )


def _cautions(people: Ratings, with_support: Ratings, sources: Mapping[str, int], support: int) -> list[str]:
    cautions = []
    voted = {entry.model_id for entry in people.ratings}
    if voted and (unvoted := [entry.model_id for entry in with_support.ratings if entry.model_id not in voted]):
        cautions.append(
            f"nobody has voted on {listed(unvoted)}: what is supported alone makes the rating, and no interval follows"
        )
    if support and not people.votes:
        cautions.append(f"nobody has voted: all {support} comparisons follow from what the models support")
    if synthetic := sources.get(SYNTHETIC_SOURCE, 0):
        cautions.append(f"{synthetic} of {people.votes} votes are synthetic: a program drew them, no person gave them")
    if people.ratings and not people.common_scale:
        cautions.append(
            f"the votes leave {len(people.components)} components: there is no common scale, and no rating across them"
        )
    if people.resamples_without_scale:
        cautions.append(
            f"{people.resamples_without_scale} of {people.resamples} resamples had no common scale: a few votes more or"
            " less decide whether there is one"
        )
    if people.resamples and not people.resamples_without_scale and any(r.low is None for r in people.ratings):
        cautions.append("no resample of the votes differs from another, such as of ties alone: no interval follows")
    if people.ratings and (few := few_models(len(people.ratings))):
        cautions.append(few)
    return cautions
