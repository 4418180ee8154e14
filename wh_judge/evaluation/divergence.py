"""How often each model leaves its card, on the prompts that all of them answered: `measure_divergence`."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Literal

import pyarrow as pa

from wh_judge.evaluation.agreement import VERDICTS, Figures, wilson
from wh_judge.model import VerdictValue

KEPT, REASONS = VERDICTS[0], VERDICTS[1:]
"""The verdict of a turn that keeps to its card, and the four that do not."""

Pattern = tuple[list[int], int]
"""For each model 1 where it diverges and 0 where it does not; and the number of prompts with this pattern."""

NotComputed = Literal["fewer than two models", "no prompts", "no discordant pair"]


class LeftOut(Figures):
    """Prompts that are not compared, and why."""

    reason: str
    prompts: int


class ModelRate(Figures):
    """One model on the compared prompts."""

    model_id: str
    prompts: int
    diverging: int
    rate: float | None
    """Diverging / prompts, with Wilson's 95 % interval from `low` to `high`; all None where there is no prompt."""
    low: float | None
    high: float | None
    by_reason: dict[VerdictValue, int]
    """The diverging turns by each of `REASONS`, in that order, zeros included."""


class PairedTest(Figures):
    """Whether the compared models diverge equally often, tested on the same prompts."""

    name: Literal["exact McNemar", "Cochran's Q"]
    """Cochran's Q for more than two models."""
    discordant: int
    """Prompts on which some models diverge and others do not; the test rests on these."""
    statistic: float | None
    """McNemar: the smaller of the two discordant counts. Cochran: Q, chi-square with models - 1 degrees of freedom."""
    p_value: float | None
    not_computed: NotComputed | None
    """Why there is no statistic."""


class PairTest(Figures):
    """Two of several models by the exact McNemar test; both p are None where no prompt tells the two apart."""

    first: str
    second: str
    only_first: int
    """Prompts on which, of the two, the first model alone diverges."""
    only_second: int
    p_value: float | None
    p_holm: float | None
    """Holm's correction over the pairs that have a p."""


class Divergence(Figures):
    """The compared models on one set of prompts; `prompts` and those of `left_out` are all prompts of the turns."""

    models: list[str]
    prompts: int
    """Prompts that every model answered and whose answers were all judged."""
    left_out: list[LeftOut]
    """Each other prompt under one reason, the most frequent reason first."""
    repeated_answers: int
    """Further answers of a compared model to a prompt that it had answered; set aside."""
    per_model: list[ModelRate]
    test: PairedTest
    pairs: list[PairTest]
    """Every pair where there are more than two models, else empty."""


_PROMPTS = """
WITH answers AS (
    SELECT t.prompt_id, c.position, v.verdict,
        row_number() OVER (PARTITION BY t.prompt_id, t.model_id ORDER BY length(t.turn_id), t.turn_id) AS nth
    FROM turns t LEFT JOIN compared c USING (model_id) LEFT JOIN verdicts v USING (turn_id)
    WHERE t.prompt_id IS NOT NULL
), prompts AS (
    SELECT list(position ORDER BY position) FILTER (nth = 1 AND position IS NOT NULL) AS positions,
        list(verdict ORDER BY position) FILTER (nth = 1 AND position IS NOT NULL) AS verdicts,
        count(position) FILTER (nth > 1) AS repeated
    FROM answers GROUP BY prompt_id
)
SELECT positions, verdicts, count(*), sum(repeated)::BIGINT FROM prompts GROUP BY ALL ORDER BY ALL
"""
"""The answers to a prompt, in the order of the compared models, and how many prompts were answered just so."""


def measure_divergence(turns: pa.Table, verdicts: pa.Table, models: Sequence[str] | None = None) -> Divergence:
    """Compare models on the prompts that each of them answered with a judged answer.

    `turns` has at least turn_id, prompt_id and model_id, `verdicts` turn_id and verdict; a turn_id stands at most once
    in each, and a turn without a verdict was not judged. `models` None: every model that answered a prompt, by name.
    Of several answers of a model to one prompt the first in turn order counts, judged or not. An answer diverges
    when its verdict is not 설정대로 말함. Raises KeyError where a verdict is none of the five.
    """
    import duckdb

    with duckdb.connect() as con:
        con.register("turns", turns.select(["turn_id", "prompt_id", "model_id"]))
        con.register("verdicts", verdicts.select(["turn_id", "verdict"]))
        if models is None:
            found = con.sql("SELECT DISTINCT model_id FROM turns WHERE prompt_id IS NOT NULL ORDER BY model_id")
            models = [model_id for (model_id,) in found.fetchall()]
        models = list(dict.fromkeys(models))
        positions = pa.array(range(len(models)), pa.int32())
        con.register("compared", pa.table({"model_id": pa.array(models, pa.string()), "position": positions}))
        rows = con.sql(_PROMPTS).fetchall()

    left_out: Counter[str] = Counter()
    tallies = [dict.fromkeys(VERDICTS, 0) for _ in models]
    patterns: list[Pattern] = []
    for answered, given, prompts, _ in rows:
        if reason := _why_left_out(models, answered or [], given or []):
            left_out[reason] += prompts
            continue
        for tally, verdict in zip(tallies, given, strict=True):
            tally[verdict] += prompts
        patterns.append(([int(verdict != KEPT) for verdict in given], prompts))
    return Divergence(
        models=models,
        prompts=sum(prompts for _, prompts in patterns),
        left_out=[LeftOut(reason=reason, prompts=prompts) for reason, prompts in left_out.most_common()],
        repeated_answers=sum(repeated for *_, repeated in rows),
        per_model=[_rate(model_id, tally) for model_id, tally in zip(models, tallies, strict=True)],
        test=_test(len(models), patterns),
        pairs=_pairs(models, patterns) if len(models) > 2 else [],
    )


