"""How long it takes to bring in and rate votes: a million over 50 models.

    python benchmarks/votes.py [VOTES] [MODELS]

Prints the seconds, and those of the processor, for reading a file of another tool, for reading the file in each of its
forms, for reading it into the warehouse, for counting, for both ratings with their intervals, and for the agreement of
annotators.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb
import numpy as np

from wh_judge.evaluation.labellers import measure_labellers
from wh_judge.evaluation.ratings import rate_arena
from wh_judge.ingest import read_table
from wh_judge.inputs import TABLES
from wh_judge.settings import Settings
from wh_judge.store import open_warehouse
from wh_judge.store.votes import bring_in_people, read_tallies, vote_sources, vote_table
from wh_judge.votes.formats import read_votes

WINNERS = ("model_a", "model_b", "tie", "both_bad")


def write_votes(path: Path, votes: int, models: int) -> None:
    """Votes drawn from ratings with a deviation of 120 points, on 5,000 cases, by 200 annotators."""
    generator = np.random.default_rng(0)
    strengths = generator.normal(1000, 120, models)
    pairs = generator.permuted(np.tile(np.arange(models), (votes, 1)), axis=1)[:, :2]
    chance = 0.8 / (1 + 10 ** ((strengths[pairs[:, 1]] - strengths[pairs[:, 0]]) / 400))
    drawn = generator.random(votes)
    winner = np.select([drawn < chance, drawn < 0.8, drawn < 0.93], [0, 1, 2], 3)
    cases, annotators = generator.integers(5000, size=votes), generator.integers(200, size=votes)
    with path.open("w", encoding="utf-8") as file:
        for n in range(votes):
            a, b = pairs[n]
            row = {
                "vote_id": f"V-{n}",
                "case_id": f"P-{cases[n]}",
                "model_a": f"model-{a:02}",
                "model_b": f"model-{b:02}",
                "winner": WINNERS[winner[n]],
                "annotator": f"A-{annotators[n]}",
                "source": "benchmark",
            }
            file.write(json.dumps(row) + "\n")


def main() -> None:
    """Measure."""
    votes, models = (int(word) for word in (sys.argv[1:] + ["1000000", "50"][len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder) / "inputs"
        inputs.mkdir()
        write_votes(inputs / "votes.jsonl", votes, models)
        forms = [Path(folder, f"votes{suffix}") for suffix in (".json", ".csv", ".parquet")]
        for form, options in zip(forms, ("FORMAT json, ARRAY true", "HEADER", "FORMAT parquet"), strict=True):
            duckdb.sql(f"COPY (FROM '{inputs / 'votes.jsonl'}') TO '{form}' ({options})")
        settings = Settings(data=Path(folder) / "data", inputs=inputs)  # type: ignore[call-arg]
        with open_warehouse(settings.warehouse) as connection:
            steps: list[tuple[str, Callable[[], object]]] = [
                ("imported", lambda: read_votes(inputs / "votes.jsonl", "lmarena", "benchmark")),
                *((f"read {form.suffix}", partial(read_table, form, TABLES["vote"])) for form in forms),
                ("brought in", lambda: bring_in_people(connection, settings)),
                ("counted", lambda: read_tallies(connection)),
                ("rated", lambda: rate_arena(read_tallies(connection), [], vote_sources(connection))),
                ("annotators", lambda: measure_labellers(vote_table(connection))),
            ]
            for name, work in steps:
                begun, used = time.perf_counter(), time.process_time()
                work()
                seconds = time.perf_counter() - begun
                print(f"{name:<12}{seconds:8.2f} s{time.process_time() - used:8.2f} s of the processor")


if __name__ == "__main__":
    main()
