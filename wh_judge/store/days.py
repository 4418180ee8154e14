"""A day in the warehouse: the atomic replacement of its verdicts, and what is kept of those that were replaced."""

import datetime as dt
import json
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from wh_judge.judge import Judgement
from wh_judge.model import (
    TURN_SCHEMA,
    UNJUDGED_SCHEMA,
    USED_SCHEMA,
    VERDICT_SCHEMA,
    VERDICTS,
)
from wh_judge.rules import rules_version
from wh_judge.store import roll_back, transaction
from wh_judge.store.changes import Change, keep_changes
from wh_judge.store.layout import CONFIG
from wh_judge.store.plan import DayInputs, DayPlan
from wh_judge.store.schema import arrow, in_turn_order, names, number, one
from wh_judge.store.versions import keep_settings, now, settings_version
from wh_judge.text import sql_text
from wh_judge.validated import Judged
from wh_judge.validations import VALIDATIONS, Outcomes, ValidationResult

READ_BACK_MEMORY = "1GB"
"""DuckDB's while the written rows are read back and looked at."""

JUDGED = "judged"
"""What `DayResult.judged` is called where a run tells it."""


@dataclass(frozen=True)
class DayResult:
    """What became of a day."""

    committed: bool
    """False where a validation failed: the day keeps its old verdicts."""
    judged: int
    """Turns that were judged and have a card; those that no edit could touch are not among them."""
    written: int
    """Verdicts that were written; 0 where nothing changed."""
    version: str
    validations: Sequence[ValidationResult]
    """Over all verdicts of the day."""
    changes: Sequence[Change]


Validate = Callable[[pa.Table, pa.Table], tuple[Outcomes, bool]]
"""Given the rows that were written and all rows of the day: what the validations say of the former, and whether all
else that must hold does."""


def replace_day(
    connection: duckdb.DuckDBPyConnection,
    plan: DayPlan,
    judgements: list[Judgement],
    validate: Validate,
    run_id: str,
) -> DayResult:
    """Write the verdicts of the turns that were judged again, validate what was written, commit only what passes.

    `judgements` is empty afterwards: once written, a day of a million verdicts need not be in memory twice.

    Verdicts that come out as they were are not written, so that the file does not grow. Where a validation fails, the
    day keeps its old rows and the failing ones are kept in `failed_row`.
    """
    day, moment = plan.day, now(connection)
    # Not in the transaction: what is registered in one is held until its end.
    _take_in(connection, plan, judgements)
    # Arrow would keep more than a gigabyte of a large day for itself, while DuckDB and the validations need theirs.
    pa.default_memory_pool().release_unused()
    connection.execute("BEGIN")
    try:
        keep_settings(connection, plan.settings, moment)
        written = _write(connection, day, run_id, moment, plan.was_card_as_of)
        touched = "" if plan.is_whole else "SEMI JOIN touched USING (turn_id)"
        judged = f"SELECT {names(VERDICT_SCHEMA)} FROM verdict_row {touched} WHERE day = DATE '{day}'"
        with _little_memory(connection):
            rows = in_turn_order(connection, judged, VERDICT_SCHEMA)
            of_day = number(connection, "SELECT count(*) FROM verdict_row WHERE day = ?", [day])
            outcomes, sound = validate(rows, rows if of_day == rows.num_rows else read_verdicts(connection, day))
        results = _results(connection, day, outcomes, rows["turn_id"])
        if sound and all(result.ok for result in results):
            changes = keep_changes(connection, plan, run_id, moment)
            _keep_closed(connection, run_id, moment)
            version = day_version(connection, day)
            _keep_results(connection, day, results, run_id, {})
            connection.execute("DELETE FROM failed_day WHERE day = ?", [day])
            known = one(connection, "SELECT inputs, version, card_as_of FROM judged_day WHERE day = ?", [day])
            if known != (plan.version, version, plan.card_as_of):
                values = [day, plan.version, plan.lexicon_version, version, run_id, plan.card_as_of]
                connection.execute("INSERT OR REPLACE INTO judged_day VALUES (?, ?, ?, ?, ?, ?)", values)
            connection.execute("COMMIT")
            return DayResult(True, rows.num_rows, written, version, results, changes)
    except BaseException:
        roll_back(connection)
        raise
    failing = {failure.turn_id for result in results for failure in result.failures if failure.turn_id}
    failed_rows = {row["turn_id"]: row for row in rows.to_pylist() if row["turn_id"] in failing}
    connection.execute("ROLLBACK")
    with transaction(connection):
        _keep_results(connection, day, results, run_id, failed_rows)
        connection.execute("INSERT OR REPLACE INTO failed_day VALUES (?, ?)", [day, plan.version])
    return DayResult(False, rows.num_rows, 0, day_version(connection, day), results, ())


