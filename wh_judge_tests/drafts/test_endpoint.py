"""One request: what a server may do to it, and what it comes to."""

import asyncio
import email.utils
import gzip
import json
import re
import time
from dataclasses import replace
from typing import Any

import pytest

from wh_judge.drafts.budget import Budget
from wh_judge.drafts.cache import Answer
from wh_judge.drafts.endpoint import ANSWER_LIMIT, BODY_LIMIT, Endpoint, retry_after
from wh_judge.drafts.prompt import Request, request_for
from wh_judge.errors import UserError
from wh_judge_tests.drafts.build import case
from wh_judge_tests.drafts.scripted import Scripted, Step, copying, serving

KEY = "sk-0123456789"
SMALL = Request("m", (("user", '{"verdict": {}, "default_summary": "예."}'),), 100)


def ask(script: Scripted, request: Request = SMALL, budget: Budget | None = None, **options: Any) -> Answer:
    """Ask the server once; pauses between tries are as good as none."""

    async def asked() -> Answer:
        endpoint = Endpoint(script.url, KEY, **({"seconds": 5.0, "tries": 3, "pause": 0.001} | options))
        try:
            return await endpoint.ask(request, budget or Budget(10**9, None, (0.0, 0.0)))
        finally:
            await endpoint.close()

    return asyncio.run(asked())


def test_the_text_comes_back_as_it_is_with_what_it_cost() -> None:
    with serving(Step("응 \n{", usage=(30, 7))) as script:
        answer = ask(script)
    assert (answer.raw, answer.failure, answer.cut_off) == ("응 \n{", None, False)
    assert (answer.prompt_tokens, answer.response_tokens, answer.tries) == (30, 7, 1)


def test_the_model_the_schema_and_the_key_are_sent() -> None:
    with serving(Step("응")) as script:
        ask(script)
    [sent], [headers] = script.requests, script.headers
    assert (sent["model"], sent["max_tokens"], sent["temperature"]) == ("m", 100, 0)
    assert "summary" in sent["response_format"]["json_schema"]["schema"]["properties"]
    assert headers["authorization"] == f"Bearer {KEY}"


GOOD = Step("응")

RECOVERS: list[Step] = [
    Step(status=500),
    Step(status=503, headers=(("Retry-After", "0"),)),
    Step(status=429),
    Step(status=429, headers=(("Retry-After-Ms", "1"),)),
    Step(status=408),
    Step(body=b"{broken"),
    Step(body=b"[]"),
    Step(body=b'{"choices": []}'),
    Step(body=b'{"choices": [{"finish_reason": "stop", "message": {"content": "a"}}]', cut=50),
    Step(body=b"", cut=10),
    Step("응", seconds=1.0),
    Step("응", drip=0.05),
    *(
        Step(body=body.encode())
        for body in (
            '"text"',
            "null",
            "<html>",
            '{"choices": "응"}',
            '{"choices": {"message": {"content": "응"}}}',
            '{"choices": [null]}',
            '{"choices": [{"finish_reason": "stop"}]}',
            '{"choices": [{"message": {"content": 5}}]}',
            '{"choices": [{"message": {"content": ["응"]}}]}',
            '{"choices": [{"message": {"content": "응"}}], "usage": {"prompt_tokens": -9, "completion_tokens": 1}}',
            '{"choices": [{"message": {"content": "응"}}], "usage": {"prompt_tokens": "x", "completion_tokens": 1}}',
            '{"choices": [{"message": {"content": "응"}}], "usage": {"prompt_tokens": 1e30, "completion_tokens": 1}}',
            "[" * 100_000,
        )
    ),
]


