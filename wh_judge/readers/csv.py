"""CSV, whose list cells hold JSON."""

import csv
import re
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from wh_judge import strict_json
from wh_judge.readers.records import NOT_UTF8, Columns, Record, is_utf8, twice

csv.field_size_limit(min(sys.maxsize, 2**31 - 1))


class Lines:
    """The lines of a CSV file, one by one; lines that were taken for one record can be read again as others."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._waiting = file, deque[str]()
        self._error, self._error_at = "", 0
        self.number = 0
        self.taken: list[str] = []
        """The lines of the record that is being read."""

    def __iter__(self) -> "Lines":
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


def read_csv(path: Path, columns: Columns) -> Iterator[Record]:
    """The records of a CSV file, an empty cell as None; of a header that is wrong, the reason alone."""
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        lines = Lines(file)
        reader = csv.reader(lines, strict=True)
        try:
            header = next(reader, [])
        except csv.Error as error:
            yield Record(1, None, f"is no CSV: {error}")
            return
        missing = columns.required - set(header)
        wrong = twice(header) or (f"lacks {', '.join(sorted(missing))}" if missing else None)
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
        if not is_utf8(raw):
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
