"""Hostile rows: small alphabets, so that texts, terms, names, roles and turn ids meet one another often."""

from typing import Any
from unicodedata import normalize

from hypothesis import strategies as st

from wh_judge.model import CharacterCard, ChatTurn, LexiconTerm
from wh_judge.rules import RuleSettings
from wh_judge.text import SENTENCE_ENDS, WHITESPACE
from wh_judge_tests.builders import Rows

SPACES = [*WHITESPACE, "\u180e", "\u200b", "\u2060", "\ufeff"]
"""White space, and what looks like it and is none."""

ENDS = [*SENTENCE_ENDS, "｡", "…", "‼", "．。", "?!"]
"""Sentence ends, and marks that are none."""

HANGUL = ["요", "죠", "니다", "십시오", "가", "힣", "하늘", "늘이", "동생", "생", "선", "선거", "거국", "국회", "나", "저"]
JAMO = [normalize("NFD", "요"), normalize("NFD", "하늘"), "ㅋ", "ㅏ", "\u1100", "\u11a8", "\ud7b0", "\uabff", "\ud7a4"]
MARKS = [
    *("\\", ".*", "[", "]", "^", "$", "|", "(?i)", "+", "{2}", "\\s", "\\z", "\\x{61}", "[가-힣]", "%", "_", "-"),
    *("'", '"', "''", "';--", "「", "」", " · ", "\x00", "a\x00", "{}", "`"),
]
OTHERS = ["a", "A", "aa", "aaa", "ab", "é", "e\u0301", "ß", "\U0001f600", "\U0001f468\u200d\U0001f469", "\U0001f1f0"]
LONG = ["가" * 40, "나" * 41, "a" * 39 + "「」"]
PIECES = [*SPACES, *ENDS, *HANGUL, *HANGUL, *JAMO, *MARKS, *OTHERS, *LONG]

pieces = st.sampled_from(PIECES)
texts = st.lists(pieces, max_size=8).map("".join) | st.text(max_size=3)
"""Replies and messages."""

few_pieces = st.lists(st.sampled_from([*HANGUL, *JAMO, *MARKS, *OTHERS]), min_size=1, max_size=2).map("".join)
keys = few_pieces.filter(str.strip)
"""Short texts that are not blank."""

NAMES = ["하늘", "늘이", "하늘이", "리안", "나", "a", "aa", "「하늘」", "하늘 ", "'", "\\", "가\x00", normalize("NFD", "하늘")]
names = st.sampled_from(NAMES) | st.sampled_from(NAMES) | keys
roles = st.sampled_from(["동생", "생", "동", "스승", ".", "[", "'", "\x00", "a"]) | keys
topics = st.sampled_from(["현실 정치", "도박", "정치", "'", "\\"])
persons = st.none() | st.sampled_from(["나", "나", "저", "저희", " 나", "·", "'", "\\", "\U0001f600"])
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

endings = st.sampled_from(["요", "죠", "니다", "십시오", "네요", "[가-힣]", "\\z", "^", "|", "'", "\x00", "\\", "a", "하늘"])
rule_settings = st.just(RuleSettings()) | st.lists(endings, min_size=1, max_size=3).map(
    lambda chosen: RuleSettings(endings=tuple(chosen))
)

messages = st.none() | texts | st.lists(roles, max_size=2).map(" ".join)
_TURN_CELLS: dict[str, st.SearchStrategy[Any]] = {
    "session_id": st.sampled_from(["S-1", "S-1", "S-2", "s-1"]),
    "character_id": st.sampled_from(["C-1", "C-1", "C-1", "C-2", "c-1"]),
    "model_id": st.sampled_from(["M-1", "'"]),
    "turn_at": st.sampled_from(MOMENTS),
    "user_message": messages,
    "reply_text": st.none() | texts | texts | texts,
    "named_entities": st.none() | st.lists(names, max_size=4),
    "first_person": persons,
    "honorific_level": st.sampled_from([None, "반말", "존댓말", "해요체", "「'", "나" * 41]),
    "user_asked_recall": st.sampled_from([True, True, True, False, None]),
}
_CARD_CELLS: dict[str, st.SearchStrategy[Any]] = {
    "name": st.just("교관"),
    "public": st.booleans(),
    "honorific_rule": st.sampled_from([None, "반말", "존댓말"]),
    "first_person": persons,
    "canon_entities": st.lists(names, max_size=4),
    "forbidden_topics": st.lists(topics, max_size=3),
    "entity_roles": st.lists(st.fixed_dictionaries({"role": roles, "entity": names}), max_size=4),
}


@st.composite
def rows(draw: st.DrawFn) -> Rows:
    """A log of up to eight turns in any order, some without a card, with cards, a lexicon and endings."""
    turn_ids = draw(st.lists(st.sampled_from(TURN_IDS), max_size=8, unique=True))
    turns = [{"turn_id": turn_id} | draw(st.fixed_dictionaries(_TURN_CELLS)) for turn_id in turn_ids]
    character_ids = draw(st.lists(st.sampled_from(["C-1", "C-2"]), max_size=2, unique=True))
    cards = [{"character_id": name} | draw(st.fixed_dictionaries(_CARD_CELLS)) for name in character_ids]
    return Rows(
        [ChatTurn.model_validate(cells) for cells in turns],
        [CharacterCard.model_validate(cells) for cells in cards],
        draw(lexicons),
        draw(rule_settings),
    )


lexicons = st.lists(st.builds(LexiconTerm, term=keys, topic=topics), max_size=8)
