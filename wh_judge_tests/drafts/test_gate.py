"""What becomes of a response: kept, the default sentence, or thrown away whole."""

import json
from typing import Any

import pytest

from wh_judge.drafts.gate import THROWN_AWAY, decisive_cells, weigh
from wh_judge.model import VERDICTS, Verdict, verdict_document
from wh_judge_tests.builders import worked, worked_claims
from wh_judge_tests.drafts.build import EXAMPLES, case, codes, response, weighed

CASE = case()
GOOD = "무뚝뚝한 반말 교관이 존댓말로 답했습니다."


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_rule_s_own_sentence_is_kept(name: str) -> None:
    of = case(name)
    assert of.verdict.verdict == name
    assert weighed(of).outcome == "kept"


def test_a_sentence_is_all_that_is_taken() -> None:
    found = weighed(CASE, summary=f" {GOOD}\n", hedge="모릅니다.", rule_observed="반말 · 나")
    assert (found.outcome, found.summary) == ("kept", GOOD)


ROW: dict[str, Any] = {"source": "chat_turn", "field": "reply_text", "value": CASE.verdict.evidence[0].value}

REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"verdict": "아주 좋음"}, "v01_verdict_value", "thrown_away"),
    ({"verdict": None}, "v01_verdict_value", "thrown_away"),
    ({"verdict": "설정대로 말함"}, "other_verdict", "thrown_away"),
    ({"turn_id": "T-1"}, "other_turn", "thrown_away"),
    ({"turn_id": None}, "other_turn", "thrown_away"),
    ({"evidence": []}, "v02_required_filled", "thrown_away"),
    ({"session_id": " "}, "v02_required_filled", "thrown_away"),
    ({"summary": None}, "v02_required_filled", "thrown_away"),
    ({"evidence": [{**ROW, "field": "mood"}]}, "v08_evidence_field", "default"),
    ({"evidence": [{**ROW, "source": "weather"}]}, "v08_evidence_field", "default"),
    ({"evidence": [ROW, "text"]}, "v08_evidence_field", "default"),
    ({"evidence": [{**ROW, "value": "저는 그렇게 생각해요"}]}, "v09_evidence_value", "default"),
    ({"evidence": [{**ROW, "field": "first_person", "value": "나"}]}, "v09_evidence_value", "default"),
    ({"summary": f"{GOOD} 둘째 문장입니다."}, "v10_summary_one_polite_sentence", "default"),
    ({"summary": "반말 교관이 존댓말을 썼다."}, "v10_summary_one_polite_sentence", "default"),
    ({"summary": "존댓말이 아니라 설정대로 말함입니다."}, "names_other_verdict", "default"),
    ({"summary": "아무 문제가 없습니다."}, "names_no_cell", "default"),
    ({"summary": "반말 " * 100 + "입니다."}, "too_long", "default"),
    ({"summary": "반말\u202e입니다."}, "unprintable", "default"),
    ({"summary": "반말\x1b[31m입니다."}, "unprintable", "default"),
    ({"summary": "반말\ud800입니다."}, "unprintable", "default"),
]


@pytest.mark.parametrize(("changes", "code", "outcome"), REFUSED, ids=lambda value: str(value)[:40].encode().hex()[:12])
def test_what_does_not_hold_is_refused(changes: dict[str, Any], code: str, outcome: str) -> None:
    found = weigh(json.dumps(response(CASE.verdict, **changes)), CASE.verdict, CASE.log)
    assert code in codes(found)
    assert (found.outcome, found.summary) == (outcome, None)


@pytest.mark.parametrize(
    ("raw", "cut_off", "code"),
    [
        ("", False, "no_json"),
        ("판정은 말투 어긋남입니다.", False, "no_json"),
        ('{"turn_id": "T-2"', False, "no_json"),
        ('{"turn_id": "T-2"', True, "cut_off"),
        ('["말투 어긋남"]', False, "no_json"),
        ('{"turn_id": "T-2", "turn_id": "T-2"}', False, "no_json"),
        ("[" * 10_000, False, "no_json"),
        ('{"summary": NaN}', False, "no_json"),
    ],
)
def test_what_is_no_response_is_thrown_away(raw: str, cut_off: bool, code: str) -> None:
    found = weigh(raw, CASE.verdict, CASE.log, cut_off=cut_off)
    assert (found.outcome, codes(found)) == ("thrown_away", [code])


def test_all_reasons_are_told() -> None:
    found = weighed(CASE, verdict="설정대로 말함", summary="응")
    assert {"other_verdict", "v10_summary_one_polite_sentence"} <= set(codes(found))
    assert found.outcome == "thrown_away"


@pytest.mark.parametrize("name", VERDICTS)
def test_every_verdict_rests_on_something_that_its_sentence_can_name(name: str) -> None:
    assert decisive_cells(case(name).verdict)


def test_the_worked_outputs_are_kept() -> None:
    """Sentences that were written by hand for the specification, against the log that yields them."""
    log = worked().log()
    verdicts = [Verdict.model_validate(claim) for claim in worked_claims()]
    found = [weigh(json.dumps(verdict_document(verdict)), verdict, log) for verdict in verdicts]
    assert [(weighed.outcome, codes(weighed)) for weighed in found] == [("kept", [])] * 7


def test_reasons_that_throw_away_are_known_to_be_so() -> None:
    assert {code for _, code, outcome in REFUSED if outcome == "thrown_away"} <= THROWN_AWAY
    assert not {code for _, code, outcome in REFUSED if outcome == "default"} & THROWN_AWAY
