"""Decisions in the warehouse: all of them for readers, and which cells of the inputs they made what they are."""

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from wh_judge.review.book import book_of, read_book
from wh_judge.review.decisions import Decision, in_force, shown
from wh_judge.review.made import made_cells
from wh_judge.settings import Settings
from wh_judge.store import transaction
from wh_judge.store.schema import DECISION_SCHEMA
from wh_judge.store.versions import now


def decisions_of(settings: Settings) -> list[Decision]:
    """What people decided on this data.

    Raises:
        DamagedBook: a line of the book cannot be read.
    """
    return read_book(book_of(settings.data))


def keep_decisions(connection: duckdb.DuckDBPyConnection, settings: Settings) -> list[Decision]:
    """Bring the book in, and note what is new of what these settings know of it; all decisions.

    A decision that is written down after the settings were read makes nothing of what is judged by them. Noted now, it
    would lie before these verdicts, and be no cause of what comes after them.
    """
    decisions = decisions_of(settings)
    counting = {row.decision_id for row in in_force(decisions)}
    rows = [
        row.model_dump() | {"position": place, "in_force": row.decision_id in counting, "what": shown(row)}
        for place, row in enumerate(decisions)
    ]
    connection.register("book", pa.Table.from_pylist(rows, schema=DECISION_SCHEMA))
    with transaction(connection):
        connection.execute("DELETE FROM decision")
        connection.execute("INSERT INTO decision BY NAME SELECT * FROM book")
        note_effects(connection, "settings", [], decisions[: settings.decided])
    connection.unregister("book")
    return decisions


def keep_new_decisions(connection: duckdb.DuckDBPyConnection, settings: Settings) -> None:
    """`keep_decisions` where the settings know more of them, before anything is judged by these settings.

    Whoever judges may have read the settings after the book was last brought in.
    """
    [(seen,)] = connection.execute("""SELECT count(*) FROM decision_seen WHERE "table" = 'settings'""").fetchall()
    if settings.decided is None or settings.decided > seen:
        keep_decisions(connection, settings)


def note_effects(
    connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[dict[str, Any]], decisions: Sequence[Decision]
) -> None:
    """Note which cells the decisions that are new to an input make other than they were.

    Args:
        connection: the warehouse, in a transaction.
        table: the input.
        rows: what its files say, without any decision.
        decisions: all of them.
    """
    known = {
        row[0]
        for row in connection.execute('SELECT decision_id FROM decision_seen WHERE "table" = ?', [table]).fetchall()
    }
    new = [row.decision_id for row in decisions if row.decision_id not in known]
    if not new:
        return
    made = made_cells(table, rows, [row for row in decisions if row.decision_id in known], decisions)
    moment = now(connection)
    if made:
        connection.executemany(
            "INSERT INTO decision_effect VALUES (?, ?, ?, ?)",
            [[table, effect.cell, effect.decision_id, moment] for effect in made],
        )
    connection.executemany("INSERT INTO decision_seen VALUES (?, ?)", [[table, row_id] for row_id in new])


def behind_cells(
    connection: duckdb.DuckDBPyConnection, cells: Iterable[str], since: dt.datetime | None
) -> tuple[str, ...]:
    """The decisions that made these cells of a cause, each the newest that did since the verdict before was written."""
    found: dict[str, None] = {}
    for cell in cells:
        row = connection.execute(
            """SELECT arg_max(decision_id, (applied_at, length(decision_id), decision_id)) FROM decision_effect
               WHERE cell = $1 AND ($2::TIMESTAMPTZ IS NULL OR applied_at >= $2)""",
            [cell, since],
        ).fetchall()
        if row[0][0] is not None:
            found[row[0][0]] = None
    return tuple(found)


def read_decisions(connection: duckdb.DuckDBPyConnection, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Who decided what, when and why, by decision."""
    rows = connection.execute(
        """SELECT decision_id, what, "by", why, "at"::VARCHAR FROM decision
           WHERE list_contains(?::VARCHAR[], decision_id)""",
        [list(ids)],
    ).fetchall()
    return {row[0]: dict(zip(("decision_id", "what", "by", "why", "at"), row, strict=True)) for row in rows}
