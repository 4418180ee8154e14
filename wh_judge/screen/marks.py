"""Which words of a text decided: pure, for a text that may be anything."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from wh_judge.rules import RuleSettings
from wh_judge.text import SENTENCE_ENDS, without_trailing

Kind = Literal["polite", "plain", "name", "term", "target", "role"]
"""A polite ending, a last word without one, a name that the card lacks, a lexicon term, the name asked for, and the
word that the user asked with."""

BY_ENDINGS = ("설정대로 말함", "말투 어긋남")
"""Verdicts that rest on how the sentences end."""

_PIECE = re.compile(f"[^{re.escape(SENTENCE_ENDS)}]+")


class Piece(NamedTuple):
    """A run of a text, marked or not."""

    text: str
    kind: Kind | None


class Span(NamedTuple):
    """Where something stands in a text."""

    start: int
    end: int
    kind: Kind


def ending_spans(text: str, settings: RuleSettings) -> list[Span]:
    """The last word of each sentence: the polite ending of it, or all of it where it has none.

    What trails an ending is passed over where the judge passes over it.
    """
    spans = []
    for piece in _PIECE.finditer(text):
        sentence = without_trailing(piece[0]) if settings.ignore_trailing else piece[0].rstrip()
        if not sentence:
            continue
        end = piece.start() + len(sentence)
        found = max((ending for ending in settings.endings if sentence.endswith(ending)), key=len, default=None)
        last_word = sentence.rsplit(maxsplit=1)[-1]
        spans.append(Span(end - len(found), end, "polite") if found else Span(end - len(last_word), end, "plain"))
    return spans


def word_spans(text: str, words: Iterable[str], kind: Kind) -> list[Span]:
    """Every place where one of the words stands."""
    return [
        Span(match.start(), match.end(), kind) for word in words if word for match in re.finditer(re.escape(word), text)
    ]


def marked(text: str, spans: Iterable[Span]) -> list[Piece]:
    """The text in pieces that join to it again. Of spans that overlap the one that comes first in `spans` counts,
    and an empty one marks nothing."""
    kept: list[Span] = []
    taken = bytearray(len(text))
    for span in spans:
        if span.start < span.end and not any(taken[span.start : span.end]):
            taken[span.start : span.end] = b"\1" * (span.end - span.start)
            kept.append(span)
    pieces, place = [], 0
    for span in sorted(kept):
        if span.start > place:
            pieces.append(Piece(text[place : span.start], None))
        pieces.append(Piece(text[span.start : span.end], span.kind))
        place = span.end
    return [*pieces, Piece(text[place:], None)] if place < len(text) else pieces


def reply_spans(
    text: str,
    verdict: Mapping[str, object],
    settings: RuleSettings,
    *,
    by_endings: bool = False,
    terms: Sequence[str] = (),
) -> list[Span]:
    """What in a reply bears on its verdict: the term, the names outside the card, the name asked for, and the endings
    where it rests on them.

    Args:
        text: the reply.
        verdict: its row.
        settings: by which sentences end politely.
        by_endings: the endings are looked at, whatever the verdict rests on.
        terms: these are looked at, and so the endings are not.
    """
    names = verdict["off_canon_entities"]
    spans = word_spans(text, [*terms, str(verdict["touched_term"] or "")], "term")
    spans += word_spans(text, map(str, names) if isinstance(names, list) else [], "name")
    spans += word_spans(text, [str(verdict["recall_target"] or "")], "target")
    if by_endings or (not terms and verdict["verdict"] in BY_ENDINGS):
        spans += ending_spans(text, settings)
    return spans
