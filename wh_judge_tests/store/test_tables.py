"""Small tables into the warehouse: what replaces what, what is known, and what versions depend on."""

import os

import duckdb
import pyarrow as pa
import pytest

from wh_judge.inputs import TABLES
from wh_judge.store.problems import read_problems
from wh_judge.store.schema import arrow
from wh_judge.store.tables import is_known, replace_table
from wh_judge.store.versions import rows_version, table_version
from wh_judge_tests.builders import card
from wh_judge_tests.house import CARDS, House, rows

Connection = duckdb.DuckDBPyConnection


def test_problems_are_told_by_table(warehouse: Connection, house: House) -> None:
    house.gold(("T-1", "그럭저럭"))
    replace_table(warehouse, TABLES["gold_label"], house.inputs / "gold.csv")
    assert [p.table for p in read_problems(warehouse)] == ["chat_turn", "gold_label"]
    assert [p.table for p in read_problems(warehouse, TABLES["gold_label"])] == ["gold_label"]


def test_cards_are_replaced_whole(warehouse: Connection, house: House) -> None:
    house.cards(CARDS[0], card("C-4"))
    replace_table(warehouse, TABLES["character_card"], house.inputs / "cards.json")
    assert rows(warehouse, "SELECT character_id FROM character_card ORDER BY 1") == [("C-1",), ("C-4",)]


def test_a_card_s_version_changes_with_the_card_alone(warehouse: Connection, house: House) -> None:
    sql = "SELECT character_id, version FROM character_card"
    before: dict[str, str] = dict(rows(warehouse, sql))
    house.cards(card("C-1", canon_entities=["하늘", "검술원"]), *CARDS[1:])
    replace_table(warehouse, TABLES["character_card"], house.inputs / "cards.json")
    after: dict[str, str] = dict(rows(warehouse, sql))
    assert [name for name in before if before[name] != after[name]] == ["C-1"]


def test_the_lexicon_keeps_its_order(warehouse: Connection, house: House) -> None:
    house.lexicon(("하", "마지막"), ("가", "처음"), ("가", "또"))
    replace_table(warehouse, TABLES["topic_lexicon"], house.inputs / "lexicon.csv")
    assert rows(warehouse, "SELECT term, topic FROM topic_lexicon ORDER BY position") == [
        ("하", "마지막"),
        ("가", "처음"),
        ("가", "또"),
    ]


def test_an_input_is_known_until_its_contents_change(warehouse: Connection, house: House) -> None:
    table, path = TABLES["topic_lexicon"], house.inputs / "lexicon.csv"
    assert is_known(warehouse, table, path)
    os.utime(path, ns=(0, 0))
    assert is_known(warehouse, table, path)
    house.lexicon(("선거", "현실 정치"))
    assert not is_known(warehouse, table, path)


def test_an_input_that_was_never_read_is_not_known(warehouse: Connection, house: House) -> None:
    assert not is_known(warehouse, TABLES["gold_label"], house.inputs / "gold.csv")


@pytest.mark.parametrize("other", ["SELECT 2 AS a UNION ALL SELECT 1", "SELECT 1 AS a UNION ALL SELECT 2"])
def test_a_version_depends_on_the_rows_and_not_on_their_order(other: str) -> None:
    with duckdb.connect() as connection:
        assert table_version(connection, other, "a") == table_version(connection, "SELECT unnest([1, 2]) AS a", "a")
        assert rows_version(connection, other) == rows_version(connection, "SELECT unnest([1, 2]) AS a")


@pytest.mark.parametrize(
    "other",
    [
        "SELECT 1 AS a, 'x' AS b WHERE false",
        "SELECT 1 AS a, NULL AS b",
        "SELECT 1 AS a, '' AS b",
        "SELECT 1 AS a, 'x ' AS b",
        "SELECT unnest([1, 1]) AS a, 'x' AS b",
    ],
)
def test_a_version_depends_on_every_cell(other: str) -> None:
    with duckdb.connect() as connection:
        assert table_version(connection, other, "a") != table_version(connection, "SELECT 1 AS a, 'x' AS b", "a")
        assert rows_version(connection, other) != rows_version(connection, "SELECT 1 AS a, 'x' AS b")


def test_rows_come_out_of_the_warehouse_as_they_went_in(warehouse: Connection, house: House) -> None:
    house.cards(card("C-1", entity_roles=[{"role": "동생", "entity": "하늘"}], canon_entities=[]))
    batch = replace_table(warehouse, TABLES["character_card"], house.inputs / "cards.json")
    found: pa.Table = warehouse.sql("SELECT * EXCLUDE version FROM character_card").to_arrow_table()
    assert found.to_pylist() == batch.rows.to_pylist()


def test_rows_come_out_in_chunks_that_hold_long_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk of Arrow ends at two gigabytes of text."""
    monkeypatch.setattr("wh_judge.store.schema.ARROW_ROWS", 2048)
    with duckdb.connect() as connection:
        found = arrow(connection, "SELECT repeat('x', 9) AS a FROM range(5000)", pa.schema([("a", pa.string())]))
    assert [len(chunk) for chunk in found["a"].chunks] == [2048, 2048, 904]
