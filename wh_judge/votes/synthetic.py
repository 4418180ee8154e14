"""Votes that a program draws from stated strengths, so that what a rating should come to is known.

They say what they are: their source is `synthetic`, and so are their annotators.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from wh_judge.votes.rows import SYNTHETIC_SOURCE, Side, Vote, WinnerValue


def synthetic_votes(
    strengths: Mapping[str, float],
    cases: Sequence[str],
    annotators: int,
    seed: int,
    *,
    tie: float = 0.12,
    both_bad: float = 0.06,
    first: dt.datetime = dt.datetime(2026, 9, 15, 1, tzinfo=dt.UTC),
) -> list[Vote]:
    """Each annotator votes on each pair of models once per case.

    Args:
        strengths: the ratings to draw from, by model.
        cases: the prompts.
        annotators: how many voters.
        seed: what is drawn follows from it.
        tie: the chance of a tie, whatever the models.
        both_bad: the chance of both bad.
        first: when the first vote is given; one follows each minute.
    """
    generator = np.random.default_rng(seed)
    votes: list[Vote] = []
    for annotator in range(1, annotators + 1):
        for case in cases:
            for model_a, model_b in combinations(sorted(strengths), 2):
                a_wins = (1 - tie - both_bad) / (1 + 10 ** ((strengths[model_b] - strengths[model_a]) / 400))
                chances = [a_wins, 1 - tie - both_bad - a_wins, tie, both_bad]
                winners: tuple[WinnerValue, ...] = ("model_a", "model_b", "tie", "both_bad")
                winner = winners[int(generator.choice(4, p=chances))]
                left: Side = "model_a" if generator.integers(2) else "model_b"
                number = len(votes)
                votes.append(
                    Vote.model_construct(
                        vote_id=f"SYN-{number + 1:05}",
                        case_id=case,
                        model_a=model_a,
                        model_b=model_b,
                        winner=winner,
                        annotator=f"{SYNTHETIC_SOURCE}-{annotator}",
                        source=SYNTHETIC_SOURCE,
                        shown_left=left,
                        voted_at=first + dt.timedelta(minutes=number),
                    )
                )
    return votes


SAMPLE_STRENGTHS: Mapping[str, float] = {"byeol-large": 1140.0, "haneul-7b": 960.0, "baram-13b": 900.0}
"""What the votes of data/sample were drawn from; their mean is 1000. Made up like the models themselves."""
SAMPLE_ANNOTATORS, SAMPLE_SEED = 3, 7
