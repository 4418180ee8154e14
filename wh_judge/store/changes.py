"""What changed, and why: the versions of a verdict side by side, with the cause that `wh_judge.causes` establishes."""

import datetime as dt
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from wh_judge.causes import DECIDED, Cause, explain
from wh_judge.edits import CardAsOf, Inputs
from wh_judge.model import TURN_SCHEMA, CharacterCard, ChatTurn, LexiconTerm, turns_from
from wh_judge.rules import Lexicon, rules_version
from wh_judge.rules.rule import Mention
from wh_judge.store.decisions import behind_cells, read_decisions
from wh_judge.store.inputs_version import card_at_sql, card_of_turn_sql
from wh_judge.store.plan import DayPlan
from wh_judge.store.schema import arrow, names
from wh_judge.store.versions import (
    cards_by_version,
    endings_by_version,
    lexicon_by_version,
    settings_version,
)
from wh_judge.text import sql_text


@dataclass(frozen=True)
class Change:
    """A turn whose decided fields are not what they were. None stands for a turn without a verdict."""

    turn_id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    cause: Cause
    decisions: tuple[str, ...] = ()
    """The decisions of people that made the cells of the cause."""

    @property
    def verdicts(self) -> tuple[str | None, str | None]:
        """The verdict before and after."""
        return (
            self.before["verdict"] if self.before else None,
            self.after["verdict"] if self.after else None,
        )


_FIELDS = "{" + ", ".join(f"'{name}': {{side}}.\"{name}\"" for name in DECIDED) + "}"
_CHANGED = f"""
SELECT coalesce(old.turn_id, new.turn_id) AS turn_id, {_FIELDS.replace("{side}", "old")} AS before,
       {_FIELDS.replace("{side}", "new")} AS after,
       old.turn_id IS NOT NULL AS was_judged, new.turn_id IS NOT NULL AS is_judged,
       coalesce(old.turn_version, old_unjudged.turn_version) AS turn_version, old.card_version, old.settings_version,
       old.code_version, old.lexicon_version, old.written_at AS old_written_at,
       old.card_as_of AS old_card_as_of,
       old.lexicon_rows AS old_rows, old.mentions AS old_mentions, new.lexicon_rows AS new_rows,
       new.card_version AS new_card_version
FROM (SELECT * FROM old_verdict UNION ALL BY NAME SELECT * FROM left_verdict) AS old
FULL JOIN (SELECT * FROM verdict_row WHERE day = $day AND written_at = $moment) AS new USING (turn_id)
LEFT JOIN old_unjudged ON old_unjudged.turn_id = new.turn_id
WHERE CASE WHEN old.turn_id IS NULL THEN old_unjudged.turn_id IS NOT NULL ELSE before IS DISTINCT FROM after END
    AND (new.turn_id IS NOT NULL OR old.turn_id IN (SELECT turn_id FROM day_turn)
         OR old.turn_id NOT IN (SELECT turn_id FROM chat_turn SEMI JOIN old_verdict USING (turn_id)))
ORDER BY length(coalesce(old.turn_id, new.turn_id)), coalesce(old.turn_id, new.turn_id)
"""
"""A turn that comes out as it was is in `verdict_row` and not in `old_verdict`; it was no unjudged turn either. A turn
that moved to another day is compared there, whichever of the two days is judged first."""


def keep_changes(
    connection: duckdb.DuckDBPyConnection, plan: DayPlan, run_id: str, moment: dt.datetime
) -> list[Change]:
    """Establish and keep the causes of what changes in this transaction: `old_verdict` is now `verdict_row`."""
    records = connection.sql(_CHANGED, params={"day": plan.day, "moment": moment}).to_arrow_table().to_pylist()
    changes = list(_explained(connection, plan, records)) if records else []
    if changes:
        connection.executemany(
            "INSERT INTO verdict_change VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                [
                    plan.day,
                    change.turn_id,
                    run_id,
                    moment,
                    *change.verdicts,
                    json.dumps(change.before, ensure_ascii=False),
                    json.dumps(change.after, ensure_ascii=False),
                    list(change.cause.inputs),
                    list(change.cause.cells),
                    list(change.decisions),
                ]
                for change in changes
            ],
        )
    return changes


def _explained(
    connection: duckdb.DuckDBPyConnection, plan: DayPlan, records: Sequence[dict[str, Any]]
) -> "list[Change]":
    known = _Known(connection, plan, records)
    changes = []
    for record in records:
        before = {name: record["before"][name] for name in DECIDED} if record["was_judged"] else None
        after = {name: record["after"][name] for name in DECIDED} if record["is_judged"] else None
        old = tuple(before.values()) if before else None
        was_code, is_code = record["code_version"], rules_version()
        code = (was_code, is_code) if was_code and was_code != is_code else None
        cause = explain(
            known.before(record),
            known.after(record),
            old,
            known.lexicons(record),
            code,
            card_by_time="turn" in (plan.card_as_of, known.was_card_as_of(record)),
        )
        decisions = behind_cells(connection, cause.cells, record["old_written_at"])
        changes.append(Change(record["turn_id"], before, after, cause, decisions))
    return changes


