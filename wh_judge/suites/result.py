"""What a validation reports: one row per expectation, and the suite's outcome."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

TableName = Literal["chat_turn", "character_card", "topic_lexicon", "verdict"]
Severity = Literal["error", "warn"]
Outcome = Literal["passed", "nothing to check", "warnings", "failed"]

EXAMPLES = 5
"""Unexpected values that are shown of an expectation, at most."""


class ExpectationResult(BaseModel):
    """How one expectation fared.

    `unexpected_count` counts rows (for expectations on the table itself: columns). `message` says why the expectation
    could not be evaluated; it then counts as failed.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    column: str | None
    success: bool
    unexpected_count: int
    unexpected: tuple[str, ...]
    severity: Severity
    message: str | None = None

    @property
    def told(self) -> str:
        """How much was unexpected, or why nothing can be said; for people."""
        return f"{self.unexpected_count:,}" if self.message is None else f"not evaluated: {self.message}"


class SuiteResult(BaseModel):
    """How one batch of a table fared against its suite.

    `success` means that every expectation passed, warnings included; ask `severity` how bad a failure is. A table
    without rows passes every expectation on rows: `rows` is 0 then, and `outcome` says that there was nothing to check.
    `not_checked` names the expectations left out because the keys they compare with were not given.
    """

    model_config = ConfigDict(frozen=True)

    table: TableName
    batch: str
    success: bool
    rows: int
    expectations: tuple[ExpectationResult, ...]
    not_checked: tuple[str, ...] = ()
    docs_page: Path | None = None

    @property
    def failed(self) -> tuple[ExpectationResult, ...]:
        """The expectations that did not pass, errors first, else in the suite's order."""
        return tuple(sorted((one for one in self.expectations if not one.success), key=lambda one: one.severity))

    @property
    def severity(self) -> Severity | None:
        """The worst severity among the failed expectations; None where all passed."""
        return self.failed[0].severity if self.failed else None

    @property
    def outcome(self) -> Outcome:
        """The result in a word, for people."""
        if self.severity is not None:
            return "failed" if self.severity == "error" else "warnings"
        return "passed" if self.rows else "nothing to check"


def visible(value: object) -> str:
    """The value as text in which every character can be seen: control characters and odd spaces are written out."""
    text = " · ".join(map(str, value.values())) if isinstance(value, dict) else str(value)
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
