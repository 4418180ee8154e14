"""The review loop on the screen."""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from wh_judge.review.book import book_of, read_book
from wh_judge.review.decisions import SUBJECTS, Decision, Draft, in_force
from wh_judge.review.korean import KINDS, decision
from wh_judge.review.queues import Task
from wh_judge.screen.review_asked import count
from wh_judge.screen.review_tabs import TABS, next_place
from wh_judge.store.snapshot import publish
from wh_judge_tests.builders import turn
from wh_judge_tests.house import DAY_1, House, at
from wh_judge_tests.review.build import disk_with_room_for
from wh_judge_tests.screen.site import Seen, reader, seen

HERE = {"origin": "http://127.0.0.1"}
WEEK = "2026-W36"
"""The week of the small log."""
ADD = {"kind": "name", "choice": "add", "character_id": "C-1", "name": "리안", "by": "가", "tab": "names"}


@pytest.fixture
def reviewer(house: House) -> Iterator[TestClient]:
    with reader(house) as found:
        yield found


def decided(house: House) -> list[Decision]:
    return read_book(book_of(house.settings.data))


def decide(client: TestClient, **cells: str) -> httpx2.Response:
    return client.post("/review", data=ADD | cells, headers=HERE)


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_is_a_page(tab: str, client: TestClient) -> None:
    page = seen(client.get("/review", params={"tab": tab, "week": WEEK}))
    assert TABS[tab].title in page.text and len(page.all("h1")) == 1


def test_a_name_that_no_card_has_is_shown_with_its_turns(client: TestClient) -> None:
    page = seen(client.get("/review", params={"tab": "names", "week": WEEK}))
    assert "리안" in page.text and "/turn?id=T-8" in page.links("/turn")


@pytest.mark.parametrize("tab", ["names", "forbidden", "speech"])
def test_of_a_queue_the_first_that_waits_for_a_decision_is_open(tab: str, client: TestClient) -> None:
    page = seen(client.get("/review", params={"tab": tab, "week": WEEK}))
    tasks = [found for found in page.all("details") if found.get("class") == "row task"]
    assert ["open" in found for found in tasks] == [True, *[False] * (len(tasks) - 1)][: len(tasks)]


def test_what_was_decided_is_folded(reviewer: TestClient) -> None:
    hits = r'<details class="row task" id="task-\d+"( open)?>\s*<summary>.*?>(T-\d+)<'
    before = re.findall(hits, reviewer.get("/review", params={"tab": "forbidden", "week": WEEK}).text)
    [waiting] = [turn_id for is_open, turn_id in before if is_open]
    hit = {"kind": "hit", "turn_id": waiting, "term": "선거", "topic": "현실 정치", "choice": "harmful", "by": "가"}
    assert reviewer.post("/review", data=hit, headers=HERE).status_code == 303
    page = reviewer.get("/review", params={"tab": "forbidden", "week": WEEK}).text
    assert ("", waiting) in re.findall(hits, page) and f"{len(before)}건, 결정 1건." in page


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"kind": "name", "choice": "add", "character_id": "C-1", "name": "리안"}, "카드에 없는 이름 C-1 리안: 더하기"),
        ({"kind": "speech", "choice": "섞임", "turn_id": "T-1"}, "답장의 말투 T-1: 섞임"),
        ({"kind": "trailing", "choice": "ignore"}, "문장 끝에 붙은 것: 지나치기"),
        (
            {"kind": "term", "choice": "narrow", "term": "총", "topic": "폭력", "instead": ["총을", "총이"]},
            "사전의 말 총 폭력 → 「총을」, 「총이」: 좁히기",
        ),
        ({"kind": "undo", "choice": "undo", "undoes": "D-1"}, "결정 D-1 되돌리기"),
    ],
)
def test_a_decision_is_told_in_korean(given: dict[str, object], told: str) -> None:
    assert decision(Draft.model_validate(given | {"by": "가"})) == told


