"""Differences between two lists: each in words, and put back into a list that has others, too."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wh_judge.list_edits import MOST_ELEMENTS, list_changes

FOUND: list[tuple[str, str, list[tuple[str, str]]]] = [
    ("ab", "ab", []),
    ("ab", "aab", []),
    ("ab", "axb", [("+ x", "ab")]),
    ("axb", "ab", [("- x", "axb")]),
    ("xab", "ab", [("- x", "xab")]),
    ("abx", "ab", [("- x", "abx")]),
    ("ab", "ba", [("otherwise", "ab")]),
    ("ab", "bxa", [("otherwise", "axb"), ("+ x", "ba")]),
    ("axb", "ba", [("otherwise", "ab"), ("- x", "xba")]),
]


@pytest.mark.parametrize(("old", "new", "expected"), FOUND)
def test_each_difference_is_told_and_put_back_alone(old: str, new: str, expected: list[tuple[str, str]]) -> None:
    changes = list_changes(old, new, str, "otherwise")
    assert [(what, "".join(change(dict.fromkeys(new)))) for what, change in changes] == expected


def test_a_list_in_which_much_differs_is_put_back_whole() -> None:
    old, new = [f"o{i}" for i in range(MOST_ELEMENTS)], ["n"]
    [(what, change)] = list_changes(old, new, str)
    assert what == f"1 added, {MOST_ELEMENTS} removed"
    assert change(["n", "cannot matter"]) == (*old, "cannot matter")


@given(st.lists(st.sampled_from("abcdef"), unique=True), st.lists(st.sampled_from("abcdef"), unique=True))
def test_all_differences_put_back_give_the_list_that_was(old: list[str], new: list[str]) -> None:
    now = tuple(new)
    for _, change in list_changes(old, new, str):
        now = change(now)
    assert now == tuple(old)
