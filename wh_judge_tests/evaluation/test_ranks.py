"""Two orders of models: how far they agree, and the p of it."""

from collections.abc import Callable
from typing import Any

import pytest
from scipy.stats import kendalltau, permutation_test, spearmanr

from wh_judge.evaluation.ranks import RankAgreement, rank_agreement

SCORES = (0.1, 0.5, 0.4, 0.9, 0.7)
RATINGS = (900.0, 980.0, 1000.0, 1020.0, 1100.0)


def ranked(scores: tuple[float, ...], ratings: tuple[float, ...]) -> RankAgreement:
    return rank_agreement(*({f"M-{n}": value for n, value in enumerate(side)} for side in (scores, ratings)))


@pytest.mark.parametrize("scores", [SCORES, (0.1, 0.5, 0.5, 0.9, 0.5)])
@pytest.mark.parametrize(
    ("measure", "value", "p"),
    [(spearmanr, "spearman", "p_value"), (kendalltau, "kendall", "kendall_p_value")],
)
def test_the_exact_p_is_that_of_all_orders(
    measure: Callable[..., Any], value: str, p: str, scores: tuple[float, ...]
) -> None:
    expected = permutation_test(
        (RATINGS,),
        lambda y: abs(measure(scores, y).statistic),
        permutation_type="pairings",
        alternative="greater",
    )
    found = ranked(scores, RATINGS)
    assert getattr(found, value) == pytest.approx(measure(scores, RATINGS).statistic)
    assert getattr(found, p) == pytest.approx(expected.pvalue)


def test_of_three_models_in_the_same_order_p_says_how_little_that_is() -> None:
    found = ranked((0.1, 0.2, 0.3), (900.0, 1000.0, 1100.0))
    assert [found.spearman, found.kendall] == pytest.approx([1.0, 1.0])
    assert [found.p_value, found.kendall_p_value] == pytest.approx([2 / 6, 2 / 6])


def test_of_many_models_p_is_that_of_the_library() -> None:
    scores = tuple(range(12))
    ratings = (1.0, 3, 2, 5, 4, 6, 9, 7, 8, 11, 12, 10)
    found = ranked(scores, ratings)
    assert found.p_value == pytest.approx(spearmanr(scores, ratings).pvalue)
    assert found.kendall_p_value == pytest.approx(kendalltau(scores, ratings).pvalue)


@pytest.mark.parametrize("scores", [{"a": 0.1, "b": 0.2}, {"a": 0.5, "b": 0.5, "c": 0.5}])
def test_a_rank_correlation_of_too_few_or_equal_models_is_not_defined(scores: dict[str, float]) -> None:
    found = rank_agreement(scores, {"a": 900.0, "b": 1000.0, "c": 1100.0})
    assert (found.models, found.spearman, found.p_value, found.kendall_p_value) == (len(scores), None, None, None)
