"""What is done to a sound claim, and small changes to do it with."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wh_judge_tests.validations.states import Claim

Change = Callable[[Claim], Any]

Table = dict[str, list[tuple[str, str, Change, str]]]
"""By the code of a validation: the damage's name, the turn of the claim, the change, words of the reason."""


@dataclass(frozen=True)
class Damage:
    """What is done to the claim about one turn, and what the validation that must name it says."""

    code: str
    name: str
    turn_id: str
    change: Change
    says: str

    def __str__(self) -> str:
        return f"{self.code}: {self.name}"


def cells(**values: Any) -> Change:
    """Overwrite cells."""
    return lambda claim: claim.update(values)


def without(name: str) -> Change:
    """Take a cell away."""
    return lambda claim: claim.pop(name)


def row(place: int, **values: Any) -> Change:
    """Overwrite cells of an evidence row."""
    return lambda claim: claim["evidence"][place].update(values)


def row_without(place: int, name: str, **values: Any) -> Change:
    """Take a cell of an evidence row away and overwrite others."""
    return lambda claim: (claim["evidence"][place].pop(name), claim["evidence"][place].update(values))


def cited(source: str, field: str, value: Any, **more: Any) -> Change:
    """Append an evidence row without a key."""
    return lambda claim: claim["evidence"].append({"source": source, "field": field, "value": value} | more)


def junk(value: Any) -> Change:
    """Append anything to the evidence."""
    return lambda claim: claim["evidence"].append(value)


def each(*changes: Change) -> Change:
    """One change after the other."""
    return lambda claim: [change(claim) for change in changes]
