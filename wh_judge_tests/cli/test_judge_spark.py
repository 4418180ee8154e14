"""`wh-judge judge --engine spark`: what it refuses before Spark is started. `wh_judge_tests.spark` has what it does."""

import shutil
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from py4j.protocol import Py4JNetworkError

from wh_judge.errors import UserError
from wh_judge.spark import session
from wh_judge_tests.builders import STATE
from wh_judge_tests.cli.call import CARDS, LEXICON, TURNS, call, call_process, inputs, names
from wh_judge_tests.spark.engines import table

SPARK = ("--engine", "spark", "--master", "local[2]")


def refused(here: Path, *arguments: str | Path) -> str:
    """The one line of an error; fails where anything was written."""
    before = names(here)
    result = call("judge", *arguments)
    assert (result.code, result.out, names(here)) == (2, "", before)
    assert result.err.count("\n") == 1
    return result.err.removeprefix("wh-judge: ").rstrip("\n")


@pytest.fixture(autouse=True)
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Something that would be taken for Java, and ends the test where it is called."""
    home = tmp_path / "java"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text("#!/bin/sh\nexit 1\n")
    monkeypatch.setenv("JAVA_HOME", str(home))
    return home


@pytest.fixture
def turns(here: Path) -> Path:
    """A log in Parquet."""
    (here / "turns").mkdir()
    pq.write_table(table(STATE.turns), here / "turns" / "x.parquet")
    return here / "turns"


def test_the_extra_that_is_missing(turns: Path, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "find_spec", {}.get)
    error = refused(here, *inputs(turns), *SPARK, "--out", "v")
    assert error == "the engine spark is not installed; install it with: pip install 'wh-judge[spark]'"


def test_java_that_is_missing(turns: Path, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    assert shutil.which("java") is None
    error = refused(here, *inputs(turns), *SPARK, "--out", "v")
    assert error.startswith("the engine spark needs Java 17 or newer, and there is no java here; ")


def test_java_that_is_elsewhere(turns: Path, here: Path, java: Path) -> None:
    (java / "bin" / "java").unlink()
    error = refused(here, *inputs(turns), *SPARK, "--out", "v")
    assert error == f"JAVA_HOME: {java} holds no bin/java; name a Java 17 or newer, or unset the variable"


def test_java_that_does_not_start(turns: Path, here: Path, java: Path) -> None:
    env = {"JAVA_HOME": str(java)}
    result = call_process("judge", *inputs(turns), *SPARK, "--out", "v", cwd=here, env=env)
    assert (result.code, result.out, names(here)) == (2, "", ["turns", "turns/x.parquet"])
    last = result.err.splitlines()[-1]
    assert last.startswith("wh-judge: local[2]: Spark does not start with this master: Spark: ")
    assert last.endswith("; Java says above why; it must be 17 or newer, and the master one that Spark knows")


@pytest.mark.parametrize("error", [ConnectionRefusedError(111, "Connection refused"), Py4JNetworkError("no answer")])
def test_java_that_has_ended(error: Exception) -> None:
    with pytest.raises(UserError, match=r"^Spark: its Java has ended; ") as raised, session.spark_errors():
        raise error
    assert raised.value.__cause__ is error


def test_a_log_that_is_no_parquet(here: Path) -> None:
    error = refused(here, *inputs(), *SPARK, "--out", "v")
    assert error == f"{TURNS}: is no .parquet file, and the engine spark reads no others; use --engine local"


def test_a_file_that_spark_passes_over(turns: Path, here: Path) -> None:
    (turns / "x.parquet").rename(turns / "_x.parquet")
    error = refused(here, *inputs(turns), *SPARK, "--out", "v")
    assert error == f"{turns}/_x.parquet: Spark passes over what begins with _; rename it, or use --engine local"


def test_a_folder_without_a_file(turns: Path, here: Path) -> None:
    (turns / "x.parquet").unlink()
    assert refused(here, *inputs(turns), *SPARK, "--out", "v") == f"{turns}: holds no file that is read"


OUTPUTS = {
    "the log": ("turns", "turns: is read already; name another folder"),
    "a folder of the log": ("turns/v", "turns/v: is read already; name another folder"),
    "a link to the log": ("link", "link: is read already; name another folder"),
    "the log's address": ("file://{here}/turns", "is read already; name another folder"),
    "the folder that holds the log": ("../here", "holds what is read; name another folder"),
    "a type of file": ("v.jsonl", "v.jsonl: the engine spark writes a folder of Parquet; name a folder"),
    "a file": ("file", "file: is a file; name a folder"),
    "a folder that is missing": ("no/v", "no: is no folder; make it first"),
}


@pytest.mark.parametrize(("out", "error"), OUTPUTS.values(), ids=OUTPUTS)
def test_an_output_that_cannot_be(out: str, error: str, turns: Path, here: Path) -> None:
    (here / "file").touch()
    (here / "link").symlink_to(turns)
    assert refused(here, *inputs(turns), *SPARK, "--out", out.format(here=here)).endswith(error)


def test_cards_without_a_row(turns: Path, here: Path) -> None:
    (here / "cards.json").write_text("[]")
    error = refused(here, *inputs(turns, here / "cards.json"), *SPARK, "--out", "v")
    assert error == f"{here / 'cards.json'}: holds no row that can be read"


@pytest.mark.parametrize("flag", ["--turns", "--out"])
def test_an_address_that_the_local_engine_does_not_reach(flag: str, here: Path) -> None:
    places: dict[str, str | Path] = {"--turns": TURNS, "--out": "v.jsonl", flag: "s3a://logs/x"}
    words = [word for pair in places.items() for word in pair]
    error = refused(here, *words, "--cards", CARDS, "--lexicon", LEXICON)
    assert error == "s3a://logs/x: is no path of this machine; --engine spark reads and writes elsewhere"


def test_the_environment_chooses_the_engine(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WH_JUDGE_ENGINE", "spark")
    assert "the engine spark reads no others" in refused(here, *inputs(), "--out", "v")
    assert call("judge", *inputs(), "--engine", "local", "--out", "v.jsonl").code == 0


def test_an_engine_that_is_none(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WH_JUDGE_ENGINE", "dask")
    assert refused(here, *inputs(), "--out", "v") == "WH_JUDGE_ENGINE: engine: Input should be 'local' or 'spark'"
