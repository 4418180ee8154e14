"""Turns judged by their card as it stood when they were written."""

import datetime as dt
from pathlib import Path

import duckdb
import pytest

from wh_judge.store import versions
from wh_judge.store.inputs_version import judged_as_of
from wh_judge.store.log_files import ingest_log
from wh_judge.store.stale import CAUSES, find_stale
from wh_judge_tests.builders import card, turn
from wh_judge_tests.house import ASKS, DAY_1, House, at, rows

Connection = duckdb.DuckDBPyConnection
PLAIN, POLITE = (
    card("C-1", honorific_rule="반말", first_person="나"),
    card("C-1", honorific_rule="존댓말", first_person="나"),
)
CHANGED_AT = dt.datetime(2026, 9, 1, 1, 30, tzinfo=dt.UTC)
"""10:30 in Seoul, between T-1 and T-2."""


@pytest.fixture
def as_of_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """A house in which the card turned polite at 10:30 on the first day; both versions are in, nothing is judged."""
    house = House(tmp_path, card_as_of="turn")
    house.lexicon(("선거", "현실 정치"))
    house.log(
        "log",
        turn("T-1", turn_at=at(1, 10), session_id="S", named_entities=["하늘"]),
        turn("T-2", turn_at=at(1, 40), session_id="S", **ASKS),
        turn("T-3", turn_at=at(1, 50)),
    )
    for moment, version in ((CHANGED_AT - dt.timedelta(minutes=10), PLAIN), (CHANGED_AT, POLITE)):
        monkeypatch.setattr(versions, "clock", lambda moment=moment: moment)
        house.cards(version)
        with house.warehouse() as connection:
            house.bring_in(connection)
    return house


def judged(connection: Connection, house: House) -> dict[str, str]:
    """The verdicts, once what is stale is judged."""
    for day in house.stale(connection):
        assert house.judge(connection, day).committed
    return dict(rows(connection, "SELECT turn_id, verdict FROM verdict ORDER BY turn_id"))


def test_a_turn_is_judged_by_the_version_that_stood_then(as_of_turn: House) -> None:
    """T-1 is older than the first version that was ever seen, and judged by that one."""
    with as_of_turn.warehouse() as connection:
        verdicts = judged(connection, as_of_turn)
        assert (verdicts["T-1"], verdicts["T-3"]) == ("설정대로 말함", "말투 어긋남")


def test_by_the_card_of_now_all_turns_go_by_the_newest(as_of_turn: House) -> None:
    as_of_turn.options["card_as_of"] = "now"
    with as_of_turn.warehouse() as connection:
        verdicts = judged(connection, as_of_turn)
        assert (verdicts["T-1"], verdicts["T-3"]) == ("말투 어긋남", "말투 어긋남")


def test_a_verdict_says_which_version_it_went_by(as_of_turn: House) -> None:
    with as_of_turn.warehouse() as connection:
        judged(connection, as_of_turn)
        found = rows(
            connection,
            """SELECT turn_id, honorific_rule, day FROM verdict JOIN card_history ON version = card_version
               ORDER BY turn_id""",
        )
    assert found == [("T-1", "반말", DAY_1), ("T-2", "존댓말", DAY_1), ("T-3", "존댓말", DAY_1)]


def test_a_session_across_versions_is_recalled_whole(as_of_turn: House) -> None:
    with as_of_turn.warehouse() as connection:
        judged(connection, as_of_turn)
        sql = "SELECT recall_target, recall_source_turn FROM verdict WHERE turn_id = 'T-2'"
        assert rows(connection, sql) == [("하늘", "T-1")]


def test_a_version_touches_no_turn_that_is_older(as_of_turn: House, monkeypatch: pytest.MonkeyPatch) -> None:
    with as_of_turn.warehouse() as connection:
        judged(connection, as_of_turn)
        monkeypatch.setattr(versions, "clock", lambda: CHANGED_AT + dt.timedelta(days=1))
        as_of_turn.cards(PLAIN)
        as_of_turn.bring_in(connection)
        assert as_of_turn.stale(connection) == []


