"""A cap on tokens and money that is never passed: what a request may cost at most is set aside before it is sent."""

import asyncio
from dataclasses import dataclass, field


@dataclass
class Budget:
    """What may be spent, and what has been.

    While a request is under way, the most that it can cost is set aside; afterwards, what it did cost counts.
    """

    tokens: int
    """Tokens that may be used, of prompts and responses together."""
    money: float | None
    """Money that may be spent, in the currency of `prices`; None means that only tokens are counted."""
    prices: tuple[float, float]
    """The price of a million tokens of prompts, and of responses."""
    spent: tuple[int, int] = (0, 0)
    """Tokens that were used, of prompts and of responses."""
    _aside: list[tuple[int, float]] = field(default_factory=list)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    def count(self, used: tuple[int, int]) -> None:
        """Count what was used."""
        self.spent = self.spent[0] + used[0], self.spent[1] + used[1]

    def cost(self, prompt: int, response: int) -> float:
        """The price of so many tokens."""
        return (prompt * self.prices[0] + response * self.prices[1]) / 1_000_000

    async def take(self, prompt: int, response: int) -> bool:
        """Set the most that a request can cost aside; False where it does not fit any more.

        Waits for requests under way as long as what they give back could make room.
        """
        async with self._changed:
            while not self._fits(prompt, response):
                if not self._aside:
                    return False
                await self._changed.wait()
            self._aside.append((prompt + response, self.cost(prompt, response)))
            return True

    async def give_back(self, most: tuple[int, int], used: tuple[int, int]) -> None:
        """Count what a request did use in the place of the most that was set aside for it."""
        async with self._changed:
            self._aside.remove((sum(most), self.cost(*most)))
            self.count(used)
            self._changed.notify_all()

    def _fits(self, prompt: int, response: int) -> bool:
        tokens = sum(self.spent) + sum(tokens for tokens, _ in self._aside) + prompt + response
        money = self.cost(*self.spent) + sum(money for _, money in self._aside) + self.cost(prompt, response)
        return tokens <= self.tokens and (self.money is None or money <= self.money)
