"""Damages to one sound claim of `STATE`, by the validation that must name it; `evidence_damages` has the evidence's."""

from wh_judge_tests.validations.damage import Damage, Table, cells, cited, row, row_without, without
from wh_judge_tests.validations.evidence_damages import EVIDENCE_DAMAGES

KEPT, SPEECH, CANON = "설정대로 말함", "말투 어긋남", "세계관 밖 고유명사"
FORBIDDEN, RECALL = "금지 소재 접촉", "앞 회차를 기억 못 함"

SHAPE_DAMAGES: Table = {
    "v01_verdict_value": [
        ("a sixth value", "kept", cells(verdict="잘 모르겠음"), "found '잘 모르겠음'"),
        ("white space", "kept", cells(verdict=KEPT + " "), "found '설정대로 말함 '"),
        ("missing", "level", without("verdict"), "found null"),
        ("a list", "canon", cells(verdict=[KEPT]), "found ['설정대로 말함']"),
    ],
    "v02_required_filled": [
        ("missing", "kept", without("session_id"), "session_id: expected a filled cell, found none"),
        ("null", "kept", cells(summary=None), "summary: expected a filled cell, found null"),
        ("empty", "kept", cells(model_id=""), "model_id: expected a filled cell, found ''"),
        ("blank", "kept", cells(character_id="\u3000 "), "character_id: expected a filled cell, found white space"),
        ("no evidence", "forbidden", cells(evidence=[]), "evidence: expected a filled cell, found []"),
    ],
    "verdict_schema": [
        ("missing", "kept", without("verdict"), "verdict: expected a cell, found none"),
        ("a number for a text", "kept", cells(hedge=5), "hedge: expected a text or null, found 5"),
        ("a text for a list", "canon", cells(off_canon_entities="리안"), "expected a list or null, found '리안'"),
        ("null in a list", "canon", cells(off_canon_entities=[None]), "off_canon_entities[0]: expected a text"),
        ("evidence is an object", "kept", cells(evidence={"a": 1}), "evidence: expected a list, found an object"),
        ("a row is none", "kept", row_without(0, "source"), "evidence[0].source: expected a cell, found none"),
        ("an unknown source", "kept", row(1, source="card"), "evidence[1].source: expected 'chat_turn', 'char"),
        ("an unknown aggregate", "canon", row(3, agg="median"), "evidence[3].agg: expected 'count', 'sum'"),
        ("a list for a value", "kept", row(0, value=["a"]), "evidence[0].value: expected a text, a finite number"),
        ("not a number", "kept", row(0, value=float("nan")), "evidence[0].value: expected a text, a finite number"),
        ("a row without value", "kept", row_without(2, "value"), "evidence[2].value: expected a cell, found none"),
        ("another session", "kept", cells(session_id="S-9"), "session_id: expected 'S of kept', found 'S-9'"),
        ("another character", "kept", cells(character_id="C-2"), "character_id: expected 'C-1', found 'C-2'"),
        ("another model", "kept", cells(model_id="M-2"), "model_id: expected 'M-1', found 'M-2'"),
    ],
}

