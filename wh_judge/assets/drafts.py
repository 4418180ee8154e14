"""`drafts`: sentences that a language model may write, by day. Off unless the setting `drafts` names verdicts."""

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from wh_judge.assets.inputs import OWNERS
from wh_judge.assets.metadata import markdown_table
from wh_judge.automation import DRAFTS_ON
from wh_judge.errors import UserError
from wh_judge.partitions import DAYS
from wh_judge.resources import Warehouse
from wh_judge.store.drafts import Draft, keep_drafts, read_cases

SHOWN = 20


@dg.asset(
    partitions_def=DAYS,
    deps=["verdicts"],
    group_name="judgement",
    owners=OWNERS,
    kinds={"python", "openai"},
    automation_condition=DRAFTS_ON,
    # No pool: an endpoint may take hours, and the warehouse is open only before and after. Where another process has
    # it just then, the run is tried again, and what was answered comes out of the cache.
    retry_policy=dg.RetryPolicy(max_retries=5, delay=30, jitter=dg.Jitter.PLUS_MINUS),
    description="Sentences that a language model writes for verdicts that stand: it decides nothing. Off unless the "
    "setting `drafts` names verdicts. Each response goes through validations 1, 2, 8, 9 and 10; one that gives "
    "another verdict is thrown away whole, one that invents or is not one polite sentence falls back to the rule's "
    "sentence. Every refusal is kept with its reason and the raw response.",
)
def drafts(context: dg.AssetExecutionContext, warehouse: Warehouse) -> dg.MaterializeResult[None]:
    """One row per try of a request to a model."""
    settings, day = warehouse.settings(), dt.date.fromisoformat(context.partition_key)
    if not settings.drafts:
        return dg.MaterializeResult(metadata={"note": "off: the setting drafts names no verdict"})
    from wh_judge.drafts.day import draft_day

    with warehouse.connect() as connection:
        cases = read_cases(connection, day, settings.drafts, settings.rules)
    try:
        result = draft_day(cases, settings)
    except UserError as error:
        raise dg.Failure(str(error), allow_retries=False) from None
    except dg.DagsterExecutionInterruptedError as error:
        # Whoever presses Ctrl-C, or ends the run, wants no further try; what was answered is kept.
        raise dg.Failure("interrupted", allow_retries=False) from error
    with warehouse.connect() as connection:
        keep_drafts(connection, day, result.tries, context.run.run_id)
    turns = Counter(_reasons(result.drafts))
    answers = Counter(_reasons([draft for draft in result.tries if draft.asked_at]))
    refused = [draft for draft in result.drafts if draft.reasons]
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": len(result.drafts),
            **result.tally.told(any(settings.drafts_prices)),
            "refusals": markdown_table(
                ["model", "reason", "answers, of all runs", "turns"],
                [[*reason, answers[reason], turns[reason]] for reason in sorted(turns | answers)],
            ),
            "refused": markdown_table(["turn_id", "outcome", "reasons"], [_row(draft) for draft in refused[:SHOWN]]),
        }
    )


def _reasons(drafts: Sequence[Draft]) -> Iterator[tuple[str, str]]:
    """Model and code of each reason."""
    return ((draft.model, code) for draft in drafts for code, _ in draft.reasons)


def _row(draft: Draft) -> list[Any]:
    return [draft.turn_id, draft.outcome, "; ".join(text for _, text in draft.reasons)]
