"""Spark says what one machine says, row by row: here a cluster of two threads, which all tests of this file share."""

import datetime as dt
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from wh_judge.ingest import read_table
from wh_judge.inputs import TABLES
from wh_judge.judge import Judgement
from wh_judge.model import ChatTurn
from wh_judge.spark.session import open_session
from wh_judge_tests.builders import STATE, Rows, turn
from wh_judge_tests.cli.call import call
from wh_judge_tests.documents import ROOT
from wh_judge_tests.house import DAY_2, DAYS, House, rows, settle, tables
from wh_judge_tests.spark.engines import SpoiltInputs, by_local, by_spark, by_turn, inputs_of, read, table, write
from wh_judge_tests.strategies import rows as hostile_rows
from wh_judge_tests.test_stream import as_read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.skipif(
        not (shutil.which("java") or os.environ.get("CI")),
        reason="there is no Java; apt-get install openjdk-17-jre-headless",
    ),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]
SAMPLE = ROOT / "data" / "sample"
SMALL = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "3",
}
"""Three tasks, and no machine code made for a few rows."""
ASKED = {"session_id": "S-long", "user_asked_recall": True, "user_message": "내 동생 기억나?", "reply_text": "몰라."}


@pytest.fixture(scope="module")
def spark() -> Iterator["SparkSession"]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx1g")
        patched.setenv("PYTHONPATH", str(ROOT))
        session = open_session("local[2]")
    for name, value in SMALL.items():
        session.conf.set(name, value)
    yield session
    session.stop()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def flags(turns: Path) -> list[str | Path]:
    return ["--turns", turns, "--cards", SAMPLE / "cards.json", "--lexicon", SAMPLE / "lexicon.csv"]


def test_the_sample_by_the_command(spark: "SparkSession", here: Path) -> None:
    """Verdicts, what got none, the counts and the exit code are the local engine's; and what Spark writes is read."""
    (here / "turns").mkdir()
    for file in sorted((SAMPLE / "turns").iterdir()):
        pq.write_table(read_table(file, TABLES["chat_turn"]).rows, here / "turns" / f"{file.stem}.parquet")
    before = call("judge", *flags(here / "turns"), "--out", "v.parquet", "--rejects", "local.jsonl")
    engine = ["--engine", "spark", "--master", "local[2]"]
    after = call("judge", *flags(here / "turns"), *engine, "--out", "v", "--rejects", "spark.jsonl")
    assert (after.code, after.out) == (before.code, before.out) == (1, "")
    assert after.err.endswith(before.err)
    assert by_turn(read(here / "v")) == by_turn(pq.read_table("v.parquet"))
    assert Path("spark.jsonl").read_text() == Path("local.jsonl").read_text()
    days = {f"day={file.stem}" for file in (SAMPLE / "turns").iterdir()}
    assert {path.name for path in (here / "v").iterdir() if path.is_dir()} == days
    told = [line.split() for line in after.err.splitlines() if line.strip().startswith(("v0", "v1", "verdict_"))]
    assert len(told) == 12 and {(cells[1], cells[3]) for cells in told} == {("700", "0")}
    assert call("validate", "--verdicts", "v", *flags(here / "turns")).code == 0
    assert sorted(path.name for path in here.iterdir()) == ["local.jsonl", "spark.jsonl", "turns", "v", "v.parquet"]


def joined(logs: Sequence[Rows]) -> Rows:
    """Logs as one: each keeps its turns in their order, in sessions and with cards of its own."""
    turns: list[ChatTurn] = []
    cards = []
    for number, log in enumerate(logs):
        for row in as_read(log.turns):
            own = {name: f"{number}{getattr(row, name)}" for name in ("turn_id", "session_id", "character_id")}
            turns.append(row.model_copy(update=own))
        cards += [row.model_copy(update={"character_id": f"{number}{row.character_id}"}) for row in log.cards]
    lexicon = {(row.term, row.topic): row for log in logs for row in log.lexicon}
    return Rows(turns, cards, list(lexicon.values()), logs[0].settings)


@settings(max_examples=2, phases=[Phase.generate], deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(hostile_rows(), min_size=10, max_size=10))
def test_hostile_rows(spark: "SparkSession", logs: list[Rows]) -> None:
    """The logs of the property test, ten at a time."""
    log = joined(logs)
    with TemporaryDirectory() as name:
        folder = write(Path(name, "turns"), log.turns[::2], log.turns[1::2])
        assert by_spark(spark, folder, inputs_of(log)) == by_local(folder, inputs_of(log))


