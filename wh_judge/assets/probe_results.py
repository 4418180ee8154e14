"""`probe_results`: what models made of the probe cases."""

from collections import Counter
from typing import Any

import dagster as dg

from wh_judge.assets.checks import warning
from wh_judge.assets.evaluations import GROUP
from wh_judge.assets.inputs import OWNERS, Events
from wh_judge.assets.metadata import SENTENCE_CHARACTERS, markdown_table
from wh_judge.assets.profiles import points
from wh_judge.automation import DEPS_UPDATED
from wh_judge.resources import POOL, Warehouse
from wh_judge.store import evaluations
from wh_judge.store.probes import read_results

UNFILLABLE = 20
"""Cells without a case that are shown; all of them stand in the set."""


@dg.asset(
    deps=["verdicts"],
    group_name=GROUP,
    owners=OWNERS,
    kinds={"python"},
    pool=POOL,
    automation_condition=DEPS_UPDATED,
    description="What models made of the probe cases: for each family and model what was expected and what came. The "
    "set is the input probes.json, frozen under a digest; the answers are the turns whose prompt_id is a case.",
    check_specs=[
        dg.AssetCheckSpec(
            "set_is_frozen",
            asset="probe_results",
            description="Warns of a probe set that cannot be read, or that was changed after it was frozen.",
        )
    ],
)
def probe_results(context: dg.AssetExecutionContext, warehouse: Warehouse) -> Events:
    """One document: results by family and model, and every answer."""
    with warehouse.connect() as connection:
        results, probes, broken = read_results(connection, warehouse.settings())
        evaluations.keep(connection, "probe_results", results, context.run.run_id)
    yield warning(
        "set_is_frozen", "probe_results", passed=broken is None, metadata={"reason": broken or "nothing is wrong"}
    )
    rows = [
        [r.family, r.model_id, r.cases, r.answered, r.kept, r.as_intended, r.otherwise]
        + [points(value, 3) for value in (r.kept_rate, r.low, r.high)]
        for r in results.results
    ]
    header = ["family", "model", "cases", "answered", "kept", "as intended", "otherwise", "kept rate", "low", "high"]
    metadata: dict[str, Any] = {
        "digest": results.digest or "there is no set",
        "cases": results.cases,
        "answers": len(results.answers),
        "unknown": results.unknown,
        "misplaced": results.misplaced,
        "repeated": results.repeated,
        "results": markdown_table(header, rows),
    }
    if probes and not results.answers:
        metadata["note"] = (
            "no turn of the log has a case as its prompt_id: put the cases to models, and log the answers"
        )
    if probes:
        families = Counter(case.cell.family for case in probes.cases)
        metadata |= {
            "families": markdown_table(["family", "cases"], list(families.items())),
            "refused_drafts": len(probes.refused),
            "unfillable": markdown_table(
                ["family", "speech level", "reason"],
                [[entry.family, entry.level or "open", entry.reason] for entry in probes.unfillable[:UNFILLABLE]],
                SENTENCE_CHARACTERS,
            ),
        }
    yield dg.MaterializeResult(metadata=metadata)
