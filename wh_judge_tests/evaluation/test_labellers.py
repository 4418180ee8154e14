"""Agreement between annotators: the published example, a second implementation, and which labels count."""

from collections.abc import Sequence

import evalica
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wh_judge.evaluation.labellers import LabellerAgreement, krippendorff_alpha, measure_labellers
from wh_judge.votes.rows import VOTE_SCHEMA, Vote
from wh_judge_tests.votes import vote


def of(*votes: Vote) -> LabellerAgreement:
    return measure_labellers(pa.Table.from_pylist([entry.model_dump() for entry in votes], VOTE_SCHEMA))


def alpha_of(units: Sequence[Sequence[int]], labels: int) -> float | None:
    counts = [np.bincount(unit, minlength=labels) for unit in units if len(unit) > 1]
    return krippendorff_alpha(np.array(counts, float).reshape(-1, labels), np.ones(len(counts)))


def test_the_published_example() -> None:
    """Krippendorff (2011), C: four observers, twelve units, missing data; nominal alpha is 0.743."""
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ]
    units = [[value for value in unit if value] for unit in zip(*observers, strict=True)]
    assert alpha_of(units, 6) == pytest.approx(0.743, abs=5e-4)


@given(st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=4), min_size=1, max_size=12))
def test_any_labels_give_the_alpha_of_a_second_implementation(units: list[list[int]]) -> None:
    found = alpha_of(units, 4)
    if found is None:
        assert len({label for unit in units for label in unit}) == 1
        return
    table = pd.DataFrame([[*unit, *[None] * (4 - len(unit))] for unit in units]).T
    assert found == pytest.approx(evalica.alpha(table, "nominal").alpha)


def test_equal_units_together_are_the_units_one_by_one() -> None:
    counts = np.array([[2, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]], float)
    together = krippendorff_alpha(counts, np.array([5.0, 2, 1]))
    assert together == pytest.approx(krippendorff_alpha(np.repeat(counts, [5, 2, 1], axis=0), np.ones(8)))


def test_a_label_is_a_model_whichever_side_it_was_on() -> None:
    found = of(
        vote("1", annotator="가", winner="model_a"),
        vote("2", annotator="나", winner="model_b", model_a="M-2", model_b="M-1"),
        vote("3", annotator="가", case_id="P-2", winner="tie"),
        vote("4", annotator="나", case_id="P-2", winner="tie"),
    )
    assert (found.annotators, found.units, found.labels, found.alpha) == (2, 2, 4, 1.0)
    [pair] = found.pairs
    assert (pair.first, pair.second, pair.units, pair.agreed, pair.kappa) == ("가", "나", 2, 2, 1.0)


def test_tie_and_both_bad_are_two_labels() -> None:
    found = of(vote("1", annotator="가", winner="tie"), vote("2", annotator="나", winner="both_bad"))
    assert found.alpha == pytest.approx(0.0)
    assert found.pairs[0].agreed == 0


def test_of_two_labels_of_one_annotator_the_later_counts() -> None:
    found = of(
        vote("1", annotator="가", winner="tie", voted_at="2026-09-21T00:00:00+00:00"),
        vote("2", annotator="가", winner="model_a", voted_at="2026-09-20T00:00:00+00:00"),
        vote("3", annotator="나", winner="tie"),
    )
    assert (found.units, found.labels, found.pairs[0].agreed) == (1, 2, 1)


def test_votes_without_annotator_or_case_are_left_out() -> None:
    found = of(vote("1", annotator=None), vote("2", case_id=None), vote("3"))
    assert (found.annotators, found.units, found.left_out, found.alpha) == (1, 0, 2, None)


def test_one_label_only_is_not_agreement_beyond_chance() -> None:
    found = of(vote("1", annotator="가"), vote("2", annotator="나"))
    assert (found.units, found.alpha, found.low, found.pairs[0].kappa) == (1, None, None, None)


def test_the_interval_holds_the_alpha() -> None:
    generator = np.random.default_rng(4)
    votes = []
    for case in range(120):
        label = generator.choice(["model_a", "model_b", "tie"])
        for who in "가나다":
            said = label if generator.random() < 0.7 else generator.choice(["model_a", "model_b", "tie"])
            votes.append(vote(f"{case}-{who}", case_id=f"P-{case}", annotator=who, winner=str(said)))
    found = of(*votes)
    assert found.alpha is not None and found.low is not None and found.high is not None
    assert found.low < found.alpha < found.high
    assert found.high - found.low < 0.3
    assert [pair.units for pair in found.pairs] == [120, 120, 120]


def test_units_that_are_all_alike_give_no_interval() -> None:
    votes = [
        vote(f"{case}/{who}", case_id=case, annotator=who, winner=winner)
        for case in ("P-1", "P-2", "P-3")
        for who, winner in (("가람", "tie"), ("나래", "both_bad"))
    ]
    found = of(*votes)
    assert found.alpha is not None and found.alpha < 0
    assert (found.low, found.high) == (None, None)
