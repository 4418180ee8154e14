"""The documents of the evaluations follow from the rows alone: in whatever order they lie, not a bit differs."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from wh_judge.day import judge_day
from wh_judge.evaluation.agreement import measure_agreement
from wh_judge.evaluation.divergence import measure_divergence
from wh_judge.evaluation.profile import measure_profiles
from wh_judge.evaluation.ratings import rate_arena
from wh_judge.evaluation.support import support_votes, tally
from wh_judge.inputs import TABLES, input_path
from wh_judge.model import GOLD_SCHEMA
from wh_judge.probes.files import read_probes
from wh_judge.settings import Settings
from wh_judge.store import open_warehouse
from wh_judge.store.evaluations import read_judged, read_prompted, read_scores
from wh_judge.store.inputs import bring_in
from wh_judge.store.log import log_days
from wh_judge.store.probes import results_of
from wh_judge.store.schema import arrow, names, number
from wh_judge.store.tables import replace_table
from wh_judge.store.vote_agreement import agreement_now
from wh_judge.store.votes import bring_in_people, read_support, read_tallies, vote_sources

Connection = duckdb.DuckDBPyConnection
SAMPLE = Path(__file__).parents[2] / "data/sample"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return Settings.model_validate({"data": tmp_path_factory.mktemp("sample"), "inputs": SAMPLE})


@pytest.fixture(scope="module")
def sample(settings: Settings) -> Iterator[Connection]:
    """The sample judged, with another judge of it whose scores are thirds and sevenths, and what models support."""
    with open_warehouse(settings.warehouse) as connection:
        for name in ("topic_lexicon", "character_card", "gold_label"):
            replace_table(connection, TABLES[name], input_path(settings.inputs, TABLES[name]))
        bring_in(connection, settings)
        bring_in_people(connection, settings)
        for day in log_days(connection):
            assert judge_day(connection, day, settings, lambda rows: True, "run").committed
        connection.execute(
            """INSERT INTO judge_score BY NAME
               SELECT 'other' AS judge, run::VARCHAR AS run, turn_id, (hash(turn_id, run) % 22) / 21 AS score
               FROM chat_turn, range(1, 3) AS runs(run);
               UPDATE turn_row SET prompt_id = 'P-' || (hash(turn_id) % 5) WHERE prompt_id IS NULL;
               INSERT INTO capability_support BY NAME
               SELECT DISTINCT prompt_id AS case_id, model_id, hash(prompt_id, model_id) % 3 > 0 AS supported
               FROM chat_turn WHERE prompt_id IS NOT NULL"""
        )
        yield connection


def documents(connection: Connection, settings: Settings) -> dict[str, str]:
    """All evaluations of what stands in the warehouse, as they would be kept."""
    gold = arrow(connection, f"SELECT {names(GOLD_SCHEMA)} FROM gold_label", GOLD_SCHEMA)
    support = tally(support_votes(read_support(connection)))
    found = {
        "gold_agreement": measure_agreement(gold, *read_judged(connection)),
        "model_divergence": measure_divergence(*read_prompted(connection)),
        "capability_profiles": measure_profiles(read_scores(connection)),
        "arena_ratings": rate_arena(read_tallies(connection), support, vote_sources(connection)),
        "vote_agreement": agreement_now(connection, settings.rules),
        "probe_results": results_of(connection, read_probes(settings.inputs / "probes.json")),
    }
    return {name: document.model_dump_json() for name, document in found.items()}


SHUFFLED = (
    *("turn_row", "verdict_row", "unjudged", "character_card", "card_history"),
    *("gold_label", "vote", "judge_score", "capability_support"),
)


def shuffle(connection: Connection, seed: int) -> None:
    """Lay the rows of all tables that evaluations read in another order."""
    for name in SHUFFLED:
        connection.execute(f"CREATE OR REPLACE TEMP TABLE shuffled AS FROM {name}")
        connection.execute(f"DELETE FROM {name}")
        connection.execute(f"INSERT INTO {name} SELECT * FROM shuffled ORDER BY hash(shuffled::VARCHAR || {seed})")


def test_the_order_in_which_rows_lie_changes_no_bit_of_an_evaluation(sample: Connection, settings: Settings) -> None:
    assert min(number(sample, f"SELECT count(*) FROM {name}") for name in SHUFFLED if name != "unjudged") > 1
    expected = documents(sample, settings)
    for seed in range(1, 3):
        shuffle(sample, seed)
        sample.execute(f"SET threads = {seed}")
        assert documents(sample, settings) == expected


def test_scores_of_turns_that_answered_a_prompt_are_among_all_scores(warehouse: Connection) -> None:
    scores = read_scores(warehouse).to_pylist()
    answering = [row for row in scores if row["prompt_id"] is not None]
    assert 0 < len(answering) < len(scores)
    assert read_scores(warehouse, prompted=True).to_pylist() == answering
