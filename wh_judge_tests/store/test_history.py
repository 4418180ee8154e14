"""Every version of every input and of every verdict is kept, each from when to when."""

import datetime as dt
from collections.abc import Iterator
from itertools import pairwise

import duckdb
import pytest

from wh_judge.store import versions
from wh_judge.store.log_files import ingest_log
from wh_judge.store.plan import plan_day
from wh_judge_tests.builders import turn
from wh_judge_tests.house import CARDS, DAY_1, DAY_3, DAYS, LEXICON, LOG, House, Line, at, rows, tables

Connection = duckdb.DuckDBPyConnection


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dt.datetime]]:
    """What versions of inputs are stamped with: the first of the list."""
    times = [dt.datetime(2090, 10, 1, tzinfo=dt.UTC)]
    monkeypatch.setattr(versions, "clock", lambda: times[0])
    yield times


def with_card(connection: Connection, house: House, **cells: object) -> None:
    """Bring in the cards with these cells in that of C-3."""
    house.cards(*CARDS[:2], CARDS[2].model_copy(update=cells))
    house.bring_in(connection)


def test_every_version_of_a_card_is_kept_with_its_time(
    warehouse: Connection, house: House, clock: list[dt.datetime]
) -> None:
    for first_person in ("저", "나", "저"):
        clock[0] += dt.timedelta(days=1)
        with_card(warehouse, house, first_person=first_person)
    found = rows(
        warehouse, "SELECT first_person, valid_from FROM card_history WHERE character_id = 'C-3' ORDER BY valid_from"
    )
    assert [first_person for first_person, _ in found] == ["나", "저", "나", "저"], "a version that returns counts anew"
    assert [valid_from for _, valid_from in found[1:]] == [
        dt.datetime(2090, 10, day, tzinfo=dt.UTC) for day in (2, 3, 4)
    ]


def test_cards_that_stay_as_they_are_get_no_new_version(warehouse: Connection, house: House) -> None:
    with_card(warehouse, house, first_person="저")
    with_card(warehouse, house, first_person="저")
    assert rows(warehouse, "SELECT character_id, count(*) FROM card_history GROUP BY 1 ORDER BY 1") == [
        ("C-1", 1),
        ("C-2", 1),
        ("C-3", 2),
    ]


def test_every_version_of_the_lexicon_is_kept_once(warehouse: Connection, house: House) -> None:
    for lexicon in (LEXICON[1:], LEXICON[::-1], LEXICON[1:], LEXICON):
        house.lexicon(*lexicon)
        house.bring_in(warehouse)
    found = rows(
        warehouse, "SELECT list((term, topic) ORDER BY position) FROM lexicon_history GROUP BY version ORDER BY 1"
    )
    assert sorted(tuple(kept) for (kept,) in found) == sorted([LEXICON, LEXICON[1:], LEXICON[::-1]])


def test_the_settings_that_verdicts_were_judged_with_are_kept(warehouse: Connection, house: House) -> None:
    house.options["endings"] = ("요", "야")
    house.judge(warehouse, DAY_1)
    assert rows(warehouse, "SELECT version, endings FROM settings_history ORDER BY length(version)") == [
        ("endings=요,야", ["요", "야"]),
        ("endings=요,죠,니다,십시오", ["요", "죠", "니다", "십시오"]),
    ]


def corrected(reply: str) -> list[Line]:
    """The turns of the third day with another reply in T-17."""
    return [
        turn("T-17", turn_at=at(3, 17), prompt_id="P-3", reply_text=reply) if line is T_17 else line for line in LOG[2]
    ]


T_17 = LOG.day_3[4]


def old_replies(connection: Connection) -> list[str]:
    found = rows(connection, "SELECT reply_text FROM turn_history WHERE turn_id = 'T-17' ORDER BY until_at")
    return [reply for (reply,) in found]


def test_a_turn_that_is_corrected_in_its_file_is_kept_as_it_was(warehouse: Connection, house: House) -> None:
    before = rows(warehouse, "SELECT reply_text FROM chat_turn WHERE turn_id = 'T-17'")[0][0]
    for reply in ("하나.", "둘."):
        house.log(str(DAY_3), *corrected(reply))
        ingest_log(warehouse, house.turns)
    assert old_replies(warehouse) == [before, "하나."]
    assert rows(warehouse, "SELECT count(*) FROM turn_history") == [(2,)], "no other turn was replaced"


