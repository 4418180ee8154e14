"""Which turns of a day must be judged again, and what they are judged from.

An edit costs in proportion to what it can touch: a card its character's turns, a lexicon row the replies that hold its
term, a turn itself and whoever asks for recall in its session; settings and code touch all.
"""

import datetime as dt
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from wh_judge.edits import CardAsOf
from wh_judge.model import CARD_SCHEMA, LEXICON_SCHEMA, MENTION_SCHEMA, TURN_SCHEMA, LexiconTerm, lexicon_from
from wh_judge.rules import RuleSettings, rules_version
from wh_judge.rules.forbidden import find_hits
from wh_judge.store.inputs_version import card_of_turn_sql, inputs_version, judged_as_of, parts_of, recarded_sql
from wh_judge.store.log import turns_sql
from wh_judge.store.schema import arrow, in_turn_order, names, number, one
from wh_judge.store.versions import lexicon_by_version, lexicon_version, settings_version


@dataclass(frozen=True)
class DayPlan:
    """What has to be done for a day. The turns to judge again are in the temporary table `touched`."""

    day: dt.date
    settings: RuleSettings
    version: str
    """Hash of everything that the day is judged from, by part."""
    lexicon_version: str
    turns: int
    touched: int
    gone: int
    """Turns with a verdict on this day that are not on it any more; they are in the temporary table `gone`."""
    card_as_of: CardAsOf
    was_card_as_of: CardAsOf
    """That by which the day was judged last; the same where it never was."""

    @property
    def is_whole(self) -> bool:
        """Whether all turns of the day have to be judged."""
        return self.touched == self.turns


def plan_day(
    connection: duckdb.DuckDBPyConnection, day: dt.date, settings: RuleSettings, card_as_of: CardAsOf = "now"
) -> DayPlan:
    """Find the turns of the day that must be judged again, into the temporary tables `touched` and `gone`.

    `day_turn` has them with the versions of what they are judged by; turns that need not be looked at may be missing.
    """
    lexicon = lexicon_version(connection)
    version = inputs_version(connection, day, settings, card_as_of, lexicon)
    row = one(connection, "SELECT inputs, lexicon_version FROM judged_day WHERE day = ?", [day])
    before = parts_of(row[0] if row else None)
    differing = {part for part, value in parts_of(version).items() if value != before.get(part)}
    if differing == {"cards"} and card_as_of == "now":
        _touch_by_cards(connection, day)
    else:
        _touch_by_all(connection, day, settings, card_as_of)
        if row is not None and "lexicon" in differing:
            _touch_by_lexicon(connection, day, row[1])
        _touch_by_mentions(connection, day, all_sessions="earlier" in differing)
    return DayPlan(
        day=day,
        settings=settings,
        version=version,
        lexicon_version=lexicon,
        turns=number(connection, "SELECT count(*) FROM turn_row WHERE is_current AND day = ?", [day]),
        touched=number(connection, "SELECT count(*) FROM touched"),
        gone=number(connection, "SELECT count(*) FROM gone"),
        card_as_of=card_as_of,
        was_card_as_of=judged_as_of(connection, day) or card_as_of,
    )


