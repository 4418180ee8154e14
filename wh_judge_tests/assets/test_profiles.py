"""`capability_profiles`: its document, its table for readers, and its picture."""

from wh_judge.evaluation.scores import AXES
from wh_judge.store import evaluations
from wh_judge_tests.assets.graph import Ran
from wh_judge_tests.house import rows


def test_profiles_are_what_the_warehouse_keeps(ran: Ran) -> None:
    with ran.house.warehouse() as connection:
        document = evaluations.read(connection, "capability_profiles")
    assert document is not None
    assert [profile["model_id"] for profile in document["profiles"]] == ["M-1", "M-2"]
    assert ran.metadata("capability_profiles", "evaluations")["models"] == 2


def test_readers_get_a_row_per_model_and_axis(ran: Ran) -> None:
    with ran.house.warehouse() as connection:
        document = evaluations.read(connection, "capability_profiles")
        found = rows(connection, "SELECT model_id, axis, score, turns, overall FROM model_profile")
    assert document is not None
    assert found == [
        (profile["model_id"], axis["axis"], axis["score"], axis["turns"], profile["overall"])
        for profile in document["profiles"]
        for axis in profile["axes"]
    ]
    assert [axis for model, axis, *_ in found if model == "M-1"] == list(AXES)


def test_the_table_is_empty_before_the_profiles_were_measured(copy: Ran) -> None:
    with copy.house.warehouse() as connection:
        connection.execute("DELETE FROM evaluation")
        assert rows(connection, "FROM model_profile") == []


def test_it_carries_tables_and_a_picture(ran: Ran) -> None:
    metadata = ran.metadata("capability_profiles", "evaluations")
    assert metadata["picture"].startswith("![capability profiles](data:image/png;base64,")
    assert "| M-1 | M-2 | overall |" in metadata["differences"]
    assert "2 models" in metadata["cautions"]


def test_without_a_verdict_there_is_no_profile(copy: Ran) -> None:
    with copy.house.warehouse() as connection:
        connection.execute("DELETE FROM verdict_row")
    copy.run("evaluations")
    metadata = copy.metadata("capability_profiles", "evaluations")
    assert metadata["models"] == 0
    assert "picture" not in metadata


def test_a_turn_is_scored_by_the_card_that_judged_it(copy: Ran) -> None:
    sql = "SELECT score FROM model_profile WHERE axis = 'canon' AND model_id = 'M-1'"
    with copy.house.warehouse() as connection:
        before = rows(connection, sql)
        connection.execute("UPDATE character_card SET forbidden_topics = []")
    copy.run("evaluations")
    with copy.house.warehouse() as connection:
        assert rows(connection, sql) == before
