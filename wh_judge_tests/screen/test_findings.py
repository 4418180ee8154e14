"""Every reason of a validation is told in Korean on the screen, whatever the verdict holds."""

import copy
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wh_judge.screen.findings import korean_finding
from wh_judge.validations import validate
from wh_judge_tests.validations.damage import Damage
from wh_judge_tests.validations.damages import DAMAGES
from wh_judge_tests.validations.states import STATE, claim_about
from wh_judge_tests.validations.test_hostile import JUNK, NAMES

LOG = STATE.log()
CLAIMS = STATE.claims()
ENGLISH = re.compile(r"\b(expected|found|since|already|more|they differ)\b")
QUOTED = re.compile(r"""…?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")…?""")


def left_in_english(reason: str) -> bool:
    """Whether English is left beside what is quoted."""
    return bool(ENGLISH.search(QUOTED.sub("", korean_finding(reason))))


@pytest.mark.parametrize("damage", DAMAGES, ids=str)
def test_a_damaged_verdict_is_told_in_korean(damage: Damage) -> None:
    claims = STATE.claims()
    damage.change(claim_about(claims, damage.turn_id))
    told = [failure.reason for result in validate(claims, LOG) for failure in result.failures]
    assert told and [reason for reason in told if left_in_english(reason)] == []


@settings(deadline=None)
@given(st.data())
def test_whatever_a_verdict_holds_is_told_in_korean(data: st.DataObject) -> None:
    claim = copy.deepcopy(data.draw(st.sampled_from(CLAIMS)))
    rows = claim["evidence"]
    for _ in range(data.draw(st.integers(1, 3))):
        data.draw(st.sampled_from([claim, *rows]))[data.draw(st.sampled_from(NAMES))] = data.draw(JUNK)
    told = [failure.reason for result in validate([claim], LOG) for failure in result.failures]
    assert [reason for reason in told if left_in_english(reason)] == []


@pytest.mark.parametrize("junk", [None, 1, "글", [], {}, [[1]]])
def test_what_is_no_verdict_at_all_is_told_in_korean(junk: object) -> None:
    told = [failure.reason for result in validate([junk, junk], LOG) for failure in result.failures]  # type: ignore[list-item]
    assert told and [reason for reason in told if left_in_english(reason)] == []


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("off_canon_entities: expected ['리안'], found null", "off_canon_entities: ['리안']이어야 하는데 null입니다"),
        ("recall_target: expected '하늘', found '바다'", "recall_target: '하늘'이어야 하는데 '바다'입니다"),
        ("summary: expected exactly one sentence, found 0", "summary: 한 문장이어야 하는데 0문장입니다"),
        (
            "verdict (1 of 2 compared differ): expected '말투 어긋남', found '설정대로 말함'",
            "verdict: 견준 2가지 가운데 1가지가 어긋나 '말투 어긋남'이어야 하는데 '설정대로 말함'입니다",
        ),
        (
            "summary: expected one polite sentence, found null; and 3 more",
            "summary: 존댓말 한 문장이 아니라 null입니다; 외 3개",
        ),
        (
            "session_id: expected 'a', found 'b; turn_id: expected null, found 1'",
            "session_id: 'a'여야 하는데 'b; turn_id: expected null, found 1'입니다",
        ),
        ("something new: went wrong", "something new: went wrong"),
    ],
)
def test_a_finding_keeps_what_it_quotes(reason: str, told: str) -> None:
    assert korean_finding(reason) == told
