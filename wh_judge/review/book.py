"""The book of decisions: one JSON object a line in `decisions.jsonl` among the data, only ever appended to.

A file, and not a table of the warehouse, so that a page or a command can write a decision down at any time, whoever has
the warehouse open just then.
"""

import datetime as dt
import fcntl
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from wh_judge import strict_json
from wh_judge.errors import UserError, first_fault
from wh_judge.review.decisions import Decision, Draft, Standing, stamp
from wh_judge.text import QUOTE_LIMIT

BOOK = "decisions.jsonl"


def book_of(data: Path) -> Path:
    """Where the decisions on this data are written down."""
    return data / BOOK


def read_book(path: Path) -> list[Decision]:
    """All decisions, oldest first; none where there is no book.

    Raises:
        UserError: a line is no decision. Nothing is passed over: a lost decision would change verdicts in silence.
    """
    try:
        with path.open("rb") as file:
            # Whoever is writing just now writes its last line out first.
            fcntl.flock(file, fcntl.LOCK_SH)
            return _parse(path, file.read())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None


def _parse(path: Path, content: bytes) -> list[Decision]:
    decisions: dict[str, Decision] = {}
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            row = Decision.model_validate(strict_json.decode(line.decode()))
        except ValueError as error:
            why = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else reason(error)
            cut = "; the file ends in it: a process was killed before anyone was told that it is written"
            last = cut if number == content.count(b"\n") + 1 else ""
            raise UserError(f"{path}:{number}: is no decision: {why}; correct or delete the line{last}") from None
        if row.kind == "undo" and row.undoes not in decisions:
            raise UserError(
                f"{path}:{number}: undoes {row.undoes}, which does not stand before it; correct or delete the line"
            )
        if row.decision_id in decisions:
            raise UserError(f"{path}:{number}: {row.decision_id} stands in it twice; give it another decision_id")
        decisions[row.decision_id] = row
    return list(decisions.values())


def write_down(path: Path, drafts: Sequence[Draft], at: dt.datetime | None = None) -> list[Decision]:
    """Append decisions; those that say what is in force already, by the same person, are not written again.

    Returns:
        What was written, with numbers.

    Raises:
        UserError: something undoes what does not exist or does not count, or the book cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            known = _parse(path, file.read())
            written = _new(known, drafts, at)
            _append(file.fileno(), path, written)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None
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


def _append(descriptor: int, path: Path, rows: Sequence[Decision]) -> None:
    """All lines in one write, on disk before anyone is told."""
    if not rows:
        return
    text = "".join(json.dumps(line(row), ensure_ascii=False) + "\n" for row in rows).encode()
    size = path.stat().st_size
    if size and path.read_bytes()[-1:] != b"\n":
        text = b"\n" + text
    try:
        done = os.write(descriptor, text)
        if done < len(text):
            raise OSError(0, "the disk is full")
        os.fsync(descriptor)
    except OSError:
        # Half a line would stop every reader.
        with suppress(OSError):
            os.truncate(path, size)
        raise


def line(row: Decision) -> dict[str, object]:
    """A decision as a JSON object: what is not said is left out."""
    return row.model_dump(mode="json", exclude_defaults=True)


def reason(error: ValueError) -> str:
    """Why something is no decision, in one clause."""
    return first_fault(error) if isinstance(error, ValidationError) else strict_json.reason(error)


def _next_number(rows: Sequence[Decision]) -> int:
    numbers = [
        int(row.decision_id[2:]) for row in rows if row.decision_id[:2] == "D-" and row.decision_id[2:].isdecimal()
    ]
    return max(numbers, default=0) + 1


def _check_undo(undone: str, standing: Standing) -> None:
    if not standing.knows(undone):
        raise UserError(f"{undone[:QUOTE_LIMIT]}: there is no such decision; wh-judge review decisions lists them")
    if not standing.counts(undone):
        raise UserError(f"{undone[:QUOTE_LIMIT]}: does not count any more, so there is nothing to undo")


def _says_the_same(row: Decision, other: Decision | None) -> bool:
    return other is not None and (other.choice, other.instead, other.by) == (row.choice, row.instead, row.by)
