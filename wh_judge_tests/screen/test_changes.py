"""What changed between runs: what is left of it, in what order, and why."""

import datetime as dt
from pathlib import Path
from typing import Any

import duckdb
import pytest
from starlette.testclient import TestClient

from wh_judge.screen.changes import told
from wh_judge.store.snapshot import publish
from wh_judge_tests.house import DAY_1, House, settle
from wh_judge_tests.screen.site import FIRST, SECOND, all_pages, reader, seen

CELL = "character_card C-1 honorific_rule: 반말 -> null"


def test_a_change_names_its_verdicts_its_cells_and_what_differs(client: TestClient) -> None:
    page = seen(client.get("/changes"))
    assert "바뀐 판정 3회차" in page.text
    assert page.links("/turn") == ["/turn?id=T-4", "/turn?id=T-2", "/turn?id=T-1"]
    assert "T-2 말투 어긋남 → 설정대로 말함" in page.text and CELL in page.text


def test_it_is_told_from_which_verdict_to_which_and_by_which_cells(client: TestClient) -> None:
    text = seen(client.get("/changes")).text.replace(" ", "")
    assert "앞뒤회차설정대로말함설정대로말함2말투어긋남설정대로말함1" in text
    assert f"{CELL}3".replace(" ", "") in text


@pytest.mark.parametrize(
    ("query", "turns"),
    [({"since": FIRST}, 3), ({"since": SECOND}, 0), ({"until": FIRST}, 0), ({"since": FIRST, "until": SECOND}, 3)],
)
def test_two_runs_are_compared(client: TestClient, query: dict[str, str], turns: int) -> None:
    page = seen(client.get("/changes", params=query))
    assert f"바뀐 판정 {turns}회차" in page.text and len(page.links("/turn")) == turns


def test_no_change_is_said(client: TestClient) -> None:
    assert "두 실행 사이에 바뀐 판정이 없습니다." in seen(client.get(f"/changes?since={SECOND}")).text


def test_runs_in_the_wrong_order_are_refused(client: TestClient) -> None:
    page = seen(client.get(f"/changes?since={SECOND}&until={FIRST}"), 400)
    assert "앞 실행이 뒤 실행보다 늦습니다." in page.text


def test_a_run_that_wrote_nothing_is_refused(client: TestClient) -> None:
    assert "run-no: 이 실행은 판정을 쓰지 않았습니다." in seen(client.get("/changes?since=run-no"), 404).text


@pytest.mark.parametrize("rows", [1, 2])
def test_changes_have_pages(client: TestClient, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr("wh_judge.screen.changes.CHANGE_ROWS", rows)
    pages = [seen(answer).links("/turn") for answer in all_pages(client, "/changes", since=FIRST)]
    assert [link for page in pages for link in page] == ["/turn?id=T-4", "/turn?id=T-2", "/turn?id=T-1"]


@pytest.fixture(scope="module")
def back_again(tmp_path_factory: pytest.TempPathFactory) -> House:
    """A card is edited and edited back, and the day judged each time."""
    house = settle(tmp_path_factory.mktemp("back"))
    cards = (house.inputs / "cards.json").read_text(encoding="utf-8")
    with house.warehouse() as connection:
        for run, text in enumerate((cards, cards.replace('"존댓말"', '"반말"'), cards)):
            (house.inputs / "cards.json").write_text(text, encoding="utf-8")
            house.bring_in(connection)
            assert house.judge(connection, DAY_1, f"run-{run}").committed
        publish(connection, house.settings.published, keep=1)
    return house


@pytest.mark.parametrize(
    ("query", "turns"),
    [
        ({}, []),
        ({"since": "run-0"}, []),
        ({"since": "run-0", "until": "run-1"}, ["/turn?id=T-3"]),
        ({"since": "run-1"}, ["/turn?id=T-3"]),
    ],
    ids=str,
)
def test_a_turn_that_is_again_as_it_was_has_not_changed(
    back_again: House, query: dict[str, str], turns: list[str]
) -> None:
    with reader(back_again) as client:
        assert seen(client.get("/changes", params=query)).links("/turn") == turns


def test_both_steps_stand_on_the_turn_s_page(back_again: House) -> None:
    with reader(back_again) as client:
        page = seen(client.get("/turn?id=T-3"))
    assert "honorific_rule: 존댓말 -> 반말" in page.text and "honorific_rule: 반말 -> 존댓말" in page.text
    assert len(page.all("article", **{"class": "change"})) == 2


def _change(before: str | None, after: str | None) -> dict[str, Any]:
    return {"fields_before": before, "fields_after": after, "decisions": []}


@pytest.mark.parametrize(
    ("before", "after", "fields"),
    [
        ('{"verdict": "a", "hedge": null}', '{"verdict": "b", "hedge": null}', []),
        ('{"hedge": null}', '{"hedge": "x"}', ["hedge"]),
        ("null", '{"hedge": "x", "touched_term": "y"}', ["touched_term", "hedge"]),
        ('{"hedge": "x"}', None, ["hedge"]),
    ],
)
def test_only_what_differs_is_told(before: str, after: str | None, fields: list[str]) -> None:
    assert [one.field for one in told(_change(before, after), {})["differences"]] == fields


def test_a_turn_that_lost_its_verdict_is_told(house: House, tmp_path: Path) -> None:
    [path] = house.settings.published.glob("*.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "INSERT INTO verdict_change VALUES"
            " (?, 'T-3', 'run-third', ?, '설정대로 말함', NULL, ?, 'null', [], [], [])",
            [DAY_1, dt.datetime(2030, 1, 1, tzinfo=dt.UTC), '{"verdict": "설정대로 말함"}'],
        )
    with reader(house) as client:
        assert "T-3 설정대로 말함 → 판정 없음" in seen(client.get(f"/changes?since={SECOND}")).text


def test_the_decision_that_made_a_cell_is_named() -> None:
    change = {"fields_before": "null", "fields_after": "null", "decisions": ["D-1", "D-9"]}
    known = {"D-1": {"decision_id": "D-1", "by": "가", "why": "새 인물", "what": "name add C-1 리안"}}
    assert told(change, known)["decided"] == [known["D-1"]]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("now", "turn", "지금 카드 대신 회차가 쓰일 때의 카드로 판정했습니다"),
        ("turn", "now", "회차가 쓰일 때의 카드 대신 지금 카드로 판정했습니다"),
    ],
)
def test_a_change_of_the_setting_is_told_in_korean(house: House, before: str, after: str, told: str) -> None:
    """The card of C-1 was edited after its turns were written; the site has judged them by the card of now."""
    since = SECOND
    with house.warehouse() as connection:
        if before == "turn":
            house.options["card_as_of"], since = before, "run-before"
            assert house.judge(connection, DAY_1, since).changes
        house.options["card_as_of"] = after
        assert house.judge(connection, DAY_1, "run-setting").changes
        publish(connection, house.settings.published, keep=3)
    text = seen(reader(house).get("/changes", params={"since": since})).text
    assert text.count(f"설정이 바뀌어, {told}") >= 2, "in the list of causes and at a turn"
    assert "card_as_of" not in text
