"""The warehouse's tables. Types follow the Arrow schemas of `wh_judge.model`; they are never taken from data."""

import datetime as dt
from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa

from wh_judge.columnar import ascends
from wh_judge.model import (
    CARD_SCHEMA,
    GOLD_SCHEMA,
    LEXICON_SCHEMA,
    TURN_SCHEMA,
    UNJUDGED_SCHEMA,
    USED_SCHEMA,
    VERDICT_SCHEMA,
)
from wh_judge.votes.rows import JUDGE_SCORE_SCHEMA, SUPPORT_SCHEMA, VOTE_SCHEMA


def _type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"{_type(kind.value_type)}[]"
    if pa.types.is_struct(kind):
        return "STRUCT(" + ", ".join(f'"{entry.name}" {_type(entry.type)}' for entry in kind) + ")"
    if pa.types.is_timestamp(kind):
        return "TIMESTAMPTZ"
    if pa.types.is_int64(kind):
        return "BIGINT"
    if pa.types.is_floating(kind):
        return "DOUBLE"
    return "BOOLEAN" if pa.types.is_boolean(kind) else "VARCHAR"


DECISION_SCHEMA = pa.schema(
    [
        pa.field("position", pa.int64(), nullable=False),
        pa.field("decision_id", pa.string(), nullable=False),
        pa.field("at", pa.timestamp("us", "UTC"), nullable=False),
        pa.field("by", pa.string(), nullable=False),
        ("why", pa.string()),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("choice", pa.string(), nullable=False),
        *((name, pa.string()) for name in ("turn_id", "character_id", "name", "term", "topic")),
        pa.field("instead", pa.list_(pa.string()), nullable=False),
        ("ending", pa.string()),
        ("undoes", pa.string()),
        pa.field("what", pa.string(), nullable=False),
        pa.field("in_force", pa.bool_(), nullable=False),
    ]
)
"""The book of decisions as readers get it: each row with what it says on one line, and whether it counts."""


def names(schema: pa.Schema) -> str:
    """The schema's columns as a select list."""
    return ", ".join(f'"{name}"' for name in schema.names)


ARROW_ROWS = 20_000
"""Rows that come out of DuckDB as one chunk, whose texts may have two gigabytes: by default a million, of which each
could have two kilobytes."""


def arrow(connection: duckdb.DuckDBPyConnection, sql: str, schema: pa.Schema) -> pa.Table:
    """The result of a query as an Arrow table in the given schema."""
    return connection.sql(sql).to_arrow_table(ARROW_ROWS).cast(schema)


def in_turn_order(connection: duckdb.DuckDBPyConnection, sql: str, schema: pa.Schema) -> pa.Table:
    """`arrow`, in turn order. Rows mostly lie so, and DuckDB takes as long to sort wide ones as to read them."""
    rows = arrow(connection, sql, schema)
    if ascends(rows["turn_id"].combine_chunks()):
        return rows
    del rows  # A large day would be in memory twice.
    return arrow(connection, f"{sql} ORDER BY length(turn_id), turn_id", schema)


def one(connection: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...] | None:
    """The only row of a result, or None. Fetches to the end: a result left open blocks its connection."""
    rows = connection.execute(sql, list(parameters)).fetchall()
    return rows[0] if rows else None


def number(connection: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[Any] = ()) -> int:
    """The only value of a result, a number; NULL counts as 0."""
    row = one(connection, sql, parameters)
    return int(row[0] or 0) if row else 0


def wherever_sql(columns: str, table: str, day: dt.date, turns: str) -> str:
    """Columns of the rows of a table of the turns that a relation names (turn_id), on whatever day they lie.

    Nearly always that is `day`, the rows of which lie together. The other days are looked through only where a turn of
    them has no row on this one: DuckDB reads nothing for a join with nothing.
    """
    here = f"SELECT turn_id FROM {table} WHERE day = DATE '{day}'"
    return f"""
        SELECT {columns} FROM {table} WHERE day = DATE '{day}' AND turn_id IN (SELECT turn_id FROM {turns})
        UNION ALL SELECT {columns} FROM {table} WHERE day <> DATE '{day}' AND turn_id IN (
            SELECT turn_id FROM {turns} ANTI JOIN ({here}) USING (turn_id))"""


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f'"{f.name}" {_type(f.type)}{"" if f.nullable else " NOT NULL"}' for f in schema)


