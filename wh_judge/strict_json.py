"""JSON read strictly: no key twice, no NaN, no nesting without end; and where a value ends that cannot be read."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

NESTING_LIMIT = 100
"""Lists and objects inside each other. No input has more than four."""

TOO_DEEP = f"it is nested more than {NESTING_LIMIT} deep"
_SHOWN = 60


def decode(text: str) -> Any:
    """The value that the whole text is.

    Raises:
        ValueError: the text is no JSON, or breaks one of the rules above; `reason` says it plainly.
    """
    try:
        return _not_too_deep(_DECODER.decode(text), text, 0, len(text))
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


def decode_at(text: str, position: int) -> tuple[Any, int]:
    """The value that begins at a position, and where it ends.

    Raises:
        ValueError: as `decode`.
    """
    try:
        value, end = _DECODER.raw_decode(text, position)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    return _not_too_deep(value, text, position, end), end


def end_of_broken(text: str, position: int) -> int | None:
    """Where the list or object that begins at a position ends by its brackets; None where it does not."""
    if text[position : position + 1] not in ("[", "{"):
        return None
    depth = 0
    for token in _TOKEN.finditer(text, position):
        mark = token[0]
        if mark == '"':
            return None
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(mark, 0)
        if depth == 0:
            return token.end()
    return None


def reason(error: ValueError, start: int = 0) -> str:
    """Why a text, of which the first `start` characters were cut off, could not be read, as a plain clause."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg[0].lower()}{error.msg[1:].removesuffix(' at')} at character {start + error.pos + 1}"
    return str(error)


_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["\[\]{}]', re.DOTALL)
"""A text, a bracket, or a quotation mark that nothing closes."""


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"names {twice[:_SHOWN]!r} twice")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"holds {name}, which is no JSON")


def _integer(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:
        raise ValueError(f"holds a number of {len(digits)} digits") from None


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_constant, parse_int=_integer)


def _not_too_deep(value: Any, text: str, start: int, end: int) -> Any:
    if text.count("[", start, end) + text.count("{", start, end) <= NESTING_LIMIT:
        return value
    level = [value]
    for _ in range(NESTING_LIMIT):
        level = [inner for outer in level for inner in _inside(outer)]
    if any(isinstance(deepest, list | dict) for deepest in level):
        raise ValueError(TOO_DEEP)
    return value


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
