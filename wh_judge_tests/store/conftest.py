"""A house that nothing was brought in from, and one in which every day is judged."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from wh_judge_tests.house import DAYS, House, settle


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a house with all inputs brought in and every day judged; to be copied."""
    root = tmp_path_factory.mktemp("judged")
    house = settle(root)
    with house.warehouse() as connection:
        house.bring_in(connection)
        for day in DAYS:
            assert house.judge(connection, day, f"first {day}").committed
    return root


@pytest.fixture
def house(judged: Path, tmp_path: Path) -> House:
    """A house in which every day is judged."""
    shutil.copytree(judged, tmp_path, dirs_exist_ok=True)
    return House(tmp_path)


@pytest.fixture
def warehouse(house: House) -> Iterator[duckdb.DuckDBPyConnection]:
    """The house's warehouse, open."""
    with house.warehouse() as connection:
        yield connection


@pytest.fixture
def new_house(tmp_path: Path) -> House:
    """A house that nothing was brought in from."""
    return settle(tmp_path)
