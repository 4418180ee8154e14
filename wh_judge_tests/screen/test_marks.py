"""Marked texts: the pieces join to the text again, and mark what they should."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wh_judge.rules import RuleSettings
from wh_judge.rules.speech import is_polite
from wh_judge.screen.marks import Kind, Piece, Span, ending_spans, marked, reply_spans, word_spans
from wh_judge.screen.words import KINDS
from wh_judge.text import sentences

SETTINGS = RuleSettings()
PASSING_OVER = RuleSettings(ignore_trailing=True)
KIND_NAMES: tuple[Kind, ...] = ("polite", "plain", "name", "term", "target", "role")
texts = st.text(st.sampled_from("가나다요죠니 \n.?!。\u202e<\x00😀ab"), max_size=60) | st.text(max_size=60)


@given(texts, st.data())
def test_pieces_join_to_the_text_whatever_is_marked(text: str, data: st.DataObject) -> None:
    spans = data.draw(st.lists(_spans(len(text)), max_size=8))
    pieces = marked(text, spans)
    assert "".join(piece.text for piece in pieces) == text
    assert all(piece.text for piece in pieces)


@st.composite
def _spans(draw: st.DrawFn, length: int) -> Span:
    start = draw(st.integers(0, length))
    return Span(start, draw(st.integers(start, length)), draw(st.sampled_from(KIND_NAMES)))


@given(texts, st.lists(st.text(max_size=4), max_size=4))
def test_the_pieces_of_a_reply_join_to_it(text: str, names: list[str]) -> None:
    verdict = {
        "verdict": "말투 어긋남",
        "off_canon_entities": names,
        "touched_term": text[1:3],
        "recall_target": text[-2:],
    }
    assert "".join(piece.text for piece in marked(text, reply_spans(text, verdict, SETTINGS))) == text


@given(texts, st.sampled_from([SETTINGS, PASSING_OVER]))
def test_a_sentence_is_marked_polite_where_the_judge_reads_it_so(text: str, settings: RuleSettings) -> None:
    spans = ending_spans(text, settings)
    polite = [sentence for sentence in sentences(text) if is_polite(sentence, settings)]
    assert [span.kind for span in spans].count("polite") == len(polite)
    for span in spans:
        assert (text[span.start : span.end] in settings.endings) == (span.kind == "polite")


def test_what_trails_an_ending_is_passed_over_where_the_judge_does() -> None:
    assert ending_spans("쉬세요~ㅎㅎ", PASSING_OVER) == [Span(2, 3, "polite")]
    assert ending_spans("쉬세요~ㅎㅎ", SETTINGS) == [Span(0, 6, "plain")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("쉬세요.", [Piece("쉬세", None), Piece("요", "polite"), Piece(".", None)]),
        ("그랬습니다", [Piece("그랬습", None), Piece("니다", "polite")]),
        ("검을 잡아. 봐요!", [
            Piece("검을 ", None), Piece("잡아", "plain"), Piece(". 봐", None), Piece("요", "polite"), Piece("!", None),
        ]),
        (" \n", [Piece(" \n", None)]),
        ("", []),
    ],
)  # fmt: skip
def test_endings(text: str, expected: list[Piece]) -> None:
    assert marked(text, ending_spans(text, SETTINGS)) == expected


def test_the_longest_ending_is_marked() -> None:
    assert ending_spans("합니다", RuleSettings(endings=("다", "니다"))) == [Span(1, 3, "polite")]


def test_a_word_is_marked_wherever_it_stands_and_read_to_the_letter() -> None:
    assert word_spans("a.c abc a.c", ["a.c", ""], "term") == [Span(0, 3, "term"), Span(8, 11, "term")]


def test_of_marks_that_overlap_the_first_given_counts() -> None:
    assert marked("선거철", [Span(0, 2, "term"), Span(1, 3, "name")]) == [Piece("선거", "term"), Piece("철", None)]


def test_endings_are_marked_only_where_the_verdict_rests_on_them() -> None:
    verdict = {
        "verdict": "금지 소재 접촉",
        "off_canon_entities": None,
        "touched_term": "선거",
        "recall_target": None,
    }
    assert reply_spans("선거예요", verdict, SETTINGS) == [Span(0, 2, "term")]
    asked = reply_spans("선거예요", verdict, SETTINGS, by_endings=True)
    assert asked == [Span(0, 2, "term"), Span(3, 4, "polite")]


def test_terms_that_are_looked_at_stand_instead_of_the_endings() -> None:
    verdict: dict[str, object] = dict.fromkeys(("touched_term", "recall_target"))
    verdict |= {"verdict": "설정대로 말함", "off_canon_entities": []}
    assert reply_spans("오늘 쉬세요", verdict, SETTINGS, terms=["오늘"]) == [Span(0, 2, "term")]


def test_every_kind_has_a_name() -> None:
    assert tuple(KINDS) == KIND_NAMES
