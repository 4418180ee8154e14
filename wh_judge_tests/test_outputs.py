"""Verdicts are written in the output schema, whole or not at all."""

import csv
import errno
import fcntl
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wh_judge import outputs
from wh_judge.errors import UserError
from wh_judge.model import VERDICT_SCHEMA, Verdict
from wh_judge.outputs import check_writable, write_documents, writing_verdicts
from wh_judge_tests.builders import DATA, STATE
from wh_judge_tests.input_files import SUFFIXES

RECORDS = STATE.records()
TABLE = pa.Table.from_pylist(RECORDS, VERDICT_SCHEMA)
DOCUMENTS = [
    claim | {"evidence": [{k: v for k, v in row.items() if k != "agg" or v is not None} for row in claim["evidence"]]}
    for claim in STATE.claims(keyed=False)
]
"""What the references say, as JSON documents of the output schema."""
SCHEMA = json.loads((DATA / "verdict.schema.json").read_text("utf-8"))
COLUMNS = list(SCHEMA["properties"])


def written(path: Path, table: pa.Table = TABLE) -> Path:
    with writing_verdicts([table], path):
        pass
    return path


def documents(path: Path) -> list[dict[str, Any]]:
    """The documents of a file that was written as text."""
    text = path.read_text("utf-8")
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        lists = ("off_canon_entities", "evidence")
        return [
            {name: (json.loads(c) if name in lists else c) if c else None for name, c in row.items()} for row in rows
        ]
    found: list[dict[str, Any]] = (
        json.loads(text) if path.suffix == ".json" else [json.loads(line) for line in text.split("\n")[:-1]]
    )
    return found


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv"])
def test_a_file_holds_what_the_references_say_in_the_order_of_the_table(suffix: str, tmp_path: Path) -> None:
    assert documents(written(tmp_path / f"v{suffix}")) == DOCUMENTS


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv"])
def test_a_document_is_exactly_the_schema(suffix: str, tmp_path: Path) -> None:
    for document in documents(written(tmp_path / f"v{suffix}")):
        jsonschema.validate(document, SCHEMA)
        assert list(document) == COLUMNS
        for row in document["evidence"]:
            assert [name for name in row if name != "agg"] == ["source", "field", "value"]
            assert row.get("agg", "") is not None


def test_jsonl_holds_one_object_a_line_in_readable_hangul(tmp_path: Path) -> None:
    content = written(tmp_path / "v.jsonl").read_bytes()
    assert content.count(b"\n") == len(RECORDS)
    assert b"\r" not in content
    assert content.endswith(b"}\n")
    assert "설정대로 말함".encode() in content


def test_parquet_has_the_columns_of_the_schema(tmp_path: Path) -> None:
    table = pq.read_table(written(tmp_path / "v.parquet"))
    assert table.column_names == COLUMNS == list(Verdict.model_fields)
    assert table.equals(TABLE.select(COLUMNS))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_verdicts_are_a_file_without_rows(suffix: str, tmp_path: Path) -> None:
    path = written(tmp_path / f"v{suffix}", VERDICT_SCHEMA.empty_table())
    if suffix == ".parquet":
        assert pq.read_table(path).num_rows == 0
    else:
        assert documents(path) == []


