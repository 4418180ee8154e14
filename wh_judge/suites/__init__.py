"""The Great Expectations suites: what is expected of the input tables and of the verdicts, and pages to read about it.

`declared` holds the expectations, `run` validates a batch, `pages` writes the Data Docs. No Dagster here, and nothing
about whether a verdict is right: that is what the validations are for.
"""

from wh_judge.suites.check import Check, Suite
from wh_judge.suites.declared import SUITES
from wh_judge.suites.pages import build_index
from wh_judge.suites.result import ExpectationResult, SuiteResult, TableName
from wh_judge.suites.run import validate_table

__all__ = [
    "SUITES",
    "Check",
    "ExpectationResult",
    "Suite",
    "SuiteResult",
    "TableName",
    "build_index",
    "validate_table",
]