@pytest.mark.parametrize(
    "step", RECOVERS, ids=lambda step: f"{step.status}-{step.body!r:.60}-{step.seconds}-{step.drip}"
)
def test_a_try_that_fails_is_made_again(step: Step) -> None:
    with serving(step, GOOD) as script:
        answer = ask(script, seconds=0.3)
    assert (answer.raw, answer.tries) == ("응", 2)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (Step(status=500), "500"),
        (Step(status=429), "429"),
        (Step("응", seconds=1.0), "no whole answer within 0.2 s"),
        (Step(body=b"{broken"), "no chat completion"),
        (Step(body=b'{"choices"', cut=50), "the connection broke"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_after_the_last_try_the_reason_is_told(step: Step, words: str) -> None:
    with serving(step) as script:
        answer = ask(script, seconds=0.2, tries=2)
    assert answer.raw is None and answer.failure is not None
    assert answer.failure[0] == "no_answer" and words in answer.failure[1]
    assert (answer.tries, len(script.requests)) == (2, 2)
    assert [one.failure for one in answer.earlier] == [answer.failure]


def test_what_each_failed_try_brought_is_told() -> None:
    with serving(Step(status=500, body="없음".encode()), Step(body=b"x" * 20_000), GOOD) as script:
        answer = ask(script)
    assert [one.body for one in answer.earlier] == ["없음", "x" * BODY_LIMIT]
    assert [one.failure[1][:26] for one in answer.earlier if one.failure] == [
        "the server answers 500 없음",
        "the answer is no chat comp",
    ]
    times = [one.asked_at or 0.0 for one in (*answer.earlier, answer)]
    assert times == sorted(set(times)) and times[0] > 0.0


@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_without_end_is_not_read_to_its_end(status: int) -> None:
    with serving(Step(status=status, body=b" " * (ANSWER_LIMIT + 1))) as script:
        answer = ask(script, tries=1)
    assert answer.failure == ("no_answer", f"the connection broke: the answer is longer than {ANSWER_LIMIT} bytes")


def test_an_answer_that_could_unfold_without_end_is_not_unpacked() -> None:
    packed = Step(headers=(("Content-Encoding", "gzip"),), body=gzip.compress(b" " * 10_000_000))
    with serving(packed) as script:
        answer = ask(script, tries=1)
    assert script.headers[0]["accept-encoding"] == "identity"
    assert answer.failure is not None and "packed as gzip" in answer.failure[1]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_what_was_said_goes_to_no_other_address(status: int) -> None:
    with serving(Step("응")) as elsewhere:
        there = (("Location", f"{elsewhere.url}/chat/completions"),)
        with serving(Step(status=status, headers=there)) as script, pytest.raises(UserError, match="WH_JUDGE_DRAFTS_"):
            ask(script)
    assert not elsewhere.requests


@pytest.mark.parametrize("status", [401, 302])
def test_a_server_that_says_the_key_aloud_does_not_make_us_say_it(status: int) -> None:
    step = Step(status=status, body=f'{{"error": {{"message": "what is {KEY}?"}}}}'.encode())
    with serving(step) as script, pytest.raises(UserError) as caught:
        ask(script)
    assert KEY not in str(caught.value) and "WH_JUDGE_DRAFTS_KEY?" in str(caught.value)


@pytest.mark.parametrize(
    "step",
    [
        Step(status=400, body=KEY.encode()),
        Step(status=500, body=f'{{"error": {{"message": "{KEY}"}}}}'.encode()),
        Step(body=f'{{"choices": "{KEY}"}}'.encode()),
        Step(KEY),
    ],
)
def test_the_key_is_in_nothing_that_is_kept(step: Step) -> None:
    with serving(step) as script:
        assert KEY not in repr(ask(script, tries=1))


@pytest.mark.parametrize("key", ["sk-1\n2", "sk-한글", "sk 1"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_told(key: str) -> None:
    with pytest.raises(UserError, match=r"^WH_JUDGE_DRAFTS_KEY: ") as caught:
        Endpoint("http://127.0.0.1:1/v1", key, seconds=1, tries=1)
    assert key not in str(caught.value)


NO_ADDRESS = (
    *("", "127.0.0.1:1/v1", "file:///etc", "http://", "http://[::1/v1", "http://a:b@c/v1", "http://c:99999/v1"),
    *("http://c/v1\n", "http://c/\t", "http://256.1.1.1/v1", f"http://c/{'v' * 70_000}"),
)


@pytest.mark.parametrize("url", NO_ADDRESS)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(UserError, match=r"^WH_JUDGE_DRAFTS_URL: is no address"):
        Endpoint(url, KEY, seconds=1, tries=1)


def test_nobody_there_is_no_answer() -> None:
    with serving(GOOD) as script:
        pass
    answer = ask(script)
    assert answer.failure is not None and "the connection broke" in answer.failure[1]


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_all_requests_share_ends_the_run(status: int) -> None:
    with serving(Step(status=status)) as script, pytest.raises(UserError, match=rf"{status}.*WH_JUDGE_DRAFTS_URL"):
        ask(script)
    assert len(script.requests) == 1


def test_a_server_that_names_a_time_is_left_alone_until_then() -> None:
    with serving(Step(status=429, headers=(("Retry-After", "0.4"),)), GOOD) as script:
        assert ask(script).raw == "응"
    first, second = script.times
    assert second - first >= 0.4


def test_pauses_grow_and_are_not_alike() -> None:
    endpoint = Endpoint("http://127.0.0.1:1/v1", "k", seconds=1, tries=9, pause=1.0, chance=lambda: 0.5)
    assert [endpoint._jittered(sent) for sent in (1, 2, 3, 9)] == [1.0, 2.0, 4.0, 60.0]
    early = Endpoint("http://127.0.0.1:1/v1", "k", seconds=1, tries=9, pause=1.0, chance=lambda: 0.0)
    late = Endpoint("http://127.0.0.1:1/v1", "k", seconds=1, tries=9, pause=1.0, chance=lambda: 0.99)
    assert early._jittered(1) == 0.5 and late._jittered(1) == pytest.approx(1.49)


REFUSES_FORMAT = Step(status=422, body=b'{"detail": [{"loc": ["body", "response_format", "type"]}]}')


@pytest.mark.parametrize("status", [400, 422, 500])
def test_a_server_is_asked_in_its_own_way_of_giving_a_schema(status: int) -> None:
    with serving(replace(REFUSES_FORMAT, status=status), GOOD) as script:
        answer = ask(script, tries=1)
    assert (answer.raw, answer.tries) == ("응", 1)
    assert [sent["response_format"]["type"] for sent in script.requests] == ["json_schema", "json_object"]


def test_a_server_that_takes_no_schema_is_asked_without_one() -> None:
    with serving(REFUSES_FORMAT, REFUSES_FORMAT, GOOD) as script:
        assert ask(script, tries=1).raw == "응"
    assert "response_format" not in script.requests[2]


def test_a_question_that_is_refused_costs_the_schema_nothing() -> None:
    with serving(Step(status=400, body=b'{"error": {"message": "context length"}}')) as script:
        answer = ask(script)
    assert answer.failure is not None and "context length" in answer.failure[1]
    assert len(script.requests) == 1


def test_a_response_that_the_server_cuts_off_says_so() -> None:
    with serving(Step("{", finish="length")) as script:
        assert ask(script).cut_off


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "soon"}, None),
        ({"retry-after-ms": "nan"}, None),
        ({"retry-after": "²"}, None),
        ({"retry-after": "9" * 400}, float("inf")),
        ({"retry-after": "Mon, 01 Jan 99999 00:00:00 GMT"}, None),
        ({"retry-after": email.utils.formatdate(0, usegmt=True)}, 0.0),
        ({"retry-after": email.utils.formatdate(time.time() + 9000, usegmt=True)}, pytest.approx(9000, abs=600)),
    ],
)
def test_the_time_to_wait_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@pytest.mark.parametrize(
    ("usage", "used"),
    [
        ('{"prompt_tokens": 30, "completion_tokens": 7}', (30, 7)),
        ('{"prompt_tokens": 30}', (30, SMALL.max_tokens)),
        ('{"completion_tokens": 7}', (SMALL.most_prompt_tokens, 7)),
        ('{"prompt_tokens": null, "completion_tokens": null}', (SMALL.most_prompt_tokens, SMALL.max_tokens)),
        ("null", (SMALL.most_prompt_tokens, SMALL.max_tokens)),
    ],
)
def test_what_a_server_does_not_count_it_may_have_used(usage: str, used: tuple[int, int]) -> None:
    budget = Budget(10**6, None, (0.0, 0.0))
    body = f'{{"choices": [{{"message": {{"content": "응"}}}}], "usage": {usage}}}'
    with serving(Step(body=body.encode())) as script:
        assert ask(script, budget=budget, tries=1).raw == "응"
    assert sum(budget.spent) == sum(used)


