"""The kernel: Arrow tables in, verdicts out. No Dagster, no files, no clock.

It runs the set-based forms of the rules in an in-memory DuckDB, all turns at once. What a rule finds and cites stands
in the rule's own file; here the pieces are joined.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import count
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from wh_judge import text
from wh_judge.in_memory import InMemory
from wh_judge.model import MENTION_SCHEMA, TURN_SCHEMA, UNJUDGED_SCHEMA, USED_SCHEMA, VERDICT_SCHEMA
from wh_judge.portions import portions
from wh_judge.processors import PROCESSORS
from wh_judge.rules import RULES, RuleSettings, rule
from wh_judge.rules.canon import OFF_CANON_SQL
from wh_judge.rules.forbidden import HITS_SQL, Terms
from wh_judge.rules.hedge import HEDGE_SQL, NOTES_SQL
from wh_judge.rules.recall import RECALL_SQL


class Judgement(NamedTuple):
    """What became of the turns: each stands in exactly one of the two tables."""

    verdicts: pa.Table
    """In VERDICT_SCHEMA, in the order of the turns."""
    unjudged: pa.Table
    """In UNJUDGED_SCHEMA: turns that could not be judged, with the reason."""
    used: pa.Table
    """In USED_SCHEMA: for the verdicts that rest on lexicon rows or earlier mentions, which. Empty where not wanted."""


PIECE_ROWS = 100_000
"""Turns whose verdicts are put together at a time. DuckDB reads one Arrow batch by one thread and gives its rows out in
their order; of several the threads would mix the rows, and to sort a million takes as much memory as they do."""
PIECE_BYTES = 500_000_000
"""What they cite at most. A column of Arrow ends at two gigabytes."""
USED_ROWS = 20_000
"""Rows of what was used in one piece: a term of many topics makes each a long one."""


_Connect = Callable[[], duckdb.DuckDBPyConnection]


class Judge:
    """The kernel with cards, lexicon and settings made ready, for any number of logs or parts of one.

    Threads may share it: each call works in a schema of its own.
    """

    def __init__(
        self,
        cards: pa.Table,
        lexicon: pa.Table,
        settings: RuleSettings = RuleSettings(),
        *,
        threads: int | None = None,
    ) -> None:
        """Make ready.

        Args:
            cards: rows in CARD_SCHEMA, one per character.
            lexicon: rows in LEXICON_SCHEMA, in lexicon order.
            settings: the endings.
            threads: how many DuckDB works with in one call; None means all of the machine's.
        """
        self.cards = cards
        self._lexicon = lexicon.append_column("position", pa.array(range(lexicon.num_rows), pa.int64()))
        self._terms = Terms(list(dict.fromkeys(lexicon["term"].to_pylist())))
        self._sql = _verdict_sql(settings)
        self._threads = threads or PROCESSORS

    def judge(self, turns: pa.Table, earlier: pa.Table | None = None, *, used: bool = True) -> Judgement:
        """Judge every turn against its character's card.

        Args:
            turns: n rows in TURN_SCHEMA (further columns are ignored); a session's turns may stand in any order.
            earlier: rows in MENTION_SCHEMA: who was named in turns of these sessions that are not among `turns`.
            used: whether what the verdicts rest on is wanted; a term of many topics makes that much.

        Returns:
            Verdicts and unjudged turns, n rows together.
        """
        reply, term = self._terms.hits(turns["reply_text"])
        tables = {
            "turn": turns.select(TURN_SCHEMA.names).append_column("n", pa.array(np.arange(turns.num_rows))),
            "card": self.cards,
            "lexicon": self._lexicon,
            "hit": pa.table({"n": reply, "term": pa.array(self._terms.terms, pa.string()).take(pa.array(term))}),
            "earlier": earlier if earlier is not None else MENTION_SCHEMA.empty_table(),
        }
        with _schema(self._threads) as connect, connect() as connection:
            for name, table in tables.items():
                connection.register(name, table)
            for sql in (HITS_SQL, OFF_CANON_SQL, RECALL_SQL):
                connection.execute(sql)
            verdicts = self._verdicts(connect, tables)
            unjudged = connection.sql(_UNJUDGED_SQL).to_arrow_table()
            rests = connection.sql(_USED_SQL).to_arrow_table(USED_ROWS) if used else USED_SCHEMA.empty_table()
        return Judgement(verdicts.cast(VERDICT_SCHEMA), unjudged.cast(UNJUDGED_SCHEMA), rests.cast(USED_SCHEMA))

    def _verdicts(self, connect: _Connect, tables: Mapping[str, pa.Table]) -> pa.Table:
        """The verdicts of the turns that can be judged, in their order."""

        def of_piece(piece: pa.Table) -> pa.Table:
            with connect() as cursor:
                for name in ("card", "lexicon"):
                    cursor.register(name, tables[name])
                cursor.register("piece", piece.combine_chunks())
                return _in_order(cursor.sql(self._sql).to_arrow_table())

        pieces = portions(tables["turn"], tables["earlier"], PIECE_ROWS, PIECE_BYTES)
        with ThreadPoolExecutor(self._threads) as pool:
            return pa.concat_tables(pool.map(of_piece, pieces))


_DATABASES: dict[int, InMemory] = {}
"""By the threads that they work with."""
_CALLS = count()


@contextmanager
def _schema(threads: int) -> Iterator[_Connect]:
    """What connects to an empty schema, which goes with its tables at the end."""
    name = f"call_{next(_CALLS)}"
    kept = _DATABASES.setdefault(threads, InMemory(text.SQL_MACROS + rule.SQL_MACROS, threads=threads))
    with kept.database() as database, database.cursor() as outside:

        def connect() -> duckdb.DuckDBPyConnection:
            connection = database.cursor()
            connection.execute(f"SET search_path = '{name},main'")
            return connection

        try:
            outside.execute(f"CREATE SCHEMA {name}")
            yield connect
        finally:
            with suppress(duckdb.Error):  # One that gave up drops nothing, and what it gave up with is told.
                outside.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")


def judge(
    turns: pa.Table,
    cards: pa.Table,
    lexicon: pa.Table,
    settings: RuleSettings = RuleSettings(),
    earlier: pa.Table | None = None,
) -> Judgement:
    """Judge every turn against its character's card: `Judge.judge` for a log that is there whole."""
    return Judge(cards, lexicon, settings).judge(turns, earlier)


