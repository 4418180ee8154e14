"""`cards` and `lexicon`: the small input tables, read whole."""

from collections import Counter
from collections.abc import Iterator

import dagster as dg

from wh_judge.assets.checks import rows_accepted, run_suite, suite_result
from wh_judge.assets.metadata import column_metadata, preview
from wh_judge.inputs import TABLES, input_path
from wh_judge.model import CARD_SCHEMA, LEXICON_SCHEMA, SCHEMA_VERSION, CharacterCard, LexiconTerm
from wh_judge.resources import POOL, Warehouse
from wh_judge.store import log
from wh_judge.store.decisions import decisions_of
from wh_judge.store.stale import refresh_stale
from wh_judge.store.tables import replace_table
from wh_judge.store.versions import table_version

Events = Iterator[dg.AssetCheckResult | dg.MaterializeResult[None]]

GROUP = "inputs"
OWNERS = ["team:wh-judge"]
ROWS_ACCEPTED = "Warns of rows that could not be read and files that need a look: file, line and reason of each."
SUITE = "Great Expectations suite: columns, types, keys, value sets, ranges, references. Data Docs are linked."
CARD_COLUMNS = column_metadata(CARD_SCHEMA, CharacterCard)
LEXICON_COLUMNS = column_metadata(LEXICON_SCHEMA, LexiconTerm)


@dg.asset(
    deps=["lexicon"],
    group_name=GROUP,
    owners=OWNERS,
    kinds={"duckdb", "python"},
    pool=POOL,
    code_version=str(SCHEMA_VERSION),
    description="Character cards: how each character speaks (반말 or 존댓말, 나 or 저), which names exist in its "
    "world, which topics it must not touch, and who is whom to it. Read whole from the inputs; one row per character. "
    "The lexicon is known before, so that a forbidden topic without a term is named.",
    metadata=CARD_COLUMNS,
    check_specs=[
        dg.AssetCheckSpec("rows_accepted", asset="cards", description=ROWS_ACCEPTED),
        dg.AssetCheckSpec("suite", asset="cards", description=SUITE, blocking=True),
    ],
)
def cards(warehouse: Warehouse) -> Events:
    """One row per character."""
    table, settings = TABLES["character_card"], warehouse.settings()
    path = input_path(settings.inputs, table)
    with warehouse.connect() as connection:
        batch = replace_table(connection, table, path, settings.inbox, decisions=decisions_of(settings))
        version = table_version(connection, "SELECT * FROM character_card", "character_id")
        refresh_stale(connection, settings)
        topics = log.keys(connection, "topic_lexicon", "topic")
    suite = run_suite("character_card", batch.rows, settings, batch="all", references={"topic_lexicon.topic": topics})
    checks = [
        rows_accepted(batch.problems, "cards", normalised=batch.normalised),
        suite_result(suite, "cards", settings),
    ]
    yield dg.MaterializeResult(
        data_version=dg.DataVersion(version),
        metadata=CARD_COLUMNS
        | {
            "dagster/row_count": batch.rows.num_rows,
            "public_characters": sum(batch.rows["public"].to_pylist()),
            "speech_level_left_open": batch.rows["honorific_rule"].null_count,
            "preview": preview(
                batch.rows, ["character_id", "name", "honorific_rule", "first_person", "canon_entities"]
            ),
        },
        check_results=checks,
    )


@dg.asset(
    group_name=GROUP,
    owners=OWNERS,
    kinds={"duckdb", "python"},
    pool=POOL,
    code_version=str(SCHEMA_VERSION),
    description="Topic lexicon: terms that betray a topic, in order. The first term of a forbidden topic that "
    "stands in a reply is the one that its verdict names.",
    metadata=LEXICON_COLUMNS,
    check_specs=[
        dg.AssetCheckSpec("rows_accepted", asset="lexicon", description=ROWS_ACCEPTED),
        dg.AssetCheckSpec("suite", asset="lexicon", description=SUITE, blocking=True),
    ],
)
def lexicon(warehouse: Warehouse) -> Events:
    """One row per term and topic, in order."""
    table, settings = TABLES["topic_lexicon"], warehouse.settings()
    path = input_path(settings.inputs, table)
    with warehouse.connect() as connection:
        batch = replace_table(connection, table, path, settings.inbox, decisions=decisions_of(settings))
        version = table_version(connection, "SELECT * FROM topic_lexicon", "position")
        refresh_stale(connection, settings)
    suite = run_suite("topic_lexicon", batch.rows, settings, batch="all", references={})
    checks = [
        rows_accepted(batch.problems, "lexicon", normalised=batch.normalised),
        suite_result(suite, "lexicon", settings),
    ]
    topics = Counter(batch.rows["topic"].to_pylist())
    yield dg.MaterializeResult(
        data_version=dg.DataVersion(version),
        metadata=LEXICON_COLUMNS
        | {
            "dagster/row_count": batch.rows.num_rows,
            "topics": len(topics),
            "preview": preview(batch.rows, ["term", "topic"]),
        },
        check_results=checks,
    )
