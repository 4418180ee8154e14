"""Votes in the files of other tools: LMArena's battles, Label Studio pairwise, Potato pairwise; a module each.

A file is read whole or not at all: a label that is not known is an error, never a tie. In each form a record becomes
the cells of votes first; then many votes are looked at column by column.
"""

import datetime as dt
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pyarrow as pa
from pydantic import ValidationError

from wh_judge.errors import UserError
from wh_judge.inputs import files_of
from wh_judge.outputs import write_documents
from wh_judge.readers import read_records
from wh_judge.readers.records import Columns, Record
from wh_judge.rowwise import reason_of
from wh_judge.text import nfc, nfc_inside
from wh_judge.votes import label_studio, lmarena, potato
from wh_judge.votes.cells import Cells, Items
from wh_judge.votes.certain import blocks, certain_cells
from wh_judge.votes.rows import SUPPORT_SOURCE, VOTE_SCHEMA, Vote

Format = Literal["lmarena", "label-studio", "potato"]
FORMATS: tuple[Format, ...] = get_args(Format)

_ANY = Columns(frozenset(), frozenset(), frozenset(), frozenset(), numbers=frozenset(["tstamp"]))


def read_votes(path: Path, form: Format, source: str, items: Path | None = None) -> pa.Table:
    """The votes of a file or folder, in VOTE_SCHEMA and in the order in which they stand there.

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
    found = _Found(form, nfc(source), _items(items) if items else {})
    for file in files_of(path):
        for some in blocks(read_records(file, _ANY)):
            found.add(file, some)
    votes = found.table()
    if not votes.num_rows:
        raise UserError(f"{path}: holds no vote")
    return votes


class _Found:
    """The votes so far, in order, with what tells them apart."""

    def __init__(self, form: Format, source: str, items: Items) -> None:
        self._form, self._source, self._items = form, source, items
        self._places: dict[str, str] = {}
        self._seen: Counter[str] = Counter()
        self._tables = [VOTE_SCHEMA.empty_table()]

    def table(self) -> pa.Table:
        """All of them, in VOTE_SCHEMA."""
        return pa.concat_tables(self._tables).combine_chunks()

    def add(self, file: Path, records: Iterable[Record]) -> None:
        """The votes of records of a file; of errors the first is raised."""
        cells: list[Cells] = []
        wheres: list[str] = []
        error = None
        for record in records:
            where = f"{file}:{record.line}" if record.line else str(file)
            try:
                found = self._cells(file, record)
            except ValueError as broken:
                error = _told(where, broken)
                break
            cells += found
            wheres += [where] * len(found)
        self._keep(cells, wheres)
        if error:
            raise error

    def _cells(self, file: Path, record: Record) -> list[Cells]:
        """The cells of a record's votes; a key that is empty is none."""
        if record.value is None:
            raise ValueError(record.reason)
        found = []
        for cells in _READERS[self._form](record.value, file, self._items, self._source):
            key = cells.get("vote_id")
            found.append({"source": self._source, **cells, "vote_id": None if key == "" else key})
        return found

    def _keep(self, cells: list[Cells], wheres: list[str]) -> None:
        certain = certain_cells(cells, frozenset(["vote_id"]))
        keys: list[str | None] = certain.rows["vote_id"].to_pylist()
        doubtful: list[Cells] = []
        rows = certain.rows.to_pylist() if None in keys else []
        places = np.arange(len(cells))
        for place, is_certain in enumerate(certain.mask.tolist()):
            try:
                row = rows[place] if rows else {}
                if not is_certain:
                    row = _row(cells[place])
                    keys[place] = row["vote_id"]
                    places[place] = len(cells) + len(doubtful)
                    doubtful.append(row)
                keys[place] = self._identified(keys[place], row, wheres[place])
            except ValueError as error:
                raise _told(wheres[place], error) from None
        table = certain.rows
        if doubtful:
            table = pa.concat_tables([table, pa.Table.from_pylist(doubtful, VOTE_SCHEMA)]).take(pa.array(places))
        self._tables.append(table.set_column(0, VOTE_SCHEMA.field("vote_id"), pa.array(keys, pa.string())))

    def _identified(self, key: str | None, row: Cells, where: str) -> str:
        """The id that a row has, or else one that follows from what it says; no other row may have it."""
        key = _vote_id(row, self._seen) if key is None else key
        if key in self._places:
            raise ValueError(f"vote_id {key[:80]} stands already in {self._places[key]}")
        self._places[key] = where
        return key


def _row(cells: Cells) -> Cells:
    """The row that the cells are; without an id it may be one all the same."""
    cells = nfc_inside(cells)[0]
    key = cells["vote_id"]
    row = dict(Vote.model_validate(cells | {"vote_id": "-" if key is None else key}))
    return row if key is not None else row | {"vote_id": None}


def _told(where: str, error: ValueError) -> UserError:
    reason = str(error)
    if isinstance(error, ValidationError):
        reason = reason_of(error)
    elif isinstance(error, UnicodeEncodeError):
        reason = "holds half of a surrogate pair, which is no text"
    return UserError(f"{where}: {reason}")


def check_ids(votes: pa.Table, known: pa.Table, path: Path) -> None:
    """Refuse votes whose ids are those of other votes: of two rows with one id only the later counts.

    The same two models on the same case are the same vote, perhaps with another winner since.

    Raises:
        UserError: a vote would take the place of one that says something of other replies.
    """
    import duckdb

    with duckdb.connect() as con:
        con.register("votes", votes)
        con.register("known", known)
        other = con.execute(
            """SELECT vote_id FROM votes JOIN known USING (vote_id)
               WHERE votes.case_id IS DISTINCT FROM known.case_id
                  OR least(votes.model_a, votes.model_b) <> least(known.model_a, known.model_b)
                  OR greatest(votes.model_a, votes.model_b) <> greatest(known.model_a, known.model_b)
               ORDER BY vote_id LIMIT 1"""
        ).fetchall()
    if other:
        raise UserError(
            f"{path}: vote_id {other[0][0][:80]} is already that of a vote on other replies, which it would take"
            " the place of; give its rows other ids, or leave the ids out"
        )


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


def _vote_id(row: Cells, seen: Counter[str]) -> str:
    """A hash of what a vote says; equal votes of one file are numbered. The same file gives the same ids again."""
    voted_at = row["voted_at"] and row["voted_at"].astimezone(dt.UTC).isoformat()
    cells = [row[name] for name in VOTE_SCHEMA.names if name not in ("vote_id", "voted_at")]
    digest = hashlib.md5(json.dumps([*cells, voted_at]).encode()).hexdigest()[:16]
    seen[digest] += 1
    return digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"


def _items(path: Path) -> dict[str, Cells]:
    found: dict[str, Cells] = {}
    for record in read_records(path, _ANY):
        if record.value is None or "id" not in record.value:
            raise UserError(f"{path}:{record.line}: {record.reason or 'has no id'}")
        found[str(record.value["id"])] = record.value
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
