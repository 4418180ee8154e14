"""Judges beside votes: accuracy, draws, Brier score, ranks, and what they are when there is nothing to measure."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from wh_judge.evaluation.people import (
    JUDGED_SCHEMA,
    JudgeAgreement,
    UnplacedScores,
    VoteAgreement,
    judged_by,
    measure_vote_agreement,
)
from wh_judge.evaluation.ratings import rate
from wh_judge.evaluation.scores import SCORE_SCHEMA
from wh_judge.evaluation.support import tally
from wh_judge.votes.rows import RULES, VOTE_SCHEMA, Vote
from wh_judge_tests.votes import vote

Scores = Mapping[tuple[str, str], float]
"""By case and model."""


def judged(scores: Scores, judge: str = RULES, run: str = "1") -> pa.Table:
    rows = [{"judge": judge, "run": run, "case_id": c, "model_id": m, "score": s} for (c, m), s in scores.items()]
    return pa.Table.from_pylist(rows, JUDGED_SCHEMA)


def agreement(votes: Sequence[Vote], *tables: pa.Table) -> VoteAgreement:
    table = pa.Table.from_pylist([entry.model_dump() for entry in votes], VOTE_SCHEMA)
    return measure_vote_agreement(table, pa.concat_tables(tables), rate(tally(list(votes))))


def one(votes: Sequence[Vote], scores: Scores) -> JudgeAgreement:
    [found] = agreement(votes, judged(scores)).judges
    return found


def cast(case: str, winner: str, **cells: Any) -> Vote:
    return vote(f"{case}/{winner}/{len(cells)}", case_id=case, winner=winner, **cells)


VOTES = [
    cast("P-1", "model_a"),
    cast("P-2", "model_a"),
    cast("P-3", "model_b"),
    cast("P-4", "tie"),
    cast("P-5", "both_bad"),
]
SCORES = {
    **{("P-1", "M-1"): 1.0, ("P-1", "M-2"): 0.0},
    **{("P-2", "M-1"): 0.25, ("P-2", "M-2"): 0.5},
    **{("P-3", "M-1"): 0.5, ("P-3", "M-2"): 0.5},
    **{("P-4", "M-1"): 0.5, ("P-4", "M-2"): 0.5},
    **{("P-5", "M-1"): 1.0, ("P-5", "M-2"): 0.5},
}


def test_accuracy_is_over_votes_with_a_winner_and_a_draw_is_wrong() -> None:
    found = one(VOTES, SCORES)
    assert (found.votes, found.accuracy.votes, found.accuracy_when_decided.votes) == (5, 3, 2)
    assert found.accuracy.value == pytest.approx(1 / 3)
    assert found.accuracy_when_decided.value == pytest.approx(1 / 2)


def test_the_draw_rate_is_over_all_votes() -> None:
    found = one(VOTES, SCORES)
    assert found.draw_rate.value == pytest.approx(2 / 5)
    assert found.draw_rate.votes == 5


def test_sides_do_not_matter() -> None:
    turned = [
        cast("P-1", "model_b", model_a="M-2", model_b="M-1"),
        cast("P-2", "model_b", model_a="M-2", model_b="M-1"),
        cast("P-3", "model_a", model_a="M-2", model_b="M-1"),
    ]
    assert one(turned, SCORES) == one(VOTES[:3], SCORES)


def test_a_vote_on_a_reply_without_a_score_is_not_used() -> None:
    found = one([*VOTES, cast("P-9", "model_a"), vote("x", case_id=None)], SCORES)
    assert found.votes == 5


def many(right: float, cases: int = 300, seed: int = 0) -> tuple[list[Vote], dict[tuple[str, str], float]]:
    """Votes on which a judge's preference is right this often."""
    generator = np.random.default_rng(seed)
    votes, scores = [], {}
    for n in range(cases):
        better = "M-1" if generator.random() < 0.5 else "M-2"
        scores[f"P-{n}", "M-1"], scores[f"P-{n}", "M-2"] = (1.0, 0.0) if better == "M-1" else (0.0, 1.0)
        preferred = (better == "M-1") == (generator.random() < right)
        votes.append(cast(f"P-{n}", "model_a" if preferred else "model_b"))
    return votes, scores


def test_the_brier_score_is_that_of_the_right_probability() -> None:
    found = one(*many(0.8))
    assert found.brier.value == pytest.approx(0.8 * 0.2, abs=0.02)
    assert found.brier_of_one_half == pytest.approx(0.25)
    assert found.slope == pytest.approx(np.log(0.8 / 0.2), abs=0.35)


def test_a_judge_that_knows_nothing_is_no_better_than_one_half() -> None:
    found = one(*many(0.5))
    assert found.brier.value == pytest.approx(0.25, abs=0.005)
    assert found.accuracy.low is not None and found.accuracy.high is not None
    assert found.accuracy.low < 0.5 < found.accuracy.high


def test_a_judge_that_is_always_wrong_is_a_good_predictor_turned_round() -> None:
    found = one(*many(0.0))
    assert found.slope is not None and found.slope < -10
    assert found.brier.value == pytest.approx(0, abs=1e-6)
    assert found.accuracy.value == 0


