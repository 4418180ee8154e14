"""What people look at each week, drawn so that the same week always gives the same draw.

The functions read a warehouse or a published snapshot: both have `verdict`, `chat_turn` and `character_card`. What was
decided since a snapshot was made is taken from the book.
"""

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import duckdb

from wh_judge.errors import UserError
from wh_judge.review.decisions import CHOICES, PERSONAL, SUBJECTS, Decision, Kind, Subject, in_force
from wh_judge.review.names import closest_names
from wh_judge.rules import RuleSettings
from wh_judge.rules.speech import polite_pattern
from wh_judge.text import HANGUL_FIRST, HANGUL_LAST, SENTENCE_ENDS, regex_class

Queue = Literal["forbidden", "names", "speech"]
QUEUES: tuple[Queue, ...] = get_args(Queue)

KINDS: Mapping[str, Kind] = {"forbidden": "hit", "names": "name", "speech": "speech"}
"""By queue, the kind of decision that its tasks ask for."""

DRAWN = 20
"""Turns of a weekly draw."""

TURNS_SHOWN = 5
"""Turns that a name is shown with."""

NAMES_SHOWN = 40
"""Names of a card that a task tells."""

_WEEK = re.compile(r"(\d{4})-W(\d{2})", re.ASCII)


@dataclass(frozen=True)
class Task:
    """One thing to look at. Its id says all that a decision on it needs, so that it survives any tool."""

    task_id: str
    queue: Queue
    kind: str
    """The kind of decision that it asks for."""
    choices: tuple[str, ...]
    turn_id: str | None = None
    character_id: str | None = None
    name: str | None = None
    term: str | None = None
    topic: str | None = None
    data: dict[str, Any] = field(default_factory=dict)
    """What a person needs in order to decide."""
    decided: str | None = None
    """The choice that is in force, by anybody."""


def week_of(day: dt.date) -> str:
    """The ISO week of a day, such as 2026-W36."""
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02}"


def days_of(week: str) -> tuple[dt.date, dt.date]:
    """Monday and Sunday of an ISO week.

    Raises:
        UserError: it is none.
    """
    found = _WEEK.fullmatch(week)
    try:
        if found is None:
            raise ValueError
        monday = dt.date.fromisocalendar(int(found[1]), int(found[2]), 1)
        return monday, monday + dt.timedelta(days=6)
    except (ValueError, OverflowError):
        raise UserError(f"{week}: is no week; write it like 2026-W36") from None


class Week(NamedTuple):
    """An ISO week that has verdicts."""

    name: str
    first: dt.date
    """The first and the last of its days that have verdicts."""
    last: dt.date
    turns: int
    """How many are judged."""


def judged_weeks(connection: duckdb.DuckDBPyConnection) -> list[Week]:
    """The weeks that have verdicts, newest first.

    Raises:
        UserError: there are none.
    """
    days = connection.execute("SELECT day, count(*) FROM verdict GROUP BY day ORDER BY day DESC").fetchall()
    if not days:
        raise UserError("no verdicts yet; run wh-judge run first")
    found: dict[str, Week] = {}
    for day, turns in days:
        later = found.get(week_of(day), Week(week_of(day), day, day, 0))
        found[later.name] = later._replace(first=day, turns=later.turns + turns)
    return list(found.values())


def usual_week(weeks: Sequence[Week]) -> str:
    """The week that is looked at where none is named: the newest that is over, since one that has just begun holds next
    to nothing and each new day draws other turns of it; the newest of all where none is over.

    Args:
        weeks: those that have verdicts, newest first.
    """
    over = (week.name for week in weeks if days_of(week.name)[1] <= weeks[0].last)
    return next(over, weeks[0].name)


def nearest_week(
    connection: duckdb.DuckDBPyConnection,
    queue: Queue,
    week: str,
    weeks: Sequence[Week],
    settings: RuleSettings,
    decisions: Sequence[Decision],
) -> str | None:
    """Of the other weeks the one nearest to a week in which a queue has something, of two as near the newer."""
    monday, _ = days_of(week)
    others = sorted(weeks, key=lambda other: abs(days_of(other.name)[0] - monday))
    # Names add up from week to week: where the newest has none, none has.
    asked = weeks[:1] if queue == "names" else others
    found = (one.name for one in asked if one.name != week and draw(connection, queue, one.name, settings, decisions))
    return next(found, None)


def draw(
    connection: duckdb.DuckDBPyConnection,
    queue: Queue,
    week: str,
    settings: RuleSettings,
    decisions: Sequence[Decision],
) -> list[Task]:
    """The tasks of a queue in a week, those that are decided included.

    `forbidden` and `speech` are `DRAWN` turns of the week, in the order of a hash of week and turn, so that a draw does
    not depend on when it is made. `names` are all off-canon names up to the end of the week on which nobody decided,
    most frequent first.
    """
    first, last = days_of(week)
    if queue == "names":
        return _names(connection, week, last, decisions)
    kind, sql = KINDS[queue], _FORBIDDEN if queue == "forbidden" else _mixed(settings)
    drawn = connection.execute(
        f"SELECT * FROM ({sql}) ORDER BY md5('{week} {queue} ' || turn_id), turn_id LIMIT {DRAWN}", [first, last]
    )
    names = [column[0] for column in drawn.description or ()]
    decided = {row.subject[:-1] if row.kind in PERSONAL else row.subject: row.choice for row in in_force(decisions)}
    return [_turn_task(week, queue, kind, dict(zip(names, row, strict=True)), decided) for row in drawn.fetchall()]


