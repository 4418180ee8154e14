"""The verdicts of a day as rows of the warehouse: brought in, and put in the place of those that they replace."""

import datetime as dt
from collections import deque
from collections.abc import Iterator, Sequence

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from wh_judge.judge import Judgement
from wh_judge.model import UNJUDGED_SCHEMA, USED_SCHEMA, VERDICT_SCHEMA
from wh_judge.rules import rules_version
from wh_judge.store.plan import DayPlan
from wh_judge.store.schema import names, number, one, wherever_sql
from wh_judge.store.versions import settings_version


def take_in(connection: duckdb.DuckDBPyConnection, plan: DayPlan, judgements: list[Judgement]) -> None:
    """Put the judgements into the temporary tables `new_verdict` and `new_unjudged`, letting go of them on the way."""
    unjudged = _together(UNJUDGED_SCHEMA, [judgement.unjudged for judgement in judgements])
    rows = _with_versions(connection, judgements)
    pieces = deque(rows.to_batches())
    connection.register("judged", pa.RecordBatchReader.from_batches(rows.schema, _emptying(pieces)))
    connection.register("judged_unjudged", unjudged)
    judgements.clear()
    del rows
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE new_verdict AS
            SELECT *, md5(to_json(row)::VARCHAR) AS row_hash FROM (
                SELECT DATE '{plan.day}' AS day, {names(VERDICT_SCHEMA)}, turn_version, card_version,
                       $1 AS settings_version, $2 AS code_version, coalesce(lexicon_rows, []) AS lexicon_rows,
                       coalesce(mentions, []) AS mentions
                FROM judged) AS row""",
        [settings_version(plan.settings), rules_version()],
    )
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE new_unjudged AS
            SELECT DATE '{plan.day}' AS day, judged_unjudged.*, turn_version
            FROM judged_unjudged JOIN day_turn USING (turn_id)"""
    )
    for name in ("judged", "judged_unjudged"):
        connection.unregister(name)


def _with_versions(connection: duckdb.DuckDBPyConnection, judgements: Sequence[Judgement]) -> pa.Table:
    """The verdicts, in their order, with the versions of what decided them and with what they used.

    Put together here: a join of DuckDB would mix the rows, and the day would have to be sorted whenever it is read.
    """
    rows = _together(VERDICT_SCHEMA, [judgement.verdicts for judgement in judgements])
    used = _together(USED_SCHEMA, [judgement.used for judgement in judgements])
    versions = connection.sql("SELECT turn_id, turn_version, card_version FROM day_turn").to_arrow_table()
    turn_ids = rows["turn_id"]
    for table in (versions, used):
        place = pc.index_in(turn_ids, table["turn_id"].combine_chunks())
        for name in table.schema.names[1:]:
            rows = rows.append_column(name, table[name].combine_chunks().take(place))
    return rows


