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
    estimated: int = 0
    """How many of these no server counted: they are the most that may have been used."""
    _aside: list[tuple[int, float]] = field(default_factory=list)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    def count(self, used: tuple[int, int], estimated: int) -> None:
        """Count what was used, and how many tokens of that are an estimate."""
        self.estimated += estimated
        self.spent = self.spent[0] + used[0], self.spent[1] + used[1]

    def cost(self, prompt: int, response: int) -> float:
        """The price of so many tokens."""
        return (prompt * self.prices[0] + response * self.prices[1]) / 1_000_000

    async def take(self, prompt: int, response: int) -> bool:
        """Set the most that a request can cost aside; False where it does not fit any more.

        Waits for requests under way as long as what they give back could make room.
        """
        async with self._changed:
            while self.lacks(prompt, response):
                if not self._aside:
                    return False
                await self._changed.wait()
            self._aside.append((prompt + response, self.cost(prompt, response)))
            return True

    async def give_back(self, most: tuple[int, int], used: tuple[int, int], estimated: int) -> None:
        """Count what a request did use in the place of the most that was set aside for it."""
        async with self._changed:
            self._aside.remove((sum(most), self.cost(*most)))
            self.count(used, estimated)
            self._changed.notify_all()

    def lacks(self, prompt: int, response: int) -> str:
        """Which cap leaves no room for a request, and what to raise; empty where it fits."""
        tokens = prompt + response
        if sum(self.spent) + sum(aside for aside, _ in self._aside) + tokens > self.tokens:
            return (
                f"the cap drafts_tokens = {self.tokens} leaves no room: {sum(self.spent)} are used, and this request"
                f" may use {tokens}; raise drafts_tokens"
            )
        used, cost = self.cost(*self.spent), self.cost(prompt, response)
        if self.money is not None and used + sum(aside for _, aside in self._aside) + cost > self.money:
            return (
                f"the cap drafts_money = {self.money:g} leaves no room: {used:.4g} is used, and this request may cost"
                f" {cost:.4g}; raise drafts_money"
            )
        return ""