_CARD = """struct_pack(honorific_rule := card.honorific_rule, first_person := card.first_person,
    canon_entities := card.canon_entities, forbidden_topics := card.forbidden_topics,
    entity_roles := card.entity_roles) AS card"""

_FORBIDDEN = f"""
    SELECT turn_id, verdict.character_id, touched_term AS term, touched_topic AS topic, name AS character_name,
           user_message, reply_text, verdict.model_id, verdict.day::VARCHAR AS day, {_CARD}
    FROM verdict JOIN chat_turn USING (turn_id)
    LEFT JOIN character_card AS card ON card.character_id = verdict.character_id
    WHERE verdict = '금지 소재 접촉' AND verdict.day BETWEEN ? AND ?"""


def _mixed(settings: RuleSettings) -> str:
    """Replies with polite sentences and others."""
    found = f"list_filter(pieces, lambda x: {polite_sql('x', settings)})"
    polite = f"len({found})"
    return f"""
        SELECT turn_id, turn.character_id, card.name AS character_name, card.honorific_rule, turn.user_message,
               turn.reply_text, turn.model_id, turn.day::VARCHAR AS day, {polite} AS polite, len(pieces) AS sentences,
               array_to_string(list_transform({found}, lambda x: trim(x)), ' / ') AS polite_sentences, {_CARD}
        FROM (SELECT *, list_filter(string_split_regex(reply_text, '[{regex_class(SENTENCE_ENDS)}]'),
                                    lambda x: {hangul_sql("x")}) AS pieces
              FROM chat_turn WHERE day BETWEEN ? AND ? AND reply_text IS NOT NULL) AS turn
        SEMI JOIN verdict USING (turn_id)
        JOIN character_card AS card ON card.character_id = turn.character_id
        WHERE {polite} BETWEEN 1 AND len(pieces) - 1"""


def _turn_task(week: str, queue: Queue, kind: Kind, row: dict[str, Any], decided: Mapping[Subject, str]) -> Task:
    keys = {name: row.pop(name, None) for name in ("turn_id", "character_id", "term", "topic")}
    return Task(
        task_id=f"{week}/{queue}/{keys['turn_id']}",
        queue=queue,
        kind=kind,
        choices=CHOICES[kind],
        data=row | {"card": card_told(row["card"])},
        decided=decided.get((kind, *(keys[name] for name in SUBJECTS[kind]))),
        **keys,
    )


def card_told(card: Mapping[str, Any]) -> str:
    """A card in words; of a long canon the beginning."""
    canon, open_ = list(card["canon_entities"] or ()), "정해 두지 않음"
    more = f" … 모두 {len(canon)}개" if len(canon) > NAMES_SHOWN else ""
    facts = {
        "말투": card["honorific_rule"] or open_,
        "1인칭": card["first_person"] or open_,
        "세계관의 이름": ", ".join(canon[:NAMES_SHOWN]) + more,
        "금지 소재": ", ".join(card["forbidden_topics"] or ()),
        "관계": ", ".join(f"{row['role']} → {row['entity']}" for row in card["entity_roles"] or ()),
    }
    return " · ".join(f"{name}: {fact or '없음'}" for name, fact in facts.items())


def _names(
    connection: duckdb.DuckDBPyConnection, week: str, last: dt.date, decisions: Sequence[Decision]
) -> list[Task]:
    rows = connection.execute(
        f"""SELECT found.character_id, card.name, found.name, count(*),
                  list({{'turn_id': turn_id, 'user_message': user_message, 'reply_text': reply_text}}
                       ORDER BY length(turn_id), turn_id)[1:?],
                  any_value(card.card)
           FROM (SELECT turn_id, character_id, unnest(off_canon_entities) AS name FROM verdict WHERE day <= ?) AS found
           JOIN chat_turn USING (turn_id)
           JOIN (SELECT character_id, name, {_CARD} FROM character_card AS card) AS card
               ON card.character_id = found.character_id
           GROUP BY ALL ORDER BY count(*) DESC, found.character_id, found.name""",
        [TURNS_SHOWN, last],
    ).fetchall()
    decided = {(row.character_id, row.name) for row in in_force(decisions) if row.kind == "name"}
    return [
        Task(
            task_id=f"{week}/names/{character_id}/{name}",
            queue="names",
            kind="name",
            choices=CHOICES["name"],
            character_id=character_id,
            name=name,
            data={
                "character_name": character_name,
                "count": count,
                "turns": turns,
                "closest": [close._asdict() for close in closest_names(name, card["canon_entities"], character_name)],
                "card": card_told(card),
            },
        )
        for character_id, character_name, name, count, turns, card in rows
        if (character_id, name) not in decided
    ]


def hangul_sql(sentence: str) -> str:
    """Whether a text has a syllable of Hangul, without the kernel's macros: a snapshot is open for reading only."""
    return f"regexp_matches({sentence}, '[{HANGUL_FIRST}-{HANGUL_LAST}]')"


def polite_sql(sentence: str, settings: RuleSettings) -> str:
    """Whether a sentence ends politely: the form of the kernel, for one sentence."""
    return f"regexp_matches({sentence}, '{polite_pattern(settings)}\\z')"


def open_tasks(tasks: Iterable[Task]) -> list[Task]:
    """The tasks on which nobody has decided."""
    return [task for task in tasks if task.decided is None]
