"""What is one polite sentence, and that every default sentence is."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wh_judge.model import TERM_LIMIT, LexiconTerm
from wh_judge.rules import RULES, Case, Lexicon, first_mentions, judge_turn
from wh_judge.validations.summary import problem_of, sentences_of
from wh_judge_tests.validations.states import State, all_failures, card, turn

ONE_POLITE_SENTENCE = [
    "말투가 카드와 같습니다.",
    "말투가 카드와 같습니다",
    "말투가 카드와 같죠?",
    "말투가 카드와 같아요!",
    "카드를 확인하십시오．",
    "카드를 확인하세요。",
    "카드를 확인하세요！",
    "카드를 확인하세요？",
    "  말투가 카드와 같습니다.\n",
    "말투가 카드와 같습니다...",
    "말투가 카드와 같습니다?!",
    "말투가… 카드와 같습니다.",
    "(말투가 카드와 같습니다.)",
    "(말투가 카드와 같습니다).",
    "말투가 카드와 같습니다.」",
    "말투가 카드와 같습니다.”",
    '말투가 카드와 같습니다."',
    "말투가 카드와 같습니다.' )",
    '"말투가 카드와 같습니다."',
    "“말투가 카드와 같습니다.”",
    "답장이 「그래. 가자!」로 끝나지 않습니다.",
    "답장이 『그래. 가자!』로 끝나지 않습니다.",
    "답장이 “그래. 가자!”로 끝나지 않습니다.",
    "답장이 ‘그래. 가자!’로 끝나지 않습니다.",
    ' 답장이 "그래. 가자!"로 끝나지 않습니다.',
    "답장이 '그래. 가자!'로 끝나지 않습니다.",
    '답장이 「그래.」와 「가자.」와 "쉬자."를 담습니다.',
    "답장이 「그가 “그래.”라고 했다.」로 끝납니다.",
    "답장이 「그가 「그래.」라고 했다.」로 끝납니다.",
    "답장이 「한 줄.\n두 줄.」로 끝납니다.",
    "답장이 'I don't. know.'로 끝납니다.",
    "답장이 ‘I don’t. know.’로 끝납니다.",
    "답장에 「”가. '나\"다」가 있습니다.",
    "답장에 don't가 있습니다.",
    "평균은 3.5점입니다.",
    "판은 1.2.3입니다.",
    "판은 1．2입니다.",
    "claude-3.5가 썼습니다.",
]
"""Ends, closing marks, quotations of every kind and points inside numbers."""

NOT_ONE = [
    ("", 0),
    ("  \n ", 0),
    (" ?! 」", 0),
    ("「」", 0),
    ("맞습니다. 좋습니다.", 2),
    ("맞습니다! 좋습니다！ 끝입니다。", 3),
    ("맞습니다.좋습니다.", 2),
    ("맞고\n좋습니다.", 2),
    ("맞고\u2028좋습니다.", 2),
    ("맞고\r\n좋습니다.", 2),
    ("맞습니다. 😀", 2),
    ("3. 맞습니다.", 2),
    ("3.5. 맞습니다.", 2),
    ("맞습니다... 좋습니다.", 2),
    ("답장이 「그래. 가자로 끝납니다.", 2),
    ("답장이 그래. 가자」로 끝납니다.", 2),
    ('답장이 "그래. 가자로 끝납니다.', 2),
    ("답장에 don't가 있고. isn't가 있습니다.", 2),
    ("답장에 rock'가 있고. roll'이 있습니다.", 2),
    ("답장에 '그래가 있고. don't가 있습니다.", 2),
    ("「그래」가 있습니다. 「가자」가 있습니다.", 2),
    ('"맞습니다. 좋습니다."', 2),
]

NOT_POLITE = [
    "말투가 카드와 같다.",
    "말투가 카드와 같음",
    "요약 없음.",
    "답장은 「생각해요」",
    "답장은 「생각해요」.",
    "3",
    "말투가 맞습니다…",
]


@pytest.mark.parametrize("text", ONE_POLITE_SENTENCE)
def test_one_polite_sentence(text: str) -> None:
    assert problem_of(text) is None


@pytest.mark.parametrize(("text", "count"), NOT_ONE)
def test_not_exactly_one_sentence(text: str, count: int) -> None:
    assert (problem_of(text) or "").startswith(f"expected exactly one sentence, found {count}")


@pytest.mark.parametrize("text", NOT_POLITE)
def test_not_polite(text: str) -> None:
    assert "expected a last word" in (problem_of(text) or "")


def test_quotations_inside_quotations_are_understood_to_a_bounded_depth() -> None:
    assert problem_of("「가." * 8 + "」" * 8 + "입니다.") is None
    assert problem_of("「가." * 9 + "」" * 9 + "입니다.") is not None


@pytest.mark.parametrize("mark", ["「", "」", "“", "‘", '"', "'", "a'", "' a'a", ".", "\n", "1.", "「“", "가"])
def test_a_long_text_takes_no_longer_than_its_length(mark: str) -> None:
    """With a quadratic search this would take hours."""
    assert len(sentences_of(mark * 500_000)) < 500_001


NASTY = st.text(
    st.one_of(
        st.sampled_from("「」『』“”‘’\"'[]().?!．？！。…\n\r\u2028\u3000 1요가나"),
        st.characters(exclude_categories=["Cs"]),
    ),
    min_size=1,
    max_size=60,
).filter(lambda name: bool(name.strip()))
LONG = ".".join(map(str, range(155_000)))
"""A megabyte of points; no repetition of itself, which would take the lexicon's automaton hours to build."""


