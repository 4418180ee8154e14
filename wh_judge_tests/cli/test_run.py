"""`wh-judge run`: killed at any moment and called again, twice at once, and what it says."""

import json
import shutil
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import dagster as dg
import pytest
from click.testing import CliRunner
from pydantic import BaseModel
from rich.console import Console

from wh_judge import store
from wh_judge.cli import main
from wh_judge.cli.run import show
from wh_judge.evaluation.agreement import measure_agreement
from wh_judge.evaluation.divergence import measure_divergence
from wh_judge.evaluation.profile import measure_profiles
from wh_judge.evaluation.ratings import rate_arena
from wh_judge.inputs import TABLES
from wh_judge.model import VERDICTS
from wh_judge.probes.results import NO_RESULTS
from wh_judge.run import RunResult
from wh_judge.store import evaluations
from wh_judge.store.evaluations import EvaluationName
from wh_judge.store.tables import replace_table
from wh_judge.store.vote_agreement import agreement_now
from wh_judge.store.votes import bring_in_people
from wh_judge.validations import VALIDATIONS
from wh_judge_tests.builders import turn
from wh_judge_tests.cli.call import call
from wh_judge_tests.cli.home import Home, finished
from wh_judge_tests.holder import hold, hold_lock
from wh_judge_tests.house import CARDS, DAY_1, DAY_2, DAYS, LOG, House, at, settle, tables

MOMENTS = [
    "warehouse.duckdb",  # before or while files are brought in
    "docs/verdict/2026-09-02.html",  # inside the transaction that writes the second day
    "published",  # while the snapshot is written
]


class Killed(NamedTuple):
    """A house after runs that were killed at all these moments, and two more at once that were not."""

    home: Home
    codes: list[int]
    ends: list[tuple[int, str, str]]


def settle_two_days(root: Path) -> Path:
    settle(root).log("2026-09-03")
    return root


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killed]:
    home = Home(settle_two_days(tmp_path_factory.mktemp("killed")))
    codes = [home.stop_at(moment, signal.SIGKILL)[0] for moment in MOMENTS]
    with home.start("--json") as one, home.start("--json") as other:
        yield Killed(home, codes, [finished(one), finished(other)])


