"""The judge against the labels that people gave: `measure_agreement`."""

from typing import Any, get_args

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict

from wh_judge.model import VerdictValue

CONFIDENCE = 0.95
"""Of every interval in this package."""

VERDICTS: tuple[VerdictValue, ...] = get_args(VerdictValue)
"""`model.VERDICTS`, with its vocabulary as type."""

_RANK = {verdict: rank for rank, verdict in enumerate(VERDICTS)}
_JUDGED_COLUMNS = ["turn_id", "character_id", "model_id", "verdict", "summary"]


class Figures(BaseModel):
    """What an evaluation found: frozen, and JSON after `model_dump`."""

    model_config = ConfigDict(frozen=True)


class VerdictScore(Figures):
    """One verdict, the label taken as the truth. A score is None where its denominator is 0."""

    verdict: VerdictValue
    support: int
    """Found labels with this verdict."""
    predicted: int
    """Of the found labels' turns, those that the judge gave this verdict."""
    precision: float | None
    """Agreed / predicted."""
    recall: float | None
    """Agreed / support."""
    f1: float | None
    """2 · agreed / (support + predicted); 0 where the verdict occurs but is never agreed on."""


class DivergingTurn(Figures):
    """A turn whose label and verdict differ, with what the person and the judge say of it."""

    turn_id: str
    character_id: str
    model_id: str
    label: VerdictValue
    verdict: VerdictValue
    note: str | None
    summary: str


class Agreement(Figures):
    """The judge against the labels. `labels` = `found` + the lengths of `not_found` and `not_judged`."""

    labels: int
    found: int
    """Labels whose turn has a verdict; everything below rests on these."""
    not_found: list[str]
    """Labelled turns that stand neither among the verdicts nor among the unjudged, in turn order."""
    not_judged: list[str]
    """Labelled turns that could not be judged, in turn order."""
    agreed: int
    agreement: float | None
    """Agreed / found."""
    agreement_low: float | None
    agreement_high: float | None
    kappa: float | None
    """None where nothing is found, or label and judge know one and the same verdict only (chance agreement is 1)."""
    per_verdict: list[VerdictScore]
    """One row for each of `VERDICTS`, in that order."""
    confusion: list[list[int]]
    """Found labels; row = label, column = verdict of the judge, both in the order of `VERDICTS`."""
    diverging: list[DivergingTurn]
    """By label, then verdict (both in the order of `VERDICTS`), then turn order."""


def turn_order(turn_id: str) -> tuple[int, str]:
    """The key that puts `T-9` before `T-10`."""
    return len(turn_id), turn_id


def wilson(count: int, total: int) -> tuple[float | None, float | None]:
    """Wilson's score interval of count / total at `CONFIDENCE`; (None, None) where total is 0.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference" (1927).
    """
    if total == 0:
        return None, None
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(count, total, alpha=1 - CONFIDENCE, method="wilson")
    return min(float(low), count / total), max(float(high), count / total)


def cohens_kappa(confusion: list[list[int]]) -> float | None:
    """Agreement beyond chance of a square table of counts; None where it is 0 / 0.

    Source: J. Cohen, "A coefficient of agreement for nominal scales" (1960).
    """
    rows, columns = [sum(row) for row in confusion], [sum(column) for column in zip(*confusion, strict=True)]
    total = sum(rows)
    if total == 0 or sum(row * column for row, column in zip(rows, columns, strict=True)) == total**2:
        return None
    from statsmodels.stats.inter_rater import cohens_kappa as kappa

    return float(kappa(confusion, return_results=False))


def measure_agreement(gold: pa.Table, verdicts: pa.Table, unjudged: pa.Table) -> Agreement:
    """Compare each label with the verdict on its turn.

    `gold` has `GOLD_SCHEMA`; `verdicts` has at least turn_id, character_id, model_id, verdict and summary; `unjudged`
    has turn_id. A turn_id stands at most once in `gold` and in `verdicts`; a turn in both `verdicts` and `unjudged` is
    found. Raises KeyError where a label or verdict is none of the five.
    """
    labels: list[dict[str, Any]] = sorted(gold.to_pylist(), key=lambda row: turn_order(row["turn_id"]))
    judged = {row["turn_id"]: row for row in _of_turns(verdicts.select(_JUDGED_COLUMNS), gold).to_pylist()}
    not_judged = set(_of_turns(unjudged.select(["turn_id"]), gold)["turn_id"].to_pylist())

    size = len(VERDICTS)
    confusion = [[0] * size for _ in range(size)]
    diverging = []
    for label in labels:
        if (verdict := judged.get(label["turn_id"])) is None:
            continue
        confusion[_RANK[label["verdict"]]][_RANK[verdict["verdict"]]] += 1
        if label["verdict"] != verdict["verdict"]:
            diverging.append(DivergingTurn(**verdict, label=label["verdict"], note=label["note"]))

    found = sum(map(sum, confusion))
    agreed = sum(confusion[rank][rank] for rank in range(size))
    low, high = wilson(agreed, found)
    missing = [label["turn_id"] for label in labels if label["turn_id"] not in judged]
    return Agreement(
        labels=len(labels),
        found=found,
        not_found=[turn_id for turn_id in missing if turn_id not in not_judged],
        not_judged=[turn_id for turn_id in missing if turn_id in not_judged],
        agreed=agreed,
        agreement=_ratio(agreed, found),
        agreement_low=low,
        agreement_high=high,
        kappa=cohens_kappa(confusion),
        per_verdict=[_score(confusion, rank) for rank in range(size)],
        confusion=confusion,
        diverging=sorted(diverging, key=lambda turn: (_RANK[turn.label], _RANK[turn.verdict])),
    )


def _of_turns(table: pa.Table, gold: pa.Table) -> pa.Table:
    """The rows about labelled turns: verdicts may be a million where labels are a hundred."""
    return table.filter(pc.is_in(table["turn_id"], value_set=gold["turn_id"].combine_chunks()))


def _score(confusion: list[list[int]], rank: int) -> VerdictScore:
    agreed, support, predicted = confusion[rank][rank], sum(confusion[rank]), sum(row[rank] for row in confusion)
    return VerdictScore(
        verdict=VERDICTS[rank],
        support=support,
        predicted=predicted,
        precision=_ratio(agreed, predicted),
        recall=_ratio(agreed, support),
        f1=_ratio(2 * agreed, support + predicted),
    )


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
