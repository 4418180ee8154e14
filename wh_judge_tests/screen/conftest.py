"""The screen over a published log that no test changes, and one that a test may change."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from wh_judge_tests.house import House
from wh_judge_tests.screen.site import reader, settle_and_publish


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> House:
    """A published log; not to be changed."""
    return settle_and_publish(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="session")
def client(site: House) -> Iterator[TestClient]:
    """A reader of it."""
    with reader(site) as found:
        yield found


@pytest.fixture
def house(site: House, tmp_path: Path) -> House:
    """A published log of the test's own."""
    shutil.copytree(site.data.parent, tmp_path, dirs_exist_ok=True)
    return House(tmp_path)
