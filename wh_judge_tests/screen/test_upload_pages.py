"""Uploading over HTTP: forms, limits, refusals, and the page that follows a file to its verdicts."""

import json
import os
import time
from collections.abc import Iterator

import httpx2
import pytest
from starlette.testclient import TestClient

from wh_judge.inputs import TABLES
from wh_judge.screen.upload_pages import TABLE_NAMES
from wh_judge.screen.uploads import find
from wh_judge.store.snapshot import publish
from wh_judge.store.tables import replace_table
from wh_judge_tests.builders import card, turn
from wh_judge_tests.house import DAY_1, House, at
from wh_judge_tests.screen.site import reader, seen
from wh_judge_tests.screen.test_uploads import LOG, kept, lines

HERE = {"origin": "http://127.0.0.1", "sec-fetch-site": "same-origin"}
ONE = lines(turn("T-90", turn_at=at(1, 50), reply_text="저는 그렇게 생각해요.").model_dump(mode="json"))


@pytest.fixture
def uploader(house: House) -> Iterator[TestClient]:
    with reader(house) as found:
        yield found


def upload(
    client: TestClient, content: bytes = ONE, name: str = "새 로그.jsonl", table: str = "chat_turn", **headers: str
) -> httpx2.Response:
    return client.post("/upload", data={"table": table}, files={"file": (name, content)}, headers=HERE | headers)


def uploaded(client: TestClient, content: bytes = ONE, **given: str) -> str:
    """The page of a file that was taken."""
    answer = upload(client, content, **given)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def sent(client: TestClient, content: bytes = ONE, **given: str) -> str:
    """The page of a file that was taken and sent on."""
    place = uploaded(client, content, **given)
    assert client.post(f"{place}/send", headers=HERE).headers["location"] == place
    return place


def bring_in(house: House, *, judge: bool = True) -> None:
    """What a run does with the inbox: the file is complete, is read, judged and published."""
    for file in house.settings.inbox.rglob("*"):
        os.utime(file, (time.time() - 60, time.time() - 60))
    with house.warehouse() as connection:
        replace_table(connection, TABLES["character_card"], house.inputs / "cards.json", house.settings.inbox)
        house.bring_in_log(connection)
        if judge:
            house.judge(connection, DAY_1)
        publish(connection, house.settings.published, keep=3)


def test_the_form_offers_every_kind_of_file(uploader: TestClient) -> None:
    page = seen(uploader.get("/upload"))
    assert [found["value"] for found in page.all("input", type="radio")] == list(TABLE_NAMES)
    assert page.all("form", action="/upload", method="post", enctype="multipart/form-data")


def test_a_file_is_checked_at_once(uploader: TestClient) -> None:
    text = seen(uploader.get(uploaded(uploader, LOG))).text
    assert "읽은 줄3 거부된 줄2" in text
    assert "JSON이 아닙니다" in text and "session_id가 없습니다" in text
    assert "아직 보내지 않았습니다" in text


def test_a_page_of_problems_behind_the_last_is_told(uploader: TestClient) -> None:
    answer = uploader.get(f"{uploaded(uploader, LOG)}?page=2")
    assert (answer.status_code, "2쪽은 없습니다. 1쪽까지 있습니다." in answer.text) == (404, True)


def test_nothing_is_in_the_inbox_before_it_is_sent(uploader: TestClient, house: House) -> None:
    uploaded(uploader)
    assert kept(house.settings.inbox) == []


def test_a_file_is_followed_to_its_verdicts(uploader: TestClient, house: House) -> None:
    place = sent(uploader)
    waiting = seen(uploader.get(place))
    assert "가져가기를 기다립니다" in waiting.text and "데몬이 돌고 있지 않습니다" in waiting.text
    assert waiting.all("meta", content="5")
    bring_in(house)
    done = seen(uploader.get(place))
    assert "이 파일의 회차는 지금 1개입니다" in done.text and "판정 1 · 판정하지 못함 0" in done.text
    assert done.links("/verdicts") and not done.all("meta", content="5")


def test_cards_are_followed_until_they_count(uploader: TestClient, house: House) -> None:
    cards = json.dumps([card("C-9").model_dump(mode="json")]).encode()
    place = sent(uploader, cards, name="카드.json", table="character_card")
    bring_in(house)
    page = seen(uploader.get(place))
    assert "읽혔습니다. 판정은 이것이 닿는 날들을 다시 판정한 뒤에 바뀝니다." in page.text
    [changes] = [address for address in page.links("/changes") if "since=" in address]
    assert "/turn?id=T-5" in seen(uploader.get(changes)).links("/turn")
    assert "T-5" in seen(uploader.get("/turn", params={"id": "T-5"})).text