def test_every_kind_of_decision_has_a_korean_name() -> None:
    assert set(KINDS) == set(SUBJECTS)


def test_a_forbidden_hit_is_shown_with_its_term(client: TestClient) -> None:
    text = seen(client.get("/review", params={"tab": "forbidden", "week": WEEK})).text
    assert "선거" in text and "현실 정치" in text


def test_without_a_name_nobody_decides(client: TestClient) -> None:
    page = seen(client.get("/review", params={"tab": "names", "week": WEEK}))
    assert all("disabled" in button for button in page.all("button", name="choice"))


def test_a_decision_is_written_down_with_who_and_why(reviewer: TestClient, house: House) -> None:
    answer = decide(reviewer, why="새 인물")
    assert answer.status_code == 303 and answer.headers["location"].startswith("/review?tab=names")
    [row] = decided(house)
    assert (row.kind, row.choice, row.character_id, row.name, row.by, row.why) == (
        "name", "add", "C-1", "리안", "가", "새 인물",
    )  # fmt: skip


def test_what_was_decided_is_not_asked_again_and_stands_at_its_turn(reviewer: TestClient) -> None:
    before = seen(reviewer.get("/turn", params={"id": "T-8"}))
    decide(reviewer, choice="block")
    assert "리안" not in seen(reviewer.get("/review", params={"tab": "names", "week": WEEK})).text
    after = seen(reviewer.get("/turn", params={"id": "T-8"}))
    assert "카드에 없는 이름 C-1 리안: 막기" in after.text and "리안: 막기" not in before.text


def test_a_browser_is_not_told_that_nothing_changed_after_a_decision(reviewer: TestClient) -> None:
    tag = reviewer.get("/turn", params={"id": "T-8"}).headers["etag"]
    decide(reviewer)
    assert reviewer.get("/turn", params={"id": "T-8"}, headers={"if-none-match": tag}).status_code == 200


CUT = b'{"kind": "label", "choice": "'


@pytest.mark.parametrize("address", ["/turn?id=T-8", *(f"/review?tab={tab}" for tab in TABS)])
def test_a_damaged_line_of_the_book_is_told_beside_what_can_be_read(
    address: str, reviewer: TestClient, house: House
) -> None:
    decide(reviewer)
    with book_of(house.settings.data).open("ab") as file:
        file.write(CUT)
    page = seen(reviewer.get(address))
    assert "decisions.jsonl 2번째 줄을 읽지 못했습니다. 결정이 아닙니다:" in page.text and "지워도 됩니다" in page.text
    assert len(page.all("div", role="alert")) == 1


def test_what_a_damaged_book_still_says_is_shown(reviewer: TestClient, house: House) -> None:
    decide(reviewer)
    with book_of(house.settings.data).open("ab") as file:
        file.write(CUT + b"\n")
    text = seen(reviewer.get("/review", params={"tab": "decisions"})).text
    assert "카드에 없는 이름 C-1 리안: 더하기" in text and "그 줄을 고치거나 지우세요" in text


@pytest.mark.parametrize("address", ["/review.csv", "/review.jsonl", "/labels.csv", "/labels.jsonl"])
def test_a_file_says_in_its_name_that_a_decision_is_missing(address: str, reviewer: TestClient, house: House) -> None:
    book_of(house.settings.data).write_bytes(CUT)
    answer = reviewer.get(address)
    assert answer.status_code == 200 and "-without-decisions-line-1." in answer.headers["content-disposition"]


def test_into_a_damaged_book_nothing_is_written(reviewer: TestClient, house: House) -> None:
    book_of(house.settings.data).write_bytes(CUT)
    answer = decide(reviewer)
    assert "decisions.jsonl 1번째 줄을 읽지 못했습니다" in seen(answer, 503).text
    assert book_of(house.settings.data).read_bytes() == CUT


