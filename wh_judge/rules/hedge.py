"""The hedge: what a verdict could not compare, and where the log disagrees with what the rule read."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from wh_judge.rules.rule import Case, Findings
from wh_judge.text import quoted, sql_text

NoteCode = Literal[
    "reply_missing",
    "names_null",
    "first_person_null",
    "speech_level_unreadable",
    "card_speech_level_open",
    "card_first_person_open",
    "honorific_level_differs",
    "recall_flag_null",
    "recall_role_not_found",
]
NOTE_CODES: tuple[NoteCode, ...] = get_args(NoteCode)


@dataclass(frozen=True)
class Note:
    """One thing that a hedge can say, its condition in plain Python and in SQL over the kernel's columns."""

    code: NoteCode
    label: str
    """A few words for lists and filters."""
    holds: Callable[[Case, Findings], bool]
    holds_sql: str
    sentence: Callable[[Case, Findings], str]
    sentence_sql: str
    skips: bool = True
    """Whether it means that a comparison was skipped."""


def reply_missing(case: Case) -> bool:
    """The reply is null or nothing but white space."""
    return case.turn.reply_text is None or not case.turn.reply_text.strip()


def _note(code: NoteCode, label: str, holds: Callable[[Case, Findings], bool], holds_sql: str, sentence: str) -> Note:
    return Note(code, label, holds, holds_sql, lambda case, findings: sentence, sql_text(sentence))


NOTES: tuple[Note, ...] = (
    _note(
        "reply_missing",
        "답장 없음",
        lambda case, findings: reply_missing(case),
        "is_blank(reply_text) IS NOT FALSE",
        "답장이 비어 있어 말투와 금지 소재와 기억 대조를 건너뛰었습니다.",
    ),
    _note(
        "names_null",
        "등장 이름 없음",
        lambda case, findings: case.turn.named_entities is None,
        "named_entities IS NULL",
        "등장 이름 목록이 없어 세계관 대조를 건너뛰었습니다.",
    ),
    _note(
        "first_person_null",
        "1인칭 없음",
        lambda case, findings: case.turn.first_person is None,
        "first_person IS NULL",
        "로그에 1인칭이 없어 1인칭 대조를 건너뛰었습니다.",
    ),
    _note(
        "speech_level_unreadable",
        "말투 못 읽음",
        lambda case, findings: not reply_missing(case) and findings.speech.level is None,
        "NOT is_blank(reply_text) AND level IS NULL",
        "답장에 한글이 없어 말투를 읽지 못했습니다.",
    ),
    _note(
        "card_speech_level_open",
        "카드 말투 비움",
        lambda case, findings: case.card.honorific_rule is None,
        "card_honorific_rule IS NULL",
        "카드가 말투를 정해 두지 않아 말투 대조를 건너뛰었습니다.",
    ),
    _note(
        "card_first_person_open",
        "카드 1인칭 비움",
        lambda case, findings: case.card.first_person is None,
        "card_first_person IS NULL",
        "카드가 1인칭을 정해 두지 않아 1인칭 대조를 건너뛰었습니다.",
    ),
    Note(
        "honorific_level_differs",
        "로그 말투와 다름",
        lambda case, findings: (
            findings.speech.level is not None and case.turn.honorific_level not in (None, findings.speech.level)
        ),
        "level IS NOT NULL AND honorific_level <> level",
        lambda case, findings: (
            f"로그의 honorific_level은 {quoted(case.turn.honorific_level or '')}인데"
            f" 답장에서 뽑은 말투는 {quoted(findings.speech.level or '')}입니다."
        ),
        "'로그의 honorific_level은 ' || quoted(honorific_level) || '인데 답장에서 뽑은 말투는 '"
        " || quoted(level) || '입니다.'",
        skips=False,
    ),
    _note(
        "recall_flag_null",
        "기억 질문 여부 없음",
        lambda case, findings: case.turn.user_asked_recall is None,
        "user_asked_recall IS NULL",
        "유저가 앞 이야기를 물었는지 적혀 있지 않아 기억 대조를 건너뛰었습니다.",
    ),
    _note(
        "recall_role_not_found",
        "물은 관계 못 찾음",
        lambda case, findings: bool(case.turn.user_asked_recall) and not findings.recall.role_found,
        "user_asked_recall AND role_found IS NOT TRUE",
        "유저가 앞 이야기를 물었지만 메시지에서 카드의 관계어를 찾지 못해 기억 대조를 건너뛰었습니다.",
    ),
)


def hedge(case: Case, findings: Findings) -> tuple[list[NoteCode], str | None]:
    """The reference: codes of what holds, in order, and the hedge that says it; None where nothing does."""
    held = [note for note in NOTES if note.holds(case, findings)]
    return [note.code for note in held], " ".join(note.sentence(case, findings) for note in held) or None


HEDGE_SQL = (
    "nullif(concat_ws(' ', " + ", ".join(f"CASE WHEN {n.holds_sql} THEN {n.sentence_sql} END" for n in NOTES) + "), '')"
)
NOTES_SQL = (
    "list_filter(["
    + ", ".join(f"CASE WHEN {n.holds_sql} THEN {sql_text(n.code)} END" for n in NOTES)
    + "], lambda x: x IS NOT NULL)"
)
