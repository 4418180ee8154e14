"""One day, from its plan to its commit: judge what must be judged again, validate it, replace it. No Dagster."""

import datetime as dt
from collections.abc import Callable

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from wh_judge.judge import judge
from wh_judge.settings import Settings
from wh_judge.store.days import DayResult, read_judged, replace_day
from wh_judge.store.plan import DayInputs, DayPlan, plan_day, read_inputs
from wh_judge.validated import validate_rows
from wh_judge.validations import Outcomes


def judge_day(
    connection: duckdb.DuckDBPyConnection,
    day: dt.date,
    settings: Settings,
    holds: Callable[[pa.Table], bool],
    run_id: str,
) -> DayResult:
    """Bring the day's verdicts up to date with the warehouse.

    Args:
        connection: the warehouse.
        day: the day.
        settings: the rules' settings, and which version of a card a turn is judged by.
        holds: given all verdicts of the day as they will be committed, whether all holds that is not a validation.
        run_id: the run that the verdicts are written by.
    """
    plan = plan_day(connection, day, settings.rules, settings.card_as_of)
    inputs = read_inputs(connection)
    judgements = [judge(each.turns, each.cards, each.lexicon, plan.settings, each.earlier) for each in inputs]

    keys = [judgement.verdicts.select(["turn_id", "recall_source_turn"]) for judgement in judgements]

    def validate(written: pa.Table, all_rows: pa.Table) -> tuple[Outcomes, bool]:
        return _validate(connection, plan, list(zip(inputs, keys, strict=True)), written), holds(all_rows)

    return replace_day(connection, plan, judgements, validate, run_id)


def _validate(
    connection: duckdb.DuckDBPyConnection,
    plan: DayPlan,
    parts: list[tuple[DayInputs, pa.Table]],
    written: pa.Table,
) -> Outcomes:
    """Validate the rows against what they were judged from; one part is all, but where cards have several versions."""
    outcomes = []
    for inputs, keys in parts:
        rows = written
        if len(parts) > 1:
            rows = written.filter(pc.is_in(written["turn_id"], keys["turn_id"].combine_chunks()))
        outcome = validate_rows(rows, read_judged(connection, plan, inputs, keys))
        outcomes.append((rows["turn_id"].to_pylist(), outcome))
    if len(outcomes) == 1:
        return outcomes[0][1]
    letters = dict(pair for turn_ids, outcome in outcomes for pair in zip(turn_ids, outcome.letters, strict=True))
    first, *others = (outcome.results for _, outcome in outcomes)
    results = [result.joined(*more) for result, *more in zip(first, *others, strict=True)]
    return Outcomes(results, [letters[turn_id] for turn_id in written["turn_id"].to_pylist()])
