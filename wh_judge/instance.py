"""Where Dagster keeps its runs when the command line starts them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg

from wh_judge.settings import Settings

STANDALONE = """\
# Made by wh-judge away from a checkout. Nothing is reported to anyone; the warehouse has one user at a time.
telemetry:
  enabled: false
concurrency:
  pools:
    granularity: op
    default_limit: 1
"""


def dagster_home(settings: Settings) -> Path:
    """DAGSTER_HOME, else the nearest folder above with a dagster.yaml, else a folder of its own among the data."""
    if os.environ.get("DAGSTER_HOME"):
        return Path(os.environ["DAGSTER_HOME"]).absolute()
    for folder in (Path.cwd(), *Path.cwd().parents):
        if (folder / "dagster.yaml").is_file():
            return folder
    home = settings.data / "dagster"
    home.mkdir(parents=True, exist_ok=True)
    if not (home / "dagster.yaml").exists():
        (home / "dagster.yaml").write_text(STANDALONE, encoding="utf-8")
    return home


@contextmanager
def open_instance(settings: Settings) -> Iterator[dg.DagsterInstance]:
    """The instance, with the working folder at its home: dagster.yaml has its paths relative to that.

    The settings are passed on through the environment, since the runs load them anew.
    """
    home, before = dagster_home(settings), Path.cwd()
    os.environ |= {
        "DAGSTER_HOME": str(home),
        "WH_JUDGE_DATA": str(settings.data),
        "WH_JUDGE_INPUTS": str(settings.inputs),
        "WH_JUDGE_FIRST_DAY": str(settings.first_day),
    }
    os.chdir(home)
    try:
        with dg.DagsterInstance.get() as instance:
            yield instance
    finally:
        os.chdir(before)