def test_a_turn_that_is_corrected_in_another_file_is_kept_as_it_was(warehouse: Connection, house: House) -> None:
    for reply in ("하나.", "둘."):
        house.log("later", turn("T-17", turn_at=at(3, 17), reply_text=reply))
        ingest_log(warehouse, house.turns)
    assert old_replies(warehouse) == ["하나."]
    kept = rows(warehouse, "SELECT reply_text FROM turn_row WHERE turn_id = 'T-17' AND NOT is_current")
    assert kept == rows(warehouse, f"SELECT reply_text FROM turn_row WHERE turn_id = 'T-17' AND file LIKE '%{DAY_3}%'")


def test_a_turn_that_is_taken_away_is_kept(warehouse: Connection, house: House) -> None:
    house.log(str(DAY_3), *LOG.day_3[:4], *LOG.day_3[5:])
    ingest_log(warehouse, house.turns)
    assert len(old_replies(warehouse)) == 1


def test_the_versions_of_a_verdict_follow_each_other_without_a_gap(warehouse: Connection, house: House) -> None:
    for run, honorific_rule in (("second", "존댓말"), ("third", "반말"), ("fourth", None)):
        with_card(warehouse, house, honorific_rule=honorific_rule)
        assert house.judge(warehouse, DAY_3, run).committed
    found = rows(
        warehouse,
        """SELECT run_id, until_run, written_at, until_at, card_version, verdict FROM verdict_history
           WHERE turn_id = 'T-14' ORDER BY written_at""",
    )
    runs = [f"first {DAY_3}", "second", "third", "fourth", None]
    assert [row[:2] for row in found] == list(pairwise(runs))
    assert [until for _, _, _, until, _, _ in found[:-1]] == [written for _, _, written, _, _, _ in found[1:]]
    assert found[-1][3] is None
    kept = rows(warehouse, "SELECT version FROM card_history WHERE character_id = 'C-3' ORDER BY valid_from")
    assert [row[4] for row in found] == [version for (version,) in kept]


def test_a_version_knows_the_runs_that_used_it_first_and_last(warehouse: Connection, house: House) -> None:
    """C-3 speaks on the third day only; every day was judged once before."""
    with_card(warehouse, house, honorific_rule="존댓말")
    house.judge(warehouse, DAY_3, "second")
    sql = """SELECT first_run, last_run, turns > 0, version = (
                 SELECT version FROM character_card WHERE character_id = key)
             FROM input_version WHERE "table" = ? AND key = ? ORDER BY first_at"""
    assert rows(warehouse, sql, "character_card", "C-3") == [
        (f"first {DAY_3}", f"first {DAY_3}", False, False),
        ("second", "second", True, True),
    ]
    assert [row[:3] for row in rows(warehouse, sql, "rules", "code")] == [(f"first {DAY_1}", "second", True)]
    used = rows(warehouse, """SELECT DISTINCT key, version FROM input_version WHERE "table" = 'topic_lexicon'""")
    assert used and set(used) <= set(LEXICON)


def test_a_verdict_that_stands_is_the_open_one_of_its_history(warehouse: Connection, house: House) -> None:
    with_card(warehouse, house, honorific_rule="존댓말")
    house.judge(warehouse, DAY_3)
    names = "turn_id, verdict, turn_version, card_version, settings_version, code_version, lexicon_rows, mentions"
    standing = rows(warehouse, f"SELECT {names} FROM verdict ORDER BY turn_id")
    assert rows(warehouse, f"SELECT {names} FROM verdict_history WHERE until_run IS NULL ORDER BY turn_id") == standing


def test_turns_that_an_edit_cannot_touch_get_no_new_version(warehouse: Connection, house: House) -> None:
    with_card(warehouse, house, honorific_rule="존댓말")
    for day in DAYS:
        house.judge(warehouse, day, "second")
    closed = rows(warehouse, "SELECT turn_id FROM verdict_history WHERE until_run = 'second' ORDER BY 1")
    written = rows(warehouse, "SELECT turn_id FROM verdict_history WHERE run_id = 'second' ORDER BY 1")
    assert closed == written == [("T-14",), ("T-15",)]


def test_the_verdict_of_a_turn_that_is_gone_ends(warehouse: Connection, house: House) -> None:
    house.log(str(DAY_3), *LOG.day_3[:-1])
    ingest_log(warehouse, house.turns)
    house.judge(warehouse, DAY_3, "second")
    assert rows(warehouse, "SELECT until_run FROM verdict_history WHERE turn_id = 'T-18'") == [("second",)]


