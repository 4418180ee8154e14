"""말투 어긋남: the reply's speech level or first person is not the card's."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from wh_judge.model import CharacterCard, ChatTurn, Evidence
from wh_judge.rules.rule import Case, Findings, Rule, RuleSettings, cite, example
from wh_judge.text import (
    SENTENCE_ENDS,
    TRAILING_RANGES,
    WHITESPACE,
    has_hangul,
    quoted,
    regex_class,
    regex_ranges,
    sentences,
    without_trailing,
)


@dataclass(frozen=True)
class Speech:
    """How the reply speaks beside how the card wants it."""

    level: str | None
    """Extracted from the reply; None where it has none."""
    expected: str | None
    observed: str | None
    compared: int
    """How many of speech level and first person could be compared (0 to 2)."""
    differing: int
    """How many of those differ."""


def speech_level(reply: str | None, settings: RuleSettings) -> str | None:
    """존댓말 where some sentence's last word ends politely, else 반말; None without a Hangul syllable."""
    if reply is None or not has_hangul(reply):
        return None
    return "존댓말" if any(is_polite(sentence, settings) for sentence in sentences(reply)) else "반말"


def is_polite(sentence: str, settings: RuleSettings) -> bool:
    """Whether the last word of a sentence, without what trails it where that is ignored, ends politely."""
    # No ending holds white space: what ends the sentence ends its last word.
    spoken = without_trailing(sentence) if settings.ignore_trailing else sentence.rstrip()
    return spoken.endswith(settings.endings)


def joined(level: str | None, first_person: str | None) -> str | None:
    """Speech level and first person as one text; a missing part is left out, and both missing gives None."""
    return " · ".join(part for part in (level, first_person) if part is not None) or None


def find(turn: ChatTurn, card: CharacterCard, settings: RuleSettings) -> Speech:
    """The reference: what the card expects, what the reply shows, and how many of the two differ."""
    level = speech_level(turn.reply_text, settings)
    return compare(level, turn.first_person, card.honorific_rule, card.first_person)


@lru_cache(maxsize=4096)
def compare(level: str | None, person: str | None, wanted_level: str | None, wanted_person: str | None) -> Speech:
    """The two of a reply beside the two of a card. Kept, since few combinations come again and again."""
    pairs = [(level, wanted_level), (person, wanted_person)]
    compared = [(seen, wanted) for seen, wanted in pairs if seen is not None and wanted is not None]
    return Speech(
        level=level,
        expected=joined(wanted_level, wanted_person),
        observed=joined(level, person),
        compared=len(compared),
        differing=sum(seen != wanted for seen, wanted in compared),
    )


def evidence(case: Case, _findings: Findings) -> list[Evidence]:
    """The four cells that were set side by side, then the null cell of every other comparison that was skipped."""
    turn, card = case.turn, case.card
    rows = [
        cite("chat_turn", turn.turn_id, "reply_text", turn.reply_text),
        cite("character_card", card.character_id, "honorific_rule", card.honorific_rule),
        cite("chat_turn", turn.turn_id, "first_person", turn.first_person),
        cite("character_card", card.character_id, "first_person", card.first_person),
    ]
    if turn.named_entities is None:
        rows.append(cite("chat_turn", turn.turn_id, "named_entities", None))
    if turn.user_asked_recall is None:
        rows.append(cite("chat_turn", turn.turn_id, "user_asked_recall", None))
    if turn.user_asked_recall and turn.user_message is None:
        rows.append(cite("chat_turn", turn.turn_id, "user_message", None))
    return rows


