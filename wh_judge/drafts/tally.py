"""What came of the turns of some days, and what it took."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass
class Tally:
    """Counts that add up. What an answer out of the cache had cost when it was asked for is not counted again."""

    turns: int = 0
    kept: int = 0
    default: int = 0
    thrown_away: int = 0
    no_response: int = 0
    """Turns by outcome; their sum is `turns`."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Turns by the reasons for which the model's sentence does not stand; one may have several."""
    requests: int = 0
    """Requests that were sent, each try counted."""
    prompt_tokens: int = 0
    response_tokens: int = 0
    estimated_tokens: int = 0
    money: float = 0.0
    """What these requests used, and how many of the tokens are estimates: where a server does not count, or a try
    failed, the most that it may have been."""
    from_cache: int = 0
    """Turns whose answer was there already."""
    cached_prompt_tokens: int = 0
    cached_response_tokens: int = 0
    cached_estimated_tokens: int = 0
    cached_money: float = 0.0
    """What those had used when they were asked for, at the prices of now."""
    seconds: float = 0.0
    """How long it took."""

    def count(self, outcome: str, reasons: Iterable[str]) -> None:
        """Count a turn."""
        self.turns += 1
        setattr(self, outcome, getattr(self, outcome) + 1)
        self.reasons.update(reasons)

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    def told(self, priced: bool) -> dict[str, Any]:
        """By name, the seconds to tenths; money only where prices are set, since without them 0 would be untrue."""
        names = [one.name for one in fields(self) if priced or not one.name.endswith("money")]
        return {name: getattr(self, name) for name in names} | {"seconds": round(self.seconds, 1)}

    def so_far(self, priced: bool) -> str:
        """One short line for whoever waits."""
        refused = self.default + self.thrown_away
        told = [f"{self.kept} kept", f"{refused} refused"]
        if self.no_response:
            told.append(f"{self.no_response} no response")
        if self.from_cache:
            told.append(f"{self.from_cache} cached")
        told.append(f"{self.prompt_tokens + self.response_tokens:,} tokens")
        return ", ".join([*told, *([money_told(self.money)] if priced else [])])


def money_told(money: float) -> str:
    """An amount, small ones too."""
    return f"{money:,.4f}"
