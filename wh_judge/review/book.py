"""The book of decisions: one JSON object a line in `decisions.jsonl` among the data, only ever appended to.

A file, and not a table of the warehouse, so that a page or a command can write a decision down at any time, whoever has
the warehouse open just then.
"""

import datetime as dt
import errno
import fcntl
import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from wh_judge import strict_json
from wh_judge.errors import DiskError, UserError, first_fault
from wh_judge.review.decisions import Decision, Draft, Standing, stamp
from wh_judge.text import QUOTE_LIMIT

BOOK = "decisions.jsonl"

_NUMBERED = re.compile(r"D-(\d{1,18})", re.ASCII)


def book_of(data: Path) -> Path:
    """Where the decisions on this data are written down."""
    return data / BOOK


class Fault(NamedTuple):
    """A line of the book that counts for nothing, since it cannot be read."""

    line: int
    why: str
    """In one clause."""
    cut: bool
    """Whether the file ends in it: a process was killed before anyone was told that it is written."""

    @property
    def remedy(self) -> str:
        """What is wrong with the line and what to do, in one sentence."""
        last = "; the file ends in it: a process was killed before anyone was told that it is written"
        return f"{self.why}; correct or delete the line{last if self.cut else ''}"


class DamagedBook(UserError):
    """The book has lines that cannot be read. Until they are mended nothing is judged and nothing is decided."""

    def __init__(self, path: Path, fault: Fault) -> None:
        super().__init__(f"{path}:{fault.line}: {fault.remedy}")
        self.fault = fault


class Read(NamedTuple):
    """What the book says as far as it can be read."""

    decisions: list[Decision]
    """Oldest first."""
    faults: list[Fault]
    """The lines that cannot be read, in their order."""


def read_book(path: Path) -> list[Decision]:
    """All decisions, oldest first; none where there is no book.

    Raises:
        DamagedBook: a line is no decision. Nothing is passed over: a lost decision would change verdicts in silence.
        DiskError: the book cannot be read.
    """
    return _whole(path, read_what_can_be(path))


def read_what_can_be(path: Path) -> Read:
    """The decisions that can be read, and the lines that cannot: for readers alone, who are told of them.

    Raises:
        DiskError: the book cannot be read.
    """
    try:
        with path.open("rb") as file:
            # Whoever is writing just now writes its last line out first.
            fcntl.flock(file, fcntl.LOCK_SH)
            return _parse(file.read())
    except (FileNotFoundError, NotADirectoryError):
        return Read([], [])
    except OSError as error:
        raise DiskError(path, "read", error) from None


def _whole(path: Path, read: Read) -> list[Decision]:
    if read.faults:
        raise DamagedBook(path, read.faults[0])
    return read.decisions


def _parse(content: bytes) -> Read:
    decisions: dict[str, Decision] = {}
    faults = []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            row = Decision.model_validate(strict_json.decode(line.decode()))
        except ValueError as error:
            why = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else reason(error)
            faults.append(Fault(number, f"is no decision: {why}", number == content.count(b"\n") + 1))
            continue
        if row.kind == "undo" and row.undoes not in decisions:
            faults.append(Fault(number, f"undoes {_cut(row.undoes)}, which does not stand before it", False))
        elif row.decision_id in decisions:
            faults.append(Fault(number, f"{_cut(row.decision_id)} stands in it twice", False))
        else:
            decisions[row.decision_id] = row
    return Read(list(decisions.values()), faults)


def write_down(path: Path, drafts: Sequence[Draft], at: dt.datetime | None = None) -> list[Decision]:
    """Append decisions; those that say what is in force already, by the same person, are not written again.

    Returns:
        What was written, with numbers.

    Raises:
        UserError: something undoes what does not exist or does not count.
        DamagedBook: a line of the book is no decision.
        DiskError: the book cannot be written, such as on a full disk; then it is as it was.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            content = file.read()
            written = _new(_whole(path, _parse(content)), drafts, at)
            _append(file.fileno(), content, written)
    except OSError as error:
        raise DiskError(path, "written", error) from None
    return written


def _new(known: Sequence[Decision], drafts: Sequence[Draft], at: dt.datetime | None) -> list[Decision]:
    standing, number, written = Standing(known), _next_number(known), list[Decision]()
    for draft in drafts:
        row = stamp(draft, number, at or dt.datetime.now(dt.UTC))
        if row.kind == "undo":
            _check_undo(row.undoes or "", standing)
        elif _says_the_same(row, standing.newest(row.subject)):
            continue
        standing.add(row)
        written.append(row)
        number += 1
    return written


def _append(descriptor: int, content: bytes, rows: Sequence[Decision]) -> None:
    """All lines in one write behind what stands there, on disk before anyone is told."""
    if not rows:
        return
    text = "".join(json.dumps(line(row), ensure_ascii=False) + "\n" for row in rows).encode()
    if content and not content.endswith(b"\n"):
        text = b"\n" + text
    try:
        if os.write(descriptor, text) < len(text):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(descriptor)
    except OSError:
        # Half a line would stop every reader.
        with suppress(OSError):
            os.ftruncate(descriptor, len(content))
        raise


def line(row: Decision) -> dict[str, object]:
    """A decision as a JSON object: what is not said is left out."""
    return row.model_dump(mode="json", exclude_defaults=True)


def reason(error: ValueError) -> str:
    """Why something is no decision, in one clause."""
    return first_fault(error) if isinstance(error, ValidationError) else strict_json.reason(error)


def _next_number(rows: Sequence[Decision]) -> int:
    numbers = [int(found[1]) for row in rows if (found := _NUMBERED.fullmatch(row.decision_id))]
    return max(numbers, default=0) + 1


def _check_undo(undone: str, standing: Standing) -> None:
    if not standing.knows(undone):
        raise UserError(f"{_cut(undone)}: there is no such decision; wh-judge review decisions lists them")
    if not standing.counts(undone):
        raise UserError(f"{_cut(undone)}: does not count any more, so there is nothing to undo")


def _cut(decision_id: str | None) -> str:
    return (decision_id or "")[:QUOTE_LIMIT]


def _says_the_same(row: Decision, other: Decision | None) -> bool:
    return other is not None and (other.choice, other.instead, other.by) == (row.choice, row.instead, row.by)
