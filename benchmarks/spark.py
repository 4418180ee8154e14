"""`python -m benchmarks.spark FOLDER OUT SMALL`: a log judged and validated by the local engine and on Spark.

What starting Spark and a first small log take is told apart. Seconds of processors are those of this process and of all
that it started, as Linux tells them.
"""

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pyarrow as pa

from wh_judge.ingest import read_table
from wh_judge.inputs import TABLES
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


class Processors:
    """Looks, twice a second, what this process and all below it have taken; what has ended by now counts, too."""

    def __init__(self) -> None:
        self._seen: dict[int, float] = {}
        Thread(target=self._look_on, daemon=True).start()

    def _look_on(self) -> None:
        while True:
            self.seconds()
            time.sleep(0.5)

    def seconds(self) -> float:
        """Seconds of processors so far."""
        found: dict[int, float] = {}
        children: dict[int, list[int]] = defaultdict(list)
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    cells = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
                except OSError:
                    continue  # It has ended.
                found[int(entry.name)] = sum(map(int, cells[11:13])) / _TICKS
                children[int(cells[1])].append(int(entry.name))
        below = [os.getpid()]
        for process in below:
            below += children[process]
            self._seen[process] = found.get(process, 0.0)
        return sum(list(self._seen.values()))


def took(work: Callable[[], object], processors: Processors) -> dict[str, float]:
    """Seconds, and those of processors."""
    begun, before = time.perf_counter(), processors.seconds()
    work()
    return {"seconds": time.perf_counter() - begun, "cpu": processors.seconds() - before}


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

    processors = Processors()
    found["local"] = took(here, processors)
    found["start"] = took(lambda: on_spark(small), processors)
    found["spark"] = took(lambda: on_spark(log), processors)
    out.write_text(json.dumps(found), encoding="utf-8")
    print(found)


if __name__ == "__main__":
    main()
