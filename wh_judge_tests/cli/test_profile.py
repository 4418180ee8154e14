"""`wh-judge profile`: all models, or two of them."""

import json
from pathlib import Path

import pytest

from wh_judge.store import open_warehouse
from wh_judge_tests.cli.call import Result, call
from wh_judge_tests.house import DAYS, House, settle


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    """A house in which every day is judged."""
    house = settle(tmp_path_factory.mktemp("profile"))
    with house.warehouse() as connection:
        house.bring_in(connection)
        for day in DAYS:
            house.judge(connection, day)
    return house


def told(house: House, *arguments: str) -> Result:
    return call("profile", *arguments, "--data", house.data)


def test_every_model_has_a_row(house: House) -> None:
    code, out, error = told(house)
    assert (code, error) == (0, "")
    assert [line.split()[0] for line in out.splitlines() if line.startswith(" M-")] == ["M-1", "M-2"]


def test_json_is_the_document(house: House) -> None:
    document = json.loads(told(house, "--json").out)
    assert [profile["model_id"] for profile in document["profiles"]] == ["M-1", "M-2"]


def test_two_models_are_compared(house: House) -> None:
    code, out, _ = told(house, "M-2", "M-1")
    assert code == 0
    assert out.startswith("M-2 less M-1, in points")
    document = json.loads(told(house, "M-2", "M-1", "--json").out)
    assert (document["first"], document["second"]) == ("M-2", "M-1")
    assert document["axes"][0]["prompts"] == 1


@pytest.mark.parametrize(
    ("models", "reason"),
    [
        (["M-1"], "M-1: name a second model"),
        (["M-9"], "M-9: no turn of this model"),
        (["M-1", "M-9"], "M-9: no turn of this model"),
    ],
)
def test_a_model_that_is_missing_is_told(house: House, models: list[str], reason: str) -> None:
    code, out, error = told(house, *models)
    assert (code, out) == (2, "")
    assert reason in error and "there are M-1, M-2" in error


def test_an_empty_warehouse_is_told(tmp_path: Path) -> None:
    with open_warehouse(tmp_path / "warehouse.duckdb"):
        pass
    code, _, error = call("profile", "--data", tmp_path)
    assert code == 2 and "run wh-judge run first" in error


@pytest.mark.parametrize(
    "arguments",
    ["stale", "changes", "why T-1", "tree T-1", "profile", "votes ratings", "review terms"],
)
def test_a_folder_that_is_not_there_is_told_and_not_made(arguments: str, tmp_path: Path) -> None:
    code, _, error = call(*arguments.split(), "--data", tmp_path / "no_folder")
    assert (code, "is not there; name the folder of the warehouse" in error) == (2, True)
    assert not (tmp_path / "no_folder").exists()
