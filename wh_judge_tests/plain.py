"""Runs of the graph without what takes most of their time and decides nothing of them: suites and pictures."""

import pytest

from wh_judge.suites import SuiteResult, TableName


def make_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Suites have no expectations and pictures are empty, until the patches are undone."""
    monkeypatch.setattr("wh_judge.assets.checks.validate_table", _no_suite)
    monkeypatch.setattr("wh_judge.assets.evaluations.confusion_picture", lambda _agreement: b"")
    monkeypatch.setattr("wh_judge.assets.evaluations.divergence_picture", lambda _divergence: b"")


def _no_suite(table: TableName, _rows: object, *, batch: str, **_options: object) -> SuiteResult:
    return SuiteResult(table=table, batch=batch, success=True, rows=1, expectations=())