_VERDICT_ROW = f"""
    day DATE NOT NULL, {_columns(VERDICT_SCHEMA)}, turn_version VARCHAR NOT NULL, card_version VARCHAR NOT NULL,
    settings_version VARCHAR NOT NULL, code_version VARCHAR NOT NULL,
    {_columns(pa.schema([f for f in USED_SCHEMA if f.name != "turn_id"]))},
    row_hash VARCHAR NOT NULL, run_id VARCHAR NOT NULL, written_at TIMESTAMPTZ NOT NULL"""
"""A verdict with the versions of exactly the inputs that decided it. `row_hash` covers all but itself, the run and the
time, so that it does not depend on the way by which a verdict came about."""


SHOWN_TEXT = 2_000
"""Characters of a text that a list shows."""
SHOWN_EVIDENCE = 50
"""Rows of evidence that a list shows."""

_EVIDENCE_SHOWN = f"""to_json(struct_pack("rows" := len(evidence),
        cells := list_transform(evidence[:{SHOWN_EVIDENCE}], lambda x: [x.source, x.field, x.agg,
            left(x."value", {SHOWN_TEXT}),
            CASE WHEN length(x."value") > {SHOWN_TEXT} THEN length(x."value")::VARCHAR END])))"""
"""What a list shows of the evidence, in one text: single rows of a list of structs are slow to look up. Each cell is
its source, field, aggregate, value and, where that is cut, its length."""


def _rated(which: str) -> str:
    """The rating rows of the document of `arena_ratings`."""
    return f"""unnest(from_json(document->'{which}'->'ratings', '[{{
        "model_id": "VARCHAR", "rating": "DOUBLE", "low": "DOUBLE", "high": "DOUBLE", "component": "BIGINT",
        "own_rating": "DOUBLE", "votes": "BIGINT", "won": "BIGINT", "lost": "BIGINT", "halves": "BIGINT"}}]')) AS rating
        FROM evaluation WHERE name = 'arena_ratings'"""


