"""A whole log in turn order, in parts that memory can hold.

Files that already lie in turn order, as chat servers write them, are read twice: first the few columns that tell so and
tell who is asked after, then all. Other files go through DuckDB, which sorts them, on disk where memory is short.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from wh_judge.ahead import reading_ahead
from wh_judge.columnar import ascends, filled_keys, flags, plain_texts
from wh_judge.errors import UserError
from wh_judge.ingest import BATCH_ROWS, read_file
from wh_judge.inputs import TABLES, file_name, files_of
from wh_judge.model import TURN_SCHEMA
from wh_judge.parquet import BATCH_BYTES, bounded_batches
from wh_judge.rowwise import Problem

PART_ROWS = BATCH_ROWS
SORT_MEMORY = "1GB"

PLACED_SCHEMA = pa.schema([*TURN_SCHEMA, ("number", pa.int64()), ("file", pa.string()), ("line", pa.int64())])
"""Turns with the number and the name of their file, and the line there."""
QUESTION_SCHEMA = pa.schema([TURN_SCHEMA.field(name) for name in ("session_id", "character_id", "user_message")])


@dataclass(frozen=True)
class Part:
    """Turns that follow one another in turn order."""

    rows: pa.Table
    """In PLACED_SCHEMA."""
    problems: Sequence[Problem]


@dataclass(frozen=True)
class WholeLog:
    """A log that is read part by part."""

    questions: pa.Table
    """In QUESTION_SCHEMA: of every turn that asks for recall, where and what; perhaps of others besides."""
    parts: Iterator[Part]
    """In turn order. Where a turn stands in several files, the last file by name counts."""


@contextmanager
def reading_parts(path: Path, check: Callable[[], object] = lambda: None) -> Iterator[WholeLog]:
    """The log of a file or a folder; what is on disk meanwhile is deleted at the end of the block.

    Each part is read while its reader is at work on the one before.

    Args:
        path: the file or the folder.
        check: called once it is known how the log lies, before it is sorted, which may take long; what it raises ends
            the reading.
    """
    files = files_of(path)
    questions = _questions_if_ordered(files)
    check()
    if questions is not None:
        with reading_ahead(_as_they_lie(path, files)) as parts:
            yield WholeLog(questions, parts)
        return
    with tempfile.TemporaryDirectory() as folder:
        config: dict[str, Any] = {
            "temp_directory": folder,
            "memory_limit": SORT_MEMORY,
            "autoinstall_known_extensions": False,
        }
        with duckdb.connect(config=config) as connection:
            with _sorting(path):
                log = _sorted(connection, path, files)
            # The thread that reads ends before the connection that it reads from is closed.
            with reading_ahead(log.parts) as parts:
                yield replace(log, parts=parts)


def _as_they_lie(path: Path, files: Sequence[Path]) -> Iterator[Part]:
    """The rows of small files together: a part takes its time however few rows it has."""
    waiting: list[Part] = []
    count = weight = 0
    for number, file in enumerate(files):
        for rows, problems in _placed(path, number, file, all_differ=True):
            if waiting and (count + rows.num_rows > PART_ROWS or weight + rows.nbytes > BATCH_BYTES):
                yield _together(waiting)
                waiting, count, weight = [], 0, 0
            waiting.append(Part(rows, problems))
            count, weight = count + rows.num_rows, weight + rows.nbytes
    if waiting:
        yield _together(waiting)


def _together(parts: Sequence[Part]) -> Part:
    rows = pa.concat_tables([part.rows for part in parts]).combine_chunks()
    return Part(rows, [problem for part in parts for problem in part.problems])


def _placed(
    path: Path, number: int, file: Path, *, all_differ: bool = False
) -> Iterator[tuple[pa.Table, list[Problem]]]:
    name = file_name(path, file)
    for batch in read_file(file, TABLES["chat_turn"], name, all_differ=all_differ):
        count = batch.rows.num_rows
        place = [pa.repeat(number, count), pa.repeat(name, count), pa.array(batch.lines, pa.int64())]
        yield pa.table([*batch.rows.columns, *place], schema=PLACED_SCHEMA), batch.problems


def _questions_if_ordered(files: Sequence[Path]) -> pa.Table | None:
    """The turns that ask for recall, where all files are Parquet and their turns lie in turn order; else None.

    No turn id can then stand there twice. Rows without one are passed over: they will be rejected.
    """
    found = [QUESTION_SCHEMA.empty_table()]
    before = (0, "")
    if any(file.suffix.lower() != ".parquet" for file in files):
        return None
    try:
        with reading_ahead(_columns_of(files)) as batches:
            for batch in batches:
                ids = filled_keys(batch.column("turn_id"))
                if not ascends(ids, before):
                    return None
                if len(ids):
                    before = (len(ids[-1].as_py()), ids[-1].as_py())
                asked = batch.filter(flags(batch.column("user_asked_recall")))
                texts = [plain_texts(asked.column(name)) for name in QUESTION_SCHEMA.names]
                found.append(pa.table(texts, QUESTION_SCHEMA))
    except (TypeError, KeyError, ValueError, OSError, pa.ArrowException):
        return None  # Reading all of it says what is wrong.
    return pa.concat_tables(found)


def _columns_of(files: Sequence[Path]) -> Iterator[pa.RecordBatch]:
    for file in files:
        yield from bounded_batches(file, PART_ROWS, ["turn_id", "user_asked_recall", *QUESTION_SCHEMA.names])


@contextmanager
def _sorting(path: Path) -> Iterator[None]:
    try:
        yield
    except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
        what = str(error).partition("\n")[0]
        raise UserError(
            f"{path}: its turns could not be brought into turn order with {SORT_MEMORY} of memory and the disk of"
            f" {tempfile.gettempdir()} ({what}); set TMPDIR to a larger disk, or write the turns as Parquet in turn"
            " order: shorter turn_id first, then by letters"
        ) from error


def _sorted(connection: duckdb.DuckDBPyConnection, path: Path, files: Sequence[Path]) -> WholeLog:
    connection.execute("SET TimeZone = 'UTC'")
    connection.register("placed", PLACED_SCHEMA.empty_table())
    connection.execute("CREATE TABLE log AS FROM placed")
    problems: list[Problem] = []
    for number, file in enumerate(files):
        for rows, found in _placed(path, number, file):
            connection.register("placed", rows)
            connection.execute("INSERT INTO log FROM placed")
            problems += found
    connection.unregister("placed")
    connection.execute(
        """CREATE TABLE old AS
           SELECT turn_id, max(number) AS newest, max_by(file, number) AS file, max_by(line, number) AS line
           FROM log GROUP BY turn_id HAVING count(*) > 1"""
    )
    replaced = connection.execute(
        """SELECT log.file, log.line, turn_id, old.file, old.line FROM log JOIN old USING (turn_id)
           WHERE number < newest ORDER BY ALL"""
    ).fetchall()
    problems += [
        Problem("chat_turn", file, line, "noted", f"turn_id {turn} is replaced by the row in {by}:{by_line}", None)
        for file, line, turn, by, by_line in replaced
    ]
    columns = ", ".join(QUESTION_SCHEMA.names)
    questions = connection.sql(f"SELECT {columns} FROM log WHERE user_asked_recall").to_arrow_table(PART_ROWS)
    return WholeLog(questions.cast(QUESTION_SCHEMA), _in_turn_order(connection, path, problems))


def _in_turn_order(connection: duckdb.DuckDBPyConnection, path: Path, problems: Sequence[Problem]) -> Iterator[Part]:
    yield Part(PLACED_SCHEMA.empty_table(), problems)
    ordered = """SELECT log.* FROM log LEFT JOIN old USING (turn_id) WHERE coalesce(number = newest, true)
                 ORDER BY length(turn_id), turn_id"""
    weight = "strlen(coalesce(reply_text, '')) + strlen(coalesce(user_message, ''))"
    with _sorting(path):
        [(heavy,)] = connection.sql(f"SELECT avg({weight}) FROM log").fetchall()
        rows = min(PART_ROWS, max(1, int(BATCH_BYTES / (heavy or 1))))
        for batch in connection.sql(ordered).to_arrow_reader(rows):
            yield Part(pa.Table.from_batches([batch]).cast(PLACED_SCHEMA), ())
