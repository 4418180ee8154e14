"""A decision goes the way of every other input: versions, stale days, the turns that it touches, and the cause."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from wh_judge.cli.why import told
from wh_judge.day import judge_day
from wh_judge.inputs import TABLES
from wh_judge.review.book import write_down
from wh_judge.review.decisions import Draft
from wh_judge.settings import Settings, load_settings
from wh_judge.store.changes import read_changes
from wh_judge.store.decisions import decisions_of
from wh_judge.store.inputs import bring_in
from wh_judge.store.stale import find_stale
from wh_judge.store.tables import is_known, replace_table
from wh_judge.store.why import why
from wh_judge_tests.house import DAY_1, DAY_2, DAY_3, DAYS, House, rows, settle
from wh_judge_tests.review.build import draft, hit, label, name, undo


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("WH_JUDGE_FIRST_DAY", "2026-09-01")
    return settle(tmp_path)


@pytest.fixture
def warehouse(house: House) -> Iterator[duckdb.DuckDBPyConnection]:
    with house.warehouse() as connection:
        refresh(house, connection)
        yield connection


def settings(house: House) -> Settings:
    """As a run takes them: with what was decided."""
    return load_settings(inputs=house.inputs, data=house.data)


def refresh(house: House, connection: duckdb.DuckDBPyConnection) -> list[Any]:
    """Everything in, every stale day judged; the stale days."""
    now = settings(house)
    decisions = decisions_of(now)
    replace_table(connection, TABLES["topic_lexicon"], house.inputs / "lexicon.csv", decisions=decisions)
    replace_table(connection, TABLES["character_card"], house.inputs / "cards.json", decisions=decisions)
    bring_in(connection, now)
    stale = [entry.day for entry in find_stale(connection, now.rules)]
    house.options = {"endings": now.endings, "ignore_trailing": now.ignore_trailing}
    for day in stale:
        assert house.judge(connection, day, f"run on {day}").committed
    return stale


def decide(house: House, connection: duckdb.DuckDBPyConnection, *drafts: Draft) -> list[Any]:
    write_down(house.data / "decisions.jsonl", drafts)
    return refresh(house, connection)


def verdict(connection: duckdb.DuckDBPyConnection, turn_id: str) -> str:
    return str(rows(connection, "SELECT verdict FROM verdict WHERE turn_id = ?", turn_id)[0][0])


def last_change(connection: duckdb.DuckDBPyConnection, turn_id: str) -> dict[str, Any]:
    return read_changes(connection, turn_id=turn_id)[-1]


def test_a_name_to_add_makes_a_new_version_of_the_card(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    assert decide(house, warehouse, name("add", why="새 스승")) == [DAY_1, DAY_2, DAY_3]
    assert verdict(warehouse, "T-8") == "설정대로 말함"
    assert rows(warehouse, "SELECT count(*) FROM card_history WHERE character_id = 'C-1'") == [(2,)]
    change = last_change(warehouse, "T-8")
    assert change["cells"] == ["character_card C-1 canon_entities: + 리안"]
    [decision] = change["decisions"]
    assert (decision["decision_id"], decision["by"], decision["why"]) == ("D-1", "지은", "새 스승")
    assert "decided in D-1 by 지은: 새 스승" in told(change)


def test_only_the_turns_of_that_card_are_judged_again(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    written = "SELECT turn_id, written_at FROM verdict_row WHERE character_id <> 'C-1' ORDER BY turn_id"
    before = rows(warehouse, written)
    decide(house, warehouse, name("add"))
    assert rows(warehouse, written) == before
    assert [row["turn_id"] for row in read_changes(warehouse)] == ["T-8"]


def test_what_is_undone_goes_back_and_names_the_undo(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    decide(house, warehouse, name("add"))
    decide(house, warehouse, undo("D-1"))
    assert verdict(warehouse, "T-8") == "세계관 밖 고유명사"
    change = last_change(warehouse, "T-8")
    assert change["cells"] == ["character_card C-1 canon_entities: - 리안"]
    assert [row["decision_id"] for row in change["decisions"]] == ["D-2"]


def test_an_edit_of_the_file_is_nobody_s_decision(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    from wh_judge_tests.house import CARDS

    decide(house, warehouse, name("add"))
    decide(house, warehouse, undo("D-1"))
    house.cards(CARDS[0].model_copy(update={"canon_entities": ["검술원", "하늘", "리안"]}), *CARDS[1:])
    refresh(house, warehouse)
    change = last_change(warehouse, "T-8")
    assert change["cells"] == ["character_card C-1 canon_entities: + 리안"]
    assert change["decisions"] == []


def test_a_blocked_name_is_remembered_and_its_turns_say_so(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    assert decide(house, warehouse, name("block", why="다른 작품의 인물")) == []
    assert verdict(warehouse, "T-8") == "세계관 밖 고유명사"
    [found] = why(warehouse, "T-8")["decisions"]
    assert (found["what"], found["by"], found["why"]) == ("name block C-1 리안", "지은", "다른 작품의 인물")
    assert why(warehouse, "T-7")["decisions"] == []


def test_a_dropped_term_touches_only_the_replies_that_hold_it(
    house: House, warehouse: duckdb.DuckDBPyConnection
) -> None:
    decide(house, warehouse, draft("term", "drop", term="선거", topic="현실 정치"))
    assert verdict(warehouse, "T-7") == "설정대로 말함"
    change = last_change(warehouse, "T-7")
    assert change["cells"] == ["topic_lexicon: - 선거 -> 현실 정치"]
    assert [row["decision_id"] for row in change["decisions"]] == ["D-1"]
    assert {row["turn_id"] for row in read_changes(warehouse)} == {"T-7", "T-15"}


def test_a_narrowed_term_holds_where_the_narrower_one_does(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    decide(house, warehouse, draft("term", "narrow", term="선거", topic="현실 정치", instead=["선거 얘기"]))
    assert verdict(warehouse, "T-7") == "금지 소재 접촉"
    assert [row["decision_id"] for row in last_change(warehouse, "T-15")["decisions"]] == ["D-1"]


def test_a_term_that_a_narrowing_made_is_dropped_like_any_other(
    house: House, warehouse: duckdb.DuckDBPyConnection
) -> None:
    decide(house, warehouse, draft("term", "narrow", term="선거", topic="현실 정치", instead=["선거 얘기"]))
    decide(house, warehouse, draft("term", "drop", term="선거 얘기", topic="현실 정치"))
    assert verdict(warehouse, "T-7") == "설정대로 말함"
    change = last_change(warehouse, "T-7")
    assert change["cells"] == ["topic_lexicon: - 선거 얘기 -> 현실 정치"]
    assert [row["decision_id"] for row in change["decisions"]] == ["D-2"]


def test_an_ending_to_add_changes_the_setting(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    assert decide(house, warehouse, draft("ending", "add", ending="몰라")) == DAYS
    assert settings(house).endings[-1] == "몰라"
    change = last_change(warehouse, "T-6")
    assert (change["verdict_after"], change["cells"]) == ("말투 어긋남", ["endings: + 몰라"])
    assert [row["decision_id"] for row in change["decisions"]] == ["D-1"]
    decide(house, warehouse, undo("D-1"))
    assert verdict(warehouse, "T-6") == "앞 회차를 기억 못 함"
    assert [row["decision_id"] for row in last_change(warehouse, "T-6")["decisions"]] == ["D-2"]


def test_an_ending_decided_on_while_a_run_is_at_work_is_the_cause_in_the_next_one(
    house: House, warehouse: duckdb.DuckDBPyConnection
) -> None:
    """The run has read its settings, and reads the book again before it judges."""
    write_down(house.data / "decisions.jsonl", [draft("ending", "add", ending="해")])
    then = settings(house)
    write_down(house.data / "decisions.jsonl", [draft("ending", "add", ending="몰라")])
    bring_in(warehouse, then)
    for day in DAYS:
        judge_day(warehouse, day, then, lambda _: True, "first")
    refresh(house, warehouse)
    assert last_change(warehouse, "T-6")["cells"] == ["endings: + 몰라"]
    assert [row["decision_id"] for row in last_change(warehouse, "T-6")["decisions"]] == ["D-2"]


def test_an_ending_decided_on_after_the_book_was_read_is_the_cause_where_it_counts(
    house: House, warehouse: duckdb.DuckDBPyConnection
) -> None:
    """A step of the daemon reads its settings itself, whenever it begins."""
    bring_in(warehouse, settings(house))
    write_down(house.data / "decisions.jsonl", [draft("ending", "add", ending="몰라", why="누락")])
    for day in DAYS:
        judge_day(warehouse, day, settings(house), lambda _: True, "first")
    [decision] = last_change(warehouse, "T-6")["decisions"]
    assert (decision["decision_id"], decision["why"]) == ("D-1", "누락")


def test_passing_over_what_trails_is_a_decision_too(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    assert decide(house, warehouse, draft("trailing", "ignore")) == DAYS
    assert settings(house).ignore_trailing
    assert rows(warehouse, "SELECT DISTINCT settings_version FROM verdict_row")[0][0].endswith("ignore_trailing.")


def test_a_label_changes_no_verdict_and_no_day(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    assert decide(house, warehouse, label("설정대로 말함", "T-8"), hit("harmless", "T-7")) == []
    gold, table = house.inputs / "gold.csv", TABLES["gold_label"]
    replace_table(warehouse, table, gold)
    assert not is_known(warehouse, table, gold, decisions=decisions_of(settings(house)))
    replace_table(warehouse, table, gold, decisions=decisions_of(settings(house)))
    assert is_known(warehouse, table, gold, decisions=decisions_of(settings(house)))
    assert ("T-8", "설정대로 말함", None) in rows(warehouse, "FROM gold_label")


def test_labels_need_no_file(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    decide(house, warehouse, label("설정대로 말함", "T-8"))
    replace_table(warehouse, TABLES["gold_label"], None, decisions=decisions_of(settings(house)))
    assert rows(warehouse, "FROM gold_label") == [("T-8", "설정대로 말함", None)]


def test_readers_get_the_book(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    decide(house, warehouse, name("block"), undo("D-1"), name("add", why="이유"))
    assert rows(warehouse, 'SELECT decision_id, "by", why, what, in_force FROM decision ORDER BY position') == [
        ("D-1", "지은", None, "name block C-1 리안", False),
        ("D-2", "지은", None, "undo D-1", False),
        ("D-3", "지은", "이유", "name add C-1 리안", True),
    ]
