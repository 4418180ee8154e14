"""`gold_agreement` and `model_divergence`: the judge beside people, and the models beside one another."""

from typing import Any

import dagster as dg

from wh_judge.assets.checks import rows_accepted
from wh_judge.assets.inputs import OWNERS, ROWS_ACCEPTED, Events
from wh_judge.assets.metadata import markdown_table, picture
from wh_judge.automation import DEPS_UPDATED
from wh_judge.evaluation.agreement import measure_agreement
from wh_judge.evaluation.divergence import measure_divergence
from wh_judge.evaluation.pictures import confusion_picture, divergence_picture
from wh_judge.inputs import TABLES, input_path
from wh_judge.resources import POOL, Warehouse
from wh_judge.store import evaluations
from wh_judge.store.decisions import keep_decisions
from wh_judge.store.tables import replace_table

GROUP = "evaluation"


@dg.asset(
    deps=["verdicts"],
    group_name=GROUP,
    owners=OWNERS,
    kinds={"python", "scipy"},
    pool=POOL,
    automation_condition=DEPS_UPDATED,
    description="The judge against the verdicts that creators gave by reading: agreement with its 95 % Wilson "
    "interval, Cohen's kappa, precision, recall and F1 per verdict, the confusion matrix, and every turn where the two "
    "differ.",
    check_specs=[dg.AssetCheckSpec("rows_accepted", asset="gold_agreement", description=ROWS_ACCEPTED)],
)
def gold_agreement(context: dg.AssetExecutionContext, warehouse: Warehouse) -> Events:
    """One document: the agreement over all labelled turns."""
    table = TABLES["gold_label"]
    settings = warehouse.settings()
    path = input_path(settings.inputs, table, optional=True)
    with warehouse.connect() as connection:
        decisions = keep_decisions(connection, settings)
        batch = replace_table(connection, table, path, settings.inbox, decisions=decisions)
        agreement = measure_agreement(batch.rows, *evaluations.read_judged(connection))
        evaluations.keep(connection, "gold_agreement", agreement, context.run.run_id)
    metadata: dict[str, Any] = {
        "labels": agreement.labels,
        "found": agreement.found,
        "not_found": len(agreement.not_found),
        "not_judged": len(agreement.not_judged),
    }
    if agreement.agreement is None:
        metadata["note"] = "no labelled turn was judged, so there is no agreement"
    else:
        scores = [
            [score.verdict, score.support, score.predicted, *map(_number, (score.precision, score.recall, score.f1))]
            for score in agreement.per_verdict
        ]
        diverging = [[turn.turn_id, turn.label, turn.verdict, turn.note, turn.summary] for turn in agreement.diverging]
        metadata |= {
            "agreement": agreement.agreement,
            "agreement_low": agreement.agreement_low,
            "agreement_high": agreement.agreement_high,
            "confusion": picture(confusion_picture(agreement), "confusion matrix"),
            "per_verdict": markdown_table(["verdict", "labels", "judged", "precision", "recall", "F1"], scores),
            "diverging_turns": markdown_table(["turn_id", "label", "judge", "note", "summary"], diverging),
        }
        if agreement.kappa is not None:
            metadata["kappa"] = agreement.kappa
    check = rows_accepted(batch.problems, "gold_agreement", normalised=batch.normalised)
    yield dg.MaterializeResult(metadata=metadata, check_results=[check])


@dg.asset(
    deps=["verdicts"],
    group_name=GROUP,
    owners=OWNERS,
    kinds={"python", "scipy"},
    pool=POOL,
    automation_condition=DEPS_UPDATED,
    description="Models compared only on the prompts that all of them answered: how often each diverges from the card, "
    "by reason, with 95 % intervals and a paired test (exact McNemar for two models, Cochran's Q for more).",
)
def model_divergence(context: dg.AssetExecutionContext, warehouse: Warehouse) -> Events:
    """One document: the comparison over all shared prompts."""
    with warehouse.connect() as connection:
        divergence = measure_divergence(*evaluations.read_prompted(connection))
        evaluations.keep(connection, "model_divergence", divergence, context.run.run_id)
    rows = [
        [m.model_id, m.prompts, m.diverging, _number(m.rate), _number(m.low), _number(m.high)]
        for m in divergence.per_model
    ]
    reasons = [[m.model_id, why, turns] for m in divergence.per_model for why, turns in m.by_reason.items() if turns]
    pairs = [
        [pair.first, pair.second, pair.only_first, pair.only_second, _p(pair.p_value), _p(pair.p_holm)]
        for pair in divergence.pairs
    ]
    metadata: dict[str, Any] = {
        "models": len(divergence.models),
        "prompts_compared": divergence.prompts,
        "prompts_left_out": sum(entry.prompts for entry in divergence.left_out),
        "left_out": markdown_table(["reason", "prompts"], [[e.reason, e.prompts] for e in divergence.left_out]),
        "per_model": markdown_table(["model", "prompts", "diverging", "rate", "low", "high"], rows),
        "reasons": markdown_table(["model", "reason", "turns"], reasons),
        "pairs": markdown_table(["model", "other model", "only model", "only other", "p", "p by Holm"], pairs),
        "test": divergence.test.name,
    }
    if divergence.test.p_value is not None:
        metadata["p_value"] = divergence.test.p_value
    if divergence.prompts:
        metadata["picture"] = picture(divergence_picture(divergence), "divergence by model")
    yield dg.MaterializeResult(metadata=metadata)


def _p(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.2g}"


def _number(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.3f}"