def test_cards_that_are_read_and_not_judged_by_yet_lead_to_no_changes(uploader: TestClient, house: House) -> None:
    cards = json.dumps([card("C-9").model_dump(mode="json")]).encode()
    place = sent(uploader, cards, name="카드.json", table="character_card")
    bring_in(house, judge=False)
    page = seen(uploader.get(place))
    assert "보낸 뒤로는 아직 판정한 날이 없습니다" in page.text
    assert [address for address in page.links("/changes") if "since=" in address] == []


def test_a_file_that_the_inbox_set_aside_says_why(
    uploader: TestClient, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wh_judge.inbox.REJECT_SECONDS", 0.0)
    place = sent(uploader)
    report = find(house.settings, place.rpartition("/")[2])
    assert report and report.sent_as
    (house.settings.inbox / report.sent_as).write_text("{", encoding="utf-8")
    bring_in(house)
    assert "받지 않았습니다. 까닭: 새 로그.jsonl:1: JSON이 아닙니다" in seen(uploader.get(place)).text


def test_what_only_the_run_can_tell_names_the_files_as_people_do(uploader: TestClient, house: House) -> None:
    sent(uploader)
    again = turn("T-90", turn_at=at(1, 50), reply_text="그래.").model_dump(mode="json")
    later = sent(uploader, lines(again), name="고친 로그.jsonl")
    bring_in(house)
    assert "판정할 때 알려진 것" not in seen(uploader.get(later)).text
    text = " ".join(seen(uploader.get(place)).text for place in uploads_of(uploader))
    assert "새 로그.jsonl:1 turn_id T-90은 고친 로그.jsonl:1의 줄로 바뀌었습니다" in text


def uploads_of(client: TestClient) -> list[str]:
    """The pages of all uploads."""
    return [link["href"] for link in seen(client.get("/upload")).all("a") if link["href"].startswith("/upload/")]


def test_characters_without_a_card_are_told_before_anything_is_sent(uploader: TestClient) -> None:
    rows = [turn(f"T-{n}", character_id=f"C-{n}", turn_at=at(1)).model_dump(mode="json") for n in range(100, 107)]
    place = uploaded(uploader, lines(*rows, turn("T-1", character_id="C-1", turn_at=at(1)).model_dump(mode="json")))
    text = seen(uploader.get(place)).text
    assert "카드가 없는 캐릭터가 7명 있습니다. C-100, C-101, C-102, C-103, C-104 외 2명." in text
    assert "이 캐릭터들의 회차 7개는 판정하지 못하고" in text


def test_a_log_whose_characters_have_cards_is_not_warned_of(uploader: TestClient) -> None:
    place = uploaded(uploader, lines(turn("T-1", character_id="C-8", turn_at=at(1)).model_dump(mode="json")))
    assert "카드가 없는 캐릭터" in seen(uploader.get(place)).text
    uploaded(uploader, lines(card("C-8").model_dump(mode="json")), name="카드.jsonl", table="character_card")
    assert "카드가 없는 캐릭터" not in seen(uploader.get(place)).text


def test_the_same_file_is_recognised(uploader: TestClient) -> None:
    place = uploaded(uploader)
    again = uploaded(uploader, name="다른 이름.jsonl")
    assert again == f"{place}?again=1"
    assert "같은 파일을 이미 받았습니다" in seen(uploader.get(again)).text


def test_once_something_was_uploaded_the_way_in_is_the_list(uploader: TestClient) -> None:
    assert uploader.get("/").headers["location"] == "/example"
    uploaded(uploader)
    assert uploader.get("/").headers["location"] == "/verdicts"


def test_a_file_that_is_too_large_is_refused_with_the_cap(house: House) -> None:
    house.options["upload_limit_mb"] = 1
    with reader(house) as client:
        page = seen(upload(client, b"x" * (3 << 20)), 413)
        assert "파일이 1 MB보다 큽니다" in page.text
        page = seen(upload_in_pieces(client, [b"x" * (1 << 18)] * 12), 413)
        assert "파일이 1 MB보다 큽니다" in page.text
    assert kept(house.settings.uploads) == []


def upload_in_pieces(client: TestClient, pieces: list[bytes]) -> httpx2.Response:
    """A body whose length nobody is told."""

    def body() -> Iterator[bytes]:
        yield (
            b'--b\r\nContent-Disposition: form-data; name="table"\r\n\r\nchat_turn\r\n'
            b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n'
        )
        yield from pieces
        yield b"\r\n--b--\r\n"

    kind = {"content-type": "multipart/form-data; boundary=b"}
    return client.post("/upload", content=body(), headers=HERE | kind)


def test_what_the_form_has_too_much_of_is_told_in_korean(uploader: TestClient) -> None:
    files = [("file", ("a.jsonl", ONE)), ("file", ("b.jsonl", ONE))]
    page = seen(uploader.post("/upload", data={"table": "chat_turn"}, files=files, headers=HERE), 400)
    assert "보낸 양식을 읽지 못했습니다." in page.text and "Too many" not in page.text


def test_a_file_of_blank_lines_says_that_it_is_empty(uploader: TestClient) -> None:
    assert "파일이 비었습니다. 줄을 채워 다시 올리세요." in seen(uploader.get(uploaded(uploader, b"\n\n"))).text


def test_days_that_are_not_judged_are_told_and_not_waited_for(uploader: TestClient, house: House) -> None:
    far = [turn(f"T-{n}", turn_at=f"{year}-01-01T12:00:00+09:00") for n, year in ((91, 2000), (92, 2099))]
    place = sent(uploader, lines(*(one.model_dump(mode="json") for one in far)))
    bring_in(house)
    text = seen(uploader.get(place)).text
    assert f"{house.settings.first_day}보다 앞선 날의 회차 1개는 판정하지 않습니다." in text
    assert "아직 오지 않은 날의 회차 1개는 그 날이 되면 판정합니다." in text
    assert "기다리는 회차" not in text and "http-equiv" not in text


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example", "sec-fetch-site": "cross-site"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"host": "evil.example"},
    ],
    ids=str,
)
def test_an_upload_from_another_site_is_refused(headers: dict[str, str], uploader: TestClient, house: House) -> None:
    assert upload(uploader, ONE, "a.jsonl", "chat_turn", **headers).status_code in (400, 403)
    assert kept(house.settings.uploads) == []