def test_the_mapping_is_fitted_on_other_cases() -> None:
    """Two cases that contradict each other: each is foretold by the other, and so wrongly."""
    votes = [cast("P-1", "model_a"), cast("P-2", "model_b")]
    found = one(votes, {(case, model): float(model == "M-1") for case in ("P-1", "P-2") for model in ("M-1", "M-2")})
    assert found.brier.value is not None and found.brier.value > 0.9
    assert found.slope == pytest.approx(0, abs=1e-3)


def test_a_tie_counts_as_one_half() -> None:
    found = one([cast("P-4", "tie"), cast("P-5", "both_bad")], SCORES)
    assert found.brier_of_one_half == 0
    assert found.brier.value == pytest.approx(0, abs=1e-6)
    assert (found.accuracy.value, found.accuracy.votes) == (None, 0)


def test_an_interval_is_over_cases_and_not_over_votes() -> None:
    votes, scores = many(0.8, cases=100)
    again = [
        vote(f"{n}/{entry.vote_id}", case_id=entry.case_id, winner=entry.winner) for n in range(20) for entry in votes
    ]
    once, twenty = (one(found, scores).accuracy for found in (votes, again))
    assert twenty.votes == 20 * once.votes
    assert (twenty.low, twenty.high) == (once.low, once.high)


def test_one_case_has_neither_interval_nor_brier_score() -> None:
    found = one(VOTES[:1], SCORES)
    assert (found.accuracy.value, found.accuracy.low, found.brier.value) == (1.0, None, None)


def test_without_votes_nothing_is_measured() -> None:
    found = one([], SCORES)
    assert (found.votes, found.accuracy.value, found.brier.value, found.slope, found.brier_of_one_half) == (
        0,
        None,
        None,
        None,
        None,
    )


def test_judges_stand_side_by_side_this_program_s_first() -> None:
    found = agreement(VOTES, judged(SCORES, "A judge"), judged(SCORES), judged({}, "silent"))
    assert [judge.judge for judge in found.judges] == [RULES, "A judge"]
    assert found.judges[0].accuracy == found.judges[1].accuracy


def test_the_first_run_of_a_judge_is_compared() -> None:
    wrong = {key: 1 - value for key, value in SCORES.items()}
    found = agreement(VOTES, judged(wrong, run="2"), judged(SCORES, run="1"))
    assert found.judges == agreement(VOTES, judged(SCORES)).judges


RATED = [
    cast("P-1", "model_a", model_a="a", model_b="b"),
    cast("P-2", "model_a", model_a="b", model_b="c"),
    cast("P-3", "model_a", model_a="a", model_b="c"),
    cast("P-4", "tie", model_a="a", model_b="c"),
    cast("P-4", "tie", model_a="b", model_b="c", annotator="나"),
]


def test_models_are_ordered_by_mean_score_and_by_rating() -> None:
    scores = {(f"P-{n}", model): value for n in range(1, 5) for model, value in (("a", 0.9), ("b", 0.2), ("c", 0.5))}
    ranks = one(RATED, scores).ranks
    assert ranks.models == 3
    assert ranks.spearman == pytest.approx(0.5)
    assert ranks.kendall == pytest.approx(1 / 3)


def test_without_a_common_scale_there_is_no_order_of_models() -> None:
    found = agreement(RATED[:3], judged({("P-1", "a"): 1.0, ("P-1", "b"): 0.5, ("P-1", "c"): 0.1}))
    assert found.judges[0].ranks.spearman is None
    assert any("no common scale" in caution for caution in found.cautions)


def test_few_models_synthetic_votes_and_lonely_annotators_are_said_in_words() -> None:
    votes = [entry.model_copy(update={"source": "synthetic"}) for entry in RATED]
    scores = {("P-1", model): value for model, value in (("a", 0.9), ("b", 0.2), ("c", 0.5))}
    cautions = " | ".join(agreement(votes, judged(scores)).cautions)
    for words in ("5 of 5 votes are synthetic", "3 models can be ordered in only 6 ways", "no two annotators"):
        assert words in cautions


def test_scores_of_turns_become_scores_of_replies() -> None:
    rows = [
        {"turn_id": f"T-{n}", "character_id": "C", "model_id": "M", "prompt_id": prompt, "kept": kept, "score": score}
        for n, (prompt, kept, score) in enumerate(
            [("P-1", True, 1.0), ("P-1", False, 0.5), (None, True, 1.0), ("P-2", True, None)]
        )
    ]
    scores = pa.Table.from_pylist(rows, SCORE_SCHEMA)
    assert judged_by(scores, "x").to_pylist() == [
        {"judge": "x", "run": "1", "case_id": "P-1", "model_id": "M", "score": 0.75}
    ]
    assert {row["case_id"]: row["score"] for row in judged_by(scores, "x", "kept").to_pylist()} == {
        "P-1": 0.5,
        "P-2": 1.0,
    }


def test_a_row_that_was_left_out_is_told_in_short_whatever_it_holds() -> None:
    left = UnplacedScores(
        judge="j" * 10_000, unknown=1, unknown_turns=["t" * 10_000], without_prompt=0, turns_without_prompt=[]
    )
    assert left.told() == f"{'j' * 60}…: left out 1 row on turns that the log does not have, such as {'t' * 60}…"
