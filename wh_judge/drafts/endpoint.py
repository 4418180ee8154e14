"""One OpenAI-compatible endpoint: time-outs, retries with back-off and jitter, and rate limits that it names."""

import asyncio
import email.utils
import json
import random
import time
from collections.abc import Callable
from typing import Any

import openai
from openai.types.chat import ChatCompletion

from wh_judge.drafts.budget import Budget
from wh_judge.drafts.cache import Answer
from wh_judge.drafts.prompt import SCHEMA, Request
from wh_judge.errors import UserError

LONGEST_PAUSE = 60.0
"""Seconds that one pause lasts at most, whatever the server asks for."""

FORMATS: tuple[dict[str, Any] | None, ...] = (
    {"type": "json_schema", "json_schema": {"name": "verdict", "schema": SCHEMA}},
    {"type": "json_object", "schema": SCHEMA},
    None,
)
"""How servers take a schema, in the order in which they are tried: OpenAI's way, that of llama-cpp-python, none."""


class Endpoint:
    """Where models are asked."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        seconds: float,
        tries: int,
        pause: float = 1.0,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Args:
        url: base URL, such as http://127.0.0.1:8000/v1.
        key: what the server wants as a bearer token; any text where it wants none.
        seconds: how long one try may take, from its start to the last byte of its answer.
        tries: requests that are sent for one answer at most.
        pause: seconds before the second try; doubled before each further one.
        chance: numbers in [0, 1) for the jitter.
        """
        self._client = openai.AsyncOpenAI(base_url=url, api_key=key, max_retries=0, timeout=seconds)
        self._url, self._seconds, self._tries, self._pause, self._chance = url, seconds, tries, pause, chance
        self._format = 0
        self._not_before = 0.0

    async def close(self) -> None:
        """Close its connections."""
        await self._client.close()

    async def ask(self, request: Request, budget: Budget) -> Answer:
        """The answer to a request, or why there is none.

        Before each try the most that it can use is set aside in the budget.

        Raises:
            UserError: the endpoint refuses the key, the model or the address, so that no request can be answered.
        """
        begun, sent, failure = time.monotonic(), 0, ("not_asked", "no try was allowed")
        while sent < self._tries:
            await asyncio.sleep(max(0.0, self._not_before - time.monotonic()))
            most = (request.most_prompt_tokens, request.max_tokens)
            if not await budget.take(*most):
                return Answer(None, ("not_asked", "the cap on tokens or money leaves no room for it"), tries=sent)
            form, sent, used = self._format, sent + 1, most
            try:
                async with asyncio.timeout(self._seconds):
                    answer = _answer(await self._send(request, FORMATS[form]), time.monotonic() - begun, sent)
                # A server that does not count may have used all that it could.
                used = (answer.prompt_tokens, answer.response_tokens) if answer.prompt_tokens else most
                return answer
            except (TimeoutError, openai.APITimeoutError):
                failure = ("no_answer", f"no whole answer within {self._seconds:g} s")
            except (openai.AuthenticationError, openai.PermissionDeniedError, openai.NotFoundError) as error:
                raise UserError(f"{self._url}: {_words(error)}; check WH_JUDGE_DRAFTS_URL, _MODEL and _KEY") from None
            except openai.APIStatusError as error:
                used, failure = (0, 0), ("no_answer", f"the server answers {_words(error)}")
                # llama-cpp-python says 500 where it should say 422.
                if error.status_code in (400, 422, 500) and form + 1 < len(FORMATS) and _is_about_the_format(error):
                    self._format, sent = max(self._format, form + 1), sent - 1
                    continue
                if error.status_code in (400, 422):
                    return Answer(None, failure, tries=sent)
                wanted = retry_after(error.response.headers)
                if wanted is not None:
                    # The limit is the endpoint's, so that every request waits for it, not only this one.
                    self._not_before = max(self._not_before, time.monotonic() + min(wanted, LONGEST_PAUSE))
                    continue
            except openai.APIConnectionError as error:
                failure = ("no_answer", f"the connection broke: {error.__cause__ or error}")
            except (openai.APIError, ValueError) as error:
                failure = ("no_answer", f"the answer is no chat completion: {error}")
            finally:
                await budget.give_back(most, used)
            if sent < self._tries:
                await asyncio.sleep(self._jittered(sent))
        return Answer(None, failure, seconds=time.monotonic() - begun, tries=sent)

    def _jittered(self, sent: int) -> float:
        """Seconds to wait after so many tries: doubling, and each request another time, so that they do not meet."""
        return float(min(LONGEST_PAUSE, self._pause * 2 ** (sent - 1)) * (0.5 + self._chance()))

    async def _send(self, request: Request, form: dict[str, Any] | None) -> ChatCompletion:
        more: dict[str, Any] = {} if form is None else {"response_format": form}
        completion = await self._client.chat.completions.create(
            model=request.model,
            messages=[{"role": role, "content": content} for role, content in request.messages],  # type: ignore[misc]
            max_tokens=request.max_tokens,
            temperature=0,
            seed=0,
            **more,
        )
        if not isinstance(completion, ChatCompletion) or not completion.choices:
            raise ValueError(repr(completion)[:80])
        return completion


def _answer(completion: ChatCompletion, seconds: float, sent: int) -> Answer:
    choice, usage = completion.choices[0], completion.usage
    # A server may leave out what the client's types call certain.
    raw = getattr(choice.message, "content", None) or getattr(choice.message, "refusal", None) or ""
    return Answer(
        # Half of a surrogate pair is no text that can be kept.
        raw=raw.encode(errors="replace").decode(),
        cut_off=choice.finish_reason == "length",
        prompt_tokens=usage.prompt_tokens if usage else 0,
        response_tokens=usage.completion_tokens if usage else 0,
        seconds=seconds,
        tries=sent,
    )


def retry_after(headers: Any) -> float | None:
    """Seconds that a server asks to wait: `retry-after-ms`, or `retry-after` as seconds or as a date; None without."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after")
        if value is None:
            return None
        if value.strip().replace(".", "", 1).isdigit():
            return float(value)
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def _is_about_the_format(error: openai.APIStatusError) -> bool:
    """Whether a server refuses how the schema was given, and not the question itself."""
    text = json.dumps(error.body, default=str) + error.message
    return any(word in text for word in ("response_format", "json_schema", "json_object", "grammar"))


def _words(error: openai.APIStatusError) -> str:
    """What the server says of it, on one line."""
    body = error.body
    text = json.dumps(body, ensure_ascii=False) if isinstance(body, dict | list) else str(body or error.message)
    return f"{error.status_code} {' '.join(text.split())[:200]}"
