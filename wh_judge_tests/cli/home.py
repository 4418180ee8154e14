"""A house with a Dagster home, and `wh-judge` at work on it in processes that may be killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import dagster as dg

from wh_judge_tests.house import House

CONFIG = """\
telemetry: {{enabled: false}}
concurrency: {{pools: {{granularity: op, default_limit: 1}}}}
storage: {{custom: {{module: wh_judge.history, class: History, config: {{base_dir: "{folder}"}}}}}}
"""


class Home(House):
    """A house, and the folder that keeps its runs."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.root, self.folder = root, root / "home"
        self.folder.mkdir(exist_ok=True)
        (self.folder / "dagster.yaml").write_text(CONFIG.format(folder=self.folder))

    @property
    def flags(self) -> tuple[str, ...]:
        return "--inputs", str(self.inputs), "--data", str(self.data)

    def start(self, *arguments: str, command: str = "run") -> subprocess.Popen[str]:
        """`wh-judge` in a process of its own."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("WH_JUDGE")}
        return subprocess.Popen(
            [str(Path(sys.executable).parent / "wh-judge"), command, *self.flags, *arguments],
            cwd=self.root,
            env=clean | {"DAGSTER_HOME": str(self.folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def stop_at(self, pattern: str, how: signal.Signals) -> tuple[int, str]:
        """Start a run and send it a signal as soon as a file among the data is there; its exit code and stderr."""
        with self.start() as process:
            until = time.monotonic() + 100
            while not any(self.data.glob(pattern)):
                assert process.poll() is None, f"it ended before {pattern}: {process.communicate()}"
                assert time.monotonic() < until, f"{pattern} does not come"
                time.sleep(0.002)
            process.send_signal(how)
            _, error = process.communicate(timeout=100)
        return process.returncode, error

    def instance(self) -> dg.DagsterInstance:
        return dg.DagsterInstance.from_config(str(self.folder))


def finished(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """The exit code and the output of a process, once it has ended."""
    out, error = process.communicate(timeout=200)
    return process.returncode, out, error
