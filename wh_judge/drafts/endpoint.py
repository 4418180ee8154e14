"""One OpenAI-compatible endpoint: time-outs, retries with back-off and jitter, and rate limits that it names."""

import asyncio
import email.utils
import json
import math
import random
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai
from pydantic import ValidationError

from wh_judge import strict_json
from wh_judge.drafts.budget import Budget
from wh_judge.drafts.cache import Answer
from wh_judge.drafts.completion import read_completion, whole
from wh_judge.drafts.prompt import FORMATS, Request
from wh_judge.errors import UserError, first_fault
from wh_judge.settings import DRAFTS_KEY, ENVIRONMENT
from wh_judge.text import one_line

LONGEST_PAUSE = 60.0
"""Seconds that one pause lasts at most, whatever the server asks for."""

ANSWER_LIMIT = 1 << 20
"""Bytes of one answer; `MOST_TOKENS` tokens of text, escaped, are far fewer."""

BODY_LIMIT = 16_000
"""Characters that are kept of an answer that is none."""

_SECRET_FROM = 12
"""Characters from which a key is taken for a secret; shorter ones are what servers without keys are given."""


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

        Raises:
            UserError: the address or the key is none.
        """
        check(url, key)
        self._client = openai.AsyncOpenAI(
            base_url=url,
            api_key=key,
            max_retries=0,
            timeout=seconds,
            default_headers={"Accept-Encoding": "identity"},
            # What was said in a chat goes to the address that was named, and to no other.
            http_client=openai.DefaultAsyncHttpxClient(
                follow_redirects=False, event_hooks={"response": [_bound]}, timeout=seconds
            ),
        )
        self._key = key
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
        failed: list[Answer] = []
        while len(failed) < self._tries:
            await asyncio.sleep(max(0.0, self._not_before - time.monotonic()))
            most = (request.most_prompt_tokens, request.max_tokens)
            if not await budget.take(*most):
                reason = ("not_asked_cap", "the cap on tokens or money leaves no room for it")
                return Answer(None, reason, tries=len(failed), earlier=tuple(failed))
            form, used, content, wanted = self._format, most, b"", None
            asked_at, begun = time.time(), time.monotonic()
            try:
                async with asyncio.timeout(self._seconds):
                    content = await self._send(request, form)
                answer = self._answer(content)
                used = used_for(request, answer)
                took = time.monotonic() - begun
                return replace(answer, seconds=took, tries=len(failed) + 1, asked_at=asked_at, earlier=tuple(failed))
            except (TimeoutError, openai.APITimeoutError):
                failure = ("no_answer", f"no whole answer within {self._seconds:g} s")
            except (openai.AuthenticationError, openai.PermissionDeniedError, openai.NotFoundError) as error:
                raise self._useless(error) from None
            except openai.APIStatusError as error:
                if error.status_code < 400:
                    raise self._useless(error) from None
                used, content = (0, 0), error.response.content
                # llama-cpp-python says 500 where it should say 422.
                if error.status_code in (400, 422, 500) and form + 1 < len(FORMATS) and _is_about_the_format(error):
                    self._format = max(self._format, form + 1)
                    continue
                failure = ("no_answer", f"the server answers {self._words(error)}")
                if error.status_code in (400, 422):
                    failure = ("not_accepted", failure[1])
                wanted = retry_after(error.response.headers)
                if wanted is not None:
                    # The limit is the endpoint's, so that every request waits for it, not only this one.
                    self._not_before = max(self._not_before, time.monotonic() + min(wanted, LONGEST_PAUSE))
            except openai.APIConnectionError as error:
                failure = ("no_answer", self._without_key(f"the connection broke: {error.__cause__ or error}"))
            except ValidationError as error:
                failure = ("no_answer", f"the answer is no chat completion: {first_fault(error)}")
            except ValueError as error:
                failure = ("no_answer", f"the answer is no chat completion: {strict_json.reason(error)}")
            finally:
                await budget.give_back(most, used)
            body = self._without_key(content.decode(errors="replace"))[:BODY_LIMIT] or None
            took = time.monotonic() - begun
            failed.append(Answer(None, failure, body, seconds=took, asked_at=asked_at))
            if failure[0] == "not_accepted":
                break
            if wanted is None and len(failed) < self._tries:
                await asyncio.sleep(self._jittered(len(failed)))
        *earlier, last = failed
        return replace(last, tries=len(failed), earlier=tuple(earlier))

    def _jittered(self, sent: int) -> float:
        """Seconds to wait after so many tries: doubling, and each request another time, so that they do not meet."""
        return float(min(LONGEST_PAUSE, self._pause * 2 ** (sent - 1)) * (0.5 + self._chance()))

    async def _send(self, request: Request, form: int) -> bytes:
        # The client would take any answer for a completion: it is read here, by what it must hold.
        response = await self._client.chat.completions.with_raw_response.create(**request.body(form))
        content: bytes = response.content
        return content

    def _answer(self, content: bytes) -> Answer:
        answer = read_completion(strict_json.decode(content.decode(errors="replace")))
        return replace(answer, raw=self._without_key(answer.raw or ""))

    def _useless(self, error: openai.APIStatusError) -> UserError:
        """What is refused to every request alike."""
        return UserError(f"{self._url}: {self._words(error)}; check WH_JUDGE_DRAFTS_URL, _MODEL and _KEY")

    def _words(self, error: openai.APIStatusError) -> str:
        """What the server says of it, on one line."""
        body = error.body
        text = json.dumps(body, ensure_ascii=False) if isinstance(body, dict | list) else str(body or error.message)
        text = whole(text)
        return f"{error.status_code} {one_line(' '.join(self._without_key(text).split())[:200])}"

    def _without_key(self, text: str) -> str:
        """The text with the key's name in the place of a key that the server, or the client, repeats."""
        return text.replace(self._key, DRAFTS_KEY) if len(self._key) >= _SECRET_FROM else text


