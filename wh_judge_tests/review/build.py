"""Decisions and books of them, and a disk that is full."""

import datetime as dt
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wh_judge.review.decisions import Decision, Draft, stamp

NOON = dt.datetime(2026, 9, 4, 3, tzinfo=dt.UTC)


def draft(kind: str, choice: str, **cells: Any) -> Draft:
    """A decision by 지은."""
    return Draft.model_validate({"kind": kind, "choice": choice, "by": "지은"} | cells)


def name(choice: str, of: str = "리안", character: str = "C-1", **cells: Any) -> Draft:
    return draft("name", choice, character_id=character, name=of, **cells)


def hit(choice: str, turn_id: str, term: str = "선거", topic: str = "현실 정치") -> Draft:
    return draft("hit", choice, turn_id=turn_id, term=term, topic=topic)


def label(verdict: str, turn_id: str, by: str = "지은", why: str | None = None) -> Draft:
    return draft("label", verdict, turn_id=turn_id, by=by, why=why)


def undo(decision_id: str) -> Draft:
    return draft("undo", "undo", undoes=decision_id)


def book(*drafts: Draft) -> list[Decision]:
    """The decisions as they would stand in a book, a minute apart."""
    return [stamp(row, place, NOON + dt.timedelta(minutes=place)) for place, row in enumerate(drafts, start=1)]


@contextmanager
def disk_with_room_for(size: int) -> Iterator[None]:
    """Meanwhile no file of this process can grow beyond so many bytes: as on a full disk, a part is written."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
