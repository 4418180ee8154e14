"""Why a validation fails a verdict, in Korean: what was expected, and what was found.

The validations (`wh_judge.validations`) say it in English, one sentence of a few for each cell, and so it is stored.
Here each of these sentences stands beside its Korean one. What they quote is read as `shown` writes it, so that a
quoted text can never pass for the end of its sentence. What no sentence fits is shown as it is.
"""

import re

from wh_judge.screen.words import particle

_TEXT = r"""…?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")…?"""
_ONE = rf"(?:{_TEXT}|-?[\w.+-]+|a whole number of \d+ bits|an? \w+(?: list of \d+)?)"
_SLOTS = {
    "cell": r"[\w\[\].]+(?: \w+\.\w+(?: \w+)?)?",
    "value": rf"(?:{_ONE}|\[(?:{_ONE}(?:, (?:{_ONE}|…))*)?\]|white space)",
    "number": r"\d+",
    "words": r"[^\s'\"]+(?: (?:/ )?[^\s'\",]+)*?",
    "kind": r"(?:a text, a finite number, true, false or null|"
    rf"(?:a text|a list|an object|{_TEXT}(?:(?:, | or ){_TEXT})*)(?: or null)?)",
}
"""What may stand in a slot of a sentence."""

_SENTENCES: tuple[tuple[str, str], ...] = (
    ("{cell}: expected one of {words}, found {value}", "{cell}: {words} 가운데 하나가 아니라 {value}입니다"),
    ("{cell}: expected a filled cell, found {value}", "{cell}: 채워야 하는데 비어 있습니다({value})"),
    ("the row: expected an object, found {value}", "줄이 객체가 아니라 {value}입니다"),
    ("{cell}: expected a cell, found none", "{cell}: 칸이 없습니다"),
    (
        "turn_id: expected one row for each turn, found it in row {number} already",
        "turn_id: 회차마다 한 줄이어야 하는데 {number}번째 줄에 이미 있습니다",
    ),
    ("turn_id: expected a turn of the log, found {value}", "turn_id: 로그에 {value:이라는/라는} 회차가 없습니다"),
    (
        "verdict: expected no {words}, since none of {number} compared differ",
        "verdict: 견준 {number}가지가 모두 같은데 {words:으로/로} 적혔습니다",
    ),
    (
        "verdict ({number} of {number} compared differ): expected {value}, found {value}",
        "verdict: 견준 {number2}가지 가운데 {number}가지가 어긋나 {value:이어야/여야} 하는데 {value2}입니다",
    ),
    (
        "hedge: expected it to say that the log's honorific_level is {value} and the reply's {value}, found {value}",
        "hedge: 로그의 honorific_level은 {value}, 답장에서 뽑은 말투는 {value2}라고 적어야 하는데 {value3}입니다",
    ),
    (
        "evidence: expected a differing honorific_level in the hedge only, found it cited",
        "evidence: 다른 honorific_level은 hedge에만 적어야 하는데 근거로 인용했습니다",
    ),
    (
        "off_canon_entities (null names): expected {value}, found {value}",
        "off_canon_entities: 이름이 null이라 {value:이어야/여야} 하는데 {value2}입니다",
    ),
    (
        "rule_observed (null first person): expected {value}, found {value}",
        "rule_observed: 1인칭이 null이라 {value:이어야/여야} 하는데 {value2}입니다",
    ),
    (
        "hedge: expected it to say that the names are null, found {value}",
        "hedge: 이름이 null이라고 적어야 하는데 {value}입니다",
    ),
    (
        "hedge: expected it to say that the first person is null, found {value}",
        "hedge: 1인칭이 null이라고 적어야 하는데 {value}입니다",
    ),
    (
        "verdict: expected a null first person not to be compared, found {words}",
        "verdict: 1인칭이 null이라 견주지 않아야 하는데 {words:으로/로} 적혔습니다",
    ),
    (
        "verdict: expected none, since {value} has no card, found one",
        "verdict: {value:은/는} 카드가 없어 판정할 수 없는데 판정이 있습니다",
    ),
    (
        "verdict by the log: expected {value}, found {value}",
        "verdict: 로그에 따르면 {value:이어야/여야} 하는데 {value2}입니다",
    ),
    (
        "verdict by the row's own cells: expected {value}, found {value}",
        "verdict: 같은 줄의 다른 칸들에 따르면 {value:이어야/여야} 하는데 {value2}입니다",
    ),
    (
        "verdict: expected rule_observed to differ from rule_expected, found both {value}",
        "verdict: rule_observed와 rule_expected가 달라야 하는데 둘 다 {value}입니다",
    ),
    (
        "{cell}: expected an object that cites a cell, found {value}",
        "{cell}: 칸을 인용하는 객체가 아니라 {value}입니다",
    ),
    (
        "{cell}: expected a column of {value}, found field {value}",
        "{cell}: {value}에 {value2:이라는/라는} 칸이 없습니다",
    ),
    ("{cell}: expected a row of the log, found none to cite", "{cell}: 인용할 줄이 로그에 없습니다"),
    (
        "{cell}: expected the key of a row that this verdict may cite, found {value}",
        "{cell}: key {value:은/는} 이 판정이 인용할 수 있는 줄이 아닙니다",
    ),
    ("{cell}: expected a value, found none", "{cell}: value가 없습니다"),
    (
        "{cell}: expected a cell with such an aggregate, found agg {value}",
        "{cell}: 이 칸에는 agg {value:이/가} 없습니다",
    ),
    (
        "{cell}: expected one of the {number} elements, found {value}",
        "{cell}: 목록의 {number}개 가운데 하나가 아니라 {value}입니다",
    ),
    (
        "{cell}: expected a cell that the log knows, found {value}",
        "{cell}: 로그가 모르는 칸에서 {value:을/를} 인용했습니다",
    ),
    (
        "{cell}: expected a cell of one row with the term {value}, found {value}",
        "{cell}: 사전에서 term이 {value}인 한 줄의 칸이 아니라 {value2}입니다",
    ),
    ("{cell}: expected a cell of the lexicon, found {value}", "{cell}: 사전에 {value:이/가} 없습니다"),
    (
        "{cell}: expected the key of a row of the lexicon, found {value}",
        "{cell}: key {value:은/는} 사전의 줄이 아닙니다",
    ),
    ("{cell}: expected exactly one sentence, found {number}", "{cell}: 한 문장이어야 하는데 {number}문장입니다"),
    (
        "{cell}: expected exactly one sentence, found {number}, the second {value}",
        "{cell}: 한 문장이어야 하는데 {number}문장이고, 둘째는 {value}입니다",
    ),
    (
        "{cell}: expected a last word that ends with {words}, found {value}",
        "{cell}: {words} 가운데 하나로 끝나야 하는데 마지막 어절이 {value}입니다",
    ),
    ("{cell}: expected one polite sentence, found {value}", "{cell}: 존댓말 한 문장이 아니라 {value}입니다"),
    ("{cell}: expected {value}, found {value}", "{cell}: {value:이어야/여야} 하는데 {value2}입니다"),
    (
        "{cell}: expected {value}, found {value} (they differ only in Unicode normal form)",
        "{cell}: {value:이어야/여야} 하는데 {value2}입니다(유니코드 정규형만 다릅니다)",
    ),
    ("{cell}: expected {kind}, found {value}", "{cell}: {kind:이어야/여야} 하는데 {value}입니다"),
    ("and {number} more", "외 {number}개"),
)
"""A sentence of the validations, and how it is told; of two slots of one name the second is called `2`."""

