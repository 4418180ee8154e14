"""`vote_agreement`: judges beside people's votes."""

from typing import Any

import dagster as dg

from wh_judge.assets.evaluations import GROUP
from wh_judge.assets.inputs import OWNERS, Events
from wh_judge.assets.metadata import SENTENCE_CHARACTERS, markdown_table, sentences
from wh_judge.assets.profiles import interval, points
from wh_judge.automation import DEPS_UPDATED
from wh_judge.evaluation.people import Share, VoteAgreement
from wh_judge.resources import POOL, Warehouse
from wh_judge.store import evaluations
from wh_judge.store.vote_agreement import agreement_now


@dg.asset(
    deps=["verdicts", "votes", "arena_ratings"],
    group_name=GROUP,
    owners=OWNERS,
    kinds={"python", "scipy"},
    pool=POOL,
    automation_condition=DEPS_UPDATED,
    description="The judge beside people's votes, and other judges beside it: rank correlation with the ratings, "
    "pairwise accuracy, draw rate and Brier score over single votes with bootstrap intervals; how far repeated runs "
    "lie apart; and how far people agree with each other (Krippendorff's alpha, Cohen's kappa).",
)
def vote_agreement(context: dg.AssetExecutionContext, warehouse: Warehouse) -> Events:
    """One document: judges, stability, annotators."""
    with warehouse.connect() as connection:
        agreement = agreement_now(connection, warehouse.settings().rules)
        evaluations.keep(connection, "vote_agreement", agreement, context.run.run_id)
    yield dg.MaterializeResult(metadata=_metadata(agreement))


def _metadata(agreement: VoteAgreement) -> dict[str, Any]:
    judges, ranks = [], []
    for judge in agreement.judges:
        shares = map(share, (judge.accuracy, judge.accuracy_when_decided, judge.draw_rate, judge.brier))
        judges.append([judge.judge, judge.votes, *shares, points(judge.brier_of_one_half, 3)])
        of = judge.ranks
        figures = (points(value, 2) for value in (of.spearman, of.p_value, of.kendall, of.kendall_p_value))
        ranks.append([judge.judge, of.models, *figures])
    stability = [
        [entry.judge, len(entry.runs), *(points(v, 3) for v in (entry.largest_spread, entry.envelope)), entry.note]
        for entry in agreement.stability
    ]
    people = agreement.labellers
    pairs = [[p.first, p.second, p.units, p.agreed, points(p.kappa, 2)] for p in people.pairs]
    header = ["judge", "votes", "accuracy", "accuracy when decided", "draw rate", "Brier", "Brier of 1/2"]
    metadata: dict[str, Any] = {
        "unplaced": sentences("left out", [entry.told() for entry in agreement.unplaced]),
        "votes": agreement.votes,
        "judges": markdown_table(header, judges),
        "ranks": markdown_table(["judge", "models", "rho", "p of rho", "tau", "p of tau"], ranks),
        "stability": markdown_table(
            ["judge", "runs", "largest spread", "envelope", "note"], stability, SENTENCE_CHARACTERS
        ),
        "annotators": people.annotators,
        "pairs": markdown_table(["annotator", "annotator", "units", "agreed", "kappa"], pairs),
        "cautions": sentences("caution", agreement.cautions),
    }
    if people.alpha is not None:
        metadata["alpha"] = people.alpha
        metadata["alpha_interval"] = interval(people.low, people.high, 3)
    return metadata


def share(entry: Share) -> str:
    """A share with its interval."""
    if entry.value is None:
        return "not defined"
    between = "" if entry.low is None or entry.high is None else f" ({interval(entry.low, entry.high, 3)})"
    return f"{entry.value:.3f}{between}"
