"""What reading a file gives, whatever its format: records, and why something is none."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from wh_judge import strict_json


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
            return record_of(self.line, strict_json.decode(text), text)
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


def record_of(line: int, value: Any, raw: str) -> Record:
    """The record of a JSON value; a record is an object."""
    if isinstance(value, dict):
        return Record(line, value)
    return Record(line, None, "is no JSON object", raw)


NAMES_TOLD = 8
"""Names that one reason quotes; of the others it gives the number."""


def twice(names: Iterable[str]) -> str | None:
    """Which names stand there more than once, as a clause; None where none does."""
    found = sorted(name for name, count in Counter(names).items() if count > 1)
    more = f" and {len(found) - NAMES_TOLD} more" if len(found) > NAMES_TOLD else ""
    return f"names {', '.join(f'{name[:60]!r}' for name in found[:NAMES_TOLD])}{more} twice" if found else None


def no_file(path: Path) -> str | None:
    """Why the path is no file that can be read; None where it may be."""
    if path.is_dir():
        return "is a folder behind a link, which is not followed; give that folder itself"
    try:
        if path.exists() and not path.is_file():
            return "is no regular file"
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    return "is UTF-16; save it as UTF-8" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else None


NOT_UTF8 = "is not UTF-8; save the file as UTF-8"


def is_utf8(text: str) -> bool:
    """Whether a text that was decoded with "surrogateescape" was UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
