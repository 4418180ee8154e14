"""Drafts in the warehouse: the verdicts that they are for, what they are held against, and what became of each."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from wh_judge.model import (
    LEXICON_SCHEMA,
    TURN_SCHEMA,
    VERDICT_SCHEMA,
    CharacterCard,
    ChatTurn,
    Verdict,
    lexicon_from,
    turns_from,
    verdict_from_record,
)
from wh_judge.rules import Lexicon, RuleSettings
from wh_judge.store import transaction
from wh_judge.store.schema import arrow, names
from wh_judge.store.versions import cards_by_version, now
from wh_judge.validations import Log


@dataclass(frozen=True)
class DraftCase:
    """A verdict that a draft is for, and what the draft's evidence is held against."""

    verdict: Verdict
    row_hash: str
    """The version of the verdict: a draft for another one does not count."""
    log: Log


@dataclass(frozen=True)
class Draft:
    """What became of the request for one verdict."""

    turn_id: str
    row_hash: str
    request_hash: str | None
    """None where nothing was asked, since the verdict's document is too long."""
    model: str
    outcome: str
    reasons: Sequence[tuple[str, str]]
    """Codes and what was found; empty for a sentence that is kept."""
    summary: str | None
    raw: str | None
    prompt_tokens: int
    response_tokens: int
    seconds: float


def read_cases(
    connection: duckdb.DuckDBPyConnection, day: dt.date, chosen: Sequence[str], settings: RuleSettings
) -> list[DraftCase]:
    """The day's verdicts with one of the chosen values, in turn order."""
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE to_draft AS
            SELECT {names(VERDICT_SCHEMA)}, row_hash, card_version FROM verdict_row
            WHERE day = ? AND list_contains(?::VARCHAR[], verdict)""",
        [day, list(chosen)],
    )
    records = connection.sql("FROM to_draft ORDER BY length(turn_id), turn_id").to_arrow_table().to_pylist()
    turns = arrow(
        connection,
        f"""SELECT {names(TURN_SCHEMA)} FROM chat_turn
            WHERE turn_id IN (SELECT turn_id FROM to_draft UNION SELECT recall_source_turn FROM to_draft)""",
        TURN_SCHEMA,
    )
    lexicon = arrow(connection, "SELECT term, topic FROM topic_lexicon ORDER BY position", LEXICON_SCHEMA)
    cards = cards_by_version(connection, {record["card_version"] for record in records})
    logs = _Logs(turns_from(turns), Lexicon(lexicon_from(lexicon)), settings)
    return [
        DraftCase(verdict_from_record(record), record["row_hash"], logs.with_card(cards[record["card_version"]]))
        for record in records
    ]


class _Logs:
    """Logs that share all but their cards: of one character there may be several versions on a day."""

    def __init__(self, turns: Iterable[ChatTurn], lexicon: Lexicon, settings: RuleSettings) -> None:
        self._turns = {turn.turn_id: turn for turn in turns}
        self._lexicon, self._settings = lexicon, settings
        self._logs: list[tuple[dict[str, CharacterCard], Log]] = []

    def with_card(self, card: CharacterCard) -> Log:
        """A log that has this version of the card."""
        for cards, log in self._logs:
            if cards.setdefault(card.character_id, card) is card:
                return log
        cards = {card.character_id: card}
        self._logs.append((cards, Log(self._turns, cards, self._lexicon, {}, self._settings)))
        return self._logs[-1][1]


def keep_drafts(connection: duckdb.DuckDBPyConnection, day: dt.date, drafts: Sequence[Draft], run_id: str) -> None:
    """Keep what became of each; of one request for one verdict the newest answer stays."""
    if not drafts:
        return
    with transaction(connection):
        connection.executemany(
            """DELETE FROM draft_row WHERE turn_id = ? AND row_hash = ? AND model = ?
               AND request_hash IS NOT DISTINCT FROM ?""",
            [[draft.turn_id, draft.row_hash, draft.model, draft.request_hash] for draft in drafts],
        )
        moment = now(connection)
        connection.executemany(
            "INSERT INTO draft_row VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                [
                    day,
                    draft.turn_id,
                    draft.row_hash,
                    draft.request_hash,
                    draft.model,
                    draft.outcome,
                    [{"code": code, "text": text} for code, text in draft.reasons],
                    draft.summary,
                    draft.raw,
                    draft.prompt_tokens,
                    draft.response_tokens,
                    draft.seconds,
                    run_id,
                    moment,
                ]
                for draft in drafts
            ],
        )


def count_drafts(connection: duckdb.DuckDBPyConnection, first: dt.date, last: dt.date) -> list[dict[str, Any]]:
    """The drafts for verdicts in force on these days: how many, by model, outcome and first reason, with the first turn
    of each and what was found there."""
    rows = connection.execute(
        """SELECT model, outcome, reasons[1].code AS reason, count(*) AS drafts,
                  arg_min(turn_id, place) AS turn_id, arg_min(reasons[1].text, place) AS found
           FROM (SELECT *, (length(turn_id), turn_id) AS place FROM draft WHERE day BETWEEN ? AND ?)
           GROUP BY model, outcome, reason ORDER BY model, outcome, reason""",
        [first, last],
    ).fetchall()
    return [dict(zip(("model", "outcome", "reason", "drafts", "turn_id", "found"), row, strict=True)) for row in rows]
