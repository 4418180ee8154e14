"""Hostile rows: small alphabets, so that texts, terms, names, roles and turn ids meet one another often."""

from typing import Any
from unicodedata import normalize

from hypothesis import strategies as st

from wh_judge.model import CharacterCard, ChatTurn, LexiconTerm
from wh_judge.rules import RuleSettings
from wh_judge.text import SENTENCE_ENDS, WHITESPACE, is_trailing
from wh_judge_tests.builders import Rows

SPACES = [*WHITESPACE, "\u180e", "\u200b", "\u2060", "\ufeff"]
"""White space, and what looks like it and is none."""

ENDS = [*SENTENCE_ENDS, "｡", "…", "‼", "．。", "?!"]
"""Sentence ends, and marks that are none."""

HANGUL = [
    "요",
    "죠",
    "니다",
    "십시오",
    "가",
    "힣",
    "하늘",
    "늘이",
    "동생",
    "생",
    "선",
    "선거",
    "거국",
    "국회",
    "나",
    "저",
]
JAMO = [normalize("NFD", "요"), normalize("NFD", "하늘"), "ㅋ", "ㅏ", "\u1100", "\u11a8", "\ud7b0", "\uabff", "\ud7a4"]
MARKS = [
    *("\\", ".*", "[", "]", "^", "$", "|", "(?i)", "+", "{2}", "\\s", "\\z", "\\x{61}", "[가-힣]", "%", "_", "-"),
    *("'", '"', "''", "';--", "「", "」", " · ", "\x00", "a\x00", "{}", "`"),
]
OTHERS = ["a", "A", "aa", "aaa", "ab", "é", "e\u0301", "ß", "\U0001f600", "\U0001f468\u200d\U0001f469", "\U0001f1f0"]
TRAILS = ["~", "ㅎㅎ", "♡", "❤\ufe0f", "”", "…", "～", "^^", "👍🏽"]
"""What may trail an ending."""

LONG = ["가" * 40, "나" * 41, "a" * 39 + "「」"]
PIECES = [*SPACES, *ENDS, *HANGUL, *JAMO, *MARKS, *OTHERS, *LONG]

texts = st.lists(st.sampled_from(PIECES), max_size=8).map("".join) | st.text(max_size=4)
few_pieces = st.lists(st.sampled_from([*HANGUL, *HANGUL, *JAMO, *MARKS, *OTHERS]), min_size=1, max_size=2).map("".join)
keys = few_pieces.filter(str.strip)
"""Short texts that are not blank."""

NAMES = [
    "하늘",
    "늘이",
    "하늘이",
    "리안",
    "나",
    "a",
    "aa",
    "「하늘」",
    "하늘 ",
    "'",
    "\\",
    "가\x00",
    normalize("NFD", "하늘"),
]
OVERLAPPING = ["선", "거", "선거", "거국", "선거국", "국", "a", "aa", "aaa", "하늘", "늘이"]
"""Terms that stand inside one another or begin where another ends."""

ROLES = ["동생", "생", "동", "스승", ".", "[", "'", "\x00", "a"]
ENDINGS = ["요", "죠", "니다", "십시오", "네요", "[가-힣]", "\\z", "^", "|", "'", "\x00", "\\", "a", "하늘", "\u11ad"]
TOPICS = ["현실 정치", "도박", "'"]
PERSONS = [*["나"] * 8, None, "저", "저희", " 나", "·", "'", "\\", "\U0001f600"]
LEVELS = [None, "반말", "존댓말", "해요체", "「'", "나" * 41]
SESSIONS = [*["S-1"] * 5, "S-2", "s-1"]
TURN_IDS = [
    *("T-9", "T-10", "T-1", "T-2", "T-11", "T-099", "T-1000", "t-9", "9", "T-９", "가-9", "나-10", "é-9", "e\u0301-9"),
    *("\U0001f600-9", "\U0001f468\u200d\U0001f469-1", "T\x00-9", "'-9"),
]
MOMENTS = [
    "2026-09-01T23:59:59+09:00",
    "2026-09-01T15:00:00+00:00",
    "2026-09-02T14:59:59.999999+00:00",
    "2026-09-03T00:00:00+09:00",
    "2026-09-02T23:30:00-11:00",
]
"""Instants on both sides of the midnights of Seoul."""