@contextmanager
def _little_memory(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Have DuckDB let go of most of what it keeps: the rows of a large day are in Arrow's memory meanwhile."""
    connection.execute(f"SET memory_limit = '{READ_BACK_MEMORY}'")
    try:
        yield
    finally:
        with suppress(duckdb.Error):  # After an error within a transaction nothing can be set.
            connection.execute(f"SET memory_limit = '{CONFIG['memory_limit']}'")


def _take_in(connection: duckdb.DuckDBPyConnection, plan: DayPlan, judgements: list[Judgement]) -> None:
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


def _write(
    connection: duckdb.DuckDBPyConnection, day: dt.date, run_id: str, moment: dt.datetime, was_card_as_of: str | None
) -> int:
    """Bring the rows of the touched turns up to date; what they replace is in the temporary table `old_verdict`.

    Where a turn moved here from a day that was judged since, its last verdict there is in `left_verdict`.
    """
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE old_verdict AS
           SELECT verdict_row.*, judged_day.lexicon_version,
                  coalesce(card_as_of, CASE WHEN day = DATE '{day}' THEN '{was_card_as_of}' END) AS card_as_of
           FROM verdict_row ANTI JOIN new_verdict USING (turn_id, row_hash) LEFT JOIN judged_day USING (day)
           WHERE turn_id IN (SELECT turn_id FROM touched UNION ALL SELECT turn_id FROM gone);
           CREATE OR REPLACE TEMP TABLE left_verdict AS
           SELECT * EXCLUDE (until_run, until_at) FROM verdict_closed AS closed SEMI JOIN touched USING (turn_id)
           WHERE turn_id NOT IN (SELECT turn_id FROM verdict_row) AND turn_id NOT IN (SELECT turn_id FROM unjudged)
               AND NOT EXISTS (SELECT 1 FROM verdict_change AS told
                               WHERE told.turn_id = closed.turn_id AND told.changed_at >= closed.until_at)
           QUALIFY row_number() OVER (PARTITION BY turn_id ORDER BY until_at DESC) = 1;
           CREATE OR REPLACE TEMP TABLE old_unjudged AS
           SELECT turn_id, turn_version FROM unjudged
           WHERE turn_id IN (SELECT turn_id FROM touched UNION ALL SELECT turn_id FROM gone)
           UNION ALL SELECT turn_id, turn_version FROM unjudged_left SEMI JOIN touched USING (turn_id)"""
    )
    connection.execute("DELETE FROM verdict_row WHERE turn_id IN (SELECT turn_id FROM old_verdict)")
    connection.execute("DELETE FROM outcome WHERE turn_id IN (SELECT turn_id FROM old_verdict)")
    connection.execute("DELETE FROM unjudged WHERE turn_id IN (SELECT turn_id FROM old_unjudged)")
    connection.execute("DELETE FROM unjudged_left WHERE turn_id IN (SELECT turn_id FROM old_unjudged)")
    connection.execute(
        """INSERT INTO unjudged_left SELECT turn_id, turn_version FROM old_unjudged
           SEMI JOIN gone USING (turn_id) SEMI JOIN chat_turn USING (turn_id)"""
    )
    as_they_were = "SELECT turn_id FROM verdict_row SEMI JOIN touched USING (turn_id)"
    # Not always: a join would mix the rows of a day that is judged for the first time.
    others = f"ANTI JOIN ({as_they_were}) USING (turn_id)" if one(connection, f"{as_they_were} LIMIT 1") else ""
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


def _keep_closed(connection: duckdb.DuckDBPyConnection, run_id: str, moment: dt.datetime) -> None:
    """A verdict ends at the moment at which the one that replaces it begins."""
    connection.execute(
        "INSERT INTO verdict_closed BY NAME SELECT *, ? AS until_run, ? AS until_at FROM old_verdict",
        [run_id, moment],
    )


def _results(
    connection: duckdb.DuckDBPyConnection, day: dt.date, outcomes: Outcomes, turn_ids: pa.ChunkedArray
) -> list[ValidationResult]:
    """The validations over the whole day: what was just validated, and what was before and stands as it did."""
    connection.register("outcomes", pa.table({"turn_id": turn_ids, "checks": pa.array(outcomes.letters, pa.string())}))
    connection.execute("DELETE FROM outcome WHERE turn_id IN (SELECT turn_id FROM outcomes)")
    connection.execute(f"INSERT INTO outcome SELECT DATE '{day}', turn_id, checks FROM outcomes")
    connection.unregister("outcomes")
    counts = ", ".join(
        f"count(*) FILTER (checks[{place}] = '{letter}')"
        for place in range(1, len(VALIDATIONS) + 1)
        for letter in "PFN"
    )
    found = one(connection, f"SELECT count(*), {counts} FROM outcome WHERE day = ?", [day])
    assert found is not None
    results = []
    for place, result in enumerate(outcomes.results):
        passed, failed, not_applicable = found[1 + 3 * place : 4 + 3 * place]
        counted = replace(result, looked_at=found[0], passed=passed, failed=failed, not_applicable=not_applicable)
        results.append(counted)
    return results


def _keep_results(
    connection: duckdb.DuckDBPyConnection,
    day: dt.date,
    results: Sequence[ValidationResult],
    run_id: str,
    rows: dict[str, dict[str, Any]],
) -> None:
    """Keep the validations' results; where they are as before, the run that found them first stays."""
    kept = connection.execute(
        "SELECT code, looked_at, passed, failed, not_applicable FROM validation WHERE day = ?", [day]
    ).fetchall()
    found = [(r.code, r.looked_at, r.passed, r.failed, r.not_applicable) for r in results]
    if sorted(kept) == sorted(found) and all(result.ok for result in results):
        return
    connection.execute("DELETE FROM validation WHERE day = ?", [day])
    connection.execute("DELETE FROM failed_row WHERE day = ?", [day])
    connection.executemany(
        "INSERT INTO validation VALUES (?, ?, ?, ?, ?, ?, ?)", [[day, *values, run_id] for values in found]
    )
    failed = [
        [day, result.code, failure.turn_id, failure.reason, json.dumps(rows.get(failure.turn_id or "")), run_id]
        for result in results
        for failure in result.failures
    ]
    if failed:
        connection.executemany("INSERT INTO failed_row VALUES (?, ?, ?, ?, ?, ?)", failed)


def day_version(connection: duckdb.DuckDBPyConnection, day: dt.date) -> str:
    """Hash of the day's verdicts and unjudged turns, whatever run wrote them."""
    row = one(
        connection,
        """SELECT md5(coalesce(string_agg(turn_id || ' ' || row_hash, ' ' ORDER BY turn_id), '')
                      || coalesce((SELECT string_agg(turn_id || ' ' || turn_version, ' ' ORDER BY turn_id)
                                   FROM unjudged WHERE day = $1), ''))
           FROM verdict_row WHERE day = $1""",
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
    """What the validations hold the verdicts against: their inputs, and the turns that are cited."""
    cited = read_turns(connection, verdicts["recall_source_turn"])
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
