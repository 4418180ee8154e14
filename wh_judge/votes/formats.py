"""Votes in the files of other tools: LMArena JSONL, Label Studio pairwise, Potato pairwise; a module each.

A file is read whole or not at all: a label that is not known is an error, never a tie.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, get_args

from pydantic import ValidationError

from wh_judge.errors import UserError
from wh_judge.ingest import files_of, normalised, reason_of
from wh_judge.outputs import write_documents
from wh_judge.readers import Columns, read_records
from wh_judge.votes import label_studio, lmarena, potato
from wh_judge.votes.cells import Cells, Items
from wh_judge.votes.rows import SUPPORT_SOURCE, Vote

Format = Literal["lmarena", "label-studio", "potato"]
FORMATS: tuple[Format, ...] = get_args(Format)

_ANY = Columns(required=frozenset(), known=frozenset(), lists=frozenset(), booleans=frozenset())


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


_READERS: Mapping[Format, Callable[[Cells, Path, Items, str], Iterator[Cells]]] = {
    "lmarena": lmarena.read,
    "label-studio": label_studio.read,
    "potato": potato.read,
}
_WRITERS: Mapping[Format, Callable[[int, Vote], Cells]] = {
    "lmarena": lmarena.write,
    "label-studio": label_studio.write,
    "potato": potato.write,
}
