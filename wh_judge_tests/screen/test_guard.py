"""Who is answered, what may be sent, and what a browser may do with an answer."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from wh_judge.screen.guard import COOKIE, LOOPBACK, Access
from wh_judge_tests.house import House
from wh_judge_tests.screen.site import reader, seen

TOKEN = "s3cret-Token"
GUARDED = Access(hosts=(*LOOPBACK, "judge.example.org"), token=TOKEN)


@pytest.fixture
def stranger(site: House) -> TestClient:
    """Somebody who has no token yet."""
    return reader(site, GUARDED)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:3002", "localhost:80", "LOCALHOST", "[::1]:3002", "[::1]"])
def test_the_screen_answers_to_names_of_this_machine(client: TestClient, host: str) -> None:
    assert client.get("/notes", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:3002",
        "",
        "[::1].evil.example",
        "127.0.0.1@evil",
    ],
)
def test_a_foreign_name_that_leads_here_is_refused(client: TestClient, host: str) -> None:
    answer = client.get("/notes", headers={"host": host})
    assert "이 주소로는 열 수 없습니다." in seen(answer, 400).text


def test_any_name_is_taken_where_that_is_wanted(site: House) -> None:
    assert reader(site, Access(hosts=("*",))).get("/notes", headers={"host": "any.example"}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://127.0.0.1", "sec-fetch-site": "cross-site"},
    ],
    ids=str,
)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_what_another_site_sends_is_refused(client: TestClient, method: str, headers: dict[str, str]) -> None:
    answer = client.request(method, "/upload", headers=headers)
    assert "다른 사이트에서 보낸 요청이라 받지 않았습니다." in seen(answer, 403).text


@pytest.mark.parametrize(
    "headers",
    [{}, {"origin": "http://127.0.0.1"}, {"sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}],
    ids=str,
)
def test_what_the_screen_s_own_pages_or_no_page_sends_is_not_refused(
    client: TestClient, headers: dict[str, str]
) -> None:
    assert client.post("/verdicts", headers=headers).status_code == 405


def test_a_link_on_another_site_may_lead_here(client: TestClient) -> None:
    assert client.get("/notes", headers={"sec-fetch-site": "cross-site"}).status_code == 200


@pytest.mark.parametrize(
    "address", ["/", "/verdicts", "/turn.json?id=T-1", "/static/screen.css", "/no-such-page", "/upload"]
)
def test_without_the_token_nothing_is_shown(stranger: TestClient, address: str) -> None:
    answer = stranger.get(address)
    assert answer.status_code == 401 and "토큰이 있어야 볼 수 있습니다." in answer.text


@pytest.mark.parametrize("token", ["", "wrong", TOKEN + "x", TOKEN[:-1], TOKEN.upper()])
def test_another_token_is_none(stranger: TestClient, token: str) -> None:
    assert stranger.get("/verdicts", params={"token": token}).status_code == 401
    assert stranger.get("/verdicts", headers={"authorization": f"Bearer {token}"}).status_code == 401


def test_a_token_in_the_address_becomes_a_cookie_and_leaves_the_address(stranger: TestClient) -> None:
    answer = stranger.get("/verdicts", params={"verdict": "금지 소재 접촉", "token": TOKEN, "page": "1"})
    assert (answer.status_code, answer.headers["location"]) == (
        303,
        "/verdicts?verdict=%EA%B8%88%EC%A7%80+%EC%86%8C%EC%9E%AC+%EC%A0%91%EC%B4%89&page=1",
    )
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and "path=/" in cookie
    assert stranger.get(answer.headers["location"]).status_code == 200


def test_a_program_gives_the_token_in_a_header(stranger: TestClient) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    assert stranger.get("/turn.json?id=T-1", headers=headers).json()["turn_id"] == "T-1"
    assert COOKIE not in stranger.cookies


def test_the_token_stands_on_no_page(stranger: TestClient) -> None:
    stranger.get("/", params={"token": TOKEN})
    for address in ("/verdicts", "/notes", "/upload", "/no-such-page"):
        assert TOKEN not in stranger.get(address).text


def test_a_cookie_that_is_none_is_passed_over(stranger: TestClient) -> None:
    assert stranger.get("/verdicts", headers={"cookie": 'x="\\; =;;'}).status_code == 401


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example/",
        "/%2Fevil.example",
        "/\\evil.example",
        "/%5Cevil.example/x",
        "/%09/evil.example",
        "/%0d%0aSet-Cookie:x",
        "///evil.example",
        "/.//evil.example",
    ],
)
def test_the_way_in_leads_nowhere_else(stranger: TestClient, path: str) -> None:
    answer = stranger.get(f"http://127.0.0.1{path}?token={TOKEN}")
    location = answer.headers["location"]
    assert answer.status_code == 303 and location.startswith("/") and not location.startswith(("//", "/\\"))
    assert "\r" not in location and "\n" not in location


HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def _answers(client: TestClient) -> dict[str, Any]:
    return {
        "page": client.get("/verdicts"),
        "unchanged": client.get("/notes", headers={"if-none-match": client.get("/notes").headers["etag"]}),
        "redirect": client.get("/"),
        "document": client.get("/turn.json?id=T-1"),
        "file": client.get("/verdicts.csv"),
        "style": client.get("/static/screen.css"),
        "not found": client.get("/no-such-page"),
        "style not found": client.get("/static/no.css"),
        "bad": client.get("/verdicts?page=x"),
        "refused host": client.get("/", headers={"host": "evil.example"}),
        "refused site": client.post("/upload", headers={"origin": "null"}),
        "method": client.post("/verdicts"),
    }


@pytest.mark.parametrize("kind", ["page", "unchanged", "redirect", "document", "file", "style", "not found",
                                  "style not found", "bad", "refused host", "refused site", "method"])  # fmt: skip
def test_every_answer_says_what_a_browser_may_do_with_it(client: TestClient, kind: str) -> None:
    headers = _answers(client)[kind].headers
    assert {name: headers[name] for name in HEADERS} == HEADERS
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'" and "unsafe" not in str(policy)
    assert headers["cache-control"] in ("no-store", "no-cache", "private, no-cache")


def test_the_answer_to_a_fault_says_so_too(site: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wh_judge.screen.verdicts.listed", None)
    answer = reader(site).get("/verdicts")
    assert answer.status_code == 500 and {name: answer.headers[name] for name in HEADERS} == HEADERS


@pytest.mark.parametrize("address", ["/verdicts", "/verdicts?q=저는", "/turn?id=T-1", "/example", "/static/screen.css"])
def test_what_a_browser_has_is_not_sent_again(client: TestClient, address: str) -> None:
    tag = client.get(address).headers["etag"]
    answer = client.get(address, headers={"if-none-match": tag})
    assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", tag)


def test_one_of_several_tags_is_enough(client: TestClient) -> None:
    tag = client.get("/notes").headers["etag"]
    assert client.get("/notes", headers={"if-none-match": f'"other", W/{tag}'}).status_code == 304
    assert client.get("/notes", headers={"if-none-match": '"other"'}).status_code == 200


@pytest.mark.parametrize(
    "address", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd"]
)
def test_only_what_is_there_to_be_served_is_served(client: TestClient, address: str) -> None:
    assert client.get(address).status_code == 404