def test_a_page_is_made_anew_when_the_book_was_mended_in_place(reviewer: TestClient, house: House) -> None:
    decide(reviewer)
    tag = reviewer.get("/turn", params={"id": "T-8"}).headers["etag"]
    book = book_of(house.settings.data)
    book.write_bytes(book.read_bytes().replace("리안".encode(), "리온".encode()))
    assert reviewer.get("/turn", params={"id": "T-8"}, headers={"if-none-match": tag}).status_code == 200


def test_on_a_full_disk_nothing_is_lost_and_the_page_says_so(reviewer: TestClient, house: House) -> None:
    decide(reviewer)
    before = book_of(house.settings.data).read_bytes()
    with disk_with_room_for(len(before) + 20):
        answer = decide(reviewer, choice="block")
    text = seen(answer, 503).text
    assert "쓰거나 읽지 못했습니다. (디스크에 남은 자리가 없습니다) 보낸 것은 적히지 않았고, 있던 것은 그대로" in text
    assert book_of(house.settings.data).read_bytes() == before


@pytest.mark.parametrize("address", ["/review.csv", "/review.json", "/labels.csv"])
def test_a_full_disk_keeps_no_file_from_going_out(address: str, client: TestClient) -> None:
    with disk_with_room_for(0):
        assert client.get(address).status_code == 200


HIDDEN = "곽두칠\n\r(「'\"<b>\0"


def as_a_browser_sends(form: str, **pressed: str) -> dict[str, str]:
    """The hidden fields of a form, with the line breaks of the network."""
    fields = Seen(f"<form{form.split('</form>')[0]}</form>").all("input", type="hidden")
    sent = {field["name"]: re.sub(r"\r\n?|\n", "\r\n", field["value"]).replace("\0", "\ufffd") for field in fields}
    return sent | pressed


def test_a_name_of_several_lines_is_decided_on_as_it_is(house: House) -> None:
    house.log("more", turn("T-99", turn_at=at(1, 50), named_entities=[HIDDEN]))
    with house.warehouse() as connection:
        house.bring_in(connection)
        house.judge(connection, DAY_1)
        publish(connection, house.settings.published, keep=3)
    asked = {"tab": "names", "week": WEEK, "by": "가"}
    with reader(house) as reviewer:
        forms = [form for form in reviewer.get("/review", params=asked).text.split("<form") if 'value="name"' in form]
        for form in forms:
            sent = as_a_browser_sends(form, choice="block")
            assert reviewer.post("/review", data=sent, headers=HERE).status_code == 303
        assert "볼 것이 없습니다" in seen(reviewer.get("/review", params=asked)).text
    assert {row.name for row in decided(house)} == {"리안", HIDDEN}


def test_a_decision_can_be_undone(reviewer: TestClient, house: House) -> None:
    decide(reviewer)
    [row] = decided(house)
    answer = decide(reviewer, kind="undo", choice="undo", undoes=row.decision_id, tab="decisions")
    assert answer.status_code == 303 and [one.kind for one in decided(house)] == ["name", "undo"]
    assert "셈에 들지 않음" in seen(reviewer.get("/review", params={"tab": "decisions"})).text


def test_an_undo_can_be_undone_on_the_page(reviewer: TestClient, house: House) -> None:
    undo = {"kind": "undo", "choice": "undo", "tab": "decisions"}
    decide(reviewer)
    decide(reviewer, **undo, undoes="D-1")
    page = seen(reviewer.get("/review", params={"tab": "decisions", "by": "가"}))
    assert [field["value"] for field in page.all("input", name="undoes")] == ["D-2"]
    decide(reviewer, **undo, undoes="D-2")
    page = seen(reviewer.get("/review", params={"tab": "decisions", "by": "가"}))
    assert [field["value"] for field in page.all("input", name="undoes")] == ["D-3", "D-1"]
    assert [row.decision_id for row in in_force(decided(house))] == ["D-1"]


