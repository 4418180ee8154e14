"""How reasons show values."""

from typing import Any

import pytest

from wh_judge.validations.validation import differs, joined, named, shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (12, "12"),
        (1.5, "1.5"),
        (float("nan"), "nan"),
        pytest.param(10**5000, "a whole number of 16610 bits", id="huge"),
        ("가\n나", r"'가\n나'"),
        ("\ud800", r"'\ud800'"),
        ("가" * 61, f"'{'가' * 60}'…"),
        (["가", None], "['가', null]"),
        (list(range(9)), "[0, 1, 2, 3, 4, 5, 6, 7, …]"),
        ([[]], "a nested list of 1"),
        ({"a": 1}, "an object"),
        ((), "a tuple"),
    ],
)
def test_shown(value: Any, text: str) -> None:
    assert shown(value) == text


def test_long_texts_are_shown_from_where_they_part() -> None:
    expected, found = "가" * 100 + "나" * 100, "가" * 100 + "다"
    assert differs("x", expected, found) == f"x: expected …'{'가' * 20}{'나' * 40}'…, found …'{'가' * 20}다'"


def test_a_long_text_cut_short_is_seen_to_end() -> None:
    assert differs("x", "가" * 100, "가" * 90) == f"x: expected …'{'가' * 30}', found …'{'가' * 20}'"


def test_reasons_are_counted_after_eight() -> None:
    assert joined(list("abcdefghij")) == "a; b; c; d; e; f; g; h; and 2 more"


@pytest.mark.parametrize(("turn_id", "name"), [("T-1", "T-1"), (5, None), (None, None), ("\ud800", None)])
def test_a_turn_is_named_where_its_id_can_be_written(turn_id: Any, name: str | None) -> None:
    assert named(turn_id) == name
