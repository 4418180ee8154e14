"""What the tabs of the review show: weeks, marks, reasons, what would change, the list of decisions."""

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import httpx2
import pytest
from starlette.testclient import TestClient

from wh_judge.model import ChatTurn
from wh_judge.review.book import book_of, read_book, write_down
from wh_judge.review.decisions import Draft
from wh_judge.screen.listing import PAGE_ROWS
from wh_judge.store.snapshot import publish
from wh_judge_tests.builders import turn
from wh_judge_tests.house import POLITE, House, at
from wh_judge_tests.review.build import draft, hit, name, undo
from wh_judge_tests.screen.site import Seen, reader, seen

HERE = {"origin": "http://127.0.0.1"}
WEEK = "2026-W36"
"""The week of the small log."""
MIXED = "그래요. 나는 싫어. 어서 쉬세요."
TERM = {"term": "선거", "topic": "현실 정치"}


@pytest.fixture
def reviewer(house: House) -> Iterator[TestClient]:
    with reader(house) as found:
        yield found


def publish_with(house: House, *turns: ChatTurn) -> None:
    """Judge these turns, too, and publish."""
    house.log("more", *turns)
    with house.warehouse() as connection:
        house.bring_in(connection)
        for day in {one.turn_at.date() for one in turns}:
            house.judge(connection, day)
        publish(connection, house.settings.published, keep=3)


def told(house: House, *drafts: Draft) -> None:
    write_down(book_of(house.settings.data), drafts)


def review(client: TestClient, **query: Any) -> httpx2.Response:
    return client.get("/review", params=query)


