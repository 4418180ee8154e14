"""Files of every type are read alike; a file that cannot be read, or not to its end, says why."""

import errno
import io
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wh_judge.readers import READERS
from wh_judge_tests.records import ids, read, reasons, write

SAME: dict[str, tuple[str, bytes]] = {
    "jsonl": (".jsonl", b'{"id": "a"}\n{"id": "b"}\n'),
    "json": (".json", b'[\n{"id": "a"},\n{"id": "b"}]\n'),
    "csv": (".csv", b"id\na\nb\n"),
}


@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("last", [True, False], ids=["final newline", "no final newline"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["no BOM", "BOM"])
@pytest.mark.parametrize(("suffix", "content"), SAME.values(), ids=SAME)
def test_line_ends_and_byte_order_marks_make_no_difference(
    suffix: str, content: bytes, mark: bytes, last: bool, end: bytes, tmp_path: Path
) -> None:
    content = mark + (content if last else content.rstrip(b"\n")).replace(b"\n", end)
    records = read(write(tmp_path, f"x{suffix}", content))
    assert [record.value for record in records] == [{"id": "a"}, {"id": "b"}]
    assert records[1].line == content.count(b"\n") + (not last)


def test_blank_lines_of_jsonl_count_as_lines(tmp_path: Path) -> None:
    records = read(write(tmp_path, "x.jsonl", '\n{"id": "a"}\n \r\n\n{"id": "b"}'))
    assert ids(records) == [(2, "a"), (5, "b")]
    assert reasons(records) == []


def test_an_empty_jsonl_file_has_no_records(tmp_path: Path) -> None:
    assert read(write(tmp_path, "x.jsonl", "")) == []


def test_line_separators_of_unicode_end_no_line(tmp_path: Path) -> None:
    text = "a\u2028b\u2029c\x85d\x0be"
    lines = "".join(json.dumps({"id": text}, ensure_ascii=False).replace("\\u000b", "\x0b") + "\n" for _ in "12")
    assert ids(read(write(tmp_path, "x.csv", f"id\n{text}\nb\n"))) == [(2, text), (3, "b")]
    assert [line for line, _ in reasons(read(write(tmp_path, "x.jsonl", lines)))] == [1, 2]
    assert ids(read(write(tmp_path, "y.jsonl", lines.replace("\x0b", "")))) == [(n, text[:-2] + "e") for n in (1, 2)]


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv"])
def test_a_cell_of_two_megabytes(suffix: str, tmp_path: Path) -> None:
    text = '가"\\\n,' * 250_000
    cell = '"' + text.replace('"', '""') + '"' if suffix == ".csv" else json.dumps({"id": text}, ensure_ascii=False)
    records = read(write(tmp_path, f"x{suffix}", f"id\n{cell}\n" if suffix == ".csv" else cell))
    assert [record.value for record in records] == [{"id": text}]


@pytest.mark.parametrize("suffix", READERS)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_utf_16_is_named(suffix: str, encoding: str, tmp_path: Path) -> None:
    content = ("\ufeff" if encoding == "utf-16-be" else "") + '{"id": "a"}'
    [record] = read(write(tmp_path, f"x{suffix}", content.encode(encoding)))
    assert (record.line, record.value, record.reason) == (None, None, "is UTF-16; save it as UTF-8")


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_gives_no_rows(suffix: str, encoding: str, tmp_path: Path) -> None:
    content = "id\na\n" if suffix == ".csv" else '{"id": "a"}\n'
    records = read(write(tmp_path, f"x{suffix}", content.encode(encoding)))
    assert ids(records) == []
    assert reasons(records)


HOSTILE = [{"id": "하나", "text": 'a "b"\n, c'}, {"id": "둘", "text": "가나"}, {"id": "셋", "text": "끝이다."}]
CUTS = {
    ".jsonl": ("", [json.dumps(row, ensure_ascii=False) + "\n" for row in HOSTILE], ""),
    ".json": ("[", [json.dumps(row, ensure_ascii=False) + ",\n" for row in HOSTILE], "0]"),
    ".csv": ("id,text\n", [f'{row["id"]},"{row["text"].replace(chr(34), 2 * chr(34))}"\n' for row in HOSTILE], ""),
}


@pytest.mark.parametrize(("suffix", "content"), CUTS.items(), ids=CUTS)
def test_no_cut_of_a_file_changes_a_row_or_passes_silently(
    suffix: str, content: tuple[str, list[str], str], tmp_path: Path
) -> None:
    head, rows, tail = content[0].encode(), [row.encode() for row in content[1]], content[2].encode()
    whole = b"".join([head, *rows, tail])
    row_ends = [len(head) + sum(map(len, rows[:count])) for count in range(4)]
    for size in range(len(head), len(whole)):
        records = read(write(tmp_path, f"x{suffix}", whole[:size]))
        values = [record.value for record in records if record.value and record.value["id"]]
        if suffix == ".csv" and values and not reasons(records):
            # The one thing that cannot be told: whether the last cell ends there or was cut off.
            text = HOSTILE[len(values) - 1]["text"]
            assert text.startswith(values[-1]["text"] or "")
            values[-1]["text"] = text
        assert values == HOSTILE[: len(values)], size
        assert len(values) >= sum(end <= size for end in row_ends[1:]), size
        if suffix != ".csv":
            between_rows = suffix == ".jsonl" and (size in row_ends or size + 1 in row_ends)
            assert bool(reasons(records)) != between_rows, size


def parquet(columns: dict[str, pa.Array], **options: int) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer, **options)
    return buffer.getvalue()


