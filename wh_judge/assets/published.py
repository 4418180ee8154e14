"""`published`: what readers get, an immutable snapshot."""

import dagster as dg

from wh_judge.assets.inputs import OWNERS, Events
from wh_judge.assets.metadata import markdown_table
from wh_judge.automation import DEPS_UPDATED_BUT_DRAFTS
from wh_judge.resources import POOL, Warehouse
from wh_judge.store.snapshot import publish


@dg.asset(
    deps=[
        "verdicts",
        "drafts",
        "gold_agreement",
        "model_divergence",
        "capability_profiles",
        "arena_ratings",
        "vote_agreement",
        "probe_results",
    ],
    automation_condition=DEPS_UPDATED_BUT_DRAFTS,
    group_name="publication",
    owners=OWNERS,
    kinds={"duckdb"},
    pool=POOL,
    description="An immutable copy of the log, the verdicts and the evaluations for readers: published/<id>.duckdb, "
    "opened read-only, so that nobody who reads ever waits for a run or is in its way. published/current names the "
    "newest. The same contents have the same id.",
)
def published(warehouse: Warehouse) -> Events:
    """One DuckDB file."""
    settings = warehouse.settings()
    with warehouse.connect() as connection:
        snapshot = publish(connection, settings.published, keep=settings.keep_snapshots)
    yield dg.MaterializeResult(
        data_version=dg.DataVersion(snapshot.id),
        metadata={
            "snapshot": dg.MetadataValue.path(str(snapshot.path)),
            "size_bytes": snapshot.path.stat().st_size,
            "written": snapshot.written,
            "dagster/row_count": snapshot.rows["verdict"],
            "tables": markdown_table(["table", "rows"], list(snapshot.rows.items())),
        },
    )
