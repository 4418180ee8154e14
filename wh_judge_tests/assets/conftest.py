"""One complete run of the graph, for tests that only read it, and a house that a test may change."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from wh_judge_tests.assets.graph import Ran
from wh_judge_tests.house import DAYS, House, settle


@pytest.fixture(scope="session")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    """The log of `house`, brought in, judged day by day, evaluated and published."""
    with dg.DagsterInstance.ephemeral() as instance:
        graph = Ran(settle(tmp_path_factory.mktemp("graph")), instance)
        graph.run("inputs")
        for day in DAYS:
            graph.run("day", day)
        graph.run("evaluations")
        yield graph


@pytest.fixture
def copy(ran: Ran, tmp_path: Path) -> Iterator[Ran]:
    """A copy of that house as it was left, with an instance that knows of no run."""
    shutil.copytree(ran.house.inputs, tmp_path / "inputs")
    shutil.copytree(ran.house.data, tmp_path / "data")
    with dg.DagsterInstance.ephemeral() as instance:
        yield Ran(House(tmp_path), instance)
