"""What may be spent is never passed, whatever is under way at once."""

import asyncio
import random

import pytest

from wh_judge.drafts.budget import Budget

PRICES = (2.0, 8.0)


def test_what_does_not_fit_is_refused_when_nothing_is_under_way() -> None:
    async def run() -> list[bool]:
        budget = Budget(100, None, PRICES)
        return [await budget.take(60, 40), not await _within(budget.take(1, 0))]

    assert asyncio.run(run()) == [True, True]


async def _within(waiting: "asyncio.Future[bool] | object") -> bool | None:
    """The result, or None where it does not come."""
    try:
        return await asyncio.wait_for(waiting, 0.05)  # type: ignore[arg-type]
    except TimeoutError:
        return None


def test_what_comes_back_makes_room_for_who_waits() -> None:
    async def run() -> tuple[bool, int]:
        budget = Budget(100, None, PRICES)
        assert await budget.take(60, 40)
        waiting = asyncio.create_task(budget.take(50, 30))
        await asyncio.sleep(0)
        await budget.give_back((60, 40), (10, 5), 0)
        return await waiting, sum(budget.spent)

    assert asyncio.run(run()) == (True, 15)


def test_who_waits_is_refused_when_too_little_comes_back() -> None:
    async def run() -> bool:
        budget = Budget(100, None, PRICES)
        await budget.take(60, 40)
        waiting = asyncio.create_task(budget.take(50, 30))
        await asyncio.sleep(0)
        await budget.give_back((60, 40), (60, 40), 100)
        return await waiting

    assert asyncio.run(run()) is False


@pytest.mark.parametrize(("money", "fits"), [(None, True), (10.0, True), (9.99, False), (0.0, False)])
def test_money_counts_beside_tokens(money: float | None, fits: bool) -> None:
    budget = Budget(10**9, money, PRICES)
    assert budget.cost(1_000_000, 1_000_000) == 10.0
    assert asyncio.run(budget.take(1_000_000, 1_000_000)) is fits


@pytest.mark.parametrize(
    ("money", "told"),
    [
        (
            None,
            "the cap drafts_tokens = 100 leaves no room: 30 are used, and this request may use 71; raise drafts_tokens",
        ),
        (
            0.0003,
            "the cap drafts_money = 0.0003 leaves no room: 0.00018 is used, and this request may cost 0.0002;"
            " raise drafts_money",
        ),
    ],
)
def test_the_cap_that_leaves_no_room_is_named_with_the_setting(money: float | None, told: str) -> None:
    budget = Budget(100, money, PRICES)
    budget.count((10, 20), 0)
    most = (70, 1) if money is None else (60, 10)
    assert budget.lacks(*most) == told and not asyncio.run(budget.take(*most))
    assert budget.lacks(1, 1) == ""


def test_neither_cap_is_passed_by_many_at_once() -> None:
    budget, chance = Budget(5_000, 0.02, PRICES), random.Random(1)

    async def request() -> bool:
        most = (chance.randrange(1, 400), chance.randrange(1, 200))
        if not await budget.take(*most):
            return False
        await asyncio.sleep(chance.random() / 1000)
        await budget.give_back(most, (chance.randint(0, most[0]), chance.randint(0, most[1])), 0)
        return True

    async def run() -> list[bool]:
        return await asyncio.gather(*(request() for _ in range(200)))

    asked = asyncio.run(run())
    assert any(asked) and not all(asked)
    assert sum(budget.spent) <= 5_000 and budget.cost(*budget.spent) <= 0.02
