"""Which replies are shown next, and that the sides tell nothing."""

from collections import Counter

import numpy as np
import pytest

from wh_judge.evaluation.bradley_terry import Tally
from wh_judge.evaluation.pairing import Offer, all_alike, candidates, choose, choose_many, uncertainty
from wh_judge.evaluation.ratings import rate

ANSWERS = {"P-1": {"c": 1, "a": 2, "b": 3}, "P-2": {"a": 1, "b": 2}, "P-3": {"a": 1}}


def offers(times: int, **options: object) -> list[Offer]:
    generator = np.random.default_rng(5)
    found = [choose(candidates(ANSWERS), {}, generator, **options) for _ in range(times)]  # type: ignore[arg-type]
    return [offer for offer in found if offer is not None]


def test_each_pair_of_models_that_answered_a_case_is_a_candidate() -> None:
    assert candidates(ANSWERS) == [
        ("P-1", ("a", "b")),
        ("P-1", ("a", "c")),
        ("P-1", ("b", "c")),
        ("P-2", ("a", "b")),
    ]


def test_what_was_voted_on_is_left_out_whichever_way_round() -> None:
    left = candidates(ANSWERS, [("P-1", "b", "a"), ("P-2", "a", "b")])
    assert left == [("P-1", ("a", "c")), ("P-1", ("b", "c"))]


def test_two_replies_that_are_the_same_are_never_shown_together() -> None:
    assert candidates({"P-1": {"a": 1, "b": 1, "c": 2}}) == [("P-1", ("a", "c")), ("P-1", ("b", "c"))]
    assert candidates({"P-1": {"a": 1, "b": 1}}) == []


def test_the_cases_whose_replies_are_all_the_same_are_named() -> None:
    assert all_alike(ANSWERS | {"P-4": {"a": 5, "b": 5}, "P-5": {"a": 5, "b": 5, "c": 6}}) == ["P-4"]


def test_the_least_certain_pair_comes_first() -> None:
    ratings = rate([Tally("a", "b", 500, 500, 0, 0), Tally("a", "c", 6, 5, 2, 0), Tally("b", "c", 400, 380, 0, 0)])
    chosen = choose(candidates(ANSWERS), uncertainty(ratings), np.random.default_rng(0))
    assert chosen is not None
    assert (chosen.model_a, chosen.model_b) == ("a", "c")


def test_a_pair_that_was_never_compared_comes_before_any_other() -> None:
    uncertain = {("a", "b"): (80.0, 3), ("a", "c"): (90.0, 3)}
    chosen = choose(candidates(ANSWERS), uncertain, np.random.default_rng(0))
    assert chosen is not None and (chosen.model_a, chosen.model_b) == ("b", "c")


def test_without_a_scale_the_pair_with_fewest_votes_comes_first() -> None:
    ratings = rate([Tally("a", "b", 5, 0, 0, 0), Tally("a", "c", 2, 0, 0, 0), Tally("b", "c", 4, 0, 0, 0)])
    chosen = choose(candidates(ANSWERS), uncertainty(ratings), np.random.default_rng(0))
    assert chosen is not None and (chosen.model_a, chosen.model_b) == ("a", "c")


def test_of_the_cases_of_a_pair_one_with_fewest_votes_is_shown() -> None:
    uncertain = {("a", "b"): (90.0, 3), ("a", "c"): (1.0, 3), ("b", "c"): (1.0, 3)}
    for seed in range(5):
        chosen = choose(candidates(ANSWERS), uncertain, np.random.default_rng(seed), {"P-1": 4, "P-2": 1})
        assert chosen is not None and chosen.case_id == "P-2"


def test_models_are_on_either_side_equally_often() -> None:
    sides = Counter(offer.shown_left for offer in offers(2000))
    # 2,000 throws of a coin: 5 standard deviations.
    assert sides["model_a"] == pytest.approx(1000, abs=5 * np.sqrt(500))


def test_what_is_equal_is_drawn() -> None:
    assert {(offer.case_id, offer.model_a, offer.model_b) for offer in offers(200)} == {
        ("P-1", "a", "b"),
        ("P-1", "a", "c"),
        ("P-1", "b", "c"),
        ("P-2", "a", "b"),
    }


def test_where_nothing_is_left_nothing_is_offered() -> None:
    assert choose([], {}, np.random.default_rng(0)) is None
    assert uncertainty(None) == {}


def test_many_offers_spread_over_pairs_as_if_each_had_been_voted_on() -> None:
    answers = {f"P-{n}": {"a": 1, "b": 2, "c": 3} for n in range(40)}
    uncertain = {("a", "b"): (40.0, 100), ("a", "c"): (40.0, 100), ("b", "c"): (38.0, 100)}
    found = choose_many(candidates(answers), uncertain, np.random.default_rng(0), 60)
    counts = Counter((offer.model_a, offer.model_b) for offer in found)
    assert len(found) == len({offer[:3] for offer in found}) == 60
    assert counts["a", "b"] == pytest.approx(counts["a", "c"], abs=1)
    assert 0 < counts["b", "c"] < counts["a", "b"]


def test_many_offers_end_with_what_there_is() -> None:
    assert len(choose_many(candidates(ANSWERS), {}, np.random.default_rng(0), 100)) == 4
