"""Capability profiles: what each model is good at, from 0 to 100 on each axis, and how two models differ.

Scores go from turns to prompts to characters to models with equal weights at each step, so that a character that is
talked to much does not drown the others. What does not apply is left out, never 0, and the number of valid turns stands
beside every score. Sources: HappyWorld-Bench (equal weights, valid counts beside scores), HarnessEval-W (axes that are
told apart, a base model and its fine-tune compared axis by axis).
"""

import math
from itertools import combinations
from typing import Any, Literal, cast

import numpy as np
import pyarrow as pa

from wh_judge.evaluation.agreement import CONFIDENCE, Figures
from wh_judge.evaluation.scores import AXES, Axis
from wh_judge.text import listed

Scored = Literal["speech", "canon", "forbidden", "recall", "overall"]

RESAMPLES = 2000
"""Bootstrap resamples of every interval in the evaluations beside people."""
SEED = 20260901
"""So that the same data give the same intervals."""
PAIRED_MODELS = 20
"""With more models than this, pairs are compared when they are asked for, not all of them."""


class AxisScore(Figures):
    """One model on one axis."""

    axis: Axis
    score: float | None
    """From 0 to 100; None where nothing applied."""
    turns: int
    """Turns to which the axis applied: the valid cases."""
    prompts: int
    """The prompts that they answered; a turn without a prompt_id counts as a prompt of its own."""
    characters: int


class ModelProfile(Figures):
    """One model on all axes."""

    model_id: str
    turns: int
    """Its judged turns."""
    axes: list[AxisScore]
    """One for each of AXES, in that order."""
    overall: float | None
    """Mean of the axes that have a score, each with the same weight."""


class AxisCorrelation(Figures):
    """Two axes across the models that have a score on both."""

    first: Axis
    second: Axis
    models: int
    pearson: float | None
    """None with fewer than three models, or where one axis is the same for all."""
    low: float | None
    high: float | None
    """Fisher's 95 % interval; None with fewer than four models."""


class AxisDifference(Figures):
    """The first model's score less the second's, in points, on the prompts that both answered."""

    axis: Scored
    prompts: int
    """Prompts on which the axis applied to both."""
    difference: float | None
    low: float | None
    high: float | None
    """95 % bootstrap interval over prompts; None with fewer than two prompts."""


class ModelDifference(Figures):
    """Two models compared prompt by prompt."""

    first: str
    second: str
    axes: list[AxisDifference]
    """One for each of AXES, then `overall`: the mean of the axes' differences."""


class CapabilityProfiles(Figures):
    """All profiles, correlations of axes across models, and paired differences."""

    profiles: list[ModelProfile]
    """By model_id."""
    correlations: list[AxisCorrelation]
    differences: list[ModelDifference]
    """Every pair where there are at most PAIRED_MODELS models, else empty."""
    cautions: list[str]
    """What the numbers do not bear, in words."""


_LADDER = """
WITH turn AS (
    SELECT model_id, character_id, coalesce('P' || prompt_id, 'T' || turn_id) AS prompt, axis, score
    FROM (UNPIVOT (SELECT * EXCLUDE score FROM scores) ON speech, canon, forbidden, recall INTO NAME axis VALUE score)
), prompt AS (
    SELECT model_id, character_id, prompt, axis, avg(score ORDER BY score) AS score, count(*) AS turns
    FROM turn GROUP BY ALL
), character AS (
    SELECT model_id, character_id, axis, avg(score ORDER BY score) AS score, sum(turns) AS turns, count(*) AS prompts
    FROM prompt GROUP BY ALL
)
SELECT model_id, axis, 100 * avg(score ORDER BY score), sum(turns)::BIGINT, sum(prompts)::BIGINT, count(*)
FROM character GROUP BY ALL
"""
"""A floating sum depends on the order of what is added, so each mean adds up its values by size: whatever order rows
lie in, and however many threads read them, the same rows give the same bits."""


