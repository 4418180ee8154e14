"""Votes in the files of other tools: LMArena JSONL, Label Studio pairwise, Potato pairwise.

A file is read whole or not at all: a label that is not known is an error, never a tie. Sources of the forms: the
columns of LMArena's published battles; Label Studio's JSON export of its `Pairwise` tag (`selected` is left or right;
ties as `Choices`); Potato's `annotated_instances.jsonl` with its `pairwise` scheme (`selection` is A, B or tie).
"""

import datetime as dt
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import ValidationError

from wh_judge.errors import UserError
from wh_judge.ingest import files_of, normalised, reason_of
from wh_judge.outputs import write_documents
from wh_judge.readers import Columns, read_records
from wh_judge.votes.journal import document
from wh_judge.votes.rows import SUPPORT_SOURCE, Vote

Format = Literal["lmarena", "label-studio", "potato"]
FORMATS: tuple[Format, ...] = get_args(Format)

Cells = dict[str, Any]
Items = Mapping[str, Cells]
"""What an annotation tool was given, by the id of the item: case_id, model_a, model_b, shown_left."""

_ANY = Columns(required=frozenset(), known=frozenset(), lists=frozenset(), booleans=frozenset())
_OTHER = {"model_a": "model_b", "model_b": "model_a"}


def read_votes(path: Path, form: Format, source: str, items: Path | None = None) -> list[Vote]:
    """The votes of a file or folder.

    Args:
        path: where they lie.
        form: in which form.
        source: what their rows say of where they come from, where the file does not.
        items: for Potato, whose output leaves out what was shown: the file that it was given.

    Raises:
        UserError: something in it is no vote; it names the file, the line and the label.
    """
    if source == SUPPORT_SOURCE:
        raise UserError(f"{source}: is the source of votes that nobody cast; name another source")
    known = _items(items) if items else {}
    votes: dict[str, Vote] = {}
    places: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for file in files_of(path):
        for record in read_records(file, _ANY):
            where = f"{file}:{record.line}" if record.line else str(file)
            if record.value is None:
                raise UserError(f"{where}: {record.reason}")
            try:
                for cells in _READERS[form](normalised(record.value), file, known, source):
                    cells.setdefault("source", source)
                    if cells.get("vote_id") in (None, ""):
                        cells["vote_id"] = _vote_id(cells, seen)
                    vote = Vote.model_validate(cells)
                    if vote.vote_id in votes:
                        raise ValueError(f"vote_id {vote.vote_id[:80]} stands already in {places[vote.vote_id]}")
                    votes[vote.vote_id], places[vote.vote_id] = vote, where
            except ValidationError as error:
                raise UserError(f"{where}: {reason_of(error)}") from None
            except UnicodeEncodeError:
                raise UserError(f"{where}: holds half of a surrogate pair, which is no text") from None
            except ValueError as error:
                raise UserError(f"{where}: {error}") from None
    if not votes:
        raise UserError(f"{path}: holds no vote")
    return list(votes.values())


def check_ids(votes: Iterable[Vote], known: Iterable[Vote], path: Path) -> None:
    """Refuse votes whose ids are those of other votes: of two rows with one id only the later counts.

    The same two models on the same case are the same vote, perhaps with another winner since.

    Raises:
        UserError: a vote would take the place of one that says something of other replies.
    """
    about = {vote.vote_id: _about(vote) for vote in known}
    for vote in votes:
        if vote.vote_id in about and about[vote.vote_id] != _about(vote):
            raise UserError(
                f"{path}: vote_id {vote.vote_id[:80]} is already that of a vote on other replies, which it would take"
                " the place of; give its rows other ids, or leave the ids out"
            )


def _about(vote: Vote) -> tuple[str | None, frozenset[str]]:
    return vote.case_id, frozenset((vote.model_a, vote.model_b))


def write_votes(votes: Iterable[Vote], form: Format, path: Path) -> None:
    """Write votes in one of the forms: Label Studio as one JSON array, the others one object a line."""
    _check_suffix(form, path)
    write_documents((_WRITERS[form](number, vote) for number, vote in enumerate(votes, 1)), path, [])


def write_pairs(pairs: Iterable[Cells], form: Format, path: Path) -> None:
    """Write pairs of replies for people to vote on in Label Studio or Potato.

    Args:
        pairs: objects with case_id, model_a, model_b, shown_left, prompt, left and right.
        form: the tool.
        path: the file; what comes back is read with `read_votes`.
    """
    if form == "lmarena":
        raise UserError("lmarena is a form of votes, not of pairs to vote on; name label-studio or potato")
    _check_suffix(form, path)
    if form == "label-studio":
        write_documents(({"data": pair} for pair in pairs), path, [])
        return
    items = (
        {"id": f"{p['case_id']}/{p['model_a']}/{p['model_b']}", "responses": [p["left"], p["right"]], **p}
        for p in pairs
    )
    write_documents(items, path, [])


def _check_suffix(form: Format, path: Path) -> None:
    suffix = ".json" if form == "label-studio" else ".jsonl"
    if path.suffix.lower() != suffix:
        raise UserError(f"{path}: {form} is written to a name that ends in {suffix}")


def _vote_id(cells: Cells, seen: Counter[str]) -> str:
    """A hash of what the vote says; equal votes of one file are numbered. The same file gives the same ids again."""
    digest = hashlib.md5(json.dumps(cells, sort_keys=True, default=str).encode()).hexdigest()[:16]
    seen[digest] += 1
    return digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"


