"""LMArena's JSONL: the columns of its published battles, line by line and many lines at once."""

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from wh_judge.columnar import DoubtError
from wh_judge.votes.cells import Cells, Items, name_of
from wh_judge.votes.certain import parsed
from wh_judge.votes.journal import document
from wh_judge.votes.rows import VOTE_SCHEMA, Vote

ALIASES: Mapping[str, str] = {"vote_id": "id", "case_id": "question_id", "annotator": "judge"}
"""What LMArena calls a column, where the file does not name it as a vote does."""


def read(row: Cells, _file: Path, _items: Items, _source: str) -> Iterator[Cells]:
    """The vote of a line."""
    tstamp = row.get("tstamp")
    voted_at = row.get("voted_at")
    if voted_at is None and isinstance(tstamp, int | float) and not isinstance(tstamp, bool):
        try:
            voted_at = dt.datetime.fromtimestamp(tstamp, dt.UTC)
        except (OverflowError, ValueError):
            raise ValueError(f"tstamp is no time in seconds since 1970 ({str(tstamp)[:40]})") from None
    cells: Cells = {name: name_of(row.get(name, row.get(alias))) for name, alias in ALIASES.items()}
    cells |= {name: row[name] for name in ("model_a", "model_b", "winner", "source") if name in row}
    yield cells | {"shown_left": row.get("shown_left"), "voted_at": voted_at}


_COLUMNS = pa.schema([*((n, pa.string()) for n in (*VOTE_SCHEMA.names, *ALIASES.values())), ("tstamp", pa.float64())])
_ASCII_WRITTEN_OUT = re.compile(rb"\\u00[0-7]")
"""An ASCII letter as its code: the name of a column may be written so, too."""


def read_lines(lines: Sequence[bytes], source: str) -> pa.Table:
    """The same of many lines, as `certain_votes` wants it; `source` is for files that do not name the column.

    Raises:
        DoubtError: they have to be read one by one.
        pyarrow.ArrowException: they hold something else than expected.
    """
    table = parsed(lines, _COLUMNS)
    written_out = any(map(_ASCII_WRITTEN_OUT.search, lines))

    def may_name(column: str) -> bool:
        return written_out or any(f'"{column}"'.encode() in line for line in lines)

    for name, alias in ALIASES.items():
        if table[alias].null_count < table.num_rows:
            if may_name(name):
                raise DoubtError  # A null that stands there counts, other than one that does not.
            table = table.set_column(table.column_names.index(name), name, table[alias])
    if not may_name("source"):
        constant = pa.repeat(pa.scalar(source), table.num_rows)
        table = table.set_column(table.column_names.index("source"), "source", constant)
    if table["tstamp"].null_count < table.num_rows:
        given = pa.array([_moment(tstamp) for tstamp in table["tstamp"].to_pylist()], pa.string())
        voted_at = pc.coalesce(table["voted_at"], given)
        table = table.set_column(table.column_names.index("voted_at"), "voted_at", voted_at)
    return table.select(VOTE_SCHEMA.names)


def _moment(tstamp: float | None) -> str | None:
    try:
        return None if tstamp is None else dt.datetime.fromtimestamp(tstamp, dt.UTC).isoformat()
    except (OverflowError, ValueError, OSError):
        raise DoubtError from None


def write(_number: int, vote: Vote) -> Cells:
    """The line of a vote."""
    return document(vote)
