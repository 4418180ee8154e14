"""White space, sentences and quotations mean the same in Python and in SQL."""

import sys
from unicodedata import normalize

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wh_judge.text import (
    QUOTE_LIMIT,
    WHITESPACE,
    as_seen,
    has_hangul,
    last_word,
    nfc,
    quoted,
    regex_class,
    sentences,
    sql_text,
)
from wh_judge_tests.builders import in_sql
from wh_judge_tests.strategies import PIECES, SPACES, texts

CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
"""All of Unicode but surrogates, which are no text."""


def test_white_space_is_what_python_splits_at() -> None:
    assert list(WHITESPACE) == [character for character in CHARACTERS if character.isspace()]


def test_white_space_is_what_python_strips() -> None:
    assert list(WHITESPACE) == [character for character in CHARACTERS if not character.strip()]


def test_each_character_is_blank_in_sql_where_it_is_in_python(macros: duckdb.DuckDBPyConnection) -> None:
    blank = in_sql(macros, "is_blank(x)", CHARACTERS)
    assert [c for c, is_blank in zip(CHARACTERS, blank, strict=True) if is_blank] == list(WHITESPACE)


def test_each_character_is_hangul_in_sql_where_it_is_in_python(macros: duckdb.DuckDBPyConnection) -> None:
    hangul = in_sql(macros, "has_hangul(x)", CHARACTERS)
    assert [c for c, is_hangul in zip(CHARACTERS, hangul, strict=True) if is_hangul] == list(
        filter(has_hangul, CHARACTERS)
    )


@given(st.lists(texts | st.lists(st.sampled_from(SPACES)).map("".join), min_size=1, max_size=20))
@example(
    ["", " ", "\x00", "\u200b", "가", "\n가", normalize("NFD", "가"), "「" * QUOTE_LIMIT, "」" * (QUOTE_LIMIT + 1)]
)
@example(["\U0001f468\u200d\U0001f469" * 14, "e\u0301" * 20, "e\u0301" * 21, "\U0001f600" * 40, "\U0001f600" * 41])
def test_the_macros_say_what_the_functions_say(macros: duckdb.DuckDBPyConnection, values: list[str]) -> None:
    assert in_sql(macros, "is_blank(x)", values) == [not value.strip() for value in values]
    assert in_sql(macros, "has_hangul(x)", values) == [has_hangul(value) for value in values]
    assert in_sql(macros, "quoted(x)", values) == [quoted(value) for value in values]


@pytest.mark.parametrize("macro", ["is_blank", "has_hangul", "quoted"])
def test_null_gives_null(macros: duckdb.DuckDBPyConnection, macro: str) -> None:
    assert in_sql(macros, f"{macro}(x)", [None]) == [None]


@pytest.mark.parametrize("value", PIECES, ids=ascii)
def test_an_sql_literal_is_its_value(macros: duckdb.DuckDBPyConnection, value: str) -> None:
    if "\x00" not in value:
        assert in_sql(macros, sql_text(value), [""]) == [value]


def test_a_regex_class_holds_its_characters_and_no_others(macros: duckdb.DuckDBPyConnection) -> None:
    own = "]^-\\'[a.\x00가\U0001f600\u3000"
    matched = in_sql(macros, f"regexp_full_match(x, '[{regex_class(own)}]')", CHARACTERS)
    assert {c for c, is_matched in zip(CHARACTERS, matched, strict=True) if is_matched} == set(own)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", [""]),
        ("가", ["가"]),
        ("가.", ["가", ""]),
        ("가. 나", ["가", " 나"]),
        ("가?!나", ["가", "", "나"]),
        *((f"가{end}나", ["가", "나"]) for end in ".?!．？！。"),
        *((f"가{mark}나", [f"가{mark}나"]) for mark in (",", "…", "｡", "、", "‼", "\n", ";", "·")),
    ],
)
def test_sentences_are_cut_at_their_ends(text: str, pieces: list[str]) -> None:
    assert list(sentences(text)) == pieces


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("", None),
        (" \n\u3000", None),
        ("가", "가"),
        ("가 나다", "나다"),
        ("가 나다 \t", "나다"),
        *((f"가{space}나{space}", "나") for space in WHITESPACE),
        ("가\u200b나", "가\u200b나"),
    ],
    ids=ascii,
)
def test_the_last_word_is_the_last_run_between_white_space(sentence: str, word: str | None) -> None:
    assert last_word(sentence) == word


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("가", True),
        ("힣", True),
        ("ok 가 ok", True),
        ("", False),
        ("ㅋㅋㅏ", False),
        ("漢字 かな", False),
        (normalize("NFD", "가"), False),
        ("\uabff\ud7a4\ud7b0", False),
    ],
)
def test_hangul_is_composed_syllables(text: str, expected: bool) -> None:
    assert has_hangul(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "「」"),
        ("하늘", "「하늘」"),
        ("「하늘」", "「[하늘]」"),
        ("가" * 40, f"「{'가' * 40}」"),
        ("가" * 41, f"「{'가' * 40}…」"),
        ("가" * 39 + "「」", f"「{'가' * 39}[…」"),
    ],
)
def test_a_quotation_is_cut_and_cannot_be_closed_from_inside(text: str, expected: str) -> None:
    assert quoted(text) == expected


@pytest.mark.parametrize("text", ["하늘", "é", "각", "\ufa0c"])
def test_decomposed_text_is_composed(text: str) -> None:
    assert nfc(normalize("NFD", text)) == normalize("NFC", text)


@pytest.mark.parametrize(
    "text", [" 하늘  아래", "하늘\n아래\t", "하\u200b늘 아\ufeff래", normalize("NFD", "하늘 아래")]
)
def test_what_looks_the_same_is_the_same(text: str) -> None:
    assert as_seen(text) == "하늘 아래"


@pytest.mark.parametrize("text", ["하늘아래", "하늘 아래.", "하늘 아레"])
def test_what_looks_otherwise_is_another_text(text: str) -> None:
    assert as_seen(text) != "하늘 아래"


def test_composed_text_is_left_as_it_is() -> None:
    text = "하늘 é"
    assert nfc(text) is text
