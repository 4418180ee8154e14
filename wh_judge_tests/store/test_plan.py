"""Which turns an edit touches: exactly those whose verdict it can change."""

from collections.abc import Callable, Sequence
from typing import Any

import duckdb
import pytest

from wh_judge.model import LexiconTerm
from wh_judge.rules import RuleSettings
from wh_judge.store import plan
from wh_judge.store.log_files import ingest_log
from wh_judge.store.plan import changed_terms, plan_day
from wh_judge_tests.builders import card, lexicon, turn
from wh_judge_tests.house import (
    ASKS,
    CARDS,
    DAY_1,
    DAY_2,
    DAY_3,
    DAYS,
    LEXICON,
    LOG,
    VERDICTS,
    House,
    Line,
    at,
    rows,
)

Connection = duckdb.DuckDBPyConnection


def touched(connection: Connection, house: House) -> dict[int, list[str]]:
    """The turns that are planned to be judged again, by day of the month; days without any are left out."""
    found = {}
    for day in DAYS:
        planned = plan_day(connection, day, house.settings.rules)
        turn_ids = [
            turn_id for (turn_id,) in rows(connection, "SELECT turn_id FROM touched ORDER BY length(turn_id), 1")
        ]
        assert planned.touched == len(turn_ids) == len(set(turn_ids))
        if turn_ids:
            found[day.day] = turn_ids
    return found


def gone(connection: Connection, house: House, day: Any) -> list[str]:
    plan_day(connection, day, house.settings.rules)
    return [turn_id for (turn_id,) in rows(connection, "SELECT turn_id FROM gone ORDER BY 1")]


def replaced(lines: Sequence[Line], *new: Line) -> list[Line]:
    """The lines, with these in the place of those of the same turns, and those that are new behind them."""
    by_id = {line.turn_id: line for line in new if not isinstance(line, str | dict)}
    old = [by_id.pop(line.turn_id, line) if not isinstance(line, str | dict) else line for line in lines]
    return [*old, *by_id.values()]


def correct(connection: Connection, house: House, day: int, *new: Line) -> None:
    """These turns in the place of those of the same turns in the day's file."""
    house.log(str(DAYS[day - 1]), *replaced(LOG[day - 1], *new))
    ingest_log(connection, house.turns)


def test_a_new_day_is_touched_whole(new_house: House) -> None:
    with new_house.warehouse() as connection:
        new_house.bring_in(connection)
        assert touched(connection, new_house)[1] == ["T-1", "T-2", "T-3", "T-4", "T-5"]


def test_where_nothing_changed_nothing_is_touched(warehouse: Connection, house: House) -> None:
    house.bring_in(warehouse)
    assert touched(warehouse, house) == {}


@pytest.mark.parametrize(
    ("character", "expected"),
    [
        ("C-2", {1: ["T-3"], 2: ["T-9"]}),
        ("C-3", {3: ["T-14", "T-15"]}),
    ],
)
def test_a_card_touches_its_character_s_turns(
    character: str, expected: object, warehouse: Connection, house: House
) -> None:
    house.cards(*(c.model_copy(update={"first_person": "이몸"} if c.character_id == character else {}) for c in CARDS))
    house.bring_in(warehouse)
    assert touched(warehouse, house) == expected


def test_a_card_that_came_touches_the_turns_that_had_none(warehouse: Connection, house: House) -> None:
    house.cards(*CARDS, card("C-9"))
    house.bring_in(warehouse)
    assert touched(warehouse, house) == {1: ["T-5"]}


def test_a_card_that_is_gone_touches_its_character_s_turns(warehouse: Connection, house: House) -> None:
    house.cards(*CARDS[:2])
    house.bring_in(warehouse)
    assert touched(warehouse, house) == {3: ["T-14", "T-15"]}


