"""A broken line of CSV becomes a record with its line and a plain reason; the rest is read."""

from pathlib import Path

import pytest

from wh_judge.readers import csv
from wh_judge_tests.records import Reasons, ids, read, reasons, write

QUOTE = "; a quotation mark may be missing, or the file be cut off"

CSV: dict[str, tuple[str | bytes, str]] = {
    "a cell too few": ("b,text,[]", "has 3 cells where the header has 4"),
    "a cell too many": ("b,text,[],true,more", "has 5 cells where the header has 4"),
    "other separators": ("b;text;[];true", "has 1 cells where the header has 4"),
    "a list that is no JSON": (
        'b,text,"하늘, 검술원",true',
        "names holds no JSON list: expecting value at character 1",
    ),
    "a list in Python": (
        "b,text,['하늘'],true",
        "names holds no JSON list: expecting value at character 2",
    ),
    "NaN in a list": ("b,text,[NaN],true", "names holds no JSON list: holds NaN, which is no JSON"),
    "a key twice in a list": (
        'b,text,"[{""a"": 1, ""a"": 2}]",true',
        "names holds no JSON list: names 'a' twice",
    ),
    "a deep list": (
        f"b,text,{'[' * 5000 + ']' * 5000},true",
        "names holds no JSON list: it is nested more than 100 deep",
    ),
    "a huge number in a list": (
        f"b,text,[{'1' * 5000}],true",
        "names holds no JSON list: holds a number of 5000 digits",
    ),
    "a quotation mark that nothing closes": ('b,"text,[],true', f"is no CSV: ',' expected after '\"'{QUOTE}"),
    "text behind a quotation": ('b,"text" more,[],true', f"is no CSV: ',' expected after '\"'{QUOTE}"),
    "CP949": ("b,하늘,[],true".encode("cp949"), "is not UTF-8; save the file as UTF-8"),
}


@pytest.mark.parametrize(("line", "reason"), CSV.values(), ids=CSV)
def test_a_broken_line_of_csv(line: str | bytes, reason: str, tmp_path: Path) -> None:
    content = line if isinstance(line, bytes) else line.encode()
    file = b"id,text,names,flag\r\na,,,\r\n" + content + b'\r\ny,"y","[]",true\r\nz,"z","[""z""]",false\r\n'
    records = read(write(tmp_path, "x.csv", file))
    assert ids(records) == [(2, "a"), (4, "y"), (5, "z")]
    assert reasons(records) == [(3, reason)]
    assert records[1].raw is not None
    assert records[1].raw.encode(errors="surrogateescape") == content


CSV_FILES: dict[str, tuple[str | bytes, Reasons]] = {
    "no header": ("", [(1, "has a header that lacks id")]),
    "another header": ("turn,text\na,b\n", [(1, "has a header that lacks id")]),
    "other separators in the header": (
        "id;text\na;b\n",
        [(1, "has a header that lacks id; separate the cells by commas")],
    ),
    "a column twice": ("id,text,text\na,b,c\n", [(1, "has a header that names 'text' twice")]),
    "two columns without a name": ("id,,\na,b,c\n", [(1, "has a header that names '' twice")]),
    "a header in another encoding, twice": (
        "id,하,하\n".encode("cp949"),
        [(1, r"has a header that names '\udcc7\udccf' twice")],
    ),
    "a header that is no CSV": ('"id" x\na\n', [(1, "is no CSV: ',' expected after '\"'")]),
    "only a header": ("id,text\n", []),
}


@pytest.mark.parametrize(("content", "bad"), CSV_FILES.values(), ids=CSV_FILES)
def test_a_csv_file_without_a_row(content: str | bytes, bad: Reasons, tmp_path: Path) -> None:
    records = read(write(tmp_path, "x.csv", content))
    assert ids(records) == []
    assert reasons(records) == list(bad)


def test_a_csv_file_cut_off_in_a_quotation(tmp_path: Path) -> None:
    records = read(write(tmp_path, "x.csv", 'id,text\na,"one\ntwo"\nb,"cut\noff'))
    assert ids(records) == [(2, "a")]
    assert reasons(records) == [
        (4, f"is no CSV: unexpected end of data{QUOTE}"),
        (5, "has 1 cells where the header has 2"),
    ]
    assert [record.raw for record in records[1:]] == ['b,"cut', "off"]


def test_lines_are_counted_over_cells_of_several_lines_and_blank_lines(tmp_path: Path) -> None:
    records = read(write(tmp_path, "x.csv", 'id,text\n\na,"1\r\n2\n\n3"\n\n\nb,x\nc,"1\n2",3\nd,x\n'))
    assert ids(records) == [(3, "a"), (9, "b"), (12, "d")]
    assert reasons(records) == [(10, "has 3 cells where the header has 2")]
    assert records[2].raw == 'c,"1\n2",3'
    assert records[0].value == {"id": "a", "text": "1\r\n2\n\n3"}


def test_a_csv_cell_is_text_null_a_list_or_a_boolean(tmp_path: Path) -> None:
    lines = ['"1",,,', ' 2 ," x ",[],TRUE', "3,null,null,false", '4,"""",["a"],1', '5,\0,"[""a""]",0', "6,x,{},ja"]
    content = "\n".join(["id,text,names,flag", *lines])
    assert [record.value for record in read(write(tmp_path, "x.csv", content))] == [
        {"id": "1", "text": None, "names": None, "flag": None},
        {"id": " 2 ", "text": " x ", "names": [], "flag": True},
        {"id": "3", "text": "null", "names": None, "flag": False},
        {"id": "4", "text": '"', "names": ["a"], "flag": True},
        {"id": "5", "text": "\0", "names": ["a"], "flag": False},
        {"id": "6", "text": "x", "names": {}, "flag": "ja"},
    ]


class CountedLines(csv.Lines):
    """Lines that count how often one is taken."""

    count = 0

    def __next__(self) -> str:
        text = super().__next__()
        CountedLines.count += 1
        return text


OPEN = {
    "to the end of the file": ('x","y\n' * 200, "unexpected end of data", 200),
    "to an error far behind": ('x","y\n' * 200 + '"z\n', "',' expected after '\"'", 201),
}


@pytest.mark.parametrize(("content", "error", "count"), OPEN.values(), ids=OPEN)
def test_open_quotation_marks_do_not_have_lines_read_time_and_again(
    content: str, error: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv, "Lines", CountedLines)
    monkeypatch.setattr(CountedLines, "count", 0)
    found = reasons(read(write(tmp_path, "x.csv", "id\n" + content)))
    assert found[:200] == [(line, f"is no CSV: {error}{QUOTE}") for line in range(2, 202)]
    assert len(found) == count
    assert CountedLines.count <= 3 * (count + 1)


def test_of_many_doubled_names_a_few_are_told(tmp_path: Path) -> None:
    header = ",".join([f"k{number:05}" for number in range(20_000)] * 2)
    [(_, reason)] = reasons(read(write(tmp_path, "x.csv", f"id,{header}\n")))
    told = ", ".join(f"'k0000{number}'" for number in range(8))
    assert reason == f"has a header that names {told} and 19992 more twice"