class _Known:
    """The versions of the inputs that the changed turns were and are judged by."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, plan: DayPlan, records: Sequence[dict[str, Any]]) -> None:
        self.turns, self.old_turns = _turns(connection, [record["turn_id"] for record in records])
        versions = {record[name] for record in records for name in ("card_version", "new_card_version")}
        self._as_of = plan.card_as_of
        others = any(self.was_card_as_of(record) != plan.card_as_of for record in records)
        self._then, self._now = _otherwise(connection, plan) if others else ({}, {})
        versions |= {*self._then.values(), *self._now.values()}
        self.cards = cards_by_version(connection, versions - {None})
        self.endings = endings_by_version(connection)
        self.settings = settings_version(plan.settings)
        used = {record["lexicon_version"] for record in records} - {None} | {plan.lexicon_version}
        self._lexicons = {version: Lexicon(lexicon_by_version(connection, version)) for version in used}
        self._lexicon = self._lexicons[plan.lexicon_version]
        self.mentions = _mentions(
            connection, {turn.session_id for turn in [*self.turns.values(), *self.old_turns.values()]}
        )

    def was_card_as_of(self, record: dict[str, Any]) -> CardAsOf:
        """The setting by which the turn's card was chosen; where there was no verdict, none was."""
        if not record["was_judged"]:
            return self._as_of
        return "turn" if record["old_card_as_of"] == "turn" else "now"

    def lexicons(self, record: dict[str, Any]) -> tuple[Lexicon, Lexicon]:
        """The lexicon that the turn's day was judged with, and that of now."""
        return self._lexicons.get(record["lexicon_version"], self._lexicon), self._lexicon

    def before(self, record: dict[str, Any]) -> Inputs:
        """What the turn was judged by. A turn that had no verdict had no card; nothing else could have mattered."""
        turn = self.old_turns.get((record["turn_id"], record["turn_version"])) or self.turns.get(record["turn_id"])
        card = self.cards.get(record["card_version"]) if record["was_judged"] else None
        return Inputs(
            turn=turn,
            card=card,
            lexicon=_rows(record["old_rows"]) if record["was_judged"] else self._hits(turn),
            endings=self.endings[record["settings_version"] or self.settings],
            mentions=self._mentions_before(record, turn, card) if record["was_judged"] else self._mentions_now(turn),
            card_as_of=self.was_card_as_of(record),
            otherwise=self.cards.get(self._then.get(record["turn_id"], "")),
        )

    def after(self, record: dict[str, Any]) -> Inputs:
        """What the turn is judged by now."""
        turn = self.turns.get(record["turn_id"])
        return Inputs(
            turn=turn,
            card=self.cards.get(record["new_card_version"]),
            lexicon=_rows(record["new_rows"]) if record["is_judged"] else self._hits(turn),
            endings=self.endings[self.settings],
            mentions=self._mentions_now(turn or self.old_turns.get((record["turn_id"], record["turn_version"]))),
            card_as_of=self._as_of,
            otherwise=self.cards.get(self._now.get(record["turn_id"], "")),
        )

    def _hits(self, turn: ChatTurn | None) -> tuple[LexiconTerm, ...]:
        """The rows of the lexicon as it is now whose term stands in the reply."""
        return tuple(
            self._lexicon.rows[place] for place in self._lexicon.hits((turn.reply_text if turn else None) or "")
        )

    def _mentions_now(self, turn: ChatTurn | None) -> dict[str, Mention]:
        return self.mentions.get(turn.session_id, {}) if turn else {}

    def _mentions_before(
        self, record: dict[str, Any], turn: ChatTurn | None, card: CharacterCard | None
    ) -> dict[str, Mention]:
        """As now, but for the entities that were asked for: of those it is known which turn named them."""
        message = (turn.user_message if turn else None) or ""
        asked = {role.entity for role in card.entity_roles if role.role in message} if card else set()
        # The kernel looks for no mentions where recall was not asked, so nothing is known of them there.
        if turn is None or not turn.user_asked_recall:
            asked = set()
        listed = {row["entity"]: Mention(row["turn_id"], None) for row in record["old_mentions"] or ()}
        later = {
            entity: mention
            for entity, mention in self._mentions_now(turn).items()
            if entity not in asked or (entity not in listed and turn is not None and not _is_earlier(mention, turn))
        }
        return later | listed


