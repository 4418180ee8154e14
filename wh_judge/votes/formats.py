"""Votes in the files of other tools: LMArena JSONL, Label Studio pairwise, Potato pairwise; a module each.

A file is read whole or not at all: a label that is not known is an error, never a tie.
"""

import datetime as dt
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

import pyarrow as pa
from pydantic import ValidationError

from wh_judge.errors import UserError
from wh_judge.ingest import VOTE_LINES, files_of, normalised, reason_of
from wh_judge.outputs import write_documents
from wh_judge.readers import Columns, Record, jsonl_record, read_lines, read_records
from wh_judge.text import nfc
from wh_judge.votes import label_studio, lmarena, potato
from wh_judge.votes.cells import Cells, Items
from wh_judge.votes.certain import CertainVotes, certain_votes
from wh_judge.votes.rows import SUPPORT_SOURCE, VOTE_SCHEMA, Vote

Format = Literal["lmarena", "label-studio", "potato"]
FORMATS: tuple[Format, ...] = get_args(Format)

_ANY = Columns(required=frozenset(), known=frozenset(), lists=frozenset(), booleans=frozenset())


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
        if form == "lmarena" and file.suffix.lower() == ".jsonl":
            _read_blocks(file, found)
            continue
        for record in read_records(file, _ANY):
            found.add(file, record)
    votes = found.table()
    if not votes.num_rows:
        raise UserError(f"{path}: holds no vote")
    return votes


def _read_blocks(file: Path, found: "_Found") -> None:
    """Battles of LMArena: what is certain column by column, the other lines as any."""
    for block in read_lines(file, VOTE_LINES):
        if isinstance(block, Record):
            found.add(file, block)
            continue
        numbers, contents = block
        certainly = certain_votes(contents, lambda lines: lmarena.read_lines(lines, found.source), _MAY_LACK)
        found.add_lines(file, numbers, contents, certainly)


_MAY_LACK = frozenset(["vote_id"])


class _Found:
    """The votes so far, in order, with what tells them apart."""

    def __init__(self, form: Format, source: str, items: Items) -> None:
        self._form, self.source, self._items = form, source, items
        self._places: dict[str, str] = {}
        self._seen: Counter[str] = Counter()
        self._tables: list[pa.Table] = []
        self._rows: list[Cells] = []

    def table(self) -> pa.Table:
        """All of them, in VOTE_SCHEMA."""
        self._flush()
        return pa.concat_tables([VOTE_SCHEMA.empty_table(), *self._tables]).combine_chunks()

    def _flush(self) -> None:
        self._tables.append(pa.Table.from_pylist(self._rows, VOTE_SCHEMA))
        self._rows = []

    def add(self, file: Path, record: Record) -> None:
        """The votes of a record."""
        where = f"{file}:{record.line}" if record.line else str(file)
        if record.value is None:
            raise UserError(f"{where}: {record.reason}")
        try:
            for cells in _READERS[self._form](normalised(record.value), file, self._items, self.source):
                cells.setdefault("source", self.source)
                key = cells.get("vote_id")
                row = dict(Vote.model_validate(cells | {"vote_id": "-" if key in (None, "") else key}))
                row["vote_id"] = self._identified(None if key in (None, "") else row["vote_id"], row, where)
                self._rows.append(row)
        except ValidationError as error:
            raise UserError(f"{where}: {reason_of(error)}") from None
        except UnicodeEncodeError:
            raise UserError(f"{where}: holds half of a surrogate pair, which is no text") from None
        except ValueError as error:
            raise UserError(f"{where}: {error}") from None

    def add_lines(self, file: Path, numbers: Sequence[int], contents: Sequence[bytes], found: CertainVotes) -> None:
        """The votes of lines with these numbers and contents, one by one of those that are in doubt."""
        keys: list[str | None] = found.rows["vote_id"].to_pylist()
        rows = found.rows.to_pylist() if None in keys else []
        start = 0
        for place, certain in enumerate(found.mask.tolist()):
            if certain:
                where = f"{file}:{numbers[place]}"
                try:
                    keys[place] = self._identified(keys[place], rows[place] if rows else {}, where)
                except ValueError as error:
                    raise UserError(f"{where}: {error}") from None
                continue
            self._keep(found.rows, keys, start, place)
            self.add(file, jsonl_record(numbers[place], contents[place]))
            start = place + 1
        self._keep(found.rows, keys, start, len(keys))

    def _keep(self, rows: pa.Table, keys: Sequence[str | None], start: int, end: int) -> None:
        if start < end:
            self._flush()
            ids = pa.array(keys[start:end], pa.string())
            self._tables.append(rows.slice(start, end - start).set_column(0, VOTE_SCHEMA.field("vote_id"), ids))

    def _identified(self, key: str | None, row: Cells, where: str) -> str:
        """The id that a row has, or else one that follows from what it says; no other row may have it."""
        key = _vote_id(row, self._seen) if key is None else key
        if key in self._places:
            raise ValueError(f"vote_id {key[:80]} stands already in {self._places[key]}")
        self._places[key] = where
        return key


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
