"""Verdicts held against the log they were judged from: every row, a bucket of sessions at a time, on all processors.

What a turn may be judged by lies in its session, so that buckets of whole sessions are validated as all rows at once
would be. The validations themselves are those of `wh_judge.validations`, in plain Python; here is who looks at what.
"""

import gc
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain
from queue import Queue
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wh_judge.model import CharacterCard, cards_from, lexicon_from, turns_from
from wh_judge.processors import PROCESSORS
from wh_judge.rules import Lexicon, RuleSettings
from wh_judge.rules.rule import Mention
from wh_judge.validations import Log, Outcomes, claim_from_record, validate_each

BUCKET_ROWS = 12_500
"""Verdicts that are validated at a time; as Python objects they take a few hundred megabytes."""


RECORDS = 100
"""Verdicts that are Python objects at a time."""


@dataclass(frozen=True)
class Judged:
    """What verdicts are held against."""

    turns: pa.Table
    """In TURN_SCHEMA: the turns that were judged."""
    cited: pa.Table
    """In TURN_SCHEMA: turns that verdicts cite as the source of a recall; some may be among `turns`."""
    cards: pa.Table
    lexicon: pa.Table
    earlier: pa.Table
    """First mentions in these sessions in turns that are not among `turns`, in MENTION_SCHEMA."""
    settings: RuleSettings


