"""One day, from its plan to its commit: judge what must be judged again, validate it, replace it. No Dagster."""

import datetime as dt
from collections.abc import Callable
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wh_judge.judge import Judgement, judge
from wh_judge.settings import Settings
from wh_judge.store.days import DayResult, ReadAll, replace_day
from wh_judge.store.decisions import keep_new_decisions
from wh_judge.store.plan import DayInputs, DayPlan, plan_day, read_inputs
from wh_judge.store.verdicts import read_judged, read_turns
from wh_judge.validated import validate_rows
from wh_judge.validations import Outcomes


def judge_day(
    connection: duckdb.DuckDBPyConnection,
    day: dt.date,
    settings: Settings,
    holds: Callable[[ReadAll], bool],
    run_id: str,
) -> DayResult:
    """Bring the day's verdicts up to date with the warehouse.

    Args:
        connection: the warehouse.
        day: the day.
        settings: the rules' settings, which version of a card a turn is judged by, and the engine.
        holds: given what reads all verdicts of the day as they will be committed, whether all holds that is not a
            validation.
        run_id: the run that the verdicts are written by.
    """
    keep_new_decisions(connection, settings)
    plan = plan_day(connection, day, settings.rules, settings.card_as_of)
    parts: list[_Part] = []
    judgements: list[Judgement] = []
    parts += (_judge_part(connection, plan, inputs, settings, judgements) for inputs in read_inputs(connection, plan))

    def validate(written: pa.Table, read_all: ReadAll) -> tuple[Outcomes, bool]:
        outcomes = _validate(connection, plan, parts, written)
        parts.clear()  # The turns of a large day are not needed any more.
        return outcomes, holds(read_all)

    return replace_day(connection, plan, judgements, validate, run_id)


class _Part(NamedTuple):
    """Turns of the day that go by the same version of each card."""

    inputs: DayInputs
    verdicts: pa.Table
    """The verdicts, or of those that are validated after they were written just what says which they are."""
    outcomes: Outcomes | None
    """What the validations said of just these verdicts, where whoever judged has run them."""


def _judge_part(
    connection: duckdb.DuckDBPyConnection,
    plan: DayPlan,
    inputs: DayInputs,
    settings: Settings,
    judgements: list[Judgement],
) -> _Part:
    """Judge, and put the judgement among `judgements`, whose writer lets go of them: no one else may hold one."""
    if settings.engine == "local" or not inputs.turns.num_rows:
        judgement = judge(inputs.turns, inputs.cards, inputs.lexicon, plan.settings, inputs.earlier)
        judgements.append(judgement)
        which = judgement.verdicts.select(["turn_id", "recall_source_turn"])
        # A copy: what DuckDB gives is freed as a whole, so that two of its columns would keep all of them.
        return _Part(inputs, which.take(pa.array(np.arange(which.num_rows))), None)
    from wh_judge.spark.day import judge_turns
    from wh_judge.spark.tasks import Inputs

    named = read_turns(connection, inputs.earlier["turn_id"])
    by = Inputs(inputs.cards, inputs.lexicon, plan.settings)
    judgement, outcomes = judge_turns(settings.spark_master, inputs.turns, named, by)
    judgements.append(judgement)
    return _Part(inputs, judgement.verdicts, outcomes)


def _validate(connection: duckdb.DuckDBPyConnection, plan: DayPlan, parts: list[_Part], written: pa.Table) -> Outcomes:
    """Validate the rows against what they were judged from; one part is all, but where cards have several versions.

    Rows that came out of the warehouse as they were validated before they went in are not validated once more.
    """
    outcomes = []
    for inputs, verdicts, outcome in parts:
        rows = written
        if len(parts) > 1:
            rows = written.filter(pc.is_in(written["turn_id"], verdicts["turn_id"].combine_chunks()))
        if outcome is None or not rows.equals(verdicts):
            outcome = validate_rows(rows, read_judged(connection, plan, inputs, verdicts))
        outcomes.append((rows["turn_id"].to_pylist(), outcome))
    if len(outcomes) == 1:
        return outcomes[0][1]
    letters = dict(pair for turn_ids, outcome in outcomes for pair in zip(turn_ids, outcome.letters, strict=True))
    first, *others = (outcome.results for _, outcome in outcomes)
    results = [result.joined(*more) for result, *more in zip(first, *others, strict=True)]
    return Outcomes(results, [letters[turn_id] for turn_id in written["turn_id"].to_pylist()])
