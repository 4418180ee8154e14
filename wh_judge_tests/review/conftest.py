"""The sample, judged: a warehouse with its turns, verdicts, cards, lexicon and labels."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from wh_judge.inputs import TABLES
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