def asked_for(address: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


def test_a_week_is_chosen_from_those_that_have_verdicts(house: House) -> None:
    publish_with(house, turn("T-90", turn_at=at(14)), turn("T-91", turn_at=at(8)))
    with reader(house) as reviewer:
        page = seen(review(reviewer, tab="forbidden"))
    assert [option["value"] for option in page.all("option")] == ["2026-W38", "2026-W37", WEEK]
    assert [option["value"] for option in page.all("option") if "selected" in option] == ["2026-W37"]
    assert "2026-W37 · 09-08 · 1회차" in page.text
    assert "판정이 있는 주 가운데 끝난 가장 새로운 주라 먼저 나옵니다" in page.text
    assert all(field["type"] == "hidden" for field in page.all("input", name="week"))


def test_a_week_without_verdicts_is_shown_as_chosen(client: TestClient) -> None:
    page = seen(review(client, tab="forbidden", week="2020-W01"))
    assert [option["value"] for option in page.all("option") if "selected" in option] == ["2020-W01"]


@pytest.mark.parametrize("tab", ["names", "forbidden", "speech", "terms", "endings", "decisions"])
def test_every_way_on_keeps_the_week(tab: str, house: House) -> None:
    told(house, hit("harmless", "T-7"), name("block", "레온"), undo("D-2"))
    with reader(house) as reviewer:
        page = seen(review(reviewer, tab=tab, week="2026-W35", by="가"))
    ways = [asked_for(link) for link in page.links("/review") if "?" in link]
    assert ways and {way["week"] for way in ways if way.get("week") != WEEK} == {"2026-W35"}
    files = [asked_for(link) for kind in ("csv", "jsonl", "json") for link in page.links(f"/review.{kind}")]
    assert {file["week"] for file in files} <= {"2026-W35"}
    forms = [found for found in page.all("form") if found["action"].startswith("/review")]
    weeks = [*page.all("input", name="week"), *page.all("select", name="week")]
    assert len(forms) == len(weeks) and {found.get("value", "2026-W35") for found in weeks} == {"2026-W35"}


def test_after_a_decision_and_a_file_the_week_is_the_same(reviewer: TestClient) -> None:
    form = {"kind": "name", "choice": "block", "character_id": "C-1", "name": "리안", "by": "가", "tab": "names"}
    answer = reviewer.post("/review", data=form | {"week": "2026-W35"}, headers=HERE)
    assert asked_for(answer.headers["location"])["week"] == "2026-W35"
    empty = {"file": ("a.jsonl", json.dumps({"kind": "name", "choice": ""}))}
    answer = reviewer.post("/review/take", data={"by": "가", "week": "2026-W35"}, files=empty, headers=HERE)
    assert asked_for(answer.headers["location"])["week"] == "2026-W35"


@pytest.mark.parametrize(
    ("tab", "week", "why", "near"),
    [
        ("forbidden", "2020-W01", "이 주에는 판정한 회차가 없습니다", WEEK),
        ("forbidden", "2026-W37", "이 주에 판정한 1회차에는 금지 소재 접촉이 없습니다", WEEK),
        ("speech", "2026-W37", "이 주에 판정한 1회차에는 말투가 섞인 답장이 없습니다", None),
        ("names", "2020-W01", "이 주까지 나온 카드에 없는 이름 가운데 결정하지 않은 것이 없습니다", "2026-W37"),
    ],
)
def test_an_empty_queue_says_why_and_leads_to_the_nearest_week(
    tab: str, week: str, why: str, near: str | None, house: House
) -> None:
    publish_with(house, turn("T-91", turn_at=at(8)))
    with reader(house) as reviewer:
        page = seen(review(reviewer, tab=tab, week=week))
    assert why in page.text and ("다른 주에도 없습니다" in page.text) == (near is None)
    assert near is None or f"볼 것이 있는 가장 가까운 주: {near}" in page.text


def marks(html: str) -> list[tuple[str, str]]:
    """What is marked in the replies of the tasks."""
    tasks = "".join(re.findall(r'<div class="opened">.*?</details>', html, re.DOTALL))
    return re.findall(r'<mark class="(\w+)" title="[^"]*">(.*?)</mark>', tasks)


def test_a_forbidden_term_is_marked_where_it_stands(client: TestClient) -> None:
    found = marks(review(client, tab="forbidden", week=WEEK).text)
    assert found == [("term", "선거"), ("term", "주사위"), ("term", "선거")]


def test_a_name_is_marked_where_it_stands(client: TestClient) -> None:
    assert ("name", "리안") in marks(review(client, tab="names", week=WEEK).text)


def test_how_each_sentence_of_a_mixed_reply_ends_is_marked(house: House) -> None:
    publish_with(house, turn("T-90", turn_at=at(3, 50), reply_text=MIXED, character_id="C-3"))
    with reader(house) as reviewer:
        found = marks(review(reviewer, tab="speech", week=WEEK).text)
    assert found == [("polite", "요"), ("plain", "싫어"), ("polite", "요")]


def test_the_message_is_marked_as_on_the_page_of_the_turn(house: House) -> None:
    asks = {"user_asked_recall": True, "user_message": "내 동생 이름 기억나?", "reply_text": MIXED}
    publish_with(
        house,
        turn("T-88", turn_at=at(3, 48), session_id="S-9", named_entities=["하늘"], character_id="C-3"),
        turn("T-90", turn_at=at(3, 50), session_id="S-9", character_id="C-3", **asks),
    )
    with reader(house) as reviewer:
        assert ("role", "동생") in marks(review(reviewer, tab="speech", week=WEEK).text)


def test_why_a_name_is_near_is_told(house: House) -> None:
    publish_with(house, turn("T-90", turn_at=at(3, 50), named_entities=["하늘이"], reply_text="하늘이가 왔군."))
    with reader(house) as reviewer:
        assert "하늘 끝의 「이」만 다릅니다" in seen(review(reviewer, tab="names", week=WEEK)).text
        assert "끝의 「이」만 다릅니다" in reviewer.get("/review.csv", params={"tab": "names", "week": WEEK}).text


def test_a_name_that_is_no_new_person_is_remembered_told_and_undone(reviewer: TestClient, house: House) -> None:
    form = {"kind": "name", "choice": "mistake", "character_id": "C-1", "name": "리안", "instead": "하늘"}
    assert reviewer.post("/review", data=form | {"by": "가", "why": "오타"}, headers=HERE).status_code == 303
    [row] = read_book(book_of(house.settings.data))
    assert (row.choice, row.instead) == ("mistake", ("하늘",))
    assert "리안" not in seen(review(reviewer, tab="names", week=WEEK)).text
    page = seen(reviewer.get("/turn", params={"id": "T-8"}))
    assert "D-1 카드에 없는 이름 C-1 리안 → 「하늘」: 새 인물이 아님 · 가 · " in page.text and "· 오타" in page.text
    [link] = [link for link in page.links("/review") if link.endswith("#D-1")]
    assert seen(reviewer.get(link)).all("article", id="D-1")
    told(house, undo("D-1"))
    assert "리안" in seen(review(reviewer, tab="names", week=WEEK)).text


def test_a_name_that_is_canon_by_now_keeps_its_decision_at_its_turn(reviewer: TestClient, house: House) -> None:
    told(house, name("add", "하늘", why="스승의 이름"), draft("term", "keep", **TERM))
    assert "하늘: 더하기" in seen(reviewer.get("/turn", params={"id": "T-4"})).text
    assert "사전의 말 선거 현실 정치: 두기" in seen(reviewer.get("/turn", params={"id": "T-7"})).text


def test_decisions_stand_on_pages_and_a_link_finds_the_page(reviewer: TestClient, house: House) -> None:
    told(house, *(name("block", f"이름 {number}") for number in range(PAGE_ROWS + 10)))
    first, last = (seen(review(reviewer, tab="decisions", page=page)) for page in (1, 2))
    assert len(first.all("article")) == PAGE_ROWS and len(last.all("article")) == 10
    assert f"결정 {PAGE_ROWS + 10}건" in first.text
    found = seen(review(reviewer, tab="decisions", decision="D-3"))
    assert found.all("article", id="D-3") and not found.all("article", id=f"D-{PAGE_ROWS + 1}")
    assert review(reviewer, tab="decisions", page=3).status_code == 404


def test_decisions_are_narrowed_down_by_kind_and_person(reviewer: TestClient, house: House) -> None:
    told(house, name("block"), hit("harmless", "T-7"), name("add", "레온", by="민호"))

    def shown(**query: str) -> list[str]:
        return [found["id"] for found in seen(review(reviewer, tab="decisions", **query)).all("article")]

    assert shown() == ["D-3", "D-2", "D-1"]
    assert shown(kind="name") == ["D-3", "D-1"] and shown(who="지은") == ["D-2", "D-1"]
    assert shown(kind="name", who="민호") == ["D-3"] and shown(kind="label") == []
    page = seen(review(reviewer, tab="decisions", kind="name", who="민호"))
    assert [one["value"] for one in page.all("option") if "selected" in one] == ["name", "민호"]
    assert "이렇게 고른 결정은 없습니다" in seen(review(reviewer, tab="decisions", kind="label")).text


def test_what_is_undone_names_the_undo_and_the_undo_what_it_undid(reviewer: TestClient, house: House) -> None:
    told(house, name("block"), undo("D-1"), name("add"), name("block"))
    html = review(reviewer, tab="decisions").text
    articles = {
        one: Seen(f"<p>{text}</p>").text for one, text in re.findall(r'id="(D-\d)">(.*?)</article>', html, re.S)
    }
    assert "되돌림: D-2 지은, " in articles["D-1"] and "셈에 들지 않음" in articles["D-1"]
    assert "되돌린 것: D-1 카드에 없는 이름 C-1 리안: 막기" in articles["D-2"]
    assert "더 새로운 결정이 있음: D-4" in articles["D-3"] and "셈에 듦" in articles["D-4"]


def test_what_dropping_a_term_would_change_is_shown_before(house: House) -> None:
    told(house, hit("harmless", "T-7"))
    with reader(house) as reviewer:
        answer = review(reviewer, tab="terms", week=WEEK)
    page = seen(answer)
    assert "판정이 바뀌는 회차 2" in page.text and marks(answer.text) == [("term", "선거")] * 2
    assert {"/turn?id=T-7", "/turn?id=T-15"} <= set(page.links("/turn"))
    [turns] = page.links("/verdicts")[1:]
    assert asked_for(turns) == {"verdict": "금지 소재 접촉", "q": "선거"}
    assert {"tab": "forbidden", "week": WEEK} in [asked_for(link) for link in page.links("/review")]


def test_what_narrowing_a_term_would_change_is_shown_before_it_can_be_decided(house: House) -> None:
    told(house, hit("harmless", "T-7"))
    narrowed = "선거 얘기\r\n\r\n총선거"
    with reader(house) as reviewer:
        before = seen(review(reviewer, tab="terms"))
        after = review(reviewer, tab="terms", instead=narrowed, by="가", **TERM)
        assert [button["value"] for button in before.all("button", name="choice")] == ["drop", "keep"]
        page = seen(after)
        assert [button["value"] for button in page.all("button", name="choice")] == ["drop", "keep", "narrow"]
        assert "판정이 바뀌는 회차 2" in page.text and "선거 얘기 총선거 — 판정이 바뀌는 회차 1" in page.text
        assert "어느 답장에도 없는 말 총선거 " in page.text and "어느 답장에도 없는 말" not in before.text
        [instead] = [json.loads(field["value"]) for field in page.all("input", name="instead.json")]
        form = {"kind": "term", "choice": "narrow", "by": "가", "instead.json": json.dumps(instead), **TERM}
        assert reviewer.post("/review", data=form, headers=HERE).status_code == 303
    assert read_book(book_of(house.settings.data))[-1].instead == ("선거 얘기", "총선거")


def test_narrower_terms_are_tried_in_the_form_in_which_they_would_stand(house: House) -> None:
    told(house, hit("harmless", "T-7"))
    with reader(house) as reviewer:
        page = seen(review(reviewer, tab="terms", instead=unicodedata.normalize("NFD", "선거 얘기"), by="가", **TERM))
    assert "선거 얘기 — 판정이 바뀌는 회차 1" in page.text


def test_a_file_of_korean_choices_is_taken(reviewer: TestClient, house: House) -> None:
    rows = reviewer.get("/review.csv", params={"tab": "names", "week": WEEK}).text.lstrip("\ufeff").splitlines()
    assert "더하기 (add) / 막기 (block) / 새 인물이 아님 (mistake)" in rows[1]
    sent = "kind,choice,by,character_id,name\nname,막기,가,C-1,리안\n"
    answer = reviewer.post("/review/take", data={"by": "가"}, files={"file": ("a.csv", sent)}, headers=HERE)
    assert answer.status_code == 303
    assert [row.choice for row in read_book(book_of(house.settings.data))] == ["block"]


def test_an_error_names_the_file_that_was_sent(reviewer: TestClient) -> None:
    sent = {"file": ("이름들 9월.csv", "kind,choice,by\nname,막기,가\n")}
    answer = reviewer.post("/review/take", data={"by": "가"}, files=sent, headers=HERE)
    assert "이름들 9월.csv:2: 결정이 아닙니다" in seen(answer, 400).text and "tasks.csv" not in answer.text


def way_back(answer: httpx2.Response) -> dict[str, str]:
    """Where the button of an error page leads."""
    [link] = [found["href"] for found in seen(answer, 400).all("a", **{"class": "button"})]
    return asked_for(link)


def test_an_error_leads_back_to_where_the_file_was_sent_from(reviewer: TestClient) -> None:
    page = seen(review(reviewer, tab="names", week=WEEK, by="가"))
    assert [field["value"] for field in page.all("input", name="tab")].count("names") == len(page.all("form")) - 1
    form = {"tab": "speech", "week": "2026-W35", "by": "가"}
    answer = reviewer.post("/review/take", data=form, files={"file": ("a.csv", "no")}, headers=HERE)
    assert way_back(answer) == form


@pytest.mark.parametrize(
    ("form", "back"),
    [
        ({"tab": "names", "week": WEEK, "by": "가", "at": "2"}, {"tab": "names", "week": WEEK, "by": "가", "at": "2"}),
        ({"tab": "no", "week": WEEK}, {"tab": "decisions", "week": WEEK}),
        ({"tab": "turn", "turn_id": "T-1", "by": "가"}, {"id": "T-1"}),
    ],
)
def test_a_refused_decision_leads_back_to_where_it_was_made(
    form: dict[str, str], back: dict[str, str], reviewer: TestClient
) -> None:
    answer = reviewer.post("/review", data={"kind": "label", "choice": "burn"} | form, headers=HERE)
    assert way_back(answer) == back


def test_a_refused_ending_leads_back_to_its_task(reviewer: TestClient) -> None:
    answer = review(reviewer, tab="speech", week=WEEK, at=3, ending="요.")
    assert way_back(answer) == {"tab": "speech", "week": WEEK, "at": "3"}


@pytest.mark.parametrize("tab", ["names", "forbidden", "speech"])
def test_how_label_studio_shows_the_tasks_goes_out_beside_them(tab: str, client: TestClient) -> None:
    page = seen(review(client, tab=tab, week=WEEK))
    if tab == "speech":
        assert client.get("/review.xml", params={"tab": tab}).status_code == 200
        return
    [link] = page.links("/review.xml")
    answer = client.get(link)
    config = ElementTree.fromstring(answer.text)
    assert f"label-studio-{tab}.xml" in answer.headers["content-disposition"]
    [task, *_] = client.get("/review.json", params={"tab": tab, "week": WEEK}).json()
    assert {text.get("value", "").removeprefix("$") for text in config.iter("Text")} <= set(task["data"])


def test_a_labeller_called_as_the_file_is_not_the_file(reviewer: TestClient, house: House) -> None:
    told(house, draft("label", "말투 어긋남", turn_id="T-7", by="(file)"))
    text = seen(review(reviewer, tab="decisions")).text
    assert "정답 파일 3건" in text and "(file) 1건" in text


def test_a_long_list_of_names_has_pages(house: House) -> None:
    names = [f"이름{number}호" for number in range(PAGE_ROWS + 5)]
    publish_with(house, turn("T-90", turn_at=at(3, 50), named_entities=names))
    with reader(house) as reviewer:
        pages = [seen(review(reviewer, tab="names", week=WEEK, page=number)) for number in (1, 2)]
        assert [len([one for one in page.all("details") if one.get("class") == "row task"]) for page in pages] == [
            PAGE_ROWS, 6,
        ]  # fmt: skip
        after = seen(review(reviewer, tab="names", week=WEEK, at=PAGE_ROWS + 2))
        assert [one["id"] for one in after.all("details") if "open" in one] == [f"task-{PAGE_ROWS + 2}"]


MISSED = POLITE | {"reply_text": "저는 밥 먹었어용."}
"""A reply that is read as 반말 for want of an ending."""


def missing_an_ending(house: House, *more: ChatTurn) -> None:
    mixed = turn("T-90", turn_at=at(3, 50), reply_text=MIXED, character_id="C-3")
    publish_with(house, mixed, turn("T-91", turn_at=at(3, 51), character_id="C-2", **MISSED), *more)


def test_what_a_missing_ending_would_change_is_shown_before_it_can_be_decided(house: House) -> None:
    missing_an_ending(house)
    asked = {"tab": "speech", "week": WEEK, "by": "가"}
    with reader(house) as reviewer:
        before = seen(review(reviewer, **asked))
        page = seen(review(reviewer, **asked, ending=" 용 ", at=1))
        assert not before.all("input", name="kind", value="ending") and len(before.all("input", name="ending")) == 1
        assert "-용: 말투 어긋남에서 풀리는 회차 1 · 새로 걸리는 회차 0 · 정답 3건 가운데 일치 " in page.text
        assert "/turn?id=T-91" in page.links("/turn") and read_book(book_of(house.settings.data)) == []
        assert [button["value"] for button in page.all("button", name="choice")].count("add") == 1
        told(house, draft("speech", "섞임", turn_id="T-90"))
        assert "풀리는 회차 1" in seen(review(reviewer, **asked, ending="용", at=1)).text, "also where it is decided"
        assert "판정이 바뀌는 회차가 없습니다" in seen(review(reviewer, **asked, ending="욥", at=1)).text


@pytest.mark.parametrize(
    ("ending", "why"), [("", "ending이 없습니다"), ("용" * 99, "20자보다 깁니다"), ("용♡", "지나치는 글자")]
)
def test_an_ending_that_cannot_be_is_refused_before_it_is_tried(ending: str, why: str, house: House) -> None:
    told(house, draft("trailing", "ignore"))
    with reader(house) as reviewer:
        assert why in seen(review(reviewer, tab="speech", week=WEEK, ending=ending), 400).text


def test_what_the_endings_of_a_file_change_is_told(house: House) -> None:
    missing_an_ending(house)
    told(house, draft("ending", "add", ending="욥"))
    rows = [
        {"kind": "speech", "turn_id": "T-90", "choice": "", "ending": ending, "by": "가"} for ending in ("용", "욥")
    ]
    sent = {"file": ("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))}
    with reader(house) as reviewer:
        answer = reviewer.post("/review/take", data={"by": "가"}, files=sent, headers=HERE)
        page = seen(reviewer.get(answer.headers["location"]))
    assert "-용: 말투 어긋남에서 풀리는 회차 1 · 새로 걸리는 회차 0" in page.text and "/turn?id=T-91" in page.links(
        "/turn"
    )
    assert "-욥: 말투 어긋남에서 풀리는 회차 0" in page.text


def test_of_many_endings_of_a_file_the_first_are_told(house: House) -> None:
    told(house, *(draft("ending", "add", ending=f"용{mark}") for mark in "가나다라마바사아자"))
    with reader(house) as reviewer:
        page = seen(review(reviewer, tab="decisions", taken=9))
    assert "앞의 8개 / 모두 9개" in page.text and page.text.count("풀리는 회차") == 8


def test_that_more_endings_are_proposed_is_told(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    other = turn("T-92", turn_at=at(3, 52), character_id="C-2", **MISSED | {"reply_text": "저는 갔답니당."})
    missing_an_ending(house, other)
    with reader(house) as reviewer:
        assert "개 / 모두" not in seen(review(reviewer, tab="endings")).text
        monkeypatch.setattr("wh_judge.review.endings.SHOWN", 1)
        page = seen(review(reviewer, tab="endings"))
    assert "앞의 1개 / 모두 2개" in page.text and len(page.all("input", name="ending")) == 1