def test_a_term_is_narrowed_on_the_page(reviewer: TestClient, house: House) -> None:
    of = {"term": "선거", "topic": "현실 정치"}
    decide(reviewer, kind="hit", choice="harmless", turn_id="T-7", **of)
    page = seen(reviewer.get("/review", params={"tab": "terms", "by": "가"}))
    assert len(page.all("textarea", name="instead")) == 1
    assert (
        decide(reviewer, kind="term", choice="narrow", instead="선거 얘기\r\n\n선거, 투표\r 선거\n", **of).status_code
        == 303
    )
    assert decided(house)[-1].instead == ("선거 얘기", "선거, 투표", " 선거")
    listed = seen(reviewer.get("/review", params={"tab": "decisions"})).text
    assert "→ 「선거 얘기」, 「선거, 투표」, 「 선거」: 좁히기" in listed
    assert "지금 결정: 좁히기" in seen(reviewer.get("/review", params={"tab": "terms"})).text
    assert (
        "대신할 말이 없습니다" in seen(decide(reviewer, kind="term", choice="narrow", instead=" \r\n ", **of), 400).text
    )


def test_a_missing_ending_is_added_where_a_reply_mixes_levels(reviewer: TestClient, house: House) -> None:
    assert decide(reviewer, kind="ending", choice="add", ending="욥", turn_id="T-2", tab="speech").status_code == 303
    assert [(row.ending, row.turn_id) for row in decided(house)] == [("욥", "T-2")]


def test_who_labelled_what_and_where_two_differ_stands_beside_the_file(reviewer: TestClient, house: House) -> None:
    file = {row.split(",")[0]: row.split(",")[1] for row in (house.inputs / "gold.csv").read_text().splitlines()[1:]}
    turn_id, verdict = next(iter(file.items()))
    other = "말투 어긋남" if verdict != "말투 어긋남" else "설정대로 말함"
    decide(reviewer, kind="label", choice=other, turn_id=turn_id, by="가")
    decide(reviewer, kind="label", choice=other, turn_id=turn_id, by="나")
    page = seen(reviewer.get("/review", params={"tab": "decisions"}))
    assert f"정답 파일 {len(file)}건" in page.text and "정답 파일 · 가: 1회차 가운데 0 같음" in page.text
    assert "가 · 나: 1회차 가운데 1 같음" in page.text and f"/turn?id={turn_id}" in page.links("/turn")
    rows = [json.loads(row) for row in reviewer.get("/labels.jsonl").text.splitlines()]
    assert {row["turn_id"]: row["verdict"] for row in rows} == file | {turn_id: other}


def test_labels_go_out_without_formulas_in_the_table(reviewer: TestClient, house: House) -> None:
    decide(reviewer, kind="label", choice="말투 어긋남", turn_id="T-7", why="=1+1")
    answer = reviewer.get("/labels.csv")
    assert answer.content.startswith(b"\xef\xbb\xbf") and "T-7,말투 어긋남,'=1+1" in answer.text
    assert reviewer.get("/labels.xlsx").status_code == 404


def test_a_turn_is_labelled_on_its_page(reviewer: TestClient, house: House) -> None:
    form = {"kind": "label", "turn_id": "T-1", "choice": "말투 어긋남", "by": "가", "tab": "turn"}
    answer = reviewer.post("/review", data=form, headers=HERE)
    assert answer.headers["location"] == "/turn?id=T-1&written=D-1#written"
    page = seen(reviewer.get(answer.headers["location"]))
    assert "적었습니다: D-1 정답 T-1: 말투 어긋남 (가)" in page.text and len(page.all("p", role="status")) == 1
    assert "가 1건" in seen(reviewer.get("/review", params={"tab": "decisions"})).text