IDS = pa.array(["a", "b", "z"])
NOT_UTF8_ARRAY = pa.array([b"a", b"\xed\x95", b"z"]).view(pa.string())
PARQUET: dict[str, tuple[dict[str, pa.Array], str]] = {
    "text that is not UTF-8": ({"id": IDS, "text": NOT_UTF8_ARRAY}, "holds text that is not UTF-8"),
    "a date outside the calendar": (
        {"id": IDS, "at": pa.array([0, 2**62, 0], pa.timestamp("us", "UTC"))},
        "holds a value that cannot be read (date value out of range)",
    ),
    "a time zone that nobody knows": (
        {"id": IDS, "at": pa.array([None, 0, None], pa.timestamp("us", "Mars/Base"))},
        "holds a value that cannot be read ('Mars/Base')",
    ),
}


@pytest.mark.parametrize(("columns", "reason"), PARQUET.values(), ids=PARQUET)
def test_a_broken_row_of_parquet(columns: dict[str, pa.Array], reason: str, tmp_path: Path) -> None:
    records = read(write(tmp_path, "x.parquet", parquet(columns)))
    assert ids(records) == [(1, "a"), (3, "z")]
    assert reasons(records) == [(2, reason)]


def test_a_column_that_stands_twice_in_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_arrays([IDS, IDS], ["id", "id"]), tmp_path / "x.parquet")
    assert [(r.line, r.value, r.reason) for r in read(tmp_path / "x.parquet")] == [(None, None, "names 'id' twice")]


def test_rows_are_counted_over_row_groups_and_batches(tmp_path: Path) -> None:
    numbers = [str(number) for number in range(20_000)]
    records = read(write(tmp_path, "x.parquet", parquet({"id": pa.array(numbers)}, row_group_size=7_000)))
    assert ids(records) == list(enumerate(numbers, start=1))


@pytest.mark.parametrize("size", [0, 3, 50, -1, -8, -9])
def test_a_parquet_file_cut_off(size: int, tmp_path: Path) -> None:
    whole = parquet({"id": IDS})
    [record] = read(write(tmp_path, "x.parquet", whole[: size if size >= 0 else len(whole) + size]))
    assert (record.line, record.value) == (None, None)
    assert (record.reason or "").startswith("is no Parquet file; it may be cut off (")
    assert "\n" not in (record.reason or "")


