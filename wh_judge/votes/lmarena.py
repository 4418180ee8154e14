"""LMArena's JSONL: the columns of its published battles."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

from wh_judge.votes.cells import Cells, Items, name_of
from wh_judge.votes.journal import document
from wh_judge.votes.rows import Vote


def read(row: Cells, _file: Path, _items: Items, _source: str) -> Iterator[Cells]:
    tstamp = row.get("tstamp")
    voted_at = row.get("voted_at")
    if voted_at is None and isinstance(tstamp, int | float) and not isinstance(tstamp, bool):
        try:
            voted_at = dt.datetime.fromtimestamp(tstamp, dt.UTC)
        except (OverflowError, ValueError):
            raise ValueError(f"tstamp is no time in seconds since 1970 ({str(tstamp)[:40]})") from None
    cells: Cells = {
        "vote_id": name_of(row.get("vote_id", row.get("id"))),
        "case_id": name_of(row.get("case_id", row.get("question_id"))),
        **{name: row[name] for name in ("model_a", "model_b", "winner", "source") if name in row},
        "annotator": name_of(row.get("annotator", row.get("judge"))),
        "shown_left": row.get("shown_left"),
        "voted_at": voted_at,
    }
    yield cells


def write(_number: int, vote: Vote) -> Cells:
    return document(vote)