def test_without_a_name_nobody_labels_and_a_name_is_given_on_the_page(reviewer: TestClient) -> None:
    def buttons(**asked: str) -> list[bool]:
        page = seen(reviewer.get("/turn", params={"id": "T-1"} | asked))
        assert [form["action"] for form in page.all("form")][-2:] == ["/turn#label", "/review"]
        return ["disabled" in button for button in page.all("button", name="choice")]

    assert buttons() == [True] * 5
    assert buttons(by="가") == [False] * 5
    assert buttons() == [False] * 5, "the name is remembered"


def test_who_labels_is_remembered(reviewer: TestClient) -> None:
    before = reviewer.get("/turn", params={"id": "T-2"})
    form = {"kind": "label", "turn_id": "T-1", "choice": "말투 어긋남", "by": "가 나", "tab": "turn"}
    kept = reviewer.post("/review", data=form, headers=HERE).headers["set-cookie"]
    assert kept.startswith("wh_judge_by=%EA%B0%80%20%EB%82%98;") and "HttpOnly" in kept and "SameSite=strict" in kept
    # Also where the browser has the page from before, without the name.
    after = reviewer.get("/turn", params={"id": "T-2"}, headers={"if-none-match": before.headers["etag"]})
    assert {field["value"] for field in seen(after).all("input", name="by")} == {"가 나"}
    queue = seen(reviewer.get("/review", params={"tab": "forbidden", "week": WEEK}))
    assert not any("disabled" in button for button in queue.all("button", name="choice"))


def test_a_name_in_the_address_goes_before_the_one_that_is_remembered(reviewer: TestClient) -> None:
    reviewer.get("/review", params={"by": "가"})
    reviewer.get("/review", params={"by": "나"})
    page = seen(reviewer.get("/review", params={"tab": "names"}))
    assert {field["value"] for field in page.all("input", name="by")} == {"나"}


@pytest.mark.parametrize("cookie", ["", "%", "%ED%A0%80", "%3Cb%3E", "a" * 500], ids=str)
def test_a_name_of_a_strange_cookie_breaks_no_page(cookie: str, reviewer: TestClient) -> None:
    headers = {"cookie": f"wh_judge_by={cookie}"}
    for address in ("/review", "/turn?id=T-1"):
        fields = seen(reviewer.get(address, headers=headers)).all("input", name="by")
        assert all(len(field["value"]) <= 60 for field in fields)


def test_a_decision_is_told_and_leads_to_where_it_can_be_undone(reviewer: TestClient) -> None:
    page = seen(reviewer.get(decide(reviewer).headers["location"]))
    assert "적었습니다: D-1 카드에 없는 이름 C-1 리안: 더하기 (가)" in page.text
    [address] = [link for link in page.links("/review") if link.endswith("#D-1")]
    assert seen(reviewer.get(address)).all("article", id="D-1")


def test_a_decision_that_stood_there_is_not_said_to_be_written(reviewer: TestClient, house: House) -> None:
    decide(reviewer)
    page = seen(reviewer.get(decide(reviewer).headers["location"]))
    assert "이미 적혀 있어" in page.text and "적었습니다:" not in page.text and len(decided(house)) == 1


def test_an_unknown_decision_is_not_said_to_be_written(reviewer: TestClient) -> None:
    assert seen(reviewer.get("/review", params={"written": "D-9"})).all("p", role="status") == []


@pytest.mark.parametrize(
    ("waits", "at", "place"),
    [
        ([True, True, True], 1, 1),
        ([True, False, True], 2, 3),
        ([True, True, False], 3, 1),
        ([False, False], 1, None),
        ([True], 999_999_999, 1),
        ([], 1, None),
    ],
)
def test_after_a_decision_the_next_that_waits_is_open(waits: list[bool], at: int, place: int | None) -> None:
    tasks = [
        Task(f"speech-{number}", "speech", "speech", ("섞임",), decided=None if waiting else "섞임")
        for number, waiting in enumerate(waits)
    ]
    assert next_place(tasks, at) == place


