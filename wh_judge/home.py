"""Where Dagster keeps its history: the folder of its dagster.yaml. Known without loading Dagster."""

import os
from pathlib import Path

from wh_judge.errors import UserError
from wh_judge.settings import Settings

STANDALONE = """\
# Made by wh-judge. Nothing is reported to anyone; steps print nothing; the warehouse has one user at a time; a
# run that was killed is ended.
telemetry:
  enabled: false
nux:
  enabled: false
storage:
  custom:
    module: wh_judge.history
    class: History
    config:
      base_dir:
        env: DAGSTER_HOME
compute_logs:
  module: dagster._core.storage.noop_compute_log_manager
  class: NoOpComputeLogManager
  config: {}
concurrency:
  pools:
    granularity: op
    default_limit: 1
  runs:
    max_concurrent_runs: 2
    tag_concurrency_limits:
      - key: "wh_judge/drafts"
        value: "true"
        limit: 1
run_launcher:
  module: wh_judge.launcher
  class: RunLauncher
run_monitoring:
  enabled: true
  poll_interval_seconds: 30
  start_timeout_seconds: 300
  max_runtime_seconds: 14400
  free_slots_after_run_end_seconds: 30
"""


def dagster_home(settings: Settings) -> Path:
    """DAGSTER_HOME, else the nearest folder above with a dagster.yaml, else a folder of its own among the data.

    Raises:
        UserError: DAGSTER_HOME is no folder, or the data cannot have one.
    """
    if os.environ.get("DAGSTER_HOME"):
        home = Path(os.environ["DAGSTER_HOME"]).absolute()
        if not home.is_dir():
            raise UserError(f"DAGSTER_HOME: {home} is no folder; make it, or unset the variable")
        return _configured(home)
    for folder in (Path.cwd(), *Path.cwd().parents):
        if (folder / "dagster.yaml").is_file():
            return folder
    home = settings.data / "dagster"
    home.mkdir(parents=True, exist_ok=True)
    return _configured(home)


def _configured(home: Path) -> Path:
    """The folder, with a dagster.yaml: without one Dagster reports what it does, and has no pool."""
    if not (home / "dagster.yaml").exists():
        (home / "dagster.yaml").write_text(STANDALONE, encoding="utf-8")
    return home
