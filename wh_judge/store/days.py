"""A day in the warehouse: what it is judged from, and the atomic replacement of its verdicts."""

import datetime as dt
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from wh_judge.judge import Judgement
from wh_judge.model import (
    CARD_SCHEMA,
    LEXICON_SCHEMA,
    MENTION_SCHEMA,
    TURN_SCHEMA,
    UNJUDGED_SCHEMA,
    VERDICT_SCHEMA,
    cards_from,
    lexicon_from,
    turns_from,
)
from wh_judge.rules import RuleSettings, rules_version
from wh_judge.rules.rule import Mention
from wh_judge.store import transaction
from wh_judge.store.inputs import table_version
from wh_judge.store.log import log_days, read_turns, turns_sql
from wh_judge.store.schema import arrow, names, one
from wh_judge.validations import Log, ValidationResult


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


def read_inputs(connection: duckdb.DuckDBPyConnection, day: dt.date, settings: RuleSettings) -> DayInputs:
    """What the day is judged from, as it stands in the warehouse now."""
    cards = f"SELECT {names(CARD_SCHEMA)} FROM ({_cards_sql(day)}) ORDER BY character_id"
    earlier = f"SELECT {names(MENTION_SCHEMA)} FROM ({_earlier_sql(day)}) ORDER BY session_id, entity"
    return DayInputs(
        day=day,
        turns=read_turns(connection, day),
        cards=arrow(connection, cards, CARD_SCHEMA),
        lexicon=arrow(connection, "SELECT term, topic FROM topic_lexicon ORDER BY position", LEXICON_SCHEMA),
        earlier=arrow(connection, earlier, MENTION_SCHEMA),
        settings=settings,
        version=inputs_version(connection, day, settings),
        lexicon_version=_lexicon_version(connection),
    )


def inputs_version(connection: duckdb.DuckDBPyConnection, day: dt.date, settings: RuleSettings) -> str:
    """Hash of everything that the day is judged from: its turns, their cards, the lexicon, the settings, the mentions
    of other days, and the rules. Each part shows in it, so that two versions tell which part differs."""
    turns = f"SELECT turn_id, row_hash FROM turn_row WHERE is_current AND day = DATE '{day}'"
    versions = {
        "turns": table_version(connection, turns, "turn_id"),
        "cards": table_version(connection, _cards_sql(day), "character_id"),
        "earlier": table_version(connection, _earlier_sql(day), "session_id, entity"),
    }
    versions["lexicon"] = _lexicon_version(connection)
    versions["settings"] = hashlib.md5(settings_version(settings).encode()).hexdigest()
    versions["rules"] = rules_version()
    return " ".join(f"{name}={version[:12]}" for name, version in versions.items())


def _lexicon_version(connection: duckdb.DuckDBPyConnection) -> str:
    return table_version(connection, "SELECT * FROM topic_lexicon", "position")


def _cards_sql(day: dt.date) -> str:
    return f"SELECT * FROM character_card SEMI JOIN ({turns_sql(day)}) USING (character_id)"


def _earlier_sql(day: dt.date) -> str:
    """First mentions on other days in the sessions in which this day asks for recall.

    A turn may stand before another in its session and yet lie on a later day, so all other days are looked at.
    """
    return f"""
        SELECT session_id, entity, source.turn_id AS turn_id, source.reply_text AS reply_text FROM (
            SELECT session_id, entity,
                   arg_min({{'turn_id': turn_id, 'reply_text': reply_text}}, (length(turn_id), turn_id)) AS source
            FROM (SELECT session_id, turn_id, reply_text, unnest(named_entities) AS entity FROM chat_turn
                  WHERE day <> DATE '{day}' AND session_id IN (
                      SELECT session_id FROM chat_turn WHERE day = DATE '{day}' AND user_asked_recall))
            GROUP BY ALL)"""


