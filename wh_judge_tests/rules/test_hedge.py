"""The hedge: each of its sentences, when it is said and when not."""

from typing import Any

import pytest

from wh_judge.model import VERDICTS
from wh_judge.rules.hedge import NOTE_CODES, NOTES
from wh_judge.rules.rule import Example, example
from wh_judge_tests.builders import by_kernel, by_references, judged, together

ASKED: dict[str, Any] = {"user_asked_recall": True, "user_message": "내 동생 기억나?"}
OPEN: dict[str, Any] = {"honorific_rule": None, "first_person": None}

ONE_EACH: dict[str, tuple[Example, str]] = {
    "reply_missing": (
        example({"reply_text": None}, {}),
        "답장이 비어 있어 말투와 금지 소재와 기억 대조를 건너뛰었습니다.",
    ),
    "names_null": (example({"named_entities": None}, {}), "등장 이름 목록이 없어 세계관 대조를 건너뛰었습니다."),
    "first_person_null": (
        example({"first_person": None}, {}),
        "로그에 1인칭이 없어 1인칭 대조를 건너뛰었습니다.",
    ),
    "speech_level_unreadable": (example({"reply_text": "OK!"}, {}), "답장에 한글이 없어 말투를 읽지 못했습니다."),
    "card_speech_level_open": (
        example({}, {"honorific_rule": None}),
        "카드가 말투를 정해 두지 않아 말투 대조를 건너뛰었습니다.",
    ),
    "card_first_person_open": (
        example({}, {"first_person": None}),
        "카드가 1인칭을 정해 두지 않아 1인칭 대조를 건너뛰었습니다.",
    ),
    "honorific_level_differs": (
        example({"honorific_level": "존댓말"}, {}),
        "로그의 honorific_level은 「존댓말」인데 답장에서 뽑은 말투는 「반말」입니다.",
    ),
    "recall_flag_null": (
        example({"user_asked_recall": None}, {}),
        "유저가 앞 이야기를 물었는지 적혀 있지 않아 기억 대조를 건너뛰었습니다.",
    ),
    "recall_role_not_found": (
        example({"user_asked_recall": True}, {}),
        "유저가 앞 이야기를 물었지만 메시지에서 카드의 관계어를 찾지 못해 기억 대조를 건너뛰었습니다.",
    ),
}
"""By its code, a turn of which nothing else is to be said, and the sentence."""

CASES: dict[str, tuple[Example, list[str]]] = {
    "nothing": (example({}, {}), []),
    "nothing, with the same level in the log": (example({"honorific_level": "반말"}, {}), []),
    "nothing, with a mismatch": (example({"reply_text": "가요.", "first_person": "저"}, {}), []),
    "nothing, asked and found": (example(ASKED, {}), []),
    "a blank reply": (example({"reply_text": " \x1f\u3000"}, {}), ["reply_missing"]),
    "an empty reply": (example({"reply_text": ""}, {}), ["reply_missing"]),
    "a zero-width space is no Hangul": (example({"reply_text": "\u200b"}, {}), ["speech_level_unreadable"]),
    "no names are not null names": (example({"named_entities": []}, {"canon_entities": []}), []),
    "no reply has no level to differ from": (
        example({"reply_text": None, "honorific_level": "존댓말"}, {}),
        ["reply_missing"],
    ),
    "no Hangul has no level to differ from": (
        example({"reply_text": "OK!", "honorific_level": "존댓말"}, {}),
        ["speech_level_unreadable"],
    ),
    "a level that is neither": (example({"honorific_level": "해요체"}, {}), ["honorific_level_differs"]),
    "a level that differs on an open card": (
        example({"honorific_level": "존댓말"}, {"honorific_rule": None}),
        ["card_speech_level_open", "honorific_level_differs"],
    ),
    "a null message": (
        example({"user_asked_recall": True, "user_message": None}, {}),
        ["recall_role_not_found"],
    ),
    "a null message that was not to be read": (example({"user_message": None}, {}), []),
    "a card without roles": (example(ASKED, {"entity_roles": []}), ["recall_role_not_found"]),
    "not asked, no role": (example({"user_message": "동생?"}, {"entity_roles": []}), []),
    "no reply, asked and found": (example(ASKED | {"reply_text": None}, {}), ["reply_missing"]),
    "no reply, asked and not found": (
        example({"user_asked_recall": True, "reply_text": None}, {}),
        ["reply_missing", "recall_role_not_found"],
    ),
    "null on both sides": (
        example({"first_person": None}, {"first_person": None}),
        ["first_person_null", "card_first_person_open"],
    ),
    "all that goes together": (
        example({"reply_text": None, "named_entities": None, "first_person": None, "user_asked_recall": None}, OPEN),
        [
            *("reply_missing", "names_null", "first_person_null", "card_speech_level_open"),
            *("card_first_person_open", "recall_flag_null"),
        ],
    ),
}
"""What is noted of a turn."""


@pytest.mark.parametrize("code", ONE_EACH)
def test_each_sentence_alone(code: str) -> None:
    case, sentence = ONE_EACH[code]
    record = judged(case)
    assert (record["notes"], record["hedge"]) == ([code], sentence)


def test_every_note_has_a_case() -> None:
    assert tuple(ONE_EACH) == NOTE_CODES == tuple(note.code for note in NOTES)


@pytest.mark.parametrize(("case", "notes"), CASES.values(), ids=CASES)
def test_what_is_noted(case: Example, notes: list[str]) -> None:
    assert judged(case)["notes"] == notes


@pytest.mark.parametrize(("case", "notes"), CASES.values(), ids=CASES)
def test_the_hedge_says_what_is_noted_and_is_null_where_nothing_is(case: Example, notes: list[str]) -> None:
    """Every sentence is polite, and ends."""
    hedge = judged(case)["hedge"]
    assert (hedge is None) == (not notes)
    assert (hedge or "").count("니다.") == len(notes)


@pytest.mark.parametrize("level", ["나" * 41, "「반말」"])
def test_a_level_of_the_log_is_quoted_safely(level: str) -> None:
    hedge = judged(example({"honorific_level": level}, {}))["hedge"]
    assert hedge.count("「") == hedge.count("」") == 2


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.code)
def test_a_note_has_a_short_label(note: Any) -> None:
    assert 0 < len(note.label) < 12


def test_only_a_disagreement_skips_nothing() -> None:
    assert [note.code for note in NOTES if not note.skips] == ["honorific_level_differs"]


def test_a_note_decides_nothing() -> None:
    """The same turn with and without a level in the log."""
    without = judged(example({}, {}))
    noted = judged(ONE_EACH["honorific_level_differs"][0])
    assert noted["verdict"] == without["verdict"] in VERDICTS
    assert {name for name in noted if noted[name] != without[name]} == {"hedge", "notes"}


def test_both_forms_agree_on_the_cases() -> None:
    log = together(case for case, _ in [*ONE_EACH.values(), *CASES.values()])
    assert by_kernel(log) == by_references(log)