def test_a_card_that_returns_to_an_older_version_counts_from_then_on(
    as_of_turn: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    with as_of_turn.warehouse() as connection:
        monkeypatch.setattr(versions, "clock", lambda: CHANGED_AT + dt.timedelta(days=1))
        as_of_turn.cards(PLAIN)
        as_of_turn.log("next", turn("T-4", turn_at=at(2, 20)), turn("T-5", turn_at=at(2, 40)))
        as_of_turn.bring_in(connection)
        verdicts = judged(connection, as_of_turn)
    assert (verdicts["T-4"], verdicts["T-5"]) == ("말투 어긋남", "설정대로 말함")


def test_changing_the_setting_makes_the_days_stale_that_it_concerns(as_of_turn: House) -> None:
    with as_of_turn.warehouse() as connection:
        judged(connection, as_of_turn)
        as_of_turn.log("next", turn("T-4", turn_at=at(2, 20)))
        ingest_log(connection, as_of_turn.turns)
        judged(connection, as_of_turn)
        as_of_turn.options["card_as_of"] = "now"
        assert as_of_turn.stale(connection) == [DAY_1]


SETTING = {
    "turn": ("card_as_of changed: turn to now", "card_as_of: turn -> now"),
    "now": ("card_as_of changed: now to turn", "card_as_of: now -> turn"),
}
"""By the value before: why days are stale, and the cell of the cause."""


def stale_causes(connection: Connection, house: House) -> list[tuple[str, ...]]:
    return [entry.causes for entry in find_stale(connection, house.settings.rules, house.settings.card_as_of)]


def change_of(connection: Connection, turn_id: str) -> tuple[list[str], list[str]]:
    """The inputs and cells of the newest change of a turn."""
    found = rows(
        connection,
        "SELECT inputs, cells FROM verdict_change WHERE turn_id = ? ORDER BY changed_at DESC LIMIT 1",
        turn_id,
    )
    return found[0][0], found[0][1]


def other(setting: str) -> str:
    return "now" if setting == "turn" else "turn"


@pytest.mark.parametrize("before", ["turn", "now"])
def test_a_change_of_the_setting_is_blamed_on_the_setting(before: str, as_of_turn: House) -> None:
    as_of_turn.options["card_as_of"] = before
    told, cell = SETTING[before]
    with as_of_turn.warehouse() as connection:
        judged(connection, as_of_turn)
        as_of_turn.options["card_as_of"] = other(before)
        assert stale_causes(connection, as_of_turn) == [(told,)]
        judged(connection, as_of_turn)
        assert change_of(connection, "T-1") == (["card_as_of"], [cell])
        assert rows(connection, "SELECT turn_id FROM verdict_change") == [("T-1",)]
        assert stale_causes(connection, as_of_turn) == []


def test_a_turn_that_moved_when_the_setting_changed_is_blamed_on_the_setting(as_of_turn: House) -> None:
    """Its old day is judged first, by the new setting; what it was judged by there is remembered."""
    as_of_turn.options["card_as_of"] = "now"
    with as_of_turn.warehouse() as connection:
        as_of_turn.log("moves", turn("T-8", turn_at=at(2, 10)))
        as_of_turn.bring_in(connection)
        judged(connection, as_of_turn)
        as_of_turn.log("moves", turn("T-8", turn_at=at(1, 10)))
        as_of_turn.bring_in(connection)
        as_of_turn.options["card_as_of"] = "turn"
        for day in (dt.date(2026, 9, 2), DAY_1):
            assert as_of_turn.judge(connection, day).committed
        assert change_of(connection, "T-8") == (["card_as_of"], ["card_as_of: now -> turn"])


def with_third(house: House, connection: Connection, monkeypatch: pytest.MonkeyPatch, **cells: object) -> None:
    """Bring in a third version of the card, a day later."""
    monkeypatch.setattr(versions, "clock", lambda: CHANGED_AT + dt.timedelta(days=1))
    house.cards(POLITE.model_copy(update=cells))
    house.bring_in(connection)


def test_a_card_that_changed_beside_the_setting_is_not_named_where_it_did_nothing(
    as_of_turn: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_of_turn.options["card_as_of"] = "now"
    with as_of_turn.warehouse() as connection:
        judged(connection, as_of_turn)
        with_third(as_of_turn, connection, monkeypatch, canon_entities=[*POLITE.canon_entities, "리안"])
        as_of_turn.options["card_as_of"] = "turn"
        assert stale_causes(connection, as_of_turn) == [(SETTING["now"][0], f"{CAUSES['cards']}: C-1")]
        judged(connection, as_of_turn)
        assert change_of(connection, "T-1") == (["card_as_of"], ["card_as_of: now -> turn"])


def test_setting_and_card_are_named_where_it_took_both(as_of_turn: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """T-1 was judged by the polite card; the setting brings the plain one, and so does now the card."""
    as_of_turn.options["card_as_of"] = "now"
    with as_of_turn.warehouse() as connection:
        judged(connection, as_of_turn)
        with_third(as_of_turn, connection, monkeypatch, honorific_rule="반말")
        as_of_turn.options["card_as_of"] = "turn"
        judged(connection, as_of_turn)
        assert change_of(connection, "T-1") == (
            ["card_as_of", "character_card"],
            ["card_as_of: now -> turn", "character_card C-1 honorific_rule: 존댓말 -> 반말"],
        )


def test_the_card_alone_is_named_where_the_setting_did_nothing(
    as_of_turn: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T-3 was judged by the polite card, which the turn's time chooses, too."""
    with as_of_turn.warehouse() as connection:
        judged(connection, as_of_turn)
        as_of_turn.options["card_as_of"] = "now"
        judged(connection, as_of_turn)
        with_third(as_of_turn, connection, monkeypatch, honorific_rule="반말")
        assert stale_causes(connection, as_of_turn) == [(f"{CAUSES['cards']}: C-1",)]
        judged(connection, as_of_turn)
        assert change_of(connection, "T-3") == (
            ["character_card"],
            ["character_card C-1 honorific_rule: 존댓말 -> 반말"],
        )


@pytest.mark.parametrize("before", ["turn", "now"])
def test_days_of_a_warehouse_that_did_not_know_the_setting_tell_it_by_their_cards(
    before: str, as_of_turn: House
) -> None:
    as_of_turn.options["card_as_of"] = before
    with as_of_turn.warehouse() as connection:
        judged(connection, as_of_turn)
        first_schema(connection)
    with as_of_turn.warehouse() as connection:
        assert judged_as_of(connection, DAY_1) == before
        assert stale_causes(connection, as_of_turn) == []
        as_of_turn.options["card_as_of"] = other(before)
        assert stale_causes(connection, as_of_turn) == [(SETTING[before][0],)]
        judged(connection, as_of_turn)
        assert change_of(connection, "T-1") == (["card_as_of"], [SETTING[before][1]])


def test_days_of_such_a_warehouse_count_as_judged_by_now_where_nothing_tells(as_of_turn: House) -> None:
    with as_of_turn.warehouse() as connection:
        judged(connection, as_of_turn)
        connection.execute("UPDATE judged_day SET inputs = replace(inputs, 'cards=', 'cards=other'), card_as_of = NULL")
        assert judged_as_of(connection, DAY_1) == "now"
        assert judged_as_of(connection, dt.date(2026, 9, 9)) is None


def first_schema(connection: Connection) -> None:
    """The tables as the first schema version had them."""
    for table in ("judged_day", "verdict_closed"):
        connection.execute(f"ALTER TABLE {table} DROP COLUMN card_as_of")
    connection.execute("UPDATE schema_version SET version = 1")
