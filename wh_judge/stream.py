"""A whole log judged part by part, several parts at a time, with what earlier parts named in mind.

The memory that this takes does not grow with the log, but for the first mentions of whom somebody asks after.
"""

from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import duckdb
import pyarrow as pa

from wh_judge.files import with_places
from wh_judge.judge import Judge, Judgement
from wh_judge.model import MENTION_SCHEMA
from wh_judge.parquet import BATCH_BYTES
from wh_judge.parts import Part, WholeLog
from wh_judge.portions import portions
from wh_judge.processors import PROCESSORS
from wh_judge.rowwise import Problem


class JudgedPart(NamedTuple):
    """A part of a log with what became of its turns, but for what the verdicts rest on."""

    part: Part
    judgement: Judgement


def judge_parts(log: WholeLog, kernel: Judge, workers: int = PROCESSORS) -> Iterator[JudgedPart]:
    """The parts in order, cut where their verdicts would be too large; at most one more than there are workers is in
    memory."""
    waiting: deque[tuple[Part, Future[Judgement]]] = deque()
    with _Memory(log.questions, kernel.cards) as memory, ThreadPoolExecutor(workers) as pool:
        for part in log.parts:
            earlier = memory.of(part.rows)
            pieces = portions(part.rows, earlier, part.rows.num_rows, BATCH_BYTES)
            for place, rows in enumerate(pieces):
                some = Part(rows, () if place else part.problems)
                if place:
                    earlier = memory.of(rows)
                waiting.append((some, pool.submit(kernel.judge, rows, earlier, used=False)))
                memory.add(rows)
                if len(waiting) > workers:
                    yield _done(waiting)
        while waiting:
            yield _done(waiting)


def _done(waiting: deque[tuple[Part, Future[Judgement]]]) -> JudgedPart:
    part, judgement = waiting.popleft()
    return JudgedPart(part, judgement.result())


class Done:
    """What is to be told of the parts that were judged, but for their verdicts, which are too many to keep."""

    def __init__(self, *, keep_raw: bool) -> None:
        self._keep_raw = keep_raw
        self.turns = 0
        self.counts: Counter[str] = Counter()
        """Verdicts, by their value."""
        self.problems: list[Problem] = []
        """Without the text of the rows, unless it is to be kept."""
        self.unjudged: list[pa.Table] = []
        """As `with_places` gives them."""

    def verdicts_of(self, judged: JudgedPart) -> pa.Table:
        """The verdicts of the part, after taking down what there is to tell."""
        part, judgement = judged
        self.turns += part.rows.num_rows
        counted = judgement.verdicts["verdict"].value_counts().to_pylist()
        self.counts.update({entry["values"]: entry["counts"] for entry in counted})
        self.problems += part.problems if self._keep_raw else [each._replace(raw=None) for each in part.problems]
        self.unjudged.append(with_places(judgement.unjudged, part.rows))
        return judgement.verdicts


class _Memory:
    """The first mentions so far, of those entities whom somebody in the session asks after, sooner or later."""

    def __init__(self, questions: pa.Table, cards: pa.Table) -> None:
        self._connection = duckdb.connect(config={"threads": 1, "autoinstall_known_extensions": False})
        self._connection.register("question", questions)
        self._connection.register("card", cards)
        self._connection.register("earlier", MENTION_SCHEMA.empty_table())
        self._connection.execute(
            """CREATE TABLE asked AS
               SELECT DISTINCT session_id, role.entity FROM question
               JOIN (SELECT character_id, unnest(entity_roles) AS role FROM card) USING (character_id)
               WHERE contains(user_message, role.role);
               CREATE TABLE mention AS FROM earlier"""
        )

    def __enter__(self) -> "_Memory":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def of(self, turns: pa.Table) -> pa.Table:
        """The mentions, in MENTION_SCHEMA, in the sessions in which these turns ask."""
        self._connection.register("turn", turns)
        found = self._connection.sql(
            "FROM mention SEMI JOIN (SELECT session_id FROM turn WHERE user_asked_recall) USING (session_id)"
        )
        return found.to_arrow_table().cast(MENTION_SCHEMA)

    def add(self, turns: pa.Table) -> None:
        """Remember whom these turns name first; they stand after all that were added before."""
        self._connection.register("turn", turns)
        self._connection.execute(
            """INSERT INTO mention
               SELECT session_id, entity, unnest(first) FROM (
                   SELECT session_id, entity,
                          arg_min({'turn_id': turn_id, 'reply_text': reply_text}, (length(turn_id), turn_id)) AS first
                   FROM (SELECT session_id, unnest(named_entities) AS entity, turn_id, reply_text FROM turn)
                   SEMI JOIN asked USING (session_id, entity) ANTI JOIN mention USING (session_id, entity)
                   GROUP BY ALL)"""
        )
        self._connection.unregister("turn")