def _touch_by_cards(connection: duckdb.DuckDBPyConnection, day: dt.date) -> None:
    """Only cards differ, those of now judge: touched are all turns of characters that were judged by another card.

    The day's turns are those that it was judged with, so that none is gone and none has to be looked at for itself.
    """
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE day_turn AS
            SELECT turn_id, session_id, character_id, user_asked_recall, card.version AS card_version,
                   row_hash AS turn_version
            FROM (SELECT * FROM turn_row WHERE is_current AND day = DATE '{day}'
                  AND character_id IN ({recarded_sql(day)}))
            LEFT JOIN (SELECT character_id, version FROM character_card) AS card USING (character_id)"""
    )
    connection.execute("CREATE OR REPLACE TEMP TABLE gone (turn_id VARCHAR, session_id VARCHAR)")
    connection.execute("CREATE OR REPLACE TEMP TABLE touched AS SELECT turn_id FROM day_turn")


def _touch_by_all(
    connection: duckdb.DuckDBPyConnection, day: dt.date, settings: RuleSettings, card_as_of: CardAsOf
) -> None:
    """Whatever differs: touched are the turns that were not judged by just the versions that they are judged by now."""
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE day_turn AS
            SELECT turn.turn_id, turn.session_id, turn.character_id, turn.user_asked_recall,
                   card.version AS card_version, turn.row_hash AS turn_version
            FROM turn_row AS turn LEFT JOIN ({card_of_turn_sql(day, card_as_of)}) AS card USING (turn_id)
            WHERE turn.is_current AND turn.day = DATE '{day}'"""
    )
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE gone AS
            SELECT turn_id, session_id FROM (
                SELECT turn_id, session_id FROM verdict_row WHERE day = DATE '{day}'
                UNION ALL SELECT turn_id, session_id FROM unjudged WHERE day = DATE '{day}')
            ANTI JOIN day_turn USING (turn_id)"""
    )
    # A turn whose verdict lies on another day moved here, and has none on this one.
    connection.execute(
        """CREATE OR REPLACE TEMP TABLE touched AS
           SELECT day_turn.turn_id FROM day_turn
           LEFT JOIN (SELECT * FROM verdict_row WHERE day = $1) AS old USING (turn_id)
           LEFT JOIN (SELECT * FROM unjudged WHERE day = $1) AS unjudged ON unjudged.turn_id = day_turn.turn_id
           WHERE CASE WHEN old.turn_id IS NOT NULL THEN
                   (old.turn_version, old.card_version, old.settings_version, old.code_version)
                   IS DISTINCT FROM (day_turn.turn_version, day_turn.card_version, $2, $3)
                 ELSE unjudged.turn_version IS DISTINCT FROM day_turn.turn_version
                   OR day_turn.card_version IS NOT NULL END""",
        [day, settings_version(settings), rules_version()],
    )


def _touch_by_mentions(connection: duckdb.DuckDBPyConnection, day: dt.date, *, all_sessions: bool) -> None:
    """Add the turns that ask for recall in a session in which something is said otherwise or, where that may be on
    another day, in any."""
    in_sessions = "true" if all_sessions else "session_id IN (SELECT session_id FROM moved)"
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE moved AS
            SELECT session_id FROM gone UNION SELECT session_id FROM day_turn SEMI JOIN touched USING (turn_id);
            INSERT INTO touched SELECT turn_id FROM day_turn ANTI JOIN touched USING (turn_id)
            WHERE user_asked_recall AND ({in_sessions} OR turn_id IN ({_misled_sql(day)}))"""
    )


def _misled_sql(day: dt.date) -> str:
    """Turns of the day whose verdict rests on a mention that is none any more: what named the entity may have left the
    session or the day, and its own verdict may have followed it already, so that it is not in `gone`."""
    return f"""
        SELECT old.turn_id
        FROM (SELECT turn_id, session_id, unnest(mentions) AS mention FROM verdict_row
              WHERE day = DATE '{day}') AS old
        LEFT JOIN chat_turn AS source ON source.turn_id = old.mention.turn_id AND source.session_id = old.session_id
        WHERE list_contains(source.named_entities, old.mention.entity) IS NOT TRUE"""


def _touch_by_lexicon(connection: duckdb.DuckDBPyConnection, day: dt.date, before: str) -> None:
    """Add the turns whose reply holds a term of a lexicon row that was added, removed or moved."""
    now = lexicon_from(connection.sql("SELECT term, topic FROM topic_lexicon ORDER BY position").to_arrow_table())
    terms = changed_terms(lexicon_by_version(connection, before), now)
    schema = pa.schema([TURN_SCHEMA.field(name) for name in ("turn_id", "reply_text")])
    turns = arrow(connection, f"SELECT turn_id, reply_text FROM ({turns_sql(day)})", schema)
    reply, _ = find_hits(turns["reply_text"], terms)
    connection.register("hit_turns", turns.take(pa.array(reply)).select(["turn_id"]))
    connection.execute("INSERT INTO touched SELECT DISTINCT turn_id FROM hit_turns ANTI JOIN touched USING (turn_id)")
    connection.unregister("hit_turns")
    connection.execute(
        f"INSERT INTO touched SELECT DISTINCT turn_id FROM ({_shifted_sql(day)}) ANTI JOIN touched USING (turn_id)"
    )


