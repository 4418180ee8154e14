"""The Bradley-Terry model: whether a common scale exists, the fit by maximum likelihood, and its bootstrap.

The fit is evalica's; a tie and both bad count as half a win for each. Sources: R. A. Bradley and M. E. Terry, "Rank
analysis of incomplete block designs" (1952); L. R. Ford, "Solution of a ranking problem from binary comparisons" (1957)
for when the likelihood has a maximum.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from wh_judge.evaluation.profile import SEED

RESAMPLES = 1000
MEAN, POINTS = 1000.0, 400 / np.log(10)
"""The mean of the ratings, and the points of one unit of log-odds."""
LOST_RESAMPLES = 0.025
"""A larger share of resamples without a common scale leaves an interval open."""


class Tally(NamedTuple):
    """The votes between two models, the first of which comes first by name."""

    first: str
    second: str
    first_won: int
    second_won: int
    ties: int
    both_bad: int

    @property
    def votes(self) -> int:
        """All of them."""
        return self.first_won + self.second_won + self.ties + self.both_bad


def win_matrix(tallies: Sequence[Tally], place: Mapping[str, int]) -> np.ndarray:
    """How often the row won against the column, halves included."""
    wins = np.zeros((len(place), len(place)))
    for entry in tallies:
        first, second, half = place[entry.first], place[entry.second], (entry.ties + entry.both_bad) / 2
        wins[first, second] += entry.first_won + half
        wins[second, first] += entry.second_won + half
    return wins


def components_of(wins: np.ndarray) -> list[int]:
    """For each model the number of its strongly connected component, those that win against others first.

    Args:
        wins: a row's wins against the columns, halves included; only whether there are any counts.
    """
    from scipy.sparse.csgraph import connected_components

    if not len(wins):
        return []
    number, labels = connected_components(wins > 0, directed=True, connection="strong")
    # Between components wins go one way only, so the ones that only win have only incoming losses: order by reach.
    reach = {label: _reach(wins, labels, label) for label in range(number)}
    order = sorted(range(number), key=lambda label: (-reach[label], int(np.argmax(labels == label))))
    return [order.index(label) for label in labels]


def _reach(wins: np.ndarray, labels: np.ndarray, label: int) -> int:
    """How many models can be reached over wins from a component."""
    reached, edge = labels == label, labels == label
    while edge.any():
        edge = (wins[edge] > 0).any(axis=0) & ~reached
        reached = reached | edge
    return int(reached.sum())


def fit(tallies: Sequence[Tally], place: Mapping[str, int]) -> np.ndarray:
    """The log-strengths from all votes, in the order of `place`, with mean 0."""
    rows = _rows(tallies, place)
    return strengths_of(rows, rows.weights, len(place))


class _Rows(NamedTuple):
    """What evalica reads: one row per pair and outcome, with how many votes it stands for."""

    xs: np.ndarray
    ys: np.ndarray
    winners: np.ndarray
    """evalica's numbers: 1 where x won, 2 where y did, 0 for a draw."""
    weights: np.ndarray


def _rows(tallies: Sequence[Tally], place: Mapping[str, int]) -> _Rows:
    """Ties and both bad are draws."""
    cells = [
        (place[entry.first], place[entry.second], winner, votes)
        for entry in tallies
        for winner, votes in ((1, entry.first_won), (2, entry.second_won), (0, entry.ties + entry.both_bad))
        if votes
    ]
    columns = np.array(cells, np.int64).reshape(-1, 4).T
    return _Rows(columns[0], columns[1], columns[2], columns[3].astype(np.float64))


ITERATIONS, TOLERANCE = 2_000, 1e-10
NEWTON_STEPS, CLOSE = 1_000, 1e-8


def strengths_of(rows: _Rows, weights: np.ndarray, models: int) -> np.ndarray:
    """Log-strengths with mean 0, of models whose graph of wins is strongly connected."""
    import evalica
    import pandas as pd

    kinds = list(evalica.Winner)
    there = weights > 0
    result = evalica.bradley_terry(
        rows.xs[there],
        rows.ys[there],
        [kinds[winner] for winner in rows.winners[there].tolist()],
        index=pd.RangeIndex(models),
        weights=weights[there],
        tie_weight=0.5,
        tolerance=TOLERANCE,
        limit=ITERATIONS,
    )
    scores = result.scores.reindex(range(models)).to_numpy(np.float64)
    if result.iterations >= ITERATIONS or not (scores > 0).all():
        return _by_newton(rows, weights, models)
    strengths: np.ndarray = np.log(scores)
    strengths -= strengths.mean()
    return strengths


def _by_newton(rows: _Rows, weights: np.ndarray, models: int) -> np.ndarray:
    """The same maximum where few votes join models that have many: there the iteration goes on for millions of steps.

    Raises:
        ArithmeticError: there is none, which a strongly connected graph does not let happen.
    """
    from scipy.special import expit

    x, y, winners, _ = rows
    won = weights * np.choose(winners, [0.5, 1.0, 0.0])
    strengths = np.zeros(models)
    for _ in range(NEWTON_STEPS):
        chance = expit(strengths[x] - strengths[y])
        over = weights * chance - won
        slope = np.bincount(x, over, models) - np.bincount(y, over, models)
        curve = np.ones((models, models))  # Only distances count: this makes the mean 0, and the maximum a single one.
        for one, other, sign in ((x, x, 1), (y, y, 1), (x, y, -1), (y, x, -1)):
            np.add.at(curve, (one, other), sign * weights * chance * (1 - chance))
        step = np.linalg.solve(curve, slope)
        longest = np.abs(step).max()
        # A step from far away may overshoot by more than floating point can come back from.
        strengths -= step / max(1.0, longest)
        if longest < CLOSE:
            return strengths
    raise ArithmeticError(f"the Bradley-Terry fit of {models} models found no maximum in {NEWTON_STEPS} steps")


def points(strengths: np.ndarray) -> np.ndarray:
    """Log-strengths as ratings."""
    ratings: np.ndarray = MEAN + POINTS * (strengths - strengths.mean())
    return ratings


def resample(tallies: Sequence[Tally], fixed: Sequence[Tally], place: Mapping[str, int]) -> tuple[np.ndarray, int]:
    """Ratings of resampled votes (resamples x models), and how many resamples had no common scale.

    To draw as many votes again is to draw how many fall on each pair and outcome, so the votes themselves are not
    needed, however many there are.
    """
    from scipy.sparse.csgraph import connected_components

    rows, still = _rows(tallies, place), _rows(fixed, place)
    joined = _Rows(*(np.concatenate(columns) for columns in zip(rows, still, strict=True)))
    votes = rows.weights.sum()
    if not votes:
        return np.empty((0, len(place))), 0
    generator = np.random.default_rng(SEED)
    drawn = generator.multinomial(int(votes), rows.weights / votes, size=RESAMPLES)
    x, y, winner = joined[:3]
    sample, lost = [], 0
    for counts in drawn:
        weights = np.concatenate([counts.astype(np.float64), still.weights])
        there = weights > 0
        wins = np.zeros((len(place), len(place)), bool)
        wins[x[there & (winner != 2)], y[there & (winner != 2)]] = True
        wins[y[there & (winner != 1)], x[there & (winner != 1)]] = True
        if connected_components(wins, directed=True, connection="strong")[0] > 1:
            lost += 1
            continue
        sample.append(points(strengths_of(joined, weights, len(place))))
    return np.array(sample).reshape(-1, len(place)), lost