@pytest.mark.parametrize("status", [401, 500])
def test_what_a_server_says_steers_no_terminal(status: int) -> None:
    step = Step(status=status, body="\x1b]0;x\x07 \x9b31m \u202e".encode())
    with serving(step) as script:
        try:
            told = str(ask(script, tries=1).failure)
        except UserError as error:
            told = str(error)
    assert f"{status} " in told and not re.search("[\x00-\x1f\x7f-\x9f\u202e]", told)


def test_the_cap_counts_what_failed_tries_may_have_used() -> None:
    most = SMALL.most_prompt_tokens + SMALL.max_tokens
    budget = Budget(2 * most, None, (0.0, 0.0))
    with serving(Step("응", seconds=1.0)) as script:
        answer = ask(script, budget=budget, seconds=0.1, tries=5)
    assert len(script.requests) == 2
    assert answer.failure is not None and answer.failure[0] == "not_asked_cap"
    assert [one.failure[0] for one in answer.earlier if one.failure] == ["no_answer", "no_answer"]
    assert sum(budget.spent) == 2 * most


def test_a_request_that_the_server_turned_away_used_nothing() -> None:
    budget = Budget(10**6, None, (0.0, 0.0))
    with serving(Step(status=429), Step("응", usage=(30, 7))) as script:
        ask(script, budget=budget)
    assert sum(budget.spent) == 37


