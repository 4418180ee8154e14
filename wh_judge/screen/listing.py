"""Lists of turns, grouped by verdict: which there are.

Turns are listed with the newest day first and in turn order within a day. Where the turns of a list lie in their tables
is looked up once and kept, four bytes for each; a page then reads its few rows by their places.
"""

import datetime as dt
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wh_judge.model import VERDICTS
from wh_judge.screen.filters import UNJUDGED, Filter
from wh_judge.screen.snapshots import Snapshot

PAGE_ROWS = 50
GROUP_ROWS = 5
"""Rows of each group where all groups are shown."""
MOST_CHOICES = 200
"""Entries of a list to choose from."""

Places = npt.NDArray[np.int32]
"""Row numbers in `verdict` or in `unjudged`, in the order of a list."""


@dataclass(frozen=True)
class Run:
    """A run that wrote verdicts."""

    run_id: str
    finished_at: dt.datetime
    first: dt.date
    last: dt.date
    """The days that it judged or in which it changed verdicts."""
    written: int
    changed: int


def runs(snapshot: Snapshot) -> list[Run]:
    """The runs that wrote verdicts, the newest first."""

    def compute() -> list[Run]:
        found = snapshot.rows(
            """SELECT run_id, max(moment) AS finished_at, min(first) AS first, max(last) AS last,
                      sum(written)::BIGINT AS written, sum(changed)::BIGINT AS changed
               FROM (SELECT run_id, max(written_at) AS moment, min(day) AS first, max(day) AS last,
                            count(*) AS written, 0 AS changed
                     FROM verdict_history GROUP BY run_id
                     UNION ALL
                     SELECT run_id, max(changed_at), min(day), max(day), 0, count(*)
                     FROM verdict_change GROUP BY run_id)
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


def character_names(snapshot: Snapshot) -> dict[str, str]:
    """The names of the characters that have turns, by character_id."""
    characters = choices(snapshot)["characters"]
    return snapshot.cached("names", lambda: {character["id"]: character["name"] for character in characters})


def places(snapshot: Snapshot, filter_: Filter) -> dict[str, Places]:
    """Where the turns of each group lie, whatever verdict the filter names."""

    def compute() -> dict[str, Places]:
        where, values = filter_.where()
        skipped, codes = filter_.skipped_where()
        wanted, sought = _wanted(snapshot, filter_)
        turns = f"WITH wanted AS MATERIALIZED ({wanted})" if wanted else ""
        those = f"{where} AND turn_id IN (FROM wanted)" if wanted else where
        found = snapshot.columns(
            f"""{turns} SELECT rowid::INTEGER AS place, list_position($verdicts, verdict)::UTINYINT AS number
                FROM verdict WHERE {those} AND {skipped}
                UNION ALL SELECT rowid::INTEGER, 0 FROM unjudged WHERE {those} AND {not filter_.skipped}""",
            values | codes | sought | {"verdicts": list(VERDICTS)},
        )
        return {
            group: _newest_day_first(snapshot, table, found["place"][found["number"] == number])
            for table, group, number in (
                *(("verdict", verdict, number) for number, verdict in enumerate(VERDICTS, start=1)),
                ("unjudged", UNJUDGED, 0),
            )
        }

    return snapshot.cached(("places", filter_.query(verdict=None)), compute)


def turns_in_all(snapshot: Snapshot) -> int:
    """How many turns there are, judged or not."""
    sql = "SELECT (SELECT count(*) FROM verdict) + (SELECT count(*) FROM unjudged) AS turns"
    return snapshot.cached("turns", lambda: int(snapshot.rows(sql)[0]["turns"]))


def _newest_day_first(snapshot: Snapshot, table: str, found: Places) -> Places:
    """Row numbers in the order of a list. A table of a snapshot is ordered by day, then in turn order."""

    def compute() -> Places:
        rows = snapshot.rows(f"SELECT min(rowid) AS first FROM {table} GROUP BY day ORDER BY day")
        return np.array([row["first"] for row in rows], np.int32)

    first_of_day = snapshot.cached(("days", table), compute)
    ordered = np.sort(found)
    days = np.split(ordered, np.searchsorted(ordered, first_of_day[1:])) if len(first_of_day) else [ordered]
    return np.concatenate(days[::-1])


def _wanted(snapshot: Snapshot, filter_: Filter) -> tuple[str, dict[str, Any]]:
    return filter_.wanted(run_time(snapshot, filter_.since) if filter_.since else None)


def narrowed(snapshot: Snapshot, filter_: Filter) -> tuple[str, dict[str, Any]]:
    """All of the filter as a condition on `verdict`, and its parameters."""
    where, values = filter_.where()
    skipped, codes = filter_.skipped_where()
    wanted, sought = _wanted(snapshot, filter_)
    conditions = [where, skipped]
    if wanted:
        conditions.append(f"turn_id IN ({wanted})")
    if filter_.verdict:
        conditions.append("verdict = $group")
    group = {"group": filter_.verdict} if filter_.verdict else {}
    return " AND ".join(conditions), values | codes | sought | group
