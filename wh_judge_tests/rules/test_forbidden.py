"""금지 소재 접촉: which terms stand in which replies, and which lexicon row is named."""

from collections.abc import Sequence
from unicodedata import normalize

import pyarrow as pa
import pytest
from hypothesis import example as also
from hypothesis import given
from hypothesis import strategies as st

from wh_judge.rules import Lexicon, forbidden
from wh_judge.rules.forbidden import find_hits
from wh_judge.rules.rule import Example, example
from wh_judge_tests.builders import by_kernel, by_references, judged, lexicon, together
from wh_judge_tests.strategies import HANGUL, JAMO, MARKS, OTHERS, keys

LEXICON = (
    ("축제", "행사"),
    ("주사위", "놀이"),
    ("선거", "현실 정치"),
    ("국회", "현실 정치"),
    ("주사위", "도박"),
    ("국회의원", "현실 정치"),
    ("사위", "가족"),
    ("a.c", "정규식"),
)
CASES: dict[str, tuple[str | None, list[str], str | None, str | None]] = {
    "no term": ("검을 잡아.", ["현실 정치"], None, None),
    "no reply": (None, ["현실 정치"], None, None),
    "an empty reply": ("", ["현실 정치"], None, None),
    "a forbidden term": ("선거다.", ["현실 정치"], "선거", "현실 정치"),
    "a harmless term": ("축제다.", ["현실 정치"], "축제", None),
    "nothing is forbidden": ("선거다.", [], "선거", None),
    "inside a word": ("총선거판이다.", ["현실 정치"], "선거", "현실 정치"),
    "an earlier harmless term hides nothing": ("축제 날 선거다.", ["현실 정치"], "선거", "현실 정치"),
    "a harmless term that stands first in the reply": ("주사위로 국회를 정해.", ["현실 정치"], "국회", "현실 정치"),
    "lexicon order and not the reply's": ("국회 선거다.", ["현실 정치"], "선거", "현실 정치"),
    "lexicon order among harmless terms": ("주사위 축제다.", ["현실 정치"], "축제", None),
    "lexicon order and not the card's": ("주사위 선거다.", ["도박", "현실 정치"], "선거", "현실 정치"),
    "the second topic of a term": ("주사위를 굴려.", ["도박"], "주사위", "도박"),
    "the first topic of a term": ("주사위를 굴려.", ["놀이"], "주사위", "놀이"),
    "both topics of a term": ("주사위를 굴려.", ["도박", "놀이"], "주사위", "놀이"),
    "a term inside a term": ("주사위를 굴려.", ["가족"], "사위", "가족"),
    "a term that begins a longer term": ("국회의원이다.", ["현실 정치"], "국회", "현실 정치"),
    "a literal": ("a.c", ["정규식"], "a.c", "정규식"),
    "no regular expression": ("abc", ["정규식"], None, None),
    "another case": ("A.C", ["정규식"], None, None),
    "cut by white space": ("선 거다.", ["현실 정치"], None, None),
    "decomposed": (normalize("NFD", "선거다."), ["현실 정치"], None, None),
    "a topic is compared exactly": ("선거다.", ["현실", "정치", "현실 정치 "], "선거", None),
}
"""Reply, forbidden topics, and the term and the topic that are named."""


def case(reply: str | None, topics: list[str]) -> Example:
    """A turn that keeps to its card but for what it touches."""
    return example({"reply_text": reply}, {"forbidden_topics": topics, "honorific_rule": None}, LEXICON)


@pytest.mark.parametrize(("reply", "topics", "term", "topic"), CASES.values(), ids=CASES)
def test_the_row_that_is_named(reply: str | None, topics: list[str], term: str | None, topic: str | None) -> None:
    record = judged(case(reply, topics))
    assert (record["touched_term"], record["touched_topic"]) == (term, topic)


@pytest.mark.parametrize(("reply", "topics", "term", "topic"), CASES.values(), ids=CASES)
def test_the_verdict_holds_where_a_topic_is_named(
    reply: str | None, topics: list[str], term: str | None, topic: str | None
) -> None:
    assert judged(case(reply, topics))["verdict"] == ("금지 소재 접촉" if topic else "설정대로 말함")


