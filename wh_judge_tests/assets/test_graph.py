"""The graph as a whole: a snapshot of it, and what must hold for every asset and check in it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import pytest

from wh_judge.assets import ASSETS
from wh_judge.assets.inputs import OWNERS
from wh_judge.definitions import build_definitions, defs
from wh_judge.resources import POOL, Warehouse
from wh_judge.validations import VALIDATIONS
from wh_judge_tests.assets.snapshot import FILE, described

ROOT = Path(__file__).parents[2]
GRAPH = defs.resolve_asset_graph()
NODES = [GRAPH.get(key) for asset in ASSETS for key in sorted(asset.keys, key=str)]
CHECKS = [GRAPH.get_check_spec(key) for key in sorted(GRAPH.asset_check_keys, key=str)]


def test_the_graph_is_the_one_in_the_snapshot() -> None:
    assert described() == json.loads(FILE.read_text("utf-8")), (
        "python -m wh_judge_tests.assets.snapshot accepts the change"
    )


def test_these_are_the_assets() -> None:
    assert {node.key.to_user_string() for node in NODES} == {
        "cards",
        "lexicon",
        "turns",
        "verdicts",
        "verdict_changes",
        "drafts",
        "gold_agreement",
        "model_divergence",
        "capability_profiles",
        "votes",
        "arena_ratings",
        "vote_agreement",
        "probe_results",
        "published",
    }
    assert {node.key for node in NODES} == set(GRAPH.get_all_asset_keys())


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.key.to_user_string())
def test_every_asset_says_what_it_is(node: Any) -> None:
    assert node.description and len(node.description) > 40
    assert node.group_name in {"inputs", "judgement", "evaluation", "publication"}
    assert node.owners == OWNERS
    assert node.kinds


@pytest.mark.parametrize("spec", CHECKS, ids=lambda spec: f"{spec.asset_key.to_user_string()}-{spec.name}")
def test_every_check_says_what_it_is(spec: dg.AssetCheckSpec) -> None:
    assert spec.description and len(spec.description) > 20


def test_every_asset_opens_the_warehouse_in_the_pool() -> None:
    """But for `drafts`, which would keep everybody out for as long as a model takes to answer."""
    assert {pool for node in NODES for pool in node.pools or ()} == {POOL}
    assert {node.key.to_user_string() for node in NODES if not node.pools} == {"drafts"}


def test_each_validation_is_a_blocking_check_by_day() -> None:
    names = {entry.code for entry in VALIDATIONS}
    found = {spec.name: GRAPH.get(spec.key) for spec in CHECKS if spec.name in names}
    assert set(found) == names
    assert {spec.asset_key.to_user_string() for spec in CHECKS if spec.name in names} == {"verdicts"}
    assert all(check.blocking for check in found.values())
    assert {check.partitions_def for check in found.values()} == {GRAPH.get(dg.AssetKey("verdicts")).partitions_def}


def test_the_ten_are_numbered() -> None:
    assert [entry.number for entry in VALIDATIONS if entry.number is not None] == list(range(1, 11))


@pytest.mark.parametrize("asset", ["cards", "lexicon", "turns", "verdicts"])
def test_every_table_has_a_blocking_suite(asset: str) -> None:
    assert GRAPH.get(dg.AssetCheckKey(dg.AssetKey(asset), "suite")).blocking


@pytest.mark.parametrize("asset", ["cards", "lexicon", "turns", "gold_agreement"])
def test_whatever_reads_files_warns_of_bad_rows(asset: str) -> None:
    assert not GRAPH.get(dg.AssetCheckKey(dg.AssetKey(asset), "rows_accepted")).blocking


@pytest.mark.parametrize("asset", ["turns", "verdicts", "verdict_changes", "drafts"])
def test_a_backfill_runs_one_day_at_a_time(asset: str) -> None:
    """Without a policy each run is of one partition; with one it is of a range, which results of checks do not know."""
    assert GRAPH.get(dg.AssetKey(asset)).backfill_policy is None


def test_definitions_load() -> None:
    dg.Definitions.validate_loadable(defs)


def test_definitions_are_made_anew_with_other_resources() -> None:
    other = Warehouse(data="/elsewhere")
    assert build_definitions({"warehouse": other}).resources == {"warehouse": other}
    assert build_definitions().resources == {"warehouse": Warehouse()}


def test_days_begin_with_the_setting_and_end_today_in_seoul() -> None:
    days = GRAPH.get(dg.AssetKey("turns")).partitions_def
    assert isinstance(days, dg.DailyPartitionsDefinition)
    assert (days.timezone, days.end_offset, days.minute_offset, days.hour_offset) == ("Asia/Seoul", 1, 0, 0)


def test_the_resource_takes_its_settings_from_the_environment_when_it_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WH_JUDGE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("WH_JUDGE_INPUTS", str(tmp_path / "inputs"))
    settings = Warehouse(data=str(tmp_path / "flag")).settings()
    assert (settings.data, settings.inputs) == (tmp_path / "flag", tmp_path / "inputs")


def test_the_resource_closes_its_connection(tmp_path: Path) -> None:
    with Warehouse(data=str(tmp_path)).connect() as connection:
        connection.execute("SELECT 1")
    with pytest.raises(duckdb.ConnectionException):
        connection.execute("SELECT 1")


@pytest.fixture(scope="module")
def validated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.CompletedProcess[str]]:
    """`dagster definitions validate` in the checkout, which loads workspace.yaml."""
    home = tmp_path_factory.mktemp("home")
    yield subprocess.run(
        [str(Path(sys.executable).parent / "dagster"), "definitions", "validate", "--log-level", "info"],
        cwd=ROOT,
        env=os.environ | {"DAGSTER_HOME": str(home), "DAGSTER_DISABLE_TELEMETRY": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_workspace_loads_and_is_valid(validated: subprocess.CompletedProcess[str]) -> None:
    assert validated.returncode == 0, validated.stderr
    assert "Validation successful for code location wh-judge" in validated.stderr + validated.stdout


def test_loading_warns_of_nothing(validated: subprocess.CompletedProcess[str]) -> None:
    output = validated.stdout + validated.stderr
    assert "PreviewWarning" not in output
    assert "BetaWarning" not in output