@pytest.fixture
def home(killed: Killed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A copy of the house as it was in the end, for calls in this process."""
    for name in ("inputs", "data", "home"):
        shutil.copytree(killed.home.root / name, tmp_path / name)
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    return Home(tmp_path)


def undisturbed(root: Path) -> dict[str, Any]:
    """The tables of a house in which everything was done once, without Dagster."""
    house = House(settle_two_days(root))
    with house.warehouse() as connection:
        house.bring_in(connection)
        for day in (DAY_1, DAY_2):
            house.judge(connection, day)
        gold = replace_table(connection, TABLES["gold_label"], house.inputs / "gold.csv").rows
        agreement = measure_agreement(gold, *evaluations.read_judged(connection))
        evaluations.keep(connection, "gold_agreement", agreement, "run")
        divergence = measure_divergence(*evaluations.read_prompted(connection))
        evaluations.keep(connection, "model_divergence", divergence, "run")
        bring_in_people(connection, house.settings)
        beside_people: dict[EvaluationName, BaseModel] = {
            "capability_profiles": measure_profiles(evaluations.read_scores(connection)),
            "arena_ratings": rate_arena([], [], {}),
            "vote_agreement": agreement_now(connection, house.settings.rules),
            "probe_results": NO_RESULTS,
        }
        for name, document in beside_people.items():
            evaluations.keep(connection, name, document, "run")
        return tables(connection)


def test_every_run_was_killed(killed: Killed) -> None:
    assert killed.codes == [-signal.SIGKILL] * len(MOMENTS)


def test_after_runs_that_were_killed_the_tables_are_those_of_a_run_that_was_not(killed: Killed, tmp_path: Path) -> None:
    with killed.home.warehouse() as connection:
        found = tables(connection)
    assert found == undisturbed(tmp_path)


def test_after_runs_that_were_killed_nothing_is_left_over(killed: Killed) -> None:
    published = killed.home.settings.published
    current = (published / "current").read_text().strip()
    assert f"{current}.duckdb" in {path.name for path in published.iterdir()}
    assert [path.name for path in published.iterdir() if path.suffix != ".duckdb" and path.name != "current"] == []
    assert [path for path in killed.home.data.iterdir() if path.suffix == ".wal"] == []


def test_no_run_counts_as_running_and_the_pool_is_free(killed: Killed) -> None:
    with killed.home.instance() as instance:
        assert {run.status for run in instance.get_runs()} <= {dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE}
        assert instance.event_log_storage.get_concurrency_run_ids() == set()


@pytest.mark.parametrize("day", [DAY_1, DAY_2])
def test_every_check_of_every_day_is_reported(day: object, killed: Killed) -> None:
    names = {entry.code for entry in VALIDATIONS}
    keys = [dg.AssetCheckKey(dg.AssetKey("verdicts"), name) for name in names]
    with killed.home.instance() as instance:
        latest = {key.name: instance.event_log_storage.get_asset_check_execution_history(key, limit=50) for key in keys}
    for name, records in latest.items():
        events = [record.event.dagster_event for record in records if record.event is not None]
        checks = [
            event.asset_check_evaluation_data
            for event in events
            if event is not None and event.event_type == dg.DagsterEventType.ASSET_CHECK_EVALUATION
        ]
        assert any(check.passed for check in checks if check.partition == str(day)), name


def test_two_at_once_both_end_well(killed: Killed) -> None:
    """There is something to look at: a bad row, and a turn without a card."""
    documents = [json.loads(out) for code, out, _ in killed.ends if code == 1]
    assert len(documents) == 2, killed.ends
    for document in documents:
        assert document["run"]["failed"] == {}
        assert [row["day"] for row in document["days"]] == [str(DAY_1), str(DAY_2)]


def test_errors_and_progress_are_not_in_the_document_and_colours_are_nowhere(killed: Killed) -> None:
    for _, out, error in killed.ends:
        assert out.startswith("{") and out.endswith("}\n")
        assert "\x1b" not in out + error
        assert "Traceback" not in error


def test_a_run_that_is_interrupted_is_130_and_one_line(new_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("wh_judge.run.run_stale", interrupted)
    result = CliRunner().invoke(main, ["run", *new_home.flags])
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == "wh-judge: interrupted; call it again to go on\n"


def test_a_run_with_nothing_to_do_says_so(home: Home) -> None:
    code, out, error = call("run", *home.flags)
    assert (code, error) == (1, "\nnothing to do: all is fresh\n")
    for verdict in VERDICTS:
        assert verdict in out
    assert "turns/2026-09-02.jsonl:7" in out
    assert "Not judged 1 turn: no card for character C-9" in out


def test_the_document_says_what_there_is_and_what_was_done(home: Home) -> None:
    code, out, error = call("run", "--json", *home.flags)
    document = json.loads(out)
    assert (code, error) == (1, "")
    nothing: dict[str, Any] = {"dagster_runs": 0, "days_judged": [], "turns_judged": 0, "failed": {}}
    assert document["run"] == nothing | {"days_without_partition": [], "changed": {"turns": 0, "verdicts": 0}}
    assert sum(row["turns"] for row in document["verdicts_by_model"]) == 10
    assert document["gold_agreement"]["agreed"] == 2
    assert document["model_divergence"]["prompts"] == 2
    assert [problem["line"] for problem in document["problems"]] == [7]
    assert {row["code"] for row in document["validations"]} == {entry.code for entry in VALIDATIONS}


def test_nothing_that_dagster_warns_its_authors_of_is_told(home: Home) -> None:
    with home.start() as process:
        code, _, error = finished(process)
    assert (code, error) == (1, "\nnothing to do: all is fresh\n")


def test_a_run_waits_for_a_process_that_holds_the_warehouse(home: Home) -> None:
    with hold(home.settings.warehouse) as process:
        threading.Timer(1, process.kill).start()
        code, _, error = call("run", *home.flags)
        assert process.wait() != 0
    assert (code, error) == (1, "\nnothing to do: all is fresh\n")


def test_a_run_that_waited_long_enough_names_who_holds_the_warehouse(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "WAIT_SECONDS", 0.3)
    path = home.settings.warehouse
    with hold(path) as process:
        code, out, error = call("run", *home.flags)
    assert (code, out) == (2, "")
    assert error == (
        f"wh-judge: {path}: another process has the warehouse open (PID {process.pid}); wait for it to end\n"
    )


def test_with_wait_a_run_waits_for_another_one_until_it_ends(
    home: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(store, "WAIT_SECONDS", 0.3)
    monkeypatch.setattr("wh_judge.locks.SILENT_SECONDS", 0.1)
    with hold_lock(home.folder / "wh-judge.lock") as process:
        code, _, error = call("run", *home.flags)
        assert (code, error.endswith(f"(PID {process.pid}); wait for it to end\n")) == (2, True)
        threading.Timer(1.5, process.kill).start()
        code, _, error = call("run", "--wait", *home.flags)
        assert process.wait() != 0
    assert (code, error) == (1, "\nnothing to do: all is fresh\n")
    assert any(f"waiting for another wh-judge that is at work (PID {process.pid})" in text for text in caplog.messages)
    assert store.WAIT_SECONDS == 0.3, "what was asked for one call counts for no other"


@pytest.fixture
def new_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A house in which nothing was run."""
    settle(tmp_path)
    home = Home(tmp_path)
    monkeypatch.setenv("DAGSTER_HOME", str(home.folder))
    return home


@pytest.mark.parametrize("command", [["run"], ["backfill", "2026-09-01", "2026-09-03"]], ids=["run", "backfill"])
def test_a_warehouse_that_is_none_is_one_line(command: list[str], new_home: Home) -> None:
    path = new_home.settings.warehouse
    path.write_bytes(b"garbage" * 1000)
    code, out, error = call(*command, *new_home.flags)
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert error.startswith(f"wh-judge: {path}: is no DuckDB file that can be opened: ")
    assert path.read_bytes() == b"garbage" * 1000


@pytest.mark.parametrize("command", [["run"], ["backfill", "2026-09-01", "2026-09-03"]], ids=["run", "backfill"])
def test_inputs_that_are_missing_are_one_line_and_nothing_is_written(command: list[str], new_home: Home) -> None:
    (new_home.inputs / "cards.json").unlink()
    before = sorted(new_home.root.rglob("*"))
    code, out, error = call(*command, *new_home.flags)
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert error.startswith(f"wh-judge: {new_home.inputs}: holds no cards; put a folder cards/ or a file cards.jsonl")
    assert sorted(new_home.root.rglob("*")) == before


def test_an_input_that_is_there_twice_is_one_line(new_home: Home) -> None:
    (new_home.inputs / "cards.jsonl").touch()
    code, _, error = call("run", *new_home.flags)
    assert (code, error.count("\n")) == (2, 1)
    assert "holds cards.jsonl and cards.json; keep one of them" in error


def test_a_home_that_is_none_is_one_line(new_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGSTER_HOME", str(new_home.root / "nowhere"))
    code, _, error = call("run", *new_home.flags)
    assert (code, error) == (
        2,
        f"wh-judge: DAGSTER_HOME: {new_home.root}/nowhere is no folder; make it, or unset the variable\n",
    )


def test_data_that_is_a_file_is_one_line(new_home: Home) -> None:
    path = new_home.inputs / "lexicon.csv"
    code, _, error = call("run", "--inputs", new_home.inputs, "--data", path)
    assert (code, error) == (2, f"wh-judge: {path}: File exists\n")


# What the exit code depends on, without a run.


@pytest.fixture
def clean(tmp_path: Path) -> House:
    """A warehouse in which there is nothing to look at."""
    house = settle(tmp_path)
    house.log("2026-09-01", *LOG.day_1[:-1])
    house.log("2026-09-02", *LOG.day_2[:-1])
    with house.warehouse() as connection:
        house.bring_in(connection)
        for day in DAYS:
            house.judge(connection, day)
    return house


Shown = tuple[int, str, str]


def shown(house: House, result: RunResult, capsys: pytest.CaptureFixture[str], as_json: bool = False) -> Shown:
    code = show(house.settings, result, as_json)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_nothing_to_look_at_is_0(clean: House, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, error = shown(clean, RunResult(runs=list("abcde"), days=list(DAYS), turns=16), capsys)
    assert (code, error) == (0, "\n16 turns of 3 days judged in 5 runs\n")
    assert "Rejected rows\n  none" in out


def test_what_the_runs_changed_is_counted(clean: House, capsys: pytest.CaptureFixture[str]) -> None:
    clean.cards(CARDS[0].model_copy(update={"canon_entities": ["검술원", "하늘", "리안"]}), *CARDS[1:])
    with clean.warehouse() as connection:
        clean.bring_in(connection)
        for day in DAYS:
            clean.judge(connection, day, "second-run")
    result = RunResult(runs=["second-run"], days=list(DAYS), turns=1)
    _, _, error = shown(clean, result, capsys)
    assert (
        "1 turn of 3 days judged in 1 run; 1 turn not as before, 1 verdict changed: wh-judge changes tells why" in error
    )
    document = json.loads(shown(clean, result, capsys, as_json=True)[1])
    assert document["run"]["changed"] == {"turns": 1, "verdicts": 1}


def test_before_the_labels_were_compared_there_is_no_number(clean: House, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = shown(clean, RunResult(), capsys)
    assert "Agreement with the labels\n  none: has not run\n" in out
    assert "Divergence by model\n  none: has not run\n" in out
    _, out, _ = shown(clean, RunResult(), capsys, as_json=True)
    document = json.loads(out)
    assert (document["gold_agreement"], document["model_divergence"]) == (None, None)


@pytest.mark.parametrize(
    ("result", "line"),
    [
        (RunResult(runs=["a"], failed={"2026-09-02": "it failed"}), "wh-judge: 2026-09-02 failed: it failed\n"),
        (
            RunResult(runs=["a"], outside=[DAYS[0].replace(month=8)]),
            "wh-judge: 2026-08-01 has turns but no partition; set first_day in pyproject.toml or WH_JUDGE_FIRST_DAY\n",
        ),
        (
            RunResult(runs=["a"], outside=[DAYS[0].replace(year=2099)]),
            "wh-judge: 2099-09-01 has turns but no partition; wait for it\n",
        ),
    ],
    ids=["a failed day", "a day too early", "a day to come"],
)
@pytest.mark.parametrize("as_json", [True, False], ids=["document", "tables"])
def test_what_went_wrong_is_1_and_said_on_stderr(
    result: RunResult, line: str, as_json: bool, clean: House, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, error = shown(clean, result, capsys, as_json)
    assert code == 1
    assert error.endswith(line)


def test_a_rejected_row_is_1(clean: House, capsys: pytest.CaptureFixture[str]) -> None:
    clean.log("more", "no JSON <b>[red]")
    with clean.warehouse() as connection:
        clean.bring_in(connection)
    code, out, _ = shown(clean, RunResult(), capsys)
    assert code == 1
    assert "Rejected rows 1, noted 0\n  turns/more.jsonl:1  is no JSON" in out


def test_a_noted_row_is_1(clean: House, capsys: pytest.CaptureFixture[str]) -> None:
    clean.log("more", turn("T-1", turn_at=at(1)))
    with clean.warehouse() as connection:
        clean.bring_in(connection)
    code, out, _ = shown(clean, RunResult(), capsys)
    assert code == 1
    assert "T-1 is replaced by the row in turns/more.jsonl:1" in out.replace("\n", " ")


def test_a_turn_that_could_not_be_judged_is_1(clean: House, capsys: pytest.CaptureFixture[str]) -> None:
    clean.log("2026-09-02", turn("T-90", turn_at=at(2), character_id="[bold]C-9"))
    with clean.warehouse() as connection:
        clean.bring_in(connection)
        clean.judge(connection, DAY_2)
    code, out, _ = shown(clean, RunResult(), capsys)
    assert code == 1
    assert "Not judged 1 turn: no card for character [bold]C-9" in out


def test_the_tables_fit_a_terminal_of_eighty_columns(killed: Killed, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = shown(killed.home, RunResult(), capsys)
    paths = (str(killed.home.data), "turns/")
    wide = [
        line for line in out.splitlines() if Console().measure(line).maximum > 80 and not any(p in line for p in paths)
    ]
    assert wide == []