_WORDS = (
    (r"a whole number of (\d+) bits", r"\1비트 정수"),
    (r"a nested list of (\d+)", r"\1개의 겹친 목록"),
    (r"an object", "객체"),
    (r"a text, a finite number, true, false or null", "글, 유한한 수, true, false, null 가운데 하나"),
    (r"a text or null", "글이나 null"),
    (r"a list or null", "목록이나 null"),
    (r"a text", "글"),
    (r"a list", "목록"),
    (r"none", "없음"),
    (r"white space", "빈칸뿐"),
)
"""What is no value but tells of one."""

_SLOT = re.compile(r"\{([a-z]+)(\d?)(?::(\w+/\w+))?\}")


def _pattern(sentence: str) -> re.Pattern[str]:
    """The sentence, up to the next one, with a group for each slot."""
    seen: dict[str, int] = {}
    pattern, place = "", 0
    for slot in _SLOT.finditer(sentence):
        seen[slot[1]] = seen.get(slot[1], 0) + 1
        name = f"{slot[1]}{seen[slot[1]] if seen[slot[1]] > 1 else ''}"
        pattern += f"{re.escape(sentence[place : slot.start()])}(?P<{name}>{_SLOTS[slot[1]]})"
        place = slot.end()
    return re.compile(f"{pattern}{re.escape(sentence[place:])}(?:; |$)", re.DOTALL)


_PATTERNS = [(_pattern(sentence), told) for sentence, told in _SENTENCES]


def korean_finding(reasons: str) -> str:
    """The reasons of a failure, told one after the other in Korean, with what they quote as it was."""
    told: list[str] = []
    rest = reasons
    while rest:
        matches = ((pattern.match(rest), sentence) for pattern, sentence in _PATTERNS)
        found, sentence = next(((match, sentence) for match, sentence in matches if match), (None, ""))
        if found is None:
            return "; ".join([*told, rest])
        told.append(_told(sentence, found))
        rest = rest[found.end() :]
    return "; ".join(told)


def _told(sentence: str, found: re.Match[str]) -> str:
    def filled(slot: re.Match[str]) -> str:
        text = found[slot[1] + slot[2]]
        for pattern, word in _WORDS:
            text = re.sub(f"^{pattern}$", word, text)
        return text + (particle(text, slot[3]) if slot[3] else "")

    return _SLOT.sub(filled, sentence)
