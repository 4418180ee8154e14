"""Ratings: the fit beside a second implementation, intervals, components, support."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from wh_judge.evaluation import bradley_terry
from wh_judge.evaluation.bradley_terry import POINTS, Tally, components_of, win_matrix
from wh_judge.evaluation.ratings import ModelRating, Ratings, rate, rate_arena
from wh_judge.evaluation.support import support_votes, tally
from wh_judge.votes.rows import SUPPORT_SOURCE, CapabilitySupport
from wh_judge_tests.votes import vote


def second_opinion(tallies: Sequence[Tally]) -> dict[str, float]:
    """The same model by minimising the negative log-likelihood, written down from its definition."""
    models = sorted({model for entry in tallies for model in entry[:2]})
    wins = np.zeros((len(models), len(models)))
    for entry in tallies:
        i, j = models.index(entry.first), models.index(entry.second)
        wins[i, j] += entry.first_won + 0.5 * (entry.ties + entry.both_bad)
        wins[j, i] += entry.second_won + 0.5 * (entry.ties + entry.both_bad)

    def loss(strengths: np.ndarray) -> tuple[float, np.ndarray]:
        distance = strengths[:, None] - strengths[None, :]
        pull = wins / (1 + np.exp(distance))
        return float((wins * np.logaddexp(0, -distance)).sum()), pull.sum(axis=0) - pull.sum(axis=1)

    found = minimize(loss, np.zeros(len(models)), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000}).x
    return dict(zip(models, 1000 + 400 / np.log(10) * (found - found.mean()), strict=True))


def by_model(ratings: Ratings) -> dict[str, ModelRating]:
    return {entry.model_id: entry for entry in ratings.ratings}


def drawn(strengths: Mapping[str, float], votes: int, seed: int = 1, halves: float = 0.2) -> list[Tally]:
    """Votes of every pair, drawn from ratings: halves go to both, the rest by Bradley-Terry."""
    generator = np.random.default_rng(seed)
    models = sorted(strengths)
    found = []
    for place, first in enumerate(models):
        for second in models[place + 1 :]:
            chance = (1 - halves) / (1 + 10 ** ((strengths[second] - strengths[first]) / 400))
            cells = generator.multinomial(votes, [chance, 1 - halves - chance, halves / 2, halves / 2])
            found.append(Tally(first, second, *(int(cell) for cell in cells)))
    return found


CYCLE = [Tally("a", "b", 7, 2, 1, 0), Tally("a", "c", 5, 4, 0, 3), Tally("b", "c", 6, 1, 2, 2)]


def test_the_fit_is_that_of_a_second_implementation() -> None:
    ratings = by_model(rate(CYCLE))
    assert {name: entry.rating for name, entry in ratings.items()} == pytest.approx(second_opinion(CYCLE), abs=1e-4)


cells = st.integers(0, 6)


@given(st.lists(st.tuples(cells, cells, cells, cells), min_size=6, max_size=6))
def test_on_any_votes_the_two_agree_or_there_is_no_scale(counts: list[tuple[int, int, int, int]]) -> None:
    models = "abcd"
    pairs = [(x, y) for n, x in enumerate(models) for y in models[n + 1 :]]
    tallies = [Tally(*pair, *cell) for pair, cell in zip(pairs, counts, strict=True)]
    place = {model: number for number, model in enumerate(models)}
    if max(components_of(win_matrix(tallies, place))) == 0:
        found = bradley_terry.points(bradley_terry.fit(tallies, place))
        expected = second_opinion(tallies)
        assert found == pytest.approx([expected[model] for model in models], abs=0.01)


@pytest.mark.parametrize(
    ("tallies", "apart"),
    [
        (
            [Tally("a", "b", 9000, 9000, 0, 0), Tally("b", "c", 3, 1, 0, 0), Tally("c", "d", 9000, 9000, 0, 0)],
            [1, 3, 1],
        ),
        ([Tally(f"m{n}", f"m{n + 1}", 95, 5, 0, 0) for n in range(8)], [19] * 8),
        ([Tally("a", "b", 9999, 1, 0, 0), Tally("b", "c", 9999, 1, 0, 0)], [9999, 9999]),
    ],
)
def test_few_votes_between_models_that_have_many_are_enough(tallies: list[Tally], apart: list[int]) -> None:
    """Along a chain each distance follows from its own votes, whatever stands beside."""
    ratings = by_model(rate(tallies))
    along = [ratings[name].rating or 0 for name in sorted(ratings)]
    assert -np.diff(along) == pytest.approx([400 * np.log10(odds) for odds in apart], abs=0.001)


def test_two_models_are_as_far_apart_as_their_odds() -> None:
    first, second = rate([Tally("a", "b", 30, 10, 0, 0)]).ratings
    assert first.rating is not None and second.rating is not None
    assert first.rating - second.rating == pytest.approx(400 * np.log10(3), abs=1e-4)


@pytest.mark.parametrize("halves", [(20, 0), (0, 20), (8, 12)])
def test_ties_and_both_bad_are_half_a_win_for_each(halves: tuple[int, int]) -> None:
    first, second = rate([Tally("a", "b", 30, 10, *halves)]).ratings
    assert first.rating is not None and second.rating is not None
    assert first.rating - second.rating == pytest.approx(400 * np.log10(40 / 20), abs=1e-4)
    assert (first.halves, first.won, first.lost, first.votes) == (20, 30, 10, 60)


def test_the_mean_is_1000_and_the_best_is_first() -> None:
    ratings = [entry.rating for entry in rate(CYCLE).ratings]
    assert np.mean([rating for rating in ratings if rating is not None]) == pytest.approx(1000)
    assert ratings == sorted(ratings, key=lambda rating: -(rating or 0))


def test_the_ratings_that_votes_were_drawn_from_lie_in_the_intervals() -> None:
    truth = {f"M-{n}": 1000 + 60.0 * (n - 2) for n in range(5)}
    covered = 0
    for seed in range(6):
        for name, entry in by_model(rate(drawn(truth, 400, seed, halves=0.0))).items():
            assert entry.low is not None and entry.high is not None
            assert entry.low < (entry.rating or 0) < entry.high
            covered += entry.low <= truth[name] <= entry.high
    # 30 intervals of 95 %: fewer than 25 would come about less than once in ten thousand times.
    assert covered >= 25


def test_an_interval_is_as_wide_as_the_normal_approximation_says() -> None:
    first, _ = rate([Tally("a", "b", 600, 400, 0, 0)]).ratings
    assert first.low is not None and first.high is not None
    # Of log-odds the variance is 1 / wins + 1 / losses, and a rating is half the distance.
    error = POINTS / 2 * np.sqrt(1 / 600 + 1 / 400)
    assert first.high - first.low == pytest.approx(2 * 1.96 * error, rel=0.08)


def test_the_same_votes_give_the_same_intervals() -> None:
    assert rate(CYCLE) == rate(list(CYCLE))


BROKEN = [
    Tally("a", "b", 3, 2, 0, 0),
    Tally("a", "c", 4, 0, 0, 0),
    Tally("b", "c", 1, 0, 0, 0),
    Tally("d", "e", 1, 1, 0, 0),
]


def test_without_a_common_scale_there_is_no_number_but_components() -> None:
    ratings = rate(BROKEN)
    assert not ratings.common_scale
    assert {(entry.rating, entry.low, entry.high) for entry in ratings.ratings} == {(None, None, None)}
    assert [part.models for part in ratings.components] == [["a", "b"], ["d", "e"], ["c"]]
    assert {pair.deviation for pair in ratings.pairs} == {None}


def test_each_component_has_a_scale_of_its_own_and_says_why_it_is_apart() -> None:
    ratings = rate(BROKEN)
    found = by_model(ratings)
    alone = by_model(rate(BROKEN[:1]))
    assert found["a"].own_rating == pytest.approx(alone["a"].rating)
    assert found["d"].own_rating == pytest.approx(1000)
    assert found["c"].own_rating is None
    first, second, third = (part.why_apart or "" for part in ratings.components)
    assert "a, b: won every comparison with others (c)" in first
    assert "d, e: never compared" in second
    assert "c: lost every comparison with others (a, b)" in third


def test_a_model_between_two_others_says_so() -> None:
    middle = rate([Tally("a", "b", 1, 0, 0, 0), Tally("b", "c", 1, 0, 0, 0)]).components[1]
    assert middle.models == ["b"]
    assert "won every comparison with c and lost every one with a" in (middle.why_apart or "")


@pytest.mark.parametrize("half", [(1, 0), (0, 1)])
def test_one_half_is_enough_for_a_common_scale(half: tuple[int, int]) -> None:
    assert rate([Tally("a", "b", 5, 0, *half)]).common_scale


def test_an_interval_that_hangs_on_a_single_vote_stays_open() -> None:
    ratings = rate([Tally("a", "b", 30, 1, 0, 0)])
    assert ratings.common_scale
    assert ratings.resamples_without_scale > 0.3 * ratings.resamples
    assert {(entry.low, entry.high) for entry in ratings.ratings} == {(None, None)}


def test_no_vote_gives_no_rating() -> None:
    ratings = rate([])
    assert (ratings.ratings, ratings.components, ratings.common_scale) == ([], [], False)


def test_every_pair_is_listed_with_how_uncertain_it_is() -> None:
    ratings = rate([*drawn({"a": 1000, "b": 1000}, 1000), *drawn({"b": 1000, "c": 1000}, 30)])
    found = {(pair.first, pair.second): pair for pair in ratings.pairs}
    assert [found[key].votes for key in (("a", "b"), ("a", "c"), ("b", "c"))] == [1000, 0, 30]
    deviations = [found[key].deviation or 0 for key in (("a", "b"), ("b", "c"), ("a", "c"))]
    assert 0 < deviations[0] < deviations[1] < deviations[2]


def support(*rows: tuple[str, str, bool]) -> list[CapabilitySupport]:
    names = ("case_id", "model_id", "supported")
    return [CapabilitySupport.model_validate(dict(zip(names, row, strict=True))) for row in rows]


def test_who_can_wins_and_where_neither_can_both_are_bad() -> None:
    votes = support_votes(support(("P-1", "a", True), ("P-1", "b", False), ("P-1", "c", False), ("P-1", "d", True)))
    assert [(entry.model_a, entry.model_b, entry.winner) for entry in votes] == [
        ("a", "b", "model_a"),
        ("a", "c", "model_a"),
        ("b", "c", "both_bad"),
        ("b", "d", "model_b"),
        ("c", "d", "model_b"),
    ]
    assert {entry.source for entry in votes} == {SUPPORT_SOURCE}
    assert len({entry.vote_id for entry in votes}) == len(votes)


def test_where_both_can_people_are_to_say() -> None:
    assert support_votes(support(("P-1", "a", True), ("P-1", "b", True), ("P-2", "a", False))) == []


def test_a_tally_does_not_depend_on_the_side() -> None:
    votes = [
        vote("1", winner="model_a"),
        vote("2", winner="model_b", model_a="M-2", model_b="M-1"),
        vote("3", winner="model_b"),
        vote("4", winner="tie", model_a="M-2", model_b="M-1"),
        vote("5", winner="both_bad"),
    ]
    assert tally(votes) == [Tally("M-1", "M-2", 2, 1, 1, 1)]


def test_both_ratings_are_published_and_support_counts_with_weight_one() -> None:
    extra = [Tally("a", "b", 0, 50, 0, 0)]
    arena = rate_arena(CYCLE, extra, {"page": 33})
    assert by_model(arena.people) == by_model(rate(CYCLE))
    joined = [Tally("a", "b", 7, 52, 1, 0), *CYCLE[1:]]
    expected = second_opinion(joined)
    assert {n: e.rating for n, e in by_model(arena.with_support).items()} == pytest.approx(expected, abs=1e-4)
    assert (arena.support_votes, arena.people.votes, arena.with_support.votes) == (50, 33, 33)
    assert arena.with_support.sources == {"page": 33, SUPPORT_SOURCE: 50}


def test_support_is_held_fixed_in_the_bootstrap() -> None:
    """What is not drawn adds no uncertainty: next to much support, the intervals of few votes shrink to nothing."""
    alone = by_model(rate([Tally("a", "b", 12, 10, 0, 0)]))["a"]
    fixed = by_model(rate([Tally("a", "b", 12, 10, 0, 0)], [Tally("a", "b", 1200, 1000, 0, 0)]))["a"]
    widths = [(entry.high or 0) - (entry.low or 0) for entry in (alone, fixed)]
    assert 0 < widths[1] < widths[0] / 50


def test_support_alone_rates_without_an_interval() -> None:
    arena = rate_arena([], [Tally("a", "b", 2, 0, 0, 1)], {})
    assert arena.people.ratings == []
    found = arena.with_support.ratings[0]
    assert found.rating is not None and (found.low, found.high) == (None, None)


@pytest.mark.parametrize(
    ("tallies", "sources", "words"),
    [
        (CYCLE, {"synthetic": 33}, "33 of 33 votes are synthetic"),
        (BROKEN, {"page": 12}, "no common scale"),
        (CYCLE, {"page": 33}, "3 models can be ordered in only 6 ways"),
        ([Tally("a", "b", 30, 1, 0, 0)], {"page": 31}, "resamples had no common scale"),
    ],
)
def test_what_the_numbers_do_not_bear_is_said(tallies: list[Tally], sources: dict[str, int], words: str) -> None:
    assert any(words in caution for caution in rate_arena(tallies, [], sources).cautions)


def test_a_million_votes_are_no_more_work_than_their_pairs() -> None:
    truth = {f"M-{n:02}": float(r) for n, r in enumerate(np.random.default_rng(3).normal(1000, 120, 50))}
    ratings = rate(drawn(truth, 1_000_000 // 1225))
    assert ratings.votes == 1_000_000 // 1225 * 1225
    assert ratings.common_scale and all(entry.low is not None for entry in ratings.ratings)


@pytest.mark.parametrize("halves", [(1, 0), (40, 0), (0, 3)])
def test_ties_alone_do_not_give_an_interval_without_width(halves: tuple[int, int]) -> None:
    found = rate_arena([Tally("a", "b", 0, 0, *halves)], [], {"x": sum(halves)})
    assert [(r.rating, r.low, r.high) for r in found.people.ratings] == [(1000, None, None)] * 2
    assert [pair.deviation for pair in found.people.pairs] == [None]
    assert any("no interval follows" in caution for caution in found.cautions)


def test_a_distance_that_rests_on_ties_alone_is_not_certain() -> None:
    found = rate([Tally("a", "b", 30, 20, 0, 0), Tally("b", "c", 0, 0, 20, 0)])
    assert {(p.first, p.second): p.deviation is None for p in found.pairs} == {
        ("a", "b"): False,
        ("a", "c"): False,
        ("b", "c"): True,
    }


def test_a_model_on_which_nobody_voted_has_a_rating_by_support_and_no_interval() -> None:
    votes = [Tally("a", "b", 30, 10, 2, 0)]
    arena = rate_arena(votes, [Tally("a", "c", 3, 1, 0, 0), Tally("b", "c", 2, 1, 0, 0)], {"page": 42})
    intervals = {entry.model_id: entry.low for entry in arena.with_support.ratings}
    assert intervals["a"] is not None and intervals["b"] is not None
    assert intervals["c"] is None
    assert all(entry.rating is not None for entry in arena.with_support.ratings)
    assert "nobody has voted on c: " in arena.cautions[0]


def test_sentences_name_few_models_and_cut_long_names() -> None:
    names = [f"{n:02}" + "m" * 10_000 for n in range(30)]
    arena = rate_arena([Tally("a", name, 1, 0, 0, 0) for name in names], [], {"page": 30})
    for part in arena.people.components:
        assert part.why_apart is not None and len(part.why_apart) < 1_000
    assert any("and 22 more" in (part.why_apart or "") for part in arena.people.components)