def validate_rows(rows: pa.Table, judged: Judged) -> Outcomes:
    """Hold verdicts (VERDICT_SCHEMA) against what they were judged from; letters in the order of the rows."""
    count = max(1, -(-rows.num_rows // BUCKET_ROWS))
    if count == 1:
        return validate_here(rows, judged)
    places: list[np.ndarray] = []
    waiting: deque[Future[Outcomes]] = deque()
    found: list[Outcomes] = []
    workers = min(count, PROCESSORS)
    with ExitStack() as processes, ThreadPoolExecutor(workers) as pool:
        idle: Queue[_Worker] = Queue()
        for _ in range(workers):
            idle.put(processes.enter_context(_Worker(judged)))
        for place, bucket_rows, bucket in _buckets(rows, judged, count):
            places.append(place)
            waiting.append(pool.submit(_in_a_worker, idle, place, bucket_rows, bucket))
            if len(waiting) > workers:
                found.append(waiting.popleft().result())
        found += [future.result() for future in waiting]
    return _together(rows.num_rows, places, found)


def _in_a_worker(idle: "Queue[_Worker]", place: np.ndarray, rows: pa.Table, judged: Judged) -> Outcomes:
    worker = idle.get()
    try:
        return worker.validate((place + 1).tolist(), rows, judged)
    finally:
        idle.put(worker)


class _Worker:
    """A process that validates. `multiprocessing` would either fork, which leaves behind what threads of DuckDB and
    Dagster hold, or run the program's main module once more, which is not ours to do."""

    def __init__(self, judged: Judged) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import _serve; _serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._send((judged.cards, judged.lexicon, judged.settings))

    def __enter__(self) -> "_Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def _send(self, what: object) -> None:
        assert self._process.stdin is not None
        pickle.dump(what, self._process.stdin, protocol=5)
        self._process.stdin.flush()

    def validate(self, numbers: list[int], rows: pa.Table, judged: Judged) -> Outcomes:
        """The outcomes of a bucket whose rows have these numbers."""
        assert self._process.stdout is not None
        self._send((numbers, rows, judged.turns, judged.cited, judged.earlier))
        outcomes: Outcomes = pickle.load(self._process.stdout)
        return outcomes


def _serve() -> None:
    """Validate the buckets that come in until there are no more."""
    # A bucket makes millions of objects, none of which refers to itself: to look through them finds nothing to free.
    gc.disable()
    source, out = sys.stdin.buffer, sys.stdout.buffer
    cards, lexicon, settings = pickle.load(source)
    known = Known(cards_from(cards), Lexicon(lexicon_from(lexicon)))
    while True:
        try:
            numbers, rows, turns, cited, earlier = pickle.load(source)
        except EOFError:
            return
        bucket = Judged(turns, cited, cards, lexicon, earlier, settings)
        pickle.dump(validate_here(rows, bucket, known, numbers), out, protocol=5)
        out.flush()


def _buckets(rows: pa.Table, judged: Judged, count: int) -> Iterator[tuple[np.ndarray, pa.Table, Judged]]:
    """Numbers of rows, the rows, and what they are held against, by buckets of whole sessions."""
    sessions = pc.unique(judged.turns["session_id"].combine_chunks())

    def bucket_of(column: pa.ChunkedArray) -> np.ndarray:
        # Sessions that were written one after the other go together: their rows then lie together too.
        number = pc.fill_null(pc.index_in(column.combine_chunks(), sessions), 0)
        return np.asarray(number.to_numpy(zero_copy_only=False).astype(np.int64) * count // max(1, len(sessions)))

    turn_bucket = bucket_of(judged.turns["session_id"])
    # A verdict goes where its turn is, whatever it says of its session.
    turn = pc.index_in(rows["turn_id"].combine_chunks(), judged.turns["turn_id"].combine_chunks())
    row_bucket = turn_bucket[pc.fill_null(turn, 0).to_numpy(zero_copy_only=False)]
    earlier_bucket = bucket_of(judged.earlier["session_id"])
    for number in range(count):
        within = row_bucket == number
        # Not `take`, which copies all chunks into one before it takes a row.
        some = rows.filter(pa.array(within))
        sources = some["recall_source_turn"].combine_chunks()
        bucket = replace(
            judged,
            turns=judged.turns.filter(pa.array(turn_bucket == number)),
            cited=judged.cited.filter(pc.is_in(judged.cited["turn_id"], sources)),
            earlier=judged.earlier.filter(pa.array(earlier_bucket == number)),
        )
        yield np.flatnonzero(within), some, bucket


class Known(NamedTuple):
    """What is the same in every bucket, made ready."""

    cards: list[CharacterCard]
    lexicon: Lexicon


def _log(judged: Judged, known: Known) -> Log:
    turns = turns_from(judged.turns)
    there = {turn.turn_id for turn in turns}
    turns += [turn for turn in turns_from(judged.cited) if turn.turn_id not in there]
    log = Log.of(
        turns=turns,
        cards=known.cards,
        lexicon=(),
        settings=judged.settings,
        earlier={
            (row["session_id"], row["entity"]): Mention(row["turn_id"], row["reply_text"])
            for row in judged.earlier.to_pylist()
        },
    )
    return replace(log, lexicon=known.lexicon)


def validate_here(
    rows: pa.Table, judged: Judged, known: Known | None = None, numbers: Iterable[int] | None = None
) -> Outcomes:
    """As `validate_rows`, all at once in this process.

    Args:
        rows: the verdicts.
        judged: what they are held against.
        known: its cards and its lexicon, where they were made ready before.
        numbers: the place of each row in the input; else they count from 1.
    """
    known = known or Known(cards_from(judged.cards), Lexicon(lexicon_from(judged.lexicon)))
    # Few at a time: what was just made is still at hand in the processor when it is looked at.
    records = chain.from_iterable(batch.to_pylist() for batch in rows.to_batches(RECORDS))
    return validate_each(map(claim_from_record, records), _log(judged, known), rows=numbers)


def _together(count: int, places: list[np.ndarray], found: list[Outcomes]) -> Outcomes:
    letters = [""] * count
    for place, outcomes in zip(places, found, strict=True):
        for number, of_row in zip(place.tolist(), outcomes.letters, strict=True):
            letters[number] = of_row
    first, *others = (outcomes.results for outcomes in found)
    joined = [result.joined(*more) for result, *more in zip(first, *others, strict=True)]
    in_order = (tuple(sorted(result.failures, key=lambda failure: failure.row)) for result in joined)
    return Outcomes(
        [replace(each, failures=failures) for each, failures in zip(joined, in_order, strict=True)], letters
    )
