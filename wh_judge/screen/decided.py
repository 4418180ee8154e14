"""What people decided, in Korean."""

from collections.abc import Iterable, Sequence
from typing import Any

from starlette.requests import Request

from wh_judge.review.book import BOOK, Fault, Read, book_of, read_what_can_be
from wh_judge.review.decisions import Decision
from wh_judge.review.korean import decision
from wh_judge.screen.reasons import korean_error

KNOWN = "known"
"""Stands for the number of a decision that was written down before and was not written again."""

FAULTS_TOLD = 5


def read(request: Request) -> Read:
    """What people decided on these data, as far as it can be read."""
    return read_what_can_be(book_of(request.app.state.settings.data))


def damaged(faults: Sequence[Fault]) -> list[str]:
    """Which lines of the book cannot be read, why, and what to do; empty where all can."""
    told = [fault_told(fault) for fault in faults[:FAULTS_TOLD]]
    more = len(faults) - FAULTS_TOLD
    return [*told, f"읽지 못한 줄이 {more}줄 더 있습니다."] if more > 0 else told


def fault_told(fault: Fault) -> str:
    """Which line it is, why it cannot be read, and what to do."""
    remedy = "적는 도중에 꺼져 끊긴 줄이니 지워도 됩니다." if fault.cut else "그 줄을 고치거나 지우세요."
    return f"{BOOK} {fault.line}번째 줄을 읽지 못했습니다. {korean_error(fault.why)}. {remedy}"


def written_down(decisions: Iterable[Decision], written: str | None) -> dict[str, Any] | None:
    """What a page says was just written down: the row, or None where it stood there before, and its words."""
    if written == KNOWN:
        return {"row": None, "shown": ""}
    found = next((row for row in decisions if row.decision_id == written), None)
    return {"row": found, "shown": decision(found)} if found else None
