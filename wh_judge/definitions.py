"""The whole graph on one page."""

import warnings
from collections.abc import Mapping
from typing import Any

import dagster as dg

# What is used of Dagster that this version calls a preview or a beta; nothing else is silenced.
warnings.filterwarnings("ignore", category=dg.PreviewWarning, message=".*partitions_def.*")
warnings.filterwarnings("ignore", category=dg.BetaWarning, message=".*use_user_code_server.*")
warnings.filterwarnings("ignore", category=dg.BetaWarning, message=".*`owners` of initializer `SensorDefinition.*")

from wh_judge.assets import ASSETS  # noqa: E402
from wh_judge.automation import JOBS, SCHEDULES, SENSORS  # noqa: E402
from wh_judge.resources import Warehouse  # noqa: E402


def build_definitions(overrides: Mapping[str, Any] | None = None) -> dg.Definitions:
    """A fresh graph.

    Args:
        overrides: resources that take the place of the usual ones, by name.
    """
    return dg.Definitions(
        assets=ASSETS,
        jobs=JOBS,
        schedules=SCHEDULES,
        sensors=SENSORS,
        resources={"warehouse": Warehouse()} | dict(overrides or {}),
        # One process per run: a day's check results, data version and retries then belong to that day alone.
        executor=dg.in_process_executor,
    )


defs = build_definitions()
