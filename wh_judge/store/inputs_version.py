"""What a day's verdicts follow from: one hash of all of it, by part, and which card judges which turn."""

import datetime as dt

import duckdb

from wh_judge.edits import CardAsOf
from wh_judge.rules import RuleSettings, rules_version
from wh_judge.store.schema import one
from wh_judge.store.versions import rows_version, settings_version, table_version

PARTS = ("turns", "cards", "earlier", "lexicon", "settings", "rules")
"""What a day's verdicts follow from, in the order in which `inputs_version` writes it."""


def inputs_version(
    connection: duckdb.DuckDBPyConnection, day: dt.date, settings: RuleSettings, card_as_of: CardAsOf, lexicon: str
) -> str:
    """Hash of everything that the day is judged from, by part, so that two versions tell which part differs.

    `lexicon` is the lexicon's version, the same for all days.
    """
    turns, earlier = log_versions(connection, day)
    versions = {
        "turns": turns,
        "cards": _cards_version(connection, day, card_as_of),
        "earlier": earlier,
        "lexicon": lexicon,
        "settings": settings_version(settings),
        "rules": rules_version(),
    }
    return " ".join(f"{name}={versions[name]}" for name in PARTS)


def log_versions(connection: duckdb.DuckDBPyConnection, day: dt.date) -> tuple[str, str]:
    """Hashes of the day's turns as they stand, and of what is said on other days in its sessions.

    They are asked for all days, and kept until a file changes what they follow from.
    """
    known = one(connection, "SELECT turns, earlier FROM log_version WHERE day = ?", [day])
    if known is None:
        turns = f"SELECT turn_id, row_hash FROM turn_row WHERE is_current AND day = DATE '{day}'"
        known = (rows_version(connection, turns), rows_version(connection, _earlier_sql(day)))
        connection.execute("INSERT INTO log_version VALUES (?, ?, ?)", [day, *known])
    return known[0], known[1]


def forget_log_versions(connection: duckdb.DuckDBPyConnection, changed: str) -> None:
    """Forget the versions that follow from turns of a relation (day, session_id): those that changed, as they were and
    as they are."""
    if one(connection, "SELECT 1 FROM log_version LIMIT 1") is None:
        return
    connection.execute(
        f"""DELETE FROM log_version WHERE day IN (
                SELECT day FROM ({changed}) UNION ALL SELECT day FROM chat_turn
                WHERE user_asked_recall AND session_id IN (SELECT session_id FROM ({changed})))"""
    )


def _cards_version(connection: duckdb.DuckDBPyConnection, day: dt.date, card_as_of: CardAsOf) -> str:
    if card_as_of == "now":
        speak = f"SELECT character_id FROM chat_turn WHERE day = DATE '{day}'"
        cards = f"SELECT character_id, version FROM character_card WHERE character_id IN ({speak})"
    else:
        cards = f"SELECT DISTINCT character_id, version FROM ({card_of_turn_sql(day, card_as_of)})"
    return table_version(connection, cards, "character_id, version")


def judged_as_of(connection: duckdb.DuckDBPyConnection, day: dt.date) -> CardAsOf | None:
    """The `card_as_of` by which a day was judged last; None where it never was.

    Warehouses of the first schema version did not write it down: there it is the one that chooses the cards which the
    day's inputs tell of, and `now` where both or neither do.
    """
    row = one(connection, "SELECT card_as_of, inputs FROM judged_day WHERE day = ?", [day])
    if row is None:
        return None
    if row[0] is not None:
        return "turn" if row[0] == "turn" else "now"
    cards = parts_of(row[1]).get("cards")
    by_now, by_turn = (_cards_version(connection, day, card_as_of) == cards for card_as_of in ("now", "turn"))
    return "turn" if by_turn and not by_now else "now"


def parts_of(version: str | None) -> dict[str, str]:
    """The parts of an `inputs_version`."""
    return dict(part.split("=", 1) for part in version.split(" ")) if version else {}


def card_of_turn_sql(day: dt.date, card_as_of: CardAsOf) -> str:
    """turn_id, character_id and the version of the card that judges the turn; turns without a card are left out."""
    of_day = f"(SELECT turn_id, character_id, turn_at AS moment FROM chat_turn WHERE day = DATE '{day}')"
    if card_as_of == "now":
        return f"SELECT turn_id, character_id, version FROM {of_day} JOIN character_card USING (character_id)"
    return f"SELECT * FROM ({card_at_sql(of_day)}) SEMI JOIN character_card USING (character_id)"


def recarded_sql(day: dt.date) -> str:
    """The characters (character_id) with a turn of the day that another card judged than their card of now."""
    return f"""
        SELECT character_id FROM (
            SELECT DISTINCT character_id, card_version FROM verdict_row WHERE day = DATE '{day}'
            UNION ALL SELECT DISTINCT character_id, NULL FROM unjudged WHERE day = DATE '{day}') AS judged
        LEFT JOIN character_card USING (character_id) WHERE card_version IS DISTINCT FROM version"""


def card_at_sql(turns: str) -> str:
    """turn_id, character_id and the version of the character's card at a `moment`, for a relation of these three."""
    # A turn older than the first version that was ever seen is judged by that one: nothing else is known.
    return f"""
        SELECT turn.turn_id, turn.character_id, coalesce(past.version, first.version) AS version
        FROM {turns} AS turn
        ASOF LEFT JOIN card_history AS past
            ON past.character_id = turn.character_id AND past.valid_from <= turn.moment
        JOIN (SELECT character_id, arg_min(version, valid_from) AS version FROM card_history GROUP BY ALL) AS first
            ON first.character_id = turn.character_id"""


def _earlier_sql(day: dt.date) -> str:
    """First mentions on other days in the sessions in which this day asks for recall.

    A turn may stand before another in its session and yet lie on a later day, so all other days are looked at.
    """
    return f"""
        SELECT session_id, entity, source.turn_id AS turn_id, source.reply_text AS reply_text FROM (
            SELECT session_id, entity,
                   arg_min({{'turn_id': turn_id, 'reply_text': reply_text}}, (length(turn_id), turn_id)) AS source
            FROM (SELECT session_id, turn_id, reply_text, unnest(named_entities) AS entity FROM chat_turn
                  WHERE day <> DATE '{day}' AND session_id IN (
                      SELECT session_id FROM chat_turn WHERE day = DATE '{day}' AND user_asked_recall))
            GROUP BY ALL)"""
