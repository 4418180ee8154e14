"""Every call is made in an empty working directory, with no variable of the program set."""

from pathlib import Path

import pytest

from wh_judge.settings import ENVIRONMENT


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory."""
    for variable in ENVIRONMENT.values():
        monkeypatch.delenv(variable, raising=False)
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder
