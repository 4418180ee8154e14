"""What checks say: passed or not, how bad it is, and where to look."""

from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from wh_judge.assets.checks import SHOWN, docs_links, rows_accepted, suite_result, validation_result
from wh_judge.rowwise import Problem
from wh_judge.settings import Settings
from wh_judge.suites import ExpectationResult, SuiteResult
from wh_judge.validations import Failure, ValidationResult

ERROR, WARN = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN
SETTINGS = Settings.model_validate({"data": "/data", "docs_url": "http://docs.example/"})


def values(result: dg.AssetCheckResult) -> dict[str, Any]:
    return {name: getattr(value, "value", value) for name, value in (result.metadata or {}).items()}


def problem(severity: str, line: int | None = 1, reason: str = "is wrong") -> Problem:
    return Problem("chat_turn", "turns/a.jsonl", line, severity, reason, None)  # type: ignore[arg-type]


def test_without_a_problem_rows_are_accepted() -> None:
    result = rows_accepted([], "turns", normalised=3)
    assert (result.passed, result.severity, result.check_name) == (True, WARN, "rows_accepted")
    assert values(result) == {"rejected": 0, "noted": 0, "rows_normalised_to_nfc": 3}


@pytest.mark.parametrize("severity", ["rejected", "noted"])
def test_any_problem_is_warned_of(severity: str) -> None:
    result = rows_accepted([problem(severity)], "turns", normalised=0)
    assert (result.passed, result.severity) == (False, WARN)
    assert values(result)[severity] == 1
    assert values(result)["rows"].splitlines()[2:] == [f"| {severity} | turns/a.jsonl | 1 | is wrong |"]


def test_all_problems_are_counted_and_the_first_are_shown() -> None:
    result = rows_accepted([problem("rejected", line) for line in range(1000)], "turns", normalised=0)
    assert values(result)["rejected"] == 1000
    assert len(values(result)["rows"].splitlines()) == 2 + SHOWN


def test_what_a_problem_says_is_text() -> None:
    result = rows_accepted([problem("rejected", None, "<b> | ('`')")], "turns", normalised=0)
    assert values(result)["rows"].splitlines()[2:] == ["| rejected | turns/a.jsonl |  | &lt;b&gt; &#124; ('&#96;') |"]


def expectation(success: bool, severity: str = "error", message: str | None = None) -> ExpectationResult:
    return ExpectationResult(
        name="is good",
        column="reply_text",
        success=success,
        unexpected_count=0 if success else 2,
        unexpected=() if success else ("T-1: <b>", "T-2: |"),
        severity=severity,  # type: ignore[arg-type]
        message=message,
    )


def suite(*expectations: ExpectationResult, rows: int = 5, **more: Any) -> SuiteResult:
    success = all(one.success for one in expectations)
    return SuiteResult(table="chat_turn", batch="b", success=success, rows=rows, expectations=expectations, **more)


@pytest.mark.parametrize(
    ("expectations", "passed", "severity"),
    [
        ([expectation(True)], True, WARN),
        ([expectation(True), expectation(False, "warn")], False, WARN),
        ([expectation(False, "warn"), expectation(False)], False, ERROR),
        ([expectation(True), expectation(True, "warn")], True, WARN),
    ],
    ids=["all good", "a warning", "an error", "nothing failed"],
)
def test_a_suite_is_as_bad_as_its_worst_expectation(
    expectations: list[ExpectationResult], passed: bool, severity: dg.AssetCheckSeverity
) -> None:
    result = suite_result(suite(*expectations), "turns", SETTINGS)
    assert (result.passed, result.severity, result.check_name) == (passed, severity, "suite")


def test_a_suite_counts_and_shows_what_failed() -> None:
    found = values(suite_result(suite(expectation(True), expectation(False)), "turns", SETTINGS))
    assert (found["rows"], found["expectations"], found["failed_expectations"]) == (5, 2, 1)
    assert found["failures"].splitlines()[2:] == ["| is good | reply&#95;text | 2 | T-1: &lt;b&gt;, T-2: &#124; |"]


def test_an_expectation_that_could_not_be_evaluated_says_why() -> None:
    failed = expectation(False, message="the column reply_text is missing")
    found = values(suite_result(suite(failed), "turns", SETTINGS))
    assert "the column reply&#95;text is missing" in found["failures"]


def test_a_suite_over_no_rows_does_not_pass_for_a_success() -> None:
    assert values(suite_result(suite(expectation(True), rows=0), "turns", SETTINGS))["note"] == (
        "no rows, so nothing could fail"
    )
    assert "note" not in values(suite_result(suite(expectation(True)), "turns", SETTINGS))


def test_expectations_that_were_left_out_are_named() -> None:
    found = values(suite_result(suite(expectation(True), not_checked=("one", "two")), "turns", SETTINGS))
    assert found["not_checked"] == "one, two"


def test_a_page_is_linked_where_it_is_served_and_where_it_lies() -> None:
    found = docs_links(Path("/data/docs/verdict/2026-09-01 가.html"), SETTINGS)
    assert found["data_docs"].value == "http://docs.example/verdict/2026-09-01%20%EA%B0%80.html"
    assert found["data_docs_file"].value == "/data/docs/verdict/2026-09-01 가.html"


def validation(*failures: Failure) -> ValidationResult:
    return ValidationResult(
        number=1,
        code="v01",
        title="",
        description="",
        looked_at=100,
        passed=90 - len(failures),
        failed=len(failures),
        not_applicable=10,
        failures=failures,
    )


def test_a_validation_without_failures_passes() -> None:
    result = validation_result(validation(), "verdicts")
    assert (result.passed, result.severity, result.check_name) == (True, ERROR, "v01")
    assert values(result) == {"looked_at": 100, "passed": 90, "failed": 0, "not_applicable": 10}


def test_a_validation_that_fails_is_an_error_that_shows_the_failing_turns() -> None:
    result = validation_result(
        validation(Failure("T-1", 1, "expected '요' | found <b>"), Failure(None, 2, "x")), "verdicts"
    )
    assert (result.passed, result.severity) == (False, ERROR)
    assert values(result)["failing_turns"].splitlines()[2:] == [
        "| T-1 | expected '요' &#124; found &lt;b&gt; |",
        "|  | x |",
    ]


def test_many_failing_turns_are_counted_and_the_first_are_shown() -> None:
    result = validation_result(validation(*(Failure(f"T-{n}", n, "x") for n in range(80))), "verdicts")
    assert values(result)["failed"] == 80
    assert len(values(result)["failing_turns"].splitlines()) == 2 + SHOWN
