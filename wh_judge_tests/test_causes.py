"""The cause of a change: the smallest difference that, put back, gives the old verdict again."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import assume, given, settings

from wh_judge import causes
from wh_judge.causes import MOST_CELLS, Cause, explain, judge_inputs
from wh_judge.cell_edits import cell_edits
from wh_judge.edits import Difference, Edit, Inputs, input_edits
from wh_judge.model import CharacterCard, ChatTurn, LexiconTerm
from wh_judge.rules import Lexicon
from wh_judge.rules.rule import DEFAULT_ENDINGS, Mention
from wh_judge_tests.builders import card, lexicon, turn
from wh_judge_tests.test_edits import differences


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


def test_a_turn_of_another_time_brings_its_card_where_cards_go_by_time() -> None:
    then, now = (
        turn(**TURN | {"turn_at": "2026-09-01T10:00:00+09:00"}),
        turn(**TURN | {"turn_at": "2026-09-02T10:00:00+09:00"}),
    )
    before, after = inputs(then, card(**GRUFF)), inputs(now, card(**GRUFF | {"honorific_rule": "존댓말"}))
    lexicons = (Lexicon(()), Lexicon(()))
    by_time = explain(before, after, judge_inputs(before), lexicons, card_by_time=True)
    assert (by_time.inputs, by_time.cells[0].split(":")[0]) == (("chat_turn",), "chat_turn T-5 turn_at")
    assert caused(before, after).inputs == ("character_card",)


def test_cells_that_matter_only_to_the_old_text_are_named() -> None:
    """The old text's names are in the old card alone: text and card together made the change."""
    before = inputs(turn(**TURN | {"named_entities": ["하늘"]}), card(**GRUFF | {"canon_entities": ["하늘"]}))
    after = inputs(turn(**TURN | {"named_entities": ["리안"]}), card(**GRUFF | {"canon_entities": ["바다"]}))
    cause = caused(before, after)
    assert cause.inputs == ("chat_turn", "character_card")
    assert [cell.split(" ", 2)[2] for cell in cause.cells] == [
        "named_entities: ['하늘'] -> ['리안']",
        "canon_entities: - 하늘",
    ]


def restores(chosen: Iterable[Edit], difference: Difference) -> bool:
    """Whether these edits, put back in their order, give the verdict that was."""
    changed = difference.after
    for edit in chosen:
        changed = edit.undo(changed)
    return judge_inputs(changed) == judge_inputs(difference.before)


def smallest(edits: Sequence[Edit], difference: Difference) -> int:
    """The size of the smallest set that restores, found by trying all."""
    sizes = [n for n in range(len(edits) + 1) if any(restores(c, difference) for c in combinations(edits, n))]
    return sizes[0]


@settings(max_examples=150)
@given(differences())
def test_no_smaller_set_of_inputs_or_cells_restores_the_verdict(difference: Difference) -> None:
    before, after = difference.before, difference.after
    old = judge_inputs(before)
    assume(old != judge_inputs(after))
    cause = explain(before, after, old, difference.lexicons, card_by_time=difference.card_by_time)
    whole = list(input_edits(difference))
    assert len(cause.inputs) == smallest(whole, difference)
    back = [before.turn] if "chat_turn" in cause.inputs else []
    chosen = [edit for edit in whole if edit.input in cause.inputs]
    seen = [said for said in (after.turn, *back) if said]
    cells = [cell for edit in chosen for cell in cell_edits(edit, difference, seen)]
    named = [cell for cell in cells if cell.cell in cause.cells]
    assert len(named) == len(cause.cells)
    assert restores(named, difference)
    if len(cells) <= MOST_CELLS:
        assert len(named) == smallest(cells, difference)
    assert not any(restores([cell for cell in named if cell is not left], difference) for left in named)


NAMES = [f"이름{n}" for n in range(3_000)]


@pytest.mark.parametrize(
    ("named", "cells", "most"),
    [
        (["이름7"], ["canon_entities: + 이름7"], 3),
        (NAMES[:18], [f"canon_entities: + {name}" for name in NAMES[:18]], 60),
        (NAMES, ["canon_entities: 3000 added, 0 removed"], 3),
    ],
    ids=["one matters", "as many as are tried one by one", "all matter"],
)
def test_the_search_is_short_however_many_cells_changed(
    named: list[str], cells: list[str], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[Inputs] = []

    def counted(found: Inputs) -> Any:
        judged.append(found)
        return judge_inputs(found)

    monkeypatch.setattr(causes, "judge_inputs", counted)
    said = turn(**TURN | {"named_entities": named})
    before = inputs(said, card(**GRUFF | {"canon_entities": ["하늘"]}))
    after = inputs(said, card(**GRUFF | {"canon_entities": ["하늘", *NAMES]}))
    cause = explain(before, after, judge_inputs(before), (Lexicon(()), Lexicon(())))
    assert [cell.split(" ", 2)[2] for cell in cause.cells] == cells
    assert len(judged) <= most
