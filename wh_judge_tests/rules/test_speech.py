"""말투 어긋남: speech level, first person, and what the two tables of texts say."""

from typing import Any
from unicodedata import normalize

import duckdb
import pytest
from hypothesis import example as also
from hypothesis import given
from hypothesis import strategies as st

from wh_judge.rules import RuleSettings
from wh_judge.rules.rule import example
from wh_judge.rules.speech import columns_sql, speech_level
from wh_judge.text import TRAILING_RANGES, WHITESPACE
from wh_judge_tests.builders import by_kernel, by_references, in_sql, judged, together
from wh_judge_tests.strategies import ENDINGS, ENDS, HANGUL, JAMO, MARKS, SPACES

DEFAULT = RuleSettings()

LEVELS: list[tuple[str | None, str | None]] = [
    ("가요.", "존댓말"),
    ("가죠.", "존댓말"),
    ("갑니다.", "존댓말"),
    ("가십시오.", "존댓말"),
    ("가.", "반말"),
    ("가시오.", "반말"),
    ("가니.", "반말"),
    ("갑니다만.", "반말"),
    ("가요", "존댓말"),
    ("요.", "존댓말"),
    ("3.5요", "존댓말"),
    *((f"가요{end}자", "존댓말") for end in ".?!．？！。"),
    *((f"자{end}가요", "존댓말") for end in ".?!．？！。"),
    *((f"가요{mark}자", "반말") for mark in (",", "…", "｡", "、", "‼", "~", "」", "\n", ";", "ㅎ", "\u200b")),
    ("가요. 자. 먹어.", "존댓말"),
    ("자. 가요. 먹어.", "존댓말"),
    ("자. 먹어. 가요.", "존댓말"),
    ("요 앞에 있어.", "반말"),
    ("그래요 그렇군.", "반말"),
    ("그렇군 그래요.", "존댓말"),
    ("가요 .", "존댓말"),
    ("가요?!", "존댓말"),
    ("?!가요", "존댓말"),
    ("..가요..", "존댓말"),
    *((f"자 가요{space}", "존댓말") for space in WHITESPACE),
    *((f"가요{space}자", "반말") for space in WHITESPACE),
    ("가요\u200b", "반말"),
    ("가요\ufeff.", "반말"),
    ("가" + normalize("NFD", "요"), "반말"),
    ("가", "반말"),
    ("힣", "반말"),
    (None, None),
    ("", None),
    (" \n\u3000", None),
    ("OK!", None),
    ("ㅋㅋㅋ", None),
    ("\uabff\ud7a4", None),
    (normalize("NFD", "가요."), None),
]


@pytest.mark.parametrize(("reply", "level"), LEVELS, ids=ascii)
def test_the_level_is_read_from_the_last_words(reply: str | None, level: str | None) -> None:
    assert speech_level(reply, DEFAULT) == level


TRAILED: list[tuple[str, str, str]] = [
    ("좋아요~", "반말", "존댓말"),
    ("좋아요ㅎㅎ", "반말", "존댓말"),
    ("좋아요 ㅎㅎ", "반말", "존댓말"),
    ("좋아요 ♡.", "반말", "존댓말"),
    ("좋아요❤\ufe0f", "반말", "존댓말"),
    ("좋아요 👍🏽 👩‍👩‍👧", "반말", "존댓말"),
    ("“좋아요”", "반말", "존댓말"),
    ("'좋아요'", "반말", "존댓말"),
    ("(좋아요)", "반말", "존댓말"),
    ("좋아요… 그래", "반말", "반말"),
    ("좋아요~ ㅋㅋ! 응", "반말", "존댓말"),
    ("좋아요, ", "반말", "반말"),
    ("좋아~ 요즘 어때", "반말", "반말"),
    ("좋아 ㅎㅎ", "반말", "반말"),
    ("좋아요", "존댓말", "존댓말"),
    ("좋아*요*", "반말", "반말"),
]


@pytest.mark.parametrize(("reply", "strict", "lenient"), TRAILED)
def test_what_trails_an_ending_is_passed_over_where_the_setting_says_so(
    reply: str, strict: str, lenient: str, macros: duckdb.DuckDBPyConnection
) -> None:
    for settings, level in ((DEFAULT, strict), (RuleSettings(ignore_trailing=True), lenient)):
        assert speech_level(reply, settings) == level
        assert in_sql(macros, columns_sql(settings)["level"], [reply], "reply_text") == [level]


def test_every_mark_that_is_passed_over_is_so_in_both_forms(macros: duckdb.DuckDBPyConnection) -> None:
    marks = [chr(code) for first, last in TRAILING_RANGES for code in range(ord(first), ord(last) + 1)]
    replies, settings = [f"가요{mark}" for mark in marks], RuleSettings(ignore_trailing=True)
    assert {speech_level(reply, settings) for reply in replies} == {"존댓말"}
    assert set(in_sql(macros, columns_sql(settings)["level"], replies, "reply_text")) == {"존댓말"}


