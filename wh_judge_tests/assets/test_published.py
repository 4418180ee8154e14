"""`published`: the snapshot that a run leaves for readers."""

from pathlib import Path

import duckdb

from wh_judge_tests.assets.graph import Ran, materialized
from wh_judge_tests.house import DAY_3, rows, tables


def test_it_comes_last(ran: Ran) -> None:
    assert materialized(ran.runs["evaluations"])[-1] == "published"


def test_it_carries_its_numbers(ran: Ran) -> None:
    metadata = ran.metadata("published", "evaluations")
    assert metadata["dagster/row_count"] == 16
    assert metadata["size_bytes"] == Path(metadata["snapshot"]).stat().st_size
    assert metadata["written"] is True
    assert "| verdict | 16 |" in metadata["tables"].splitlines()


def test_it_is_found_by_its_id(ran: Ran) -> None:
    [event] = ran.runs["evaluations"].asset_materializations_for_node("published")
    snapshot_id = (event.tags or {})["dagster/data_version"]
    folder = ran.house.settings.published
    assert (folder / "current").read_text().strip() == snapshot_id
    assert ran.metadata("published", "evaluations")["snapshot"] == str(folder / f"{snapshot_id}.duckdb")


def test_readers_get_what_stands_in_the_warehouse(ran: Ran) -> None:
    path = ran.metadata("published", "evaluations")["snapshot"]
    with duckdb.connect(path, read_only=True) as reader, ran.house.warehouse() as connection:
        reader.execute("SET TimeZone = 'Asia/Seoul'")
        found, expected = tables(reader, runs=True), tables(connection, runs=True)
        assert [len(found.pop("verdict"))] == [len(expected.pop("verdict"))], "these rows say who wrote them, too"
        assert found == expected
        assert [name for (name,) in rows(reader, "SELECT name FROM evaluation ORDER BY 1")] == [
            "arena_ratings",
            "capability_profiles",
            "gold_agreement",
            "model_divergence",
            "probe_results",
            "vote_agreement",
        ]


def test_a_graph_that_is_run_twice_publishes_nothing_new(copy: Ran) -> None:
    [before] = copy.house.settings.published.glob("*.duckdb")
    copy.run("inputs")
    copy.run("day", DAY_3)
    copy.run("evaluations")
    assert list(copy.house.settings.published.glob("*.duckdb")) == [before]
    assert copy.metadata("published", "evaluations")["written"] is False
