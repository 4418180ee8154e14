"""An address may ask for what its page knows and for nothing else."""

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient

from wh_judge.screen.query import NAME_SHOWN
from wh_judge_tests.screen.site import seen


def paths(client: TestClient) -> set[str]:
    found = {route.path for route in client.app.routes if isinstance(route, Route) and "GET" in (route.methods or ())}  # type: ignore[attr-defined]
    return {path.replace("{suffix}", "csv").replace("{sha256}", "0" * 64) for path in found}


def test_every_page_refuses_what_it_does_not_know(client: TestClient) -> None:
    refused = {path: client.get(path, params={"nonsense": "1"}).status_code for path in paths(client)}
    assert refused == dict.fromkeys(refused, 400) and len(refused) > 20


def test_an_unknown_parameter_is_told_with_what_is_known(client: TestClient) -> None:
    text = seen(client.get("/changes?from=x"), 400).text
    assert "이 쪽이 모르는 조건입니다: from" in text and "이 쪽이 아는 조건은 since · until · page입니다." in text


@pytest.mark.parametrize(
    ("given", "meant"), [("modle=x", "model을 쓰려던"), ("charcter=x", "character를 쓰려던"), ("Q=x", None)]
)
def test_what_was_meant_is_guessed_where_it_is_close(client: TestClient, given: str, meant: str | None) -> None:
    text = seen(client.get(f"/verdicts?{given}"), 400).text
    assert (meant in text) if meant else ("쓰려던" not in text)


def test_a_page_without_parameters_says_so(client: TestClient) -> None:
    assert "이 쪽은 조건을 받지 않습니다." in seen(client.get("/notes?a=1"), 400).text


@pytest.mark.parametrize("path", ["/verdicts.json", "/verdicts.csv", "/turn.json", "/tree.json"])
def test_a_machine_is_told_in_json(client: TestClient, path: str) -> None:
    error = client.get(f"{path}?modle=x").json()["error"]
    assert (error["status"], error["what"]) == (400, "이 쪽이 모르는 조건입니다: modle")


def test_a_file_of_a_list_is_asked_for_as_the_list_is(client: TestClient) -> None:
    assert client.get("/verdicts.csv?verdict=설정대로 말함&page=2&open=T-1").status_code == 200


def test_many_and_long_names_are_cut(client: TestClient) -> None:
    query = "&".join(f"{letter * 500}=1" for letter in "abcdefgh")
    text = seen(client.get(f"/verdicts?{query}"), 400).text
    assert f"{'e' * NAME_SHOWN} 외 3개" in text and "f" * NAME_SHOWN not in text and "a" * (NAME_SHOWN + 1) not in text


def test_a_link_with_a_token_is_opened_without_one_too(client: TestClient) -> None:
    assert client.get("/verdicts?token=x").status_code == 200


def test_a_parameter_may_be_empty(client: TestClient) -> None:
    names = (
        "verdict",
        "character",
        "model",
        "first",
        "last",
        "session",
        "skipped",
        "since",
        "q",
        "day",
        "page",
        "open",
    )
    assert client.get("/verdicts", params=dict.fromkeys(names, "")).status_code == 200
