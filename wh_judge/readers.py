"""Files to records: JSONL, JSON, CSV and Parquet, told apart by suffix. What cannot be read becomes a record too.

Nothing here knows what a record means; `wh_judge.ingest` does. A record that could not be read carries the reason and
as much of its text as there is, so that a caller can keep it.
"""

import csv
import re
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from wh_judge import strict_json
from wh_judge.parquet import TooLargeError, bounded_batches

csv.field_size_limit(min(sys.maxsize, 2**31 - 1))


class Record(NamedTuple):
    """One record of a file: its value, or why there is none."""

    line: int | None
    """Line of the file, row of a Parquet file, from 1; None where the reason is about the file."""
    value: dict[str, Any] | None
    reason: str | None = None
    raw: str | None = None
    """The record's text where `value` is None."""
    element: int | None = None
    """Its place in the array, from 1, where several stand on one line."""

    def record(self) -> "Record":
        """Itself."""
        return self


class Line(NamedTuple):
    """A line of a JSONL file that nobody has read yet."""

    line: int
    content: bytes
    """With what ends it."""

    def record(self) -> Record:
        """The record that it is."""
        try:
            text = self.content.decode().rstrip("\r\n")
        except UnicodeDecodeError as error:
            raw = self.content.decode(errors="replace").rstrip("\r\n")
            return Record(self.line, None, f"is not UTF-8 (byte {error.start + 1} of the line); save it as UTF-8", raw)
        try:
            return _record(self.line, strict_json.decode(text), text)
        except ValueError as error:
            cut = "" if self.content.endswith(b"\n") else "; the file ends in it and may be cut off"
            return Record(self.line, None, f"is no JSON: {strict_json.reason(error)}{cut}", text)


@dataclass(frozen=True)
class Columns:
    """What a CSV header must and may name, and which cells hold JSON, true and false, or numbers."""

    required: frozenset[str]
    known: frozenset[str]
    lists: frozenset[str]
    booleans: frozenset[str]
    numbers: frozenset[str] = frozenset()


def read_records(path: Path, columns: Columns) -> Iterator[Record]:
    """The records of one file, in order."""
    return (entry.record() for entry in read_entries(path, columns))


def read_entries(path: Path, columns: Columns) -> Iterator[Record | Line]:
    """The same, of a JSONL file as lines."""
    reader = READERS.get(path.suffix.lower())
    reason = _no_file(path)
    if reason is not None or reader is None:
        yield Record(None, None, reason or f"is none of {', '.join(READERS)}; rename it or convert it")
        return
    try:
        yield from reader(path, columns)
    except OSError as error:
        yield Record(None, None, f"cannot be read: {error.strerror or error}")


def read_batches(path: Path, rows: int) -> Iterator[pa.RecordBatch | Record]:
    """A Parquet file in batches of at most `rows` rows, in order; where it cannot be read, a record that says why."""
    reason = _no_file(path)
    if reason is not None:
        yield Record(None, None, reason)
        return
    line = 0
    try:
        with pq.ParquetFile(path) as file:
            twice = _twice(file.schema_arrow.names)
            if twice:
                yield Record(None, None, twice)
                return
        for batch in bounded_batches(path, rows):
            yield batch
            line += batch.num_rows
    except TooLargeError as error:
        yield Record(None, None, str(error))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        where = f"cannot be read after row {line}" if line else "is no Parquet file"
        yield Record(None, None, f"{where}; it may be cut off ({_first_line(error)})")


NAMES_TOLD = 8
"""Names that one reason quotes; of the others it gives the number."""


def _twice(names: Iterable[str]) -> str | None:
    """Which names stand there more than once, as a clause; None where none does."""
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    more = f" and {len(twice) - NAMES_TOLD} more" if len(twice) > NAMES_TOLD else ""
    return f"names {', '.join(f'{name[:60]!r}' for name in twice[:NAMES_TOLD])}{more} twice" if twice else None


def _no_file(path: Path) -> str | None:
    """Why the path is no file that can be read; None where it may be."""
    if path.is_dir():
        return "is a folder behind a link, which is not followed; give that folder itself"
    if path.suffix.lower() not in READERS:
        return None
    try:
        if path.exists() and not path.is_file():
            return "is no regular file"
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    return "is UTF-16; save it as UTF-8" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else None


def _record(line: int, value: Any, raw: str) -> Record:
    if isinstance(value, dict):
        return Record(line, value)
    return Record(line, None, "is no JSON object", raw)


def _read_jsonl(path: Path, _columns: Columns) -> Iterator[Line]:
    with path.open("rb") as file:
        for line, content in enumerate(file, start=1):
            if line == 1:
                content = content.removeprefix(b"\xef\xbb\xbf")
            if content.strip():
                yield Line(line, content)


def _read_json(path: Path, _columns: Columns) -> Iterator[Record]:
    """A JSON array of objects, or one object; read element by element so that a broken one does not hide the others."""
    text = path.read_bytes().decode("utf-8-sig", errors="surrogateescape")
    is_utf8 = _is_utf8(text)
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
            if is_utf8 or _is_utf8(text[position:end]):
                record = _record(line, value, text[position:end])
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

