"""What language models wrote for a verdict, on the page of its turn."""

import datetime as dt
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wh_judge.screen.drafts import ANSWERS_SHOWN, OUTCOMES, RAW_SHOWN, REASONS, cells_in
from wh_judge.store.drafts import Draft, keep_drafts
from wh_judge.store.schema import one
from wh_judge.store.snapshot import publish
from wh_judge.validations import MODEL_OUTPUT
from wh_judge_tests.house import DAY_1, House
from wh_judge_tests.screen.site import Seen, reader, seen

SENTENCE = "세계관에 없는 말이라고 모델이 적었습니다."
ASKED = dt.datetime(2026, 9, 2, 3, 4, tzinfo=dt.UTC)


def answered(outcome: str, *reasons: str, minutes: int = 0, **cells: Any) -> Draft:
    """What came of one try for T-1, so many minutes after the first."""
    given = {"summary": None, "raw": "{}", "model": "model-1"} | cells
    told = [(code, "English words") for code in reasons]
    return Draft(
        turn_id="T-1",
        row_hash="",
        request_hash="hash",
        outcome=outcome,
        reasons=told,
        prompt_tokens=1,
        response_tokens=1,
        seconds=0.5,
        asked_at=ASKED + dt.timedelta(minutes=minutes),
        **given,
    )


def publish_drafts(house: House, *tries: Draft) -> None:
    with house.warehouse() as connection:
        row = one(connection, "SELECT row_hash FROM verdict_row WHERE turn_id = 'T-1'")
        assert row is not None
        keep_drafts(connection, DAY_1, [replace(draft, row_hash=row[0]) for draft in tries], "run")
        publish(connection, house.settings.published, keep=1)


def written(house: House, *tries: Draft) -> Seen:
    """The page of T-1 once models have answered for it."""
    publish_drafts(house, *tries)
    return seen(reader(house).get("/turn?id=T-1"))


def own_sentence(house: House) -> str:
    with house.warehouse() as connection:
        row = one(connection, "SELECT summary FROM verdict WHERE turn_id = 'T-1'")
    assert row is not None
    return str(row[0])


def test_a_sentence_stands_beside_the_rules_own_with_its_model(house: House) -> None:
    page = written(house, answered("kept", summary=SENTENCE))
    assert f"규칙의 기본 문장{own_sentence(house)}" in page.text
    assert f"model-1 문장을 씀 {SENTENCE}" in page.text
    assert "모델은 문장만 쓰고 아무것도 정하지 않습니다." in page.text


@pytest.mark.parametrize("outcome", ["default", "thrown_away", "no_response"])
def test_where_it_was_refused_the_default_stands_with_the_reasons(house: House, outcome: str) -> None:
    page = written(house, answered(outcome, "names_no_cell", "too_long"))
    why = f"{REASONS['names_no_cell']}. {REASONS['too_long']}."
    assert f"model-1 {OUTCOMES[outcome]} 기본 문장이 그대로입니다. {why}" in page.text
    assert "English words" not in page.text and SENTENCE not in page.text


def test_every_try_is_there_and_the_last_one_counts(house: House) -> None:
    first = answered("no_response", "no_answer", raw=None)
    second = answered("thrown_away", "no_json", minutes=1)
    page = written(house, first, answered("kept", minutes=2, summary=SENTENCE), second)
    places = [page.text.index(words) for words in (SENTENCE, "응답을 통째로 버림", "응답이 없음")]
    assert places == sorted(places) and "기본 문장이 그대로입니다" not in page.text
    assert page.text.count("앞선 시도") == 2


def test_the_response_is_there_as_it_came_folded_and_cut(house: House) -> None:
    page = written(house, answered("thrown_away", "no_json", raw="<script>나쁜 \u202e말</script>" + "가" * RAW_SHOWN))
    [fold] = [place for place, (tag, given) in enumerate(page.tags) if (tag, given) == ("details", {"class": "fold"})]
    assert page.tags[fold + 1][0] == "summary"
    assert "받은 응답 그대로, 2026-09-02 12:04" in page.text
    assert "<script>나쁜 ⟨U+202E⟩말</script>가" in page.text and "가" * RAW_SHOWN not in page.text
    assert f"앞 {RAW_SHOWN:,}자입니다" in page.text