DDL = f"""
CREATE SEQUENCE IF NOT EXISTS arrival;
CREATE TABLE IF NOT EXISTS log_file (
    name VARCHAR PRIMARY KEY, sha256 VARCHAR, size BIGINT, mtime_ns BIGINT, arrival BIGINT, normalised BIGINT);
CREATE TABLE IF NOT EXISTS turn_row (
    {_columns(TURN_SCHEMA)}, day DATE NOT NULL, file VARCHAR NOT NULL, line BIGINT NOT NULL, arrival BIGINT NOT NULL,
    is_current BOOLEAN NOT NULL, row_hash VARCHAR NOT NULL);
-- Made anew wherever another version of wh-judge was at work, which may have changed turns and not known of this.
CREATE OR REPLACE TABLE log_version (day DATE NOT NULL, turns VARCHAR NOT NULL, earlier VARCHAR NOT NULL);
CREATE OR REPLACE VIEW chat_turn AS SELECT * EXCLUDE (arrival, is_current, row_hash) FROM turn_row WHERE is_current;
CREATE TABLE IF NOT EXISTS input_file (
    "table" VARCHAR PRIMARY KEY, signature VARCHAR NOT NULL, later VARCHAR[] NOT NULL);
CREATE OR REPLACE VIEW read_file AS
    SELECT 'chat_turn' AS "table", name AS file FROM log_file
    UNION ALL SELECT "table", unnest(later) FROM input_file;
CREATE TABLE IF NOT EXISTS character_card ({_columns(CARD_SCHEMA)}, version VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS topic_lexicon (position BIGINT NOT NULL, {_columns(LEXICON_SCHEMA)});
CREATE TABLE IF NOT EXISTS gold_label ({_columns(GOLD_SCHEMA)});
CREATE TABLE IF NOT EXISTS vote ({_columns(VOTE_SCHEMA)});
CREATE TABLE IF NOT EXISTS capability_support ({_columns(SUPPORT_SCHEMA)});
CREATE TABLE IF NOT EXISTS judge_score ({_columns(JUDGE_SCORE_SCHEMA)});
CREATE TABLE IF NOT EXISTS problem (
    "table" VARCHAR NOT NULL, file VARCHAR NOT NULL, line BIGINT, severity VARCHAR NOT NULL, reason VARCHAR NOT NULL,
    raw VARCHAR);
CREATE OR REPLACE VIEW rejected_rows AS
    SELECT * FROM problem
    UNION ALL
    SELECT 'chat_turn', old.file, old.line, 'noted',
           'turn_id ' || old.turn_id || ' is replaced by the row in ' || new.file || ':' || new.line, NULL
    FROM turn_row AS old JOIN turn_row AS new USING (turn_id)
    WHERE NOT old.is_current AND new.is_current;
CREATE TABLE IF NOT EXISTS turn_history (
    {_columns(TURN_SCHEMA)}, day DATE NOT NULL, row_hash VARCHAR NOT NULL, until_at TIMESTAMPTZ NOT NULL);
CREATE TABLE IF NOT EXISTS card_history (
    {_columns(CARD_SCHEMA)}, version VARCHAR NOT NULL, valid_from TIMESTAMPTZ NOT NULL);
CREATE TABLE IF NOT EXISTS lexicon_history (
    version VARCHAR NOT NULL, position BIGINT NOT NULL, {_columns(LEXICON_SCHEMA)}, valid_from TIMESTAMPTZ NOT NULL);
CREATE TABLE IF NOT EXISTS settings_history (
    version VARCHAR PRIMARY KEY, endings VARCHAR[] NOT NULL, valid_from TIMESTAMPTZ NOT NULL);
CREATE TABLE IF NOT EXISTS verdict_row ({_VERDICT_ROW});
CREATE TABLE IF NOT EXISTS verdict_closed (
    {_VERDICT_ROW}, lexicon_version VARCHAR, until_run VARCHAR NOT NULL, until_at TIMESTAMPTZ NOT NULL,
    card_as_of VARCHAR);
CREATE OR REPLACE VIEW verdict AS
    SELECT * EXCLUDE (row_hash, run_id, written_at), {_EVIDENCE_SHOWN} AS evidence_shown FROM verdict_row;
CREATE OR REPLACE VIEW verdict_history AS
    SELECT * EXCLUDE (row_hash, lexicon_version, card_as_of) FROM verdict_closed
    UNION ALL BY NAME SELECT *  EXCLUDE row_hash, NULL::VARCHAR AS until_run, NULL::TIMESTAMPTZ AS until_at
    FROM verdict_row;
CREATE OR REPLACE VIEW input_version AS
    SELECT "table", key, version, min_by(run_id, (written_at, run_id)) AS first_run, min(written_at) AS first_at,
        max_by(run_id, (written_at, run_id)) AS last_run, max(written_at) AS last_at,
        count(*) FILTER (until_run IS NULL) AS turns
    FROM verdict_history CROSS JOIN LATERAL (SELECT unnest([
        struct_pack("table" := 'character_card', key := character_id, version := card_version),
        struct_pack("table" := 'settings', key := 'endings', version := settings_version),
        struct_pack("table" := 'rules', key := 'code', version := code_version)]
        || list_transform(lexicon_rows,
            lambda x: struct_pack("table" := 'topic_lexicon', key := x.term, version := x.topic)), recursive := true))
    GROUP BY ALL;
CREATE TABLE IF NOT EXISTS outcome (day DATE NOT NULL, turn_id VARCHAR NOT NULL, checks VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS verdict_change (
    day DATE NOT NULL, turn_id VARCHAR NOT NULL, run_id VARCHAR NOT NULL, changed_at TIMESTAMPTZ NOT NULL,
    verdict_before VARCHAR, verdict_after VARCHAR, fields_before JSON, fields_after JSON,
    inputs VARCHAR[] NOT NULL, cells VARCHAR[] NOT NULL, decisions VARCHAR[] NOT NULL);
CREATE TABLE IF NOT EXISTS decision ({_columns(DECISION_SCHEMA)});
CREATE TABLE IF NOT EXISTS decision_seen ("table" VARCHAR NOT NULL, decision_id VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS decision_effect (
    "table" VARCHAR NOT NULL, cell VARCHAR NOT NULL, decision_id VARCHAR NOT NULL, applied_at TIMESTAMPTZ NOT NULL);
CREATE TABLE IF NOT EXISTS draft_row (
    day DATE NOT NULL, turn_id VARCHAR NOT NULL, row_hash VARCHAR NOT NULL, request_hash VARCHAR,
    model VARCHAR NOT NULL, outcome VARCHAR NOT NULL, reasons STRUCT(code VARCHAR, text VARCHAR)[] NOT NULL,
    summary VARCHAR, raw VARCHAR, prompt_tokens BIGINT NOT NULL, response_tokens BIGINT NOT NULL,
    seconds DOUBLE NOT NULL, run_id VARCHAR NOT NULL, written_at TIMESTAMPTZ NOT NULL, asked_at TIMESTAMPTZ);
CREATE OR REPLACE VIEW draft_answer AS
    SELECT draft_row.* EXCLUDE row_hash, row_number() OVER (
        PARTITION BY turn_id, model ORDER BY asked_at DESC NULLS LAST, draft_row.written_at DESC) = 1 AS stands
    FROM draft_row JOIN verdict_row USING (turn_id, row_hash);
CREATE OR REPLACE VIEW draft AS SELECT * EXCLUDE stands FROM draft_answer WHERE stands;
CREATE TABLE IF NOT EXISTS unjudged (
    day DATE NOT NULL, {_columns(UNJUDGED_SCHEMA)}, turn_version VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS unjudged_left (turn_id VARCHAR NOT NULL, turn_version VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS judged_day (
    day DATE PRIMARY KEY, inputs VARCHAR NOT NULL, lexicon_version VARCHAR NOT NULL, version VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL, card_as_of VARCHAR);
CREATE TABLE IF NOT EXISTS failed_day (day DATE PRIMARY KEY, inputs VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS validation (
    day DATE NOT NULL, code VARCHAR NOT NULL, looked_at BIGINT NOT NULL, passed BIGINT NOT NULL,
    failed BIGINT NOT NULL, not_applicable BIGINT NOT NULL, run_id VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS failed_row (
    day DATE NOT NULL, code VARCHAR NOT NULL, turn_id VARCHAR, reason VARCHAR NOT NULL, verdict JSON,
    run_id VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS evaluation (
    name VARCHAR PRIMARY KEY, document JSON NOT NULL, run_id VARCHAR NOT NULL,
    finished_at TIMESTAMPTZ NOT NULL);
CREATE OR REPLACE VIEW model_profile AS
    SELECT profile.model_id, unnest(profile.axes, recursive := true), profile.overall, profile.turns AS judged_turns
    FROM (SELECT unnest(from_json(document->'profiles', '[{{
              "model_id": "VARCHAR", "turns": "BIGINT", "overall": "DOUBLE",
              "axes": [{{"axis": "VARCHAR", "score": "DOUBLE", "turns": "BIGINT", "prompts": "BIGINT",
                         "characters": "BIGINT"}}]}}]')) AS profile
          FROM evaluation WHERE name = 'capability_profiles');
CREATE OR REPLACE VIEW model_rating AS
    SELECT counted, unnest(rating, recursive := true) FROM (
        SELECT 'people' AS counted, {_rated("people")} UNION ALL SELECT 'with support', {_rated("with_support")});
CREATE OR REPLACE VIEW probe_result AS
    SELECT unnest(row, recursive := true) FROM (SELECT unnest(from_json(document->'results', '[{{
        "family": "VARCHAR", "model_id": "VARCHAR", "cases": "BIGINT", "answered": "BIGINT", "kept": "BIGINT",
        "as_intended": "BIGINT", "otherwise": "BIGINT", "kept_rate": "DOUBLE", "low": "DOUBLE", "high": "DOUBLE"}}]'))
        AS row FROM evaluation WHERE name = 'probe_results');
CREATE OR REPLACE VIEW probe_answer AS
    SELECT unnest(row, recursive := true) FROM (SELECT unnest(from_json(document->'answers', '[{{
        "case_id": "VARCHAR", "family": "VARCHAR", "model_id": "VARCHAR", "turn_id": "VARCHAR", "expected": "VARCHAR",
        "intended": "VARCHAR", "came": "VARCHAR"}}]')) AS row
        FROM evaluation WHERE name = 'probe_results');
CREATE TABLE IF NOT EXISTS publication (state VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS layout (version VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL);
"""
"""`turn_row` keeps every row of every log file; `chat_turn` shows, for each turn_id, the row that arrived last.
What a file brought before is kept in `turn_history`, as are all versions of cards, lexicon and settings. `verdict_row`
holds the verdicts in force, `verdict_closed` those that were replaced, with the lexicon and `card_as_of` that their day
was judged with last; `outcome` has, for each verdict, one letter per validation: P passed, N not applicable.
`draft_row` keeps each try of each request to a model; `draft_answer` shows those for the verdicts in force, and `draft`
the last one of each turn and model. `decision` is the book of decisions, `decision_effect` has the cells of inputs that
one of them made, and `decision_seen` which of them each input knows. `input_version` tells of each version of an input
which runs wrote the first and the last verdict from it; a lexicon row's version is its topic, and the versions of a
turn are in `verdict_history`. `unjudged_left` remembers turns without a verdict that moved to a day that was not judged
since. `publication` has one row: what the newest snapshot was made from. `layout` has one, the hash of all this, and
`schema_version` one, the number that `layout.py` migrates from."""