NOT_UTF8 = "is not UTF-8; save the file as UTF-8"


def _is_utf8(text: str) -> bool:
    """Whether a text that was decoded with "surrogateescape" was UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


class _Lines:
    """The lines of a CSV file, one by one; lines that were taken for one record can be read again as others."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._waiting = file, deque[str]()
        self._error, self._error_at = "", 0
        self.number = 0
        self.taken: list[str] = []
        """The lines of the record that is being read."""

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        if self.taken and self.number < self._error_at:
            raise StopIteration  # Open quotation marks here have led to an error already: not once more.
        text = self._waiting.popleft() if self._waiting else next(self._file)
        self.number += 1
        self.taken.append(text)
        return text

    def keep_first(self, error: str) -> str:
        """Of the lines taken, give back all but the first, for an error; returns what the error is.

        At the end of each line but the last, a quotation mark was open. A record that begins later and has one open
        at the end of one of them comes to the same error: it is not read on, so that no line is read time and again.
        """
        if self.number < self._error_at:
            error = self._error
        elif len(self.taken) > 1:
            self._error, self._error_at = error, self.number
        self._waiting.extendleft(reversed(self.taken[1:]))
        self.number -= len(self.taken) - 1
        del self.taken[1:]
        return error


def _read_csv(path: Path, columns: Columns) -> Iterator[Record]:
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        lines = _Lines(file)
        reader = csv.reader(lines, strict=True)
        try:
            header = next(reader, [])
        except csv.Error as error:
            yield Record(1, None, f"is no CSV: {error}")
            return
        missing = columns.required - set(header)
        wrong = _twice(header) or (f"lacks {', '.join(sorted(missing))}" if missing else None)
        if wrong:
            hint = "; separate the cells by commas" if len(header) == 1 and re.search("[;\t|]", header[0]) else ""
            yield Record(1, None, f"has a header that {wrong}{hint}", ",".join(header))
            return
        while True:
            line = lines.number + 1
            lines.taken.clear()
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                # A quotation mark that nothing closes swallows the lines behind it, which may be sound.
                what = lines.keep_first(str(error))
                reason = f"is no CSV: {what}; a quotation mark may be missing, or the file be cut off"
                yield Record(line, None, reason, lines.taken[0].rstrip("\r\n"))
                continue
            if cells:
                yield _csv_record(line, header, cells, columns, "".join(lines.taken).rstrip("\r\n"))


def _csv_record(line: int, header: list[str], cells: list[str], columns: Columns, raw: str) -> Record:
    try:
        if len(cells) != len(header):
            raise ValueError(f"has {len(cells)} cells where the header has {len(header)}")
        if not _is_utf8(raw):
            raise ValueError(NOT_UTF8)
        return Record(line, {name: _csv_cell(name, cell, columns) for name, cell in zip(header, cells, strict=True)})
    except ValueError as error:
        return Record(line, None, str(error), raw)


def _csv_cell(name: str, cell: str, columns: Columns) -> Any:
    if not cell:
        return None
    if name in columns.booleans:
        return {"true": True, "1": True, "false": False, "0": False}.get(cell.strip().lower(), cell)
    if name in columns.numbers:
        with suppress(ValueError):
            return float(cell)
    if name in columns.lists:
        try:
            return strict_json.decode(cell)
        except ValueError as error:
            raise ValueError(f"{name} holds no JSON list: {strict_json.reason(error)}") from None
    return cell


def _read_parquet(path: Path, _columns: Columns) -> Iterator[Record]:
    line = 0
    for batch in read_batches(path, 8192):
        if isinstance(batch, Record):
            yield batch
            continue
        for value in batch_values(batch):
            line += 1
            yield batch_record(line, value)


def batch_record(line: int, value: dict[str, Any] | str) -> Record:
    """The record of a row of a Parquet file."""
    return Record(line, None, value) if isinstance(value, str) else Record(line, value)


def batch_values(batch: pa.RecordBatch) -> Iterator[dict[str, Any] | str]:
    """The rows; for one that holds what Python cannot hold, the reason."""
    try:
        yield from batch.to_pylist()
    except _NO_VALUE:
        for row in range(batch.num_rows):
            try:
                yield batch.slice(row, 1).to_pylist()[0]
            except UnicodeDecodeError:
                yield "holds text that is not UTF-8"
            except _NO_VALUE as error:
                yield f"holds a value that cannot be read ({_first_line(error)})"


_NO_VALUE = (ValueError, OverflowError, KeyError)
"""Text that is not UTF-8, a date before year 1 or after 9999, an unknown time zone."""


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]


READERS: Mapping[str, Callable[[Path, Columns], Iterator[Record] | Iterator[Line]]] = {
    ".jsonl": _read_jsonl,
    ".json": _read_json,
    ".csv": _read_csv,
    ".parquet": _read_parquet,
}
"""The one place where a file type is registered."""
