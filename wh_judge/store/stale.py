"""Which days no longer follow from their inputs, and because of what."""

import datetime as dt
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from wh_judge.edits import CardAsOf
from wh_judge.errors import UserError
from wh_judge.rules import RuleSettings
from wh_judge.settings import Settings
from wh_judge.store.inputs_version import PARTS, card_of_turn_sql, inputs_version, judged_as_of, parts_of, recarded_sql
from wh_judge.store.log import log_days
from wh_judge.store.schema import one
from wh_judge.store.versions import lexicon_version

STALE_FILE = "stale.json"
"""Beside the warehouse: the stale days for readers that must not wait for its lock, such as the Dagster daemon."""

CAUSES = {
    "turns": "turns were added, corrected or taken away",
    "cards": "a card changed",
    "earlier": "a turn of another day in one of its sessions changed",
    "lexicon": "the lexicon changed",
    "settings": "the endings changed",
    "rules": "the code of the rules changed",
}


@dataclass(frozen=True)
class StaleDay:
    """A day that should be judged, and why."""

    day: dt.date
    version: str
    """What it would be judged from now."""
    causes: tuple[str, ...]
    failed: bool
    """It was judged from just these inputs and a validation failed, so that judging it again changes nothing."""


def find_stale(
    connection: duckdb.DuckDBPyConnection, settings: RuleSettings, card_as_of: CardAsOf = "now"
) -> list[StaleDay]:
    """The days that were never judged, or from other inputs than those that stand in the warehouse now, ascending."""
    judged = dict(connection.execute("SELECT day, inputs FROM judged_day").fetchall())
    failed = dict(connection.execute("SELECT day, inputs FROM failed_day").fetchall())
    lexicon = lexicon_version(connection)
    stale = []
    for day in log_days(connection):
        version = inputs_version(connection, day, settings, card_as_of, lexicon)
        if judged.get(day) == version:
            continue
        before, now = parts_of(judged.get(day)), parts_of(version)
        differing = [part for part in PARTS if before and before.get(part) != now[part]]
        found = [cause for part in differing for cause in _causes(connection, day, part, differing, card_as_of)]
        causes = tuple(found) or ("it was never judged",)
        stale.append(StaleDay(day, version, causes, failed.get(day) == version))
    return stale


def _causes(
    connection: duckdb.DuckDBPyConnection, day: dt.date, part: str, differing: list[str], card_as_of: CardAsOf
) -> Iterator[str]:
    """The causes in words; none where other cards are in play only because other characters speak on the day.

    Where a turn has another card, the setting chose it if it would not have been chosen by the setting of then, and a
    card changed if the setting of then would not choose the old one any more. Both may be.
    """
    if part != "cards":
        yield CAUSES[part]
        return
    before = judged_as_of(connection, day) or card_as_of
    if differing == ["cards"] and before == card_as_of == "now":
        characters = "string_agg(DISTINCT character_id, ', ' ORDER BY character_id)"
        row = one(connection, f"SELECT {characters}, false FROM ({recarded_sql(day)})")
    else:
        row = _by_turn(connection, day, before, card_as_of)
    characters, by_setting = row or (None, None)
    if by_setting:
        yield f"card_as_of changed: {before} to {card_as_of}"
    if characters:
        yield f"{CAUSES[part]}: {characters}"


def _by_turn(
    connection: duckdb.DuckDBPyConnection, day: dt.date, before: CardAsOf, card_as_of: CardAsOf
) -> tuple[Any, ...] | None:
    """The characters of whom a card changed, and whether the setting chose another one."""
    return one(
        connection,
        f"""SELECT string_agg(DISTINCT turn.character_id, ', ' ORDER BY turn.character_id)
                       FILTER (old.card_version IS DISTINCT FROM as_before.version),
                   bool_or(old.turn_id IS NOT NULL AND card.version IS DISTINCT FROM as_before.version)
            FROM (SELECT turn_id, character_id FROM chat_turn WHERE day = $1
                  AND turn_id IN (SELECT turn_id FROM verdict_row UNION ALL SELECT turn_id FROM unjudged)) AS turn
            LEFT JOIN ({card_of_turn_sql(day, card_as_of)}) AS card USING (turn_id)
            LEFT JOIN ({card_of_turn_sql(day, before)}) AS as_before USING (turn_id)
            LEFT JOIN verdict_row AS old USING (turn_id)
            WHERE old.card_version IS DISTINCT FROM card.version""",
        [day],
    )


def refresh_stale(connection: duckdb.DuckDBPyConnection, settings: Settings) -> list[StaleDay]:
    """Find the stale days and write the list of them; called wherever an input may have come in."""
    stale = find_stale(connection, settings.rules, settings.card_as_of)
    write_stale(stale, settings.data)
    return stale


def write_stale(stale: list[StaleDay], data: Path) -> None:
    """Write the list for readers outside; a reader sees the old list or the new one."""
    _write({str(entry.day): list(entry.causes) for entry in stale if not entry.failed}, data)


def _write(document: dict[str, list[str]], data: Path) -> None:
    partial = data / f".{STALE_FILE}.{os.getpid()}"
    partial.write_text(json.dumps(document, ensure_ascii=False, indent=1), encoding="utf-8")
    partial.replace(data / STALE_FILE)


def drop_from_list(day: dt.date, data: Path) -> None:
    """Take a day off the list: it was judged, or a validation failed, and judging it again would change nothing."""
    listed = listed_days(data)
    if listed.pop(str(day), None) is not None:
        _write(listed, data)


def listed_days(data: Path) -> dict[str, list[str]]:
    """The stale days as the newest run wrote them down, with their causes.

    Raises:
        UserError: someone else wrote the file, or it cannot be read.
    """
    path = data / STALE_FILE
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"{path}: cannot be read ({error}); delete it: wh-judge run writes it anew") from None