def test_a_parquet_file_with_a_broken_page_keeps_the_rows_before_it(tmp_path: Path) -> None:
    whole = parquet({"id": pa.array([f"{number:030}" for number in range(20_000)])}, row_group_size=10_000)
    offset = pq.ParquetFile(io.BytesIO(whole)).metadata.row_group(1).column(0).data_page_offset
    records = read(write(tmp_path, "x.parquet", whole[:offset] + b"\xff" * 64 + whole[offset + 64 :]))
    assert len(ids(records)) >= 8192
    [(line, reason)] = reasons(records)
    assert line is None
    assert (reason or "").startswith(f"cannot be read after row {len(ids(records))}; it may be cut off (")


@pytest.mark.parametrize("name", ["x.txt", "x", "x.jsonl.gz", "x.jsonl ", "jsonl", "x.xlsx"])
def test_a_suffix_that_is_unknown(name: str, tmp_path: Path) -> None:
    [record] = read(write(tmp_path, name, '{"id": "a"}'))
    assert (record.line, record.value) == (None, None)
    assert record.reason == "is none of .jsonl, .json, .csv, .parquet; rename it or convert it"


@pytest.mark.parametrize("name", ["x.JSONL", "x.Json", "X.cSv", "x.PARQUET", "하늘.1.JSONL"])
def test_a_suffix_in_capitals(name: str, tmp_path: Path) -> None:
    content: str | bytes = '{"id": "a"}'
    if name.lower().endswith(("csv", "parquet")):
        content = "id\na\n" if name.lower().endswith("csv") else parquet({"id": pa.array(["a"])})
    assert [record.value for record in read(write(tmp_path, name, content))] == [{"id": "a"}]


def a_folder(path: Path) -> None:
    path.mkdir()


def a_link_to_itself(path: Path) -> None:
    path.symlink_to(path)


def a_link_to_nothing(path: Path) -> None:
    path.symlink_to("gone")


def nothing(path: Path) -> None: ...


UNREADABLE = [
    (a_folder, "is a folder behind a link, which is not followed; give that folder itself"),
    (a_link_to_itself, "cannot be read: Too many levels of symbolic links"),
    (a_link_to_nothing, "cannot be read: No such file or directory"),
    (nothing, "cannot be read: No such file or directory"),
]


@pytest.mark.parametrize("suffix", READERS)
@pytest.mark.parametrize(("make", "reason"), UNREADABLE, ids=[make.__name__ for make, _ in UNREADABLE])
def test_what_is_no_file(make: Callable[[Path], None], reason: str, suffix: str, tmp_path: Path) -> None:
    make(tmp_path / f"x{suffix}")
    [record] = read(tmp_path / f"x{suffix}")
    assert (record.line, record.value, record.reason) == (None, None, reason)


@pytest.mark.parametrize("suffix", READERS)
def test_a_file_that_may_not_be_read(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    path = write(tmp_path, f"x{suffix}", '{"id": "a"}')
    monkeypatch.setattr(Path, "open", refuse)
    [record] = read(path)
    assert (record.line, record.value, record.reason) == (None, None, "cannot be read: Permission denied")


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv"])
def test_a_disk_that_fails_while_a_file_is_read(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object, **_options: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    path = write(tmp_path, f"x{suffix}", '{"id": "a"}')
    monkeypatch.setitem(READERS, suffix, fail)
    [record] = read(path)
    assert (record.line, record.value, record.reason) == (None, None, "cannot be read: Input/output error")


def test_of_elements_on_one_line_the_place_is_told(tmp_path: Path) -> None:
    content = '[{"id": "a"}, 1 ,{"id": "b"},\n{"id": "c"}, {"id": "d"},\n\n{"id": "e"}]'
    records = read(write(tmp_path, "x.json", content))
    assert [(record.line, record.element) for record in records] == [(1, 1), (1, 2), (1, 3), (2, 4), (2, 5), (4, None)]