def _emptying(pieces: deque[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    while pieces:
        yield pieces.popleft()


def write(
    connection: duckdb.DuckDBPyConnection, day: dt.date, run_id: str, moment: dt.datetime, was_card_as_of: str | None
) -> int:
    """Bring the rows of the touched turns up to date; what they replace is in the temporary table `old_verdict`.

    Those that come out as they were stay, and are in `as_it_was`. A row's place is good in this transaction only.
    Where a turn moved here from a day that was judged since, its last verdict there is in `left_verdict`.
    """
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE replaced AS SELECT turn_id FROM touched UNION ALL SELECT turn_id FROM gone;
           CREATE OR REPLACE TEMP TABLE old_place AS
           SELECT place FROM ({wherever_sql("rowid AS place, turn_id, row_hash", "verdict_row", day, "replaced")})
           ANTI JOIN new_verdict USING (turn_id, row_hash);
           CREATE OR REPLACE TEMP TABLE old_verdict AS
           SELECT old.*, judged_day.lexicon_version,
                  coalesce(card_as_of, CASE WHEN day = DATE '{day}' THEN '{was_card_as_of}' END) AS card_as_of
           FROM (SELECT * FROM verdict_row WHERE rowid IN (SELECT place FROM old_place)) AS old
           LEFT JOIN judged_day USING (day);
           CREATE OR REPLACE TEMP TABLE as_it_was AS
           SELECT turn_id FROM verdict_row
           WHERE day = DATE '{day}' AND turn_id IN (SELECT turn_id FROM touched ANTI JOIN old_verdict USING (turn_id));
           CREATE OR REPLACE TEMP TABLE left_verdict AS
           SELECT * EXCLUDE (until_run, until_at) FROM verdict_closed AS closed
           WHERE turn_id IN (SELECT turn_id FROM touched ANTI JOIN old_verdict USING (turn_id)
                             ANTI JOIN as_it_was USING (turn_id) ANTI JOIN unjudged USING (turn_id))
               AND NOT EXISTS (SELECT 1 FROM verdict_change AS told
                               WHERE told.turn_id = closed.turn_id AND told.changed_at >= closed.until_at)
           QUALIFY row_number() OVER (PARTITION BY turn_id ORDER BY until_at DESC) = 1;
           CREATE OR REPLACE TEMP TABLE old_unjudged AS
           SELECT day, turn_id, turn_version FROM unjudged
           WHERE turn_id IN (SELECT turn_id FROM replaced)
           UNION ALL SELECT NULL, turn_id, turn_version FROM unjudged_left SEMI JOIN touched USING (turn_id)"""
    )
    # A turn that moved here may move back before its old day is judged again: that is what it was, but for this turn.
    connection.execute(
        """UPDATE judged_day SET inputs = regexp_replace(inputs, '^turns=[^ ]*', 'turns=')
           WHERE day <> ? AND day IN (SELECT day FROM old_verdict UNION ALL SELECT day FROM old_unjudged)""",
        [day],
    )
    connection.execute("DELETE FROM verdict_row WHERE rowid IN (SELECT place FROM old_place)")
    # Rows of a day lie together: naming the days keeps the others from being read.
    connection.execute("DELETE FROM outcome WHERE (day, turn_id) IN (SELECT day, turn_id FROM old_verdict)")
    connection.execute("DELETE FROM unjudged WHERE turn_id IN (SELECT turn_id FROM old_unjudged)")
    connection.execute("DELETE FROM unjudged_left WHERE turn_id IN (SELECT turn_id FROM old_unjudged)")
    connection.execute(
        """INSERT INTO unjudged_left SELECT turn_id, turn_version FROM old_unjudged
           SEMI JOIN gone USING (turn_id) SEMI JOIN chat_turn USING (turn_id)"""
    )
    # Not always: a join would mix the rows of a day that is judged for the first time.
    others = "ANTI JOIN as_it_was USING (turn_id)" if one(connection, "SELECT 1 FROM as_it_was LIMIT 1") else ""
    connection.execute(
        f"INSERT INTO verdict_row BY NAME SELECT *, ? AS run_id, ? AS written_at FROM new_verdict {others}",
        [run_id, moment],
    )
    # A day of a million verdicts need not be in memory twice.
    connection.execute("DROP TABLE new_verdict")
    connection.execute("INSERT INTO unjudged BY NAME FROM new_unjudged")
    return number(connection, "SELECT count(*) FROM verdict_row WHERE run_id = ? AND day = ?", [run_id, day])


def _together(schema: pa.Schema, tables: Sequence[pa.Table]) -> pa.Table:
    return pa.concat_tables([schema.empty_table(), *tables])


def keep_closed(connection: duckdb.DuckDBPyConnection, run_id: str, moment: dt.datetime) -> None:
    """A verdict ends at the moment at which the one that replaces it begins."""
    connection.execute(
        "INSERT INTO verdict_closed BY NAME SELECT *, ? AS until_run, ? AS until_at FROM old_verdict",
        [run_id, moment],
    )
