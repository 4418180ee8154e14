"""JSON is read strictly, and a broken value does not hide what stands behind it."""

import json
import sys

import pytest

from wh_judge.strict_json import NESTING_LIMIT, decode, decode_at, end_of_broken, reason

BAD = {
    "not JSON": ("{'a': 1}", "expecting property name enclosed in double quotes at character 2"),
    "cut off in a text": ('{"a": "b', "unterminated string starting at character 7"),
    "key twice": ('{"a": 1, "a": 2}', "names 'a' twice"),
    "key twice, deeper": ('[{"x": {"b": 1, "a": 1, "a": 2}}]', "names 'a' twice"),
    "key that no file can hold, twice": (r'{"\ud800": 1, "\ud800": 2}', r"names '\ud800' twice"),
    "key of two lines, twice": (r'{"a\nb": 1, "a\nb": 2}', r"names 'a\nb' twice"),
    "NaN": ('{"a": NaN}', "holds NaN, which is no JSON"),
    "minus infinity": ('{"a": -Infinity}', "holds -Infinity, which is no JSON"),
    "a number too long for Python": (f'{{"a": {"9" * 5000}}}', "holds a number of 5000 digits"),
    "lists nested too deep": ("[" * 101 + "]" * 101, f"it is nested more than {NESTING_LIMIT} deep"),
    "objects nested too deep": ('{"a":' * 101 + "1" + "}" * 101, f"it is nested more than {NESTING_LIMIT} deep"),
    "nested deeper than the stack": ("[" * 100_000 + "]" * 100_000, f"it is nested more than {NESTING_LIMIT} deep"),
    "something behind it": ('{"a": 1} 2', "extra data at character 10"),
    "nothing": ("", "expecting value at character 1"),
}


@pytest.mark.parametrize(("text", "why"), BAD.values(), ids=BAD)
def test_what_is_not_read_has_a_plain_reason(text: str, why: str) -> None:
    with pytest.raises(ValueError) as error:
        decode(text)
    assert reason(error.value) == why


@pytest.mark.parametrize(
    "value",
    [
        {"a": [1, -2.5, True, None, "가"]},
        10**4000,
        ["x"] * 1000,
        [[]] * 1000,
        json.loads("[" * NESTING_LIMIT + "]" * NESTING_LIMIT),
        "[" * 1000,
        '"',
    ],
    ids=["all kinds", "big number", "long list", "many lists", "nested to the limit", "brackets in a text", "quote"],
)
def test_what_json_has_is_read(value: object) -> None:
    assert decode(json.dumps(value)) == value


def test_a_value_is_read_at_a_place() -> None:
    assert decode_at('[{"a": 1}, 2]', 1) == ({"a": 1}, 9)


@pytest.mark.parametrize("depth", [600, 900, sys.getrecursionlimit() - 1])
def test_a_value_at_a_place_is_held_to_the_same_depth(depth: int) -> None:
    with pytest.raises(ValueError, match="nested more than"):
        decode_at("[" * depth + "]" * depth, 0)


ENDS = {
    "list": ("[NaN], 1", "[NaN]"),
    "object": ('{"a": NaN}, 1', '{"a": NaN}'),
    "brackets in texts": (r'{"]}": "\"}", "b": [NaN]} ]', r'{"]}": "\"}", "b": [NaN]}'),
    "backslash before the quote": (r'{"a": "\\", b} ]', r'{"a": "\\", b}'),
    "text of two lines": ('{"a\nb": NaN} ]', '{"a\nb": NaN}'),
}


@pytest.mark.parametrize(("text", "broken"), ENDS.values(), ids=ENDS)
def test_a_broken_value_ends_where_its_brackets_do(text: str, broken: str) -> None:
    end = end_of_broken(text, 0)
    assert end is not None
    assert text[:end] == broken


@pytest.mark.parametrize("text", ['{"a": 1', '{"a": "b}', "nonsense, {}", '"text", {}', "]", ""])
def test_a_value_without_an_end_has_none(text: str) -> None:
    assert end_of_broken(text, 0) is None


def test_an_end_is_looked_for_from_the_place_on() -> None:
    assert end_of_broken('[{"a": NaN}]', 1) == 11


def test_a_megabyte_without_an_end_takes_no_time_to_speak_of() -> None:
    assert end_of_broken("{" + '"\\"' * 300_000, 0) is None
    assert end_of_broken('{"' + "\\" * 1_000_001, 0) is None


def test_one_key_of_very_many_may_be_doubled() -> None:
    keys = [f'"k{number}": 1' for number in range(200_000)]
    with pytest.raises(ValueError, match="names 'k199999' twice"):
        decode("{" + ", ".join([*keys, keys[-1]]) + "}")