def measure_profiles(scores: pa.Table) -> CapabilityProfiles:
    """The profiles of all models in `scores` (SCORE_SCHEMA)."""
    import duckdb

    with duckdb.connect() as con:
        con.register("scores", scores)
        found = {(model, axis): cells for model, axis, *cells in con.execute(_LADDER).fetchall()}
        turns = dict(con.execute("SELECT model_id, count(*) FROM scores GROUP BY 1 ORDER BY 1").fetchall())
    profiles = [_profile(model, count, found) for model, count in turns.items()]
    pairs = list(combinations(turns, 2)) if len(turns) <= PAIRED_MODELS else []
    answers = _answers(scores)
    return CapabilityProfiles(
        profiles=profiles,
        correlations=[_correlation(profiles, first, second) for first, second in combinations(AXES, 2)],
        differences=[_difference(answers, *pair) for pair in pairs],
        cautions=_cautions(profiles, len(pairs)),
    )


def measure_difference(scores: pa.Table, first: str, second: str) -> ModelDifference:
    """Two models of `scores` (SCORE_SCHEMA), such as a fine-tune and its base."""
    return _difference(_answers(scores), first, second)


def _profile(model: str, turns: int, found: dict[tuple[str, str], list[Any]]) -> ModelProfile:
    axes = []
    for axis in AXES:
        score, *counts = found.get((model, axis), [None, 0, 0, 0])
        axes.append(AxisScore(axis=axis, score=score, turns=counts[0], prompts=counts[1], characters=counts[2]))
    known = [axis.score for axis in axes if axis.score is not None]
    overall = sum(known) / len(known) if known else None
    return ModelProfile(model_id=model, turns=turns, axes=axes, overall=overall)


def _correlation(profiles: list[ModelProfile], first: Axis, second: Axis) -> AxisCorrelation:
    places = AXES.index(first), AXES.index(second)
    pairs = [[profile.axes[place].score for place in places] for profile in profiles]
    both = np.array([pair for pair in pairs if None not in pair], np.float64).reshape(-1, 2)
    pearson, low, high = correlate(both[:, 0], both[:, 1])
    return AxisCorrelation(first=first, second=second, models=len(both), pearson=pearson, low=low, high=high)


def correlate(xs: np.ndarray, ys: np.ndarray) -> tuple[float | None, float | None, float | None]:
    """Pearson's r of n values each, with Fisher's 95 % interval.

    Source: R. A. Fisher, "On the probable error of a coefficient of correlation deduced from a small sample" (1921).
    """
    from scipy.stats import pearsonr

    if len(xs) < 3 or np.ptp(xs) == 0 or np.ptp(ys) == 0:
        return None, None, None
    result = pearsonr(xs, ys)
    pearson = float(result.statistic)
    if len(xs) < 4:
        return pearson, None, None
    interval = result.confidence_interval(CONFIDENCE)
    return pearson, float(interval.low), float(interval.high)


Answers = dict[str, dict[tuple[str, str], np.ndarray]]
"""By model, by (character_id, prompt_id): the mean of the answer's axes, NaN where none applied."""


def _answers(scores: pa.Table) -> Answers:
    import duckdb

    means = ", ".join(f"avg({axis} ORDER BY {axis})" for axis in AXES)
    with duckdb.connect() as con:
        con.register("scores", scores)
        rows = con.execute(
            f"""SELECT model_id, character_id, prompt_id, {means} FROM scores WHERE prompt_id IS NOT NULL
                GROUP BY ALL ORDER BY ALL"""
        ).fetchall()
    answers: Answers = {}
    for model, character, prompt, *axes in rows:
        answers.setdefault(model, {})[character, prompt] = np.array(axes, np.float64)
    return answers