def stale_days(connection: duckdb.DuckDBPyConnection, settings: RuleSettings) -> list[dt.date]:
    """The days that were never judged, or from other inputs than those that stand in the warehouse now, ascending."""
    judged = dict(connection.execute("SELECT day, inputs FROM judged_day").fetchall())
    return [day for day in log_days(connection) if judged.get(day) != inputs_version(connection, day, settings)]


def judged_versions(connection: duckdb.DuckDBPyConnection) -> dict[dt.date, str]:
    """The versions of the days' verdicts."""
    return dict(connection.execute("SELECT day, version FROM judged_day ORDER BY day").fetchall())


def settings_version(settings: RuleSettings) -> str:
    """The settings as text; few and short enough to be their own version."""
    return "endings=" + ",".join(settings.endings)


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
    validate: Callable[[pa.Table], tuple[Sequence[ValidationResult], bool]],
    run_id: str,
) -> DayResult:
    """Write the day's verdicts, validate what was written, and commit only what passes.

    `validate` is given the rows as they were written; it returns the validations' results, and whether all else that
    must hold does. Where the rows are the same as before, nothing is written. Where a validation fails, the day keeps
    its old rows and the failing ones are kept in `failed_row`.
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
        results, sound = validate(read_verdicts(connection, day))
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    committed = sound and all(result.ok for result in results)
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
        if _is_kept(connection, day, inputs.version, version, results):
            return DayResult(True, False, version, results)
        connection.execute("BEGIN")
    _keep_results(connection, day, results, run_id, {})
    connection.execute("INSERT OR REPLACE INTO judged_day VALUES (?, ?, ?, ?)", [day, inputs.version, version, run_id])
    connection.execute("COMMIT")
    return DayResult(True, changed, version, results)


def _is_kept(
    connection: duckdb.DuckDBPyConnection,
    day: dt.date,
    inputs: str,
    version: str,
    results: Sequence[ValidationResult],
) -> bool:
    """Whether an earlier run left exactly this; its run_id then stays as well."""
    judged = one(connection, "SELECT inputs, version FROM judged_day WHERE day = ?", [day])
    kept = connection.execute(
        "SELECT code, looked_at, passed, failed, not_applicable FROM validation WHERE day = ?", [day]
    ).fetchall()
    found = [(r.code, r.looked_at, r.passed, r.failed, r.not_applicable) for r in results]
    return judged == (inputs, version) and sorted(kept) == sorted(found)


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
    sql = f"SELECT {names(VERDICT_SCHEMA)} FROM verdict WHERE day = DATE '{day}' ORDER BY length(turn_id), turn_id"
    return arrow(connection, sql, VERDICT_SCHEMA)


def read_unjudged(connection: duckdb.DuckDBPyConnection, day: dt.date) -> pa.Table:
    """The day's turns that could not be judged, in UNJUDGED_SCHEMA."""
    return arrow(
        connection,
        f"SELECT {names(UNJUDGED_SCHEMA)} FROM unjudged WHERE day = DATE '{day}' ORDER BY turn_id",
        UNJUDGED_SCHEMA,
    )


def read_log(connection: duckdb.DuckDBPyConnection, inputs: DayInputs, judgement: Judgement) -> Log:
    """What the validations hold the day's verdicts against: its inputs, and the turns of other days that are cited."""
    connection.register("judged", judgement.verdicts.select(["recall_source_turn"]))
    cited = arrow(
        connection,
        f"""SELECT {names(TURN_SCHEMA)} FROM chat_turn
            WHERE day <> DATE '{inputs.day}' AND turn_id IN (SELECT recall_source_turn FROM judged)""",
        TURN_SCHEMA,
    )
    connection.unregister("judged")
    return Log.of(
        turns=turns_from(pa.concat_tables([inputs.turns, cited])),
        cards=cards_from(inputs.cards),
        lexicon=lexicon_from(inputs.lexicon),
        settings=inputs.settings,
        earlier={
            (row["session_id"], row["entity"]): Mention(row["turn_id"], row["reply_text"])
            for row in inputs.earlier.to_pylist()
        },
    )
