"""What Dagster takes for days on which nothing is done: the assets and checks of the job `day`, without their work.

`python -m benchmarks.empty_graph DAYS` runs so many days in one process, as `wh-judge backfill` runs them.
"""

import datetime as dt
import sys
from collections.abc import Iterator

import dagster as dg

from wh_judge.assets import ASSETS
from wh_judge.automation import day_job

KEYS = frozenset(dg.AssetKey(name) for name in ("turns", "verdicts", "verdict_changes"))


def empty(asset: dg.AssetsDefinition) -> dg.AssetsDefinition:
    """Assets of the same names, dependencies, checks and partitions that do nothing."""
    specs = [dg.AssetSpec(one.key, deps=[dep for dep in one.deps if dep.asset_key in KEYS]) for one in asset.specs]
    checks = list(asset.check_specs)

    @dg.multi_asset(name=f"{asset.op.name}_empty", specs=specs, check_specs=checks, partitions_def=asset.partitions_def)
    def nothing() -> Iterator[dg.MaterializeResult[None]]:
        for one in specs:
            of_it = [check for check in checks if check.asset_key == one.key]
            passed = [dg.AssetCheckResult(passed=True, check_name=check.name, asset_key=one.key) for check in of_it]
            yield dg.MaterializeResult(asset_key=one.key, check_results=passed)

    return nothing


def main(days: int) -> None:
    """Run the days from the first of September 2026 on."""
    of_day = [one for one in ASSETS if isinstance(one, dg.AssetsDefinition) and one.keys <= KEYS]
    job = dg.Definitions(
        assets=[empty(asset) for asset in of_day], jobs=[day_job], executor=dg.in_process_executor
    ).resolve_job_def("day")
    quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    with dg.DagsterInstance.get() as instance:
        for number in range(days):
            day = dt.date(2026, 9, 1) + dt.timedelta(days=number)
            job.execute_in_process(instance=instance, partition_key=str(day), run_config=quiet)


if __name__ == "__main__":
    main(int(sys.argv[1]))
