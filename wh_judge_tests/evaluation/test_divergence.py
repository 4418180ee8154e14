"""The figures of `measure_divergence` against values worked out by hand and against a plain loop."""

import json
import math
import warnings
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wh_judge.evaluation.divergence import REASONS, Divergence, measure_divergence
from wh_judge_tests.evaluation import KEPT, NAME, RECALL, SPEECH, TOPIC, Answer, answer_tables, prompts_answered


def compare(*answers: Answer, models: list[str] | None = None) -> Divergence:
    return measure_divergence(*answer_tables([*answers]), models)


def compare_patterns(models: list[str], patterns: dict[str, int]) -> Divergence:
    return measure_divergence(*prompts_answered(models, patterns), models)


A, B = ("T-1", "P", "a", KEPT), ("T-2", "P", "b", KEPT)


@pytest.mark.parametrize(
    ("answers", "models", "prompts", "left_out"),
    [
        ([A, B], None, 1, []),
        ([A], ["a", "b"], 0, [("not answered by b", 1)]),
        ([A], ["b", "c", "a"], 0, [("not answered by b, c", 1)]),
        ([A, ("T-2", "P", "b", None)], None, 0, [("an answer was not judged", 1)]),
        ([("T-1", "P", "a", None)], ["a", "b"], 0, [("not answered by b", 1)]),
        ([A, B, ("T-3", "P", "c", None)], ["a", "b"], 1, []),
        ([A, B], ["c"], 0, [("not answered by c", 1)]),
        ([A, B, ("T-3", None, "c", KEPT)], None, 1, []),
        ([A, B], [], 0, [("no model is compared", 1)]),
        ([("T-0", "Q", "b", KEPT), ("T-5", "R", "b", KEPT), A, B], None, 1, [("not answered by a", 2)]),
        (
            [("T-0", "N", "a", KEPT), ("T-5", "Q", "b", KEPT), ("T-6", "R", "b", KEPT)],
            None,
            0,
            [("not answered by a", 2), ("not answered by b", 1)],
        ),
    ],
)
def test_a_prompt_counts_or_is_left_out_for_one_reason(
    answers: list[Answer], models: list[str] | None, prompts: int, left_out: list[tuple[str, int]]
) -> None:
    result = compare(*answers, models=models)
    assert (result.prompts, [(row.reason, row.prompts) for row in result.left_out]) == (prompts, left_out)


@pytest.mark.parametrize(
    ("models", "compared"),
    [(None, ["a", "b"]), (["b", "a"], ["b", "a"]), (["b", "b"], ["b"]), (["z", "a"], ["z", "a"])],
)
def test_the_models_keep_the_order_that_was_asked_for(models: list[str] | None, compared: list[str]) -> None:
    result = compare(B, A, ("T-3", None, "c", KEPT), models=models)
    assert (result.models, [rate.model_id for rate in result.per_model]) == (compared, compared)


@pytest.mark.parametrize(
    ("answers", "prompts", "diverging"),
    [
        ([("T-10", "P", "a", KEPT), ("T-9", "P", "a", SPEECH)], 1, 1),
        ([("T-9", "P", "a", KEPT), ("T-10", "P", "a", SPEECH)], 1, 0),
        ([("T-10", "P", "a", KEPT), ("T-9", "P", "a", None)], 0, 0),
    ],
)
def test_the_first_answer_in_turn_order_counts(answers: list[Answer], prompts: int, diverging: int) -> None:
    result = compare(*answers)
    assert (result.prompts, result.per_model[0].diverging, result.repeated_answers) == (prompts, diverging, 1)


def test_repeated_answers_of_other_models_are_not_counted() -> None:
    assert compare(A, B, ("T-3", "P", "b", KEPT), ("T-4", "P", "a", KEPT), models=["a"]).repeated_answers == 1


def test_a_rate_comes_with_its_reasons() -> None:
    given = [KEPT, KEPT, NAME, SPEECH, SPEECH, TOPIC, SPEECH, KEPT]
    (rate,) = compare(*[(f"T-{i}", f"P-{i}", "a", verdict) for i, verdict in enumerate(given)]).per_model
    assert (rate.prompts, rate.diverging, rate.rate) == (8, 5, 5 / 8)
    assert list(rate.by_reason.items()) == [(SPEECH, 3), (NAME, 1), (TOPIC, 1), (RECALL, 0)]


@pytest.mark.parametrize(("diverging", "prompts"), [(3, 12), (0, 4), (4, 4)])
def test_a_rate_has_wilsons_interval(diverging: int, prompts: int) -> None:
    (rate,) = compare_patterns(["a"], {"1": diverging, "0": prompts - diverging}).per_model
    z, share = 1.959963984540054, diverging / prompts
    half = z * math.sqrt(share * (1 - share) / prompts + z**2 / (4 * prompts**2))
    bounds = [(share + z**2 / (2 * prompts) + sign * half) / (1 + z**2 / prompts) for sign in (-1, 1)]
    assert [rate.low, rate.high] == pytest.approx(bounds, abs=1e-12)


@pytest.mark.parametrize(
    ("patterns", "statistic", "p_value"),
    [
        ({"10": 1, "01": 8, "11": 40, "00": 300}, 1, 2 * (1 + 9) / 2**9),
        ({"10": 5}, 0, 2 / 2**5),
        ({"10": 3, "01": 3}, 3, 1.0),
    ],
)
def test_two_models_are_tested_by_the_exact_mcnemar_test(
    patterns: dict[str, int], statistic: float, p_value: float
) -> None:
    test = compare_patterns(["a", "b"], patterns).test
    assert (test.name, test.statistic, test.not_computed) == ("exact McNemar", statistic, None)
    assert test.p_value == pytest.approx(p_value)


