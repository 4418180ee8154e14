"""Drafts in the warehouse: the verdicts that they are for, what they are held against, and what became of each."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from wh_judge.errors import UserError
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
from wh_judge.store.verdicts import judged_versions
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
    """What became of the request for one verdict, or of one try of it."""

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
    """The response as it came; where there is none, what the server sent instead, cut."""
    prompt_tokens: int
    response_tokens: int
    seconds: float
    asked_at: dt.datetime | None
    """None where nothing was asked."""


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


def days_to_draft(connection: duckdb.DuckDBPyConnection, first: dt.date, last: dt.date) -> list[dt.date]:
    """The judged days from `first` to `last`.

    Raises:
        UserError: there is none.
    """
    judged = list(judged_versions(connection))
    days = [day for day in judged if first <= day <= last]
    if not days:
        known = f"judged are {min(judged)} to {max(judged)}" if judged else "no day is"
        raise UserError(f"FROM {first} TO {last}: none of these days was judged; {known}; do wh-judge run first")
    return days


def keep_drafts(connection: duckdb.DuckDBPyConnection, day: dt.date, tries: Sequence[Draft], run_id: str) -> None:
    """Keep what became of each try.

    One that is kept already stays as it is, unless it is weighed otherwise now. That a turn was not asked about stays
    until it is.
    """
    if not tries:
        return
    with transaction(connection):
        connection.execute(
            "CREATE OR REPLACE TEMP TABLE new_draft AS SELECT * EXCLUDE (run_id, written_at) FROM draft_row LIMIT 0"
        )
        connection.executemany(
            "INSERT INTO new_draft VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
                    draft.asked_at,
                ]
                for draft in tries
            ],
        )
        same = """old.turn_id = new.turn_id AND old.row_hash = new.row_hash AND old.model = new.model
                  AND old.request_hash IS NOT DISTINCT FROM new.request_hash"""
        connection.execute(
            f"""DELETE FROM draft_row AS old USING new_draft AS new
                WHERE {same} AND (old.asked_at IS NULL OR old.asked_at = new.asked_at
                    AND (old.outcome <> new.outcome OR old.reasons <> new.reasons))"""
        )
        connection.execute(
            f"""INSERT INTO draft_row BY NAME
                SELECT new.*, ? AS run_id, ?::TIMESTAMPTZ AS written_at FROM new_draft AS new
                WHERE NOT EXISTS (FROM draft_row AS old WHERE {same} AND old.asked_at = new.asked_at)""",
            [run_id, now(connection)],
        )


def count_drafts(connection: duckdb.DuckDBPyConnection, first: dt.date, last: dt.date) -> list[dict[str, Any]]:
    """What models wrote for verdicts in force on these days, by model, outcome and reason.

    Each row has how many `answers` there are, each try counted, and for how many `turns` it is what came last; one
    answer may be refused for several reasons. With them stand one turn and what was found there.
    """
    rows = connection.execute(
        """SELECT model, outcome, reason.code AS reason, count(asked_at) AS answers, count(*) FILTER (stands) AS turns,
                  arg_min(turn_id, place) AS turn_id, arg_min(reason.text, place) AS found
           FROM (SELECT *, (NOT stands, length(turn_id), turn_id) AS place, unnest(
                     CASE WHEN len(reasons) = 0 THEN [NULL] ELSE reasons END) AS reason
                 FROM draft_answer WHERE day BETWEEN ? AND ?)
           GROUP BY ALL ORDER BY model, outcome, reason""",
        [first, last],
    ).fetchall()
    columns = ("model", "outcome", "reason", "answers", "turns", "turn_id", "found")
    return [dict(zip(columns, row, strict=True)) for row in rows]
