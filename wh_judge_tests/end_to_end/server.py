"""A real webserver and daemon on loopback, in a process group of their own, and what a person does with them."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PATIENCE = 240.0
"""Seconds after which waiting is given up; a loaded machine may be many times slower than an idle one."""
_POLL = 0.25
_HERE = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Asks without a proxy, whatever the environment says."""

Seen = TypeVar("Seen")

RUNS = """query Runs { runsOrError { __typename ... on Runs {
    results { runId jobName status creationTime tags { key value } } } ... on PythonError { message } } }"""
LAUNCH = """mutation Launch($params: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $params) {
    __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
BACKFILL = """query Backfill($id: String!) { partitionBackfillOrError(backfillId: $id) {
    __typename ... on PartitionBackfill { status partitionNames } ... on PythonError { message } } }"""
MATERIALIZED = """query Asset($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) { __typename ... on AssetNode {
    assetMaterializations(limit: 1) { runId } } } }"""
UNFINISHED = {"QUEUED", "NOT_STARTED", "STARTING", "STARTED", "CANCELING"}


class Server:
    """What listens at an address, and the folders that it works on."""

    def __init__(self, folder: Path) -> None:
        self.inputs, self.data, self.home = (folder / name for name in ("inputs", "data", "home"))
        self.output = folder / "output.txt"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("WH_JUDGE")} | {
            "DAGSTER_HOME": str(self.home),
            "DAGSTER_DISABLE_TELEMETRY": "1",
            "DO_NOT_TRACK": "1",
            "GX_ANALYTICS_ENABLED": "False",
            "WH_JUDGE_DATA": str(self.data),
            "WH_JUDGE_INPUTS": str(self.inputs),
            "WH_JUDGE_FIRST_DAY": "2026-09-01",
            "WH_JUDGE_SENSOR_SECONDS": "1",
        }

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        """The one thing that a GraphQL document asks for."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(f"{self.url}/graphql", body, {"Content-Type": "application/json"})
        with _HERE.open(request, timeout=60) as response:
            document = json.load(response)
        assert "errors" not in document, document["errors"]
        [answer] = document["data"].values()
        assert isinstance(answer, dict) and not answer["__typename"].endswith("Error"), answer
        return answer

    def runs(self) -> list[dict[str, Any]]:
        """All runs, oldest first, with their tags as a mapping."""
        found = self.ask(RUNS)["results"]
        tagged = [run | {"tags": {tag["key"]: tag["value"] for tag in run["tags"]}} for run in found]
        return sorted(tagged, key=lambda run: run["creationTime"])

    def idle_runs(self) -> list[dict[str, Any]] | None:
        """All runs where none is waiting or at work."""
        runs = self.runs()
        return None if any(run["status"] in UNFINISHED for run in runs) else runs

    def materialized(self, asset: str) -> bool:
        """Whether an asset was ever materialised."""
        return bool(self.ask(MATERIALIZED, key={"path": [asset]})["assetMaterializations"])

    def backfill(self, assets: list[str], days: list[str]) -> str:
        """Launch a backfill; its id."""
        selection = [{"path": [asset]} for asset in assets]
        launched = self.ask(LAUNCH, params={"assetSelection": selection, "partitionNames": days})
        return str(launched["backfillId"])

    def wh_judge(self, *arguments: str) -> Any:
        """The JSON document that a call of `wh-judge` prints."""
        done = subprocess.run(
            [str(BIN / "wh-judge"), *arguments, "--json"],
            cwd=self.home,
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def wait(self, what: str, look: Callable[[], Seen | None]) -> Seen:
        """Look until there is something to be seen; what is seen."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            seen = look()
            if seen:
                return seen
            time.sleep(_POLL)
        raise AssertionError(f"{what}: not within {PATIENCE:.0f} s\n{self.told()}")

    def told(self) -> str:
        """The end of what the processes printed."""
        return self.output.read_text(encoding="utf-8", errors="replace")[-6000:]

    def answers(self) -> bool:
        """Whether GraphQL answers, and knows the project."""
        try:
            return bool(self.ask("query { workspaceOrError { __typename } }")["__typename"] == "Workspace")
        except OSError:
            return False


def free_port() -> int:
    """A port of loopback that nothing listens at."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def started(server: Server) -> Iterator[Server]:
    """`dagster dev`, from when it answers; every process of its group is ended in the end."""
    with server.output.open("wb") as output:
        process = subprocess.Popen(
            [str(BIN / "dagster"), "dev", "--host", "127.0.0.1", "--port", str(server.port)],
            cwd=server.home,
            env=server.environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        server.wait("the webserver answers", lambda: process.poll() is not None or server.answers())
        assert process.poll() is None, server.told()
        yield server
    finally:
        _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ask the processes of the group to end, then end them."""
    for ending, seconds in ((signal.SIGINT, 5.0), (signal.SIGKILL, 15.0)):
        until = time.monotonic() + seconds
        while _signal(process.pid, ending if until - time.monotonic() > seconds - _POLL else 0):
            if time.monotonic() > until:
                break
            process.poll()
            time.sleep(_POLL)
    process.wait(timeout=15)


def _signal(group: int, number: int) -> bool:
    """Send a signal to a process group (0 only asks); whether it has a process."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True
