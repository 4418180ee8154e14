"""Stability: zero where every run says the same, and measured where it does not."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest

from wh_judge.evaluation.bradley_terry import POINTS, Tally
from wh_judge.evaluation.people import JUDGED_SCHEMA
from wh_judge.evaluation.ratings import Ratings, rate
from wh_judge.evaluation.rejudge import RUNS, judged_again
from wh_judge.evaluation.stability import Stability, measure_stability
from wh_judge.model import CARD_SCHEMA, LEXICON_SCHEMA, TURN_SCHEMA
from wh_judge.rules import RuleSettings
from wh_judge_tests.builders import STATE

RATINGS = rate([Tally("a", "b", 30, 20, 0, 0), Tally("b", "c", 25, 25, 0, 0), Tally("a", "c", 30, 15, 0, 0)])


def of(runs: Mapping[str, Mapping[str, float]], ratings: Ratings = RATINGS) -> Stability:
    """By run the score of each model's one reply."""
    rows = [
        {"judge": "J", "run": run, "case_id": "P", "model_id": model, "score": score}
        for run, scores in runs.items()
        for model, score in scores.items()
    ]
    [found] = measure_stability(pa.Table.from_pylist(rows, JUDGED_SCHEMA), ratings)
    return found


SCORES = {"a": 0.9, "b": 0.4, "c": 0.3}


def test_runs_that_say_the_same_have_no_spread_and_no_envelope() -> None:
    found = of({"1": SCORES, "2": SCORES, "3": SCORES})
    assert (found.replies, found.largest_spread, found.mean_spread, found.envelope, found.note) == (3, 0, 0, 0, None)


def test_the_spread_is_that_of_the_scores() -> None:
    found = of({"1": SCORES, "2": SCORES | {"b": 0.7}})
    assert found.largest_spread == pytest.approx(0.3)
    assert found.mean_spread == pytest.approx(0.1)


def test_the_envelope_is_the_distance_of_the_lines() -> None:
    shifted = {model: score + 0.1 for model, score in SCORES.items()}
    found = of({"1": SCORES, "2": shifted})
    # Equal lines that are shifted by 0.1 lie 0.1 slopes apart everywhere.
    slopes = [run.slope or 0 for run in found.runs]
    assert slopes[0] == pytest.approx(slopes[1])
    assert found.envelope == pytest.approx(0.1 * slopes[0])


def test_a_line_is_the_one_of_least_squares_in_log_odds() -> None:
    strengths = {entry.model_id: (entry.rating or 0) / POINTS for entry in RATINGS.ratings}
    xs, ys = np.array(list(SCORES.values())), np.array([strengths[model] for model in SCORES])
    run = of({"1": SCORES}).runs[0]
    assert run.slope == pytest.approx(np.cov(xs, ys)[0, 1] / np.var(xs, ddof=1))
    assert run.correlation == pytest.approx(np.corrcoef(xs, ys)[0, 1])


def test_one_run_has_no_spread_and_says_so() -> None:
    found = of({"1": SCORES})
    assert (found.largest_spread, found.envelope) == (None, None)
    assert "one run only" in (found.note or "")


def test_without_ratings_the_spread_still_counts() -> None:
    found = of({"1": SCORES, "2": SCORES | {"a": 1.0}}, rate([]))
    assert found.largest_spread == pytest.approx(0.1)
    assert found.envelope is None and "no line through 0 rated models" in (found.note or "")


def test_only_replies_that_every_run_scored_count() -> None:
    found = of({"1": SCORES, "2": {"a": 0.9}})
    assert (found.replies, found.largest_spread) == (1, 0)
    assert "no reply" in (of({"1": {"a": 1.0}, "2": {"b": 1.0}}).note or "")


def test_the_rules_say_the_same_in_every_run_whatever_the_order_of_the_rows() -> None:
    turns, cards, lexicon = [
        pa.Table.from_pylist([row.model_dump() for row in part], schema)
        for part, schema in ((STATE.turns, TURN_SCHEMA), (STATE.cards, CARD_SCHEMA), (STATE.lexicon, LEXICON_SCHEMA))
    ]
    prompts = pa.array([f"P-{n}" for n in range(turns.num_rows)])
    turns = turns.set_column(turns.schema.get_field_index("prompt_id"), TURN_SCHEMA.field("prompt_id"), prompts)
    judged = judged_again(turns, cards, lexicon, RuleSettings())
    [found] = measure_stability(judged, RATINGS)
    assert len(found.runs) == RUNS
    assert found.replies > 20
    assert found.largest_spread == 0
