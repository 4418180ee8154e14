"""Builders of votes."""

from typing import Any

from wh_judge.votes.rows import Vote


def vote(vote_id: str = "V-1", **cells: Any) -> Vote:
    """A vote for M-1 against M-2, but for the cells given."""
    return Vote.model_validate(_VOTE | {"vote_id": vote_id} | cells)


_VOTE: dict[str, Any] = {
    "case_id": "P-1",
    "model_a": "M-1",
    "model_b": "M-2",
    "winner": "model_a",
    "annotator": "가람",
    "source": "page",
    "shown_left": "model_b",
    "voted_at": "2026-09-20T10:00:00+09:00",
}
