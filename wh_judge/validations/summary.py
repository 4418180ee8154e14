"""The validation of the summary: exactly one sentence, polite."""

import re
from functools import lru_cache

from wh_judge.rules.rule import DEFAULT_ENDINGS
from wh_judge.text import WHITESPACE, last_word
from wh_judge.validations.subject import Subject
from wh_judge.validations.validation import PASSED, Reasons, Validation, shown

CLOSERS = ")]}>）］｝＞〉》】〕」』”’\"'"

QUOTATION_DEPTH = 8
"""Quotations inside quotations of one kind that are understood."""

_IN_WORD = "(?<=[A-Za-z]){}(?=[A-Za-z])"
"""The apostrophe of don't, which neither opens nor closes a quotation."""

_QUOTATION = re.compile(
    "「[^「」]*」|『[^『』]*』|“[^“”]*”"
    f"|‘(?:[^‘’]|{_IN_WORD.format('’')})*+’"
    '|"[^"]*"'
    rf"|'(?<!\w')(?:[^']|{_IN_WORD.format(chr(39))})*+'"
)
"""A quotation: the mark that comes first opens, and up to its counterpart no other mark means anything."""

_MASK = "\ufffc"

_END = re.compile(r"[?!？！。\n\r\v\f\x1c-\x1e\x85\u2028\u2029]|(?<!\d)[.．]|[.．](?!\d)")
"""The end of a sentence: an end mark, but no point inside a number; or a line break."""

CACHED_LENGTH = 200


def summary(subject: Subject) -> Reasons:
    """The summary is one polite sentence. Always applies: what is missing or no text is no sentence."""
    text = subject.claim.get("summary")
    if not isinstance(text, str):
        return [f"summary: expected one polite sentence, found {shown(text)}"]
    # Default sentences repeat: few figures fill them.
    problem = _known_problem(text) if len(text) <= CACHED_LENGTH else problem_of(text)
    return PASSED if problem is None else [f"summary: {problem}"]


def problem_of(text: str) -> str | None:
    """Why the text is not exactly one polite sentence; None where it is.

    Sentence ends inside 「」 『』 “” ‘’ "" '' count only where the quotation is the whole text.
    """
    whole = text.strip()
    quotation = _QUOTATION.fullmatch(whole)
    sentences = sentences_of(whole[1:-1] if quotation else whole)
    if len(sentences) != 1:
        second = f", the second {shown(sentences[1])}" if len(sentences) > 1 else ""
        return f"expected exactly one sentence, found {len(sentences)}{second}"
    word = last_word(sentences[0]) or ""
    if not word.endswith(DEFAULT_ENDINGS):
        found = shown(word.replace(_MASK, "「…」"))
        return f"expected a last word that ends with {' / '.join(DEFAULT_ENDINGS)}, found {found}"
    return None


_known_problem = lru_cache(maxsize=4096)(problem_of)


def sentences_of(text: str) -> list[str]:
    """The sentences without their ends and what closes after them; every quotation is one character."""
    for _ in range(QUOTATION_DEPTH):
        text, found = _QUOTATION.subn(_MASK, text)
        if not found:
            break
    pieces = (piece.rstrip(CLOSERS + WHITESPACE).lstrip() for piece in _END.split(text))
    return [piece for piece in pieces if piece]


SUMMARY = Validation(
    number=10,
    code="v10_summary_one_polite_sentence",
    title="summary 가 존댓말 한 문장",
    description="The summary is exactly one sentence and polite; quoted text and points inside numbers end none.",
    judge=summary,
    model_output=True,
)
