"""Korean words of the screen that stand nowhere in the data."""

import datetime as dt
import re
import unicodedata
from functools import lru_cache

from markupsafe import Markup

from wh_judge.model import KST
from wh_judge.rules.rule import TRAILING_PART
from wh_judge.text import quoted

KINDS = {
    "polite": "존댓말 종결 어미",
    "plain": "문장의 마지막 어절",
    "name": "카드에 없는 이름",
    "term": "사전에 있는 말",
    "target": "유저가 물은 이름",
    "role": "유저가 물은 관계",
}
"""What a marked word is; names of `marks.Kind`."""

CLASSES = {
    "설정대로 말함": "kept",
    "말투 어긋남": "speech",
    "세계관 밖 고유명사": "canon",
    "금지 소재 접촉": "forbidden",
    "앞 회차를 기억 못 함": "recall",
    "판정하지 못함": "unjudged",
}
"""The style of each group of turns."""

FIELDS = {
    "rule_expected": "카드의 말투",
    "rule_observed": "답장의 말투",
    "off_canon_entities": "카드에 없는 이름",
    "touched_term": "닿은 말",
    "touched_topic": "닿은 소재",
    "recall_target": "잊은 이름",
    "recall_source_turn": "그 이름이 나온 회차",
    "evidence": "근거",
    "summary": "요약",
    "hedge": "단서",
    "name": "이름",
    "honorific_rule": "말투",
    "first_person": "1인칭",
    "canon_entities": "세계관의 이름",
    "forbidden_topics": "금지 소재",
    "entity_roles": "관계",
}
"""Columns of verdicts and cards as people call them; the column itself stands beside it."""

SETTINGS = {
    f"endings: + {TRAILING_PART}": "문장 끝에 붙은 것(~, ㅎㅎ, ♡)을 지나치고 종결 어미를 읽음",
    f"endings: - {TRAILING_PART}": "문장 끝에 붙은 것(~, ㅎㅎ, ♡)을 지나치지 않고 종결 어미를 읽음",
    "topic_lexicon: rows in another order": "사전에 있는 말의 순서가 바뀜",
    "card_as_of: now -> turn": "설정이 바뀌어, 지금 카드 대신 회차가 쓰일 때의 카드로 판정했습니다",
    "card_as_of: turn -> now": "설정이 바뀌어, 회차가 쓰일 때의 카드 대신 지금 카드로 판정했습니다",
}
"""What a cause means that is told in words, beside endings and rows of the lexicon, which `setting` tells."""

WEEKDAYS = "월화수목금토일"


def visible(text: object) -> str:
    """The text with every character that could hide or turn others around written out; line breaks and tabs stay."""
    given = str(text)
    # Most texts hide nothing, and to see that is far quicker than to go through them character by character.
    if given.isprintable() and not _BLANK.search(given):
        return given
    return given.translate(_SHOWN)


class _Shown(dict[int, str]):
    """What each character is shown as; filled as characters come up."""

    def __missing__(self, code: int) -> str:
        mark = chr(code)
        hidden = (unicodedata.category(mark) in _HIDDEN and mark not in _KEPT) or mark in _BLANK_LETTERS
        shown = f"⟨U+{code:04X}⟩" if hidden else mark
        if len(self) < 50_000:
            self[code] = shown
        return shown


_SHOWN = _Shown()
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
_KEPT = "\n\t\u200d"
_BLANK_LETTERS = "\u115f\u1160\u3164\uffa0"
"""Hangul fillers: letters that show nothing."""
_BLANK = re.compile(f"[{_BLANK_LETTERS}]")


@lru_cache(1_000)
def breakable(text: str) -> Markup:
    """The name with places where a line may end inside a name or a row of names."""
    parts = re.split("(?<=[·_])", text)
    return Markup("<wbr>").join(parts)


def particle(word: object, pair: str) -> str:
    """The form of a Korean particle that follows a word: one of `이/가`, `은/는`, `을/를`, `과/와`, `으로/로`.

    How the last syllable is read decides, past quotes and brackets: Hangul by its final consonant, a digit by its name,
    Latin letters as most English words and abbreviations that end so.
    """
    after_consonant, after_vowel = pair.split("/")
    final = _final(str(word).rstrip(_CLOSING))
    return after_vowel if not final or (final == _RIEUL and after_vowel == "로") else after_consonant


def _final(word: str) -> int:
    """The final consonant of the last syllable as Unicode counts them, 0 for none."""
    last = word[-1:]
    if "가" <= last <= "힣":
        return (ord(last) - ord("가")) % 28
    return next((final for pattern, final in _READ if pattern.search(word)), 0)


_RIEUL = 8
_CLOSING = " \t\n'\"`’”)]}>」』》〉"
_READ = (
    (re.compile(r"[178]$|\b[LRlr]$|[A-Z][LR]$|[a-z]le?$"), _RIEUL),
    (re.compile(r"[036]$|\b[MNmn]$|[A-Z][MN]$|[a-z][mn]e?$|ng$|[aeiou][bckpt]$"), 1),
)
"""Which endings of what is not Hangul are read with which final consonant; of those that are no ㄹ any will do."""


def moment(value: dt.datetime | None) -> str:
    """A time in Seoul, to the minute."""
    return "–" if value is None else f"{value.astimezone(KST):%Y-%m-%d %H:%M}"


def day(value: dt.date) -> str:
    """A day with its weekday."""
    return f"{value:%Y-%m-%d} ({WEEKDAYS[value.weekday()]})"


def number(value: int | None) -> str:
    """A count with its thousands apart; what is not known is a dash."""
    return "–" if value is None else f"{value:,}"


def percent(value: float | None) -> str:
    """A share; what is not known is a dash."""
    return "–" if value is None else f"{100 * value:.1f}%"


def decimal(value: float | None) -> str:
    """A figure between -1 and 1; what is not known is a dash."""
    return "–" if value is None else f"{value:.2f}"


def p_value(value: float | None) -> str:
    """A probability, as small as it may be."""
    return "–" if value is None else f"{value:.2g}"


def setting(cell: str) -> str:
    """What the cell of a cause means where it is a setting or a row of the lexicon; else nothing."""
    if cell not in SETTINGS and (found := re.fullmatch(r"endings: ([+-]) (.+)", cell, re.DOTALL)):
        added = "설정에 더함" if found[1] == "+" else "설정에서 뺌"
        return f"종결 어미 {quoted(found[2])}{particle(found[2], '을/를')} {added}"
    if found := re.fullmatch(r"topic_lexicon: ([+-]) (.+) -> (.+)", cell, re.DOTALL):
        where, done = ("사전에", "더함") if found[1] == "+" else ("사전에서", "뺌")
        return f"{where} {quoted(found[2])}({found[3]}){particle(found[2], '을/를')} {done}"
    return SETTINGS.get(cell, "")
