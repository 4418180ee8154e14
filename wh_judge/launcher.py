"""How the daemon starts runs: as Dagster does by itself, but a run whose process is gone is found and ended.

Dagster learns of the end of a process from the code server that started it. Where both were killed, such as by a power
cut, the run would count as running for hours, and hold the only place in the pool of the warehouse meanwhile.
"""

import dagster as dg
from dagster._core.launcher import CheckRunHealthResult, WorkerStatus

from wh_judge.instance import is_gone


class RunLauncher(dg.DefaultRunLauncher):
    """Dagster's own launcher of processes, which also tells whether they live. `dagster.yaml` names it."""

    @property
    def supports_check_run_worker_health(self) -> bool:
        """It can, for processes of this machine."""
        return True

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Failed where the process is gone; where nobody can tell, it counts as running."""
        if is_gone(self._instance, run):
            return CheckRunHealthResult(WorkerStatus.FAILED, "its process ended before the run did")
        return CheckRunHealthResult(WorkerStatus.RUNNING)
