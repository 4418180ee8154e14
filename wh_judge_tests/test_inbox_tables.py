"""Files of the small tables in the inbox: they count over the inputs."""

import json
import os
import time
from pathlib import Path

import duckdb
import pytest

from wh_judge.inbox import later_files, ready_files
from wh_judge.inputs import TABLES
from wh_judge.store.problems import read_problems
from wh_judge.store.tables import is_known, replace_table
from wh_judge_tests.builders import card
from wh_judge_tests.house import House, rows, settle

CARDS, LEXICON, GOLD = TABLES["character_card"], TABLES["topic_lexicon"], TABLES["gold_label"]
Connection = duckdb.DuckDBPyConnection


@pytest.fixture
def house(tmp_path: Path) -> House:
    return settle(tmp_path)


def put(house: House, place: str, text: str, seconds: float = 60) -> Path:
    """A file in the inbox that changed so many seconds ago."""
    path = house.settings.inbox / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    changed = time.time() - seconds
    os.utime(path, (changed, changed))
    return path


def cards(*given: object) -> str:
    return json.dumps(given, ensure_ascii=False)


def bring_in(house: House, connection: Connection) -> None:
    replace_table(connection, LEXICON, house.inputs / "lexicon.csv", house.settings.inbox)
    replace_table(connection, CARDS, house.inputs / "cards.json", house.settings.inbox)


NEW = card("C-1", name="새 이름").model_dump(mode="json")
FOURTH = card("C-4").model_dump(mode="json")


def test_a_card_takes_the_place_of_the_one_it_corrects_and_a_new_one_follows(house: House) -> None:
    put(house, "cards/1.json", cards(NEW, FOURTH))
    with house.warehouse() as connection:
        bring_in(house, connection)
        found: dict[str, str] = dict(rows(connection, "SELECT character_id, name FROM character_card"))
    assert sorted(found) == ["C-1", "C-2", "C-3", "C-4"]
    assert found["C-1"] == "새 이름"


def test_of_two_files_the_one_with_the_later_name_counts(house: House) -> None:
    put(house, "cards/2.json", cards(NEW | {"name": "둘째"}), seconds=90)
    put(house, "cards/1.json", cards(NEW | {"name": "첫째"}), seconds=60)
    with house.warehouse() as connection:
        bring_in(house, connection)
        assert rows(connection, "SELECT name FROM character_card WHERE character_id = 'C-1'") == [("둘째",)]


def test_a_lexicon_takes_the_place_of_the_whole_lexicon(house: House) -> None:
    put(house, "lexicon/1.csv", "term,topic\n바둑,도박\n선거,현실 정치\n")
    with house.warehouse() as connection:
        bring_in(house, connection)
        found = rows(connection, "SELECT position, term FROM topic_lexicon ORDER BY position")
    assert found == [(0, "바둑"), (1, "선거")]


def test_labels_need_none_among_the_inputs(house: House) -> None:
    put(house, "gold/1.csv", "turn_id,verdict\nT-1,말투 어긋남\n")
    with house.warehouse() as connection:
        replace_table(connection, GOLD, None, house.settings.inbox)
        assert rows(connection, "SELECT turn_id, verdict FROM gold_label") == [("T-1", "말투 어긋남")]


def test_what_is_no_longer_in_the_inbox_no_longer_counts(house: House) -> None:
    path = put(house, "cards/1.json", cards(FOURTH))
    with house.warehouse() as connection:
        bring_in(house, connection)
        path.unlink()
        assert not is_known(connection, CARDS, house.inputs / "cards.json", house.settings.inbox)
        bring_in(house, connection)
        assert rows(connection, "SELECT count(*) FROM character_card") == [(3,)]


def test_what_was_read_is_known_until_another_file_comes(house: House) -> None:
    put(house, "cards/1.json", cards(FOURTH))
    with house.warehouse() as connection:
        bring_in(house, connection)
        path = house.inputs / "cards.json"
        assert is_known(connection, CARDS, path, house.settings.inbox)
        put(house, "cards/2.json", cards(NEW))
        assert not is_known(connection, CARDS, path, house.settings.inbox)


def test_the_files_that_were_read_are_named(house: House) -> None:
    put(house, "cards/1.json", cards(FOURTH))
    with house.warehouse() as connection:
        bring_in(house, connection)
        found = rows(connection, """SELECT "table", file FROM read_file WHERE file LIKE 'inbox/%'""")
    assert found == [("character_card", "inbox/cards/1.json")]


def test_a_bad_row_is_told_with_its_file_and_the_others_count(house: House) -> None:
    put(house, "cards/1.json", cards(FOURTH, {"character_id": "C-5"}))
    with house.warehouse() as connection:
        bring_in(house, connection)
        [problem] = read_problems(connection, CARDS)
        assert (problem.file, problem.line) == ("inbox/cards/1.json", 1)
        assert rows(connection, "SELECT count(*) FROM character_card") == [(4,)]


@pytest.mark.parametrize("content", ["", "no JSON"], ids=["empty", "no JSON"])
def test_a_file_without_a_row_waits_and_is_set_aside_with_its_reason(
    content: str, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(house, "cards/1.json", content)
    with house.warehouse() as connection:
        bring_in(house, connection)
        house.bring_in_log(connection)
        assert path.exists()
        assert [problem.file for problem in read_problems(connection, CARDS)] == ["inbox/cards/1.json"]
        monkeypatch.setattr("wh_judge.inbox.REJECT_SECONDS", 0.0)
        assert house.bring_in_log(connection) == ["inbox/cards/1.json"]
        assert rows(connection, "SELECT count(*) FROM character_card") == [(3,)]
    aside = house.settings.inbox / "rejected" / "cards" / "1.json"
    assert not path.exists() and aside.read_text() == content
    assert "inbox/cards/1.json" in aside.with_name("1.json.reason.txt").read_text()


def test_a_file_that_was_completed_while_it_waited_counts(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    put(house, "cards/1.json", "")
    with house.warehouse() as connection:
        bring_in(house, connection)
        path = put(house, "cards/1.json", cards(FOURTH))
        monkeypatch.setattr("wh_judge.inbox.REJECT_SECONDS", 0.0)
        house.bring_in_log(connection)
        assert path.exists()
        bring_in(house, connection)
        house.bring_in_log(connection)
        assert rows(connection, "SELECT count(*) FROM character_card") == [(4,)]
        assert read_problems(connection, CARDS) == []
    assert path.exists()


def test_a_file_that_is_still_being_written_is_left_alone(house: House) -> None:
    put(house, "cards/1.json", cards(FOURTH), seconds=0)
    assert later_files(house.settings.inbox, CARDS) == []


@pytest.mark.parametrize("place", ["cards", "lexicon", "gold"])
def test_files_of_the_small_tables_are_no_log(place: str, house: House) -> None:
    put(house, f"{place}/1.json", "[]")
    assert ready_files(house.settings.inbox) == []


def test_a_link_in_place_of_a_table_s_folder_is_not_followed(house: House, tmp_path: Path) -> None:
    elsewhere = put(house, "elsewhere/1.json", cards(FOURTH)).parent
    (house.settings.inbox / "cards").symlink_to(elsewhere)
    assert later_files(house.settings.inbox, CARDS) == []
