"""`turns`: the chat log, by day."""

import datetime as dt

import dagster as dg

from wh_judge.assets.checks import report_again, rows_accepted, run_suite, suite_result, warning
from wh_judge.assets.inputs import GROUP, OWNERS, ROWS_ACCEPTED, SUITE, Events
from wh_judge.assets.metadata import column_metadata, markdown_table, preview
from wh_judge.automation import STALE_DAYS
from wh_judge.inputs import TABLES
from wh_judge.model import SCHEMA_VERSION, TURN_SCHEMA, ChatTurn
from wh_judge.partitions import DAYS
from wh_judge.resources import POOL, Warehouse
from wh_judge.store import log
from wh_judge.store.inputs import bring_in
from wh_judge.store.problems import read_problems
from wh_judge.store.stale import refresh_stale

COLUMNS = column_metadata(TURN_SCHEMA, ChatTurn)


@dg.asset(
    partitions_def=DAYS,
    deps=["cards"],
    automation_condition=STALE_DAYS,
    group_name=GROUP,
    owners=OWNERS,
    kinds={"duckdb", "python"},
    pool=POOL,
    code_version=str(SCHEMA_VERSION),
    description="The chat log: one row per turn, what the user wrote and what the character replied. New and changed "
    "log files are brought in first, whatever days they hold; then this day is reported. Cards are known before, so "
    "that characters without one are named.",
    metadata=COLUMNS,
    check_specs=[
        dg.AssetCheckSpec("rows_accepted", asset="turns", description=ROWS_ACCEPTED + " Of the whole log."),
        dg.AssetCheckSpec("suite", asset="turns", description=SUITE, blocking=True, partitions_def=DAYS),
        dg.AssetCheckSpec(
            "characters_have_cards",
            asset="turns",
            partitions_def=DAYS,
            description="Warns of characters without a card: their turns stay in the list, but cannot be judged.",
        ),
        dg.AssetCheckSpec(
            "turn_order_follows_time",
            asset="turns",
            partitions_def=DAYS,
            description="Warns of sessions whose turn_id order disagrees with turn_at: recall goes by turn_id.",
        ),
    ],
)
def turns(context: dg.AssetExecutionContext, warehouse: Warehouse) -> Events:
    """One row per turn of the day."""
    settings, day = warehouse.settings(), dt.date.fromisoformat(context.partition_key)
    with warehouse.connect() as connection:
        brought_in = bring_in(connection, settings)
        for name in brought_in:
            context.log.info("brought in %s", name)
        if brought_in:
            refresh_stale(connection, settings)
        rows = log.read_turns(connection, day)
        facts = log.day_facts(connection, day)
        problems = read_problems(connection, TABLES["chat_turn"])
        known = log.keys(connection, "character_card", "character_id")
    references = {"character_card.character_id": known}
    checks = [
        rows_accepted(problems, "turns", normalised=facts.normalised),
        suite_result(run_suite("chat_turn", rows, settings, batch=str(day), references=references), "turns", settings),
        warning(
            "characters_have_cards",
            "turns",
            passed=not facts.without_card,
            metadata={
                "turns": sum(count for _, count in facts.without_card),
                "characters": markdown_table(["character_id", "turns"], facts.without_card),
            },
        ),
        warning(
            "turn_order_follows_time",
            "turns",
            passed=not facts.disordered,
            metadata={
                "sessions": len(facts.disordered),
                "first": markdown_table(["session_id", "turn_id", "stands before"], facts.disordered),
            },
        ),
    ]
    yield dg.MaterializeResult(
        data_version=dg.DataVersion(facts.version),
        metadata=COLUMNS
        | {
            "dagster/row_count": rows.num_rows,
            "sessions": facts.sessions,
            "replies_missing": rows["reply_text"].null_count,
            "names_missing": rows["named_entities"].null_count,
            "first_person_missing": rows["first_person"].null_count,
            "preview": preview(rows, ["turn_id", "user_message", "reply_text"]),
        },
        # Told with the materialisation: Dagster takes a result from before it to be about the one before.
        check_results=checks,
    )
    # `rows_accepted` is about the whole log, not about a partition.
    report_again(context, "turns", checks[1:])
