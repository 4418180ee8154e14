"""Cells that no spreadsheet takes for a formula."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wh_judge.spreadsheet import told, written

FORMULAS = ("=cmd|'/c calc'!A1", "+1", "-1", "@x", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠x")


@pytest.mark.parametrize("text", [*FORMULAS, *(f"'{text}" for text in FORMULAS)])
def test_what_begins_like_a_formula_is_marked(text: str) -> None:
    assert written(text) == f"'{text}"


@pytest.mark.parametrize("value", ["1=1", "'", "'가", "", None, 7, 1.5, True])
def test_what_does_not_is_left_as_it_is(value: Any) -> None:
    assert written(value) == value


@given(st.text(alphabet="'=+가a\n") | st.text())
def test_every_text_is_told_again(text: str) -> None:
    assert told(written(text)) == text


@pytest.mark.parametrize(("value", "cell"), [(["=가"], '["=가"]'), (("가",), '["가"]'), ({"a": 1}, '{"a": 1}')])
def test_lists_and_mappings_are_json(value: Any, cell: str) -> None:
    assert written(value) == cell