def test_a_server_that_does_not_count_may_have_used_all() -> None:
    budget = Budget(10**6, None, (0.0, 0.0))
    with serving(Step("응", usage=None)) as script:
        ask(script, budget=budget)
    assert sum(budget.spent) == SMALL.most_prompt_tokens + SMALL.max_tokens


def test_half_of_a_surrogate_pair_becomes_text() -> None:
    body = b'{"id": "1", "choices": [{"finish_reason": "stop", "index": 0, "message": {"content": "a\\ud800"}}]}'
    with serving(Step(body=body)) as script:
        assert (ask(script).raw or "").encode()


@pytest.mark.parametrize("status", [400, 429, 500])
def test_half_of_a_surrogate_pair_in_a_refusal_becomes_text(status: int) -> None:
    with serving(Step(status=status, body=b'{"error": {"message": "a\\ud800"}}')) as script:
        answer = ask(script, tries=1)
    assert answer.failure is not None and "a?" in answer.failure[1]


@pytest.mark.parametrize("charset", ["base64", "zlib", "rot13", "utf-16"])
def test_a_refusal_is_read_as_utf8_whatever_it_says_of_itself(charset: str) -> None:
    headers = (("Content-Type", f"text/plain; charset={charset}"),)
    with serving(Step(status=400, body="모르는 모델".encode(), headers=headers)) as script:
        assert ask(script).failure == ("not_accepted", "the server answers 400 모르는 모델")


def test_a_whole_verdict_makes_the_way_there_and_back() -> None:
    request = request_for(case().verdict, "m")
    assert request is not None
    with serving(copying()) as script:
        answer = ask(script, request)
    assert json.loads(answer.raw or "")["summary"] == case().verdict.summary
