"""How a log is cut so that its verdicts have room."""

from unittest.mock import patch

import pyarrow as pa
import pytest

from wh_judge import judge as kernel
from wh_judge.judge import judge
from wh_judge.model import CARD_SCHEMA, LEXICON_SCHEMA, MENTION_SCHEMA, TURN_SCHEMA, ChatTurn
from wh_judge.portions import portions
from wh_judge_tests.builders import STATE, card, turn

NOBODY = MENTION_SCHEMA.empty_table()
ASKS = {"user_asked_recall": True, "user_message": "", "reply_text": "몰라", "named_entities": []}


def table(*turns: ChatTurn) -> pa.Table:
    return pa.Table.from_pylist([row.model_dump() for row in turns], TURN_SCHEMA)


def cut(rows: pa.Table, earlier: pa.Table = NOBODY, *, most: int = 100, weight: int = 1_000_000) -> list[list[str]]:
    """The turns of each piece."""
    return [piece["turn_id"].to_pylist() for piece in portions(rows, earlier, most, weight)]


def asking(number: int, session: str = "S-1") -> ChatTurn:
    return turn(f"T-{number}", session_id=session, **ASKS)


def test_by_rows() -> None:
    rows = table(*(turn(f"T-{number}") for number in range(5)))
    assert cut(rows, most=2) == [["T-0", "T-1"], ["T-2", "T-3"], ["T-4"]]


def test_no_turn_is_one_piece() -> None:
    assert cut(table()) == [[]]


def test_by_what_the_turns_hold_themselves() -> None:
    rows = table(*(turn(f"T-{number}", reply_text="x" * 60, user_message=None) for number in range(3)))
    assert cut(rows, weight=120) == [["T-0", "T-1"], ["T-2"]]


def test_a_turn_that_is_too_large_stands_alone() -> None:
    rows = table(*(turn(f"T-{number}", reply_text=text) for number, text in enumerate(("a", "x" * 999, "b"))))
    assert cut(rows, weight=300) == [["T-0"], ["T-1"], ["T-2"]]


def test_by_the_reply_that_may_be_cited() -> None:
    """What nobody is named in is not cited, and neither is what stands in another session."""
    long, other = "x" * 100, turn("T-9", session_id="S-2", reply_text="y" * 9_000, named_entities=["하늘"])
    rows = table(turn("T-1", session_id="S-1", reply_text=long, named_entities=["하늘"]), asking(2), asking(3), other)
    assert cut(rows, weight=9_500) == [["T-1", "T-2", "T-3", "T-9"]]
    rows = table(asking(2), asking(3), asking(4, "S-3"))
    source = {"session_id": "S-1", "entity": "하늘", "turn_id": "T-1", "reply_text": long}
    assert cut(rows, pa.Table.from_pylist([source], MENTION_SCHEMA), weight=120) == [["T-2"], ["T-3", "T-4"]]
    assert cut(rows, weight=120) == [["T-2", "T-3", "T-4"]]


@pytest.mark.parametrize(("rows", "weight"), [(3, 10**9), (10**6, 1), (2, 200)])
def test_the_verdicts_are_those_of_the_whole(rows: int, weight: int) -> None:
    """Also where a turn asks in another piece than the one that named."""
    cards = pa.Table.from_pylist([row.model_dump() for row in STATE.cards], CARD_SCHEMA)
    terms = pa.Table.from_pylist([row.model_dump() for row in STATE.lexicon], LEXICON_SCHEMA)
    whole = judge(table(*STATE.turns), cards, terms)
    with patch.object(kernel, "PIECE_ROWS", rows), patch.object(kernel, "PIECE_BYTES", weight):
        assert judge(table(*STATE.turns), cards, terms) == whole


def test_a_piece_without_a_verdict() -> None:
    cards = pa.Table.from_pylist([card("C-1").model_dump()], CARD_SCHEMA)
    rows = table(*(turn(f"T-{number}", character_id=f"C-{number}") for number in range(3)))
    with patch.object(kernel, "PIECE_ROWS", 1):
        judgement = judge(rows, cards, LEXICON_SCHEMA.empty_table())
    assert judgement.verdicts["turn_id"].to_pylist() == ["T-1"]
    assert judgement.unjudged["turn_id"].to_pylist() == ["T-0", "T-2"]
