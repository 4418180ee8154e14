"""The sample, judged: a warehouse with its turns, verdicts, cards, lexicon and labels."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from wh_judge.evaluation.agreement import measure_agreement
from wh_judge.files import read_log_table
from wh_judge.ingest import read_table
from wh_judge.inputs import TABLES
from wh_judge.judge import judge
from wh_judge.model import GOLD_SCHEMA, LEXICON_SCHEMA
from wh_judge.rules import RuleSettings
from wh_judge.settings import Settings
from wh_judge.store import open_warehouse
from wh_judge.store.inputs import bring_in
from wh_judge.store.log import log_days
from wh_judge.store.tables import replace_table
from wh_judge_tests.documents import ROOT
from wh_judge_tests.house import House

SAMPLE = ROOT / "data" / "sample"


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of data in which the sample is judged."""
    house = House(tmp_path_factory.mktemp("sample"))
    house.inputs = SAMPLE
    settings = Settings.model_validate({"data": house.data, "inputs": SAMPLE, "first_day": "2026-09-01"})
    with open_warehouse(settings.warehouse) as connection:
        for table, file in (
            ("topic_lexicon", "lexicon.csv"),
            ("character_card", "cards.json"),
            ("gold_label", "gold.csv"),
        ):
            replace_table(connection, TABLES[table], SAMPLE / file)  # type: ignore[index]
        bring_in(connection, settings)
        for day in log_days(connection):
            assert house.judge(connection, day).committed
    return house.data


@pytest.fixture
def connection(sample: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(sample / "warehouse.duckdb"), read_only=True) as connection:
        connection.execute("SET TimeZone = 'Asia/Seoul'")
        yield connection


Rows = list[dict[str, Any]]


def by_kernel(settings: RuleSettings, change: Callable[[Rows], Rows] = lambda rows: rows) -> tuple[dict[str, str], int]:
    """The sample's verdicts by these settings and by what is made of its lexicon, and on how many labels they agree."""
    turns, cards = (
        read_log_table(SAMPLE / "turns").rows,
        read_table(SAMPLE / "cards.json", TABLES["character_card"]).rows,
    )
    lexicon = change(read_table(SAMPLE / "lexicon.csv", TABLES["topic_lexicon"]).rows.to_pylist())
    gold = read_table(SAMPLE / "gold.csv", TABLES["gold_label"]).rows
    judged = judge(turns, cards, pa.Table.from_pylist(lexicon, LEXICON_SCHEMA), settings)
    agreement = measure_agreement(gold.cast(GOLD_SCHEMA), judged.verdicts, judged.unjudged)
    verdicts: pa.Table = judged.verdicts
    return dict(zip(verdicts["turn_id"].to_pylist(), verdicts["verdict"].to_pylist(), strict=True)), agreement.agreed
