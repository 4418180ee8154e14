"""What the evidence tree of a turn is made from, read from the warehouse or from a published copy of it."""

import duckdb

from wh_judge.errors import UserError
from wh_judge.model import (
    CARD_SCHEMA,
    TURN_SCHEMA,
    VERDICT_SCHEMA,
    CharacterCard,
    Verdict,
    cards_from,
    lexicon_from,
    turns_from,
    verdict_from_record,
)
from wh_judge.rules import Case, Lexicon
from wh_judge.rules.rule import Mention
from wh_judge.store.schema import arrow, names, one
from wh_judge.store.versions import LEXICON_ROWS, settings_of
from wh_judge.text import sql_text


def read_case(connection: duckdb.DuckDBPyConnection, turn_id: str) -> tuple[Case, Verdict]:
    """A judged turn with what it was judged by, and the verdict in force.

    The card is the version that judged the turn where that is kept, and the settings are those of the verdict. The
    lexicon is the present one, so that a verdict that no longer follows from it is seen not to.

    Raises:
        UserError: there is no such turn, it has no card, or it was never judged.
    """
    key = sql_text(turn_id)
    turns = turns_from(
        arrow(connection, f"SELECT {names(TURN_SCHEMA)} FROM chat_turn WHERE turn_id = {key}", TURN_SCHEMA)
    )
    found = (
        connection.sql(
            f"""SELECT {names(VERDICT_SCHEMA)}, card_version, settings_version, mentions FROM verdict
            WHERE turn_id = {key}"""
        )
        .to_arrow_table()
        .to_pylist()
    )
    if not turns:
        raise UserError(f"{turn_id}: no such turn in the warehouse; check the turn_id, or run wh-judge run first")
    if not found:
        unjudged = one(connection, "SELECT reason FROM unjudged WHERE turn_id = ?", [turn_id])
        why = f"was not judged: {unjudged[0]}" if unjudged else "was not judged yet; run wh-judge run first"
        raise UserError(f"{turn_id}: {why}")
    [record], [turn] = found, turns
    lexicon = lexicon_from(
        connection.sql(f"SELECT term, topic FROM ({LEXICON_ROWS}) ORDER BY position").to_arrow_table()
    )
    case = Case(
        turn=turn,
        card=_card(connection, turn.character_id, record["card_version"]),
        lexicon=Lexicon(lexicon),
        mentions=_mentions(connection, turn.session_id, record["mentions"]),
        settings=settings_of(record["settings_version"]),
    )
    return case, verdict_from_record(record)


def _card(connection: duckdb.DuckDBPyConnection, character_id: str, version: str) -> CharacterCard:
    where = f"WHERE character_id = {sql_text(character_id)}"
    columns = names(CARD_SCHEMA)
    sources = [f"SELECT {columns} FROM character_card {where} AND version = {sql_text(version)}"]
    if one(connection, "SELECT 1 FROM duckdb_tables() WHERE table_name = 'card_history'"):
        sources.append(f"SELECT {columns} FROM card_history {where} AND version = {sql_text(version)} LIMIT 1")
    sources.append(f"SELECT {columns} FROM character_card {where}")
    for sql in sources:
        if cards := cards_from(arrow(connection, sql, CARD_SCHEMA)):
            return cards[0]
    raise UserError(f"{character_id}: has no card any more; run wh-judge run")


def _mentions(
    connection: duckdb.DuckDBPyConnection, session_id: str, mentions: list[dict[str, str]]
) -> dict[tuple[str, str], Mention]:
    """The mentions that the verdict rests on, with the replies that made them."""
    replies = dict(
        connection.execute(
            "SELECT turn_id, reply_text FROM chat_turn WHERE list_contains(?, turn_id)",
            [[mention["turn_id"] for mention in mentions]],
        ).fetchall()
    )
    return {
        (session_id, mention["entity"]): Mention(mention["turn_id"], replies.get(mention["turn_id"]))
        for mention in mentions
    }