def test_sessions_that_are_split_over_files_and_days(spark: "SparkSession", tmp_path: Path) -> None:
    """And one that is larger than all others, and than what a task holds at a time."""
    long = [
        turn("L-0", session_id="S-long", named_entities=["하늘"]),
        *(turn(f"L-{n}", **ASKED) for n in range(1, 900)),
    ]
    every = [*long, *STATE.turns]
    moved = [
        row.model_copy(update={"turn_at": row.turn_at + dt.timedelta(days=number % 4)})
        for number, row in enumerate(every)
    ]
    folder = write(tmp_path / "turns", moved[2::3], moved[1::3], moved[::3])
    inputs = inputs_of(Rows(moved, STATE.cards, STATE.lexicon))
    size = spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
    try:
        found = by_spark(spark, folder, inputs)
    finally:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", size or "")
    assert found == by_local(folder, inputs)
    assert sum(row["recall_source_turn"] == "L-0" for row in found.verdicts) == 899


def test_rows_that_are_none_or_not_the_last(spark: "SparkSession", tmp_path: Path) -> None:
    """A blank key, a turn without a card, a turn in two files, a turn twice in a file, a file deeper in the folder."""
    folder = write(
        tmp_path / "turns",
        [turn("T-1", reply_text="하나"), turn("T-2", reply_text="하나"), turn("T-1", reply_text="둘")],
        [turn("T-2", reply_text="둘"), turn("T-3", character_id="C-none")],
        table([turn("x")]).set_column(0, "turn_id", pa.array([" "])),
    )
    write(folder / "day=2026-09-02 가", [turn("T-4")])
    inputs = inputs_of(Rows((), STATE.cards, STATE.lexicon))
    found = by_spark(spark, folder, inputs)
    assert found == by_local(folder, inputs)
    assert [row["evidence"][0]["value"] for row in found.verdicts[:2]] == ["하나", "둘"]
    assert [(file, line, severity) for file, line, severity, *_ in found.rejects] == [
        ("turns/0.parquet", 2, "noted"),
        ("turns/0.parquet", 3, "rejected"),
        ("turns/1.parquet", 2, "unjudged"),
        ("turns/2.parquet", 1, "rejected"),
    ]


