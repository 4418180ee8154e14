"""`votes` and `arena_ratings`: what people prefer, and what that says of the models."""

from typing import Any

import dagster as dg

from wh_judge.assets.checks import rows_accepted
from wh_judge.assets.evaluations import GROUP
from wh_judge.assets.inputs import OWNERS, ROWS_ACCEPTED, Events
from wh_judge.assets.metadata import SENTENCE_CHARACTERS, column_metadata, markdown_table, picture, preview, sentences
from wh_judge.assets.profiles import interval, points
from wh_judge.automation import DEPS_UPDATED
from wh_judge.evaluation.rating_picture import rating_picture
from wh_judge.evaluation.ratings import ArenaRatings, rate_arena
from wh_judge.evaluation.support import support_votes, tally
from wh_judge.resources import POOL, Warehouse
from wh_judge.store import evaluations
from wh_judge.store import votes as store
from wh_judge.store.versions import table_version
from wh_judge.votes.rows import VOTE_SCHEMA, Vote

COLUMNS = column_metadata(VOTE_SCHEMA, Vote)


@dg.asset(
    group_name=GROUP,
    owners=OWNERS,
    kinds={"duckdb", "python"},
    pool=POOL,
    description="What people say of two replies to one prompt, in LMArena's words, with what models support and what "
    "other judges say of turns. From the inputs votes, support and judges, and from the folder votes among the data, "
    "all of them optional.",
    metadata=COLUMNS,
    check_specs=[dg.AssetCheckSpec("rows_accepted", asset="votes", description=ROWS_ACCEPTED)],
)
def votes(warehouse: Warehouse) -> Events:
    """One row per vote."""
    with warehouse.connect() as connection:
        batches = store.bring_in_people(connection, warehouse.settings())
        version = table_version(connection, "SELECT * FROM vote", "vote_id")
        sources = store.vote_sources(connection)
    problems = [problem for batch in batches.values() for problem in batch.problems]
    yield rows_accepted(problems, "votes", normalised=sum(batch.normalised for batch in batches.values()))
    yield dg.MaterializeResult(
        data_version=dg.DataVersion(version),
        metadata=COLUMNS
        | {
            "dagster/row_count": batches["vote"].rows.num_rows,
            "support_rows": batches["capability_support"].rows.num_rows,
            "judge_scores": batches["judge_score"].rows.num_rows,
            "preview": preview(batches["vote"].rows, VOTE_SCHEMA.names),
            "sources": markdown_table(["source", "votes"], list(sources.items())),
        },
    )


@dg.asset(
    deps=["votes"],
    group_name=GROUP,
    owners=OWNERS,
    kinds={"python", "scipy"},
    pool=POOL,
    automation_condition=DEPS_UPDATED,
    description="Ratings of the models by people's votes: Bradley-Terry by maximum likelihood, ties and both bad as "
    "half, mean 1000, 95 % bootstrap intervals; with and without the comparisons that follow from what models support. "
    "Where the graph of wins is not strongly connected there is no common scale, and the components are told instead.",
)
def arena_ratings(context: dg.AssetExecutionContext, warehouse: Warehouse) -> Events:
    """One document: both ratings."""
    with warehouse.connect() as connection:
        support = tally(support_votes(store.read_support(connection)))
        ratings = rate_arena(store.read_tallies(connection), support, store.vote_sources(connection))
        evaluations.keep(connection, "arena_ratings", ratings, context.run.run_id)
    yield dg.MaterializeResult(metadata=_metadata(ratings))


def _metadata(ratings: ArenaRatings) -> dict[str, Any]:
    with_support = {entry.model_id: entry for entry in ratings.with_support.ratings}
    rows: list[list[Any]] = []
    for entry in ratings.people.ratings:
        other = with_support.pop(entry.model_id)
        numbers = (points(entry.rating), interval(entry.low, entry.high, 1), points(other.rating))
        rows.append([entry.model_id, *numbers, entry.votes, entry.won, entry.lost, entry.halves])
    # Models on which nobody has voted: what they support is all that is known of them.
    rows += [
        [name, points(None), points(None), points(rest.rating), *[None] * 4] for name, rest in with_support.items()
    ]
    # A model rated inside its component, where there is no common scale.
    own = [
        [entry.component, entry.model_id, points(entry.own_rating)]
        for entry in sorted(ratings.people.ratings, key=lambda entry: entry.component)
        if not ratings.people.common_scale
    ]
    components = [[", ".join(part.models), part.why_apart] for part in ratings.people.components]
    header = ["model", "rating", "95 % interval", "with support", "votes", "won", "lost", "half"]
    metadata: dict[str, Any] = {
        "votes": ratings.people.votes,
        "support_votes": ratings.support_votes,
        "common_scale": ratings.people.common_scale,
        "ratings": markdown_table(header, rows),
        "ratings_inside_components": markdown_table(["component", "model", "own rating"], own),
        "components": markdown_table(["models", "why apart"], components, SENTENCE_CHARACTERS),
        "cautions": sentences("caution", ratings.cautions),
    }
    if ratings.with_support.ratings:
        metadata["picture"] = picture(rating_picture(ratings), "ratings by votes")
    return metadata
