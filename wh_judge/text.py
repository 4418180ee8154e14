"""Text as the rules read it: white space, sentences, quoted cells. One definition for Python and for SQL."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

WHITESPACE = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
"""Every character that `str.split()` splits at; RE2's `\\s` knows only the ASCII ones."""

SENTENCE_ENDS = ".?!．？！。"

TRAILING_RANGES = (
    *((mark, mark) for mark in "\"'~^)]}>\u2019\u201d…‥⋯〉》」』】〕〗〜～）］｝＞｣＂＇＾˜∼∽"),
    ("\u3131", "\u3163"),
    ("\u200d", "\u200d"),
    ("\u20e3", "\u20e3"),
    ("\u2190", "\u21ff"),
    ("\u2300", "\u23ff"),
    ("\u25a0", "\u27bf"),
    ("\u2900", "\u297f"),
    ("\u2b00", "\u2bff"),
    ("\ufe00", "\ufe0f"),
    ("\U0001f000", "\U0001faff"),
    ("\U000e0020", "\U000e007f"),
)
"""What may trail the ending of a sentence and says nothing of its politeness, as ranges of code points: closing quotes
and brackets, tildes and ellipses, single jamo (ㅎㅎ, ㅋㅋ, ㅠㅠ), hearts, stars, arrows and other pictures, emoji with
what joins and colours them. Ranges, not Unicode's categories: Python and RE2 know different versions of those."""

_TRAILING = frozenset(chr(code) for first, last in TRAILING_RANGES for code in range(ord(first), ord(last) + 1))

HANGUL_FIRST, HANGUL_LAST = "가", "힣"
_HANGUL = re.compile(f"[{HANGUL_FIRST}-{HANGUL_LAST}]")

QUOTE_LIMIT = 40
"""Characters of a cell that a sentence quotes before it is cut."""


def nfc(value: str) -> str:
    """The text in Unicode normal form C; macOS writes Hangul decomposed."""
    return value if unicodedata.is_normalized("NFC", value) else unicodedata.normalize("NFC", value)


def nfc_inside(value: Any) -> tuple[Any, bool]:
    """The value with all text in it in NFC, and whether that changed anything.

    Raises:
        UnicodeEncodeError: some text holds half of a surrogate pair, which no file and no table can hold.
    """
    if isinstance(value, str):
        if value.isascii():
            return value, False
        value.encode()
        if unicodedata.is_normalized("NFC", value):
            return value, False
        return unicodedata.normalize("NFC", value), True
    if isinstance(value, list):
        pairs = [nfc_inside(element) for element in value]
        return [element for element, _ in pairs], any(changed for _, changed in pairs)
    if isinstance(value, dict):
        fields = {name: nfc_inside(element) for name, element in value.items()}
        return {name: element for name, (element, _) in fields.items()}, any(changed for _, changed in fields.values())
    return value, False


UNSEEN = "\u00ad\u200b\u2060\ufeff"
"""Characters that no reader sees, wherever they stand."""


def as_seen(text: str) -> str:
    """The text in NFC without what a reader of two texts cannot tell apart: how wide white space is, and UNSEEN."""
    return " ".join(nfc(text).translate(dict.fromkeys(map(ord, UNSEEN))).split())


def sentences(text: str) -> list[str]:
    """The pieces between sentence ends, blank ones included, in order."""
    for end in SENTENCE_ENDS[1:]:
        text = text.replace(end, SENTENCE_ENDS[0])
    return text.split(SENTENCE_ENDS[0])


def last_word(sentence: str) -> str | None:
    """The last run of non-white-space of a sentence, or None where it is blank."""
    words = sentence.rsplit(maxsplit=1)
    return words[-1] if words else None


def is_trailing(character: str) -> bool:
    """Whether the character is one of `TRAILING_RANGES`."""
    return character in _TRAILING


def without_trailing(sentence: str) -> str:
    """The sentence without the white space and the trailing marks at its end."""
    end = len(sentence)
    while end and (sentence[end - 1] in _TRAILING or sentence[end - 1].isspace()):
        end -= 1
    return sentence[:end]


def has_hangul(text: str) -> bool:
    """Whether the text has at least one composed Hangul syllable."""
    return _HANGUL.search(text) is not None


def quoted(text: str) -> str:
    """The text in 「」, cut at `QUOTE_LIMIT`, its own brackets turned so that they cannot close the quotation."""
    text = text.translate({ord("「"): "[", ord("」"): "]"})
    return f"「{text[:QUOTE_LIMIT]}…」" if len(text) > QUOTE_LIMIT else f"「{text}」"


NAME_LIMIT = 60
"""Characters of a name that a sentence or a line of a terminal quotes before it is cut."""


def short(name: str) -> str:
    """The name, cut at `NAME_LIMIT`."""
    return name if len(name) <= NAME_LIMIT else f"{name[:NAME_LIMIT]}…"


NAMES_TOLD = 8
"""Names that one sentence lists; of the others it gives the number."""


def listed(names: Sequence[str]) -> str:
    """The names for a sentence, each cut at `NAME_LIMIT`."""
    more = f" and {len(names) - NAMES_TOLD} more" if len(names) > NAMES_TOLD else ""
    return ", ".join(map(short, names[:NAMES_TOLD])) + more


def printable(text: str) -> str:
    """The text for a terminal: control and format characters, which could steer it, are written out."""
    return "".join(
        f"\\u{ord(mark):04x}" if unicodedata.category(mark) in ("Cc", "Cf") and mark not in "\n\t\u200d" else mark
        for mark in text
    )


def one_line(text: str) -> str:
    """The text for one line of a terminal."""
    return " ".join(printable(text).splitlines())


def sql_text(value: str) -> str:
    """The value as an SQL string literal."""
    return "'" + value.replace("'", "''") + "'"


def regex_class(characters: str) -> str:
    """The characters as the inside of an RE2 character class, written as code points so that none has a meaning."""
    return "".join(f"\\x{{{ord(character):x}}}" for character in characters)


def regex_ranges(ranges: Iterable[tuple[str, str]]) -> str:
    """The ranges as the inside of an RE2 character class."""
    return "".join(f"{regex_class(first)}-{regex_class(last)}" for first, last in ranges)


SQL_MACROS = f"""
CREATE MACRO is_blank(x) AS NOT regexp_matches(x, '[^{regex_class(WHITESPACE)}]');
CREATE MACRO has_hangul(x) AS regexp_matches(x, '[{HANGUL_FIRST}-{HANGUL_LAST}]');
CREATE MACRO quoted(x) AS '「' || CASE WHEN length(x) > {QUOTE_LIMIT}
    THEN translate(left(x, {QUOTE_LIMIT}), '「」', '[]') || '…' ELSE translate(x, '「」', '[]') END || '」';
"""
"""`is_blank`, `has_hangul` and `quoted` for DuckDB; NULL in, NULL out."""