PUBLISHED = {
    "chat_turn": "day, length(turn_id), turn_id",
    "character_card": "character_id",
    "topic_lexicon": "position",
    "gold_label": "turn_id",
    "decision": "position",
    "vote": "voted_at, vote_id",
    "capability_support": "case_id, model_id",
    "judge_score": "judge, run, turn_id",
    "rejected_rows": '"table", file, line, reason',
    "read_file": '"table", file',
    "verdict": "day, length(turn_id), turn_id",
    "unjudged": "day, length(turn_id), turn_id",
    "draft": "day, length(turn_id), turn_id, model",
    "draft_answer": "day, length(turn_id), turn_id, model, asked_at, written_at",
    "verdict_history": "day, length(turn_id), turn_id, written_at",
    "card_history": "character_id, valid_from, version",
    "settings_history": "valid_from, version",
    "input_version": '"table", key, first_at, version',
    "verdict_change": "changed_at, day, length(turn_id), turn_id",
    "judged_day": "day",
    "validation": "day, code",
    "failed_row": "day, code, turn_id, reason",
    "evaluation": "name",
    "model_profile": "model_id, axis",
    "model_rating": "counted, rating DESC, model_id",
    "probe_result": "family, model_id",
    "probe_answer": "family, case_id, model_id",
}
"""What readers get in a snapshot, with the order of the rows."""