EVIDENCE_SQL = """
list_concat(
    [cite('chat_turn', turn_id, 'reply_text', reply_text),
     cite('character_card', character_id, 'honorific_rule', card_honorific_rule),
     cite('chat_turn', turn_id, 'first_person', first_person),
     cite('character_card', character_id, 'first_person', card_first_person)],
    CASE WHEN named_entities IS NULL THEN [cite('chat_turn', turn_id, 'named_entities', NULL)] END,
    CASE WHEN user_asked_recall IS NULL THEN [cite('chat_turn', turn_id, 'user_asked_recall', NULL)] END,
    CASE WHEN user_asked_recall AND user_message IS NULL
         THEN [cite('chat_turn', turn_id, 'user_message', NULL)] END)
"""


def columns_sql(settings: RuleSettings) -> Mapping[str, str]:
    """The set-based form of `find`.

    A sentence whose last word ends with an ending is the same as an ending followed by nothing but white space and
    then a sentence end or the end of the text, since no ending holds either (`RuleSettings` sees to that). So it is
    with what is passed over besides.
    """
    polite = f"{polite_pattern(settings)}(?:[{regex_class(SENTENCE_ENDS)}]|\\z)"
    return {
        "level": f"""CASE WHEN has_hangul(reply_text)
            THEN CASE WHEN regexp_matches(reply_text, '{polite}') THEN '존댓말' ELSE '반말' END END""",
        "rule_expected": "nullif(concat_ws(' · ', card_honorific_rule, card_first_person), '')",
        "rule_observed": "nullif(concat_ws(' · ', level, first_person), '')",
        "level_compared": "(level IS NOT NULL AND card_honorific_rule IS NOT NULL)::INTEGER",
        "person_compared": "(first_person IS NOT NULL AND card_first_person IS NOT NULL)::INTEGER",
        "compared": "level_compared + person_compared",
        "differing": """level_compared * coalesce(level <> card_honorific_rule, false)::INTEGER
            + person_compared * coalesce(first_person <> card_first_person, false)::INTEGER""",
    }


def polite_pattern(settings: RuleSettings) -> str:
    """An ending and what may follow it in its sentence, for RE2."""
    endings = "|".join(regex_class(ending) for ending in settings.endings)
    passed_over = regex_class(WHITESPACE) + (regex_ranges(TRAILING_RANGES) if settings.ignore_trailing else "")
    return f"(?:{endings})[{passed_over}]*"


def summary(_case: Case, findings: Findings) -> str:
    """The default sentence."""
    speech = findings.speech
    return (
        f"카드 {quoted(speech.expected or '')}에 견준 답장 {quoted(speech.observed or '')}에서"
        f" {speech.compared}가지 가운데 {speech.differing}가지가 어긋났습니다."
    )


SUMMARY_SQL = """
'카드 ' || quoted(rule_expected) || '에 견준 답장 ' || quoted(rule_observed) || '에서 ' || compared
    || '가지 가운데 ' || differing || '가지가 어긋났습니다.'
"""

SPEECH = Rule(
    code="speech",
    verdict="말투 어긋남",
    what="Cuts the reply into sentences at . ? ! and their full-width forms; if the last word of any of them ends with "
    "a polite ending (요, 죠, 니다, 십시오 unless the settings say otherwise) the reply is 존댓말, else 반말. The "
    "verdict holds where that differs from the card's honorific_rule, or the log's first_person from the card's.",
    why="A gruff character that turns polite, or calls itself 저 instead of 나, reads like somebody else. The log's "
    "honorific_level is only another program's guess, so the level is read from the reply itself.",
    reference="Mismatch: a compared speech level differs or a compared first person differs; what is null on either "
    "side, and a reply without a Hangul syllable, is not compared.",
    breaks=example({"reply_text": "저는 그렇게 생각해요. 오늘은 쉬세요.", "first_person": "저"}, {}),
    keeps=example({"reply_text": "검을 잡아. 오늘은 손목부터 본다."}, {}),
    holds=lambda findings: findings.speech.differing > 0,
    evidence=evidence,
    summary=summary,
    columns_sql=columns_sql,
    holds_sql="differing > 0",
    evidence_sql=EVIDENCE_SQL,
    summary_sql=SUMMARY_SQL,
)
