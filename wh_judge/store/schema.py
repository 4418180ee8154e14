"""The warehouse's tables. Types follow the Arrow schemas of `wh_judge.model`; they are never taken from data."""

from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa

from wh_judge.model import CARD_SCHEMA, GOLD_SCHEMA, LEXICON_SCHEMA, TURN_SCHEMA, UNJUDGED_SCHEMA, VERDICT_SCHEMA


def _type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"{_type(kind.value_type)}[]"
    if pa.types.is_struct(kind):
        return "STRUCT(" + ", ".join(f'"{entry.name}" {_type(entry.type)}' for entry in kind) + ")"
    if pa.types.is_timestamp(kind):
        return "TIMESTAMPTZ"
    return "BOOLEAN" if pa.types.is_boolean(kind) else "VARCHAR"


def names(schema: pa.Schema) -> str:
    """The schema's columns as a select list."""
    return ", ".join(f'"{name}"' for name in schema.names)


def arrow(connection: duckdb.DuckDBPyConnection, sql: str, schema: pa.Schema) -> pa.Table:
    """The result of a query as an Arrow table in the given schema."""
    return connection.sql(sql).to_arrow_table().cast(schema)


def one(connection: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...] | None:
    """The only row of a result, or None. Fetches to the end: a result left open blocks its connection."""
    rows = connection.execute(sql, list(parameters)).fetchall()
    return rows[0] if rows else None


def number(connection: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[Any] = ()) -> int:
    """The only value of a result, a number; NULL counts as 0."""
    row = one(connection, sql, parameters)
    return int(row[0] or 0) if row else 0


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f'"{f.name}" {_type(f.type)}{"" if f.nullable else " NOT NULL"}' for f in schema)


DDL = f"""
CREATE SEQUENCE IF NOT EXISTS arrival;
CREATE TABLE IF NOT EXISTS log_file (
    name VARCHAR PRIMARY KEY, sha256 VARCHAR, size BIGINT, mtime_ns BIGINT, arrival BIGINT, normalised BIGINT);
CREATE TABLE IF NOT EXISTS turn_row (
    {_columns(TURN_SCHEMA)}, day DATE NOT NULL, file VARCHAR NOT NULL, line BIGINT NOT NULL, arrival BIGINT NOT NULL,
    is_current BOOLEAN NOT NULL, row_hash UHUGEINT NOT NULL);
CREATE OR REPLACE VIEW chat_turn AS SELECT * EXCLUDE (arrival, is_current, row_hash) FROM turn_row WHERE is_current;
CREATE TABLE IF NOT EXISTS input_file ("table" VARCHAR PRIMARY KEY, signature VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS character_card ({_columns(CARD_SCHEMA)}, version VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS topic_lexicon (position BIGINT NOT NULL, {_columns(LEXICON_SCHEMA)});
CREATE TABLE IF NOT EXISTS gold_label ({_columns(GOLD_SCHEMA)});
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
CREATE TABLE IF NOT EXISTS verdict (
    day DATE NOT NULL, {_columns(VERDICT_SCHEMA)}, card_version VARCHAR NOT NULL, lexicon_version VARCHAR NOT NULL,
    settings_version VARCHAR NOT NULL, code_version VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS unjudged (day DATE NOT NULL, {_columns(UNJUDGED_SCHEMA)});
CREATE TABLE IF NOT EXISTS judged_day (
    day DATE PRIMARY KEY, inputs VARCHAR NOT NULL, version VARCHAR NOT NULL, run_id VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS validation (
    day DATE NOT NULL, code VARCHAR NOT NULL, looked_at BIGINT NOT NULL, passed BIGINT NOT NULL,
    failed BIGINT NOT NULL, not_applicable BIGINT NOT NULL, run_id VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS failed_row (
    day DATE NOT NULL, code VARCHAR NOT NULL, turn_id VARCHAR, reason VARCHAR NOT NULL, verdict JSON,
    run_id VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS evaluation (
    name VARCHAR PRIMARY KEY, document JSON NOT NULL, run_id VARCHAR NOT NULL,
    finished_at TIMESTAMPTZ NOT NULL);
CREATE TABLE IF NOT EXISTS publication (state VARCHAR NOT NULL);
"""
"""`turn_row` keeps every row of every log file; `chat_turn` shows, for each turn_id, the row that arrived last.
`publication` has one row: what the newest snapshot was made from."""

PUBLISHED = {
    "chat_turn": "day, length(turn_id), turn_id",
    "character_card": "character_id",
    "topic_lexicon": "position",
    "gold_label": "turn_id",
    "rejected_rows": '"table", file, line, reason',
    "verdict": "day, length(turn_id), turn_id",
    "unjudged": "day, length(turn_id), turn_id",
    "judged_day": "day",
    "validation": "day, code",
    "failed_row": "day, code, turn_id, reason",
    "evaluation": "name",
}
"""What readers get in a snapshot, with the order of the rows."""
