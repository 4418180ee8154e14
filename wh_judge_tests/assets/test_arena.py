"""`votes` and `arena_ratings`: files in, rows and ratings out, with a warning for each label that is none."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from wh_judge.store import evaluations
from wh_judge.store.votes import (
    journal_votes,
    people_known,
    read_answers,
    read_tallies,
    read_votes,
    vote_sources,
    votes_by_case,
)
from wh_judge.votes.journal import append
from wh_judge_tests.assets.graph import Ran, checks, values
from wh_judge_tests.house import rows
from wh_judge_tests.input_files import write
from wh_judge_tests.votes import vote

VOTES = [
    vote("V-1", winner="model_a"),
    vote("V-2", winner="model_b", model_a="M-2", model_b="M-1"),
    vote("V-3", winner="model_b"),
    vote("V-4", winner="tie"),
    vote("V-5", winner="both_bad", source="synthetic"),
]


def put(folder: Path, name: str, documents: Sequence[Any]) -> None:
    write(folder / f"{name}.jsonl", documents)


@pytest.fixture
def voted(copy: Ran) -> Ran:
    """A house with votes among the inputs, and one in the journal."""
    put(copy.house.inputs, "votes", [entry.model_dump(mode="json") for entry in VOTES[:-1]])
    append(copy.house.settings.votes, VOTES[-1])
    copy.run("evaluations")
    return copy


def test_votes_of_the_inputs_and_of_the_journal_are_one_table(voted: Ran) -> None:
    with voted.house.warehouse() as connection:
        assert sorted(read_votes(connection), key=lambda entry: entry.vote_id) == VOTES
        assert [entry.vote_id for entry in read_votes(connection, "synthetic")] == ["V-5"]
        assert vote_sources(connection) == {"page": 4, "synthetic": 1}
        [tally] = read_tallies(connection)
    assert tally == ("M-1", "M-2", 2, 1, 1, 1)


def test_ratings_are_what_the_warehouse_keeps(voted: Ran) -> None:
    with voted.house.warehouse() as connection:
        document = evaluations.read(connection, "arena_ratings")
        found = rows(
            connection, "SELECT counted, model_id, rating, low, votes FROM model_rating WHERE counted = 'people'"
        )
    assert document is not None
    assert found == [
        ("people", entry["model_id"], entry["rating"], entry["low"], entry["votes"])
        for entry in document["people"]["ratings"]
    ]
    metadata = voted.metadata("arena_ratings", "evaluations")
    assert (metadata["votes"], metadata["support_votes"], metadata["common_scale"]) == (5, 0, True)
    assert "1 of 5 votes are synthetic: a program drew them, no person gave them" in metadata["cautions"]
    assert metadata["picture"].startswith("![ratings by votes](data:image/png;base64,")


def test_support_makes_a_second_rating(voted: Ran) -> None:
    put(
        voted.house.inputs,
        "support",
        [{"case_id": "P-9", "model_id": m, "supported": m == "M-2"} for m in ("M-1", "M-2")],
    )
    voted.run("evaluations")
    with voted.house.warehouse() as connection:
        found = rows(connection, "SELECT counted, rating FROM model_rating WHERE model_id = 'M-1' ORDER BY 1")
    # Two wins to one among people, two to two with support.
    assert [counted for counted, _ in found] == ["people", "with support"]
    assert found[0][1] > 1000
    assert found[1][1] == pytest.approx(1000)
    assert voted.metadata("arena_ratings", "evaluations")["support_votes"] == 1


def test_an_unknown_label_is_warned_of_and_is_no_vote(voted: Ran) -> None:
    put(
        voted.house.inputs,
        "votes",
        [VOTES[0].model_dump(mode="json"), VOTES[1].model_dump(mode="json") | {"winner": "?"}],
    )
    result = voted.run("evaluations")
    check = checks(result)["votes", "rows_accepted"]
    assert (check.passed, check.severity, values(check)["rejected"]) == (False, dg.AssetCheckSeverity.WARN, 1)
    with voted.house.warehouse() as connection:
        assert sorted(entry.vote_id for entry in read_votes(connection)) == ["V-1", "V-5"]


def test_a_vote_that_stands_in_both_places_counts_once(voted: Ran) -> None:
    append(voted.house.settings.votes, VOTES[0])
    voted.run("evaluations")
    with voted.house.warehouse() as connection:
        assert len(read_votes(connection)) == len(VOTES)


def test_new_votes_are_seen_and_gone_ones_too(voted: Ran) -> None:
    settings = voted.house.settings
    with voted.house.warehouse() as connection:
        assert people_known(connection, settings)
        append(settings.votes, vote("V-6"))
        assert not people_known(connection, settings)
    voted.run("evaluations")
    (voted.house.inputs / "votes.jsonl").unlink()
    with voted.house.warehouse() as connection:
        assert not people_known(connection, settings)
    voted.run("evaluations")
    with voted.house.warehouse() as connection:
        assert sorted(entry.vote_id for entry in read_votes(connection)) == ["V-5", "V-6"]


def test_without_a_common_scale_models_are_rated_inside_their_components(copy: Ran) -> None:
    put(copy.house.inputs, "votes", [vote("V-1", winner="model_a").model_dump(mode="json")])
    copy.run("evaluations")
    metadata = copy.metadata("arena_ratings", "evaluations")
    assert metadata["common_scale"] is False and "M-1 | not defined | not defined" in metadata["ratings"]
    assert len(metadata["ratings_inside_components"].splitlines()) == 2 + 2
    assert "won every comparison with others" in metadata["components"]


def test_without_votes_there_is_no_rating(ran: Ran) -> None:
    metadata = ran.metadata("arena_ratings", "evaluations")
    assert metadata["votes"] == 0
    assert "picture" not in metadata
    with ran.house.warehouse() as connection:
        assert people_known(connection, ran.house.settings)
        assert rows(connection, "FROM model_rating") == []


def test_the_document_is_json(voted: Ran) -> None:
    with voted.house.warehouse() as connection:
        [(text,)] = rows(connection, "SELECT document FROM evaluation WHERE name = 'arena_ratings'")
    assert json.loads(text)["people"]["sources"] == {"page": 4, "synthetic": 1}


def test_replies_that_can_be_voted_on_are_the_first_of_each_model(voted: Ran) -> None:
    with voted.house.warehouse() as connection:
        found = read_answers(connection)
        assert votes_by_case(connection) == {"P-1": 5}
    assert {case: sorted(models) for case, models in found.items()} == {
        "P-1": ["M-1", "M-2"],
        "P-2": ["M-1", "M-2"],
        "P-3": ["M-1", "M-2"],
    }
    assert (found["P-3"]["M-2"].turn_id, found["P-3"]["M-1"].turn_id) == ("T-16", "T-17")


def test_votes_that_no_run_has_counted_yet_are_known(voted: Ran) -> None:
    append(voted.house.settings.votes, vote("V-9"))
    assert [entry.vote_id for entry in journal_votes(voted.house.settings)] == ["V-5", "V-9"]


def test_with_support_alone_there_are_ratings_and_it_says_that_nobody_voted(copy: Ran) -> None:
    put(
        copy.house.inputs,
        "support",
        [{"case_id": f"P-{n}", "model_id": m, "supported": m != n} for n in ("M-1", "M-2") for m in ("M-1", "M-2")],
    )
    copy.run("evaluations")
    metadata = copy.metadata("arena_ratings", "evaluations")
    assert (metadata["votes"], metadata["support_votes"]) == (0, 2)
    assert "| M-1 | not defined | not defined | 1000.0 |" in metadata["ratings"]
    assert "nobody has voted: all 2 comparisons follow from what the models support" in metadata["cautions"]
    assert metadata["picture"].startswith("![ratings by votes](data:image/png;base64,")
