"""How stable a judge is over repeated runs: the spread of its scores, and the envelope of its curves.

Each run gives models other scores and so another line of rating over score. The envelope is how far these lines lie
apart, on average over the range of the scores, in log-odds. Source: HarnessEval-W, which compares judges by the
envelope of their score-to-strength curves over three runs.
"""

import numpy as np
import pyarrow as pa

from wh_judge.evaluation.agreement import Figures
from wh_judge.evaluation.bradley_terry import POINTS
from wh_judge.evaluation.ratings import Ratings

GRID = 101


class Run(Figures):
    """One run: its line of rating over score across models."""

    run: str
    slope: float | None
    """Log-odds of strength per point of score; None with fewer than three models, or where all have one score."""
    correlation: float | None
    """Pearson's r of scores and ratings."""


class Stability(Figures):
    """One judge over its runs."""

    judge: str
    runs: list[Run]
    replies: int
    """Replies that every run scored."""
    largest_spread: float | None
    """The largest difference between two runs' scores of one reply; 0 where all runs say the same."""
    mean_spread: float | None
    envelope: float | None
    """Mean distance between the highest and the lowest line; None with fewer than two lines."""
    note: str | None
    """Why something is None, in words."""


def measure_stability(judged: pa.Table, ratings: Ratings) -> list[Stability]:
    """All judges of `judged` (JUDGED_SCHEMA of `wh_judge.evaluation.people`), in order of name."""
    judges: dict[str, dict[str, dict[tuple[str, str], float]]] = {}
    for row in judged.to_pylist():
        if row["score"] is not None:
            runs = judges.setdefault(row["judge"], {})
            runs.setdefault(row["run"], {})[row["case_id"], row["model_id"]] = row["score"]
    strengths = {r.model_id: r.rating / POINTS for r in ratings.ratings if r.rating is not None}
    return [_stability(judge, runs, strengths) for judge, runs in sorted(judges.items())]


def _stability(judge: str, runs: dict[str, dict[tuple[str, str], float]], strengths: dict[str, float]) -> Stability:
    names = sorted(runs)
    shared = sorted(set.intersection(*(set(runs[name]) for name in names)))
    scores = np.array([[runs[name][reply] for reply in shared] for name in names]).reshape(len(names), -1)
    several = len(names) > 1 and bool(shared)
    spread = np.ptp(scores, axis=0) if several else None
    models = sorted({model for _, model in shared} & strengths.keys())
    means = np.array(
        [[np.mean([runs[name][reply] for reply in shared if reply[1] == model]) for model in models] for name in names]
    ).reshape(len(names), -1)
    wanted = np.array([strengths[model] for model in models])
    lines = [_line(row, wanted) for row in means]
    known = [(slope, start) for slope, start, _ in lines if slope is not None and start is not None]
    envelope = None
    if several and len(known) == len(names):
        grid = np.linspace(means.min(), means.max(), GRID)
        curves = np.array([slope * grid + start for slope, start in known])
        envelope = float(np.ptp(curves, axis=0).mean())
    return Stability(
        judge=judge,
        runs=[Run(run=name, slope=line[0], correlation=line[2]) for name, line in zip(names, lines, strict=True)],
        replies=len(shared),
        largest_spread=None if spread is None else float(spread.max()),
        mean_spread=None if spread is None else float(spread.mean()),
        envelope=envelope,
        note=_note(len(names), len(shared), len(models), envelope),
    )


def _line(scores: np.ndarray, strengths: np.ndarray) -> tuple[float | None, float | None, float | None]:
    """Slope and start of the least-squares line of strength over score, and their correlation."""
    if len(scores) < 3 or np.ptp(scores) == 0 or np.ptp(strengths) == 0:
        return None, None, None
    slope, start = np.polyfit(scores, strengths, 1)
    return float(slope), float(start), float(np.corrcoef(scores, strengths)[0, 1])


def _note(runs: int, replies: int, models: int, envelope: float | None) -> str | None:
    if runs < 2:
        return "one run only: give the judge's runs to see how far they lie apart"
    if not replies:
        return "no reply was scored in every run"
    if envelope is None:
        return f"no line through {models} rated models, so there is no envelope; the spread of the scores still counts"
    return None
