"""A log that wants to do harm: markup, scripts, marks that turn text around, NUL, and a reply of a megabyte."""

import csv
import io
import json
from collections.abc import Iterator

import httpx2
import pytest
from starlette.testclient import TestClient

from wh_judge.model import CharacterCard, ChatTurn
from wh_judge.screen.rows import FULL_TEXT
from wh_judge.store.schema import SHOWN_TEXT
from wh_judge.store.snapshot import publish
from wh_judge_tests.builders import card, turn
from wh_judge_tests.house import DAY_1, House, at
from wh_judge_tests.screen.site import Seen, listed, reader, seen

SCRIPT = "<script>alert(1)</script>"
QUOTES = "\"'><img src=x onerror=alert(1)>"
TEMPLATE = "{{ 7079*7103 }}{% raw %}${7*7}"
TURNED = "\u202egnirts\u2066"
FORMULA = "=cmd|'/c calc'!A1"
ADDRESS = "a/b?c=d&e#f%00+ g"
LONG = "긴 답장 " * 260_000
TEXTS = {
    "script": SCRIPT,
    "quotes": QUOTES,
    "template": TEMPLATE,
    "turned": TURNED,
    "formula": FORMULA,
    "address": ADDRESS,
    "null": "a\x00b",
    "lines": "a\r\nb\u2028c",
}


def hostile_card(text: str, number: int) -> CharacterCard:
    return card(f"C-{number} {text}", name=text, public=number == 0, canon_entities=[text], forbidden_topics=[text])


