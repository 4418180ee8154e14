"""The canon names that an off-canon name may be meant for: with a particle, in another spelling, with a title.

It proposes; people decide. Pure.
"""

import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from wh_judge.text import quoted

PARTICLES = (
    *("이", "가", "은", "는", "을", "를", "와", "과", "의", "도"),
    *("만", "에", "로", "으로", "랑", "이랑", "야", "아", "이야"),
    *("에게", "한테", "께", "께서", "에서", "부터", "까지", "처럼"),
    *("보다", "이나", "나", "이라", "라", "이가", "이는", "이의"),
    *("님", "씨", "군", "양", "선생", "선생님", "쌤", "박사", "박사님"),
    *("선배", "형", "누나", "언니", "오빠"),
)
"""What may stand behind a name without being part of it: particles, and titles that replies add."""

LIKE_ENOUGH = 0.75
"""Of the jamo of two names, the share that must be the same in order for one to be proposed for the other."""

_MOST_STRIPPED = 3

MOST_COMPARED = 200
"""Characters of a name whose spelling is compared: the time for it grows with their square."""

How = Literal["own", "particle", "part", "spelling"]


class CloseName(NamedTuple):
    """A name of the card, and how it is close: it is the character's `own`, without a `particle` it is the same, one is
    a `part` of the other, or their `spelling` is alike."""

    name: str
    how: How
    likeness: float
    """Share of jamo that are the same, 0 to 1."""
    why: str
    """How it is close, for people."""


def stripped(name: str) -> list[str]:
    """The name without what may stand behind it, shorter and shorter; white space between them is dropped, too."""
    found = [name]
    for _ in range(_MOST_STRIPPED):
        for one in list(found):
            for particle in PARTICLES:
                shorter = one.removesuffix(particle).rstrip()
                if shorter and shorter != one and shorter not in found:
                    found.append(shorter)
    return found[1:]


def closest_names(name: str, canon: Sequence[str], own: str | None = None, most: int = 3) -> list[CloseName]:
    """The canon names that are closest to a name, closest first: those that a particle tells apart, then parts, then
    spellings. Before all of them the character's own name, where it is that, with or without a particle."""
    bare = set(stripped(name))
    found = []
    if own is not None and own in {name, *bare} and own not in canon:
        why = "캐릭터 자신의 이름" + (f"이고, {_only_behind(name, own)}" if own != name else "입니다")
        found.append(CloseName(own, "own", 1.0, why))
    for other in dict.fromkeys(canon):
        likeness = SequenceMatcher(None, _jamo(name), _jamo(other), autojunk=False).ratio()
        if other in bare or name in stripped(other):
            found.append(CloseName(other, "particle", likeness, _only_behind(name, other)))
        elif len(min(name, other, key=len)) > 1 and (other in name or name in other):
            found.append(CloseName(other, "part", likeness, "한쪽이 다른 쪽에 들어 있습니다"))
        elif likeness >= LIKE_ENOUGH:
            found.append(CloseName(other, "spelling", likeness, f"철자가 비슷합니다(자모의 {likeness:.0%}가 같음)"))
    order = {"own": 0, "particle": 1, "part": 2, "spelling": 3}
    return sorted(found, key=lambda close: (order[close.how], -close.likeness, close.name))[:most]


def _only_behind(one: str, other: str) -> str:
    shorter, longer = sorted((one, other), key=len)
    return f"끝의 {quoted(longer.removeprefix(shorter).strip())}만 다릅니다"


def _jamo(name: str) -> str:
    """The name letter by letter, without white space: 리코 and 리고 differ in one of four. Of a long one only the
    beginning."""
    return "".join(unicodedata.normalize("NFD", name[:MOST_COMPARED]).split())
