"""Damages to one sound claim of `STATE`, and the validation that must name it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wh_judge_tests.validations.states import Claim

Change = Callable[[Claim], None]


@dataclass(frozen=True)
class Damage:
    """What is done to the claim about one turn, the validation that must name it, and words of the reason."""

    code: str
    name: str
    turn_id: str
    change: Change
    says: str

    def __str__(self) -> str:
        return f"{self.code}: {self.name}"


def cells(**values: Any) -> Change:
    """Overwrite cells."""
    return lambda claim: claim.update(values)


def without(name: str) -> Change:
    """Take a cell away."""
    return lambda claim: claim.pop(name)


def row(place: int, **values: Any) -> Change:
    """Overwrite cells of an evidence row."""
    return lambda claim: claim["evidence"][place].update(values)


def unkeyed(place: int, **values: Any) -> Change:
    """Overwrite cells of an evidence row and take its key away."""

    def change(claim: Claim) -> None:
        claim["evidence"][place].pop("key")
        claim["evidence"][place].update(values)

    return change


def rows(*more: Any) -> Change:
    """Append evidence rows."""
    return lambda claim: claim["evidence"].extend(more)


def _shape() -> list[Damage]:
    v01, v02, schema = "v01_verdict_value", "v02_required_filled", "verdict_schema"
    kept = "설정대로 말함"
    return [
        Damage(v01, "a sixth value", "kept", cells(verdict="잘 모르겠음"), "found '잘 모르겠음'"),
        Damage(v01, "white space", "kept", cells(verdict=kept + " "), "found '설정대로 말함 '"),
        Damage(v01, "missing", "level", without("verdict"), "found null"),
        Damage(v01, "a list", "canon", cells(verdict=[kept]), "found ['설정대로 말함']"),
        Damage(v02, "missing", "kept", without("session_id"), "session_id: expected a filled cell, found none"),
        Damage(v02, "null", "kept", cells(summary=None), "summary: expected a filled cell, found null"),
        Damage(v02, "empty", "kept", cells(model_id=""), "model_id: expected a filled cell, found ''"),
        Damage(
            v02, "blank", "kept", cells(character_id="\u3000 "), "character_id: expected a filled cell, found white"
        ),
        Damage(v02, "no evidence", "forbidden", cells(evidence=[]), "evidence: expected a filled cell, found []"),
        Damage(schema, "missing", "kept", without("verdict"), "verdict: expected a cell, found none"),
        Damage(schema, "a number for a text", "kept", cells(hedge=5), "hedge: expected a text or null, found 5"),
        Damage(schema, "a text for a list", "canon", cells(off_canon_entities="리안"), "expected a list or null"),
        Damage(
            schema,
            "null in a list",
            "canon",
            cells(off_canon_entities=[None]),
            "off_canon_entities[0]: expected a text",
        ),
        Damage(
            schema,
            "evidence is an object",
            "kept",
            cells(evidence={"a": 1}),
            "evidence: expected a list, found an object",
        ),
        Damage(schema, "an unknown source", "kept", row(1, source="card"), "evidence[1].source"),
        Damage(schema, "an unknown aggregate", "canon", row(3, agg="median"), "evidence[3].agg"),
        Damage(
            schema, "a list for a value", "kept", row(0, value=["a"]), "evidence[0].value: expected a text, a finite"
        ),
        Damage(schema, "no number", "kept", row(0, value=float("nan")), "evidence[0].value: expected a text, a finite"),
        Damage(schema, "a row without value", "kept", lambda c: c["evidence"][2].pop("value"), "evidence[2].value"),
        Damage(
            schema, "another session", "kept", cells(session_id="S-9"), "session_id: expected 'S of kept', found 'S-9'"
        ),
        Damage(schema, "another character", "kept", cells(character_id="C-2"), "character_id: expected 'C-1'"),
        Damage(schema, "another model", "kept", cells(model_id="M-2"), "model_id: expected 'M-1', found 'M-2'"),
    ]


def _recomputed() -> list[Damage]:
    v03, v04, v05 = "v03_speech_reread", "v04_off_canon_recomputed", "v05_touched_found_again"
    v06, v07 = "v06_recall_recomputed", "v07_nulls_skipped"
    hedged = "log level differs"
    log_level = {"source": "chat_turn", "field": "honorific_level", "value": "존댓말"}
    return [
        Damage(
            v03, "the log's level", hedged, cells(rule_observed="존댓말 · 나"), "rule_observed: expected '반말 · 나'"
        ),
        Damage(
            v03,
            "another expectation",
            "kept",
            cells(rule_expected="존댓말 · 나"),
            "rule_expected: expected '반말 · 나'",
        ),
        Damage(v03, "no expectation", "kept", without("rule_expected"), "found null"),
        Damage(v03, "an empty text for null", "card open", cells(rule_expected=""), "expected null, found ''"),
        Damage(v03, "stands without a cause", "kept", cells(verdict="말투 어긋남"), "none of 2 compared differ"),
        Damage(v03, "stands on an open card", "card open", cells(verdict="말투 어긋남"), "none of 0 compared differ"),
        Damage(v03, "does not stand", "person", cells(verdict="설정대로 말함"), "1 of 2 compared differ"),
        Damage(v03, "recall before it", "T-14", cells(verdict="앞 회차를 기억 못 함"), "expected '말투 어긋남'"),
        Damage(v03, "the disagreement is not said", hedged, cells(hedge=None), "honorific_level is '존댓말'"),
        Damage(v03, "the hedge says other things", hedged, cells(hedge="확인했습니다."), "found '확인했습니다.'"),
        Damage(v03, "the hedge is no text", hedged, cells(hedge=["말투"]), "found ['말투']"),
        Damage(v03, "the log's level as evidence", hedged, rows(log_level), "in the hedge only, found it cited"),
        Damage(
            v04, "a name too few", "canon many", cells(off_canon_entities=["가", "나", "다"]), "expected ['가', '나'"
        ),
        Damage(v04, "a name twice", "canon", cells(off_canon_entities=["리안", "리안"]), "expected ['리안']"),
        Damage(
            v04, "another order", "canon many", cells(off_canon_entities=["나", "가", "다", "라"]), "found ['나', '가'"
        ),
        Damage(v04, "a canon name", "T-12", cells(off_canon_entities=["하늘"]), "expected [], found ['하늘']"),
        Damage(v04, "null for an empty list", "kept", cells(off_canon_entities=None), "expected [], found null"),
        Damage(v04, "an empty list for null", "names null", cells(off_canon_entities=[]), "expected null, found []"),
        Damage(v04, "missing", "kept", without("off_canon_entities"), "expected [], found null"),
        Damage(
            v05, "another term", "forbidden", cells(touched_term="국회"), "touched_term: expected '선거', found '국회'"
        ),
        Damage(v05, "the harmless topic", "second topic", cells(touched_topic="놀이"), "expected '도박', found '놀이'"),
        Damage(v05, "a topic that is not forbidden", "harmless term", cells(touched_topic="행사"), "expected null"),
        Damage(
            v05, "a harmless term left out", "harmless term", cells(touched_term=None), "expected '축제', found null"
        ),
        Damage(v05, "a term that is not there", "kept", cells(touched_term="선거"), "expected null, found '선거'"),
        Damage(v05, "without reply", "reply null", cells(touched_term=""), "expected null, found ''"),
        Damage(v06, "another target", "T-10", cells(recall_target="무명"), "expected '하늘', found '무명'"),
        Damage(v06, "a later source", "T-14", cells(recall_source_turn="T-12"), "expected 'T-9', found 'T-12'"),
        Damage(v06, "left out", "T-14", cells(recall_target=None), "expected '하늘', found null"),
        Damage(v06, "not asked", "T-13", cells(recall_target="하늘"), "recall_target: expected null, found '하늘'"),
        Damage(v06, "asked null", "flag null", cells(recall_source_turn="T-9"), "recall_source_turn: expected null"),
        Damage(v06, "remembered", "T-12", cells(recall_target="하늘", recall_source_turn="T-9"), "found 'T-9'"),
        Damage(
            v07, "null names compared", "names null", cells(off_canon_entities=["리안"]), "(null names): expected null"
        ),
        Damage(v07, "null names as empty", "names null", cells(off_canon_entities=[]), "(null names): expected null"),
        Damage(v07, "null names not said", "names null", cells(hedge=None), "that the names are null, found null"),
        Damage(v07, "one of two not said", "both null", cells(hedge="1인칭이 없습니다."), "that the names are null"),
        Damage(v07, "null person observed", "person null", cells(rule_observed="반말 · 나"), "(null first person)"),
        Damage(v07, "null person compared", "person null", cells(verdict="말투 어긋남"), "not to be compared"),
        Damage(v07, "null person not said", "person null level", cells(hedge=" "), "that the first person is null"),
    ]


def _evidence() -> list[Damage]:
    v08, v09 = "v08_evidence_field", "v09_evidence_value"
    extra = {"source": "chat_turn", "field": "turn_id", "value": "kept"}
    count, source = (
        {"agg": "count"},
        {"source": "chat_turn", "field": "reply_text", "value": "검을 잡아. 오늘은 손목부터 본다."},
    )
    return [
        Damage(v08, "an invented column", "kept", row(0, field="mood"), "column of 'chat_turn', found field 'mood'"),
        Damage(v08, "another table's column", "kept", row(1, field="reply_text"), "column of 'character_card'"),
        Damage(
            v08, "an invented table", "forbidden", row(1, source="topics"), "column of 'topics', found field 'term'"
        ),
        Damage(v08, "no field", "kept", rows({"source": "chat_turn", "value": None}), "found field null"),
        Damage(v08, "a row that is no object", "canon", rows("reply_text"), "that cites a cell, found 'reply_text'"),
        Damage(v09, "a text cut short", "kept", row(0, value="검을 잡아."), "expected '검을 잡아. 오늘은"),
        Damage(v09, "a decomposed text", "kept", row(1, value="반말"), "only in Unicode normal form"),
        Damage(v09, "a text for null", "person null", row(2, value="나"), "expected null, found '나'"),
        Damage(v09, "null for a text", "kept", row(2, value=None), "expected '나', found null"),
        Damage(
            v09, "no value", "kept", lambda claim: claim["evidence"][0].pop("value"), "expected a value, found none"
        ),
        Damage(v09, "1 for true", "T-10", row(0, value=1), "expected true, found 1"),
        Damage(v09, "text for true", "T-10", row(0, value="true"), "expected true, found 'true'"),
        Damage(v09, "no element", "canon", row(1, value="하늘이"), "expected one of the 3 elements, found '하늘이'"),
        Damage(v09, "the whole list", "canon", row(2, value=["검술원", "하늘"]), "expected one of the 2 elements"),
        Damage(v09, "null for a list", "canon", row(2, value=None), "expected one of the 2 elements, found null"),
        Damage(v09, "another count", "canon", row(3, value=3), "canon_entities count: expected 2, found 3"),
        Damage(
            v09,
            "true for a count",
            "canon",
            rows({**extra, "field": "named_entities", **count, "value": True}),
            "found true",
        ),
        Damage(v09, "a count as text", "canon", row(3, value="2"), "expected 2, found '2'"),
        Damage(v09, "a sum of names", "canon", row(3, agg="sum"), "found agg 'sum'"),
        Damage(v09, "a count of a text", "kept", row(0, **count, value=1), "found agg 'count'"),
        Damage(
            v09,
            "a wrong instant",
            "kept",
            rows({**extra, "field": "turn_at", "value": "2026-09-02T10:00:01+09:00"}),
            "turn_at",
        ),
        Damage(
            v09,
            "an instant without offset",
            "kept",
            rows({**extra, "field": "turn_at", "value": "2026-09-02T10:00:00"}),
            "turn_at",
        ),
        Damage(v09, "a role that is none", "T-10", row(2, value="형"), "expected one of the 2 elements, found '형'"),
        Damage(v09, "another turn", "level", unkeyed(0, value=source["value"]), "found '검을 잡아."),
        Damage(
            v09, "the key of another turn", "level", row(0, key="kept", value=source["value"]), "may cite, found 'kept'"
        ),
        Damage(v09, "the key of another card", "kept", row(1, key="C-3"), "may cite, found 'C-3'"),
        Damage(
            v09, "a key that is no text", "forbidden", row(1, key=2), "expected a cell of one row with the term '선거'"
        ),
        Damage(v09, "the other keyed turn", "T-10", row(4, key="T-10"), "expected 'T-10', found 'T-9'"),
        Damage(v09, "a later source", "T-10", cells(recall_source_turn="T-12"), "may cite, found 'T-9'"),
        Damage(v09, "a source elsewhere", "T-10", cells(recall_source_turn="kept"), "may cite, found 'T-9'"),
        Damage(
            v09, "a topic of another row", "forbidden", unkeyed(2, value="도박"), "with the term '선거', found '도박'"
        ),
        Damage(
            v09, "a term of another row", "forbidden", unkeyed(1, value="국회"), "with the term '선거', found '국회'"
        ),
        Damage(
            v09, "the other row of the term", "second topic", row(1, key="1"), "with the term '주사위', found '도박'"
        ),
        Damage(
            v09,
            "two rows of one term",
            "second topic",
            lambda c: (
                [unkeyed(i, value=v)(c) for i, v in ((1, "주사위"), (2, "놀이"))]
                and rows({"source": "topic_lexicon", "field": "topic", "value": "도박"})(c)
            ),
            "found '도박'",
        ),
        Damage(
            v09,
            "no row of the lexicon",
            "kept",
            rows({"source": "topic_lexicon", "field": "term", "value": "검"}),
            "found '검'",
        ),
    ]


def _above() -> list[Damage]:
    v10, precedence = "v10_summary_one_polite_sentence", "verdict_precedence"
    kept, forbidden, canon = "설정대로 말함", "금지 소재 접촉", "세계관 밖 고유명사"
    return [
        Damage(
            v10,
            "two sentences",
            "kept",
            cells(summary="모두 맞습니다. 잘했습니다."),
            "found 2, the second '잘했습니다'",
        ),
        Damage(v10, "two lines", "kept", cells(summary="말투가 맞고\n이름도 맞습니다."), "found 2"),
        Damage(v10, "not polite", "kept", cells(summary="말투가 카드와 같다."), "found '같다'"),
        Damage(v10, "a quotation for an ending", "kept", cells(summary="답장은 「생각해요」."), "found '\ufffc'"),
        Damage(v10, "blank", "kept", cells(summary=" \n"), "found 0"),
        Damage(v10, "missing", "kept", without("summary"), "found null"),
        Damage(precedence, "forbidden is first", "forbidden canon", cells(verdict=canon), f"expected '{forbidden}'"),
        Damage(precedence, "canon before speech", "canon polite", cells(verdict="말투 어긋남"), f"expected '{canon}'"),
        Damage(
            precedence, "speech before recall", "T-14", cells(verdict="앞 회차를 기억 못 함"), "expected '말투 어긋남'"
        ),
        Damage(precedence, "recall before nothing", "T-10", cells(verdict=kept), "expected '앞 회차를 기억 못 함'"),
        Damage(precedence, "out of nothing", "kept", cells(verdict="말투 어긋남"), "expected rule_observed to differ"),
        Damage(precedence, "own topic", "kept", cells(touched_topic="도박"), f"own cells: expected '{forbidden}'"),
        Damage(precedence, "own names", "kept", cells(off_canon_entities=["리안"]), f"own cells: expected '{canon}'"),
        Damage(precedence, "own target", "kept", cells(recall_target="하늘"), "own cells: expected '앞 회차를"),
        Damage(precedence, "missing", "kept", without("verdict"), f"expected '{kept}', found null"),
    ]


DAMAGES: list[Damage] = [*_shape(), *_recomputed(), *_evidence(), *_above()]