def _shifted_sql(day: dt.date) -> str:
    """Turns of the day whose evidence cites a lexicon row by a place at which it does not stand any more."""
    return f"""
        SELECT turn_id
        FROM (SELECT turn_id, touched_term, touched_topic, unnest(evidence) AS cited FROM verdict_row
              WHERE day = DATE '{day}') SEMI JOIN day_turn USING (turn_id)
        ANTI JOIN topic_lexicon ON position::VARCHAR = cited.key AND term = touched_term AND topic = touched_topic
        WHERE cited.source = 'topic_lexicon'"""


def changed_terms(before: list[LexiconTerm], now: list[LexiconTerm]) -> list[str]:
    """Terms of the rows that one lexicon has and the other has not, or that changed places with another row."""
    old, new = [(r.term, r.topic) for r in before], [(r.term, r.topic) for r in now]
    common = set(old) & set(new)
    changed = set(old) ^ set(new)
    kept_old, kept_new = [r for r in old if r in common], [r for r in new if r in common]
    changed |= {row for row, other in zip(kept_old, kept_new, strict=True) if row != other}
    return sorted({term for term, _ in changed})


@dataclass(frozen=True)
class DayInputs:
    """What the touched turns of a day are judged from."""

    turns: pa.Table
    cards: pa.Table
    lexicon: pa.Table
    earlier: pa.Table
    """First mentions in these sessions in turns that are not among `turns`, in MENTION_SCHEMA."""


def read_inputs(connection: duckdb.DuckDBPyConnection, plan: DayPlan) -> list[DayInputs]:
    """The inputs of the turns in `touched`: several only where a character's turns go by several card versions."""
    lexicon = arrow(connection, "SELECT term, topic FROM topic_lexicon ORDER BY position", LEXICON_SCHEMA)
    connection.execute(
        """CREATE OR REPLACE TEMP TABLE epoch AS
           SELECT turn_id, card_version, dense_rank() OVER (PARTITION BY character_id ORDER BY card_version) AS epoch
           FROM day_turn SEMI JOIN touched USING (turn_id)"""
    )
    epochs = max(1, number(connection, "SELECT max(epoch) FROM epoch"))
    whole = epochs == 1 and plan.is_whole
    return [
        DayInputs(
            # A join would mix the rows of a day that lie in order.
            turns=in_turn_order(connection, turns_sql(plan.day) + ("" if whole else _of_epoch(epoch)), TURN_SCHEMA),
            cards=arrow(
                connection,
                f"""SELECT {names(CARD_SCHEMA)} FROM card_history
                    WHERE version IN (SELECT card_version FROM epoch WHERE epoch = {epoch})
                    QUALIFY row_number() OVER (PARTITION BY version) = 1 ORDER BY character_id""",
                CARD_SCHEMA,
            ),
            lexicon=lexicon,
            earlier=arrow(
                connection,
                f"""SELECT {names(MENTION_SCHEMA)} FROM (
                        SELECT session_id, entity, source.turn_id AS turn_id, source.reply_text AS reply_text FROM (
                            SELECT session_id, entity, arg_min({{'turn_id': turn_id, 'reply_text': reply_text}},
                                                               (length(turn_id), turn_id)) AS source
                            FROM (SELECT session_id, turn_id, reply_text, unnest(named_entities) AS entity
                                  FROM chat_turn ANTI JOIN (SELECT turn_id FROM epoch WHERE epoch = {epoch})
                                      USING (turn_id)
                                  WHERE session_id IN (
                                      SELECT session_id FROM day_turn SEMI JOIN touched USING (turn_id)
                                      WHERE user_asked_recall))
                            GROUP BY ALL))
                    ORDER BY session_id, entity""",
                MENTION_SCHEMA,
            ),
        )
        for epoch in range(1, epochs + 1)
    ]


def _of_epoch(epoch: int) -> str:
    return f" AND turn_id IN (SELECT turn_id FROM epoch WHERE epoch = {epoch})"
