"""Files to records: JSONL, JSON, CSV and Parquet, told apart by suffix. What cannot be read becomes a record too.

Nothing here knows what a record means; `wh_judge.ingest` does. A record that could not be read carries the reason and
as much of its text as there is, so that a caller can keep it.
"""

import csv
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

csv.field_size_limit(min(sys.maxsize, 2**31 - 1))


@dataclass(frozen=True)
class Record:
    """One record of a file: its value, or why there is none."""

    line: int | None
    """Line of the file, row of a Parquet file, from 1; None where the reason is about the file."""
    value: dict[str, Any] | None
    reason: str | None = None
    raw: str | None = None
    """The record's text where `value` is None."""


@dataclass(frozen=True)
class Columns:
    """What a CSV header must and may name, and which cells hold JSON or true and false."""

    required: frozenset[str]
    known: frozenset[str]
    lists: frozenset[str]
    booleans: frozenset[str]


def read_records(path: Path, columns: Columns) -> Iterator[Record]:
    """The records of one file, in order."""
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        yield Record(None, None, f"is none of {', '.join(READERS)}; rename it or convert it")
        return
    try:
        with path.open("rb") as file:
            start = file.read(4)
        if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            yield Record(None, None, "is UTF-16; save it as UTF-8")
            return
        yield from reader(path, columns)
    except OSError as error:
        yield Record(None, None, f"cannot be read: {error.strerror or error}")


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"names {next(n for n in names if names.count(n) > 1)} twice")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"holds {name}, which is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_constant)


def _record(line: int, value: Any, raw: str) -> Record:
    if isinstance(value, dict):
        return Record(line, value)
    return Record(line, None, "is no JSON object", raw)


def _read_jsonl(path: Path, _columns: Columns) -> Iterator[Record]:
    with path.open("rb") as file:
        for line, content in enumerate(file, start=1):
            if line == 1:
                content = content.removeprefix(b"\xef\xbb\xbf")
            if not content.strip():
                continue
            try:
                text = content.decode()
            except UnicodeDecodeError as error:
                raw = content.decode(errors="replace").rstrip("\r\n")
                yield Record(line, None, f"is not UTF-8 (byte {error.start + 1} of the line); save it as UTF-8", raw)
                continue
            try:
                yield _record(line, _DECODER.decode(text), text.rstrip("\r\n"))
            except (ValueError, RecursionError) as error:
                cut = "" if content.endswith(b"\n") else "; the file ends in it and may be cut off"
                yield Record(line, None, f"is no JSON: {_json_reason(error)}{cut}", text.rstrip("\r\n"))


def _json_reason(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg[0].lower()}{error.msg[1:].removesuffix(' at')} at character {error.pos + 1}"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def _read_json(path: Path, _columns: Columns) -> Iterator[Record]:
    """A JSON array of objects, or one object; read element by element so that a cut-off file keeps its whole rows."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        yield Record(None, None, f"is not UTF-8 (byte {error.start + 1}); save it as UTF-8")
        return
    position = _skip_space(text, 0)
    array = text.startswith("[", position)
    position, line, counted = position + array, 1, 0
    while True:
        position = _skip_space(text, position)
        line, counted = line + text.count("\n", counted, position), position
        if array and text.startswith("]", position):
            position = _skip_space(text, position + 1)
            break
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            yield Record(
                line, None, f"is no JSON from here on, perhaps cut off: {_json_reason(error)}", text[position:]
            )
            return
        yield _record(line, value, text[position:end])
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


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _read_csv(path: Path, columns: Columns) -> Iterator[Record]:
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        taken: list[str] = []

        def lines() -> Iterator[str]:
            for text in file:
                taken.append(text)
                yield text

        reader = csv.reader(lines(), strict=True)
        try:
            header = next(reader, [])
        except csv.Error as error:
            yield Record(1, None, f"is no CSV: {error}")
            return
        twice = {name for name in header if header.count(name) > 1}
        missing = columns.required - set(header)
        if twice or missing:
            what = f"names {', '.join(sorted(twice))} twice" if twice else f"lacks {', '.join(sorted(missing))}"
            yield Record(1, None, f"has a header that {what}", ",".join(header).encode(errors="replace").decode())
            return
        while True:
            line = reader.line_num + 1
            taken.clear()
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                reason = f"is no CSV: {error}; a quotation mark may be missing, or the file be cut off"
                yield Record(line, None, reason, "".join(taken).rstrip("\r\n"))
                continue
            if cells:
                yield _csv_record(line, header, cells, columns, "".join(taken).rstrip("\r\n"))


def _csv_record(line: int, header: list[str], cells: list[str], columns: Columns, raw: str) -> Record:
    try:
        if len(cells) != len(header):
            raise ValueError(f"has {len(cells)} cells where the header has {len(header)}")
        value = {name: _csv_cell(name, cell, columns) for name, cell in zip(header, cells, strict=True)}
        "".join(cells).encode()
        return Record(line, value)
    except UnicodeEncodeError:
        return Record(line, None, "is not UTF-8; save the file as UTF-8", raw)
    except (ValueError, RecursionError) as error:
        return Record(line, None, str(error), raw)


def _csv_cell(name: str, cell: str, columns: Columns) -> Any:
    if not cell:
        return None
    if name in columns.booleans:
        return {"true": True, "1": True, "false": False, "0": False}.get(cell.strip().lower(), cell)
    if name in columns.lists:
        try:
            return _DECODER.decode(cell)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{name} holds no JSON list: {_json_reason(error)}") from None
    return cell


def _read_parquet(path: Path, _columns: Columns) -> Iterator[Record]:
    line = 0
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=8192):
                for value in _batch_values(batch):
                    line += 1
                    yield (
                        _record(line, value, "") if value is not None else Record(line, None, "holds text not in UTF-8")
                    )
    except (pa.ArrowException, OSError) as error:
        where = f"cannot be read after row {line}" if line else "is no Parquet file"
        yield Record(None, None, f"{where}; it may be cut off ({str(error).splitlines()[0][:200]})")


def _batch_values(batch: pa.RecordBatch) -> Iterator[dict[str, Any] | None]:
    try:
        yield from batch.to_pylist()
    except UnicodeDecodeError:
        for row in range(batch.num_rows):
            try:
                yield batch.slice(row, 1).to_pylist()[0]
            except UnicodeDecodeError:
                yield None


READERS: Mapping[str, Callable[[Path, Columns], Iterator[Record]]] = {
    ".jsonl": _read_jsonl,
    ".json": _read_json,
    ".csv": _read_csv,
    ".parquet": _read_parquet,
}
"""The one place where a file type is registered."""
