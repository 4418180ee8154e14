"""A day in the warehouse: what it is judged from, and the atomic replacement of its verdicts."""

import datetime as dt
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from wh_judge.judge import Judgement
from wh_judge.model import CARD_SCHEMA, LEXICON_SCHEMA, MENTION_SCHEMA, TURN_SCHEMA, UNJUDGED_SCHEMA, VERDICT_SCHEMA
from wh_judge.rules import RuleSettings, rules_version
from wh_judge.store import transaction
from wh_judge.store.inputs import table_version
from wh_judge.validations import ValidationResult


@dataclass(frozen=True)
class DayInputs:
    """Everything that a day's verdicts follow from."""

    day: dt.date
    turns: pa.Table
    cards: pa.Table
    lexicon: pa.Table
    earlier: pa.Table
    """First mentions in these sessions on other days, in MENTION_SCHEMA."""
    settings: RuleSettings
    version: str
    """Hash of all of it and of the rules."""
    lexicon_version: str


def _select(schema: pa.Schema) -> str:
    return ", ".join(f'"{name}"' for name in schema.names)


def read_inputs(connection: duckdb.DuckDBPyConnection, day: dt.date, settings: RuleSettings) -> DayInputs:
    """What the day is judged from, as it stands in the warehouse now."""
    of_day = f"SELECT {_select(TURN_SCHEMA)} FROM chat_turn WHERE day = DATE '{day}'"
    of_cards = f"SELECT * FROM character_card SEMI JOIN ({of_day}) USING (character_id)"
    # A turn may be named before another and yet lie on a later day, so all other days are looked at.
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE earlier AS
            SELECT session_id, entity, source.turn_id AS turn_id, source.reply_text AS reply_text FROM (
                SELECT session_id, entity,
                       arg_min({{'turn_id': turn_id, 'reply_text': reply_text}}, (length(turn_id), turn_id)) AS source
                FROM (SELECT session_id, turn_id, reply_text, unnest(named_entities) AS entity FROM chat_turn
                      WHERE day <> DATE '{day}' AND session_id IN (
                          SELECT session_id FROM chat_turn WHERE day = DATE '{day}' AND user_asked_recall))
                GROUP BY ALL)"""
    )
    lexicon_version = table_version(connection, "SELECT * FROM topic_lexicon", "position")
    parts = [
        table_version(connection, of_day, "length(turn_id), turn_id"),
        table_version(connection, of_cards, "character_id"),
        table_version(connection, "SELECT * FROM earlier", "session_id, entity"),
        lexicon_version,
        settings_version(settings),
        rules_version(),
    ]
    return DayInputs(
        day=day,
        turns=_arrow(connection, f"{of_day} ORDER BY length(turn_id), turn_id", TURN_SCHEMA),
        cards=_arrow(connection, f"SELECT {_select(CARD_SCHEMA)} FROM ({of_cards}) ORDER BY character_id", CARD_SCHEMA),
        lexicon=_arrow(connection, "SELECT term, topic FROM topic_lexicon ORDER BY position", LEXICON_SCHEMA),
        earlier=_arrow(connection, f"SELECT {_select(MENTION_SCHEMA)} FROM earlier", MENTION_SCHEMA),
        settings=settings,
        version="-".join(part[:8] for part in parts),
        lexicon_version=lexicon_version,
    )


def settings_version(settings: RuleSettings) -> str:
    """The settings as text; few and short enough to be their own version."""
    return "endings=" + ",".join(settings.endings)


def _arrow(connection: duckdb.DuckDBPyConnection, sql: str, schema: pa.Schema) -> pa.Table:
    return connection.sql(sql).to_arrow_table().cast(schema)


@dataclass(frozen=True)
class DayResult:
    """What became of a day."""

    committed: bool
    """False where a validation failed: the day keeps its old verdicts."""
    changed: bool
    version: str
    validations: Sequence[ValidationResult]


def replace_day(
    connection: duckdb.DuckDBPyConnection,
    inputs: DayInputs,
    judgement: Judgement,
    validate: Callable[[pa.Table], Sequence[ValidationResult]],
    run_id: str,
) -> DayResult:
    """Write the day's verdicts, validate what was written, and commit only what passes.

    Where the rows are the same as before, nothing is written. Where a validation fails, the day keeps its old rows and
    the failing ones are kept in `failed_row`.
    """
    day = inputs.day
    connection.register("new_verdicts", judgement.verdicts)
    connection.register("new_unjudged", judgement.unjudged)
    before = _day_version(connection, day)
    connection.execute("BEGIN")
    try:
        connection.execute("DELETE FROM verdict WHERE day = ?", [day])
        connection.execute("DELETE FROM unjudged WHERE day = ?", [day])
        connection.execute(
            """INSERT INTO verdict BY NAME
               SELECT ?::DATE AS day, new_verdicts.*, character_card.version AS card_version, ? AS lexicon_version,
                      ? AS settings_version, ? AS code_version
               FROM new_verdicts JOIN character_card USING (character_id)""",
            [day, inputs.lexicon_version, settings_version(inputs.settings), rules_version()],
        )
        connection.execute("INSERT INTO unjudged BY NAME SELECT ?::DATE AS day, * FROM new_unjudged", [day])
        version = _day_version(connection, day)
        results = validate(read_verdicts(connection, day))
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    committed = all(result.ok for result in results)
    changed = version != before
    if not committed:
        failing = {failure.turn_id for result in results for failure in result.failures if failure.turn_id}
        rows = {row["turn_id"]: row for row in read_verdicts(connection, day).to_pylist() if row["turn_id"] in failing}
        connection.execute("ROLLBACK")
        with transaction(connection):
            _keep_results(connection, day, results, run_id, rows)
        return DayResult(False, False, before, results)
    if not changed:
        # The file stays as it is: rewriting equal rows would only make it grow.
        connection.execute("ROLLBACK")
        connection.execute("BEGIN")
    _keep_results(connection, day, results, run_id, {})
    connection.execute("INSERT OR REPLACE INTO judged_day VALUES (?, ?, ?, ?)", [day, inputs.version, version, run_id])
    connection.execute("COMMIT")
    return DayResult(True, changed, version, results)


def _keep_results(
    connection: duckdb.DuckDBPyConnection,
    day: dt.date,
    results: Sequence[ValidationResult],
    run_id: str,
    rows: dict[str, dict[str, Any]],
) -> None:
    connection.execute("DELETE FROM validation WHERE day = ?", [day])
    connection.execute("DELETE FROM failed_row WHERE day = ?", [day])
    connection.executemany(
        "INSERT INTO validation VALUES (?, ?, ?, ?, ?, ?, ?)",
        [[day, r.code, r.looked_at, r.passed, r.failed, r.not_applicable, run_id] for r in results],
    )
    failed = [
        [day, result.code, failure.turn_id, failure.reason, json.dumps(rows.get(failure.turn_id or "")), run_id]
        for result in results
        for failure in result.failures
    ]
    if failed:
        connection.executemany("INSERT INTO failed_row VALUES (?, ?, ?, ?, ?, ?)", failed)


def _day_version(connection: duckdb.DuckDBPyConnection, day: dt.date) -> str:
    rows = table_version(connection, f"SELECT * FROM verdict WHERE day = DATE '{day}'", "turn_id")
    return rows[:16] + table_version(connection, f"SELECT * FROM unjudged WHERE day = DATE '{day}'", "turn_id")[:16]


def read_verdicts(connection: duckdb.DuckDBPyConnection, day: dt.date) -> pa.Table:
    """The day's verdicts in VERDICT_SCHEMA, in turn order."""
    sql = f"SELECT {_select(VERDICT_SCHEMA)} FROM verdict WHERE day = DATE '{day}' ORDER BY length(turn_id), turn_id"
    return _arrow(connection, sql, VERDICT_SCHEMA)


def read_unjudged(connection: duckdb.DuckDBPyConnection, day: dt.date) -> pa.Table:
    """The day's turns that could not be judged, in UNJUDGED_SCHEMA."""
    return _arrow(
        connection, f"SELECT {_select(UNJUDGED_SCHEMA)} FROM unjudged WHERE day = DATE '{day}' ORDER BY turn_id", UNJUDGED_SCHEMA
    )


def log_days(connection: duckdb.DuckDBPyConnection) -> list[dt.date]:
    """The days on which there are turns, or verdicts of turns that are gone, ascending."""
    rows = connection.execute("SELECT day FROM chat_turn UNION SELECT day FROM judged_day ORDER BY day").fetchall()
    return [row[0] for row in rows]


def judged_from(connection: duckdb.DuckDBPyConnection, day: dt.date) -> str | None:
    """The version of the inputs that the day's verdicts were judged from; None where it has none."""
    row = connection.execute("SELECT inputs FROM judged_day WHERE day = ?", [day]).fetchone()
    return row[0] if row else None
