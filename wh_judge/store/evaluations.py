"""What the evaluations read, and the documents that they leave."""

import json
from typing import Any, Literal

import duckdb
import pyarrow as pa
from pydantic import BaseModel

from wh_judge.evaluation.scores import SCORE_SCHEMA, scores_sql
from wh_judge.store.schema import arrow, one
from wh_judge.store.versions import now

EvaluationName = Literal[
    "gold_agreement", "model_divergence", "capability_profiles", "arena_ratings", "vote_agreement", "probe_results"
]

VALIDATION_SUMS = """
SELECT code, count(*) AS days, sum(looked_at)::BIGINT AS looked_at, sum(passed)::BIGINT AS passed,
       sum(failed)::BIGINT AS failed, sum(not_applicable)::BIGINT AS not_applicable
FROM validation GROUP BY code ORDER BY code
"""
"""The counts of each validation over all days, of a warehouse or a snapshot."""


def read_scores(connection: duckdb.DuckDBPyConnection, *, prompted: bool = False) -> pa.Table:
    """The scores of judged turns on each axis, in SCORE_SCHEMA, by the cards that judged them.

    Of all turns, or only of those that answered a prompt.
    """
    turns = "(SELECT * FROM chat_turn WHERE prompt_id IS NOT NULL)" if prompted else "chat_turn"
    cards = "(SELECT DISTINCT ON (character_id, version) *, version AS card_version FROM card_history)"
    return arrow(connection, f"{scores_sql(turns, cards, 'verdict')} ORDER BY length(turn_id), turn_id", SCORE_SCHEMA)


def read_judged(connection: duckdb.DuckDBPyConnection) -> tuple[pa.Table, pa.Table]:
    """Of all days: verdicts (turn_id, character_id, model_id, verdict, summary) and unjudged turns (turn_id, reason).

    Only labelled turns are read; nothing else can be found by a label.
    """
    return (
        connection.sql(
            """SELECT turn_id, character_id, model_id, verdict, summary FROM verdict
               SEMI JOIN gold_label USING (turn_id)"""
        ).to_arrow_table(),
        connection.sql("SELECT turn_id, reason FROM unjudged SEMI JOIN gold_label USING (turn_id)").to_arrow_table(),
    )


def read_prompted(connection: duckdb.DuckDBPyConnection) -> tuple[pa.Table, pa.Table]:
    """Turns that answered a shared prompt (turn_id, prompt_id, model_id), and their verdicts (turn_id, verdict)."""
    return (
        connection.sql(
            "SELECT turn_id, prompt_id, model_id FROM chat_turn WHERE prompt_id IS NOT NULL"
        ).to_arrow_table(),
        connection.sql(
            """SELECT turn_id, verdict FROM verdict
               SEMI JOIN (SELECT turn_id FROM chat_turn WHERE prompt_id IS NOT NULL) USING (turn_id)"""
        ).to_arrow_table(),
    )


def keep(connection: duckdb.DuckDBPyConnection, name: EvaluationName, result: BaseModel, run_id: str) -> None:
    """Keep the newest document of an evaluation with the run that made it; an equal one stays as it is."""
    document = result.model_dump_json()
    known = one(connection, "SELECT document FROM evaluation WHERE name = ?", [name])
    if known is None or json.loads(known[0]) != json.loads(document):
        values = [name, document, run_id, now(connection)]
        connection.execute("INSERT OR REPLACE INTO evaluation VALUES (?, ?, ?, ?)", values)


def read(connection: duckdb.DuckDBPyConnection, name: EvaluationName) -> dict[str, Any] | None:
    """The newest document of an evaluation; None before it has run."""
    row = one(connection, "SELECT document FROM evaluation WHERE name = ?", [name])
    return json.loads(row[0]) if row else None