def _otherwise(connection: duckdb.DuckDBPyConnection, plan: DayPlan) -> tuple[dict[str, str], dict[str, str]]:
    """By turn the versions of the cards that the setting of now would have chosen when the old verdict was written, and
    that the other value of the setting would choose now."""
    moment = "written_at" if plan.card_as_of == "now" else "least(turn_at, written_at)"
    turns = f"""(SELECT turn_id, chat_turn.character_id, {moment} AS moment
                 FROM chat_turn JOIN (SELECT turn_id, written_at FROM old_verdict
                                      UNION ALL SELECT turn_id, written_at FROM left_verdict) USING (turn_id))"""
    queries = card_at_sql(turns), card_of_turn_sql(plan.day, "turn" if plan.card_as_of == "now" else "now")
    then, now = (dict(connection.execute(f"SELECT turn_id, version FROM ({sql})").fetchall()) for sql in queries)
    return then, now


def _is_earlier(mention: Mention, turn: ChatTurn) -> bool:
    return (len(mention.turn_id), mention.turn_id) < (len(turn.turn_id), turn.turn_id)


def _rows(rows: list[dict[str, str]] | None) -> tuple[LexiconTerm, ...]:
    return tuple(LexiconTerm.model_construct(term=row["term"], topic=row["topic"]) for row in rows or ())


def _turns(
    connection: duckdb.DuckDBPyConnection, turn_ids: list[str]
) -> tuple[dict[str, ChatTurn], dict[tuple[str, str], ChatTurn]]:
    """The turns as they are, by turn_id, and as they were, by turn_id and version."""
    connection.execute("CREATE OR REPLACE TEMP TABLE wanted AS SELECT unnest(?::VARCHAR[]) AS turn_id", [turn_ids])
    current = arrow(
        connection, f"SELECT {names(TURN_SCHEMA)} FROM chat_turn SEMI JOIN wanted USING (turn_id)", TURN_SCHEMA
    )
    past = connection.sql(
        f"""SELECT row_hash AS version, {names(TURN_SCHEMA)}
            FROM (SELECT {names(TURN_SCHEMA)}, row_hash FROM turn_history
                  UNION ALL SELECT {names(TURN_SCHEMA)}, row_hash FROM turn_row)
            SEMI JOIN wanted USING (turn_id)"""
    ).to_arrow_table()
    old = zip(past["version"].to_pylist(), turns_from(past.drop_columns("version").cast(TURN_SCHEMA)), strict=True)
    return (
        {turn.turn_id: turn for turn in turns_from(current)},
        {(turn.turn_id, version): turn for version, turn in old},
    )


def _mentions(connection: duckdb.DuckDBPyConnection, sessions: set[str]) -> dict[str, dict[str, Mention]]:
    """The first mention of each entity, by session."""
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE wanted AS SELECT unnest(?::VARCHAR[]) AS session_id", [list(sessions)]
    )
    rows = connection.execute(
        """SELECT session_id, entity, arg_min(turn_id, (length(turn_id), turn_id))
           FROM (SELECT session_id, turn_id, unnest(named_entities) AS entity
                 FROM chat_turn SEMI JOIN wanted USING (session_id)) GROUP BY ALL"""
    ).fetchall()
    found: dict[str, dict[str, Mention]] = {}
    for session_id, entity, turn_id in rows:
        found.setdefault(session_id, {})[entity] = Mention(turn_id, None)
    return found


def count_changes(connection: duckdb.DuckDBPyConnection, runs: Sequence[str]) -> dict[str, int]:
    """How many turns these runs left other than they were, and how many of them with another verdict."""
    return dict(
        connection.execute(
            """SELECT unnest(['turns', 'verdicts']),
                      unnest([count(*), count(*) FILTER (verdict_before IS DISTINCT FROM verdict_after)])
               FROM verdict_change WHERE run_id IN (SELECT unnest($runs::VARCHAR[]))""",
            {"runs": list(runs)},
        ).fetchall()
    )


def read_changes(
    connection: duckdb.DuckDBPyConnection,
    first: dt.date | None = None,
    last: dt.date | None = None,
    turn_id: str | None = None,
) -> list[dict[str, Any]]:
    """The changes of verdicts on turns of the days from `first` to `last`, or of one turn, newest last."""
    since = f"day >= DATE '{first}'" if first else "true"
    until = f"day <= DATE '{last}'" if last else "true"
    of_turn = "true" if turn_id is None else f"turn_id = {sql_text(turn_id)}"
    rows = connection.sql(
        f"""SELECT day::VARCHAR AS day, turn_id, run_id, changed_at::VARCHAR AS changed_at, verdict_before,
                   verdict_after, fields_before, fields_after, inputs, cells, decisions
            FROM verdict_change WHERE {since} AND {until} AND {of_turn}
            ORDER BY verdict_change.changed_at, verdict_change.day, length(turn_id), turn_id"""
    ).to_arrow_table()
    known = read_decisions(connection, {name for names in rows["decisions"].to_pylist() for name in names})
    return [
        row
        | {"decisions": [known.get(name, {"decision_id": name}) for name in row["decisions"]]}
        | {side: json.loads(row[side]) if row[side] else None for side in ("fields_before", "fields_after")}
        for row in rows.to_pylist()
    ]