def test_verdicts_of_several_chunks_are_all_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "CHUNK", 3)
    chunked = pa.concat_tables([TABLE.slice(0, 5), TABLE.slice(5)])
    assert documents(written(tmp_path / "v.json", chunked)) == DOCUMENTS


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_suffix_may_be_in_capitals(suffix: str, tmp_path: Path) -> None:
    assert written(tmp_path / f"v{suffix.upper()}").read_bytes() == written(tmp_path / f"w{suffix}").read_bytes()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_that_is_there_is_replaced(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"v{suffix}"
    path.write_text("old")
    assert written(path).stat().st_size > 100
    assert list(tmp_path.iterdir()) == [path]


def no_space(*_args: object, **_options: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def fail_to_replace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "replace", no_space)


def fail_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    def half(documents: Iterator[Mapping[str, Any]], file: Any, _columns: list[str]) -> None:
        file.write(json.dumps(next(iter(documents)), ensure_ascii=False))
        file.flush()
        no_space()

    def parquet(path: Path, _schema: pa.Schema, **_options: object) -> None:
        path.write_text("PAR1 half")
        no_space()

    for suffix in outputs.WRITERS:
        monkeypatch.setitem(outputs.WRITERS, suffix, half)
    monkeypatch.setattr(pq, "ParquetWriter", parquet)


@pytest.mark.parametrize("old", [True, False], ids=["a file is there", "no file is there"])
@pytest.mark.parametrize("fail", [fail_in_the_middle, fail_to_replace])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_disk_that_fails_leaves_things_as_they_were(
    suffix: str, fail: Callable[[pytest.MonkeyPatch], None], old: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"v{suffix}"
    if old:
        path.write_text("old")
    fail(monkeypatch)
    with pytest.raises(UserError, match=rf"v\{suffix}: cannot be written: No space left on device$"):
        written(path)
    assert [file.read_text() for file in tmp_path.iterdir()] == (["old"] if old else [])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_error_in_the_block_leaves_no_file(suffix: str, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), writing_verdicts([TABLE], tmp_path / f"v{suffix}"):
        assert 1 / 0
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_not_there_before_the_block_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    with writing_verdicts([TABLE], path):
        assert not path.exists()
        assert [file.name.startswith(".") for file in tmp_path.iterdir()] == [True]
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_that_is_too_long_is_an_error_of_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot be written: File name too long$"):
        written(tmp_path / f"{'x' * 300}.jsonl")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["v.txt", "v", "v.jsonl.gz", ".jsonl", "jsonl"])
def test_a_suffix_that_cannot_be_written_is_an_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"write to a name that ends in \.jsonl, \.json, \.csv or \.parquet$"):
        check_writable(tmp_path / name)


def test_a_folder_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"missing: is no folder; make it first$"):
        check_writable(tmp_path / "missing" / "v.jsonl")


def test_a_folder_called_like_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "v.jsonl").mkdir()
    with pytest.raises(UserError, match=r"v\.jsonl: is a folder; name a file$"):
        check_writable(tmp_path / "v.jsonl")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_can_be_written_is_no_error(suffix: str, tmp_path: Path) -> None:
    check_writable(tmp_path / f"v{suffix}")
    check_writable(tmp_path / f"V{suffix.upper()}")


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv"])
def test_documents_of_any_kind_are_written(suffix: str, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"file": 'a\n"b"', "line": 3, "raw": "\0\r\n,"},
        {"file": None, "line": None, "raw": "\u2028"},
    ]
    write_documents(rows, tmp_path / f"r{suffix}", ["file", "line", "raw"])
    if suffix == ".csv":
        rows[0]["line"] = "3"
    assert documents(tmp_path / f"r{suffix}") == rows


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_a_killed_process_has_left_is_removed(suffix: str, tmp_path: Path) -> None:
    """Not what another process is writing, and nothing else."""
    kept = [f".v{suffix}.17.partial", f".w{suffix}.16.partial", f".v{suffix}.partial"]
    for name in (f".v{suffix}.16.partial", *kept):
        (tmp_path / name).write_text("half")
    with (tmp_path / kept[0]).open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        written(tmp_path / f"v{suffix}")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*kept, f"v{suffix}"])


def test_what_is_being_written_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    with writing_verdicts([TABLE], path):
        [partial] = tmp_path.iterdir()
        outputs._remove_left(path)
        assert partial.exists()
    assert documents(path) == DOCUMENTS


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    link = tmp_path / "v.jsonl"
    link.symlink_to("far/w.jsonl")
    written(link)
    assert link.is_symlink()
    assert documents(tmp_path / "far" / "w.jsonl") == DOCUMENTS
    assert sorted(path.name for path in tmp_path.iterdir()) == ["far", "v.jsonl"]
