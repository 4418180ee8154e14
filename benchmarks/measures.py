"""What is measured beside what. Both sides run in turn, several rounds, so that they meet the same machine."""

import datetime as dt
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb

from benchmarks import made
from benchmarks.timed import Took, middle, module, python, run

ONE, TEN = 1_000_000, 10_000_000
JUDGE = python("from wh_judge.cli import main; main()")
WARNS = (0, 1)
"""The log holds rows that are rejected, which the exit code tells."""


@dataclass(frozen=True)
class Measured:
    """One row of the results: something beside what it is compared with."""

    what: str
    against: str
    must: str
    took: Took
    beside: Took
    rounds: int
    ratio: float
    """Of the seconds, unless `by` names something else."""
    cpu_ratio: float
    reached: bool
    more: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self) | {"took": self.took._asdict(), "beside": self.beside._asdict()}


@dataclass(frozen=True)
class Bench:
    """Where the logs lie, and how many rounds are run."""

    folder: Path
    rounds: int

    def inputs(self, turns: int, terms: int = 1_000) -> Path:
        """A folder with a log in one file, cards and a lexicon; made once."""
        folder = self.folder / f"{turns}-{terms}"
        if not (folder / "lexicon.csv").exists():
            folder.mkdir(parents=True, exist_ok=True)
            made.write_cards(folder / "cards.json")
            other = self.folder / f"{turns}-1000" / "turns.parquet"
            if other.exists():
                (folder / "turns.parquet").symlink_to(other)
            else:
                made.write_log(folder / "turns.parquet", turns, 10)
            made.write_lexicon(folder / "lexicon.csv", terms)
        return folder

    def in_turn(self, *commands: Callable[[], Took]) -> list[list[Took]]:
        """Of each command its runs, the commands by turns; each is told when it has ended."""
        runs: list[list[Took]] = [[] for _ in commands]
        for number in range(self.rounds):
            for place, command in enumerate(commands):
                took = command()
                runs[place].append(took)
                told = f"{took.seconds:.1f} s, {took.cpu:.1f} s of processors, {took.gigabytes:.2f} GB"
                print(f"  round {number + 1} of {self.rounds}, side {place + 1}: {told}", flush=True)
        return runs

    def judge(self, folder: Path) -> Took:
        """`wh-judge judge`, Parquet to Parquet."""
        files = [f"--{name}={folder / file}" for name, file in FILES.items()]
        return run([*JUDGE, "judge", *files, f"--out={folder / 'verdicts.parquet'}"], sound=WARNS)

    def copy(self, folder: Path) -> Took:
        """DuckDB's COPY of the log."""
        sql = f"COPY (FROM '{folder / 'turns.parquet'}') TO '{folder / 'copy.parquet'}' (FORMAT parquet)"
        return run(python(f"import duckdb; duckdb.connect().execute({sql!r})"))


FILES = {"turns": "turns.parquet", "cards": "cards.json", "lexicon": "lexicon.csv"}


def _pair(
    bench: Bench,
    what: str,
    against: str,
    most: float,
    one: Sequence[Took],
    other: Sequence[Took],
    memory: float | None = None,
    **more: Any,
) -> Measured:
    """Two sides that ran in turn: at most so many times as long, in at most so many gigabytes."""
    took, beside = middle(one), middle(other)
    ratio = took.seconds / beside.seconds
    must = f"at most {most:g} times" + (f", {memory:g} GB" if memory else "")
    reached = ratio <= most and (memory is None or took.gigabytes <= memory)
    measured = Measured(what, against, must, took, beside, len(one), ratio, took.cpu / beside.cpu, reached)
    return replace(measured, **more)


def beside_copy(bench: Bench, turns: int) -> Measured:
    """`wh-judge judge` beside DuckDB's COPY."""
    folder = bench.inputs(turns)
    judged, copied = bench.in_turn(lambda: bench.judge(folder), lambda: bench.copy(folder))
    return _pair(bench, f"judge {turns:,} turns", "COPY of the same file", 4, judged, copied)


