"""JSONL line by line, and JSON element by element."""

import re
from collections.abc import Iterator
from pathlib import Path

from wh_judge import strict_json
from wh_judge.readers.records import NOT_UTF8, Columns, Line, Record, is_utf8, record_of


def read_jsonl(path: Path, _columns: Columns) -> Iterator[Line]:
    """The lines of a JSONL file that are not blank."""
    with path.open("rb") as file:
        for line, content in enumerate(file, start=1):
            if line == 1:
                content = content.removeprefix(b"\xef\xbb\xbf")
            if content.strip():
                yield Line(line, content)


def read_json(path: Path, _columns: Columns) -> Iterator[Record]:
    """A JSON array of objects, or one object; read element by element so that a broken one does not hide the others."""
    text = path.read_bytes().decode("utf-8-sig", errors="surrogateescape")
    all_utf8 = is_utf8(text)
    position = _skip_space(text, 0)
    array = text.startswith("[", position)
    position, line, counted, broken = position + array, 1, 0, False
    element, last_line = 0, 0
    while True:
        position = _skip_space(text, position)
        line, counted = line + text.count("\n", counted, position), position
        if array and text.startswith("]", position):
            position = _skip_space(text, position + 1)
            break
        element, beside, last_line = element + 1, line == last_line, line
        # An error counts the lines before it: behind the first one, elements are cut out before they are decoded.
        broken_end = strict_json.end_of_broken(text, position) if broken else None
        start = 0 if broken_end is None else position
        try:
            if broken_end is None:
                value, end = strict_json.decode_at(text, position)
            else:
                value, end = strict_json.decode(text[position:broken_end]), broken_end
        except ValueError as error:
            reason = strict_json.reason(error, start)
            if not broken:
                broken, broken_end = True, strict_json.end_of_broken(text, position)
            if broken_end is None:
                yield Record(line, None, f"is no JSON from here on, perhaps cut off: {reason}", text[position:])
                return
            end = broken_end
            record = Record(line, None, f"is no JSON: {reason}", text[position:end])
        else:
            if all_utf8 or is_utf8(text[position:end]):
                record = record_of(line, value, text[position:end])
            else:
                record = Record(line, None, NOT_UTF8, text[position:end])
        yield record._replace(element=element) if beside or (array and _ANOTHER.match(text, end)) else record
        position = _skip_space(text, end)
        if not array:
            break
        if text.startswith(",", position):
            position += 1
        elif not text.startswith("]", position):
            line += text.count("\n", counted, position)
            yield Record(line, None, "is no JSON from here on, perhaps cut off: expected , or ]", text[position:])
            return
    if position < len(text):
        line += text.count("\n", counted, position)
        yield Record(line, None, "stands behind the end of the JSON; for one object a line, name the file .jsonl")


_ANOTHER = re.compile(r"[^\S\n]*,[^\S\n]*\S")
"""Another element on the same line."""


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position