@pytest.mark.parametrize(("text", "number"), [("12", 12), ("", None), ("x" * 9, None), ("9" * 500, None)])
def test_what_is_no_number_in_an_address_is_passed_over(text: str, number: int | None) -> None:
    assert count(text) == number


def test_a_decision_says_where_in_the_list_it_was_made(reviewer: TestClient) -> None:
    page = seen(reviewer.get("/review", params={"tab": "names", "week": WEEK, "by": "가"}))
    assert next(field["value"] for field in page.all("input", name="at")) == "1"
    assert "&at=1#written" in decide(reviewer, at="1").headers["location"]


@pytest.mark.parametrize(
    "cells",
    [{"by": " "}, {"choice": "burn"}, {"kind": "war"}, {"name": ""}, {"kind": "undo", "undoes": "D-9"}],
    ids=str,
)
def test_what_is_no_decision_is_not_written_down(cells: dict[str, str], reviewer: TestClient, house: House) -> None:
    assert decide(reviewer, **cells).status_code == 400
    assert decided(house) == []


NO_ENGLISH = re.compile(r"[a-z]+ [a-z]+ [a-z]+")
REFUSED: list[tuple[dict[str, str], str]] = [
    (
        {"choice": "burn"},
        "카드에 없는 이름에서 고를 수 있는 것은 더하기 (add), 막기 (block), 새 인물이 아님 (mistake)입니다",
    ),
    ({"kind": "war"}, "가운데 하나여야 합니다"),
    ({"name": " "}, "비어 있습니다"),
    ({"name": ""}, "name이 없습니다"),
    ({"why": "가" * 3_000}, "2000자까지 쓸 수 있습니다"),
    ({"why": "x" * 1_000_000}, "2000자까지 쓸 수 있습니다"),
    ({"character_id": "C-9"}, "「C-9」 캐릭터가 없습니다"),
    ({"name": "하늘"}, "「C-1」 카드에 「하늘」이 이미 있어 더할 것이 없습니다"),
    ({"character_id": "<b>" * 99}, "캐릭터가 없습니다"),
    ({"kind": "label", "choice": "말투 어긋남", "turn_id": "T-999"}, "「T-999」 회차가 없습니다"),
    ({"kind": "term", "choice": "drop", "term": "과음", "topic": "음주"}, "사전에 「과음」 → 「음주」 줄이 없습니다"),
    (
        {"kind": "hit", "choice": "harmless", "turn_id": "T-1", "term": "선거", "topic": "현실 정치"},
        "「T-1」 회차의 답장에 「선거」가 없습니다",
    ),
    ({"kind": "ending", "choice": "add", "ending": "요."}, "빈칸이나 문장 부호가 있습니다"),
    ({"kind": "ending", "choice": "add", "ending": "요,"}, "쉼표가 있습니다"),
    ({"kind": "ending", "choice": "add", "ending": "용" * 99}, "어미가 20자보다 깁니다"),
    ({"choice": "mistake", "instead": "리안"}, "「C-1」 카드에 「리안」이 없습니다"),
    ({"choice": "mistake", "instead": "하늘\n검술원"}, "카드의 이름 하나만"),
    ({"instead": "하늘"}, "새 인물이 아닌 이름에만 적습니다"),
    ({"kind": "undo", "choice": "undo", "undoes": "D-9"}, "D-9: 이런 결정은 없습니다"),
]


@pytest.mark.parametrize("cells, told", REFUSED, ids=[told for _, told in REFUSED])
def test_why_a_decision_is_refused_is_told_in_korean(
    cells: dict[str, str], told: str, reviewer: TestClient, house: House
) -> None:
    page = seen(decide(reviewer, **cells), 400)
    assert told in page.text and not NO_ENGLISH.search(page.text)
    assert decided(house) == []