RECOMPUTED_DAMAGES: Table = {
    "v03_speech_reread": [
        ("the log's level", "log level differs", cells(rule_observed="존댓말 · 나"), "expected '반말 · 나'"),
        ("another expectation", "kept", cells(rule_expected="존댓말 · 나"), "rule_expected: expected '반말 · 나'"),
        ("no expectation", "kept", without("rule_expected"), "rule_expected: expected '반말 · 나', found null"),
        ("an empty text for null", "card open", cells(rule_expected=""), "expected null, found ''"),
        ("stands without a cause", "kept", cells(verdict=SPEECH), "none of 2 compared differ"),
        ("stands on an open card", "card open", cells(verdict=SPEECH), "none of 0 compared differ"),
        ("does not stand", "person", cells(verdict=KEPT), "1 of 2 compared differ"),
        ("recall before it", "T-14", cells(verdict=RECALL), "expected '말투 어긋남'"),
        ("the disagreement is not said", "log level differs", cells(hedge=None), "honorific_level is '존댓말'"),
        ("the hedge says other things", "log level differs", cells(hedge="확인했습니다."), "found '확인했습니다.'"),
        ("the hedge is no text", "log level differs", cells(hedge=["말투"]), "found ['말투']"),
        ("cited", "log level differs", cited("chat_turn", "honorific_level", "존댓말"), "in the hedge only"),
    ],
    "v04_off_canon_recomputed": [
        ("a name too few", "canon many", cells(off_canon_entities=["가", "나", "다"]), "'다', '라'], found ['가'"),
        ("a name twice", "canon", cells(off_canon_entities=["리안", "리안"]), "expected ['리안'], found ['리안', "),
        ("another order", "canon many", cells(off_canon_entities=["나", "가", "다", "라"]), "found ['나', '가'"),
        ("a canon name", "T-12", cells(off_canon_entities=["하늘"]), "expected [], found ['하늘']"),
        ("null for an empty list", "kept", cells(off_canon_entities=None), "expected [], found null"),
        ("an empty list for null", "names null", cells(off_canon_entities=[]), "expected null, found []"),
        ("missing", "kept", without("off_canon_entities"), "expected [], found null"),
    ],
    "v05_touched_found_again": [
        ("another term", "forbidden", cells(touched_term="국회"), "touched_term: expected '선거', found '국회'"),
        ("the harmless topic", "second topic", cells(touched_topic="놀이"), "expected '도박', found '놀이'"),
        ("a topic not forbidden", "harmless term", cells(touched_topic="행사"), "expected null, found '행사'"),
        ("a harmless term left out", "harmless term", cells(touched_term=None), "expected '축제', found null"),
        ("a term that is not there", "kept", cells(touched_term="선거"), "expected null, found '선거'"),
        ("without a reply", "reply null", cells(touched_term=""), "expected null, found ''"),
    ],
    "v06_recall_recomputed": [
        ("another target", "T-10", cells(recall_target="무명"), "expected '하늘', found '무명'"),
        ("a later source", "T-14", cells(recall_source_turn="T-12"), "expected 'T-9', found 'T-12'"),
        ("left out", "T-14", cells(recall_target=None), "expected '하늘', found null"),
        ("not asked", "T-13", cells(recall_target="하늘"), "recall_target: expected null, found '하늘'"),
        ("asked null", "flag null", cells(recall_source_turn="T-9"), "recall_source_turn: expected null"),
        ("remembered", "T-12", cells(recall_target="하늘", recall_source_turn="T-9"), "expected null, found 'T-9'"),
    ],
    "v07_nulls_skipped": [
        ("null names compared", "names null", cells(off_canon_entities=["리안"]), "(null names): expected null"),
        ("null names as empty", "names null", cells(off_canon_entities=[]), "(null names): expected null, found []"),
        ("null names not said", "names null", cells(hedge=None), "that the names are null, found null"),
        ("one of two not said", "both null", cells(hedge="1인칭이 없습니다."), "that the names are null"),
        ("null person observed", "person null", cells(rule_observed="반말 · 나"), "(null first person)"),
        ("null person compared", "person null", cells(verdict=SPEECH), "not to be compared"),
        ("null person not said", "person null level", cells(hedge=" "), "that the first person is null"),
    ],
    "verdict_precedence": [
        ("forbidden is first", "forbidden canon", cells(verdict=CANON), f"expected '{FORBIDDEN}', found '{CANON}'"),
        ("canon before speech", "canon polite", cells(verdict=SPEECH), f"expected '{CANON}', found '{SPEECH}'"),
        ("speech before recall", "T-14", cells(verdict=RECALL), f"expected '{SPEECH}', found '{RECALL}'"),
        ("recall before nothing", "T-10", cells(verdict=KEPT), f"expected '{RECALL}', found '{KEPT}'"),
        ("out of nothing", "kept", cells(verdict=SPEECH), "expected rule_observed to differ"),
        (
            "own names that are not the log's",
            "kept",
            cells(verdict=CANON, off_canon_entities=["리안"]),
            f"by the log: expected '{KEPT}', found '{CANON}'",
        ),
        ("own topic", "kept", cells(touched_topic="도박"), f"own cells: expected '{FORBIDDEN}', found '{KEPT}'"),
        ("own names", "kept", cells(off_canon_entities=["리안"]), f"own cells: expected '{CANON}', found '{KEPT}'"),
        ("own target", "kept", cells(recall_target="하늘"), f"own cells: expected '{RECALL}', found '{KEPT}'"),
        ("missing", "kept", without("verdict"), f"expected '{KEPT}', found null"),
    ],
}

SUMMARY_DAMAGES: Table = {
    "v10_summary_one_polite_sentence": [
        ("two sentences", "kept", cells(summary="모두 맞습니다. 잘했습니다."), "found 2, the second '잘했습니다'"),
        ("two lines", "kept", cells(summary="말투가 맞고\n이름도 맞습니다."), "found 2"),
        ("not polite", "kept", cells(summary="말투가 카드와 같다."), "found '같다'"),
        ("a quoted ending", "kept", cells(summary="답장은 「생각해요」."), "found '「…」'"),
        ("blank", "kept", cells(summary=" \n"), "found 0"),
        ("missing", "kept", without("summary"), "found null"),
    ],
}

DAMAGES = [
    Damage(code, *case)
    for table in (SHAPE_DAMAGES, RECOMPUTED_DAMAGES, EVIDENCE_DAMAGES, SUMMARY_DAMAGES)
    for code, cases in table.items()
    for case in cases
]
