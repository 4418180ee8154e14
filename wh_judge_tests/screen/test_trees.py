"""The evidence tree on the screen."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from wh_judge.store.snapshot import publish
from wh_judge_tests.house import DAY_3, rows, settle
from wh_judge_tests.screen.site import reader, seen

JUDGED_BY_OLDER_CARDS = ["T-6", "T-7"]
JUDGED_BY_PRESENT_CARDS = ["T-1", "T-2", "T-3", "T-14", "T-15"]


@pytest.mark.parametrize("turn_id", JUDGED_BY_PRESENT_CARDS + JUDGED_BY_OLDER_CARDS)
def test_the_verdict_stands_on_top_and_is_derived_again(turn_id: str, client: TestClient) -> None:
    document = client.get("/tree.json", params={"id": turn_id}).json()
    page = seen(client.get("/tree", params={"id": turn_id}))
    assert document["validator"]["agrees"] and f"끌어낸 판정은 {document['verdict']}입니다" in page.text
    for check in document["checks"]:
        assert check["why"] in page.text
        assert all(question["question"] in page.text for question in check["questions"])


def test_markup_in_a_reply_is_only_text(client: TestClient) -> None:
    assert len(seen(client.get("/tree", params={"id": "T-15"})).all("script")) == 1


def test_a_verdict_that_no_longer_follows_from_the_lexicon_is_seen(tmp_path: Path) -> None:
    house = settle(tmp_path)
    with house.warehouse() as connection:
        house.bring_in(connection)
        house.judge(connection, DAY_3)
        [(turn_id,), *_] = rows(connection, "SELECT turn_id FROM verdict WHERE touched_term IS NOT NULL ORDER BY 1")
        house.lexicon(("없는 말", "행사"))
        house.bring_in(connection)
        publish(connection, house.settings.published, keep=1)
    with reader(house) as client:
        document = client.get("/tree.json", params={"id": turn_id}).json()
        assert not document["validator"]["agrees"]
        assert "다시 끌어낸 판정 다름" in seen(client.get("/tree", params={"id": turn_id})).text


@pytest.mark.parametrize("turn_id", ["T-5", "T-999", "<b>"])
def test_a_turn_without_a_verdict_has_no_tree(turn_id: str, client: TestClient) -> None:
    assert "판정된 회차가 아닙니다" in seen(client.get("/tree", params={"id": turn_id}), 404).text
