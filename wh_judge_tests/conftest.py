"""Hypothesis: no deadline, since machines differ, few examples, since each run draws others, and a blob that repeats a
failure. A database with the macros."""

from collections.abc import Iterator

import duckdb
import pytest
from hypothesis import settings

from wh_judge.text import SQL_MACROS

settings.register_profile("wh_judge", deadline=None, max_examples=50, print_blob=True)
settings.load_profile("wh_judge")


@pytest.fixture(scope="session")
def macros() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory that has the macros of `wh_judge.text` and nothing else."""
    with duckdb.connect() as connection:
        connection.execute(SQL_MACROS)
        yield connection
