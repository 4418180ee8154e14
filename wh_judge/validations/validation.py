"""What a validation is, what it reports, and how a reason shows a value that may be anything."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wh_judge.text import nfc
from wh_judge.validations.subject import Subject

Reasons = Sequence[str] | None
"""Why a claim fails, one English phrase each: empty where it passes, None where the validation does not apply."""

PASSED: tuple[str, ...] = ()

SHOWN = 60
"""Characters of a text that a reason shows."""

LEAD = 20
"""Characters shown before the place where two long texts part."""

REASONS_NAMED = 8
"""Reasons of one claim that are spelled out; the others are counted."""


@dataclass(frozen=True)
class Validation:
    """One validation. `judge` looks at one claim and never raises, whatever the claim is."""

    number: int | None
    """1 to 10, or None for the two that stand over the ten."""
    code: str
    title: str
    """Korean, for the screen."""
    description: str
    judge: Callable[[Subject], Reasons]
    model_output: bool = False
    """Whether it is also run alone, on what a language model returns."""


@dataclass(frozen=True)
class Failure:
    """One claim that failed."""

    turn_id: str | None
    """As the claim gives it; None where it gives none that can be written."""
    row: int
    """The claim's place in the input, from 1."""
    reason: str
    """One line: what was expected and what was found."""


@dataclass(frozen=True)
class ValidationResult:
    """One validation over all claims: `looked_at` = `passed` + `failed` + `not_applicable`."""

    number: int | None
    code: str
    title: str
    description: str
    looked_at: int
    passed: int
    failed: int
    not_applicable: int
    failures: tuple[Failure, ...]
    """Every failing claim, one entry each, in the order of the input."""

    @property
    def ok(self) -> bool:
        """Nothing failed."""
        return not self.failed

    def joined(self, *others: "ValidationResult") -> "ValidationResult":
        """This result and those of the same validation over other claims, as one."""
        all_of = [self, *others]
        return replace(
            self,
            looked_at=sum(result.looked_at for result in all_of),
            passed=sum(result.passed for result in all_of),
            failed=sum(result.failed for result in all_of),
            not_applicable=sum(result.not_applicable for result in all_of),
            failures=tuple(failure for result in all_of for failure in result.failures),
        )


def named(turn_id: Any) -> str | None:
    """The turn id of a failure; a lone surrogate, which no file could hold, gives None."""
    if not isinstance(turn_id, str):
        return None
    try:
        turn_id.encode()
    except UnicodeEncodeError:
        return None
    return turn_id


def joined(reasons: Sequence[str]) -> str:
    """The reasons as one line."""
    more = len(reasons) - REASONS_NAMED
    return "; ".join(reasons[:REASONS_NAMED]) + (f"; and {more} more" if more > 0 else "")


def differs(what: str, expected: Any, found: Any) -> str:
    """The reason that `what` is not what it should be; long texts are shown from where they part."""
    start = 0
    twins = ""
    if isinstance(expected, str) and isinstance(found, str):
        if max(len(expected), len(found)) > SHOWN:
            pairs = enumerate(zip(expected, found, strict=False))
            parted = next((place for place, (one, other) in pairs if one != other), min(len(expected), len(found)))
            start = max(0, parted - LEAD)
        if nfc(expected) == nfc(found):
            twins = " (they differ only in Unicode normal form)"
    return f"{what}: expected {shown(expected, start)}, found {shown(found, start)}{twins}"


def shown(value: Any, start: int = 0) -> str:
    """Any value on one line of bounded length: texts quoted and cut, nested things only named."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        end = start + SHOWN
        return ("…" if start else "") + repr(value[start:end]) + ("…" if len(value) > end else "")
    if isinstance(value, int):
        # Python refuses to write out integers of thousands of digits.
        return str(value) if value.bit_length() <= 4 * SHOWN else f"a whole number of {value.bit_length()} bits"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list):
        if any(isinstance(element, list | dict) for element in value):
            return f"a nested list of {len(value)}"
        inside = ", ".join(shown(element) for element in value[:REASONS_NAMED])
        return f"[{inside}{', …' if len(value) > REASONS_NAMED else ''}]"
    return "an object" if isinstance(value, dict) else f"a {type(value).__name__}"