def test_where_a_validation_fails_nothing_is_written(
    spark: "SparkSession", here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(here / "turns", [turn(f"T-{n}", character_id="CHR-0001") for n in range(5, 10)])
    monkeypatch.setattr("wh_judge.spark.tasks.Inputs", SpoiltInputs)
    result = call("judge", *flags(here / "turns"), "--engine", "spark", "--out", "v", "--rejects", "r.jsonl")
    assert (result.code, result.out) == (2, "")
    assert "  v10_summary_one_polite_sentence  T-7  " in result.err
    assert result.err.splitlines()[-1].startswith("wh-judge: v: nothing is written, since ")
    assert [path.name for path in here.iterdir()] == ["turns"]


def test_a_day_is_replaced_and_others_stay(spark: "SparkSession", here: Path) -> None:
    """Also: columns that nobody knows are noted once."""
    out, inputs = here / "out", inputs_of(Rows((), STATE.cards, STATE.lexicon))
    for day in (1, 2):
        write(here / str(day), [turn("T-1", turn_at=f"2026-09-0{day}T10:00:00+09:00")])
    again = table([turn("T-2", turn_at="2026-09-02T10:00:00+09:00")]).append_column("mood", pa.array(["x"]))
    write(here / "3", again)
    told = [by_spark(spark, here / str(number), inputs).rejects for number in (1, 2, 3)]
    assert [(row["turn_id"], str(row["day"])) for row in read(out).sort_by("turn_id").to_pylist()] == [
        ("T-1", "2026-09-01"),
        ("T-2", "2026-09-02"),
    ]
    assert told == [[], [], [("3", None, "noted", None, "chat_turn has no column 'mood'; it is ignored")]]


def judged_days(house: House, change: Callable[[Judgement], Judgement] = lambda found: found) -> dict[str, Any]:
    """All tables after the three days, one after the other."""
    with house.warehouse() as connection:
        house.bring_in(connection)
        for day in DAYS:
            assert house.judge(connection, day, change=change).committed
        return tables(connection)


def test_the_warehouse_is_the_same(spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A day goes to Spark, where what other days named counts, and comes back validated: it is not validated twice."""
    local, other = settle(tmp_path / "local"), settle(tmp_path / "other")
    expected = judged_days(local)
    other.options["engine"] = "spark"
    monkeypatch.setattr("wh_judge.day.validate_rows", unused)
    assert judged_days(other, change=unused) == expected


def unused(*_: object) -> Any:
    raise AssertionError("that is the local engine")


def test_a_day_that_fails_keeps_its_verdicts(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = settle(tmp_path)
    house.options["engine"] = "spark"
    monkeypatch.setattr("wh_judge.spark.tasks.Inputs", SpoiltInputs)
    with house.warehouse() as connection:
        house.bring_in(connection)
        result = house.judge(connection, DAY_2)
        assert not result.committed and failing(connection) == [("v10_summary_one_polite_sentence", "T-7")]
        assert [r.code for r in result.validations if not r.ok] == ["v10_summary_one_polite_sentence"]
        assert rows(connection, "SELECT * FROM verdict") == []


def failing(connection: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    return rows(connection, "SELECT code, turn_id FROM failed_row")


def test_nothing_listens_but_on_this_machine(spark: "SparkSession") -> None:
    """Neither the driver in Java nor what it started."""
    java = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()  # type: ignore[union-attr]
    sockets = set()
    for entry in Path(f"/proc/{java}/fd").iterdir():
        target = str(entry.readlink())
        if target.startswith("socket:["):
            sockets.add(target[8:-1])
    lines = [
        line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    ]
    listening = {cells[1].rpartition(":")[0] for cells in lines if cells[3] == "0A" and cells[9] in sockets}
    assert listening and listening <= {"0100007F", "0000000000000000FFFF00000100007F"}
    assert spark.sparkContext.uiWebUrl is None


def test_an_address_that_is_not_there(spark: "SparkSession", here: Path) -> None:
    given = flags(here)
    given[1] = "file:///nowhere/turns"
    result = call("judge", *given, "--engine", "spark", "--out", "v")
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines()[-1].startswith("wh-judge: Spark: [PATH_NOT_FOUND] ")


def test_files_of_any_name(spark: "SparkSession", here: Path) -> None:
    """No name is taken for a pattern, and none is passed over."""
    folder = here / "l*[gs] {x,y}"
    (folder / "_b").mkdir(parents=True)
    for number, name in enumerate(("a.parquet", "b?\\#%20.PARQUET", "_b/c.parquet")):
        pq.write_table(table([turn(f"T-{number}")]), folder / name)
    (here / "logs {x,y}").mkdir()
    pq.write_table(table([turn("T-9")]), here / "logs {x,y}" / "a.parquet")
    inputs = inputs_of(Rows((), STATE.cards, STATE.lexicon))
    assert by_spark(spark, folder, inputs) == by_local(folder, inputs)


def test_times_in_nanoseconds(spark: "SparkSession", here: Path) -> None:
    rows = table([turn("T-1")])
    place = rows.schema.get_field_index("turn_at")
    write(here / "turns", rows.set_column(place, "turn_at", rows["turn_at"].cast(pa.timestamp("ns", "UTC"))))
    result = call("judge", *flags(here / "turns"), "--engine", "spark", "--out", "v")
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines()[-1].endswith("; write times in microseconds, or use --engine local")


def test_the_first_row_that_is_wrong_is_told(spark: "SparkSession", here: Path) -> None:
    """Not a column that nobody knows."""
    write(here / "turns", table([turn("x")]).rename_columns({"turn_id": "id"}))
    result = call("judge", *flags(here / "turns"), "--engine", "spark", "--out", "v")
    assert result.err.splitlines()[-1].endswith("can be read (turns/0.parquet:1: turn_id is missing)")


def test_a_log_without_a_row(spark: "SparkSession", here: Path) -> None:
    write(here / "turns", table([turn("x")]).set_column(0, "turn_id", pa.array([" "])))
    result = call("judge", *flags(here / "turns"), "--engine", "spark", "--out", "v")
    assert result.code == 2 and not (here / "v").exists()
    why = "holds no row that can be read (turns/0.parquet:1: turn_id is blank (' '))"
    assert result.err.splitlines()[-1] == f"wh-judge: {here / 'turns'}: {why}"


def test_what_is_made_ready_is_not_sent() -> None:
    inputs = inputs_of(Rows((), STATE.cards, STATE.lexicon))
    assert sorted(vars(inputs)) == ["cards", "lexicon", "settings"]
