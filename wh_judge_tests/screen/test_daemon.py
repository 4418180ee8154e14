"""Whether a daemon that takes uploads is there, told from what it last wrote into Dagster's own storage."""

import time
from pathlib import Path

import dagster as dg
import pytest
from dagster._daemon.types import DaemonHeartbeat

from wh_judge.home import dagster_home
from wh_judge.screen.daemon import SILENT_SECONDS, daemon_is_running
from wh_judge_tests.house import House


@pytest.mark.parametrize(
    ("silent", "expected"), [(None, False), (1.0, True), (SILENT_SECONDS / 2, True), (SILENT_SECONDS + 1, False)]
)
def test_a_daemon_that_gave_no_sign_for_long_is_gone(
    silent: float | None, expected: bool, house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    home = dagster_home(house.settings)
    home.mkdir(parents=True, exist_ok=True)
    with dg.DagsterInstance.from_config(str(home)) as instance:
        if silent is not None:
            instance.add_daemon_heartbeat(DaemonHeartbeat(time.time() - silent, "SENSOR", "one", []))
    assert daemon_is_running(house.settings) is expected