@pytest.mark.parametrize("ending", ["요~", "ㅎ", "♡요", "”"])
def test_an_ending_that_would_be_passed_over_is_refused(ending: str) -> None:
    with pytest.raises(ValueError, match="ignore_trailing passes over"):
        RuleSettings(endings=(ending,), ignore_trailing=True)
    assert RuleSettings(endings=(ending,)).endings == (ending,)


@pytest.mark.parametrize(
    "settings", [DEFAULT, RuleSettings(ignore_trailing=True), RuleSettings(endings=("요", "ignore_trailing"))]
)
def test_settings_are_the_sum_of_their_parts(settings: RuleSettings) -> None:
    assert RuleSettings.of_parts(settings.parts) == settings


@pytest.mark.parametrize(
    ("ending", "reply", "level"),
    [
        ("음", "했음.", "존댓말"),
        ("음", "해요.", "반말"),
        ("[가-힣]", "가.", "반말"),
        ("[가-힣]", "가[가-힣].", "존댓말"),
        ("요|가", "가.", "반말"),
        ("^", "가^ .", "존댓말"),
        ("\\z", "가\\z", "존댓말"),
        ("\\", "가\\.", "존댓말"),
        ("'", "가'", "존댓말"),
        ("\x00", "가\x00!", "존댓말"),
        ("\U0001f600", "가\U0001f600", "존댓말"),
        ("OK", "가 OK?", "존댓말"),
        ("OK", "가 ok?", "반말"),
        ("OK", "OK?", None),
    ],
    ids=ascii,
)
def test_the_endings_are_those_of_the_settings_and_literal(
    macros: duckdb.DuckDBPyConnection, ending: str, reply: str, level: str | None
) -> None:
    settings = RuleSettings(endings=(ending,))
    assert speech_level(reply, settings) == level
    assert levels_in_sql(macros, [reply], settings) == [level]


def levels_in_sql(
    macros: duckdb.DuckDBPyConnection, replies: list[str | None], settings: RuleSettings
) -> list[str | None]:
    """The levels by the set-based form."""
    return in_sql(macros, columns_sql(settings)["level"], replies, "reply_text")


words = st.sampled_from([*HANGUL[:8], *JAMO, *MARKS, *ENDINGS, *ENDINGS, "a"])
breaks = st.sampled_from([*SPACES, *ENDS]) | st.sampled_from(["", " ", ".", ". "])
replies = st.lists(st.tuples(words, breaks, breaks).map("".join), max_size=4).map("".join)
some_endings = st.just(list(DEFAULT.endings)) | st.lists(st.sampled_from(ENDINGS), min_size=1, max_size=3)


@given(st.lists(st.none() | replies, min_size=1, max_size=30), some_endings)
@also([reply for reply, _ in LEVELS], list(DEFAULT.endings))
def test_the_level_in_sql_is_the_level_in_python(
    macros: duckdb.DuckDBPyConnection, replies: list[str | None], endings: list[str]
) -> None:
    settings = RuleSettings(endings=tuple(endings))
    assert levels_in_sql(macros, replies, settings) == [speech_level(reply, settings) for reply in replies]


Cells = dict[str, Any]

KEPT, BROKEN = "설정대로 말함", "말투 어긋남"
POLITE: Cells = {"reply_text": "가요."}
MISMATCHES: dict[str, tuple[Cells, Cells, str, str | None, str | None]] = {
    "nothing differs": ({}, {}, KEPT, "반말 · 나", "반말 · 나"),
    "the level differs": (POLITE, {}, BROKEN, "반말 · 나", "존댓말 · 나"),
    "the level differs the other way": ({}, {"honorific_rule": "존댓말"}, BROKEN, "존댓말 · 나", "반말 · 나"),
    "the first person differs": ({"first_person": "저"}, {}, BROKEN, "반말 · 나", "반말 · 저"),
    "both differ": (POLITE | {"first_person": "저"}, {}, BROKEN, "반말 · 나", "존댓말 · 저"),
    "the first person is compared exactly": ({"first_person": "나 "}, {}, BROKEN, "반말 · 나", "반말 · 나 "),
    "the card's level is open": (POLITE, {"honorific_rule": None}, KEPT, "나", "존댓말 · 나"),
    "the card's level is open, the first person differs": (
        {"first_person": "저"},
        {"honorific_rule": None},
        BROKEN,
        "나",
        "반말 · 저",
    ),
    "the card's first person is open": ({"first_person": "저"}, {"first_person": None}, KEPT, "반말", "반말 · 저"),
    "the card's first person is open, the level differs": (
        POLITE,
        {"first_person": None},
        BROKEN,
        "반말",
        "존댓말 · 나",
    ),
    "the card leaves both open": (POLITE, {"honorific_rule": None, "first_person": None}, KEPT, None, "존댓말 · 나"),
    "the log has no first person": ({"first_person": None}, {}, KEPT, "반말 · 나", "반말"),
    "the log has no first person, the level differs": (
        POLITE | {"first_person": None},
        {},
        BROKEN,
        "반말 · 나",
        "존댓말",
    ),
    "no first person on either side": ({"first_person": None}, {"first_person": None}, KEPT, "반말", "반말"),
    "no reply": ({"reply_text": None}, {}, KEPT, "반말 · 나", "나"),
    "a blank reply": ({"reply_text": " \x1c"}, {}, KEPT, "반말 · 나", "나"),
    "no reply, the first person differs": ({"reply_text": None, "first_person": "저"}, {}, BROKEN, "반말 · 나", "저"),
    "no Hangul": ({"reply_text": "OK!"}, {}, KEPT, "반말 · 나", "나"),
    "no reply and no first person": ({"reply_text": None, "first_person": None}, {}, KEPT, "반말 · 나", None),
    "the log's own level says otherwise": ({"honorific_level": "존댓말"}, {}, KEPT, "반말 · 나", "반말 · 나"),
    "the log's own level says the same": (
        POLITE | {"honorific_level": "반말"},
        {},
        BROKEN,
        "반말 · 나",
        "존댓말 · 나",
    ),
}


