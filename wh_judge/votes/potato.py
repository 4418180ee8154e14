"""Potato's `annotated_instances.jsonl` with its `pairwise` scheme: `selection` is A, B or tie."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wh_judge.votes.cells import OTHER, Cells, Items, name_of, shown_cells, winner_on
from wh_judge.votes.journal import document
from wh_judge.votes.rows import Vote


def read(row: Cells, file: Path, items: Items, _source: str) -> Iterator[Cells]:
    key, schemes = row.get("id", row.get("instance_id")), row.get("label_annotations")
    if key is None or not isinstance(schemes, dict):
        raise ValueError("is no line of annotated_instances.jsonl with id and label_annotations")
    shown = shown_cells(row) or shown_cells(items.get(str(key), {}))
    if "model_a" not in shown:
        raise ValueError(
            f"does not say which models item {key} showed; name the file that Potato was given with --items"
        )
    labels = [label for scheme in schemes.values() for label in _chosen(scheme)]
    if len(labels) != 1:
        raise ValueError(f"has {len(labels)} labels where one is wanted ({labels!r})")
    sides = {"A": "left", "B": "right"}
    label = str(labels[0])
    annotator = name_of(row.get("user_id", row.get("annotator")))
    if not {"user_id", "annotator"} & row.keys() and file.name == "annotated_instances.jsonl":
        annotator = file.parent.name  # Potato keeps a folder per user.
    cells = {
        "case_id": name_of(key),
        **shown,
        "vote_id": name_of(row.get("vote_id")),
        "winner": winner_on(sides[label], shown) if label in sides else label,
        "annotator": annotator,
        "voted_at": row.get("voted_at"),
    }
    yield cells | ({"source": row["source"]} if "source" in row else {})


def _chosen(scheme: Any) -> list[Any]:
    if not isinstance(scheme, dict):
        return [scheme]
    if "selection" in scheme:
        return [scheme["selection"]]
    return [label for label, value in scheme.items() if value not in (None, False, "", "0", "false")]


def write(_number: int, vote: Vote) -> Cells:
    cells = document(vote)
    left = vote.shown_left or "model_a"
    selection = ("A" if vote.winner == left else "B") if vote.winner in OTHER else vote.winner
    kept = ("case_id", "model_a", "model_b", "shown_left", "vote_id", "source", "voted_at")
    return {
        "id": vote.case_id or vote.vote_id,
        "user_id": vote.annotator,
        "label_annotations": {"preference": {"selection": selection}},
        **{name: cells[name] for name in kept},
    }
