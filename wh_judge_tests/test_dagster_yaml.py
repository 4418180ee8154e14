"""How Dagster is set up: by the project's dagster.yaml, and by the one that the command line makes where none is."""

from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml
from dagster._core.instance.config import dagster_instance_config

from wh_judge.home import STANDALONE
from wh_judge_tests.documents import ROOT

PROJECT: dict[str, Any] = yaml.safe_load((ROOT / "dagster.yaml").read_text(encoding="utf-8"))
ALONE: dict[str, Any] = yaml.safe_load(STANDALONE)
TEXTS = {"project": (ROOT / "dagster.yaml").read_text(encoding="utf-8"), "standalone": STANDALONE}


@pytest.mark.parametrize("name", TEXTS)
def test_dagster_knows_every_key(name: str, tmp_path: Path) -> None:
    (tmp_path / "dagster.yaml").write_text(TEXTS[name], encoding="utf-8")
    config, custom_class = dagster_instance_config(str(tmp_path))
    assert custom_class is None
    assert set(yaml.safe_load(TEXTS[name])) <= set(config)


@pytest.mark.parametrize("name", TEXTS)
def test_it_opens_without_a_warning(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "dagster.yaml").write_text(TEXTS[name], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        assert not instance.telemetry_enabled
        assert type(instance.event_log_storage).__module__ == "wh_judge.history"
        assert type(instance.compute_log_manager).__name__ == "NoOpComputeLogManager"
        assert instance.event_log_storage.get_pool_config().default_pool_limit == 1
    assert caplog.text == ""


def test_what_the_command_line_makes_says_the_same_but_less() -> None:
    for folder, config in ((".dagster/history", PROJECT), ({"env": "DAGSTER_HOME"}, ALONE)):
        assert config["storage"]["custom"].pop("config") == {"base_dir": folder}
    assert {name: PROJECT[name] for name in ALONE} == ALONE
    assert len(ALONE) < len(PROJECT)
