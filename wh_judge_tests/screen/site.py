"""A published log, the screen over it, and a page as a reader sees it."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import duckdb
import httpx2
from starlette.testclient import TestClient

from wh_judge.evaluation.agreement import measure_agreement
from wh_judge.evaluation.divergence import measure_divergence
from wh_judge.inputs import TABLES
from wh_judge.screen.app import create_app
from wh_judge.screen.guard import Access
from wh_judge.store import evaluations
from wh_judge.store.snapshot import publish
from wh_judge.store.tables import replace_table
from wh_judge_tests.house import CARDS, DAY_1, DAY_2, DAYS, House, settle, spoilt

FIRST, SECOND, FAILED, GRADED = "run-first", "run-second", "run-failed", "run-graded"
"""All days; the first day after a card was edited; the second after that, which failed; the evaluations."""

ADDRESS = "http://127.0.0.1"


def settle_and_publish(root: Path) -> House:
    """The small log judged and graded; then a card is edited, one day judged again and another refused; published."""
    house = settle(root)
    with house.warehouse() as connection:
        house.bring_in(connection)
        for day in DAYS:
            assert house.judge(connection, day, FIRST).committed
        house.cards(CARDS[0].model_copy(update={"honorific_rule": None, "first_person": None}), *CARDS[1:])
        house.bring_in(connection)
        assert house.judge(connection, DAY_1, SECOND).committed
        assert not house.judge(connection, DAY_2, FAILED, change=spoilt).committed
        grade(connection, house)
        publish(connection, house.settings.published, keep=3)
    return house


def grade(connection: duckdb.DuckDBPyConnection, house: House) -> None:
    """Both evaluations."""
    gold = replace_table(connection, TABLES["gold_label"], house.inputs / "gold.csv").rows
    agreement = measure_agreement(gold, *evaluations.read_judged(connection))
    evaluations.keep(connection, "gold_agreement", agreement, GRADED)
    divergence = measure_divergence(*evaluations.read_prompted(connection))
    evaluations.keep(connection, "model_divergence", divergence, GRADED)


def reader(house: House, access: Access | None = None) -> TestClient:
    """Somebody who reads the screen on this machine; an error of the program is seen as its page."""
    return TestClient(
        create_app(house.settings, access), ADDRESS, follow_redirects=False, raise_server_exceptions=False
    )


class Seen(HTMLParser):
    """A page: its tags with their attributes, and the text between them."""

    VOID = frozenset(("meta", "link", "input", "br", "wbr", "rect"))

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.pieces: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == [], "every tag is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.pieces))

    def all(self, tag: str, **given: str) -> list[dict[str, str]]:
        """The attributes of each such tag that has those given."""
        return [found for name, found in self.tags if name == tag and given.items() <= found.items()]

    def links(self, path: str) -> list[str]:
        """Addresses that lead to a path."""
        return [found["href"] for found in self.all("a") if re.split("[?#]", found["href"])[0] == path]


def seen(answer: httpx2.Response, status: int = 200) -> Seen:
    """The page of an answer."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return Seen(answer.text)


def listed(answer: httpx2.Response) -> list[str]:
    """The turns of a list, as they stand on the page."""
    return [found["data-turn"] for found in seen(answer).all("details") if "data-turn" in found]


def all_pages(client: TestClient, path: str, **query: Any) -> Iterator[httpx2.Response]:
    """The page and those that its pager leads on to."""
    address: str | None = str(httpx2.URL(path, params=query))
    while address:
        answer = client.get(address)
        yield answer
        address = next((found["href"] for found in seen(answer).all("a", rel="next")), None)
