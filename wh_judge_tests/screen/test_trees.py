"""The evidence tree on the screen."""

import pytest
from starlette.testclient import TestClient

from wh_judge_tests.screen.site import seen

OF_DAYS_THAT_FOLLOW = ["T-1", "T-2", "T-3", "T-14", "T-15"]
"""The others are older than the edited card of their character."""


@pytest.mark.parametrize("turn_id", OF_DAYS_THAT_FOLLOW)
def test_the_verdict_stands_on_top_and_is_derived_again(turn_id: str, client: TestClient) -> None:
    document = client.get("/tree.json", params={"id": turn_id}).json()
    page = seen(client.get("/tree", params={"id": turn_id}))
    assert document["validator"]["agrees"] and f"끌어낸 판정은 {document['verdict']}입니다" in page.text
    for check in document["checks"]:
        assert check["why"] in page.text
        assert all(question["question"] in page.text for question in check["questions"])


def test_markup_in_a_reply_is_only_text(client: TestClient) -> None:
    assert len(seen(client.get("/tree", params={"id": "T-15"})).all("script")) == 1


def test_a_verdict_that_no_longer_follows_from_its_card_is_seen(client: TestClient) -> None:
    document = client.get("/tree.json", params={"id": "T-6"}).json()
    assert not document["validator"]["agrees"]
    assert "다시 끌어낸 판정 다름" in seen(client.get("/tree", params={"id": "T-6"})).text


@pytest.mark.parametrize("turn_id", ["T-5", "T-999", "<b>"])
def test_a_turn_without_a_verdict_has_no_tree(turn_id: str, client: TestClient) -> None:
    assert "판정된 회차가 아닙니다" in seen(client.get("/tree", params={"id": turn_id}), 404).text
