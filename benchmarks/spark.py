"""`python -m benchmarks.spark FOLDER OUT`: the log of a folder judged and validated on Spark and by the local engine.

Both in one process each that is warm: of Spark, what starting it and a first small log take is told apart. Seconds of
processors are those of this process and of all that it started, as Linux tells them.
"""

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa

from wh_judge.ingest import TABLES, read_table
from wh_judge.judge import Judge
from wh_judge.model import MENTION_SCHEMA, TURN_SCHEMA
from wh_judge.outputs import writing_verdicts
from wh_judge.parts import reading_parts
from wh_judge.rules import RuleSettings
from wh_judge.spark.engine import judging_log
from wh_judge.spark.session import open_session
from wh_judge.spark.tasks import Inputs
from wh_judge.stream import judge_parts
from wh_judge.validated import Judged, validate_rows

_TICKS = os.sysconf("SC_CLK_TCK")


def processors() -> float:
    """Seconds of processors of this process and of all below it, dead ones too."""
    seconds: dict[int, float] = {}
    children: dict[int, list[int]] = defaultdict(list)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                cells = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            except OSError:
                continue  # It has ended.
            seconds[int(entry.name)] = sum(map(int, cells[11:15])) / _TICKS
            children[int(cells[1])].append(int(entry.name))

    def below(process: int) -> Iterator[int]:
        yield process
        for child in children[process]:
            yield from below(child)

    return sum(seconds.get(process, 0.0) for process in below(os.getpid()))


def took(work: Callable[[], object]) -> dict[str, float]:
    """Seconds, and those of processors."""
    begun, before = time.perf_counter(), processors()
    work()
    return {"seconds": time.perf_counter() - begun, "cpu": processors() - before}


def main() -> None:
    """Measure and write."""
    folder, out = map(Path, sys.argv[1:3])
    small = Path(sys.argv[3])
    cards = read_table(folder / "cards.json", TABLES["character_card"]).rows
    lexicon = read_table(folder / "lexicon.csv", TABLES["topic_lexicon"]).rows
    inputs = Inputs(cards, lexicon, RuleSettings())
    log = folder / "turns.parquet"
    found: dict[str, object] = {}

    def on_spark(turns: Path) -> None:
        with judging_log(open_session("local[2]"), str(turns), inputs) as judged:
            assert judged.sound
            found["turns"] = sum(judged.counts.values())
            judged.write(str(out.with_suffix(".days")))

    def here() -> None:
        kernel, nothing = Judge(cards, lexicon, threads=1), TURN_SCHEMA.empty_table()
        earlier = MENTION_SCHEMA.empty_table()
        with reading_parts(log) as whole:
            parts = list(judge_parts(whole, kernel))
        verdicts = pa.concat_tables([part.judgement.verdicts for part in parts])
        turns = pa.concat_tables([part.part.rows for part in parts]).select(TURN_SCHEMA.names)
        with writing_verdicts([verdicts], out.with_suffix(".parquet")):
            pass
        outcomes = validate_rows(verdicts, Judged(turns, nothing, cards, lexicon, earlier, RuleSettings()))
        assert all(result.ok for result in outcomes.results)

    found["start"] = took(lambda: on_spark(small))
    found["spark"] = took(lambda: on_spark(log))
    found["local"] = took(here)
    out.write_text(json.dumps(found), encoding="utf-8")
    print(found)


if __name__ == "__main__":
    main()