def test_an_ending_that_could_never_count_is_told_in_korean(reviewer: TestClient, house: House) -> None:
    decide(reviewer, kind="trailing", choice="ignore", tab="endings")
    answer = decide(reviewer, kind="ending", choice="add", ending="용♡", tab="endings")
    assert "「용♡」에 지나치는 글자가 들어 있어 셈에 들 수 없습니다" in seen(answer, 400).text
    assert len(decided(house)) == 1


def test_what_does_not_count_any_more_is_told_in_korean(reviewer: TestClient) -> None:
    undo = {"kind": "undo", "choice": "undo", "tab": "decisions"}
    decide(reviewer)
    decide(reviewer, **undo, undoes="D-1")
    assert "D-1: 이미 셈에 들지 않아" in seen(decide(reviewer, **undo, undoes="D-1"), 400).text


@pytest.mark.parametrize("field", ["choice", "name", "why", "instead"])
def test_half_of_a_surrogate_pair_is_no_decision(field: str, reviewer: TestClient, house: House) -> None:
    answer = decide(reviewer, **{f"{field}.json": '"\\ud800"'})
    assert "반쪽짜리 대리 코드가 있습니다" in seen(answer, 400).text
    assert decided(house) == []


TASK = {
    "kind": "name",
    "choice": "add",
    "character_id": "C-1",
    "name": "리안",
    "queue": "names",
    "task_id": "w/names/C-1/리안",
}
STUDIO = {"data": TASK, "annotations": [{"result": [{"from_name": "choice", "value": {"choices": ["add", "block"]}}]}]}
FILES: list[tuple[str, Any, str]] = [
    ("a.txt", "x", "파일만 읽습니다"),
    ("a.jsonl", "no JSON", "a.jsonl:1: JSON이 아닙니다"),
    ("a.jsonl", {"a": 1}, "a.jsonl:1: 결정이 아닙니다: kind 칸이 없어"),
    ("a.jsonl", TASK | {"choice": "burn"}, "a.jsonl:1: 결정이 아닙니다: 카드에 없는 이름에서 고를 수 있는 것은"),
    ("a.jsonl", TASK | {"character_id": "C-9", "task_id": ""}, "a.jsonl:1: 「C-9」 캐릭터가 없습니다"),
    ("a.jsonl", TASK | {"name": "1"}, "이 칸들은 받은 그대로 두세요"),
    ("a.jsonl", TASK | {"why": ["x"]}, "why: 그 자리에 올 수 없는 값입니다"),
    ("a.jsonl", TASK | {"instead": 5}, "instead: 그 자리에 올 수 없는 값입니다"),
    ("a.jsonl", json.dumps(TASK | {"task_id": "\ud800"}), "반쪽짜리 대리 코드가 있습니다"),
    ("a.csv", "kind;choice\nname;add\n", "머리글에 choice, kind가 없습니다. 칸을 쉼표로 나누세요"),
    ("a.csv", b"\xff\xfe", "UTF-8로 저장하세요"),
    ("a.csv", 'kind,choice\n"name,add', "CSV가 아닙니다"),
    ("a.json", STUDIO, "choice에 답이 여럿입니다"),
    ("a.json", {"data": TASK, "annotations": [{"was_cancelled": "x"}]}, "was_cancelled: 그 자리에 올 수 없는 값입니다"),
    ("a.json", STUDIO | {"annotations": 5}, "그 자리에 올 수 없는 값입니다"),
]


@pytest.mark.parametrize("name, content, told", FILES, ids=[told for _, _, told in FILES])
def test_why_a_file_is_refused_is_told_in_korean(
    name: str, content: Any, told: str, reviewer: TestClient, house: House
) -> None:
    sent = content if isinstance(content, str | bytes) else json.dumps(content, ensure_ascii=False)
    answer = reviewer.post("/review/take", data={"by": "가"}, files={"file": (name, sent)}, headers=HERE)
    page = seen(answer, 400)
    # What the readers of JSON and CSV say stands in brackets, as it does for uploads.
    assert told in page.text and not NO_ENGLISH.search(re.sub(r"\((un)?expect[^)]*\)", "", page.text))
    assert "/tmp" not in page.text
    assert decided(house) == []


