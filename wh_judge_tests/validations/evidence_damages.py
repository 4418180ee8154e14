"""Damages to the evidence of one sound claim of `STATE`, by the validation that must name it."""

from unicodedata import normalize

from wh_judge_tests.validations.damage import Table, cells, cited, each, junk, row, row_without

_DECOMPOSED = normalize("NFD", "반말")
_OTHER_REPLY = "검을 잡아. 오늘은 손목부터 본다."

EVIDENCE_DAMAGES: Table = {
    "v08_evidence_field": [
        ("an invented column", "kept", row(0, field="mood"), "a column of 'chat_turn', found field 'mood'"),
        ("another table's column", "kept", row(1, field="reply_text"), "a column of 'character_card', found field"),
        ("an invented table", "forbidden", row(1, source="topics"), "a column of 'topics', found field 'term'"),
        (
            "no field",
            "kept",
            row_without(0, "field"),
            "evidence[0]: expected a column of 'chat_turn', found field null",
        ),
        ("no object", "canon", junk("reply_text"), "evidence[5]: expected an object that cites a cell, found 'reply"),
    ],
    "v09_evidence_value": [
        ("a text cut short", "kept", row(0, value="검을 잡아."), "expected '검을 잡아. 오늘은"),
        ("a decomposed text", "kept", row(1, value=_DECOMPOSED), "only in Unicode normal form"),
        ("a text for null", "person null", row(2, value="나"), "expected null, found '나'"),
        ("null for a text", "kept", row(2, value=None), "expected '나', found null"),
        ("no value", "kept", row_without(0, "value"), "expected a value, found none"),
        ("1 for true", "T-10", row(0, value=1), "expected true, found 1"),
        ("a text for true", "T-10", row(0, value="true"), "expected true, found 'true'"),
        ("false for null", "flag null", row(4, value=False), "expected null, found false"),
        ("no element", "canon", row(1, value="하늘이"), "expected one of the 3 elements, found '하늘이'"),
        ("the whole list", "canon", row(2, value=["검술원", "하늘"]), "expected one of the 2 elements, found ['검"),
        ("null for a list", "canon", row(2, value=None), "expected one of the 2 elements, found null"),
        ("a role that is none", "T-10", row(2, value="형"), "expected one of the 2 elements, found '형'"),
        ("another count", "canon", row(3, value=3), "canon_entities count: expected 2, found 3"),
        ("a count as text", "canon", row(3, value="2"), "expected 2, found '2'"),
        ("true for 1", "T-12", cited("chat_turn", "named_entities", True, agg="count"), "expected 1, found true"),
        ("a count of null", "names null", row(4, agg="count", value=0), "found agg 'count'"),
        ("a count of a text", "kept", row(0, agg="count", value=1), "found agg 'count'"),
        ("a sum of names", "canon", row(3, agg="sum"), "found agg 'sum'"),
        ("a wrong instant", "kept", cited("chat_turn", "turn_at", "2026-09-02T10:00:01+09:00"), "found '2026"),
        ("no offset", "kept", cited("chat_turn", "turn_at", "2026-09-02T10:00:00"), "10:00:00+09:00', found '2026"),
        ("no instant", "kept", cited("chat_turn", "turn_at", "아침"), "found '아침'"),
        ("another turn", "level", row_without(0, "key", value=_OTHER_REPLY), "found '검을 잡아."),
        ("another turn's key", "level", row(0, key="kept", value=_OTHER_REPLY), "may cite, found 'kept'"),
        ("another card's key", "kept", row(1, key="C-3"), "may cite, found 'C-3'"),
        ("a key that is no text", "kept", row(1, key=1), "may cite, found 1"),
        ("the other citable turn", "T-10", row(4, key="T-10"), "expected 'T-10', found 'T-9'"),
        ("a later source", "T-10", cells(recall_source_turn="T-12"), "may cite, found 'T-9'"),
        ("no source", "T-10", cells(recall_source_turn=None), "may cite, found 'T-9'"),
        ("another row's topic", "forbidden", row_without(2, "key", value="도박"), "term '선거', found '도박'"),
        ("another row's term", "forbidden", row_without(1, "key", value="국회"), "term '선거', found '국회'"),
        ("the term's other row", "second topic", row(1, key="1"), "term '주사위', found '도박'"),
        ("no key of the lexicon", "forbidden", row(1, key="02"), "term '선거', found '선거'"),
        (
            "two rows of one term",
            "second topic",
            each(row_without(2, "key", value="놀이"), row_without(1, "key"), cited("topic_lexicon", "topic", "도박")),
            "term '주사위', found '도박'",
        ),
        ("no row of the lexicon", "kept", cited("topic_lexicon", "term", "검"), "a cell of the lexicon, found '검'"),
        (
            "the key of another row",
            "kept",
            cited("topic_lexicon", "term", "선거", key="3"),
            "expected '국회', found '선거'",
        ),
        (
            "a key past the end",
            "kept",
            cited("topic_lexicon", "term", "선거", key="5"),
            "a row of the lexicon, found '5'",
        ),
        ("no text of it", "kept", cited("topic_lexicon", "term", ["선거"]), "expected a text, found ['선거']"),
        ("a count of it", "kept", cited("topic_lexicon", "term", 5, agg="count"), "found agg 'count'"),
    ],
}
