"""All that is known of one turn: its verdicts, the inputs behind each, and why they changed."""

from typing import Any

import duckdb

from wh_judge.errors import UserError
from wh_judge.model import Verdict, verdict_document, verdict_from_record
from wh_judge.rules.hedge import NOTES
from wh_judge.store.changes import read_changes
from wh_judge.store.schema import one
from wh_judge.text import sql_text
from wh_judge.validations import VALIDATIONS

_VERSIONS = ("turn_version", "card_version", "settings_version", "code_version", "lexicon_rows", "mentions")
_OUTCOME = {"P": "passed", "N": "not applicable", "F": "failed"}


def why(connection: duckdb.DuckDBPyConnection, turn_id: str) -> dict[str, Any]:
    """Verdict, evidence, checks, what was skipped, earlier versions with their runs, and causes of change.

    Raises:
        UserError: no log file ever held the turn.
    """
    history = connection.sql(
        f"""SELECT * EXCLUDE (written_at, until_at), written_at::VARCHAR AS written_at, until_at::VARCHAR AS until_at
            FROM verdict_history WHERE turn_id = {sql_text(turn_id)} ORDER BY verdict_history.written_at"""
    ).to_arrow_table()
    versions = [_version(record) for record in history.to_pylist()]
    turn = connection.sql(
        f"""SELECT day::VARCHAR AS day, * EXCLUDE (day, turn_at), turn_at::VARCHAR AS turn_at
            FROM chat_turn WHERE turn_id = {sql_text(turn_id)}"""
    ).to_arrow_table()
    unjudged = one(connection, "SELECT reason FROM unjudged WHERE turn_id = ?", [turn_id])
    if not versions and not turn.num_rows and unjudged is None:
        raise UserError(f"{turn_id}: no such turn in the warehouse; check the turn_id, or run wh-judge run first")
    checks = one(connection, "SELECT checks FROM outcome WHERE turn_id = ?", [turn_id])
    current = next((version for version in versions if version["until_run"] is None), None)
    return {
        "turn": turn.to_pylist()[0] if turn.num_rows else None,
        "verdict": current,
        "not_judged": unjudged[0] if unjudged else None,
        "checks": {
            entry.code: _OUTCOME[letter]
            for entry, letter in zip(VALIDATIONS, checks[0] if checks else "", strict=False)
        },
        "skipped": [note.label for note in NOTES if current and note.skips and note.code in current["notes"]],
        "earlier_versions": [version for version in versions if version["until_run"] is not None],
        "decisions": _decisions(connection, turn_id, turn.to_pylist()[0] if turn.num_rows else {}, current or {}),
        "changes": read_changes(connection, turn_id=turn_id),
    }


def _decisions(
    connection: duckdb.DuckDBPyConnection, turn_id: str, turn: dict[str, Any], verdict: dict[str, Any]
) -> list[dict[str, Any]]:
    """What people decided about the turn: its labels, its names, its term. Names that are canon by now count too."""
    rows = connection.sql(
        f"""SELECT decision_id, what, "by", why, "at"::VARCHAR AS "at" FROM decision
            WHERE in_force AND (turn_id = {sql_text(turn_id)}
                OR (kind = 'name' AND character_id = {sql_text(turn.get("character_id") or "")}
                    AND list_contains((SELECT named_entities FROM chat_turn WHERE turn_id = {sql_text(turn_id)}), name))
                OR (kind = 'term' AND term = {sql_text(verdict.get("touched_term") or "")}
                    AND topic = {sql_text(verdict.get("touched_topic") or "")}))
            ORDER BY position"""
    ).to_arrow_table()
    return list(rows.to_pylist())


def _version(record: dict[str, Any]) -> dict[str, Any]:
    document = verdict_document(verdict_from_record(record))
    inputs = {name: record[name] for name in _VERSIONS}
    facts = {name: record[name] for name in ("notes", "run_id", "written_at", "until_run", "until_at")}
    return {name: document[name] for name in Verdict.model_fields} | {"inputs": inputs} | facts
