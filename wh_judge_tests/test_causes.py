"""The cause of a change: the smallest difference that, put back, gives the old verdict again."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from wh_judge.causes import Cause, Inputs, explain, judge_inputs
from wh_judge.model import CharacterCard, ChatTurn, LexiconTerm
from wh_judge.rules import Lexicon
from wh_judge.rules.rule import DEFAULT_ENDINGS, Mention
from wh_judge_tests.builders import card, lexicon, turn


def inputs(
    turn_: ChatTurn | None,
    card_: CharacterCard | None,
    rows: Sequence[LexiconTerm] = (),
    mentions: dict[str, Mention] | None = None,
    endings: tuple[str, ...] = DEFAULT_ENDINGS,
) -> Inputs:
    """Inputs as the warehouse knows them: of the lexicon only the rows that hit the reply."""
    reply = (turn_.reply_text if turn_ else None) or ""
    hits = tuple(row for row in rows if row.term in reply)
    return Inputs(turn_, card_, hits, endings, mentions or {})


def caused(
    before: Inputs, after: Inputs, rows: tuple[Sequence[LexiconTerm], Sequence[LexiconTerm]] = ((), ())
) -> Cause:
    """The cause of what `before` gives turning into what `after` gives."""
    old = judge_inputs(before)
    assert old != judge_inputs(after), "nothing changed, so nothing could be explained"
    return explain(before, after, old, (Lexicon(rows[0]), Lexicon(rows[1])))


GRUFF: dict[str, Any] = {
    "character_id": "C-1",
    "honorific_rule": "반말",
    "first_person": "나",
    "canon_entities": ["검술원"],
}
TURN: dict[str, Any] = {
    "turn_id": "T-5",
    "reply_text": "검술원으로 가자.",
    "first_person": "나",
    "named_entities": ["검술원"],
}


@pytest.mark.parametrize(
    ("was", "now", "said", "cell"),
    [
        ({"canon_entities": []}, GRUFF, TURN, "canon_entities: + 검술원"),
        (GRUFF, {"canon_entities": ["하늘"]}, TURN, "canon_entities: - 검술원"),
        ({"honorific_rule": "존댓말"}, GRUFF, TURN, "honorific_rule: 존댓말 -> 반말"),
        ({"honorific_rule": None}, GRUFF, TURN | {"reply_text": "가요."}, "honorific_rule: null -> 반말"),
        ({"first_person": "저"}, GRUFF, TURN, "first_person: 저 -> 나"),
    ],
)
def test_a_cell_of_the_card_is_named(was: dict[str, Any], now: dict[str, Any], said: dict[str, Any], cell: str) -> None:
    said_turn = turn(**said)
    before, after = card(**GRUFF | was), card(**GRUFF | now)
    cause = caused(inputs(said_turn, before), inputs(said_turn, after))
    assert cause.inputs == ("character_card",)
    assert [text.split(" ", 2)[2] for text in cause.cells] == [cell]


def test_what_did_not_matter_is_not_named() -> None:
    said = turn(**TURN)
    before = card(**GRUFF | {"canon_entities": ["하늘"], "forbidden_topics": ["도박"]})
    after = card(**GRUFF | {"canon_entities": ["검술원", "리안"], "forbidden_topics": []})
    cause = caused(inputs(said, before), inputs(said, after))
    assert [text.split(" ", 2)[2] for text in cause.cells] == ["canon_entities: + 검술원"]


def test_two_cells_are_named_where_neither_alone_is_enough() -> None:
    said = turn(**TURN | {"named_entities": ["검술원", "하늘"]})
    before = card(**GRUFF | {"canon_entities": ["검술원", "하늘"]})
    after = card(**GRUFF | {"canon_entities": []})
    cause = caused(inputs(said, before), inputs(said, after))
    assert [text.split(": ")[1] for text in cause.cells] == ["- 검술원", "- 하늘"]


@pytest.mark.parametrize(
    ("was", "now", "cell"),
    [
        ((), (("선거", "현실 정치"),), "topic_lexicon: + 선거 -> 현실 정치"),
        ((("선거", "현실 정치"),), (), "topic_lexicon: - 선거 -> 현실 정치"),
        (
            (("선거", "현실 정치"), ("바깥", "현실 정치")),
            (("바깥", "현실 정치"), ("선거", "현실 정치")),
            "topic_lexicon: rows in another order",
        ),
    ],
)
def test_a_row_of_the_lexicon_is_named(was: Any, now: Any, cell: str) -> None:
    said, by = turn(**TURN | {"reply_text": "바깥 선거 얘기야."}), card(**GRUFF | {"forbidden_topics": ["현실 정치"]})
    old, new = lexicon(*was), lexicon(*now)
    cause = caused(inputs(said, by, old), inputs(said, by, new), (old, new))
    assert cause == (("topic_lexicon",), (cell,))


def test_an_ending_is_named() -> None:
    said, by = turn(**TURN | {"reply_text": "어디로 갑니까?"}), card(**GRUFF)
    before, after = inputs(said, by), inputs(said, by, endings=(*DEFAULT_ENDINGS, "니까"))
    assert caused(before, after) == (("endings",), ("endings: + 니까",))


def test_the_turns_own_text_is_named() -> None:
    by = card(**GRUFF)
    before, after = inputs(turn(**TURN), by), inputs(turn(**TURN | {"reply_text": "검술원으로 가요."}), by)
    cause = caused(before, after)
    assert cause.inputs == ("chat_turn",)
    assert cause.cells[0].endswith("reply_text: 검술원으로 가자. -> 검술원으로 가요.")


def test_a_text_that_is_put_back_meets_the_lexicon_of_now() -> None:
    """The old text holds a term that only the new lexicon has: text and lexicon together made the change."""
    by = card(**GRUFF | {"forbidden_topics": ["현실 정치"]})
    old, new = lexicon(), lexicon(("선거", "현실 정치"), ("국회", "현실 정치"))
    before = inputs(turn(**TURN | {"reply_text": "선거 얘기야."}), by, old)
    after = inputs(turn(**TURN | {"reply_text": "국회 얘기야."}), by, new)
    assert caused(before, after, (old, new)).inputs == ("topic_lexicon",)


def test_a_name_in_an_earlier_turn_is_named() -> None:
    asked = turn(
        turn_id="T-9", user_message="동생 이름 기억나?", user_asked_recall=True, reply_text="글쎄.", first_person="나",
        named_entities=[],
    )  # fmt: skip
    by = card(**GRUFF | {"canon_entities": ["하늘"], "entity_roles": [{"role": "동생", "entity": "하늘"}]})
    before, after = inputs(asked, by), inputs(asked, by, mentions={"하늘": Mention("T-2", None)})
    assert caused(before, after) == (("mention",), ("named_entities of an earlier turn: + 하늘, chat_turn T-2",))


def test_a_card_that_came_is_named() -> None:
    said, by = turn(**TURN), card(**GRUFF)
    cause = caused(inputs(said, None), inputs(said, by))
    assert cause == (("character_card",), (f"character_card {by.character_id}: + card",))


def test_a_turn_that_is_gone_is_named() -> None:
    said, by = turn(**TURN), card(**GRUFF)
    cause = caused(inputs(said, by), replace(inputs(said, by), turn=None))
    assert cause == (("chat_turn",), (f"chat_turn {said.turn_id}: - turn",))


def test_the_code_is_named_where_no_input_differs() -> None:
    same = inputs(turn(**TURN), card(**GRUFF))
    old = (*("말투 어긋남",), *judge_inputs(same)[1:])  # type: ignore[index]
    cause = explain(same, same, old, (Lexicon(()), Lexicon(())), code=("aaa", "bbb"))
    assert cause == (("code",), ("code: aaa -> bbb",))


def test_an_input_is_named_before_the_code() -> None:
    said = turn(**TURN)
    before, after = inputs(said, card(**GRUFF)), inputs(said, card(**GRUFF | {"canon_entities": []}))
    cause = explain(before, after, judge_inputs(before), (Lexicon(()), Lexicon(())), code=("aaa", "bbb"))
    assert cause.inputs == ("character_card",)
