"""What an address of the review asks for, and what a form of it sends."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ValidationError
from starlette.requests import Request

from wh_judge.errors import first_fault
from wh_judge.review.decisions import Decision, Draft
from wh_judge.review.queues import Week, days_of, judged_weeks, usual_week
from wh_judge.rules import RuleSettings
from wh_judge.screen.errors import PageError
from wh_judge.screen.reasons import korean_error
from wh_judge.screen.snapshots import Snapshot
from wh_judge.settings import Settings, reading_settings
from wh_judge.text import nfc

_LINE_END = re.compile(r"\r\n?|\n")


@dataclass(frozen=True)
class Asked:
    """What a tab is made from."""

    snapshot: Snapshot
    settings: Settings
    query: Mapping[str, str]
    week: str
    decisions: Sequence[Decision]
    """All that the book says, oldest first."""

    @cached_property
    def rules(self) -> RuleSettings:
        """The settings as decisions have them now."""
        return reading_settings(data=str(self.settings.data)).rules


def asked_in(request: Request, snapshot: Snapshot | None, decisions: Sequence[Decision]) -> Asked:
    """What an address asks for.

    Raises:
        PageError: nothing is published.
        UserError: the week is none.
    """
    if snapshot is None:
        raise PageError(404, "아직 공개된 판정이 없습니다.", "`wh-judge run`을 먼저 실행하세요.")
    week = request.query_params.get("week", "").strip() or usual_week(weeks_of(snapshot))
    days_of(week)
    return Asked(snapshot, request.app.state.settings, request.query_params, week, decisions)


def weeks_of(snapshot: Snapshot) -> list[Week]:
    """The weeks that have verdicts, newest first."""
    return snapshot.found("weeks", judged_weeks)


def count(text: str) -> int | None:
    """The number in an address; None where there is none."""
    return int(text) if text.isdecimal() and len(text) < 10 else None


def lines_of(text: str) -> tuple[str, ...]:
    """Terms, one a line, since a term may hold anything else; white space of it counts, as it does in the lexicon, and
    as there they are in NFC."""
    return tuple(term for term in _LINE_END.split(nfc(text)) if term.strip())


def drafted(cells: Mapping[str, Any]) -> Draft:
    """The decision that these fields are.

    Raises:
        PageError: they are none.
    """
    try:
        return Draft.model_validate(dict(cells))
    except ValidationError as error:
        what = f"결정이 아닙니다. ({korean_error(first_fault(error))})"
        raise PageError(400, what, "검토 쪽에서 다시 고르세요.") from None
