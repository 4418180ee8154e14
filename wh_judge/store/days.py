"""A day in the warehouse: the atomic replacement of its verdicts, and what is kept of those that were replaced."""

import datetime as dt
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import pyarrow as pa

from wh_judge.judge import Judgement
from wh_judge.model import VERDICT_SCHEMA
from wh_judge.store import roll_back, transaction
from wh_judge.store.changes import Change, keep_changes
from wh_judge.store.layout import CONFIG
from wh_judge.store.plan import DayPlan
from wh_judge.store.schema import in_turn_order, names, number, one
from wh_judge.store.verdict_rows import keep_closed, take_in, write
from wh_judge.store.verdicts import day_version, read_verdicts
from wh_judge.store.versions import keep_settings, now
from wh_judge.validations import Outcomes, ValidationResult

READ_BACK_MEMORY = "1GB"
"""DuckDB's while the written rows of a large day are read back and looked at."""
LARGE_DAY = 200_000
"""Turns of a day for which DuckDB lets go of most of what it keeps; for fewer it would only read it again."""

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


ReadAll = Callable[[], pa.Table]
"""Reads all verdicts of the day as they will be committed, in VERDICT_SCHEMA."""

Validate = Callable[[pa.Table, ReadAll], tuple[Outcomes, bool]]
"""Given the rows that were written and what reads all of the day: what the validations say of the former, and whether
all else that must hold does."""


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
    take_in(connection, plan, judgements)
    # Arrow would keep more than a gigabyte of a large day for itself, while DuckDB and the validations need theirs.
    pa.default_memory_pool().release_unused()
    connection.execute("BEGIN")
    try:
        keep_settings(connection, plan.settings, moment)
        written = write(connection, day, run_id, moment, plan.was_card_as_of)
        judged = f"SELECT {names(VERDICT_SCHEMA)} FROM verdict_row WHERE day = DATE '{day}'"
        if not plan.is_whole:
            # Nothing older is read for what was just written.
            written_now = f"written_at = TIMESTAMPTZ '{moment.isoformat()}'"
            stood = "turn_id IN (SELECT turn_id FROM as_it_was)"
            judged = f"SELECT * FROM ({judged} AND {written_now} UNION ALL {judged} AND {stood})"
        with _little_memory(connection) if plan.turns > LARGE_DAY else nullcontext():
            rows = in_turn_order(connection, judged, VERDICT_SCHEMA)
            of_day = number(connection, "SELECT count(*) FROM verdict_row WHERE day = ?", [day])
            whole = of_day == rows.num_rows
            outcomes, sound = validate(rows, lambda: rows if whole else read_verdicts(connection, day))
        results = _results(connection, day, outcomes, rows["turn_id"])
        if sound and all(result.ok for result in results):
            changes = keep_changes(connection, plan, run_id, moment)
            keep_closed(connection, run_id, moment)
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


def _results(
    connection: duckdb.DuckDBPyConnection, day: dt.date, outcomes: Outcomes, turn_ids: pa.ChunkedArray
) -> list[ValidationResult]:
    """The validations over the whole day: what was just validated, and what was before and stands as it did."""
    connection.register("outcomes", pa.table({"turn_id": turn_ids, "checks": pa.array(outcomes.letters, pa.string())}))
    connection.execute("DELETE FROM outcome WHERE day = ? AND turn_id IN (SELECT turn_id FROM outcomes)", [day])
    connection.execute(f"INSERT INTO outcome SELECT DATE '{day}', turn_id, checks FROM outcomes")
    connection.unregister("outcomes")
    found = connection.execute("SELECT checks, count(*) FROM outcome WHERE day = ? GROUP BY ALL", [day]).fetchall()
    results = []
    for place, result in enumerate(outcomes.results):
        counts = Counter[str]()
        for letters, rows in found:
            counts[letters[place : place + 1]] += rows
        counted = replace(
            result, looked_at=counts.total(), passed=counts["P"], failed=counts["F"], not_applicable=counts["N"]
        )
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
