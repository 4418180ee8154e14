"""Results of checks, told the same way everywhere: what was looked at, what failed, and where to look."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import dagster as dg
import pyarrow as pa

from wh_judge.assets.metadata import markdown_table
from wh_judge.rowwise import Problem
from wh_judge.settings import Settings
from wh_judge.suites import SuiteResult, TableName, build_index, validate_table
from wh_judge.validations import ValidationResult

SHOWN = 50
"""Failing rows that a check shows; all of them are in the warehouse."""


def rows_accepted(problems: Sequence[Problem], asset: str, *, normalised: int) -> dg.AssetCheckResult:
    """A warning where a file held something that a person should look at."""
    rejected = [problem for problem in problems if problem.severity == "rejected"]
    metadata: dict[str, Any] = {
        "rejected": len(rejected),
        "noted": len(problems) - len(rejected),
        "rows_normalised_to_nfc": normalised,
    }
    if problems:
        rows = [[problem.severity, problem.file, problem.line, problem.reason] for problem in problems[:SHOWN]]
        metadata["rows"] = markdown_table(["severity", "file", "line", "reason"], rows)
    return warning("rows_accepted", asset, passed=not problems, metadata=metadata)


def warning(name: str, asset: str, *, passed: bool, metadata: Mapping[str, Any]) -> dg.AssetCheckResult:
    """A check that warns and holds nothing up."""
    return dg.AssetCheckResult(
        check_name=name, asset_key=asset, passed=passed, severity=dg.AssetCheckSeverity.WARN, metadata=metadata
    )


def run_suite(
    table: TableName, rows: pa.Table, settings: Settings, *, batch: str, references: Mapping[str, Collection[str]]
) -> SuiteResult:
    """Run the table's suite, and write its page and the index of the Data Docs."""
    result = validate_table(table, rows, batch=batch, references=references, docs=settings.docs)
    build_index(settings.docs)
    return result


def suite_result(result: SuiteResult, asset: str, settings: Settings) -> dg.AssetCheckResult:
    """A Great Expectations suite as one check: an error where a hard expectation fails, else a warning."""
    failed = [expectation for expectation in result.expectations if not expectation.success]
    hard = any(expectation.severity == "error" for expectation in failed)
    metadata: dict[str, Any] = {
        "rows": result.rows,
        "expectations": len(result.expectations),
        "failed_expectations": len(failed),
    }
    if not result.rows:
        metadata["note"] = "no rows, so nothing could fail"
    if result.not_checked:
        metadata["not_checked"] = ", ".join(result.not_checked)
    if failed:
        rows = [[e.name, e.column, e.unexpected_count, e.message or ", ".join(e.unexpected)] for e in failed]
        metadata["failures"] = markdown_table(["expectation", "column", "rows", "examples"], rows)
    if result.docs_page is not None:
        metadata |= docs_links(result.docs_page, settings)
    return dg.AssetCheckResult(
        check_name="suite",
        asset_key=asset,
        passed=not failed,
        severity=dg.AssetCheckSeverity.ERROR if hard else dg.AssetCheckSeverity.WARN,
        metadata=metadata,
    )


def report_again(context: dg.AssetExecutionContext, asset: str, results: Sequence[dg.AssetCheckResult]) -> None:
    """Report a partition's check results once more where another run's would be shown in their stead.

    Dagster shows of a check what the run that was created last said, and nothing where that was not about the newest
    materialisation. So the results of a run would be lost that was overtaken while it waited in the queue. Results
    of a younger run that is still to come will be about its own materialisation and are waited for.
    """
    instance, keys = context.instance, [dg.AssetCheckKey(dg.AssetKey(asset), str(one.check_name)) for one in results]
    shown = instance.event_log_storage.get_asset_check_partition_info(keys, partition_keys=[context.partition_key])
    # A run has its steps behind it one by one: it may be at work still, and have nothing more to say of this asset.
    to_come = {info.check_key: info.latest_execution_status.value == "PLANNED" for info in shown}
    run_of = {info.check_key: info.latest_planned_run_id for info in shown}
    # Of most days that is this run, and no question to Dagster's storage.
    planned = {run_id for run_id in run_of.values() if run_id}
    unfinished = {run_id for run_id in planned if run_id == context.run.run_id or _is_unfinished(instance, run_id)}
    for key, result in zip(keys, results, strict=True):
        is_awaited = to_come.get(key) and run_of[key] in unfinished
        if run_of.get(key) != context.run.run_id and not is_awaited:
            instance.report_runless_asset_event(result.to_asset_check_evaluation(context.get_step_execution_context()))


def _is_unfinished(instance: dg.DagsterInstance, run_id: str) -> bool:
    run = instance.get_run_by_id(run_id)
    return run is not None and not run.is_finished


def docs_links(page: Path, settings: Settings) -> dict[str, Any]:
    """Where a Data Docs page lies, and where `make ui` serves it: a browser opens no file from a served page."""
    served = settings.docs_url.rstrip("/") + "/" + quote(page.relative_to(settings.docs).as_posix())
    return {"data_docs": dg.MetadataValue.url(served), "data_docs_file": dg.MetadataValue.path(str(page))}


def validation_result(result: ValidationResult, asset: str) -> dg.AssetCheckResult:
    """One of the validations for one day; it blocks."""
    metadata: dict[str, Any] = {
        "looked_at": result.looked_at,
        "passed": result.passed,
        "failed": result.failed,
        "not_applicable": result.not_applicable,
    }
    if result.failures:
        rows = [[failure.turn_id, failure.reason] for failure in result.failures[:SHOWN]]
        metadata["failing_turns"] = markdown_table(["turn_id", "reason"], rows)
    return dg.AssetCheckResult(
        check_name=result.code,
        asset_key=asset,
        passed=result.ok,
        severity=dg.AssetCheckSeverity.ERROR,
        metadata=metadata,
    )
