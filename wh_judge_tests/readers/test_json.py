"""A broken line of JSONL or element of JSON becomes a record with its line and a plain reason; the rest is read."""

from pathlib import Path

import pytest

from wh_judge import strict_json
from wh_judge_tests.records import Reasons, ids, read, reasons, write

CUT = "; the file ends in it and may be cut off"
NOT_UTF8 = "is not UTF-8; save the file as UTF-8"
FROM_HERE = "is no JSON from here on, perhaps cut off: "
CP949 = '{"id": "하늘"}'.encode("cp949")

JSONL: dict[str, tuple[str | bytes, str]] = {
    "no JSON": ("id: b", "is no JSON: expecting value at character 1"),
    "a text that is not closed": ('{"id": "b', "is no JSON: unterminated string starting at character 8"),
    "an object that is not closed": ('{"id": "b"', "is no JSON: expecting ',' delimiter at character 11"),
    "a bare list": ('["b"]', "is no JSON object"),
    "a bare text": ('"b"', "is no JSON object"),
    "null": ("null", "is no JSON object"),
    "two objects": ('{"id": "b"} {"id": "c"}', "is no JSON: extra data at character 13"),
    "a key twice": ('{"id": "b", "id": "c"}', "is no JSON: names 'id' twice"),
    "NaN": ('{"id": NaN}', "is no JSON: holds NaN, which is no JSON"),
    "infinity": ('{"id": -Infinity}', "is no JSON: holds -Infinity, which is no JSON"),
    "a huge number": (f'{{"id": {"1" * 5000}}}', "is no JSON: holds a number of 5000 digits"),
    "deep nesting": (
        f'{{"id": {"[" * 700 + "]" * 700}}}',
        "is no JSON: it is nested more than 100 deep",
    ),
    "a raw tab in a text": ('{"id": "b\tc"}', "is no JSON: invalid control character at character 10"),
    "NULs of a crashed disk": (b"\0" * 20, "is no JSON: expecting value at character 1"),
    "a mark of a second file": ('\ufeff{"id": "b"}', "is no JSON: expecting value at character 1"),
    "CP949": (CP949, "is not UTF-8 (byte 9 of the line); save it as UTF-8"),
    "a UTF-8 character cut in two": (b'{"id": "\xed\x95"}', "is not UTF-8 (byte 9 of the line); save it as UTF-8"),
    "half a surrogate pair in bytes": (
        b'{"id": "\xed\xa0\xbd"}',
        "is not UTF-8 (byte 9 of the line); save it as UTF-8",
    ),
}


@pytest.mark.parametrize(("line", "reason"), JSONL.values(), ids=JSONL)
def test_a_broken_line_of_jsonl(line: str | bytes, reason: str, tmp_path: Path) -> None:
    content = line if isinstance(line, bytes) else line.encode()
    records = read(write(tmp_path, "x.jsonl", b'{"id": "a"}\n' + content + b'\n{"id": "z"}\n'))
    assert ids(records) == [(1, "a"), (3, "z")]
    assert reasons(records) == [(2, reason)]
    assert records[1].raw == content.decode(errors="replace")


def test_the_last_line_of_jsonl_may_be_cut_off(tmp_path: Path) -> None:
    records = read(write(tmp_path, "x.jsonl", '{"id": "a"}\n{"id": "z'))
    assert ids(records) == [(1, "a")]
    assert reasons(records) == [(2, f"is no JSON: unterminated string starting at character 8{CUT}")]


JSON: dict[str, tuple[str | bytes, str]] = {
    "no JSON": ("{id: 1}", "expecting property name enclosed in double quotes at character 17"),
    "a key twice": ('{"id": "b", "id": "c"}', "names 'id' twice"),
    "NaN": ('{"id": [NaN, "]"]}', "holds NaN, which is no JSON"),
    "a huge number": (f'{{"id": {"1" * 5000}}}', "holds a number of 5000 digits"),
    "nesting": (f'{{"id": {"[" * 700 + "]" * 700}}}', "it is nested more than 100 deep"),
    "nesting deeper than the stack": (f'{{"id": {"[" * 9000 + "]" * 9000}}}', "it is nested more than 100 deep"),
    "a word of Python": ('{"id": None}', "expecting value at character 23"),
}