def ten_million(bench: Bench) -> list[Measured]:
    """Ten million turns beside COPY, and beside one million: one run of them serves both."""
    large, small = bench.inputs(TEN), bench.inputs(ONE)
    ten, copied, one = bench.in_turn(lambda: bench.judge(large), lambda: bench.copy(large), lambda: bench.judge(small))
    what = f"judge {TEN:,} turns"
    return [
        _pair(bench, what, "COPY of the same file", 4, ten, copied, memory=3),
        _pair(bench, what, f"judge {ONE:,} turns", 11, ten, one),
    ]


def out_of_order(bench: Bench) -> Measured:
    """A log whose rows are shuffled, which has to be sorted first."""
    folder, ordered = bench.folder / "shuffled", bench.inputs(ONE)
    if not folder.exists():
        folder.mkdir()
        for name in ("cards.json", "lexicon.csv"):
            shutil.copy(ordered / name, folder)
        sql = f"COPY (FROM '{ordered / 'turns.parquet'}' ORDER BY hash(turn_id)) TO '{folder / 'turns.parquet'}'"
        run(python(f"import duckdb; duckdb.connect().execute({sql!r})"))
    mixed, lying = bench.in_turn(lambda: bench.judge(folder), lambda: bench.judge(ordered))
    return _pair(bench, f"judge {ONE:,} turns, shuffled", "in turn order", 2, mixed, lying)


def large_lexicon(bench: Bench) -> Measured:
    """100,000 terms beside 1,000."""
    small, large = bench.inputs(ONE), bench.inputs(ONE, 100_000)
    many, few = bench.in_turn(lambda: bench.judge(large), lambda: bench.judge(small))
    return _pair(bench, "lexicon of 100,000 terms", "1,000 terms", 1.5, many, few)


def slower(bench: Bench, program: str, what: str, least: float, turns: int = ONE) -> Measured:
    """The same work done in another way, with the same verdicts.

    Raises:
        RuntimeError: the verdicts are not the same.
    """
    folder = bench.inputs(turns)
    out = folder / f"{program}.parquet"
    other, judged = bench.in_turn(lambda: run(module(program, folder, out)), lambda: bench.judge(folder))
    _same_verdicts(folder / "verdicts.parquet", out)
    measured = _pair(bench, f"{what}, {turns:,} turns", "wh-judge judge", least, other, judged)
    return Measured(**vars(measured) | {"must": f"at least {least:g} times", "reached": measured.ratio >= least})


DECIDED = (
    *("turn_id", "session_id", "character_id", "model_id", "verdict", "off_canon_entities"),
    *("touched_term", "touched_topic", "recall_target", "recall_source_turn"),
)


def _same_verdicts(one: Path, other: Path) -> None:
    columns = ", ".join(DECIDED)
    sides = [f"SELECT {columns} FROM '{file}'" for file in (one, other)]
    for left, right in (sides, sides[::-1]):
        differing = duckdb.execute(f"SELECT turn_id FROM ({left} EXCEPT ALL {right}) LIMIT 5").fetchall()
        if differing:
            raise RuntimeError(f"{one} and {other} differ in {differing}")


def one_day(bench: Bench, turns: int = ONE) -> Measured:
    """A day through Dagster, from its file to the published snapshot, with all validations."""
    folder = bench.folder / f"day-{turns}"
    if not folder.exists():
        made.write_days(folder / "turns", turns, 1)
        made.write_cards(folder / "cards.json")
        made.write_lexicon(folder / "lexicon.csv", 1_000)
    [file] = (folder / "turns").iterdir()

    def day() -> Took:
        shutil.rmtree(folder / "data", ignore_errors=True)
        return run([*JUDGE, "run", f"--inputs={folder}", f"--data={folder / 'data'}"], _home(folder), WARNS)

    def copy() -> Took:
        sql = f"COPY (FROM '{file}') TO '{folder / 'copy.out'}' (FORMAT parquet)"
        return run(python(f"import duckdb; duckdb.connect().execute({sql!r})"))

    whole, copied = bench.in_turn(day, copy)
    what = f"a day of {turns:,} turns through Dagster"
    return _pair(bench, what, "COPY of the same file", 20, whole, copied, memory=4)


def _home(folder: Path) -> dict[str, str]:
    home = folder / "data" / "dagster"
    home.mkdir(parents=True, exist_ok=True)
    return {"DAGSTER_HOME": str(home)}


