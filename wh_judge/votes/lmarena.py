"""LMArena's battles, as it publishes them: a row each, in any flat form of file."""

import datetime as dt
from collections.abc import Iterator, Mapping
from pathlib import Path

from wh_judge.votes.cells import Cells, Items, name_of
from wh_judge.votes.journal import document
from wh_judge.votes.rows import Vote

ALIASES: Mapping[str, str] = {"vote_id": "id", "case_id": "question_id", "annotator": "judge"}
"""What LMArena calls a column, where the file does not name it as a vote does."""


def read(row: Cells, _file: Path, _items: Items, _source: str) -> Iterator[Cells]:
    """The vote of a line."""
    voted_at, tstamp = row.get("voted_at"), row.get("tstamp")
    if voted_at is None and tstamp is not None:
        try:
            voted_at = dt.datetime.fromtimestamp(tstamp, dt.UTC)
        except (OSError, OverflowError, TypeError, ValueError):
            raise ValueError(f"tstamp is no time in seconds since 1970 ({str(tstamp)[:40]})") from None
    cells: Cells = {name: name_of(row.get(name, row.get(alias))) for name, alias in ALIASES.items()}
    cells |= {name: row[name] for name in ("model_a", "model_b", "winner", "source") if name in row}
    yield cells | {"shown_left": row.get("shown_left"), "voted_at": voted_at}


def write(_number: int, vote: Vote) -> Cells:
    """The line of a vote."""
    return document(vote)