def hostile_turn(text: str, number: int) -> ChatTurn:
    """A turn with the text in every column that takes any."""
    return turn(
        f"T-{number} {text}",
        session_id=f"S-{number} {text}",
        character_id=f"C-{number} {text}",
        model_id=f"M {text}",
        prompt_id=f"P {text}",
        turn_at=at(1, number),
        user_message=text,
        reply_text=f"{text} 리안이 왔다.",
        named_entities=[text, "리안", text[:3] or "x"],
        first_person=text,
        honorific_level=text,
    )


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The screen over such a log."""
    house = House(tmp_path_factory.mktemp("hostile"))
    house.cards(*(hostile_card(text, n) for n, text in enumerate(TEXTS.values())), card("C-long"))
    house.lexicon(("리안", "소재"))
    turns = [hostile_turn(text, n) for n, text in enumerate(TEXTS.values())]
    names = [f"이름{n}" for n in range(3_000)]
    house.log("1", *turns, turn("T-long", character_id="C-long", turn_at=at(1), reply_text=LONG, user_message=LONG),
              turn("T-names", character_id="C-long", turn_at=at(1), named_entities=names),
              turn("T-none", character_id=SCRIPT, turn_at=at(1)))  # fmt: skip
    with house.warehouse() as connection:
        house.bring_in(connection)
        assert house.judge(connection, DAY_1, f"run {SCRIPT}").committed
        publish(connection, house.settings.published, keep=1)
    with reader(house) as client:
        yield client


def query(name: str, number: int, text: str) -> dict[str, str]:
    return {"id": f"{name}-{number} {text}"}


each_text = pytest.mark.parametrize(("number", "text"), list(enumerate(TEXTS.values())), ids=list(TEXTS))


def shown_as_text(answer: httpx2.Response, status: int = 200) -> Seen:
    """No text of the log became markup, and none steers the text around it."""
    page = seen(answer, status)
    assert "<script>alert" not in answer.text and page.all("img") == []
    assert not {"\u202e", "\u2066", "\x00", "\u2028"} & set("".join(page.pieces))
    return page


@each_text
def test_a_turn_s_page_shows_it_as_text(attacked: TestClient, number: int, text: str) -> None:
    answer = attacked.get("/turn", params=query("T", number, text))
    page = shown_as_text(answer)
    assert [found["src"] for found in page.all("script")] == ["/static/screen.js"]
    assert "{{ 7079*7103 }}" in page.text if text == TEMPLATE else "50282137" not in page.text


@each_text
def test_links_lead_to_what_they_say(attacked: TestClient, number: int, text: str) -> None:
    page = seen(attacked.get("/turn", params=query("T", number, text)))
    for path in ("/session", "/prompt", "/turn.json"):
        [link] = page.links(path)
        assert attacked.get(link).status_code == 200, link
    for link in page.links("/verdicts"):
        assert attacked.get(link).status_code == 200, link
    of_model = next(link for link in page.links("/verdicts") if "model=" in link)
    assert f"T-{number} {text}" in listed(attacked.get(of_model))


@each_text
def test_other_pages_show_it_as_text(attacked: TestClient, number: int, text: str) -> None:
    for path, asked in (
        ("/session", query("S", number, text)),
        ("/prompt", {"id": f"P {text}"}),
        ("/verdicts", {"q": text, "open": text}),
        ("/verdicts", {"session": f"S-{number} {text}", "model": text}),
        ("/example", {"session": text}),
    ):
        shown_as_text(attacked.get(path, params=asked))


@each_text
def test_an_error_shows_what_was_asked_as_text(attacked: TestClient, number: int, text: str) -> None:
    for path in ("/turn", "/session", "/prompt"):
        shown_as_text(attacked.get(path, params={"id": f"no {text}"}), 404)
    for asked in ({"verdict": text}, {"first": text}, {"page": text}, {"since": text}, {"skipped": text}):
        shown_as_text(attacked.get("/verdicts", params=asked), 404 if "since" in asked else 400)


@each_text
def test_text_that_would_do_harm_can_be_looked_for(attacked: TestClient, number: int, text: str) -> None:
    if text.strip() == text and "\n" not in text:
        assert f"T-{number} {text}" in listed(attacked.get("/verdicts", params={"q": text}))


def test_a_list_of_all_of_it_is_well_formed(attacked: TestClient) -> None:
    page = shown_as_text(attacked.get("/verdicts"))
    assert "캐릭터 <script>alert(1)</script>의 카드가 없습니다" in page.text


def test_a_reply_of_a_megabyte_is_cut_on_a_list_and_said_to_be(attacked: TestClient) -> None:
    answer = attacked.get("/verdicts?q=T-long")
    page = seen(answer)
    assert f"{len(LONG):,}자 가운데 앞 {SHOWN_TEXT:,}자입니다." in page.text and len(answer.content) < 200_000


def test_its_own_page_shows_more_and_the_document_all(attacked: TestClient) -> None:
    answer = attacked.get("/turn?id=T-long")
    assert f"{len(LONG):,}자 가운데 앞 {FULL_TEXT:,}자입니다." in seen(answer).text
    assert len(answer.content) < 4_000_000
    assert LONG in [row["value"] for row in attacked.get("/turn.json?id=T-long").json()["evidence"]]


def test_a_verdict_with_thousands_of_names_is_cut_on_a_list_and_said_to_be(attacked: TestClient) -> None:
    answer = attacked.get("/verdicts?q=T-names")
    assert "줄 가운데 앞 50줄입니다." in seen(answer).text and len(answer.content) < 200_000
    assert len(attacked.get("/turn.json?id=T-names").json()["off_canon_entities"]) == 3_000


def test_a_spreadsheet_of_it_has_no_formula(attacked: TestClient) -> None:
    rows = list(csv.reader(io.StringIO(attacked.get("/verdicts.csv").content.decode("utf-8-sig"), newline="")))
    assert len(rows) == 1 + len(TEXTS) + 2
    assert [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))] == []


def test_the_documents_of_it_are_to_the_letter(attacked: TestClient) -> None:
    found = [json.loads(line) for line in attacked.get("/verdicts.jsonl").content.decode().split("\n")[:-1]]
    assert {f"T-{n} {text}" for n, text in enumerate(TEXTS.values())} < {row["turn_id"] for row in found}


@pytest.mark.parametrize(
    "address", ["/turn?id=%FF", "/verdicts?q=%ED%A0%80", "/turn?id=%00", "/verdicts?%00=%00&q=%00", "/%FF"]
)
def test_an_address_that_is_no_text_is_an_answer_all_the_same(attacked: TestClient, address: str) -> None:
    assert attacked.get(address).status_code in (200, 400, 404)


def test_a_parameter_that_comes_twice_counts_once(attacked: TestClient) -> None:
    assert attacked.get("/verdicts?page=1&page=1&verdict=&verdict=").status_code == 200
