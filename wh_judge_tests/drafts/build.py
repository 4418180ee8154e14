"""Verdicts to draft for, with the log that responses are held against."""

import json
from typing import Any

from wh_judge.drafts.gate import Weighed, weigh
from wh_judge.model import ChatTurn, Verdict, verdict_document
from wh_judge.rules import Case, Lexicon, first_mentions, judge_turn
from wh_judge.rules.rule import Example, example
from wh_judge.store.drafts import DraftCase
from wh_judge.validations import Log

EARLIER = ({"turn_id": "T-1", "reply_text": "하늘이는 검술원에 있어.", "named_entities": ["하늘"]},)

EXAMPLES = {
    "설정대로 말함": example({"reply_text": "검을 잡아. 오늘은 손목부터 본다."}, {}),
    "말투 어긋남": example({"reply_text": "저는 그렇게 생각해요.", "first_person": "저"}, {}),
    "세계관 밖 고유명사": example({"reply_text": "학장 리안이 부르셔.", "named_entities": ["리안"]}, {}),
    "금지 소재 접촉": example({"reply_text": "요즘 선거 얘기뿐이더군."}, {}, [("선거", "현실 정치")]),
    "앞 회차를 기억 못 함": example(
        {"reply_text": "글쎄, 몰라.", "user_message": "내 동생 기억나?", "user_asked_recall": True}, {}, (), EARLIER
    ),
}
"""One turn for each verdict."""


def case(name: str = "말투 어긋남", **turn: Any) -> DraftCase:
    """The rule's verdict on the example of that verdict, with cells of its turn changed."""
    chosen = EXAMPLES[name]
    return case_of(Example(chosen.turn.model_copy(update=turn), chosen.card, chosen.lexicon, chosen.earlier))


def case_of(chosen: Example) -> DraftCase:
    """The rule's verdict on an example."""
    turns: list[ChatTurn] = [*chosen.earlier, chosen.turn]
    mentions, lexicon = first_mentions(turns), Lexicon(chosen.lexicon)
    verdict, _ = judge_turn(Case(chosen.turn, chosen.card, lexicon, mentions))
    return DraftCase(verdict, f"hash of {verdict.turn_id}", Log.of(turns, [chosen.card], chosen.lexicon))


def response(verdict: Verdict, /, **changes: Any) -> dict[str, Any]:
    """The verdict as a model would give it back, with fields changed."""
    return verdict_document(verdict) | changes


def weighed(of: DraftCase, /, **changes: Any) -> Weighed:
    """What becomes of that response."""
    return weigh(json.dumps(response(of.verdict, **changes), ensure_ascii=False), of.verdict, of.log)


def codes(of: Weighed) -> list[str]:
    return [reason.code for reason in of.reasons]
