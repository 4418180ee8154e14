"""Synthetic votes say that they are, and the sample's are the ones that the program draws."""

from collections import Counter
from pathlib import Path

import pytest

from wh_judge.evaluation.ratings import rate
from wh_judge.evaluation.support import tally
from wh_judge.files import read_log_table
from wh_judge.ingest import read_table
from wh_judge.inputs import TABLES
from wh_judge.votes.rows import Vote
from wh_judge.votes.synthetic import SAMPLE_ANNOTATORS, SAMPLE_SEED, SAMPLE_STRENGTHS, synthetic_votes

SAMPLE = Path(__file__).parents[2] / "data" / "sample"


def drawn() -> list[Vote]:
    prompts = read_log_table(SAMPLE / "turns").rows["prompt_id"].to_pylist()
    cases = sorted({prompt for prompt in prompts if prompt is not None})
    return synthetic_votes(SAMPLE_STRENGTHS, cases, SAMPLE_ANNOTATORS, SAMPLE_SEED)


def test_they_say_what_they_are() -> None:
    votes = drawn()
    assert {vote.source for vote in votes} == {"synthetic"}
    assert all((vote.annotator or "").startswith("synthetic-") for vote in votes)


def test_each_annotator_votes_once_on_each_pair_of_each_case() -> None:
    votes = drawn()
    assert len(votes) == 70 * 3 * SAMPLE_ANNOTATORS
    assert set(Counter((v.annotator, v.case_id, v.model_a, v.model_b) for v in votes).values()) == {1}


def test_the_sample_holds_exactly_these() -> None:
    batch = read_table(SAMPLE / "votes.jsonl", TABLES["vote"])
    assert batch.problems == []
    assert [Vote.model_construct(**row) for row in batch.rows.to_pylist()] == drawn()


def test_the_strengths_of_the_sample_lie_in_the_intervals() -> None:
    for entry in rate(tally(drawn())).ratings:
        assert entry.low is not None and entry.high is not None
        assert entry.low <= _shrunk(SAMPLE_STRENGTHS[entry.model_id]) <= entry.high


def _shrunk(strength: float) -> float:
    """A tie counts as half, so that a share of ties pulls the rating of votes towards the mean."""
    truth = synthetic_votes(SAMPLE_STRENGTHS, [f"P-{n}" for n in range(3000)], 3, seed=1)
    expected = {entry.model_id: entry.rating for entry in rate(tally(truth)).ratings}
    [name] = [model for model, value in SAMPLE_STRENGTHS.items() if value == strength]
    rating = expected[name]
    assert rating is not None
    return rating


def test_without_halves_the_strengths_themselves_come_back() -> None:
    votes = synthetic_votes(SAMPLE_STRENGTHS, [f"P-{n}" for n in range(3000)], 3, seed=1, tie=0, both_bad=0)
    found = {entry.model_id: entry.rating for entry in rate(tally(votes)).ratings}
    assert found == pytest.approx(dict(SAMPLE_STRENGTHS), abs=12)


def test_the_seed_decides() -> None:
    first, second = (synthetic_votes(SAMPLE_STRENGTHS, ["P"], 9, seed) for seed in (1, 2))
    assert first == synthetic_votes(SAMPLE_STRENGTHS, ["P"], 9, 1) != second