def test_the_cells_that_a_sentence_names_stand_below_it(house: House) -> None:
    cells = [
        {"source": "chat_turn", "field": name, "value": value}
        for name, value in (("a", "리안"), ("b", "1"), ("c", None))
    ]
    assert cells_in("리안 11명이 나왔습니다.", [*cells, cells[0]]) == [cells[0]]
    assert cells_in("1명이 나왔습니다.", cells) == [cells[1]]
    sql = "SELECT e.field, e.value FROM (SELECT unnest(evidence) AS e FROM verdict WHERE turn_id = 'T-1')"
    with house.warehouse() as connection:
        row = one(connection, f"{sql} WHERE e.value IS NOT NULL")
    assert row is not None
    page = written(house, answered("kept", summary=f"답장에 {row[1]}, 이렇게 있습니다."))
    assert f"답장에 {row[1]}, 이렇게 있습니다.문장이 든 칸: " in page.text and f".{row[0]} {row[1]}" in page.text


def test_nothing_is_said_where_no_model_wrote(house: House) -> None:
    assert "언어 모델이 쓴 문장" not in seen(reader(house).get("/turn?id=T-1")).text


def test_what_a_model_wrote_for_an_older_verdict_is_not_shown(house: House) -> None:
    written(house, answered("kept", summary=SENTENCE))
    with house.warehouse() as connection:
        connection.execute("UPDATE draft_row SET row_hash = 'older'")
        publish(connection, house.settings.published, keep=1)
    assert SENTENCE not in seen(reader(house).get("/turn?id=T-1")).text


def test_what_a_model_wrote_is_no_markup_and_hides_nothing(house: House) -> None:
    page = written(house, answered("kept", summary="<b>굵게</b>\u202e 적었습니다.", model="<i>model</i>"))
    assert "<b>굵게</b>⟨U+202E⟩ 적었습니다." in page.text and "<i>model</i>" in page.text


def test_every_reason_for_a_refusal_is_told_in_korean() -> None:
    """Those of the gate and of the endpoint stand in their code, each with its text behind it."""
    folder = Path(__file__).parents[2] / "wh_judge/drafts"
    source = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    codes = set(re.findall(r'(?:Reason|refused|failure = |reason = |Answer\(None, )\("([a-z_]+)", ', source))
    assert {"no_answer", "too_long", "other_turn", "no_json"} <= codes
    assert codes | {entry.code for entry in MODEL_OUTPUT} == REASONS.keys()


def test_they_are_counted_by_model_and_reason(house: House) -> None:
    tries = [answered("no_response", "no_answer", minutes=minute) for minute in range(ANSWERS_SHOWN + 1)]
    publish_drafts(
        house, *tries, answered("kept", minutes=99, summary=SENTENCE), answered("default", "too_long", model="<m&2>")
    )
    client = reader(house)
    page = seen(client.get("/drafts"))
    text = page.text.replace(" ", "")
    assert "<m&2>10100model-111000까닭" in text
    assert f"<m&2>문장을쓰지않음{REASONS['too_long']}11".replace(" ", "") in text
    assert f"model-1문장을씀11model-1응답이없음{REASONS['no_answer']}051".replace(" ", "") in text
    long, silent = sorted(page.links("/drafts"))[1:]
    assert "T-1" in seen(client.get(long)).text and "T-1" in seen(client.get(silent)).text
    [further] = seen(client.get(silent)).all("a", rel="next")
    assert "T-1" in seen(client.get(further["href"])).text


@pytest.mark.parametrize("address", ["/drafts?model=m&reason=no_answer", "/drafts?page=2"])
def test_what_is_not_there_is_told(house: House, address: str) -> None:
    assert seen(reader(house).get(address), 404)


def test_without_drafts_the_page_says_how_to_get_some(house: House) -> None:
    assert "wh-judge draft를 실행하면 묻습니다" in seen(reader(house).get("/drafts")).text


def test_many_tries_of_one_model_hide_no_sentence_of_another(house: House) -> None:
    tries = [answered("no_response", "no_answer", minutes=minute) for minute in range(1, ANSWERS_SHOWN + 1)]
    publish_drafts(house, *tries, answered("kept", summary=SENTENCE, model="z"))
    text = seen(reader(house).get("/turn", params={"id": "T-1"})).text
    assert SENTENCE in text and f"{ANSWERS_SHOWN + 1}번의 시도 가운데 {ANSWERS_SHOWN}번만" in text
