"""The rows of a page: turns with their texts, and with their verdicts or the reason why there is none.

Rows are looked up by turn_id, for which a snapshot has indexes; DuckDB uses an index where it is told each value by
itself, not in a list.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from wh_judge.model import VERDICT_SCHEMA
from wh_judge.rules import RuleSettings
from wh_judge.screen.filters import UNJUDGED
from wh_judge.screen.listing import Places, character_names
from wh_judge.screen.render import shown
from wh_judge.screen.snapshots import Snapshot
from wh_judge.store.schema import SHOWN_TEXT

Row = dict[str, Any]

FULL_TEXT = 100_000
"""Characters of a text that a turn's own page shows."""
FULL_EVIDENCE = 1_000
"""Rows of evidence that a turn's own page shows."""

_NAMES = [name for name in VERDICT_SCHEMA.names if name != "evidence"]
_PLAIN = ", ".join([*_NAMES, "day", "card_version", "settings_version"])
_LISTED = f"{_PLAIN}, evidence_shown"
_FULL = f"""{_PLAIN}, len(evidence) AS evidence_rows,
    list_transform(evidence[:{FULL_EVIDENCE}], lambda x: struct_pack(source := x.source, field := x.field,
        agg := x.agg, "value" := left(x."value", {FULL_TEXT}), length := length(x."value"))) AS evidence"""
_TURN = "turn_id, session_id, character_id, model_id, day"
_NO_TEXTS = dict.fromkeys(("turn_at", "prompt_id", "reply_text", "reply_length", "user_message", "message_length")) | {
    "reply_missing": True
}
"""Of a turn that is no longer in the log."""


def listed(snapshot: Snapshot, groups: Mapping[str, Places]) -> dict[str, list[Row]]:
    """The rows of each group at these places, texts and evidence cut for a list."""
    places = {group: array.tolist() for group, array in groups.items()}
    judged_at = _turn_ids(snapshot, "verdict", [one for group in places if group != UNJUDGED for one in places[group]])
    unjudged_at = _turn_ids(snapshot, "unjudged", places.get(UNJUDGED, []))
    found = by_id(snapshot, "verdict", _LISTED, [*judged_at.values()])
    found |= by_id(snapshot, "unjudged", "*", [*unjudged_at.values()])
    texts = by_id(snapshot, "chat_turn", f"turn_id, {_texts(SHOWN_TEXT)}", list(found))
    names = character_names(snapshot)
    rows = {
        turn_id: shown(_opened(row) | texts.get(turn_id, _NO_TEXTS) | _named(row, names))
        for turn_id, row in found.items()
    }
    return {
        group: [rows[(unjudged_at if group == UNJUDGED else judged_at)[place]] for place in places[group]]
        for group in groups
    }


def judged(
    snapshot: Snapshot,
    condition: str,
    values: Mapping[str, Any],
    page: str = "",
    full: bool = False,
    endings: RuleSettings | None = None,
    terms: Sequence[str] = (),
) -> list[Row]:
    """Turns with their verdicts, in turn order.

    Args:
        snapshot: where to read.
        condition: which rows of `chat_turn`.
        values: its parameters.
        page: a LIMIT and an OFFSET.
        full: with texts and evidence as a turn's own page shows them, not as a list does.
        endings: by which settings sentences are marked that end politely, whatever the verdict rests on; None for those
            of the verdict, where it rests on them.
        terms: which are marked beside that of the verdict, and instead of how sentences end.
    """
    turns = snapshot.rows(
        f"""SELECT {_TURN}, {_texts(FULL_TEXT if full else SHOWN_TEXT)} FROM chat_turn WHERE {condition}
            ORDER BY length(turn_id), turn_id {page}""",
        values,
    )
    ids = [turn["turn_id"] for turn in turns]
    found = by_id(snapshot, "verdict", _FULL if full else _LISTED, ids)
    found |= by_id(snapshot, "unjudged", "turn_id, reason", [one for one in ids if one not in found])
    names = character_names(snapshot)
    return [
        shown({"reason": None} | _opened(found.get(turn["turn_id"], {})) | turn | _named(turn, names), endings, terms)
        for turn in turns
    ]


def of_turns(
    snapshot: Snapshot, ids: Sequence[str], endings: RuleSettings | None = None, terms: Sequence[str] = ()
) -> dict[str, Row]:
    """These turns as `judged` has them, by turn_id."""
    if not ids:
        return {}
    wanted, values = _wanted(ids)
    rows = judged(snapshot, f"turn_id IN ({wanted})", values, endings=endings, terms=terms)
    return {row["turn_id"]: row for row in rows}


def _named(row: Row, names: Mapping[str, str]) -> Row:
    """Who speaks; of a character that is no longer in the log its id."""
    return {"character_name": names.get(row["character_id"], row["character_id"])}


def _turn_ids(snapshot: Snapshot, table: str, places: Sequence[int]) -> dict[int, str]:
    """The turns at these places of a table."""
    if not places:
        return {}
    rows = snapshot.rows(
        f"""SELECT rowid AS place, turn_id FROM {table}
            JOIN (SELECT unnest($wanted::BIGINT[]) AS wanted) ON rowid = wanted""",
        {"wanted": list(places)},
    )
    return {row["place"]: row["turn_id"] for row in rows}


def by_id(snapshot: Snapshot, table: str, columns: str, ids: Sequence[str]) -> dict[str, Row]:
    """The rows of these turns by turn_id, which is among the columns."""
    if not ids:
        return {}
    wanted, values = _wanted(ids)
    rows = snapshot.rows(f"SELECT {columns} FROM {table} WHERE turn_id IN ({wanted})", values)
    return {row["turn_id"]: row for row in rows}


def _wanted(ids: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The ids as a list of parameters, and the parameters."""
    values = {f"id{place}": turn_id for place, turn_id in enumerate(ids)}
    return ", ".join(f"${name}" for name in values), values


def _opened(row: Row) -> Row:
    """A row with the evidence that a list shows as rows of their own."""
    if "evidence_shown" not in row:
        return row
    shown_of = json.loads(row["evidence_shown"])
    evidence = [
        {"source": source, "field": field, "agg": agg, "value": value, "length": int(length or len(value or ""))}
        for source, field, agg, value, length in shown_of["cells"]
    ]
    return row | {"evidence": evidence, "evidence_rows": shown_of["rows"]}


def _texts(characters: int) -> str:
    """What is shown of a turn, with so many characters of what was said."""
    return f"""turn_at, prompt_id, reply_text IS NULL AS reply_missing,
        left(reply_text, {characters}) AS reply_text, length(reply_text) AS reply_length,
        left(user_message, {characters}) AS user_message, length(user_message) AS message_length"""