@pytest.mark.parametrize(
    ("rows_now", "expected"),
    [
        ((*LEXICON, ("시끄럽", "도박")), {2: ["T-7"]}),
        ((*LEXICON, ("아무도 안 쓰는 말", "도박")), {}),
        (LEXICON[:2], {3: ["T-18"]}),
        ((LEXICON[0], ("선거", "행사"), LEXICON[2]), {2: ["T-7"], 3: ["T-15"]}),
        ((LEXICON[2], LEXICON[1], LEXICON[0]), {3: ["T-18"]}),
        ((LEXICON[0], LEXICON[0], *LEXICON[1:]), {}),
    ],
    ids=["added", "added and nowhere said", "removed", "another topic", "change places", "the same row twice"],
)
def test_a_lexicon_row_touches_the_replies_that_hold_its_term(
    rows_now: Sequence[tuple[str, str]], expected: object, warehouse: Connection, house: House
) -> None:
    house.lexicon(*rows_now)
    house.bring_in(warehouse)
    assert touched(warehouse, house) == expected


A, B, C, D = lexicon(("a", "1"), ("b", "1"), ("c", "1"), ("d", "1"))


@pytest.mark.parametrize(
    ("before", "now", "terms"),
    [
        ([A, B], [A, B], []),
        ([A, B], [B, A], ["a", "b"]),
        ([A, B, C], [A, C], ["b"]),
        ([A, C], [A, B, C], ["b"]),
        ([A, B, C], [C, A, B], ["a", "b", "c"]),
        ([A, B, C], [D, B, A], ["a", "b", "c", "d"]),
        ([], [A], ["a"]),
    ],
)
def test_terms_whose_rows_changed(before: list[LexiconTerm], now: list[LexiconTerm], terms: list[str]) -> None:
    assert changed_terms(before, now) == terms


def test_other_endings_touch_everything(warehouse: Connection, house: House) -> None:
    house.options["endings"] = RuleSettings().endings[:-1]
    assert {turn_id for turn_ids in touched(warehouse, house).values() for turn_id in turn_ids} == set(VERDICTS)


def test_other_code_touches_everything(warehouse: Connection, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "rules_version", lambda: "other")
    assert {turn_id for turn_ids in touched(warehouse, house).values() for turn_id in turn_ids} == set(VERDICTS)


def test_a_corrected_turn_touches_itself(warehouse: Connection, house: House) -> None:
    correct(warehouse, house, 3, turn("T-17", turn_at=at(3, 17), reply_text="고쳤다."))
    assert touched(warehouse, house) == {3: ["T-17"]}


def test_a_turn_corrected_in_another_file_touches_itself(warehouse: Connection, house: House) -> None:
    house.log("later", turn("T-17", turn_at=at(3, 17), reply_text="고쳤다."))
    ingest_log(warehouse, house.turns)
    assert touched(warehouse, house) == {3: ["T-17"]}


def test_a_corrected_turn_touches_the_turns_of_other_days_that_ask_in_its_session(
    warehouse: Connection, house: House
) -> None:
    correct(warehouse, house, 1, turn("T-4", turn_at=at(1, 4), session_id="S-recall", named_entities=["리안"]))
    assert touched(warehouse, house)[1] == ["T-4"]
    assert "T-6" in touched(warehouse, house)[2]