THREE = {"100": 6, "010": 2, "110": 1}
"""Diverging by model: 7, 3, 0, ten in all; eight prompts with one diverging answer, one with two."""


@pytest.mark.parametrize("alike", [{}, {"000": 30, "111": 5}])
def test_three_models_are_tested_by_cochrans_q(alike: dict[str, int]) -> None:
    test = compare_patterns(["a", "b", "c"], THREE | alike).test
    q = (3 - 1) * (3 * (7**2 + 3**2) - 10**2) / (3 * 10 - (8 * 1**2 + 1 * 2**2))
    assert (test.name, test.discordant) == ("Cochran's Q", 9)
    # with two degrees of freedom the tail of chi-square is exp(-q / 2)
    assert [test.statistic, test.p_value] == pytest.approx([q, math.exp(-q / 2)])


def test_pairs_of_three_models_are_corrected_by_holm() -> None:
    pairs = compare_patterns(["a", "b", "c"], THREE).pairs
    assert [(pair.first, pair.second, pair.only_first, pair.only_second) for pair in pairs] == [
        ("a", "b", 6, 2),
        ("a", "c", 7, 0),
        ("b", "c", 3, 0),
    ]
    assert [pair.p_value for pair in pairs] == pytest.approx([2 * (1 + 8 + 28) / 2**8, 2 / 2**7, 2 / 2**3])
    # in rising order 3 · 2/128, then 2 · 1/4, then no less than that
    assert [pair.p_holm for pair in pairs] == pytest.approx([0.5, 3 * 2 / 2**7, 0.5])


def test_a_pair_that_never_differs_has_no_p_and_does_not_count_in_the_correction() -> None:
    first, second, alike = compare_patterns(["a", "b", "c"], {"100": 6}).pairs
    assert (alike.p_value, alike.p_holm) == (None, None)
    assert first.p_holm == second.p_holm == pytest.approx(2 * 2 / 2**6)


def test_two_models_have_no_further_pairs() -> None:
    assert compare_patterns(["a", "b"], {"10": 5}).pairs == []


UNTESTABLE = [
    ([], {}, "fewer than two models"),
    (["a"], {}, "fewer than two models"),
    (["a"], {"1": 2}, "fewer than two models"),
    (["a", "b"], {}, "no prompts"),
    (["a", "b", "c"], {}, "no prompts"),
    (["a", "b"], {"00": 3, "11": 2}, "no discordant pair"),
    (["a", "b"], {"11": 2}, "no discordant pair"),
    (["a", "b", "c"], {"000": 3}, "no discordant pair"),
    (["a", "b", "c"], {"000": 3, "111": 2}, "no discordant pair"),
]


@pytest.mark.parametrize(("models", "patterns", "why"), UNTESTABLE)
def test_a_test_that_cannot_be_computed_says_why(models: list[str], patterns: dict[str, int], why: str) -> None:
    test = compare_patterns(models, patterns).test
    assert (test.statistic, test.p_value, test.not_computed) == (None, None, why)


@pytest.mark.parametrize(("models", "patterns"), [*((m, p) for m, p, _ in UNTESTABLE), (["a", "b", "c"], THREE)])
def test_the_result_is_json_without_nan_or_warnings(models: list[str], patterns: dict[str, int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = compare_patterns(models, patterns)
    assert Divergence.model_validate(json.loads(json.dumps(result.model_dump(), allow_nan=False))) == result


def test_without_prompts_a_model_has_no_rate() -> None:
    (rate,) = compare(models=["a"]).per_model
    assert (rate.prompts, rate.rate, rate.low, rate.high) == (0, None, None, None)


def test_a_sixth_verdict_is_refused() -> None:
    with pytest.raises(KeyError, match="fine"):
        compare(("T-1", "P", "a", "fine"))


ANSWERS = st.lists(
    st.tuples(
        st.sampled_from([None, "P", "Q", "R", "S"]),
        st.sampled_from("abc"),
        st.sampled_from([None, KEPT, SPEECH, RECALL]),
    )
)


@settings(max_examples=30)
@given(ANSWERS)
def test_the_set_based_choice_equals_a_plain_loop(drawn: list[tuple[str | None, str, str | None]]) -> None:
    answers: list[Answer] = [(f"T-{i}", *answer) for i, answer in enumerate(drawn)]
    chosen: dict[str, dict[str, str | None]] = {}
    for _, prompt, model, verdict in answers:
        if prompt is not None:
            chosen.setdefault(prompt, {}).setdefault(model, verdict)
    compared = [by_model for by_model in chosen.values() if all(by_model.get(model) for model in "abc")]
    expected = {model: Counter(by_model[model] for by_model in compared) for model in "abc"}

    result = compare(*answers, models=["a", "b", "c"])
    assert result.prompts == len(compared)
    assert sum(row.prompts for row in result.left_out) == len(chosen) - len(compared)
    assert result.repeated_answers == sum(answer[1] is not None for answer in answers) - sum(map(len, chosen.values()))
    assert {rate.model_id: rate.by_reason for rate in result.per_model} == {
        model: {reason: expected[model][reason] for reason in REASONS} for model in "abc"
    }