def _why_left_out(models: list[str], answered: list[int], verdicts: list[str | None]) -> str | None:
    if not models:
        return "no model is compared"
    if missing := [model for position, model in enumerate(models) if position not in answered]:
        return f"not answered by {', '.join(missing)}"
    return "an answer was not judged" if None in verdicts else None


def _rate(model_id: str, tally: dict[VerdictValue, int]) -> ModelRate:
    prompts, diverging = sum(tally.values()), sum(tally[reason] for reason in REASONS)
    low, high = wilson(diverging, prompts)
    return ModelRate(
        model_id=model_id,
        prompts=prompts,
        diverging=diverging,
        rate=diverging / prompts if prompts else None,
        low=low,
        high=high,
        by_reason={reason: tally[reason] for reason in REASONS},
    )


def _test(models: int, patterns: list[Pattern]) -> PairedTest:
    mixed = [(pattern, prompts) for pattern, prompts in patterns if 0 < sum(pattern) < models]
    name: Literal["exact McNemar", "Cochran's Q"] = "exact McNemar" if models <= 2 else "Cochran's Q"
    why: NotComputed | None = None
    statistic = p_value = None
    if models < 2:
        why = "fewer than two models"
    elif not patterns:
        why = "no prompts"
    elif not mixed:
        why = "no discordant pair"
    else:
        statistic, p_value = _cochran(mixed) if models > 2 else _mcnemar(*_alone(mixed, models)[0, 1])
    discordant = sum(prompts for _, prompts in mixed)
    return PairedTest(name=name, discordant=discordant, statistic=statistic, p_value=p_value, not_computed=why)


def _pairs(models: list[str], patterns: list[Pattern]) -> list[PairTest]:
    """Source of the correction: S. Holm, "A simple sequentially rejective multiple test procedure" (1979)."""
    from statsmodels.stats.multitest import multipletests

    alone = _alone(patterns, len(models))
    p_values = {pair: _mcnemar(*counts)[1] for pair, counts in alone.items() if any(counts)}
    holm = multipletests(list(p_values.values()), method="holm")[1].tolist() if p_values else []
    corrected = dict(zip(p_values, holm, strict=True))
    return [
        PairTest(
            first=models[pair[0]],
            second=models[pair[1]],
            only_first=only_first,
            only_second=only_second,
            p_value=p_values.get(pair),
            p_holm=corrected.get(pair),
        )
        for pair, (only_first, only_second) in alone.items()
    ]


def _alone(patterns: list[Pattern], models: int) -> dict[tuple[int, int], tuple[int, int]]:
    """For each pair of models the prompts on which, of the two, only the first diverges, and only the second."""
    import numpy as np

    diverges = np.array([pattern for pattern, _ in patterns], np.int64).reshape(-1, models)
    prompts = np.array([prompts for _, prompts in patterns], np.int64)
    counts = (diverges.T * prompts) @ (1 - diverges)
    return {(i, j): (int(counts[i, j]), int(counts[j, i])) for i, j in combinations(range(models), 2)}


def _mcnemar(only_first: int, only_second: int) -> tuple[float, float]:
    """Source: Q. McNemar, "Note on the sampling error of the difference between correlated proportions" (1947)."""
    from statsmodels.stats.contingency_tables import mcnemar

    result = mcnemar([[0, only_first], [only_second, 0]], exact=True)
    return float(result.statistic), float(result.pvalue)


def _cochran(patterns: list[Pattern]) -> tuple[float, float]:
    """Source: W. G. Cochran, "The comparison of percentages in matched samples" (1950)."""
    import numpy as np
    from statsmodels.stats.contingency_tables import cochrans_q

    answers = np.repeat([pattern for pattern, _ in patterns], [prompts for _, prompts in patterns], axis=0)
    result = cochrans_q(answers)
    return float(result.statistic), float(result.pvalue)