def _difference(answers: Answers, first: str, second: str) -> ModelDifference:
    """Prompts are resampled within their character, among those to which the same axes apply: else an axis that applies
    to few would drop out of many resamples, with its character. All axes of a prompt stay together."""
    ours, theirs = answers.get(first, {}), answers.get(second, {})
    by_character: dict[str, list[np.ndarray]] = {}
    # In order, so that the resamples do not depend on the order of a set.
    for key in sorted(ours.keys() & theirs.keys()):
        by_character.setdefault(key[0], []).append(100 * (ours[key] - theirs[key]))
    groups = [np.array(rows) for rows in by_character.values()]
    generator = np.random.default_rng(SEED)
    point = _weighted(groups, [np.ones((1, len(group))) for group in groups])[0]
    resampled = _weighted(groups, [_drawn(group, generator) for group in groups])
    valid = sum((~np.isnan(group)).sum(axis=0) for group in groups) if groups else np.zeros(len(AXES), int)
    prompts = [*(int(count) for count in valid), sum(bool((~np.isnan(row)).any()) for group in groups for row in group)]
    axes = []
    for place, axis in enumerate((*AXES, "overall")):
        known, low, high = None if np.isnan(point[place]) else float(point[place]), None, None
        sample = resampled[:, place][~np.isnan(resampled[:, place])]
        if known is not None and prompts[place] >= 2:
            low, high = percentiles(sample)
        entry = AxisDifference(axis=cast(Scored, axis), prompts=prompts[place], difference=known, low=low, high=high)
        axes.append(entry)
    return ModelDifference(first=first, second=second, axes=axes)


def _drawn(group: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """How often each prompt of a character is drawn: resamples x prompts."""
    weights = np.zeros((RESAMPLES, len(group)), np.int64)
    _, kind = np.unique(np.isnan(group), axis=0, return_inverse=True)
    for number in range(kind.max() + 1):
        [rows] = np.nonzero(kind.ravel() == number)
        weights[:, rows] = generator.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=RESAMPLES)
    return weights


def _weighted(groups: list[np.ndarray], weights: list[np.ndarray]) -> np.ndarray:
    """Means over prompts, then characters, then axes: resamples x (axes and overall), NaN where nothing is."""
    size = len(weights[0]) if weights else 1
    means = np.full((len(groups), size, len(AXES)), np.nan)
    for place, (group, weight) in enumerate(zip(groups, weights, strict=True)):
        valid = ~np.isnan(group)
        number = weight @ valid
        np.divide(weight @ np.where(valid, group, 0), number, out=means[place], where=number > 0)
    axes = mean_known(means, 0)
    return np.column_stack([axes, mean_known(axes, 1)])


def mean_known(values: np.ndarray, axis: int) -> np.ndarray:
    """The mean of what is not NaN along an axis; NaN where all is."""
    known = ~np.isnan(values)
    number = known.sum(axis=axis)
    total = np.where(known, values, 0).sum(axis=axis)
    means = np.full(total.shape, np.nan)
    np.divide(total, number, out=means, where=number > 0)
    return means


SAME = 1e-9
"""Means of the same numbers in another order may differ by less."""


def percentiles(sample: np.ndarray) -> tuple[float, float] | tuple[None, None]:
    """The percentile interval of a bootstrap sample. Source: B. Efron, "Bootstrap methods" (1979).

    None where all resamples are the same: an interval of no width would call what was seen so far certain.
    """
    if np.ptp(sample) < SAME:
        return None, None
    low, high = np.percentile(sample, [50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE)])
    return float(low), float(high)


def few_models(models: int) -> str | None:
    """What so few models do not bear, in words; None where there are enough."""
    if models >= 6:
        return None
    if models < 3:
        return f"{models} models: no correlation between models can be computed from fewer than 3"
    orders = math.factorial(models)
    return (
        f"{models} models can be ordered in only {orders} ways, so that two orders that have nothing to do with each"
        f" other agree wholly by chance once in {orders}: read a correlation across them as a hint, not as a finding"
    )


def _cautions(profiles: list[ModelProfile], pairs: int) -> list[str]:
    cautions = [few] if profiles and (few := few_models(len(profiles))) else []
    lacking: dict[tuple[Axis, ...], list[str]] = {}
    for profile in profiles:
        missing = tuple(axis.axis for axis in profile.axes if axis.score is None)
        if missing and len(missing) < len(AXES):
            lacking.setdefault(missing, []).append(profile.model_id)
    for missing, models in lacking.items():
        cautions.append(
            f"{listed(models)}: overall rests on the other axes only, none applied of: {', '.join(missing)}"
        )
    if len(profiles) > PAIRED_MODELS and not pairs:
        cautions.append(f"{len(profiles)} models: pairs are compared when asked for, not all of them")
    return cautions
