"""Many requests: bounded, in order, and never twice for one answer."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from wh_judge.drafts.ask import GIVE_UP, answer_all
from wh_judge.drafts.cache import Answer, Cache
from wh_judge.drafts.prompt import Request
from wh_judge.errors import UserError


def requests(count: int) -> list[Request]:
    return [Request("m", (("user", str(number)),), 10) for number in range(count)]


class Server:
    """Answers with the number that it was asked, but for those that it has no answer to."""

    def __init__(self, silent: Sequence[int] = (), fatal: Sequence[int] = ()) -> None:
        self.silent, self.fatal = silent, fatal
        self.asked: list[int] = []
        self.at_once = self.most_at_once = 0

    def pause(self, number: int) -> float:
        return 0.02 - number * 0.0005

    async def ask(self, request: Request) -> Answer:
        number = int(request.messages[0][1])
        self.asked.append(number)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        # Later requests answer sooner.
        await asyncio.sleep(self.pause(number))
        self.at_once -= 1
        if number in self.fatal:
            raise UserError("the endpoint refuses the key")
        if number in self.silent:
            return Answer(None, ("no_answer", "nothing"), tries=1, asked_at=1.0)
        return Answer(f"답 {number}", tries=1, prompt_tokens=3, response_tokens=4, asked_at=2.0)


class Slow(Server):
    """Its answers are so far apart that a busy machine does not change their order."""

    def pause(self, number: int) -> float:
        return 0.1 * (2 - number)


def answers(path: Path, server: Server, count: int, at_once: int = 3) -> list[Answer]:
    with Cache(path / "answers.sqlite") as cache:
        return asyncio.run(answer_all(requests(count), server.ask, cache, at_once))


def test_answers_come_in_the_order_of_the_requests(tmp_path: Path) -> None:
    assert [answer.raw for answer in answers(tmp_path, Server(), 12)] == [f"답 {number}" for number in range(12)]


@pytest.mark.parametrize("at_once", [1, 4])
def test_no_more_are_under_way_than_may_be(tmp_path: Path, at_once: int) -> None:
    server = Server()
    answers(tmp_path, server, 12, at_once)
    assert server.most_at_once == at_once


def test_what_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    first, second = Server(silent=[1]), Server()
    before, after = answers(tmp_path, first, 3), answers(tmp_path, second, 4)
    assert [answer.raw for answer in before] == ["답 0", None, "답 2"]
    assert sorted(second.asked) == [1, 3]
    assert [answer.raw for answer in after] == ["답 0", "답 1", "답 2", "답 3"]
    assert (after[0].tries, after[0].prompt_tokens, after[0].response_tokens) == (0, 3, 4)


def test_an_endpoint_that_is_silent_is_given_up(tmp_path: Path) -> None:
    server = Server(silent=range(100))
    found = answers(tmp_path, server, 20, at_once=1)
    assert len(server.asked) == GIVE_UP
    assert [answer.failure[0] for answer in found if answer.failure] == ["no_answer"] * 5 + ["not_asked_silent"] * 15


def test_what_ends_one_ends_all_and_keeps_what_was_answered(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="refuses the key"):
        answers(tmp_path, Server(fatal=[4]), 8, at_once=1)
    again = Server()
    answers(tmp_path, again, 8)
    assert sorted(again.asked) == [4, 5, 6, 7]


def test_each_answer_is_told_as_soon_as_it_is_there(tmp_path: Path) -> None:
    told: list[tuple[int, str | None]] = []
    with Cache(tmp_path / "answers.sqlite") as cache:
        server = Slow(silent=[1])
        asyncio.run(
            answer_all(requests(3), server.ask, cache, 3, lambda place, answer: told.append((place, answer.raw)))
        )
    assert told == [(2, "답 2"), (1, None), (0, "답 0")]


def test_nothing_to_ask_is_no_answer(tmp_path: Path) -> None:
    assert answers(tmp_path, Server(), 0) == []