def test_a_verdict_that_is_judged_again_to_the_same_end_stays(warehouse: Connection, house: House) -> None:
    """T-15 and T-18 are touched, but neither holds both of the terms whose rows change places."""
    house.lexicon(("축제", "행사"), ("선거", "행사"), *LEXICON[1:])
    house.bring_in(warehouse)
    house.judge(warehouse, DAY_3, "second")
    house.lexicon(("선거", "행사"), ("축제", "행사"), *LEXICON[1:])
    house.bring_in(warehouse)
    assert plan_day(warehouse, DAY_3, house.settings.rules).touched == 2
    assert house.judge(warehouse, DAY_3, "third").written == 0


def test_an_unchanged_day_that_is_judged_again_writes_nothing(house: House) -> None:
    sql = " UNION ALL ".join(f"SELECT count(*) FROM {name}" for name in ("verdict_row", "verdict_closed", "outcome"))
    with house.warehouse() as connection:
        before, counts = tables(connection, runs=True), rows(connection, sql)
        for day in DAYS:
            house.judge(connection, day, "again")
    size = house.settings.warehouse.stat().st_size
    with house.warehouse() as connection:
        for number in range(5):
            for day in DAYS:
                assert house.judge(connection, day, f"again {number}").written == 0
        assert (tables(connection, runs=True), rows(connection, sql)) == (before, counts)
    assert house.settings.warehouse.stat().st_size == size


def set_back(clock: list[dt.datetime]) -> None:
    clock[0] -= dt.timedelta(hours=5)


def test_a_verdict_ends_after_it_began_where_the_clock_was_set_back(
    warehouse: Connection, house: House, clock: list[dt.datetime]
) -> None:
    for run, honorific_rule in (("second", "존댓말"), ("third", "반말"), ("fourth", None)):
        with_card(warehouse, house, honorific_rule=honorific_rule)
        assert house.judge(warehouse, DAY_3, run).committed
        set_back(clock)
    held = rows(warehouse, "SELECT written_at, until_at FROM verdict_history WHERE turn_id = 'T-14' ORDER BY 1")
    assert len(held) == 4
    assert all(since < until for since, until in held[:-1])
    told = rows(warehouse, "SELECT run_id FROM verdict_change WHERE turn_id = 'T-14' ORDER BY changed_at")
    assert told == [("second",), ("third",), ("fourth",)]


def test_a_card_that_returns_counts_anew_where_the_clock_was_set_back(
    warehouse: Connection, house: House, clock: list[dt.datetime]
) -> None:
    began = clock[0]
    for first_person in ("저", "나", "저"):
        with_card(warehouse, house, first_person=first_person)
        set_back(clock)
    sql = "SELECT first_person, valid_from FROM card_history WHERE character_id = 'C-3' ORDER BY valid_from"
    found = rows(warehouse, sql)[1:]
    microsecond = dt.timedelta(microseconds=1)
    assert found == [("저", began), ("나", began + microsecond), ("저", began + 2 * microsecond)]


def test_what_is_stamped_is_later_than_every_stamp(warehouse: Connection, clock: list[dt.datetime]) -> None:
    """Whatever table holds the newest time; the columns are found in the schema, so that none is forgotten."""
    columns = rows(
        warehouse,
        """SELECT table_name, column_name FROM duckdb_columns() JOIN duckdb_tables() USING (table_name)
           WHERE data_type = 'TIMESTAMP WITH TIME ZONE' AND column_name IN
               ('valid_from', 'until_at', 'written_at', 'changed_at', 'applied_at', 'finished_at')""",
    )
    # A closed verdict ends later than it began.
    assert {*columns} - {("verdict_closed", "written_at")} == {*versions.STAMPS}
    assert versions.now(warehouse) == clock[0]
    for table, column in versions.STAMPS:
        late = clock[0] + dt.timedelta(days=1)
        warehouse.execute("BEGIN")
        others = ", ".join(
            f'NULL::{kind} AS "{name}"'
            for name, kind in rows(warehouse, f"SELECT column_name, column_type FROM (DESCRIBE {table})")
            if name != column
        )
        warehouse.execute(f"CREATE OR REPLACE TABLE {table} AS SELECT TIMESTAMPTZ '{late}' AS {column}, {others}")
        assert versions.now(warehouse) == late + dt.timedelta(microseconds=1), table
        warehouse.execute("ROLLBACK")
