"""What people decided, in Korean."""

from collections.abc import Iterable
from typing import Any

from wh_judge.review.decisions import SUBJECTS, Decision, Draft
from wh_judge.text import quoted

KINDS = {
    "name": "카드에 없는 이름",
    "hit": "금지 소재의 적중",
    "speech": "답장의 말투",
    "term": "사전의 말",
    "ending": "종결 어미",
    "trailing": "문장 끝에 붙은 것",
    "label": "정답",
}
"""What a decision is about, by its kind."""

CHOICES = {
    "add": "더하기",
    "block": "막기",
    "harmful": "문제가 됨",
    "harmless": "괜찮음",
    "drop": "빼기",
    "keep": "두기",
    "narrow": "좁히기",
    "reject": "더하지 않기",
    "ignore": "지나치기",
    "undo": "되돌리기",
}
"""What was chosen; a choice that is not here is Korean itself."""


KNOWN = "known"
"""Stands for the number of a decision that was written down before and was not written again."""


def written_down(decisions: Iterable[Decision], written: str | None) -> dict[str, Any] | None:
    """What a page says was just written down: the row, or None where it stood there before, and its words."""
    if written == KNOWN:
        return {"row": None, "shown": ""}
    found = next((row for row in decisions if row.decision_id == written), None)
    return {"row": found, "shown": decision(found)} if found else None


def decision(row: Draft) -> str:
    """What was decided, on one line."""
    if row.kind == "undo":
        return f"결정 {row.undoes} 되돌리기"
    about = " ".join(str(getattr(row, name)) for name in SUBJECTS[row.kind])
    more = f" → {', '.join(map(quoted, row.instead))}" if row.instead else ""
    return f"{KINDS[row.kind]}{' ' if about else ''}{about}{more}: {CHOICES.get(row.choice, row.choice)}"
