"""Comparisons that nobody has to vote on: one model can do what a case asks, and another cannot.

The one that can wins, and where neither can both are bad; each pair of models counts once per case. Source:
HappyWorld-Bench, which adds such comparisons to people's votes with the same weight.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

from wh_judge.evaluation.bradley_terry import Tally
from wh_judge.votes.rows import SUPPORT_SOURCE, CapabilitySupport, Vote, WinnerValue


def support_votes(rows: Iterable[CapabilitySupport]) -> list[Vote]:
    """The comparisons that follow, in order of case and models. Where both models can, people are to say."""
    cases: dict[str, dict[str, bool]] = {}
    for row in rows:
        cases.setdefault(row.case_id, {})[row.model_id] = row.supported
    votes = []
    for case_id, models in sorted(cases.items()):
        for first, second in combinations(sorted(models), 2):
            if models[first] and models[second]:
                continue
            winner: WinnerValue = "model_a" if models[first] else "model_b" if models[second] else "both_bad"
            votes.append(
                Vote.model_construct(
                    vote_id=f"{SUPPORT_SOURCE}/{case_id}/{first}/{second}",
                    case_id=case_id,
                    model_a=first,
                    model_b=second,
                    winner=winner,
                    annotator=None,
                    source=SUPPORT_SOURCE,
                    shown_left=None,
                    voted_at=None,
                )
            )
    return votes


def tally(votes: Sequence[Vote]) -> list[Tally]:
    """How often each model of a pair won, for every pair in the votes."""
    counts: dict[tuple[str, str], list[int]] = {}
    for vote in votes:
        pair = (min(vote.model_a, vote.model_b), max(vote.model_a, vote.model_b))
        place = {"tie": 2, "both_bad": 3}.get(vote.winner)
        if place is None:
            place = int(getattr(vote, vote.winner) != pair[0])
        counts.setdefault(pair, [0, 0, 0, 0])[place] += 1
    return [Tally(*pair, *cells) for pair, cells in sorted(counts.items())]