@pytest.mark.parametrize(("turn", "card", "verdict", "expected", "observed"), MISMATCHES.values(), ids=MISMATCHES)
def test_what_was_set_side_by_side(
    turn: Cells, card: Cells, verdict: str, expected: str | None, observed: str | None
) -> None:
    record = judged(example(turn, card))
    assert (record["verdict"], record["rule_expected"], record["rule_observed"]) == (verdict, expected, observed)


NULL_CELLS: dict[str, tuple[Cells, Cells, list[str]]] = {
    "nothing was skipped": ({}, {}, []),
    "null names": ({"named_entities": None}, {}, ["named_entities"]),
    "a null flag": ({"user_asked_recall": None}, {}, ["user_asked_recall"]),
    "a null message that was to be read": ({"user_asked_recall": True, "user_message": None}, {}, ["user_message"]),
    "a null message that was not": ({"user_message": None}, {}, []),
    "null names and flag": (
        {"named_entities": None, "user_asked_recall": None},
        {},
        ["named_entities", "user_asked_recall"],
    ),
    "an open card": ({}, {"honorific_rule": None, "first_person": None}, []),
    "no reply": ({"reply_text": None, "first_person": None}, {}, []),
}
"""Cells, and what is cited beyond the four cells, which are cited even where they are null."""


@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize(("turn", "card", "fields"), NULL_CELLS.values(), ids=NULL_CELLS)
def test_the_four_cells_are_cited_and_then_each_null_cell(
    turn: Cells, card: Cells, fields: list[str], broken: bool
) -> None:
    turn = turn | ({"first_person": "저"} if broken and not card and "first_person" not in turn else {})
    case = example(turn, card)
    cited = [
        ("chat_turn", "reply_text", case.turn.reply_text, "T-2"),
        ("character_card", "honorific_rule", case.card.honorific_rule, "C-1"),
        ("chat_turn", "first_person", case.turn.first_person, "T-2"),
        ("character_card", "first_person", case.card.first_person, "C-1"),
        *(("chat_turn", field, None, "T-2") for field in fields),
    ]
    evidence = judged(case)["evidence"]
    assert [(row["source"], row["field"], row["value"], row["key"]) for row in evidence] == cited
    assert {row["agg"] for row in evidence} == {None}


@pytest.mark.parametrize(
    ("turn", "summary"),
    [
        (POLITE, "카드 「반말 · 나」에 견준 답장 「존댓말 · 나」에서 2가지 가운데 1가지가 어긋났습니다."),
        (
            POLITE | {"first_person": "저"},
            "카드 「반말 · 나」에 견준 답장 「존댓말 · 저」에서 2가지 가운데 2가지가 어긋났습니다.",
        ),
        (
            {"reply_text": None, "first_person": "저"},
            "카드 「반말 · 나」에 견준 답장 「저」에서 1가지 가운데 1가지가 어긋났습니다.",
        ),
    ],
)
def test_the_summary_names_what_differs(turn: Cells, summary: str) -> None:
    assert judged(example(turn, {}))["summary"] == summary


def test_both_forms_agree_on_the_cases() -> None:
    cases = [example({"reply_text": reply}, {}) for reply, _ in LEVELS]
    cases += [example(turn, card) for turn, card, *_ in MISMATCHES.values()]
    cases += [example(turn, card) for turn, card, _ in NULL_CELLS.values()]
    log = together(cases)
    assert by_kernel(log) == by_references(log)
