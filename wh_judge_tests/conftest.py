"""Hypothesis: no deadline, since machines differ, and a blob that repeats a failure. A database with the macros."""

import sys
from collections.abc import Iterator

import duckdb
import pytest
from hypothesis import settings

from wh_judge.text import SQL_MACROS

settings.register_profile("wh_judge", deadline=None, print_blob=True)
settings.load_profile("wh_judge")

# A worker of xdist has a main module without a file. pyspark, which Great Expectations imports where it is installed,
# takes such a process for a run of its own doctests and ends it.
if not hasattr(sys.modules["__main__"], "__file__"):
    sys.modules["__main__"].__file__ = __file__


@pytest.fixture(scope="session")
def macros() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory that has the macros of `wh_judge.text` and nothing else."""
    with duckdb.connect() as connection:
        connection.execute(SQL_MACROS)
        yield connection