STORED = {
    "verdict": f"SELECT * EXCLUDE row_hash, {_EVIDENCE_SHOWN} AS evidence_shown FROM verdict_row",
    "verdict_closed": "SELECT * EXCLUDE (row_hash, lexicon_version, card_as_of) FROM verdict_closed",
}
"""Tables of a snapshot that hold something else than the warehouse's table or view of that name. The verdicts in force
have the run that wrote them and the time here, so that the history of all need not hold them once more."""

VIEWED = {
    "verdict_history": """SELECT * FROM verdict_closed
        UNION ALL BY NAME SELECT * EXCLUDE evidence_shown, NULL::VARCHAR AS until_run, NULL::TIMESTAMPTZ AS until_at
        FROM verdict""",
    "draft": "SELECT * EXCLUDE stands FROM draft_answer WHERE stands",
}
"""Views of a snapshot on its tables."""

VERSIONED = {
    "chat_turn": "SELECT turn_id, day, file, line, row_hash FROM turn_row WHERE is_current",
    "verdict_history": """SELECT turn_id, row_hash, run_id, written_at, until_run, until_at FROM verdict_closed
        UNION ALL BY NAME SELECT turn_id, row_hash, run_id, written_at FROM verdict_row""",
}
"""Of the tables that grow with the log, what their contents follow from: each row's hash is stored with it, and to hash
the rows themselves takes ten times as long. No row is there twice."""

FOLLOWING = {"verdict", "draft", "input_version", "model_profile", "model_rating", "probe_result", "probe_answer"}
"""Tables of a snapshot whose contents follow from those of its others."""

IN_ORDER = {"chat_turn", "verdict"}
"""Tables of a snapshot whose rows mostly lie in its order already."""

LOOKED_UP = {"chat_turn": "turn_id", "verdict": "turn_id", "verdict_closed": "turn_id", "draft_answer": "turn_id"}
"""Columns of a snapshot by which single rows are looked up; each has an index."""

UNCOMPRESSED = {"chat_turn": ("user_message", "reply_text"), "verdict": ("evidence", "evidence_shown")}
"""Columns of a snapshot whose texts are stored as they are: a search in them takes half the time, to write them a
fifth to a third."""