def test_a_file_that_does_not_say_who_decided_is_told_in_korean(reviewer: TestClient) -> None:
    answer = reviewer.post("/review/take", files={"file": ("a.jsonl", json.dumps(TASK))}, headers=HERE)
    assert "누가 결정했는지 없습니다" in seen(answer, 400).text


@pytest.mark.parametrize(("megabytes", "status"), [(0, 400), (22, 413)])
def test_a_file_whose_length_nobody_is_told_is_read_up_to_the_cap(
    megabytes: int, status: int, reviewer: TestClient
) -> None:
    def body() -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n{'
        yield from [b" " * (1 << 20)] * megabytes
        yield b"\r\n--b--\r\n"

    kind = {"content-type": "multipart/form-data; boundary=b"}
    page = seen(reviewer.post("/review/take", content=body(), headers=HERE | kind), status)
    assert ("파일이 20 MB보다 큽니다" in page.text) == (status == 413)


def test_an_empty_file_holds_no_decision(reviewer: TestClient, house: House) -> None:
    for name in ("a.csv", "a.jsonl", "a.json"):
        answer = reviewer.post("/review/take", data={"by": "가"}, files={"file": (name, b"")}, headers=HERE)
        assert answer.status_code in (303, 400), answer.text
    assert decided(house) == []


def test_a_decision_from_another_site_is_refused(reviewer: TestClient, house: House) -> None:
    assert reviewer.post("/review", data=ADD, headers={"origin": "http://evil.example"}).status_code == 403
    assert decided(house) == []


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "json"])
def test_tasks_go_out_as_files(suffix: str, client: TestClient) -> None:
    answer = client.get(f"/review.{suffix}", params={"tab": "names", "week": WEEK})
    assert answer.status_code == 200 and "리안" in answer.text
    assert f"{WEEK}-names.{suffix}" in answer.headers["content-disposition"]


def test_tasks_that_were_worked_on_come_back_in(reviewer: TestClient, house: House) -> None:
    rows = reviewer.get("/review.jsonl", params={"tab": "names", "week": WEEK}).text.splitlines()
    worked = "".join(json.dumps(json.loads(row) | {"choice": "add"}, ensure_ascii=False) + "\n" for row in rows)
    answer = reviewer.post("/review/take", data={"by": "가"}, files={"file": ("names.jsonl", worked)}, headers=HERE)
    assert answer.status_code == 303
    assert [(row.name, row.by) for row in decided(house)] == [("리안", "가")]
    page = seen(reviewer.get(answer.headers["location"]))
    assert "파일에서 결정 1건을 적었습니다" in page.text and len(page.all("p", role="status")) == 1
    again = reviewer.post("/review/take", data={"by": "가"}, files={"file": ("names.jsonl", worked)}, headers=HERE)
    assert "새로 적은 결정이 없습니다" in seen(reviewer.get(again.headers["location"])).text


@pytest.mark.parametrize("name, content", [("a.txt", "x"), ("a.jsonl", "no JSON"), ("a.csv", "a,b\n1\n")])
def test_a_file_that_holds_no_decisions_is_refused(name: str, content: str, reviewer: TestClient, house: House) -> None:
    answer = reviewer.post("/review/take", data={"by": "가"}, files={"file": (name, content)}, headers=HERE)
    assert answer.status_code in (303, 400) and "/tmp" not in answer.text
    assert decided(house) == []


@pytest.mark.parametrize("query", [{"tab": "x"}, {"week": "2026-99"}, {"week": "<b>"}], ids=str)
def test_an_absurd_address_is_told(query: dict[str, str], client: TestClient) -> None:
    answer = client.get("/review", params=query)
    assert answer.status_code in (400, 404) and not NO_ENGLISH.search(seen(answer, answer.status_code).text)