def test_sending_from_another_site_is_refused(uploader: TestClient, house: House) -> None:
    place = uploaded(uploader)
    assert uploader.post(f"{place}/send", headers={"origin": "http://evil.example"}).status_code == 403
    assert kept(house.settings.inbox) == []


@pytest.mark.parametrize(
    "data, files, what",
    [
        ({"table": "chat_turn"}, {}, "파일이 없습니다"),
        ({"table": "chat_turn", "file": "text"}, {}, "파일이 없습니다"),
        ({}, {"file": ("a.jsonl", ONE)}, "무슨 파일인지 고르지 않았습니다"),
        ({"table": "rejected_rows"}, {"file": ("a.jsonl", ONE)}, "무슨 파일인지 고르지 않았습니다"),
        ({"table": "chat_turn"}, {"file": ("a.exe", ONE)}, "파일만 읽습니다"),
        ({"table": "chat_turn"}, {"file": ("a.jsonl", b"")}, "빈 파일입니다"),
    ],
    ids=str,
)
def test_what_is_no_upload_says_what_to_do(data: object, files: object, what: str, uploader: TestClient) -> None:
    page = seen(uploader.post("/upload", data=data, files=files, headers=HERE), 400)  # type: ignore[arg-type]
    assert what in page.text


@pytest.mark.parametrize("body", [b"", b"--b\r\n", b"no form"], ids=["empty", "cut off", "no form"])
def test_a_broken_form_is_refused(body: bytes, uploader: TestClient) -> None:
    answer = uploader.post("/upload", content=body, headers=HERE | {"content-type": "multipart/form-data; boundary=b"})
    assert answer.status_code == 400


@pytest.mark.parametrize("name", ["<script>alert(1)</script>.jsonl", '"><img src=x onerror=alert(1)>.jsonl'])
def test_a_hostile_name_is_only_text(name: str, uploader: TestClient) -> None:
    place = uploaded(uploader, name=name)
    for address in (place, "/upload"):
        page = seen(uploader.get(address))
        assert page.all("img") == [] and len(page.all("script")) == 1


def test_hostile_rows_are_only_text(uploader: TestClient) -> None:
    hostile = turn("T-1", reply_text="<script>alert(1)</script>\u202e").model_dump(mode="json")
    page = seen(uploader.get(uploaded(uploader, lines(hostile, {"<b>": 1}))))
    assert len(page.all("script")) == 1 and page.all("b", onclick="") == []
    assert "⟨U+202E⟩" in page.text


@pytest.mark.parametrize("sha256", ["0" * 64, "x"])
def test_an_upload_that_is_not_known_is_told(sha256: str, uploader: TestClient) -> None:
    assert uploader.get(f"/upload/{sha256}").status_code == 404
    assert uploader.post(f"/upload/{sha256}/send", headers=HERE).status_code == 404


def test_a_file_without_a_row_offers_nothing_to_send(uploader: TestClient) -> None:
    place = uploaded(uploader, b"no JSON\n")
    page = seen(uploader.get(place))
    assert page.all("form", action=f"{place}/send") == [] and "보낼 수 없습니다" in page.text
    assert uploader.post(f"{place}/send", headers=HERE).status_code == 400
