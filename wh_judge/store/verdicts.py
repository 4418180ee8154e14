"""What the warehouse knows of a day's verdicts, and what they are held against."""

import datetime as dt
from collections import Counter
from dataclasses import dataclass

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from wh_judge.model import TURN_SCHEMA, VERDICT_SCHEMA, VERDICTS
from wh_judge.store.plan import DayInputs, DayPlan
from wh_judge.store.schema import arrow, names, number, one
from wh_judge.text import sql_text
from wh_judge.validated import Judged


def day_version(connection: duckdb.DuckDBPyConnection, day: dt.date) -> str:
    """Hash of the day's verdicts and unjudged turns, whatever run wrote them."""
    # Each row is there once, so that their hashes need no order to be put together.
    row = one(
        connection,
        """SELECT md5((SELECT concat_ws(' ', count(*), bit_xor(md5_number(row_hash))) FROM verdict_row WHERE day = $1)
                      || ' ' || (SELECT concat_ws(' ', count(*), bit_xor(md5_number(turn_id || ' ' || turn_version)))
                                 FROM unjudged WHERE day = $1))""",
        [day],
    )
    assert row is not None
    return str(row[0])


def read_verdicts(connection: duckdb.DuckDBPyConnection, day: dt.date) -> pa.Table:
    """The day's verdicts in VERDICT_SCHEMA, in the order in which they were written."""
    sql = f"SELECT {names(VERDICT_SCHEMA)} FROM verdict_row WHERE day = DATE '{day}'"
    return arrow(connection, sql, VERDICT_SCHEMA)


@dataclass(frozen=True)
class VerdictFacts:
    """What is to be said of a day's verdicts."""

    rows: int
    unjudged: int
    verdicts: Counter[str]
    """Turns by verdict."""
    notes: Counter[str]
    """Turns by the code of what their hedge says."""
    first_diverging: pa.Table
    """The first turns that diverge, in turn order: turn_id, verdict, summary."""


def day_facts(connection: duckdb.DuckDBPyConnection, day: dt.date, shown: int) -> VerdictFacts:
    """What is to be said of the day's verdicts, without reading them."""
    where = f"FROM verdict_row WHERE day = DATE '{day}'"
    verdicts = Counter(dict(connection.execute(f"SELECT verdict, count(*) {where} GROUP BY 1").fetchall()))
    noted = f"SELECT note, count(*) FROM (SELECT unnest(notes) AS note {where}) GROUP BY 1"
    notes = Counter(dict(connection.execute(noted).fetchall()))
    return VerdictFacts(
        rows=verdicts.total(),
        unjudged=number(connection, "SELECT count(*) FROM unjudged WHERE day = ?", [day]),
        verdicts=verdicts,
        notes=notes,
        first_diverging=connection.sql(
            f"""SELECT turn_id, verdict, summary {where} AND verdict <> {sql_text(VERDICTS[0])}
                ORDER BY length(turn_id), turn_id LIMIT {shown}"""
        ).to_arrow_table(),
    )


def read_judged(connection: duckdb.DuckDBPyConnection, plan: DayPlan, inputs: DayInputs, verdicts: pa.Table) -> Judged:
    """What the validations hold the verdicts against: their inputs, and the turns that are cited and not among them."""
    sources = verdicts["recall_source_turn"].drop_null()
    missing = sources.filter(pc.invert(pc.is_in(sources, inputs.turns["turn_id"].combine_chunks())))
    cited = read_turns(connection, missing) if len(missing) else TURN_SCHEMA.empty_table()
    return Judged(inputs.turns, cited, inputs.cards, inputs.lexicon, inputs.earlier, plan.settings)


def read_turns(connection: duckdb.DuckDBPyConnection, turn_ids: pa.ChunkedArray) -> pa.Table:
    """The turns of the log with these ids (nulls are none), each once, in TURN_SCHEMA."""
    connection.register("chosen", pa.table({"turn_id": turn_ids}))
    sql = f"SELECT {names(TURN_SCHEMA)} FROM chat_turn SEMI JOIN chosen USING (turn_id)"
    turns = arrow(connection, sql, TURN_SCHEMA)
    connection.unregister("chosen")
    return turns


def reference_keys(connection: duckdb.DuckDBPyConnection, day: dt.date) -> dict[str, list[str]]:
    """The keys of other rows that the day's verdicts may refer to, by table and column."""
    queries = {
        "chat_turn.turn_id": f"SELECT turn_id FROM chat_turn WHERE day = DATE '{day}'",
        "character_card.character_id": "SELECT character_id FROM character_card",
        "topic_lexicon.term": "SELECT DISTINCT term FROM topic_lexicon",
        "topic_lexicon.topic": "SELECT DISTINCT topic FROM topic_lexicon",
        "mention.turn_id": f"""SELECT turn_id FROM chat_turn WHERE len(named_entities) > 0 AND turn_id IN (
            SELECT recall_source_turn FROM verdict_row WHERE day = DATE '{day}')""",
    }
    return {name: [row[0] for row in connection.execute(sql).fetchall()] for name, sql in queries.items()}


def judged_versions(connection: duckdb.DuckDBPyConnection) -> dict[dt.date, str]:
    """The versions of the days' verdicts."""
    return dict(connection.execute("SELECT day, version FROM judged_day ORDER BY day").fetchall())
