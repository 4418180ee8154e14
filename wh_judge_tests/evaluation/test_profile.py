"""Capability profiles: the ladder of means, what is left out, correlations, and paired differences."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from wh_judge.evaluation import profile
from wh_judge.evaluation.profile import (
    CapabilityProfiles,
    ModelDifference,
    measure_difference,
    measure_profiles,
    percentiles,
)
from wh_judge.evaluation.scores import AXES, SCORE_SCHEMA

Row = tuple[str, str, str | None, dict[str, float]]
"""Model, character, prompt and the axes that applied."""


def table(rows: Sequence[Row]) -> pa.Table:
    records = [
        {
            "turn_id": f"T-{n}",
            "model_id": model,
            "character_id": character,
            "prompt_id": prompt,
            "kept": True,
            "score": -9.0,
        }
        | {axis: axes.get(axis) for axis in AXES}
        for n, (model, character, prompt, axes) in enumerate(rows)
    ]
    return pa.Table.from_pylist(records, SCORE_SCHEMA)


def of(*rows: Row) -> CapabilityProfiles:
    return measure_profiles(table(rows))


def axes(profiles: CapabilityProfiles, model: str = "M") -> dict[str, tuple[Any, ...]]:
    [found] = [entry for entry in profiles.profiles if entry.model_id == model]
    return {axis.axis: (axis.score, axis.turns, axis.prompts, axis.characters) for axis in found.axes}


def test_turns_of_a_prompt_then_prompts_then_characters_weigh_the_same() -> None:
    profiles = of(
        ("M", "A", "P-1", {"speech": 1.0}),
        ("M", "A", "P-1", {"speech": 0.0}),
        ("M", "A", "P-2", {"speech": 1.0}),
        ("M", "B", "P-3", {"speech": 0.0}),
    )
    # A: (0.5 + 1) / 2, B: 0.
    assert axes(profiles)["speech"] == (pytest.approx(37.5), 4, 3, 2)


def test_a_turn_without_a_prompt_is_a_prompt_of_its_own() -> None:
    profiles = of(("M", "A", None, {"canon": 1.0}), ("M", "A", None, {"canon": 0.0}), ("M", "A", None, {"canon": 0.0}))
    assert axes(profiles)["canon"] == (pytest.approx(100 / 3), 3, 3, 1)


def test_a_prompt_that_is_called_like_a_turn_is_not_that_turn() -> None:
    assert axes(of(("M", "A", None, {"canon": 1.0}), ("M", "A", "T-0", {"canon": 0.0})))["canon"][2] == 2


def test_what_does_not_apply_is_left_out_and_not_zero() -> None:
    profiles = of(("M", "A", None, {"speech": 1.0}), ("M", "B", None, {"canon": 0.5}))
    assert axes(profiles)["speech"] == (100.0, 1, 1, 1)
    assert axes(profiles)["recall"] == (None, 0, 0, 0)
    assert profiles.profiles[0].overall == pytest.approx(75)
    assert [caution for caution in profiles.cautions if "forbidden, recall" in caution]


def test_models_without_the_same_axes_share_a_line() -> None:
    rows = [(f"M-{n:02}", "A", None, {"speech": 1.0, "canon": 1.0, "forbidden": 1.0}) for n in range(11)]
    told = [caution for caution in of(*rows).cautions if "overall rests" in caution]
    named = ", ".join(f"M-{n:02}" for n in range(8))
    assert told == [f"{named} and 3 more: overall rests on the other axes only, none applied of: recall"]


def test_no_turn_gives_no_profile() -> None:
    assert of() == CapabilityProfiles(profiles=[], correlations=of().correlations, differences=[], cautions=[])
    assert {entry.pearson for entry in of().correlations} == {None}


def test_correlations_are_across_the_models_that_have_both_axes() -> None:
    values = {"M-1": (0.1, 0.9), "M-2": (0.4, 0.5), "M-3": (0.5, 0.6), "M-4": (0.9, 0.1)}
    rows: list[Row] = [(m, "A", None, {"speech": s, "canon": c}) for m, (s, c) in values.items()]
    rows.append(("M-5", "A", None, {"speech": 0.3}))
    [found] = [entry for entry in of(*rows).correlations if (entry.first, entry.second) == ("speech", "canon")]
    expected = float(np.corrcoef(np.array(list(values.values())).T)[0, 1])
    assert found.models == 4
    assert found.pearson == pytest.approx(expected)
    assert found.low is not None and found.high is not None and found.low < expected < found.high


@pytest.mark.parametrize(
    ("pairs", "known"), [([(0, 0), (1, 1)], False), ([(0, 1), (1, 1), (2, 1)], False), ([(0, 1), (1, 2), (2, 2)], True)]
)
def test_a_correlation_of_too_few_or_of_equal_values_is_not_defined(
    pairs: list[tuple[float, float]], known: bool
) -> None:
    xs, ys = (np.array(side, float) for side in zip(*pairs, strict=True))
    pearson, low, high = profile.correlate(xs, ys)
    assert (pearson is not None, low, high) == (known, None, None)


def differences(difference: ModelDifference) -> dict[str, tuple[Any, ...]]:
    return {axis.axis: (axis.prompts, axis.difference) for axis in difference.axes}


def test_two_models_are_compared_on_the_prompts_that_both_answered() -> None:
    rows: list[Row] = [
        ("base", "A", "P-1", {"speech": 0.0}),
        ("tuned", "A", "P-1", {"speech": 1.0}),
        ("base", "A", "P-2", {"speech": 1.0}),
        ("tuned", "A", "P-2", {"speech": 1.0}),
        ("base", "B", "P-3", {"speech": 1.0, "canon": 1.0}),
        ("tuned", "B", "P-3", {"speech": 1.0, "canon": 0.5}),
        ("tuned", "B", "P-4", {"speech": 0.0}),
        ("base", "B", None, {"speech": 0.0}),
    ]
    found = differences(measure_difference(table(rows), "tuned", "base"))
    # speech: A (1 + 0) / 2, B 0; canon: B -0.5.
    assert found["speech"] == (3, pytest.approx(25))
    assert found["canon"] == (1, pytest.approx(-50))
    assert found["recall"] == (0, None)
    assert found["overall"] == (3, pytest.approx(-12.5))


def test_a_difference_turns_its_sign_with_the_order() -> None:
    rows: list[Row] = [(m, "A", f"P-{n}", {"speech": s}) for n in range(4) for m, s in (("a", n / 4), ("b", 0.2))]
    forth, back = (measure_difference(table(rows), *order) for order in (("a", "b"), ("b", "a")))
    assert [axis.difference for axis in back.axes if axis.difference] == [
        -axis.difference for axis in forth.axes if axis.difference
    ]


def test_the_interval_is_that_of_resampled_prompts() -> None:
    generator = np.random.default_rng(1)
    effects = generator.normal(0.1, 0.2, size=200)
    rows: list[Row] = []
    for n, effect in enumerate(effects):
        rows += [("a", "A", f"P-{n}", {"speech": 0.5 + effect}), ("b", "A", f"P-{n}", {"speech": 0.5})]
    [axis] = [entry for entry in measure_difference(table(rows), "a", "b").axes if entry.axis == "speech"]
    error = 100 * effects.std() / np.sqrt(len(effects))
    assert axis.difference == pytest.approx(100 * effects.mean())
    assert axis.low == pytest.approx(100 * effects.mean() - 1.96 * error, abs=0.3 * error)
    assert axis.high == pytest.approx(100 * effects.mean() + 1.96 * error, abs=0.3 * error)


def test_an_axis_that_applies_to_one_prompt_of_a_character_is_in_every_resample() -> None:
    rows: list[Row] = []
    for n in range(10):
        recall = {"recall": 1.0} if n == 0 else {}
        rows += [("a", "A", f"A-{n}", {"speech": 1.0} | recall), ("b", "A", f"A-{n}", dict.fromkeys(recall, 0.0))]
        rows += [("a", "B", f"B-{n}", {"recall": n % 2}), ("b", "B", f"B-{n}", {"recall": 0.5})]
    [axis] = [entry for entry in measure_difference(table(rows), "a", "b").axes if entry.axis == "recall"]
    assert axis.difference == pytest.approx(50)
    # Of B's ten prompts the mean lies between -50 and 50, A's one is 100 throughout.
    assert axis.low is not None and axis.high is not None and 25 <= axis.low < 50 < axis.high <= 75


def test_one_prompt_has_no_interval() -> None:
    rows: list[Row] = [("a", "A", "P", {"speech": 1.0}), ("b", "A", "P", {"speech": 0.0})]
    [axis] = [entry for entry in measure_difference(table(rows), "a", "b").axes if entry.axis == "speech"]
    assert axis.difference == pytest.approx(100)
    assert (axis.low, axis.high) == (None, None)


def test_the_same_rows_in_another_order_give_the_same_document() -> None:
    generator = np.random.default_rng(2)
    rows: list[Row] = [
        (m, c, f"P-{c}-{n}", {"speech": float(generator.integers(2)), "canon": 1.0})
        for m in ("a", "b", "c")
        for c in ("A", "B")
        for n in range(5)
    ]
    assert of(*rows) == of(*reversed(rows))


def test_every_pair_of_models_is_compared_up_to_a_number() -> None:
    rows: list[Row] = [(f"M-{n:02}", "A", "P", {"speech": 1.0}) for n in range(profile.PAIRED_MODELS + 1)]
    assert len(of(*rows[:3]).differences) == 3
    many = of(*rows)
    assert many.differences == []
    assert any("when asked for" in caution for caution in many.cautions)


@pytest.mark.parametrize(
    ("models", "words"),
    [(2, "no correlation"), (3, "once in 6"), (5, "once in 120"), (6, None)],
)
def test_few_models_are_said_in_words(models: int, words: str | None) -> None:
    caution = profile.few_models(models)
    assert caution is None if words is None else caution is not None and words in caution


@pytest.mark.parametrize("sample", [[0.0] * 5, [100 / 3, 100 / 3 + 1e-14, 100 / 3]])
def test_where_no_resample_differs_the_interval_stays_open(sample: list[float]) -> None:
    assert percentiles(np.array(sample)) == (None, None)


def test_an_interval_lies_between_the_percentiles() -> None:
    assert percentiles(np.arange(1001.0)) == pytest.approx((25.0, 975.0))
