"""How far two orders of the models agree, and how likely chance alone would bring them so close.

Source of the measures: HarnessEval-W (Spearman's rho and Kendall's tau between a judge and Bradley-Terry ratings).
"""

import itertools

import numpy as np

from wh_judge.evaluation.agreement import Figures

MOST_EXACT = 7
"""Models up to which all orders are gone through: 5,040 of them."""


class RankAgreement(Figures):
    """Models ordered by a judge's mean score on the voted cases, and by their rating."""

    models: int
    spearman: float | None
    kendall: float | None
    """Kendall's tau-b. Both are None with fewer than three models, or where one side is the same for all."""
    p_value: float | None
    """Two-sided, of Spearman's rho: exact over all orders up to MOST_EXACT models."""
    kendall_p_value: float | None
    """The same of Kendall's tau."""


def rank_agreement(scores: dict[str, float], ratings: dict[str, float]) -> RankAgreement:
    """How far two orders of the models that are in both agree."""
    from scipy.stats import kendalltau, rankdata, spearmanr

    models = sorted(scores.keys() & ratings.keys())
    xs, ys = (rankdata([side[model] for model in models]) for side in (scores, ratings))
    if len(models) < 3 or np.ptp(xs) == 0 or np.ptp(ys) == 0:
        return RankAgreement(models=len(models), spearman=None, kendall=None, p_value=None, kendall_p_value=None)
    spearman, kendall = spearmanr(xs, ys), kendalltau(xs, ys)
    exact = len(models) <= MOST_EXACT
    p_rho, p_tau = _exact_p(xs, ys) if exact else (float(spearman.pvalue), float(kendall.pvalue))
    return RankAgreement(
        models=len(models),
        spearman=float(spearman.statistic),
        kendall=float(kendall.statistic),
        p_value=p_rho,
        kendall_p_value=p_tau,
    )


def _exact_p(xs: np.ndarray, ys: np.ndarray) -> tuple[float, float]:
    """The share of all orders of the ranks `ys` whose rho with `xs` is at least as far from 0, and whose tau is."""
    orders = np.array(list(itertools.permutations(ys - ys.mean())))
    first, second = np.triu_indices(len(xs), 1)
    # What is divided by is the same for all orders, ties too.
    rho = orders @ (xs - xs.mean())
    tau = np.sign(orders[:, first] - orders[:, second]) @ np.sign(xs[first] - xs[second])
    return float((abs(rho) >= abs(rho[0]) - 1e-9).mean()), float((abs(tau) >= abs(tau[0]) - 1e-9).mean())
