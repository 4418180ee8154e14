"""Many requests, so many at a time; each answer is kept as soon as it is there."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from wh_judge.drafts.cache import Answer, Cache
from wh_judge.drafts.prompt import Request

GIVE_UP = 5
"""Requests in a row without an answer after which no further one is sent."""


async def answer_all(
    requests: Sequence[Request],
    ask: Callable[[Request], Awaitable[Answer]],
    cache: Cache,
    at_once: int,
    came: Callable[[int, Answer], None] = lambda place, answer: None,
) -> list[Answer]:
    """The answers to n requests, in their order; what was asked before comes out of the cache.

    Args:
        requests: n questions.
        ask: asks one.
        cache: answers that are known; new ones are added.
        at_once: requests under way at a time.
        came: told the place of each request and its answer as soon as it is there.
    """
    answers: list[Answer | None] = [None] * len(requests)
    places = iter(range(len(requests)))
    silent = 0

    async def work() -> None:
        nonlocal silent
        for place in places:
            request = requests[place]
            answer = cache.get(request.hash)
            if answer is None:
                if silent >= GIVE_UP:
                    answer = Answer(None, ("not_asked_silent", f"{GIVE_UP} requests in a row had no answer"))
                else:
                    answer = await ask(request)
                    cache.keep(request.hash, answer)
                    if answer.tries:
                        silent = 0 if answer.raw is not None else silent + 1
            answers[place] = answer
            came(place, answer)

    workers = [asyncio.create_task(work()) for _ in range(min(at_once, len(requests)))]
    try:
        await asyncio.gather(*workers)
    finally:
        # What one of them raises ends all.
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    return [answer for answer in answers if answer is not None]
