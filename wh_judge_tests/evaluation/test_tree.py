"""The evidence tree: which checks apply, what they ask, and that it leads to the verdict of the judge."""

from typing import Any

import pytest
from hypothesis import given

from wh_judge.evaluation.questions import Question
from wh_judge.evaluation.tree import Check, EvidenceTree, evidence_tree
from wh_judge.model import ChatTurn
from wh_judge.rules import RULES, Case, Lexicon, first_mentions, judge_turn
from wh_judge_tests.builders import Rows, card, lexicon, turn
from wh_judge_tests.strategies import rows as logs

TERMS = lexicon(("내기", "놀이"), ("선거", "현실 정치"))
ASKS: dict[str, Any] = {"session_id": "S-1", "user_message": "내 동생 이름 기억나?", "user_asked_recall": True}
EARLIER = turn("T-1", session_id="S-1", reply_text="하늘이는 여기 있어.", named_entities=["하늘"])


def grown(row: ChatTurn, *earlier: ChatTurn, **cells: Any) -> EvidenceTree:
    return evidence_tree(Case(row, card(row.character_id, **cells), Lexicon(TERMS), first_mentions([*earlier, row])))


def check(tree: EvidenceTree, code: str) -> Check:
    [found] = [entry for entry in tree.checks if entry.code == code]
    return found


def asked(tree: EvidenceTree, code: str, question: str) -> list[Question]:
    return [entry for entry in check(tree, code).questions if entry.code == question]


def test_checks_stand_in_the_order_of_the_rules() -> None:
    assert [entry.code for entry in grown(turn("T-2")).checks] == [rule.code for rule in RULES[:-1]]


def test_the_verdict_stands_on_top_with_the_check_that_decided() -> None:
    tree = grown(turn("T-2", reply_text="선거 얘기야."))
    assert (tree.verdict, [entry.code for entry in tree.checks if entry.decided]) == ("금지 소재 접촉", ["forbidden"])


def test_each_sentence_is_asked_for_its_last_word_and_ending() -> None:
    questions = asked(grown(turn("T-2", reply_text="저는 그래요. 쉬어!  ")), "speech", "sentence")
    assert [(entry.answer, entry.detail) for entry in questions] == [
        ("그래요", "공손한 어미 「요」"),
        ("쉬어", "공손한 어미 없음"),
    ]


def test_each_name_is_in_the_card_or_not() -> None:
    questions = asked(grown(turn("T-2", named_entities=["하늘", "리안", "하늘"])), "canon", "name")
    assert [(entry.answer, entry.score) for entry in questions] == [(True, 1.0), (False, 0.0)]


def test_each_lexicon_row_is_forbidden_or_not() -> None:
    tree = grown(turn("T-2", reply_text="내기다. 선거다."))
    questions = asked(tree, "forbidden", "term")
    assert [(entry.answer, entry.score) for entry in questions] == [(False, 1.0), (True, 0.0)]
    assert check(tree, "forbidden").score == 0


def test_recall_asks_for_role_person_first_mention_and_reply() -> None:
    tree = grown(turn("T-2", reply_text="글쎄.", **ASKS), EARLIER)
    found = {entry.code: entry.answer for entry in check(tree, "recall").questions}
    assert found == {
        "reply": True,
        "asked": True,
        "roles": ["동생"],
        "who": "하늘",
        "first_named": "T-1",
        "named": False,
    }


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        ({"reply_text": None}, "forbidden"),
        ({"named_entities": None}, "canon"),
        ({"reply_text": "…", "first_person": None}, "speech"),
        ({"user_asked_recall": None}, "recall"),
        ({"user_asked_recall": False}, "recall"),
        ({"user_asked_recall": True, "user_message": None}, "recall"),
        ({"user_asked_recall": True, "user_message": "밥은?"}, "recall"),
        (ASKS, "recall"),
        (ASKS | {"reply_text": " "}, "recall"),
    ],
)
def test_what_cannot_be_compared_does_not_apply_and_says_why(cells: dict[str, Any], code: str) -> None:
    found = check(grown(turn("T-2", **cells)), code)
    assert (found.applies, found.score) == (False, None)
    assert found.why.endswith(("습니다.", "없었습니다."))