def used_for(request: Request, answer: Answer) -> tuple[int, int]:
    """Tokens of the prompt and of the response; where a server does not count, it may have used all that it could."""
    return answer.prompt_tokens or request.most_prompt_tokens, answer.response_tokens or request.max_tokens


def check(url: str, key: str) -> None:
    """Raise a UserError where the address or the key is none."""
    try:
        # What the client itself takes for no address, such as one of several lines, it would refuse to each request.
        httpx2.URL(url)
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except (ValueError, httpx2.InvalidURL):
        usable = False
    if not usable or "@" in parts.netloc:
        raise UserError(
            f"{ENVIRONMENT['drafts_url']}: is no address; write it like http://127.0.0.1:8000/v1, without a password"
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UserError(f"{DRAFTS_KEY}: holds a character that no key has, such as white space; set it anew")


async def _bound(response: httpx2.Response) -> None:
    """See to it that no more is read than an answer may have; what is packed could become more than it is."""
    packed = response.headers.get("content-encoding", "identity")
    if packed != "identity":
        raise httpx2.RemoteProtocolError(f"the answer is packed as {packed}, which was not asked for")
    # JSON is UTF-8. By the name that the server gives, the client would take any codec of Python: some unpack.
    response.encoding = "utf-8"
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream)


class _Bounded(httpx2.AsyncByteStream):
    """A stream that breaks off behind `ANSWER_LIMIT` bytes."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for piece in self._stream:
            read += len(piece)
            if read > ANSWER_LIMIT:
                raise httpx2.RemoteProtocolError(f"the answer is longer than {ANSWER_LIMIT} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def retry_after(headers: Any) -> float | None:
    """Seconds that a server asks to wait: `retry-after-ms`, or `retry-after` as seconds or as a date; None without."""
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        elif (value := headers.get("retry-after")) is None:
            return None
        elif value.strip().replace(".", "", 1).isdigit():
            seconds = float(value)
        else:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None
    return None if math.isnan(seconds) else max(0.0, seconds)


def _is_about_the_format(error: openai.APIStatusError) -> bool:
    """Whether a server refuses how the schema was given, and not the question itself."""
    text = json.dumps(error.body, default=str) + error.message
    return any(word in text for word in ("response_format", "json_schema", "json_object", "grammar"))
