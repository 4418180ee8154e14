"""Runs of the graph over a house, and what they reported."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import dagster as dg

from wh_judge.assets import ASSETS
from wh_judge.definitions import build_definitions
from wh_judge.resources import Warehouse
from wh_judge_tests.house import House

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@dataclass
class Ran:
    """A house, the instance that keeps its runs, and the runs by job or day."""

    house: House
    instance: dg.DagsterInstance
    runs: dict[str, dg.ExecuteInProcessResult] = field(default_factory=dict)

    @property
    def resource(self) -> Warehouse:
        return Warehouse(data=str(self.house.data), inputs=str(self.house.inputs))

    def run(self, job: str, day: object = None) -> dg.ExecuteInProcessResult:
        """Run a job, for a day where one is given."""
        definitions = build_definitions({"warehouse": self.resource})
        result = definitions.resolve_job_def(job).execute_in_process(
            instance=self.instance,
            partition_key=None if day is None else str(day),
            raise_on_error=False,
            run_config=QUIET,
        )
        self.runs[job if day is None else str(day)] = result
        return result

    def materialize(self, selection: Sequence[str], day: object) -> dg.ExecuteInProcessResult:
        """Materialise assets for a day, without a job."""
        return dg.materialize(
            ASSETS,
            selection=list(selection),
            partition_key=str(day),
            instance=self.instance,
            resources={"warehouse": self.resource},
            raise_on_error=False,
            run_config=QUIET,
        )

    def metadata(self, asset: str, run: object) -> dict[str, Any]:
        """The values of what an asset's materialisation carries."""
        events = self.runs[str(run)].get_asset_materialization_events()
        [event] = [e.materialization for e in events if e.asset_key == dg.AssetKey(asset)]
        return {name: value.value for name, value in event.metadata.items()}

    def check(self, asset: str, name: str, run: object) -> dg.AssetCheckEvaluation:
        """The result of a check."""
        return checks(self.runs[str(run)])[asset, name]


def checks(result: dg.ExecuteInProcessResult) -> dict[tuple[str, str], dg.AssetCheckEvaluation]:
    """The results of a run's checks by asset and name."""
    found = result.get_asset_check_evaluations()
    by_key = {(one.asset_key.to_user_string(), one.check_name): one for one in found}
    assert len(by_key) == len(found), "a check reported twice"
    return by_key


def values(check: dg.AssetCheckEvaluation) -> dict[str, Any]:
    """The values of what a check's result carries."""
    return {name: value.value for name, value in check.metadata.items()}


def materialized(result: dg.ExecuteInProcessResult) -> list[str]:
    """The assets that a run materialised."""
    return [event.asset_key.to_user_string() for event in result.get_asset_materialization_events() if event.asset_key]