def test_reasons_of_recall_differ() -> None:
    cells: list[dict[str, Any]] = [{}, {"user_asked_recall": None}, ASKS, ASKS | {"user_message": "밥은?"}]
    assert len({check(grown(turn("T-2", **entry)), "recall").why for entry in cells}) == len(cells)


def test_a_card_that_forbids_nothing_is_passed_over() -> None:
    assert not check(grown(turn("T-2"), forbidden_topics=[]), "forbidden").applies


def test_what_does_not_apply_is_left_out_of_the_score() -> None:
    tree = grown(turn("T-2", reply_text="검을 잡으세요.", first_person="나"))
    assert [entry.score for entry in tree.checks] == [1.0, 1.0, 0.5, None]
    assert tree.score == pytest.approx(2.5 / 3)


def test_a_turn_with_nothing_to_compare_has_no_score() -> None:
    tree = grown(turn("T-2", reply_text=None, named_entities=None, first_person=None))
    assert tree.score is None
    assert tree.verdict == "설정대로 말함"


def test_the_validator_agrees_with_the_judge() -> None:
    validator = grown(turn("T-2", reply_text="글쎄.", **ASKS), EARLIER).validator
    assert validator.agrees
    assert all(claim.agrees for claim in validator.claims)
    assert {outcome.outcome for outcome in validator.validations} == {"passed", "not applicable"}


def test_the_validator_names_the_cell_that_does_not_follow() -> None:
    case = Case(turn("T-2", named_entities=["리안"]), card("C-1"), Lexicon(TERMS))
    stored = judge_turn(case)[0].model_copy(update={"off_canon_entities": []})
    validator = evidence_tree(case, stored).validator
    assert not validator.agrees
    assert [claim.cell for claim in validator.claims if not claim.agrees] == ["off_canon_entities"]
    assert "v04_off_canon_recomputed" in [entry.code for entry in validator.validations if entry.outcome == "failed"]


def test_the_validator_sees_a_verdict_that_the_answers_do_not_give() -> None:
    case = Case(turn("T-2"), card("C-1"), Lexicon(TERMS))
    stored = judge_turn(case)[0].model_copy(update={"verdict": "말투 어긋남"})
    validator = evidence_tree(case, stored).validator
    assert (validator.from_answers, validator.agrees) == ("설정대로 말함", False)


def test_a_verdict_of_another_turn_is_refused() -> None:
    case = Case(turn("T-2"), card("C-1"), Lexicon(TERMS))
    with pytest.raises(ValueError, match="T-3"):
        evidence_tree(case, judge_turn(case)[0].model_copy(update={"turn_id": "T-3"}))


def test_evidence_knows_the_rows_it_cites() -> None:
    tree = grown(turn("T-2", reply_text="내기다. 선거다.", **ASKS), EARLIER)
    keys = {row.key for entry in tree.checks for question in entry.questions for row in question.evidence}
    assert keys == {"T-1", "T-2", "C-1", "0", "1"}


@given(logs())
def test_the_answers_lead_to_the_verdict_on_any_log(rows: Rows) -> None:
    cards = {row.character_id: row for row in rows.cards}
    terms, mentions = Lexicon(rows.lexicon), first_mentions(rows.turns)
    for row in rows.turns:
        if row.character_id not in cards:
            continue
        tree = evidence_tree(Case(row, cards[row.character_id], terms, mentions, rows.settings))
        assert tree.validator.from_answers == tree.verdict
        assert tree.validator.agrees, tree.validator
        assert all((entry.score is None) == (not entry.applies) for entry in tree.checks)
        scores = [q.score for entry in tree.checks for q in entry.questions if q.score is not None]
        assert all(0 <= score <= 1 for score in scores)
