"""The drafts of one day: ask for every case, weigh every answer. Nothing is read from or written to the warehouse."""

import asyncio
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from wh_judge.drafts.ask import answer_all
from wh_judge.drafts.budget import Budget
from wh_judge.drafts.cache import Answer, Cache
from wh_judge.drafts.endpoint import Endpoint, check, used_for
from wh_judge.drafts.gate import refused, weigh
from wh_judge.drafts.prompt import DOCUMENT_LIMIT, Request, request_for
from wh_judge.errors import UserError
from wh_judge.locks import alone
from wh_judge.settings import DRAFTS_KEY, Settings
from wh_judge.store.drafts import Draft, DraftCase


@dataclass(frozen=True)
class DraftedDay:
    """What came of a day's requests."""

    drafts: Sequence[Draft]
    requests: int
    """Requests that were sent, each try counted."""
    cached: int
    """Answers out of the cache."""
    tokens: int
    """Tokens of this time; those of cached answers were used before."""
    money: float

    @property
    def outcomes(self) -> Counter[str]:
        """How many drafts had which outcome."""
        return Counter(draft.outcome for draft in self.drafts)

    @property
    def reasons(self) -> Counter[tuple[str, str]]:
        """How many drafts of which model were refused for which reason; one may have several."""
        return Counter((draft.model, code) for draft in self.drafts for code, _ in draft.reasons)


def draft_day(cases: Sequence[DraftCase], settings: Settings) -> DraftedDay:
    """Ask the endpoint of the settings for a response to each case, and weigh it.

    While another process does so on these data, this waits.

    Raises:
        UserError: the endpoint is not named, or refuses what every request shares.
    """
    _, model, _ = endpoint_of(settings)
    budget = Budget(settings.drafts_tokens, settings.drafts_money, settings.drafts_prices)
    requests = [request_for(case.verdict, model) for case in cases]
    # What another process asks just now is not asked twice: it comes out of the cache, and costs nothing.
    with alone(settings.data / "drafts.lock"), Cache(settings.data / "drafts.sqlite") as cache:
        asked = [request for request in requests if request is not None]
        # What a day's drafts may use is not given anew to each run that goes on with them.
        for one in asked:
            if (known := cache.get(one.hash)) is not None:
                budget.count(used_for(one, known))
        before = budget.spent_tokens, budget.spent_money
        answers = iter(asyncio.run(_answers(asked, settings, cache, budget)))
    drafts, found = [], []
    for case, request in zip(cases, requests, strict=True):
        answer = Answer(None, ("not_asked", f"the verdict's document is longer than {DOCUMENT_LIMIT} bytes"))
        if request is not None:
            answer = next(answers)
            found.append(answer)
        drafts.append(_draft(case, model, request, answer))
    return DraftedDay(
        drafts=drafts,
        requests=sum(answer.tries for answer in found),
        cached=sum(answer.tries == 0 and answer.raw is not None for answer in found),
        tokens=budget.spent_tokens - before[0],
        money=budget.spent_money - before[1],
    )


def endpoint_of(settings: Settings) -> tuple[str, str, str]:
    """The address that is asked, the model, and the key.

    Raises:
        UserError: one of the first two is missing, or the address or the key is none.
    """
    url, model = settings.drafts_url, settings.drafts_model
    if not url or not model:
        raise UserError(
            "drafts: is set, but no endpoint is; set WH_JUDGE_DRAFTS_URL and WH_JUDGE_DRAFTS_MODEL, or drafts = []"
        )
    key = os.environ.get(DRAFTS_KEY, "").strip() or "none"
    check(url, key)
    return url, model, key


async def _answers(requests: Sequence[Request], settings: Settings, cache: Cache, budget: Budget) -> list[Answer]:
    url, _, key = endpoint_of(settings)
    endpoint = Endpoint(
        url,
        key,
        seconds=settings.drafts_seconds,
        tries=settings.drafts_tries,
        pause=FIRST_PAUSE,
    )
    try:
        return await answer_all(requests, lambda request: endpoint.ask(request, budget), cache, settings.drafts_at_once)
    finally:
        await endpoint.close()


FIRST_PAUSE = 1.0
"""Seconds before the second try of a request."""


def _draft(case: DraftCase, model: str, request: Request | None, answer: Answer) -> Draft:
    if answer.raw is None:
        weighed = refused(*(answer.failure or ("no_answer", "no answer")))
    else:
        weighed = weigh(answer.raw, case.verdict, case.log, cut_off=answer.cut_off)
    return Draft(
        turn_id=case.verdict.turn_id,
        row_hash=case.row_hash,
        request_hash=request.hash if request else None,
        model=model,
        outcome=weighed.outcome,
        reasons=tuple((reason.code, reason.text) for reason in weighed.reasons),
        summary=weighed.summary,
        raw=answer.raw,
        prompt_tokens=answer.prompt_tokens,
        response_tokens=answer.response_tokens,
        seconds=answer.seconds,
    )
