"""What language models wrote for a verdict, on the page of its turn."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from wh_judge.screen.drafts import REASONS
from wh_judge.store.drafts import Draft, keep_drafts
from wh_judge.store.schema import one
from wh_judge.store.snapshot import publish
from wh_judge.validations import MODEL_OUTPUT
from wh_judge_tests.house import DAY_1, House
from wh_judge_tests.screen.site import Seen, reader, seen

SENTENCE = "세계관에 없는 말이라고 모델이 적었습니다."


def written(
    house: House, outcome: str, reasons: Sequence[str] = (), summary: str | None = None, model: str = "model-1"
) -> Seen:
    """The page of T-1 once a model has answered for it."""
    with house.warehouse() as connection:
        row = one(connection, "SELECT row_hash FROM verdict_row WHERE turn_id = 'T-1'")
        assert row is not None
        told = [(code, "English words") for code in reasons]
        draft = Draft("T-1", row[0], "hash", model, outcome, told, summary, "{}", 1, 1, 0.5)
        keep_drafts(connection, DAY_1, [draft], "run")
        publish(connection, house.settings.published, keep=1)
    return seen(reader(house).get("/turn?id=T-1"))


def own_sentence(house: House) -> str:
    with house.warehouse() as connection:
        row = one(connection, "SELECT summary FROM verdict WHERE turn_id = 'T-1'")
    assert row is not None
    return str(row[0])


def test_a_sentence_stands_beside_the_rules_own_with_its_model(house: House) -> None:
    page = written(house, "kept", summary=SENTENCE)
    assert f"규칙의 기본 문장{own_sentence(house)} model-1{SENTENCE}" in page.text
    assert "모델은 문장만 쓰고 아무것도 정하지 않습니다." in page.text


@pytest.mark.parametrize(("outcome", "told"), [("default", "문장을 쓰지 않음"), ("thrown_away", "응답을 통째로 버림")])
def test_where_it_was_refused_the_default_stands_with_the_reasons(house: House, outcome: str, told: str) -> None:
    page = written(house, outcome, ["names_no_cell", "too_long"])
    why = f"{REASONS['names_no_cell']}. {REASONS['too_long']}."
    assert f"model-1{told} 기본 문장이 그대로입니다. {why}" in page.text
    assert "English words" not in page.text and SENTENCE not in page.text


def test_nothing_is_said_where_no_model_wrote(house: House) -> None:
    assert "언어 모델이 쓴 문장" not in seen(reader(house).get("/turn?id=T-1")).text


def test_what_a_model_wrote_for_an_older_verdict_is_not_shown(house: House) -> None:
    written(house, "kept", summary=SENTENCE)
    with house.warehouse() as connection:
        connection.execute("UPDATE draft_row SET row_hash = 'older'")
        publish(connection, house.settings.published, keep=1)
    assert SENTENCE not in seen(reader(house).get("/turn?id=T-1")).text


def test_what_a_model_wrote_is_no_markup_and_hides_nothing(house: House) -> None:
    page = written(house, "kept", summary="<b>굵게</b>\u202e 적었습니다.", model="<i>model</i>")
    assert "<b>굵게</b>⟨U+202E⟩ 적었습니다." in page.text and "<i>model</i>" in page.text


def test_every_reason_for_a_refusal_is_told_in_korean() -> None:
    """Those of the gate and of the endpoint stand in their code, each with its text behind it."""
    folder = Path(__file__).parents[2] / "wh_judge/drafts"
    source = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    codes = set(re.findall(r'(?:Reason|refused|failure = |Answer\(None, )\("([a-z_]+)", ', source))
    assert {"no_answer", "too_long", "other_turn", "no_json"} <= codes
    assert codes | {entry.code for entry in MODEL_OUTPUT} == REASONS.keys()
