"""Lists of turns, grouped by verdict: how many there are, and the rows of a page.

Turns are listed with the newest day first and in turn order within a day. The snapshot holds them by day, so that the
counts by day tell which few days a page lies on, and only those are read.
"""

import datetime as dt
from dataclasses import dataclass, replace
from typing import Any

from wh_judge.model import VERDICT_SCHEMA
from wh_judge.screen.filters import GROUPS, UNJUDGED, Filter
from wh_judge.screen.snapshots import Snapshot

PAGE_ROWS = 50
GROUP_ROWS = 5
"""Rows of each group where all groups are shown."""
SHOWN_TEXT = 2_000
"""Characters of a text that a list shows; a turn's own page shows more."""
SHOWN_EVIDENCE = 50
"""Rows of evidence that a list shows."""

MOST_CHOICES = 200
"""Entries of a list to choose from."""

Days = list[tuple[dt.date, int]]
"""Turns by day, the newest day first."""


@dataclass(frozen=True)
class Run:
    """A run that wrote verdicts."""

    run_id: str
    finished_at: dt.datetime
    written: int
    changed: int


def runs(snapshot: Snapshot) -> list[Run]:
    """The runs that wrote verdicts, the newest first."""

    def compute() -> list[Run]:
        found = snapshot.rows(
            """SELECT run_id, max(moment) AS finished_at, sum(written)::BIGINT AS written,
                      sum(changed)::BIGINT AS changed
               FROM (SELECT run_id, max(written_at) AS moment, count(*) AS written, 0 AS changed
                     FROM verdict_history GROUP BY run_id
                     UNION ALL SELECT run_id, max(changed_at), 0, count(*) FROM verdict_change GROUP BY run_id)
               GROUP BY run_id ORDER BY finished_at DESC, run_id"""
        )
        return [Run(**row) for row in found]

    return snapshot.cached("runs", compute)


def runs_offered(snapshot: Snapshot, *chosen: str) -> list[Run]:
    """The newest runs, and those that were chosen."""
    return [run for place, run in enumerate(runs(snapshot)) if place < MOST_CHOICES or run.run_id in chosen]


def run_time(snapshot: Snapshot, run_id: str) -> dt.datetime | None:
    """When a run was done; None for one that is not known."""
    return next((run.finished_at for run in runs(snapshot) if run.run_id == run_id), None)


def choices(snapshot: Snapshot) -> dict[str, list[Any]]:
    """What a list can be narrowed down to: characters with their names, models, and the days there are."""

    def compute() -> dict[str, list[Any]]:
        characters = snapshot.rows(
            """SELECT character_id AS id, coalesce(name, '카드 없음') AS name
               FROM (SELECT DISTINCT character_id FROM chat_turn) LEFT JOIN character_card USING (character_id)
               ORDER BY id"""
        )
        models = snapshot.rows("SELECT DISTINCT model_id FROM chat_turn ORDER BY 1")
        days = snapshot.rows("SELECT DISTINCT day FROM chat_turn ORDER BY 1 DESC")
        return {
            "characters": characters,
            "models": [row["model_id"] for row in models],
            "days": [row["day"] for row in days],
        }

    return snapshot.cached("choices", compute)


def counts(snapshot: Snapshot, filter_: Filter) -> dict[str, Days]:
    """For each group the turns by day, whatever verdict the filter names."""

    def compute() -> dict[str, Days]:
        where, values = _where(snapshot, filter_)
        skipped, codes = filter_.skipped_where()
        found = snapshot.rows(
            f"""SELECT verdict, day, count(*) AS turns FROM verdict WHERE {where} AND {skipped} GROUP BY ALL
                UNION ALL
                SELECT $unjudged, day, count(*) FROM unjudged
                WHERE {where} AND {not filter_.skipped} GROUP BY ALL
                ORDER BY day DESC""",
            values | codes | {"unjudged": UNJUDGED},
        )
        days: dict[str, Days] = {group: [] for group in GROUPS}
        for row in found:
            days[row["verdict"]].append((row["day"], row["turns"]))
        return days

    return snapshot.cached(("counts", filter_.query(verdict=None)), compute)


def _where(snapshot: Snapshot, filter_: Filter) -> tuple[str, dict[str, Any]]:
    return filter_.where(run_time(snapshot, filter_.since) if filter_.since else None)


def narrowed(snapshot: Snapshot, filter_: Filter) -> tuple[str, dict[str, Any]]:
    """All of the filter as a condition on `verdict`, and its parameters."""
    where, values = _where(snapshot, filter_)
    skipped, codes = filter_.skipped_where()
    if not filter_.verdict:
        return f"{where} AND {skipped}", values | codes
    return f"verdict = $group AND {where} AND {skipped}", values | codes | {"group": filter_.verdict}


def total(days: Days) -> int:
    """All turns of a group."""
    return sum(turns for _, turns in days)


def slices(days: Days, skip: int, rows: int) -> list[tuple[dt.date, int, int]]:
    """Where the rows after the first `skip` lie: for each day touched how many to skip there and how many to take."""
    found = []
    for day, turns in days:
        if skip < turns and rows > 0:
            taken = min(turns - skip, rows)
            found.append((day, skip, taken))
            rows, skip = rows - taken, 0
        else:
            skip -= min(skip, turns)
    return found


def page(snapshot: Snapshot, filter_: Filter, group: str, days: Days, skip: int, rows: int) -> list[dict[str, Any]]:
    """Rows of a group with their turns' texts, cut at `SHOWN_TEXT`."""
    if group == UNJUDGED:
        condition, values = _where(snapshot, filter_)
        source = f"SELECT * FROM unjudged WHERE {condition}"
    else:
        condition, values = narrowed(snapshot, replace(filter_, verdict=group))
        source = f"SELECT {verdict_columns(SHOWN_TEXT, SHOWN_EVIDENCE)} FROM verdict WHERE {condition}"
    found: list[dict[str, Any]] = []
    for day, offset, taken in slices(days, skip, rows):
        found += snapshot.rows(
            f"""WITH row AS MATERIALIZED ({source} AND day = $on_day ORDER BY rowid LIMIT {taken} OFFSET {offset})
                SELECT row.*, {turn_texts(SHOWN_TEXT)} FROM row
                LEFT JOIN (SELECT * FROM chat_turn WHERE day = $on_day) AS turn USING (turn_id)
                ORDER BY length(row.turn_id), row.turn_id""",
            values | {"on_day": day},
        )
    return found


_PLAIN = ", ".join(name for name in VERDICT_SCHEMA.names if name != "evidence")


def verdict_columns(text: int, rows: int) -> str:
    """What is shown of a verdict, with so many rows of evidence and so many characters of each value."""
    return f"""{_PLAIN}, day, card_version, settings_version, len(evidence) AS evidence_rows,
        list_transform(evidence[:{rows}], lambda x: struct_pack(source := x.source, field := x.field, agg := x.agg,
            "value" := left(x."value", {text}), length := length(x."value"))) AS evidence"""


def turn_texts(text: int) -> str:
    """What is shown of a turn, with so many characters of what was said."""
    return f"""turn.turn_at, turn.prompt_id, turn.reply_text IS NULL AS reply_missing,
        left(turn.reply_text, {text}) AS reply_text, length(turn.reply_text) AS reply_length,
        left(turn.user_message, {text}) AS user_message, length(turn.user_message) AS message_length"""
