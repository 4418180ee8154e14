"""What people decide on and choose, in Korean: on the screen, in files of tasks, and in what comes back."""

from collections.abc import Sequence
from typing import Any

from wh_judge.review.decisions import Draft, about_told
from wh_judge.text import quoted

KINDS = {
    "name": "카드에 없는 이름",
    "hit": "금지 소재의 적중",
    "speech": "답장의 말투",
    "term": "사전의 말",
    "ending": "종결 어미",
    "trailing": "문장 끝에 붙은 것",
    "label": "정답",
    "undo": "되돌리기",
}
"""What a decision is about, by its kind."""

CHOICES = {
    "add": "더하기",
    "block": "막기",
    "mistake": "새 인물이 아님",
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


def offered(choices: Sequence[str]) -> str:
    """What can be chosen, as a file of tasks says it: in Korean, with what stands for it in the data."""
    return " / ".join(with_code(choice) for choice in choices)


def with_code(choice: str) -> str:
    """A choice in Korean with what stands for it in the data."""
    return f"{CHOICES[choice]} ({choice})" if choice in CHOICES else choice


_CODES = {word: code for code in CHOICES for word in (CHOICES[code], with_code(code))}


def chosen(word: Any) -> Any:
    """The choice that somebody wrote: in Korean, as `offered` has it, or as it stands in the data."""
    return _CODES.get(word.strip(), word) if isinstance(word, str) else word


def decision(row: Draft) -> str:
    """What was decided, on one line."""
    if row.kind == "undo":
        return f"결정 {row.undoes} 되돌리기"
    about = about_told(row)
    more = f" → {', '.join(map(quoted, row.instead))}" if row.instead else ""
    return f"{KINDS[row.kind]}{' ' if about else ''}{about}{more}: {CHOICES.get(row.choice, row.choice)}"
