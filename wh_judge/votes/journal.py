"""New votes, one line each, in files that nothing else changes: the graph reads them like any input."""

import errno
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from wh_judge.votes.rows import Vote

JOURNAL = "screen.jsonl"
LINES = 10_000


def document(vote: Vote) -> dict[str, object]:
    """The vote as a JSON document."""
    return vote.model_dump(mode="json")


def lines(votes: pa.Table) -> Iterator[str]:
    """Votes (VOTE_SCHEMA) as JSON documents, one a line, a moment in UTC."""
    for batch in votes.to_batches(LINES):
        for row in batch.to_pylist():
            if row["voted_at"] is not None:
                row["voted_at"] = row["voted_at"].isoformat()
            yield json.dumps(row, ensure_ascii=False) + "\n"


def append(folder: Path, vote: Vote) -> None:
    """Add a vote to the journal of a folder, whole or not at all, whoever else is adding one.

    Args:
        folder: the setting's `votes` folder; made where it is missing.
        vote: what somebody said.

    Raises:
        OSError: the disk is full, or does not let it be written; the journal is as before.
    """
    folder.mkdir(parents=True, exist_ok=True)
    line = (json.dumps(document(vote), ensure_ascii=False) + "\n").encode()
    with (folder / JOURNAL).open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        end = file.seek(0, os.SEEK_END)
        # A line that a crash cut off must not swallow this one.
        if end and not _ends_with_newline(folder / JOURNAL):
            line = b"\n" + line
        try:
            if os.write(file.fileno(), line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder / JOURNAL))
            os.fsync(file.fileno())
        except OSError:
            # Half a line of a vote that its voter is told was not kept.
            os.ftruncate(file.fileno(), end)
            raise


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