@pytest.mark.parametrize(
    ("topics", "position", "term", "topic"), [(["도박"], "4", "주사위", "도박"), (["놀이"], "1", "주사위", "놀이")]
)
def test_evidence(topics: list[str], position: str, term: str, topic: str) -> None:
    """The reply, both cells of one lexicon row, and the card's element."""
    evidence = judged(case("주사위를 굴려.", topics))["evidence"]
    assert [tuple(row[name] for name in ("source", "field", "agg", "value", "key")) for row in evidence] == [
        ("chat_turn", "reply_text", None, "주사위를 굴려.", "T-2"),
        ("topic_lexicon", "term", None, term, position),
        ("topic_lexicon", "topic", None, topic, position),
        ("character_card", "forbidden_topics", None, topic, "C-1"),
    ]


@pytest.mark.parametrize(("reply", "count"), [("선거다.", 1), ("축제 날 선거 얘기에 국회의원까지.", 3)])
def test_the_summary_counts_the_forbidden_rows(reply: str, count: int) -> None:
    summary = judged(case(reply, ["현실 정치"]))["summary"]
    assert summary == (
        f"카드가 막은 소재의 사전 낱말 {count}개가 답장에 있고,"
        " 사전 차례가 가장 앞선 것은 「현실 정치」의 「선거」입니다."
    )


def test_both_forms_agree_on_the_cases() -> None:
    log = together([case(reply, topics) for reply, topics, *_ in CASES.values()])
    assert by_kernel(log) == by_references(log)


words = st.sampled_from([*HANGUL, *JAMO, *MARKS, *OTHERS]) | st.sampled_from(["선", "거", "선거", "a", "aa", "\x00"])
replies = st.lists(words, max_size=6).map("".join)


def naive(replies: Sequence[str | None], terms: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of reply and term, by looking for each in each."""
    return [
        (place, number)
        for place, reply in enumerate(replies)
        for number, term in enumerate(terms)
        if term in (reply or "")
    ]


def pairs(replies: pa.StringArray, terms: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of reply and term by `find_hits`."""
    reply, term = find_hits(replies, terms)
    return list(zip(reply.tolist(), term.tolist(), strict=True))


@given(
    st.lists(st.none() | replies | st.just(""), max_size=8),
    st.lists(keys | words, max_size=6, unique=True),
    st.integers(0, 9),
    st.integers(0, 9),
    st.sampled_from([1, 2, 3, 5, 8, 13, 40, 8 << 20]),
    st.sampled_from([0, 1 << 20]),
)
@also(["선", "거"], ["선거"], 0, 9, 1 << 20, 0)
@also(["", "선", None, "", "거", ""], ["선거", "선", "거"], 0, 9, 1, 0)
@also(["선거", "aaaa", None], ["a", "aa", "선거"], 1, 2, 2, 1 << 20)
@also(["", None, ""], ["a"], 0, 9, 1, 1 << 20)
@also(["a"], ["a"], 1, 9, 1, 1 << 20)
@also(["a"], [], 0, 9, 1, 1 << 20)
def test_hits_are_what_a_naive_scan_finds(
    replies: list[str | None], terms: list[str], start: int, length: int, window: int, dfa: int
) -> None:
    """In ascending order, each once, in a slice too, however many replies go through one pass, by each automaton."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forbidden, "WINDOW_BYTES", window)
        patch.setattr(forbidden, "DFA_BYTES", dfa)
        found = pairs(pa.array(replies, pa.string()).slice(start, length), terms)
    assert found == naive(replies[start : start + length], terms)


@pytest.mark.parametrize("window", [1, 10, 1000])
def test_hits_are_found_across_many_windows(monkeypatch: pytest.MonkeyPatch, window: int) -> None:
    monkeypatch.setattr(forbidden, "WINDOW_BYTES", window)
    texts = ["선거", None, "거국", "", "선" * 20] * 200
    assert pairs(pa.array(texts, pa.string()), ["거", "선거", "거국", "선선"]) == naive(
        texts, ["거", "선거", "거국", "선선"]
    )


@given(st.lists(keys | words, max_size=8), replies)
@also(["주사위", "사위", "주사위", "주"], "주사위")
@also([], "주사위")
@also(["a", "aa", "aaa"], "aaaa")
@also(["a"], "")
def test_a_lexicon_finds_what_a_naive_scan_finds(terms: list[str], reply: str) -> None:
    rows = lexicon(*((term, "도박") for term in terms if term.strip()))
    assert Lexicon(rows).hits(reply) == [position for position, row in enumerate(rows) if row.term in reply]
