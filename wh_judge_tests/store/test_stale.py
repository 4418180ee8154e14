"""Why a day is stale, in words, and the list of stale days for readers outside."""

import json
from collections.abc import Callable
from typing import Any

import duckdb
import pytest

from wh_judge.errors import UserError
from wh_judge.store import inputs_version
from wh_judge.store.stale import CAUSES, STALE_FILE, StaleDay, drop_from_list, find_stale, listed_days, write_stale
from wh_judge_tests.builders import card, turn
from wh_judge_tests.house import CARDS, DAY_1, DAY_2, DAY_3, DAYS, LEXICON, LOG, House, at, rows, spoilt

Connection = duckdb.DuckDBPyConnection


def causes(connection: Connection, house: House) -> dict[int, tuple[str, ...]]:
    """The causes by day of the month."""
    house.bring_in(connection)
    found = find_stale(connection, house.settings.rules, house.settings.card_as_of)
    return {entry.day.day: entry.causes for entry in found}


def with_card(*characters: str, **cells: Any) -> Callable[[House], None]:
    return lambda house: house.cards(
        *(row.model_copy(update=cells if row.character_id in characters else {}) for row in CARDS)
    )


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (with_card("C-3", name="새 이름"), {3: (f"{CAUSES['cards']}: C-3",)}),
        (
            with_card("C-1", "C-2", name="새 이름"),
            {day: (f"{CAUSES['cards']}: {who}",) for day, who in ((1, "C-1, C-2"), (2, "C-1, C-2"), (3, "C-1"))},
        ),
        (lambda house: house.cards(*CARDS, card("C-9")), {1: (f"{CAUSES['cards']}: C-9",)}),
        (lambda house: house.cards(*CARDS[:2]), {3: (f"{CAUSES['cards']}: C-3",)}),
        (lambda house: house.lexicon(*LEXICON[1:]), dict.fromkeys((1, 2, 3), (CAUSES["lexicon"],))),
        (lambda house: house.options.update(endings=["요"]), dict.fromkeys((1, 2, 3), (CAUSES["settings"],))),
        (lambda house: house.log("more", turn("T-90", turn_at=at(3))), {3: (CAUSES["turns"],)}),
        (
            lambda house: house.log("more", turn("T-90", turn_at=at(1), character_id="C-3")),
            {1: (CAUSES["turns"],)},
        ),
        (
            lambda house: house.log(str(DAY_3), *LOG.day_3[1:]),
            {2: (CAUSES["earlier"],), 3: (CAUSES["turns"],)},
        ),
    ],
    ids=[
        "a card",
        "two cards",
        "a card came",
        "a card went",
        "the lexicon",
        "the endings",
        "a turn came",
        "a turn of another character came",
        "a turn of a session across days went",
    ],
)
def test_a_day_says_why_it_is_stale(edit: Any, expected: object, warehouse: Connection, house: House) -> None:
    edit(house)
    assert causes(warehouse, house) == expected


def test_the_code_is_a_cause(warehouse: Connection, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs_version, "rules_version", lambda: "other")
    assert causes(warehouse, house) == dict.fromkeys((1, 2, 3), (CAUSES["rules"],))


def test_all_causes_are_told(warehouse: Connection, house: House) -> None:
    with_card("C-3", name="새 이름")(house)
    house.lexicon(*LEXICON[1:])
    assert causes(warehouse, house)[3] == (f"{CAUSES['cards']}: C-3", CAUSES["lexicon"])


def test_a_new_day_was_never_judged(new_house: House) -> None:
    with new_house.warehouse() as connection:
        assert causes(connection, new_house) == dict.fromkeys((1, 2, 3), ("it was never judged",))


def test_a_day_that_failed_is_known_until_its_inputs_change(warehouse: Connection, house: House) -> None:
    def failed() -> dict[int, bool]:
        found = find_stale(warehouse, house.settings.rules, house.settings.card_as_of)
        return {entry.day.day: entry.failed for entry in found}

    with_card("C-1", first_person="저")(house)
    house.bring_in(warehouse)
    assert not house.judge(warehouse, DAY_2, change=spoilt).committed
    assert failed() == {1: False, 2: True, 3: False}
    house.lexicon(*LEXICON[1:])
    house.bring_in(warehouse)
    assert failed() == {1: False, 2: False, 3: False}
    assert house.judge(warehouse, DAY_2).committed
    assert rows(warehouse, "SELECT count(*) FROM failed_day") == [(0,)]


def stale(*days: Any, failed: bool = False) -> list[StaleDay]:
    return [StaleDay(day, "version", ("a cause",), failed) for day in days]


def test_a_list_that_is_not_there_is_empty(new_house: House) -> None:
    assert listed_days(new_house.data) == {}


@pytest.mark.parametrize("damaged", ["", "{", "null", "7", "\x00"])
def test_a_list_that_is_no_list_is_told(damaged: str, new_house: House) -> None:
    (new_house.data / STALE_FILE).write_text(damaged)
    with pytest.raises(UserError, match=r"stale.json: cannot be read .*delete it: wh-judge run writes it anew"):
        listed_days(new_house.data)


def test_the_list_holds_the_days_with_their_causes(new_house: House) -> None:
    write_stale(stale(DAY_1, DAY_3), new_house.data)
    assert listed_days(new_house.data) == {str(DAY_1): ["a cause"], str(DAY_3): ["a cause"]}
    assert [path.name for path in new_house.data.iterdir()] == [STALE_FILE]


def test_a_day_that_failed_is_not_on_the_list(new_house: House) -> None:
    write_stale([*stale(DAY_1), *stale(DAY_2, failed=True)], new_house.data)
    assert list(listed_days(new_house.data)) == [str(DAY_1)]


def test_a_day_is_taken_off_the_list(new_house: House) -> None:
    write_stale(stale(*DAYS), new_house.data)
    drop_from_list(DAY_2, new_house.data)
    drop_from_list(DAY_2, new_house.data)
    assert list(listed_days(new_house.data)) == [str(DAY_1), str(DAY_3)]


def test_taking_a_day_off_a_list_that_is_not_there_makes_none(new_house: House) -> None:
    drop_from_list(DAY_2, new_house.data)
    assert list(new_house.data.iterdir()) == []


def test_a_new_list_takes_the_place_of_the_old_one(new_house: House) -> None:
    write_stale(stale(*DAYS), new_house.data)
    write_stale([], new_house.data)
    assert json.loads((new_house.data / STALE_FILE).read_text(encoding="utf-8")) == {}
