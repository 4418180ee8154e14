"""The screen's own words, and what they make of texts that may be anything."""

import datetime as dt
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wh_judge.evaluation.divergence import measure_divergence
from wh_judge.model import VERDICTS
from wh_judge.screen import words
from wh_judge.screen.filters import GROUPS
from wh_judge.screen.reasons import korean


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("가\u202e나", "가⟨U+202E⟩나"),
        ("a\x00b", "a⟨U+0000⟩b"),
        ("\u2066x\u2069", "⟨U+2066⟩x⟨U+2069⟩"),
        ("soft\u00adhyphen", "soft⟨U+00AD⟩hyphen"),
        ("\u3164", "⟨U+3164⟩"),
        ("줄\n탭\t", "줄\n탭\t"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("\ue000", "⟨U+E000⟩"),
        (12, "12"),
    ],
)
def test_what_would_hide_is_written_out(text: object, shown: str) -> None:
    assert words.visible(text) == shown


@given(st.text())
def test_nothing_that_is_shown_can_turn_other_text_around(text: str) -> None:
    assert {unicodedata.category(mark) for mark in words.visible(text) if mark not in "\n\t\u200d"}.isdisjoint(
        {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    )


@given(st.text(st.characters(categories=["L", "N", "P", "S"], exclude_characters="\u115f\u1160\u3164\uffa0")))
def test_letters_stay_as_they_are(text: str) -> None:
    assert words.visible(text) == text


def test_names_in_a_row_can_be_broken_and_markup_in_them_is_escaped() -> None:
    assert words.breakable("a·<b>_c") == "a·<wbr>&lt;b&gt;_<wbr>c"


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("no card for character C-9", "캐릭터 C-9의 카드가 없습니다"),
        ("no card for character {1}", "캐릭터 {1}의 카드가 없습니다"),
        ("not answered by M-1, M-2", "M-1, M-2 모델이 답하지 않았습니다"),
        ("something else", "something else"),
    ],
)
def test_reasons_are_told_in_korean(reason: str, told: str) -> None:
    assert korean(reason) == told


def test_why_nothing_was_compared_is_told_in_korean() -> None:
    import pyarrow as pa

    turns = pa.table({"turn_id": ["T-1"], "prompt_id": ["P-1"], "model_id": ["M-1"]})
    verdicts = pa.table({"turn_id": ["T-1"], "verdict": [VERDICTS[0]]})
    why = measure_divergence(turns, verdicts).test.not_computed
    assert why and korean(why) == "모델이 둘보다 적습니다"


def test_a_time_is_told_in_seoul() -> None:
    assert words.moment(dt.datetime(2026, 9, 1, 20, 30, tzinfo=dt.UTC)) == "2026-09-02 05:30"
    assert words.day(dt.date(2026, 9, 1)) == "2026-09-01 (화)"


@pytest.mark.parametrize("tell", [words.moment, words.number, words.percent, words.decimal, words.p_value])
def test_what_is_not_known_is_a_dash(tell: "object") -> None:
    assert callable(tell) and tell(None) == "–"


def test_figures() -> None:
    assert (words.number(1234567), words.percent(0.7833), words.decimal(0.696), words.p_value(3.2e-9)) == (
        "1,234,567",
        "78.3%",
        "0.70",
        "3.2e-09",
    )


def test_every_group_has_a_style() -> None:
    assert tuple(words.CLASSES) == GROUPS


@pytest.mark.parametrize(
    ("word", "subject", "way"),
    [
        ("선거", "가", "로"),
        ("하늘", "이", "로"),
        ("백운선생", "이", "으로"),
        ("「대마」", "가", "로"),
        ("T-8", "이", "로"),
        ("T-9", "가", "로"),
        ("T-10", "이", "으로"),
        ("session_id", "가", "로"),
        ("turn_at", "이", "으로"),
        ("model", "이", "로"),
        ("name", "이", "으로"),
        ("reply_text", "가", "로"),
        ("URL", "이", "로"),
        ("", "가", "로"),
        ("♡", "가", "로"),
    ],
)
def test_a_particle_follows_how_the_last_syllable_is_read(word: str, subject: str, way: str) -> None:
    assert (words.particle(word, "이/가"), words.particle(word, "으로/로")) == (subject, way)


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("endings: + 용", "종결 어미 「용」을 설정에 더함"),
        ("endings: - 니까", "종결 어미 「니까」를 설정에서 뺌"),
        ("endings: + ignore_trailing.", "문장 끝에 붙은 것(~, ㅎㅎ, ♡)을 지나치고 종결 어미를 읽음"),
        ("endings: - ignore_trailing.", "문장 끝에 붙은 것(~, ㅎㅎ, ♡)을 지나치지 않고 종결 어미를 읽음"),
        ("topic_lexicon: - 대마 -> 약물", "사전에서 「대마」(약물)를 뺌"),
        ("topic_lexicon: + 과음 -> 음주", "사전에 「과음」(음주)을 더함"),
        ("topic_lexicon: rows in another order", "사전에 있는 말의 순서가 바뀜"),
        ("character_card C-1 honorific_rule: 반말 -> null", ""),
    ],
)
def test_a_setting_that_made_a_change_is_told_in_korean(cell: str, told: str) -> None:
    assert words.setting(cell) == told
