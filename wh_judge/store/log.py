"""Reads of the chat log by day."""

import datetime as dt
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from wh_judge.model import TURN_SCHEMA
from wh_judge.store.inputs_version import log_versions
from wh_judge.store.schema import in_turn_order, names, number


def read_turns(connection: duckdb.DuckDBPyConnection, day: dt.date) -> pa.Table:
    """The day's turns in TURN_SCHEMA, in turn order."""
    return in_turn_order(connection, turns_sql(day), TURN_SCHEMA)


def turns_sql(day: dt.date) -> str:
    """The day's turns, as a query."""
    return f"SELECT {names(TURN_SCHEMA)} FROM chat_turn WHERE day = DATE '{day}'"


def log_days(connection: duckdb.DuckDBPyConnection) -> list[dt.date]:
    """The days on which there are turns, or verdicts of turns that are gone, ascending."""
    rows = connection.execute("SELECT day FROM chat_turn UNION SELECT day FROM judged_day ORDER BY day").fetchall()
    return [row[0] for row in rows]


def keys(connection: duckdb.DuckDBPyConnection, table: str, column: str) -> set[str]:
    """The values of a column of a small table."""
    return {row[0] for row in connection.execute(f"SELECT DISTINCT {column} FROM {table}").fetchall()}


@dataclass(frozen=True)
class DayFacts:
    """What is to be said of a day's turns."""

    version: str
    sessions: int
    normalised: int
    """Rows of the whole log in which some text was not in NFC."""
    without_card: list[tuple[str, int]]
    """Characters without a card, with their turns."""
    disordered: list[tuple[str, str, str]]
    """Sessions whose turn_id order disagrees with turn_at: the session, a turn, and the earlier one that follows it."""


def day_facts(connection: duckdb.DuckDBPyConnection, day: dt.date) -> DayFacts:
    """What is to be said of the day's turns."""
    where = f"WHERE day = DATE '{day}'"
    return DayFacts(
        version=log_versions(connection, day)[0],
        sessions=number(connection, f"SELECT count(DISTINCT session_id) FROM chat_turn {where}"),
        normalised=number(connection, "SELECT sum(normalised) FROM log_file"),
        without_card=connection.execute(
            f"""SELECT character_id, count(*) FROM chat_turn ANTI JOIN character_card USING (character_id) {where}
                GROUP BY 1 ORDER BY 2 DESC, 1"""
        ).fetchall(),
        disordered=connection.execute(
            f"""SELECT session_id, min_by(turn_id, place), min_by(next_id, place)
                FROM (SELECT session_id, turn_id, turn_at, lead(turn_at) OVER later AS next_at,
                             lead(turn_id) OVER later AS next_id, row_number() OVER later AS place
                      FROM chat_turn SEMI JOIN (SELECT session_id FROM chat_turn {where}) USING (session_id)
                      WINDOW later AS (PARTITION BY session_id ORDER BY length(turn_id), turn_id))
                WHERE next_at < turn_at GROUP BY 1 ORDER BY 1"""
        ).fetchall(),
    )
