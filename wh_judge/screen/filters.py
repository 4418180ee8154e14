"""What a list of verdicts is narrowed down to: the query string of an address, and the same in SQL."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

from wh_judge.errors import UserError
from wh_judge.model import VERDICTS
from wh_judge.rules.hedge import NOTES
from wh_judge.text import nfc

UNJUDGED = "판정하지 못함"
"""Stands beside the five verdicts for turns that have none."""

GROUPS = (*VERDICTS, UNJUDGED)
ANY_SKIPPED = "any"
SKIPS = {note.code: note.label for note in NOTES if note.skips}
TEXT_LIMIT = 200
"""Characters of a text that is looked for."""


@dataclass(frozen=True)
class Filter:
    """One field per parameter of the address; empty means not narrowed."""

    verdict: str = ""
    character: str = ""
    model: str = ""
    first: str = ""
    last: str = ""
    session: str = ""
    skipped: str = ""
    since: str = ""
    q: str = ""

    def query(self, **changes: Any) -> str:
        """The query string, with parameters of the page itself added or fields replaced; without what is empty."""
        own = {field.name for field in fields(self)}
        changed = replace(self, **{name: value or "" for name, value in changes.items() if name in own})
        given = {field.name: getattr(changed, field.name) for field in fields(self)}
        given |= {name: value for name, value in changes.items() if name not in own}
        return urlencode({name: value for name, value in given.items() if value})

    @property
    def narrowed(self) -> list[str]:
        """The fields that are set, but for the verdict, which is the group."""
        return [field.name for field in fields(self) if field.name != "verdict" and getattr(self, field.name)]

    def where(self) -> tuple[str, dict[str, Any]]:
        """A condition on a table with the columns that every turn has, and its parameters."""
        conditions, values = ["true"], {}
        for column, name in _EQUAL.items():
            if value := getattr(self, name):
                conditions.append(f"{column} = ${name}")
                values[name] = value
        for comparison, name in ((">=", "first"), ("<=", "last")):
            if value := getattr(self, name):
                conditions.append(f"day {comparison} ${name}::DATE")
                values[name] = value
        return " AND ".join(conditions), values

    def wanted(self, changed_after: dt.datetime | None) -> tuple[str, dict[str, Any]]:
        """A query for the turns that changed, or that have the text; "" where neither is asked for.

        Args:
            changed_after: when the run `since` was done.
        """
        changed = "SELECT turn_id FROM verdict_change WHERE changed_at > $changed_after"
        values: dict[str, Any] = {"changed_after": changed_after} if self.since else {}
        if not self.q:
            return changed if self.since else "", values
        has_text = "(turn_id = $q OR contains(reply_text, $q) OR contains(user_message, $q))"
        # What else is asked for of a turn leaves fewer texts to be read.
        where, equal = self.where()
        also = f" AND turn_id IN ({changed})" if self.since else ""
        return f"SELECT turn_id FROM chat_turn WHERE {where}{also} AND {has_text}", values | equal | {"q": self.q}

    def skipped_where(self) -> tuple[str, dict[str, Any]]:
        """The condition on skipped comparisons, which only verdicts have."""
        if not self.skipped:
            return "true", {}
        # What was skipped is always told in the hedge, which is quicker to look at.
        if self.skipped == ANY_SKIPPED:
            return "hedge IS NOT NULL AND list_has_any(notes, $codes::VARCHAR[])", {"codes": list(SKIPS)}
        return "hedge IS NOT NULL AND list_contains(notes, $code)", {"code": self.skipped}


LIST = (*(field.name for field in fields(Filter)), "day", "page", "open")
"""The parameters of a list and of the files of it; `day` stands for `first` and `last`."""

_EQUAL = {"character_id": "character", "model_id": "model", "session_id": "session"}


def read_filter(query: Mapping[str, str]) -> Filter:
    """The filter of an address.

    Raises:
        UserError: a parameter has a value that it cannot have.
    """
    # What people type may have blanks around it; what a list offers, such as a model_id, is taken to the letter.
    given = {field.name: nfc(query.get(field.name, "")) for field in fields(Filter)}
    given |= {name: given[name].strip() for name in _TYPED}
    if day := query.get("day", "").strip():
        given["first"] = given["last"] = day
    for name in ("first", "last"):
        given[name] = _day(name, given[name]) if given[name] else ""
    found = Filter(**given)
    if found.verdict and found.verdict not in GROUPS:
        raise UserError(f"verdict={found.verdict}: 판정 값이 아닙니다. {' · '.join(GROUPS)} 가운데 하나를 고르세요.")
    if found.skipped not in ("", ANY_SKIPPED, *SKIPS):
        raise UserError(f"skipped={found.skipped}: 건너뛴 대조의 이름이 아닙니다. 목록에서 고르세요.")
    if len(found.q) > TEXT_LIMIT:
        raise UserError(f"q: 찾는 글은 {TEXT_LIMIT}자까지입니다. 줄여서 다시 찾으세요.")
    return found


_TYPED = ("first", "last", "q")


def _day(name: str, value: str) -> str:
    try:
        return dt.date.fromisoformat(value).isoformat()
    except ValueError:
        raise UserError(f"{name}={value}: 날짜가 아닙니다. 2026-09-01처럼 쓰세요.") from None


def read_page(query: Mapping[str, str]) -> int:
    """The page of a list, from 1."""
    text = query.get("page", "1").strip() or "1"
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text[:9]) <= 99_999_999 or len(text) > 8:
        raise UserError(f"page={text}: 쪽 번호가 아닙니다. 1부터 시작하는 수를 쓰세요.")
    return int(text)