def _verdict_sql(settings: RuleSettings) -> str:
    columns = {name: sql for entry in RULES for name, sql in entry.columns_sql(settings).items()}
    found = ",\n".join(f"{sql} AS {name}" for name, sql in columns.items())
    verdict = "\n".join(f"WHEN {entry.holds_sql} THEN {text.sql_text(entry.verdict)}" for entry in RULES)
    evidence = "\n".join(f"WHEN {text.sql_text(entry.verdict)} THEN {entry.evidence_sql}" for entry in RULES)
    summary = "\n".join(f"WHEN {text.sql_text(entry.verdict)} THEN {entry.summary_sql}" for entry in RULES)
    return f"""
    WITH joined AS (
        SELECT turn.*, card.honorific_rule AS card_honorific_rule, card.first_person AS card_first_person,
               canon_first, canon_count, forbidden_position, first_position, forbidden_rows,
               lexicon.term AS lexicon_term, lexicon.topic AS lexicon_topic, off_canon_names, role_found, found
        FROM piece AS turn
        JOIN (SELECT *, canon_entities[1] AS canon_first, len(canon_entities) AS canon_count FROM card) AS card
            USING (character_id)
        LEFT JOIN touch ON touch.n = turn.n
        LEFT JOIN lexicon ON lexicon.position = coalesce(forbidden_position, first_position)
        LEFT JOIN off_canon ON off_canon.n = turn.n
        LEFT JOIN recall ON recall.n = turn.n),
    found AS (SELECT *, {found} FROM joined),
    decided AS (SELECT *, CASE {verdict} END AS verdict FROM found)
    SELECT turn_id, session_id, character_id, model_id, verdict, rule_expected, rule_observed, off_canon_entities,
           touched_term, touched_topic, recall_target, recall_source_turn,
           CASE verdict {evidence} END AS evidence,
           CASE verdict {summary} END AS summary,
           {HEDGE_SQL} AS hedge, {NOTES_SQL} AS notes, n
    FROM decided"""


def _in_order(verdicts: pa.Table) -> pa.Table:
    """The rows by `n`, without it. They mostly come so, and DuckDB would sort them, wide as they are, all the same."""
    n = verdicts["n"].to_numpy()
    rows = verdicts.drop_columns("n")
    return rows if np.all(n[:-1] < n[1:]) else rows.take(pa.array(np.argsort(n)))


_UNJUDGED_SQL = """
SELECT turn_id, session_id, character_id, model_id, 'no card for character ' || character_id AS reason
FROM turn ANTI JOIN card USING (character_id) ORDER BY n
"""

_USED_SQL = """
WITH rows AS (
    SELECT n, list({'term': term, 'topic': topic} ORDER BY position) AS lexicon_rows
    FROM hit JOIN lexicon USING (term) GROUP BY n),
named AS (
    SELECT n, list(DISTINCT {'entity': asked.entity, 'turn_id': source.turn_id}) AS mentions
    FROM asked JOIN mention USING (session_id, entity)
    WHERE (length(source.turn_id), source.turn_id) < (length(asked.turn_id), asked.turn_id) GROUP BY n)
SELECT turn_id, coalesce(lexicon_rows, []) AS lexicon_rows, coalesce(list_sort(mentions), []) AS mentions
FROM turn SEMI JOIN card USING (character_id) LEFT JOIN rows USING (n) LEFT JOIN named USING (n)
WHERE lexicon_rows IS NOT NULL OR mentions IS NOT NULL ORDER BY n
"""
