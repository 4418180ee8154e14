"""Who voted on which two replies, and new votes: nobody votes on a pair twice."""

import threading
from pathlib import Path

from wh_judge.ingest import read_file
from wh_judge.inputs import TABLES
from wh_judge.settings import Settings
from wh_judge.store.votes import own_files
from wh_judge.votes.journal import append
from wh_judge.votes.rows import Vote

Pair = tuple[str | None, str, str]
"""A case and two models, the first of which comes first by name."""
_ByAnnotator = dict[str, set[Pair]]


class Voted:
    """What the files of votes say as they are now; a file is read again where it changed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._files: dict[Path, tuple[tuple[int, int], _ByAnnotator]] = {}
        self._lock = threading.Lock()

    def by(self, annotator: str) -> set[Pair]:
        """What somebody voted on, also what no run has counted yet."""
        with self._lock:
            return self._by(annotator)

    def keep(self, vote: Vote) -> bool:
        """Add a vote to the journal; False where its annotator voted on the pair before, and nothing is added."""
        with self._lock:
            if vote.annotator is not None and _pair(vote) in self._by(vote.annotator):
                return False
            append(self._settings.votes, vote)
            return True

    def _by(self, annotator: str) -> set[Pair]:
        table = TABLES["vote"]
        known, self._files = self._files, {}
        for name, file in own_files(self._settings, table).items():
            stat = file.lstat()
            facts = (stat.st_mtime_ns, stat.st_size)
            if file not in known or known[file][0] != facts:
                found: _ByAnnotator = {}
                for batch in read_file(file, table, name):
                    for row in batch.rows.to_pylist():
                        found.setdefault(row["annotator"], set()).add(_pair(Vote.model_construct(**row)))
                known[file] = (facts, found)
            self._files[file] = known[file]
        return {pair for _, found in self._files.values() for pair in found.get(annotator, ())}


def _pair(vote: Vote) -> Pair:
    return vote.case_id, min(vote.model_a, vote.model_b), max(vote.model_a, vote.model_b)
