"""Label Studio's JSON export of its `Pairwise` tag: `selected` is left or right, ties are `Choices`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wh_judge.votes.cells import OTHER, Cells, Items, name_of, shown_cells, winner_on
from wh_judge.votes.journal import document
from wh_judge.votes.rows import Vote


def read(task: Cells, _file: Path, _items: Items, source: str) -> Iterator[Cells]:
    data, annotations = task.get("data"), task.get("annotations")
    if not isinstance(data, dict) or not isinstance(annotations, list):
        raise ValueError("is no task of Label Studio with data and annotations; export it as JSON, not JSON-MIN")
    given = [entry for entry in annotations if not (isinstance(entry, dict) and entry.get("was_cancelled"))]
    for annotation in given:
        if not isinstance(annotation, dict):
            raise ValueError("has an annotation that is no object")
        own = data.get("vote_id") if len(given) == 1 else None
        if own is None and None not in (task.get("id"), annotation.get("id")):
            # Each Label Studio numbers its tasks from 1: only with the source are those of two of them apart.
            own = f"label-studio/{data.get('source', source)}/{task['id']}/{annotation['id']}"
        cells = {
            **shown_cells(data),
            "vote_id": own,
            "winner": _selected(annotation.get("result"), data),
            "annotator": _annotator(annotation.get("completed_by")),
            "voted_at": annotation.get("created_at"),
        }
        yield cells | ({"source": data["source"]} if "source" in data else {})


def _selected(result: Any, data: Cells) -> str:
    labels: list[Any] = []
    for entry in result if isinstance(result, list) else []:
        value = entry.get("value") if isinstance(entry, dict) else None
        if isinstance(value, dict) and entry.get("type") == "pairwise":
            side = value.get("selected")
            if side not in ("left", "right"):
                raise ValueError(f"selected is neither left nor right ({side!r})")
            labels.append(winner_on(side, data))
        elif isinstance(value, dict) and entry.get("type") == "choices":
            choices = value.get("choices") or []
            labels += choices if isinstance(choices, list) else [choices]
    if len(labels) != 1:
        raise ValueError(f"has {len(labels)} labels in an annotation where one is wanted ({labels!r})")
    return str(labels[0])


def _annotator(value: Any) -> Any:
    if isinstance(value, dict):
        value = value.get("email") or value.get("username") or value.get("id")
    return name_of(value)


def write(number: int, vote: Vote) -> Cells:
    cells = document(vote)
    left = vote.shown_left or "model_a"
    value: Cells
    if vote.winner in OTHER:
        kind, value = "pairwise", {"selected": "left" if vote.winner == left else "right"}
    else:
        kind, value = "choices", {"choices": [vote.winner]}
    result = {"from_name": kind, "to_name": "left,right", "type": kind, "value": value}
    annotator = None if vote.annotator is None else {"email": vote.annotator}
    annotation = {"id": number, "completed_by": annotator, "created_at": cells["voted_at"], "result": [result]}
    kept = ("vote_id", "case_id", "model_a", "model_b", "shown_left", "source")
    return {"id": number, "data": {name: cells[name] for name in kept}, "annotations": [annotation]}