def _items(path: Path) -> dict[str, Cells]:
    found: dict[str, Cells] = {}
    for record in read_records(path, _ANY):
        if record.value is None or "id" not in record.value:
            raise UserError(f"{path}:{record.line}: {record.reason or 'has no id'}")
        found[str(record.value["id"])] = normalised(record.value)
    return found


def _shown(cells: Mapping[str, Any]) -> Cells:
    shown: Cells = {name: cells[name] for name in ("case_id", "model_a", "model_b", "shown_left") if name in cells}
    return shown | ({"case_id": _name(shown["case_id"])} if "case_id" in shown else {})


def _name(value: Any) -> Any:
    """Whole numbers name things, too; anything else stays as it is, for the model to judge."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _on_the(side: str, cells: Mapping[str, Any]) -> str:
    """Which of the two models was on this side; where it was not remembered, the first is on the left."""
    left = cells.get("shown_left") or "model_a"
    if not isinstance(left, str) or left not in _OTHER:
        raise ValueError(f"shown_left is neither model_a nor model_b ({left!r})")
    return left if side == "left" else _OTHER[left]


def _read_lmarena(row: Cells, _file: Path, _items: Items, _source: str) -> Iterator[Cells]:
    tstamp = row.get("tstamp")
    voted_at = row.get("voted_at")
    if voted_at is None and isinstance(tstamp, int | float) and not isinstance(tstamp, bool):
        try:
            voted_at = dt.datetime.fromtimestamp(tstamp, dt.UTC)
        except (OverflowError, ValueError):
            raise ValueError(f"tstamp is no time in seconds since 1970 ({str(tstamp)[:40]})") from None
    cells: Cells = {
        "vote_id": _name(row.get("vote_id", row.get("id"))),
        "case_id": _name(row.get("case_id", row.get("question_id"))),
        **{name: row[name] for name in ("model_a", "model_b", "winner", "source") if name in row},
        "annotator": _name(row.get("annotator", row.get("judge"))),
        "shown_left": row.get("shown_left"),
        "voted_at": voted_at,
    }
    yield cells


def _write_lmarena(_number: int, vote: Vote) -> Cells:
    return document(vote)


def _read_label_studio(task: Cells, _file: Path, _items: Items, source: str) -> Iterator[Cells]:
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
            **_shown(data),
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
            labels.append(_on_the(side, data))
        elif isinstance(value, dict) and entry.get("type") == "choices":
            choices = value.get("choices") or []
            labels += choices if isinstance(choices, list) else [choices]
    if len(labels) != 1:
        raise ValueError(f"has {len(labels)} labels in an annotation where one is wanted ({labels!r})")
    return str(labels[0])


def _annotator(value: Any) -> Any:
    if isinstance(value, dict):
        value = value.get("email") or value.get("username") or value.get("id")
    return _name(value)


def _write_label_studio(number: int, vote: Vote) -> Cells:
    cells = document(vote)
    left = vote.shown_left or "model_a"
    value: Cells
    if vote.winner in _OTHER:
        kind, value = "pairwise", {"selected": "left" if vote.winner == left else "right"}
    else:
        kind, value = "choices", {"choices": [vote.winner]}
    result = {"from_name": kind, "to_name": "left,right", "type": kind, "value": value}
    annotator = None if vote.annotator is None else {"email": vote.annotator}
    annotation = {"id": number, "completed_by": annotator, "created_at": cells["voted_at"], "result": [result]}
    kept = ("vote_id", "case_id", "model_a", "model_b", "shown_left", "source")
    return {"id": number, "data": {name: cells[name] for name in kept}, "annotations": [annotation]}


def _read_potato(row: Cells, file: Path, items: Items, _source: str) -> Iterator[Cells]:
    key, schemes = row.get("id", row.get("instance_id")), row.get("label_annotations")
    if key is None or not isinstance(schemes, dict):
        raise ValueError("is no line of annotated_instances.jsonl with id and label_annotations")
    shown = _shown(row) or _shown(items.get(str(key), {}))
    if "model_a" not in shown:
        raise ValueError(
            f"does not say which models item {key} showed; name the file that Potato was given with --items"
        )
    labels = [label for scheme in schemes.values() for label in _chosen(scheme)]
    if len(labels) != 1:
        raise ValueError(f"has {len(labels)} labels where one is wanted ({labels!r})")
    sides = {"A": "left", "B": "right"}
    label = str(labels[0])
    annotator = _name(row.get("user_id", row.get("annotator")))
    if not {"user_id", "annotator"} & row.keys() and file.name == "annotated_instances.jsonl":
        annotator = file.parent.name  # Potato keeps a folder per user.
    cells = {
        "case_id": _name(key),
        **shown,
        "vote_id": _name(row.get("vote_id")),
        "winner": _on_the(sides[label], shown) if label in sides else label,
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


def _write_potato(_number: int, vote: Vote) -> Cells:
    cells = document(vote)
    left = vote.shown_left or "model_a"
    selection = ("A" if vote.winner == left else "B") if vote.winner in _OTHER else vote.winner
    kept = ("case_id", "model_a", "model_b", "shown_left", "vote_id", "source", "voted_at")
    return {
        "id": vote.case_id or vote.vote_id,
        "user_id": vote.annotator,
        "label_annotations": {"preference": {"selection": selection}},
        **{name: cells[name] for name in kept},
    }


_READERS: Mapping[Format, Callable[[Cells, Path, Items, str], Iterator[Cells]]] = {
    "lmarena": _read_lmarena,
    "label-studio": _read_label_studio,
    "potato": _read_potato,
}
_WRITERS: Mapping[Format, Callable[[int, Vote], Cells]] = {
    "lmarena": _write_lmarena,
    "label-studio": _write_label_studio,
    "potato": _write_potato,
}
