"""The asset graph as a document. To accept a change: python -m wh_judge_tests.assets.snapshot"""

import json
from pathlib import Path
from typing import Any

import dagster as dg

from wh_judge.automation import JOBS, SCHEDULES, SENSORS
from wh_judge.definitions import build_definitions

FILE = Path(__file__).with_name("graph.json")


def described() -> dict[str, Any]:
    """Keys, dependencies, groups, kinds, owners, pools, partitions and checks, by asset; what runs them, and when."""
    definitions = build_definitions()
    graph = definitions.resolve_asset_graph()
    assets = {}
    for key in sorted(graph.get_all_asset_keys(), key=str):
        node = graph.get(key)
        policy = node.backfill_policy
        assets[key.to_user_string()] = {
            "deps": sorted(parent.to_user_string() for parent in node.parent_keys),
            "group": node.group_name,
            "kinds": sorted(node.kinds),
            "owners": list(node.owners),
            "pools": sorted(node.pools or ()),
            "partitions": _partitions(node.partitions_def),
            "partitions_a_run": policy.max_partitions_per_run if policy else None,
            "automated": node.automation_condition and node.automation_condition.get_label(),
            "columns": _columns(node.metadata),
            "checks": {
                check.name: {
                    "blocking": graph.get(check).blocking,
                    "partitions": _partitions(graph.get(check).partitions_def),
                }
                for check in sorted(node.check_keys, key=str)
            },
        }
    return {
        "assets": assets,
        "jobs": {job.name: _steps(job, graph) for job in JOBS},
        "schedules": {schedule.name: schedule.cron_schedule for schedule in SCHEDULES},
        "sensors": {sensor.name: sensor.minimum_interval_seconds for sensor in SENSORS},
    }


def _partitions(partitions: dg.PartitionsDefinition[Any] | None) -> str | None:
    if partitions is None:
        return None
    assert isinstance(partitions, dg.DailyPartitionsDefinition)
    return f"daily, {partitions.timezone}, end_offset {partitions.end_offset}"


def _steps(job: Any, graph: Any) -> list[str]:
    """The assets that a job materialises, or its ops."""
    if isinstance(job, dg.JobDefinition):
        return [f"op {node.name}" for node in job.nodes]
    return sorted(key.to_user_string() for key in job.selection.resolve(graph))


def _columns(metadata: Any) -> list[str] | None:
    schema = metadata.get("dagster/column_schema")
    return None if schema is None else [f"{column.name}: {column.type}" for column in schema.columns]


if __name__ == "__main__":
    FILE.write_text(json.dumps(described(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