def _nasty_verdicts(name: str, other: str, term: str) -> State:
    """A state whose five turns get the five verdicts and whose default sentences quote the names."""
    asked: dict[str, Any] = {"user_asked_recall": True, "user_message": name, "session_id": "S"}
    turns = (
        turn("kept"),
        turn("person", first_person=other if other.strip() != "나" else "저"),
        turn("canon", named_entities=[f"{name}·", f"{other}·", "하늘"]),
        turn("forbidden", reply_text=term),
        turn(name[:1] if name[:1].strip() else "T", session_id="S", named_entities=[other]),
        turn(name + "나중", **asked, reply_text="몰라."),
    )
    cards = (
        card("C-1", canon_entities=[other], entity_roles=[{"role": name, "entity": other}], forbidden_topics=[name]),
    )
    return State(turns, cards, (LexiconTerm(term=term, topic=name),))


@settings(deadline=None)
@given(NASTY, NASTY, NASTY)
@example(LONG, LONG[1:], LONG[:TERM_LIMIT])
@example("」. 「", "”. “", '". "')
@example("「", "」", "'")
@example("'", '"', "‘")
@example("가.", "나\n다", "1.")
def test_every_default_sentence_is_one_polite_sentence(name: str, other: str, term: str) -> None:
    state = _nasty_verdicts(name, other, term)
    assert [problem_of(claim["summary"]) for claim in state.claims()] == [None] * len(state.turns)


def test_nasty_names_reach_all_five_default_sentences() -> None:
    verdicts = {claim["verdict"] for claim in _nasty_verdicts("」. 「", "”. “", '". "').claims()}
    assert verdicts == {rule.verdict for rule in RULES}


@settings(deadline=None)
@given(NASTY, NASTY, NASTY)
@example("」. 「", "”. “", '". "')
def test_verdicts_on_nasty_names_are_sound(name: str, other: str, term: str) -> None:
    state = _nasty_verdicts(name, other, term)
    assert all_failures(state.claims(), state.log()) == {}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_default_sentences_of_the_documented_examples(rule: Any) -> None:
    for shown in (rule.breaks, rule.keeps):
        mentions = first_mentions([shown.turn, *shown.earlier])
        verdict, _ = judge_turn(Case(shown.turn, shown.card, Lexicon(shown.lexicon), mentions))
        assert problem_of(verdict.summary) is None
