"""Rows to judge, as tables, and judged by the kernel and by the references.

`turn` and `card` make rows of a log; `wh_judge.rules.rule.example` makes one turn with all that it is judged by.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from wh_judge.judge import judge
from wh_judge.model import (
    CARD_SCHEMA,
    LEXICON_SCHEMA,
    MENTION_SCHEMA,
    TURN_SCHEMA,
    UNJUDGED_SCHEMA,
    CharacterCard,
    ChatTurn,
    Evidence,
    LexiconTerm,
    Verdict,
)
from wh_judge.rules import Case, Lexicon, RuleSettings, first_mentions, judge_turn
from wh_judge.rules.rule import DEFAULT_SETTINGS, Example
from wh_judge_tests.validations.states import DATA, STATE, card, turn, worked, worked_claims

__all__ = [
    "DATA",
    "STATE",
    "Judged",
    "Record",
    "Rows",
    "as_it_is",
    "by_kernel",
    "by_references",
    "card",
    "in_sql",
    "judged",
    "lexicon",
    "mention_table",
    "together",
    "turn",
    "worked",
    "worked_claims",
]

Record = dict[str, Any]


class Rows(NamedTuple):
    """A log and what it is judged by."""

    turns: Sequence[ChatTurn]
    cards: Sequence[CharacterCard]
    lexicon: Sequence[LexiconTerm] = ()
    settings: RuleSettings = DEFAULT_SETTINGS


class Judged(NamedTuple):
    """Records in VERDICT_SCHEMA and in UNJUDGED_SCHEMA, in the order of the turns."""

    verdicts: list[Record]
    unjudged: list[Record]


def lexicon(*rows: tuple[str, str]) -> tuple[LexiconTerm, ...]:
    """A lexicon of (term, topic)."""
    return tuple(LexiconTerm(term=term, topic=topic) for term, topic in rows)


def together(cases: Iterable[Example], settings: RuleSettings = DEFAULT_SETTINGS) -> Rows:
    """Cases as one log: each keeps its turns, in a session and with a card of its own. They share one lexicon."""
    turns: list[ChatTurn] = []
    cards: list[CharacterCard] = []
    lexicons: set[tuple[LexiconTerm, ...]] = set()
    for number, case in enumerate(cases):
        for row in (*case.earlier, case.turn):
            own = {"session_id": f"{number} {row.session_id}", "character_id": f"C-{number}"}
            turns.append(row.model_copy(update=own))
        cards.append(case.card.model_copy(update={"character_id": f"C-{number}"}))
        lexicons.add(case.lexicon)
    [shared] = lexicons
    return Rows(turns, cards, shared, settings)


def judged(case: Example, settings: RuleSettings = DEFAULT_SETTINGS) -> Record:
    """The references' verdict on the case's turn."""
    return by_references(Rows([*case.earlier, case.turn], [case.card], case.lexicon, settings)).verdicts[-1]


def by_references(rows: Rows) -> Judged:
    """What the kernel must say."""
    cards = {row.character_id: row for row in rows.cards}
    terms, mentions = Lexicon(rows.lexicon), first_mentions(rows.turns)
    out = Judged([], [])
    for row in rows.turns:
        if row.character_id not in cards:
            keys = {name: getattr(row, name) for name in UNJUDGED_SCHEMA.names[:4]}
            out.unjudged.append(keys | {"reason": f"no card for character {row.character_id}"})
            continue
        verdict, notes = judge_turn(Case(row, cards[row.character_id], terms, mentions, rows.settings))
        cells = {name: getattr(verdict, name) for name in Verdict.model_fields}
        out.verdicts.append(cells | {"evidence": [_evidence(cited) for cited in verdict.evidence], "notes": notes})
    return out


def _evidence(row: Evidence) -> Record:
    value = row.value
    text = None if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return {"source": row.source, "field": row.field, "agg": row.agg, "value": text, "key": row.key}


Layout = Callable[[pa.Table], pa.Table]


def as_it_is(table: pa.Table) -> pa.Table:
    """The table in one chunk."""
    return table


def by_kernel(rows: Rows, earlier: Iterable[ChatTurn] | None = None, layout: Layout = as_it_is) -> Judged:
    """What the kernel says.

    Args:
        rows: what is judged.
        earlier: turns that only count for what they name.
        layout: how the same rows lie in their tables.
    """
    turns, cards, terms = [
        layout(pa.Table.from_pylist([row.model_dump() for row in part], schema))
        for part, schema in ((rows.turns, TURN_SCHEMA), (rows.cards, CARD_SCHEMA), (rows.lexicon, LEXICON_SCHEMA))
    ]
    mentions = None if earlier is None else layout(mention_table(earlier))
    judgement = judge(turns, cards, terms, rows.settings, mentions)
    return Judged(judgement.verdicts.to_pylist(), judgement.unjudged.to_pylist())


def mention_table(turns: Iterable[ChatTurn]) -> pa.Table:
    """The first mentions in these turns, in MENTION_SCHEMA."""
    rows = [
        {"session_id": session, "entity": entity, "turn_id": mention.turn_id, "reply_text": mention.reply_text}
        for (session, entity), mention in first_mentions(turns).items()
    ]
    return pa.Table.from_pylist(rows, MENTION_SCHEMA)


def in_sql(
    connection: duckdb.DuckDBPyConnection, expression: str, texts: Sequence[str | None], name: str = "x"
) -> list[Any]:
    """The value of an SQL expression for each text, which it calls by the name."""
    connection.register("given", pa.table({"i": range(len(texts)), name: pa.array(texts, pa.string())}))
    return [row[0] for row in connection.execute(f"SELECT {expression} FROM given ORDER BY i").fetchall()]
