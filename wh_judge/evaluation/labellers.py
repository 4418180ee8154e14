"""How far people agree with each other: Krippendorff's alpha over all annotators, Cohen's kappa for each two.

A unit is two replies to one prompt; a label says which of the two models was preferred, whichever side it was on.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from wh_judge.evaluation.agreement import Figures, cohens_kappa
from wh_judge.evaluation.profile import RESAMPLES, SEED, percentiles

LABELS = ("first", "second", "tie", "both_bad")
PAIRS_TOLD = 50


class AnnotatorPair(Figures):
    """Two annotators on the units that both labelled."""

    first: str
    second: str
    units: int
    agreed: int
    kappa: float | None
    """None where it is not defined: both used one and the same label only."""


class LabellerAgreement(Figures):
    """All annotators. Votes without an annotator or a case are left out, and of two on one unit the later counts."""

    annotators: int
    units: int
    """Units that at least two annotators labelled."""
    labels: int
    """Their labels."""
    alpha: float | None
    """Nominal; None without such a unit, or where only one label was ever used."""
    low: float | None
    high: float | None
    """95 % percentile interval from a bootstrap of units; None where no resample differs from another."""
    pairs: list[AnnotatorPair]
    """Those with most units in common first, at most PAIRS_TOLD of them."""
    left_out: int
    """Votes without an annotator or a case."""


_UNITS = """
WITH label AS (
    SELECT annotator, case_id, least(model_a, model_b) AS first, greatest(model_a, model_b) AS second,
           CASE WHEN winner IN ('tie', 'both_bad') THEN winner
                WHEN (winner = 'model_a') = (model_a < model_b) THEN 'first' ELSE 'second' END AS label
    FROM vote WHERE annotator IS NOT NULL AND case_id IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY annotator, case_id, first, second
                               ORDER BY voted_at DESC NULLS LAST, vote_id DESC) = 1)
SELECT * FROM label
"""


def measure_labellers(votes: pa.Table) -> LabellerAgreement:
    """The agreement between the annotators of votes (VOTE_SCHEMA)."""
    import duckdb

    counts = ", ".join(f"count(*) FILTER (label = '{label}')" for label in LABELS)
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        con.register("vote", votes)
        con.execute(f"CREATE TEMP TABLE label AS {_UNITS}")
        patterns = con.execute(
            f"""SELECT counts, count(*) FROM (SELECT [{counts}] AS counts FROM label GROUP BY case_id, first, second)
                WHERE list_sum(counts) > 1 GROUP BY 1 ORDER BY 1"""
        ).fetchall()
        pairs = con.execute(
            """SELECT a.annotator, b.annotator, a.label, b.label, count(*)
               FROM label AS a JOIN label AS b USING (case_id, first, second) WHERE a.annotator < b.annotator
               GROUP BY ALL"""
        ).fetchall()
        known = con.execute("SELECT count(DISTINCT annotator), count(*) FROM label").fetchall()[0]
        usable = con.execute(
            "SELECT count(*) FROM vote WHERE annotator IS NOT NULL AND case_id IS NOT NULL"
        ).fetchall()[0][0]
    rows = np.array([row for row, _ in patterns], np.float64).reshape(-1, len(LABELS))
    units = np.array([number for _, number in patterns], np.float64)
    alpha = krippendorff_alpha(rows, units)
    low, high = _interval(rows, units) if alpha is not None else (None, None)
    return LabellerAgreement(
        annotators=known[0],
        units=int(units.sum()),
        labels=int((rows.sum(axis=1) * units).sum()),
        alpha=alpha,
        low=low,
        high=high,
        pairs=_pairs(pairs),
        left_out=votes.num_rows - usable,
    )


def krippendorff_alpha(counts: np.ndarray, units: np.ndarray) -> float | None:
    """Nominal alpha.

    Source: K. Krippendorff, "Computing Krippendorff's alpha-reliability" (2011).

    Args:
        counts: patterns x labels, how often each label was given to a unit; at least two labels a unit.
        units: how many units have each pattern.

    Returns:
        1 - observed / expected disagreement; None where only one label was ever used, or none.
    """
    given = counts.sum(axis=1)
    totals = units @ counts
    labels = totals.sum()
    if not len(counts) or labels < 2 or np.count_nonzero(totals) < 2:
        return None
    observed = (units * ((given**2 - (counts**2).sum(axis=1)) / (given - 1))).sum() / labels
    expected = (labels**2 - (totals**2).sum()) / (labels * (labels - 1))
    return float(1 - observed / expected)


def _interval(counts: np.ndarray, units: np.ndarray) -> tuple[float | None, float | None]:
    total = int(units.sum())
    if total < 2:
        return None, None
    drawn = np.random.default_rng(SEED).multinomial(total, units / total, size=RESAMPLES)
    sample = [alpha for row in drawn if (alpha := krippendorff_alpha(counts, row.astype(np.float64))) is not None]
    return percentiles(np.array(sample)) if sample else (None, None)


def _pairs(rows: Sequence[tuple[str, str, str, str, int]]) -> list[AnnotatorPair]:
    tables: dict[tuple[str, str], list[list[int]]] = {}
    for first, second, one, other, count in rows:
        table = tables.setdefault((first, second), [[0] * len(LABELS) for _ in LABELS])
        table[LABELS.index(one)][LABELS.index(other)] += count
    pairs = [
        AnnotatorPair(
            first=first,
            second=second,
            units=sum(map(sum, table)),
            agreed=sum(table[place][place] for place in range(len(LABELS))),
            kappa=cohens_kappa(table),
        )
        for (first, second), table in tables.items()
    ]
    return sorted(pairs, key=lambda pair: (-pair.units, pair.first, pair.second))[:PAIRS_TOLD]