@pytest.mark.parametrize(("element", "reason"), JSON.values(), ids=JSON)
def test_a_broken_element_of_json(element: str, reason: str, tmp_path: Path) -> None:
    records = read(write(tmp_path, "x.json", f'[\n{{"id": "a"}},\n{element},\n{{"id": "z"}}\n]'))
    assert ids(records) == [(2, "a"), (4, "z")]
    assert reasons(records) == [(3, f"is no JSON: {reason}")]
    assert records[1].raw == element


ELEMENTS = {
    "CP949": (CP949, NOT_UTF8),
    "a UTF-8 character cut in two": (b'{"id": "\xed\x95"}', NOT_UTF8),
    "a list": (b'["id"]', "is no JSON object"),
    "null": (b"null", "is no JSON object"),
}


@pytest.mark.parametrize(("element", "reason"), ELEMENTS.values(), ids=ELEMENTS)
def test_an_element_of_json_that_is_no_row(element: bytes, reason: str, tmp_path: Path) -> None:
    records = read(write(tmp_path, "x.json", b'[\n{"id": "a"},\n' + element + b',\n{"id": "z"}\n]'))
    assert ids(records) == [(2, "a"), (4, "z")]
    assert reasons(records) == [(3, reason)]


JSON_FILES: dict[str, tuple[str, list[tuple[int, str]], Reasons]] = {
    "one object": ('{"id": "a"}', [(1, "a")], []),
    "objects on one line": ('[{"id": "a"}, {"id": "b"}]', [(1, "a"), (1, "b")], []),
    "objects of several lines": ('[{\n"id":\n"a"\n},\n\n {"id": "b"}]', [(1, "a"), (6, "b")], []),
    "no objects": ("[]", [], []),
    "cut off behind an element": ('[\n{"id": "a"}\n', [(2, "a")], [(3, f"{FROM_HERE}expected , or ]")]),
    "cut off behind a comma": ('[\n{"id": "a"},\n', [(2, "a")], [(3, f"{FROM_HERE}expecting value at character 16")]),
    "cut off in an element": (
        '[\n{"id": "a"},\n{"id": "b',
        [(2, "a")],
        [(3, f"{FROM_HERE}unterminated string starting at character 23")],
    ),
    "a comma is missing": (
        '[\n{"id": "a"}\n{"id": "b"}\n]',
        [(2, "a")],
        [(3, f"{FROM_HERE}expected , or ]")],
    ),
    "lines of JSONL": (
        '{"id": "a"}\n{"id": "b"}\n',
        [(1, "a")],
        [(2, "stands behind the end of the JSON; for one object a line, name the file .jsonl")],
    ),
    "something behind the end": (
        '[{"id": "a"}]\n\n{"id": "b"}',
        [(1, "a")],
        [(3, "stands behind the end of the JSON; for one object a line, name the file .jsonl")],
    ),
    "a number": ("3", [], [(1, "is no JSON object")]),
    "nothing": ("", [], [(1, f"{FROM_HERE}expecting value at character 1")]),
    "blank lines": ("\n \n", [], [(3, f"{FROM_HERE}expecting value at character 4")]),
}


@pytest.mark.parametrize(("content", "good", "bad"), JSON_FILES.values(), ids=JSON_FILES)
def test_a_file_of_json(content: str, good: list[tuple[int, str]], bad: Reasons, tmp_path: Path) -> None:
    records = read(write(tmp_path, "x.json", content))
    assert ids(records) == good
    assert reasons(records) == list(bad)


def test_behind_the_first_error_no_error_looks_at_the_text_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []

    def spy(error: ValueError, start: int = 0) -> str:
        texts.append(getattr(error, "doc", ""))
        return reason(error, start)

    reason = strict_json.reason
    monkeypatch.setattr(strict_json, "reason", spy)
    found = reasons(read(write(tmp_path, "x.json", "[" + ",\n".join(['{"a":1 1}'] * 50) + "]")))
    assert found == [
        (line, f"is no JSON: expecting ',' delimiter at character {11 * line - 2}") for line in range(1, 51)
    ]
    assert texts[1:] == ['{"a":1 1}'] * 49