def same_day(connection: Connection, house: House) -> None:
    """A day whose turn T-20 is named in, whose turn T-21 asks in the same session and T-22 in another."""
    said = turn("T-20", turn_at=at(3, 20), session_id="S-20", named_entities=["하늘"])
    asks = [turn(f"T-{n}", turn_at=at(3, n), session_id=f"S-{n - 1}", **ASKS) for n in (21, 22)]
    silent = turn("T-23", turn_at=at(3, 23), session_id="S-20")
    house.log("more", said, *asks, silent)
    ingest_log(connection, house.turns)
    assert house.judge(connection, DAY_3).committed
    assert touched(connection, house) == {}


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (lambda line: line.model_copy(update={"named_entities": []}), ["T-20", "T-21"]),
        (lambda line: line.model_copy(update={"reply_text": "하늘?"}), ["T-20", "T-21"]),
        (lambda line: line.model_copy(update={"session_id": "S-other"}), ["T-20", "T-21"]),
        (lambda line: line.model_copy(update={"session_id": "S-21"}), ["T-20", "T-21", "T-22"]),
        (lambda line: None, ["T-21"]),
    ],
    ids=["names nobody", "says something else", "leaves the session", "goes to another session", "is taken away"],
)
def test_a_corrected_turn_touches_the_turns_of_its_day_that_ask_in_its_session(
    edit: Callable[[Any], Any], expected: list[str], warehouse: Connection, house: House
) -> None:
    same_day(warehouse, house)
    lines = [turn("T-20", turn_at=at(3, 20), session_id="S-20", named_entities=["하늘"])]
    asks = [turn(f"T-{n}", turn_at=at(3, n), session_id=f"S-{n - 1}", **ASKS) for n in (21, 22)]
    silent = turn("T-23", turn_at=at(3, 23), session_id="S-20")
    house.log("more", *filter(None, map(edit, lines)), *asks, silent)
    ingest_log(warehouse, house.turns)
    assert touched(warehouse, house) == {3: expected}


def test_a_turn_without_a_card_touches_itself_and_who_asks_in_its_session(warehouse: Connection, house: House) -> None:
    silent = turn("T-20", turn_at=at(1, 20), session_id="S-20", character_id="C-9")
    asking = turn("T-21", turn_at=at(1, 21), session_id="S-20", **ASKS)
    house.log("more", silent, asking)
    ingest_log(warehouse, house.turns)
    house.judge(warehouse, DAY_1)
    assert touched(warehouse, house) == {}
    house.log("more", silent.model_copy(update={"named_entities": ["하늘"]}), asking)
    ingest_log(warehouse, house.turns)
    assert touched(warehouse, house) == {1: ["T-20", "T-21"]}


def test_a_turn_that_is_gone_touches_nothing_and_is_gone(warehouse: Connection, house: House) -> None:
    house.log(str(DAY_3), *LOG.day_3[:-1])
    ingest_log(warehouse, house.turns)
    assert touched(warehouse, house) == {}
    assert gone(warehouse, house, DAY_3) == ["T-18"]


@pytest.mark.parametrize("order", [(DAY_1, DAY_3), (DAY_3, DAY_1)], ids=["old day first", "new day first"])
def test_a_turn_that_moves_to_another_day_is_touched_there_and_gone_here(
    order: Sequence[Any], warehouse: Connection, house: House
) -> None:
    correct(warehouse, house, 1, turn("T-1", turn_at=at(3, 1), prompt_id="P-1"))
    assert touched(warehouse, house) == {3: ["T-1"]}
    assert gone(warehouse, house, DAY_1) == ["T-1"]
    for day in order:
        assert house.judge(warehouse, day).committed
    assert touched(warehouse, house) == {}
    assert rows(warehouse, "SELECT day FROM verdict WHERE turn_id = 'T-1'") == [(DAY_3,)]


def test_a_turn_that_moves_back_before_its_first_day_was_judged_again_is_touched_there(
    warehouse: Connection, house: House
) -> None:
    correct(warehouse, house, 1, turn("T-1", turn_at=at(3, 1), prompt_id="P-1"))
    assert house.judge(warehouse, DAY_3).committed
    correct(warehouse, house, 1)
    assert house.stale(warehouse) == [DAY_1, DAY_3]
    assert touched(warehouse, house) == {1: ["T-1"]}
    for day in (DAY_3, DAY_1):
        assert house.judge(warehouse, day).committed
    assert rows(warehouse, "SELECT day FROM verdict WHERE turn_id = 'T-1'") == [(DAY_1,)]


def test_a_failed_day_is_touched_again(warehouse: Connection, house: House) -> None:
    house.cards(*(c.model_copy(update={"first_person": "이몸"} if c.character_id == "C-2" else {}) for c in CARDS))
    house.bring_in(warehouse)
    assert not house.judge(warehouse, DAY_2, sound=False).committed
    assert touched(warehouse, house)[2] == ["T-9"]
