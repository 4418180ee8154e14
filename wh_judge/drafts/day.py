"""The drafts of one day: ask for every case, weigh every answer. Nothing is read from or written to the warehouse."""

import asyncio
import datetime as dt
import os
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass

from wh_judge.drafts.ask import answer_all
from wh_judge.drafts.budget import Budget
from wh_judge.drafts.cache import Answer, Cache
from wh_judge.drafts.endpoint import Endpoint, check, used_for
from wh_judge.drafts.gate import weigh_answer
from wh_judge.drafts.prompt import DOCUMENT_LIMIT, Request, request_for
from wh_judge.drafts.tally import Tally
from wh_judge.errors import UserError
from wh_judge.locks import alone
from wh_judge.settings import DRAFTS_KEY, ENVIRONMENT, Settings
from wh_judge.store.drafts import Draft, DraftCase

WATCHER: ContextVar[Callable[[Tally, int], None]] = ContextVar("WATCHER", default=lambda so_far, turns: None)
"""Told what came of a day's turns so far, and how many there are; between it and the day may lie an orchestrator."""

FIRST_PAUSE = 1.0
"""Seconds before the second try of a request."""


@dataclass(frozen=True)
class DraftedDay:
    """What came of a day's requests."""

    drafts: Sequence[Draft]
    """Of each case what came of it last."""
    tries: Sequence[Draft]
    """All tries of these requests, of this run and of those before, and what was not asked."""
    tally: Tally


def draft_day(cases: Sequence[DraftCase], settings: Settings) -> DraftedDay:
    """Ask the endpoint of the settings for a response to each case, and weigh it.

    While another process does so on these data, this waits.

    Raises:
        UserError: the endpoint is not named, refuses what every request shares, or answers none of them.
    """
    url, model, _ = endpoint_of(settings)
    watcher, begun = WATCHER.get(), time.monotonic()
    requests = [request_for(case.verdict, model) for case in cases]
    asked = [(place, request) for place, request in enumerate(requests) if request is not None]
    drafts: dict[int, Draft] = {}
    budget = Budget(settings.drafts_tokens, settings.drafts_money, settings.drafts_prices)
    # What another process asks just now is not asked twice: it comes out of the cache, and costs nothing.
    with alone(settings.data / "drafts.lock"), Cache(settings.data / "drafts.sqlite") as cache:
        # What a day's drafts may use is not given anew to each run that goes on with them.
        for _, one in asked:
            if (known := cache.get(one.hash)) is not None:
                used = used_for(one, known)
                budget.count(used, sum(used) - known.prompt_tokens - known.response_tokens)
        before, estimated = budget.spent, budget.estimated
        tally = Tally(
            cached_prompt_tokens=before[0],
            cached_response_tokens=before[1],
            cached_estimated_tokens=estimated,
            cached_money=budget.cost(*before),
        )

        def came(place: int, answer: Answer) -> None:
            draft = drafts[place] = _draft(cases[place], model, requests[place], answer)
            tally.count(draft.outcome, [code for code, _ in draft.reasons])
            tally.requests += answer.tries
            tally.from_cache += answer.raw is not None and not answer.tries
            used = budget.spent[0] - before[0], budget.spent[1] - before[1]
            tally.prompt_tokens, tally.response_tokens = used
            tally.estimated_tokens = budget.estimated - estimated
            tally.money, tally.seconds = budget.cost(*used), time.monotonic() - begun
            watcher(tally, len(cases))

        for place, request in enumerate(requests):
            if request is None:
                came(place, Answer(None, ("not_asked_long", f"the document is longer than {DOCUMENT_LIMIT} bytes")))
        answers = asyncio.run(
            _answers(
                [request for _, request in asked],
                settings,
                cache,
                budget,
                lambda number, answer: came(asked[number][0], answer),
            )
        )
        _need_one(answers, url)
        failed = [
            (place, _draft(cases[place], model, one, answer))
            for place, one in asked
            for answer in cache.failed(one.hash)
        ]
    earlier = [draft for place, draft in failed if draft.asked_at != drafts[place].asked_at]
    last = [drafts[place] for place in range(len(cases))]
    return DraftedDay(last, [*earlier, *last], tally)


def _need_one(answers: Sequence[Answer], url: str) -> None:
    """Raise a UserError where nobody answers: that says nothing of a turn, and is not kept as what came of it."""
    failures = [answer.failure for answer in answers if answer.failure and answer.asked_at]
    if failures and all(answer.raw is None for answer in answers) and {code for code, _ in failures} == {"no_answer"}:
        raise UserError(
            f"{url}: {failures[-1][1]}; no request has an answer: start the server there, set"
            f" {ENVIRONMENT['drafts_url']} to another one, or raise drafts_seconds"
        )


def model_of(settings: Settings) -> str:
    """The model that is asked.

    Raises:
        UserError: no verdict is to be written for, or no model is named.
    """
    if not settings.drafts:
        raise UserError('drafts: names no verdict; set drafts = ["말투 어긋남"] or others in [tool.wh_judge]')
    if not settings.drafts_model:
        raise UserError(f"drafts: is set, but no model is; set {ENVIRONMENT['drafts_model']}, or drafts = []")
    return settings.drafts_model


def endpoint_of(settings: Settings) -> tuple[str, str, str]:
    """The address that is asked, the model, and the key.

    Raises:
        UserError: as `model_of`; or the address is missing, or it or the key is none.
    """
    if settings.drafts and not settings.drafts_url:
        raise UserError(
            "drafts: is set, but no endpoint is; set WH_JUDGE_DRAFTS_URL and WH_JUDGE_DRAFTS_MODEL, or drafts = []"
        )
    model = model_of(settings)
    url, key = settings.drafts_url or "", os.environ.get(DRAFTS_KEY, "").strip() or "none"
    check(url, key)
    return url, model, key


async def _answers(
    requests: Sequence[Request],
    settings: Settings,
    cache: Cache,
    budget: Budget,
    came: Callable[[int, Answer], None],
) -> list[Answer]:
    url, _, key = endpoint_of(settings)
    endpoint = Endpoint(url, key, seconds=settings.drafts_seconds, tries=settings.drafts_tries, pause=FIRST_PAUSE)
    try:
        return await answer_all(
            requests, lambda request: endpoint.ask(request, budget), cache, settings.drafts_at_once, came
        )
    finally:
        await endpoint.close()


def _draft(case: DraftCase, model: str, request: Request | None, answer: Answer) -> Draft:
    weighed = weigh_answer(answer, case.verdict, case.log)
    return Draft(
        turn_id=case.verdict.turn_id,
        row_hash=case.row_hash,
        request_hash=request.hash if request else None,
        model=model,
        outcome=weighed.outcome,
        reasons=tuple((reason.code, reason.text) for reason in weighed.reasons),
        summary=weighed.summary,
        raw=answer.body if answer.raw is None else answer.raw,
        prompt_tokens=answer.prompt_tokens,
        response_tokens=answer.response_tokens,
        seconds=answer.seconds,
        asked_at=None if answer.asked_at is None else dt.datetime.fromtimestamp(answer.asked_at, dt.UTC),
    )