def backfilled_day(bench: Bench) -> list[Measured]:
    """The fixed cost of a day: eleven days of 100 turns beside one, a tenth of the difference; and what of it Dagster
    takes for a graph of the same assets and checks that do nothing."""
    folder, many = bench.folder / "tiny", 11
    if not folder.exists():
        made.write_days(folder / "turns", 100 * many, many)
        made.write_cards(folder / "cards.json")
        made.write_lexicon(folder / "lexicon.csv", 1_000)
    days = sorted(file.stem for file in (folder / "turns").iterdir())

    def fill(last: str) -> Took:
        shutil.rmtree(folder / "data", ignore_errors=True)
        where = [f"--inputs={folder}", f"--data={folder / 'data'}"]
        return run([*JUDGE, "backfill", days[0], last, *where], _home(folder), WARNS)

    def empty(days: int) -> Took:
        return run(module("benchmarks.empty_graph", str(days)), _home(folder))

    def a_day(what: str, most: Sequence[Took], least: Sequence[Took]) -> Measured:
        long, short = middle(most), middle(least)
        cost, cpu = ((one - other) / (many - 1) for one, other in zip(long[:2], short[:2], strict=True))
        against = f"{many} days of 100 turns less 1 day"
        return Measured(what, against, "at most 1 s", long, short, bench.rounds, cost, cpu, cost <= 1)

    runs = bench.in_turn(lambda: fill(days[-1]), lambda: fill(days[0]), lambda: empty(many), lambda: empty(1))
    return [
        a_day("fixed cost of a backfilled day", *runs[:2]),
        replace(a_day("of it Dagster's own, without our work", *runs[2:]), against=f"{many} empty days less 1"),
    ]


def seconds(bench: Bench, what: str, command: Sequence[str], most: float) -> Measured:
    """A process by itself."""
    [runs] = bench.in_turn(lambda: run(command))
    took = middle(runs)
    reached = took.seconds <= most
    return Measured(what, "", f"at most {most:g} s", took, took, bench.rounds, took.seconds, took.cpu, reached)


def one_card(bench: Bench) -> Measured:
    """One card edited beside judging all; the dearest of three edits."""
    out = bench.folder / "one_card.json"
    took = run(module("benchmarks.one_card", out))
    found = json.loads(out.read_text("utf-8"))
    share = max(edit["seconds"] for edit in found["edits"]) / found["judging_all"]
    what = f"one card of 5,000 edited, {found['days']} days of {found['turns']:,} turns"
    return Measured(what, "judging all of them", "at most 5%", took, took, 1, share, share, share <= 0.05, found)


def on_spark(bench: Bench) -> Measured:
    """The engine spark beside the local one, both with all validations, the local one writing one file. The memory is
    that of the process that both are called from."""
    folder, small, out = bench.inputs(100_000), bench.inputs(1_000), bench.folder / "spark.json"
    whole = run(module("benchmarks.spark", folder, out, small / "turns.parquet"))
    found = json.loads(out.read_text("utf-8"))
    spark, local = (Took(found[name]["seconds"], found[name]["cpu"], whole.gigabytes) for name in ("spark", "local"))
    what = f"judge and validate {100_000:,} turns on Spark, local[2]"
    return _pair(bench, what, "the same by the local engine", 2, [spark], [local], more=found)


MEASURES: Mapping[str, Callable[[Bench], Measured | list[Measured]]] = {
    "judge-1m": lambda bench: beside_copy(bench, ONE),
    "judge-10m": ten_million,
    "shuffled": out_of_order,
    "lexicon": large_lexicon,
    "plain": lambda bench: slower(bench, "benchmarks.plain", "turn by turn in plain Python", 10),
    "pandas": lambda bench: slower(bench, "benchmarks.pandas_judge", "a straightforward pandas program", 5),
    "spark": on_spark,
    "day": one_day,
    "card": one_card,
    "backfill": backfilled_day,
    "help": lambda bench: seconds(bench, "wh-judge --help", [*JUDGE, "--help"], 0.5),
    "definitions": lambda bench: seconds(
        bench, "importing the definitions", python("import wh_judge.definitions as d; d.build_definitions({})"), 4
    ),
}


def now() -> str:
    """The day, for the results."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%d")
