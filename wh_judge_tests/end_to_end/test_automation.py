"""A range is backfilled, a card edited, a file corrected: the automation judges again what follows, and says why."""

from collections import Counter
from typing import Any

import duckdb
import pytest

from wh_judge.files import read_log_table
from wh_judge.ingest import TABLES, read_table
from wh_judge.judge import judge
from wh_judge.validations import VALIDATIONS
from wh_judge_tests.end_to_end.conftest import CORRECTED_DAY, DAYS, EDITED, EDITED_DAY, SAMPLE, Log, Step
from wh_judge_tests.end_to_end.server import Server

pytestmark = pytest.mark.end_to_end


def published(server: Server) -> dict[str, str]:
    """The verdicts that readers get, by turn."""
    folder = server.data / "published"
    path = folder / f"{(folder / 'current').read_text(encoding='utf-8').strip()}.duckdb"
    with duckdb.connect(path, read_only=True) as connection:
        return dict(connection.execute("SELECT turn_id, verdict FROM verdict").fetchall())


def expected(server: Server) -> dict[str, str]:
    """What the judge says of the same files."""
    inputs = server.inputs
    cards, lexicon = (
        read_table(inputs / name, TABLES[table]).rows
        for name, table in (("cards.json", "character_card"), ("lexicon.csv", "topic_lexicon"))
    )
    verdicts = judge(read_log_table(inputs / "turns").rows, cards, lexicon).verdicts.to_pylist()
    return {row["turn_id"]: row["verdict"] for row in verdicts}


def test_the_backfill_runs_each_day_once(backfilled: Step) -> None:
    assert backfilled.days == DAYS
    assert {run["status"] for run in backfilled.runs} == {"SUCCESS"}


def test_readers_get_what_the_judge_says(server: Server, log: Log, backfilled: Step) -> None:
    assert len(expected(server)) == sum(map(len, log.turns.values()))
    print(published(server) == expected(server))


def test_step(server: Server, corrected: dict[str, Any]) -> None:
    import time
    for run in server.runs():
        print(run["jobName"], run["status"], run["creationTime"], run["tags"])
    print(server.wh_judge("changes"))
    print(server.wh_judge("why", corrected["turn_id"]))
    print(server.told())