def _pool(of: st.SearchStrategy[str], size: int) -> st.SearchStrategy[list[str]]:
    return st.lists(of, min_size=1, max_size=size, unique=True)


def _mostly(often: st.SearchStrategy[Any], seldom: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The first of the two five times in six."""
    return st.integers(0, 5).flatmap(lambda choice: often if choice < 5 else seldom)


_NAMES, _ROLES = _pool(st.sampled_from(NAMES) | keys, 4), _pool(st.sampled_from(ROLES) | keys, 2)
_TERMS = _pool(st.sampled_from(OVERLAPPING) | keys, 4)
_ENDINGS = st.just(RuleSettings().endings) | _pool(st.sampled_from(ENDINGS), 3)
_GLUE = (
    st.sampled_from(["", " ", ". ", "\x1c"])
    | st.sampled_from([*TRAILS, "~ ♡", "ㅎㅎ."])
    | st.sampled_from([*SPACES, *ENDS])
    | st.sampled_from(PIECES)
)
_SPEECHLESS = st.none() | texts | st.lists(st.sampled_from(SPACES), min_size=1, max_size=2).map("".join)
_CARDS = st.sampled_from([["C-2"], ["C-1", "C-2"], ["C-2", "C-1"], ["C-2", "c-1"]])
_TURN_CELLS: dict[str, st.SearchStrategy[Any]] = {
    "session_id": st.sampled_from(SESSIONS),
    "character_id": st.sampled_from(["C-2"] * 6 + ["C-1", "C-1", "c-1"]),
    "model_id": st.just("M-1"),
    "turn_at": st.sampled_from(MOMENTS),
    "first_person": st.sampled_from(PERSONS),
    "honorific_level": st.sampled_from(LEVELS),
    "user_asked_recall": st.sampled_from([True] * 6 + [False, None]),
}
_CARD_CELLS: dict[str, st.SearchStrategy[Any]] = {
    "name": st.just("교관"),
    "public": st.just(True),
    "honorific_rule": st.sampled_from([None, None, "반말", "존댓말"]),
    "first_person": st.sampled_from(PERSONS),
    "forbidden_topics": st.lists(st.sampled_from(TOPICS), max_size=3),
}


@st.composite
def rows(draw: st.DrawFn) -> Rows:
    """A log of up to eight turns in any order, with cards, a lexicon and endings.

    What can occur in it is drawn first: a few names, roles and terms, out of which everything is then put together.
    """
    names, roles, terms, endings = draw(_NAMES), draw(_ROLES), draw(_TERMS), draw(_ENDINGS)
    words = st.sampled_from([*terms, *terms, *endings, *endings, *names, "하늘", "가", "a"])
    some_names = st.lists(st.sampled_from(names), min_size=1, max_size=3)
    some_roles = st.lists(st.sampled_from([*roles, "내 "]), min_size=1, max_size=3)
    role = st.fixed_dictionaries({"role": st.sampled_from(roles), "entity": st.sampled_from(names)})
    turn = _TURN_CELLS | {
        "user_message": _mostly(some_roles.map("".join), _SPEECHLESS),
        "reply_text": _mostly(
            st.lists(st.tuples(words, _GLUE).map("".join), min_size=1, max_size=4).map("".join), _SPEECHLESS
        ),
        "named_entities": _mostly(some_names, st.none() | st.just([])),
    }
    card = _CARD_CELLS | {
        "canon_entities": st.lists(st.sampled_from(names), max_size=3) | st.just(names),
        "entity_roles": _mostly(st.lists(role, min_size=1, max_size=4), st.just([])),
    }
    lexicon = st.builds(LexiconTerm, term=st.sampled_from(terms), topic=st.sampled_from(TOPICS))
    turn_ids = draw(st.lists(st.sampled_from(TURN_IDS), min_size=2, max_size=8, unique=True))
    turn_cells, card_cells = st.fixed_dictionaries(turn), st.fixed_dictionaries(card)
    return Rows(
        [ChatTurn.model_validate(draw(turn_cells) | {"turn_id": turn_id}) for turn_id in turn_ids],
        [CharacterCard.model_validate(draw(card_cells) | {"character_id": key}) for key in draw(_CARDS)],
        draw(st.lists(lexicon, min_size=1, max_size=6)),
        RuleSettings(
            endings=tuple(endings),
            ignore_trailing=draw(st.booleans()) and not any(map(is_trailing, "".join(endings))),
        ),
    )
