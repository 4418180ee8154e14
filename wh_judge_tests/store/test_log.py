"""Reads of the log by day."""

import datetime as dt
import unicodedata

import duckdb
import pytest

from wh_judge.model import TURN_SCHEMA
from wh_judge.store.log import day_facts, keys, log_days, read_turns
from wh_judge.store.log_files import ingest_log
from wh_judge_tests.builders import turn
from wh_judge_tests.house import DAY_1, DAY_2, DAY_3, DAYS, LOG, House, at

Connection = duckdb.DuckDBPyConnection


def test_turns_come_in_turn_order(warehouse: Connection, house: House) -> None:
    house.log(str(DAY_2), *reversed(LOG.day_2))
    ingest_log(warehouse, house.turns)
    assert read_turns(warehouse, DAY_2)["turn_id"].to_pylist() == ["T-6", "T-7", "T-8", "T-9", "T-10", "T-12"]


def test_turns_come_as_they_stood_in_their_file(warehouse: Connection) -> None:
    table = read_turns(warehouse, DAY_1)
    assert table.schema == TURN_SCHEMA
    assert table.to_pylist() == [line.model_dump() for line in LOG.day_1 if not isinstance(line, str | dict)]


def test_a_day_without_turns_is_an_empty_table(warehouse: Connection) -> None:
    table = read_turns(warehouse, dt.date(2026, 9, 9))
    assert (table.num_rows, table.schema) == (0, TURN_SCHEMA)


def test_days_are_those_with_turns_in_order(warehouse: Connection, house: House) -> None:
    house.log("more", turn("T-90", turn_at=at(7)), turn("T-91", turn_at="2026-08-30T10:00:00+09:00"))
    ingest_log(warehouse, house.turns)
    assert log_days(warehouse) == [dt.date(2026, 8, 30), *DAYS, dt.date(2026, 9, 7)]


def test_a_day_whose_turns_are_gone_is_a_day_as_long_as_it_has_verdicts(warehouse: Connection, house: House) -> None:
    house.log(str(DAY_3))
    ingest_log(warehouse, house.turns)
    assert log_days(warehouse) == DAYS


def test_keys_are_the_values_of_a_column(warehouse: Connection) -> None:
    assert keys(warehouse, "character_card", "character_id") == {"C-1", "C-2", "C-3"}
    assert keys(warehouse, "topic_lexicon", "topic") == {"행사", "현실 정치", "도박"}


def test_characters_without_a_card_are_named_with_their_turns(warehouse: Connection, house: House) -> None:
    house.log("more", *(turn(f"T-9{n}", turn_at=at(1), character_id=f"C-{8 + n % 2}") for n in range(3)))
    ingest_log(warehouse, house.turns)
    assert day_facts(warehouse, DAY_1).without_card == [("C-8", 2), ("C-9", 2)]
    assert day_facts(warehouse, DAY_2).without_card == []


def test_sessions_are_counted_once(warehouse: Connection, house: House) -> None:
    assert day_facts(warehouse, DAY_1).sessions == 5
    house.log("more", turn("T-90", turn_at=at(1), session_id="S-recall"))
    ingest_log(warehouse, house.turns)
    assert day_facts(warehouse, DAY_1).sessions == 5


def test_rows_that_were_not_in_nfc_are_counted_over_the_whole_log(warehouse: Connection, house: House) -> None:
    assert day_facts(warehouse, DAY_1).normalised == 0
    decomposed = unicodedata.normalize("NFD", "하늘")
    house.log("more", turn("T-90", turn_at=at(3)).model_dump(mode="json") | {"reply_text": decomposed})
    ingest_log(warehouse, house.turns)
    assert day_facts(warehouse, DAY_1).normalised == 1
    assert read_turns(warehouse, DAY_3)["reply_text"].to_pylist()[-1] == "하늘"


@pytest.mark.parametrize(
    ("lines", "disordered"),
    [
        ([("T-80", 1), ("T-81", 2), ("T-82", 2)], []),
        ([("T-80", 1), ("T-81", 5), ("T-82", 2)], [("S", "T-81", "T-82")]),
        ([("T-98", 1), ("T-100", 2)], []),
        ([("T-80", 9), ("T-81", 5), ("T-82", 2)], [("S", "T-80", "T-81")]),
    ],
    ids=["in order", "out of order", "ids by number", "only the first is named"],
)
def test_sessions_whose_ids_disagree_with_their_times_are_named(
    lines: list[tuple[str, int]], disordered: list[tuple[str, str, str]], warehouse: Connection, house: House
) -> None:
    house.log("z", *(turn(turn_id, turn_at=at(3, minute), session_id="S") for turn_id, minute in lines))
    ingest_log(warehouse, house.turns)
    found = day_facts(warehouse, DAY_3).disordered
    assert [row for row in found if row[0] == "S"] == disordered


def test_disorder_across_days_is_seen_from_both(warehouse: Connection) -> None:
    found = [("S-back", "T-11", "T-12")]
    assert [day_facts(warehouse, day).disordered for day in DAYS] == [[], found, found]


def test_a_day_s_version_changes_with_its_turns_alone(warehouse: Connection, house: House) -> None:
    before = [day_facts(warehouse, day).version for day in DAYS]
    house.log("more", turn("T-90", turn_at=at(2)))
    ingest_log(warehouse, house.turns)
    after = [day_facts(warehouse, day).version for day in DAYS]
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False, True]
