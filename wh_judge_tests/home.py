"""A house with a Dagster home of its own, as the command line uses it."""

import shutil
from pathlib import Path

import dagster as dg
import pytest

from wh_judge_tests.house import House

POOLED = """\
telemetry: {enabled: false}
concurrency: {pools: {granularity: op, default_limit: 1}}
"""


class Home(House):
    """A house, and the folder that keeps its runs."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(root)
        self.root, self.folder = root, root / "home"
        self.folder.mkdir(exist_ok=True)
        (self.folder / "dagster.yaml").write_text(POOLED)
        monkeypatch.setenv("DAGSTER_HOME", str(self.folder))
        monkeypatch.chdir(root)

    def instance(self) -> dg.DagsterInstance:
        return dg.DagsterInstance.from_config(str(self.folder))

    def forget_history(self) -> None:
        """Delete all that Dagster knows."""
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)

    def check(self, asset: str, name: str) -> dg.AssetCheckEvaluation:
        """The newest result of a check."""
        key = dg.AssetCheckKey(dg.AssetKey(asset), name)
        with self.instance() as instance:
            [record] = instance.event_log_storage.get_asset_check_execution_history(key, limit=1)
        assert record.event is not None and record.event.dagster_event is not None
        return record.event.dagster_event.asset_check_evaluation_data

    def runs(self) -> list[tuple[str, str | None, str]]:
        """All runs, oldest first: job, day, status."""
        with self.instance() as instance:
            runs = instance.get_runs(ascending=True)
        return [(run.job_name, run.tags.get("dagster/partition"), run.status.value) for run in runs]
