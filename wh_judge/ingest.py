"""Files to rows: what is right becomes an Arrow table, what is not becomes a problem with file, line and reason.

Text is normalised to NFC, rows are validated once, here, against the models; inside the program they are trusted.
Nothing is dropped: each record of a file ends as a row or as a rejected problem.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, overload
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from wh_judge.columnar import certain_turns, key_hashes, repeated_keys
from wh_judge.errors import UserError
from wh_judge.model import (
    CARD_SCHEMA,
    GOLD_SCHEMA,
    LEXICON_SCHEMA,
    TERM_LIMIT,
    TURN_SCHEMA,
    CharacterCard,
    ChatTurn,
    GoldLabel,
    LexiconTerm,
    Row,
)
from wh_judge.readers import (
    READERS,
    Columns,
    Line,
    Record,
    batch_record,
    batch_values,
    read_batches,
    read_entries,
)
from wh_judge.text import nfc_inside
from wh_judge.votes.certain import blocks, certain_votes
from wh_judge.votes.rows import (
    JUDGE_SCORE_SCHEMA,
    SUPPORT_SCHEMA,
    VOTE_SCHEMA,
    CapabilitySupport,
    JudgeScore,
    Vote,
)

BATCH_ROWS = 100_000
KST = ZoneInfo("Asia/Seoul")
"""A turn's day is its date here."""

TableName = Literal[
    "chat_turn", "character_card", "topic_lexicon", "gold_label", "vote", "capability_support", "judge_score"
]


@dataclass(frozen=True)
class InputTable:
    """An input table: where it lies among the inputs, its model, its schema, and what identifies a row."""

    name: TableName
    place: str
    model: type[Row]
    schema: pa.Schema
    key: tuple[str, ...]
    optional: bool = False
    """Whether a folder of inputs may do without it."""

    @property
    def columns(self) -> Columns:
        """What its CSV files must and may have."""
        return Columns(
            required=frozenset(name for name, info in self.model.model_fields.items() if info.is_required()),
            known=frozenset(self.schema.names),
            lists=frozenset(entry.name for entry in self.schema if pa.types.is_list(entry.type)),
            booleans=frozenset(entry.name for entry in self.schema if pa.types.is_boolean(entry.type)),
            numbers=frozenset(entry.name for entry in self.schema if pa.types.is_floating(entry.type)),
        )


TABLES: Mapping[TableName, InputTable] = {
    table.name: table
    for table in (
        InputTable("chat_turn", "turns", ChatTurn, TURN_SCHEMA, ("turn_id",)),
        InputTable("character_card", "cards", CharacterCard, CARD_SCHEMA, ("character_id",)),
        InputTable("topic_lexicon", "lexicon", LexiconTerm, LEXICON_SCHEMA, ("term", "topic")),
        InputTable("gold_label", "gold", GoldLabel, GOLD_SCHEMA, ("turn_id",), optional=True),
        InputTable("vote", "votes", Vote, VOTE_SCHEMA, ("vote_id",), optional=True),
        InputTable(
            "capability_support", "support", CapabilitySupport, SUPPORT_SCHEMA, ("case_id", "model_id"), optional=True
        ),
        InputTable("judge_score", "judges", JudgeScore, JUDGE_SCORE_SCHEMA, ("judge", "run", "turn_id"), optional=True),
    )
}


class Problem(NamedTuple):
    """Something in a file that needs a person's look."""

    table: TableName
    file: str
    line: int | None
    severity: Literal["rejected", "noted"]
    """`rejected`: the row is not in the table. `noted`: it is, or there is no row to it."""
    reason: str
    raw: str | None

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.reason}"


@dataclass
class Batch:
    """Rows of one file, at most `BATCH_ROWS` of them, with the line each stands in, and the problems among them."""

    rows: pa.Table
    lines: list[int]
    problems: list[Problem] = field(default_factory=list)
    normalised: int = 0
    """Rows in which some text was not in NFC."""


_NO_INPUT = frozenset({"README", "README.md", "README.txt", "_SUCCESS"})


def files_of(path: Path) -> list[Path]:
    """The files of an input, in the order in which they are read: the file, or all in the folder by relative name.

    What begins with a dot or is called README is none, and neither is `_SUCCESS`, which Spark leaves in a folder. A
    link that leads to no file is one, and so is a pipe or a socket, so that reading it says so.

    Raises:
        UserError: a folder in it cannot be listed.
    """
    if not path.is_dir():
        return [path]
    found = []
    for folder, folders, names in os.walk(path, onerror=_cannot_list):
        folders[:] = [name for name in folders if not name.startswith(".")]
        names = [name for name in [*names, *folders] if not name.startswith(".") and name not in _NO_INPUT]
        entries = [Path(folder, name) for name in names]
        found += [entry for entry in entries if entry.is_symlink() or not entry.is_dir()]
    return sorted(found, key=lambda file: file.relative_to(path).as_posix())


def _cannot_list(error: OSError) -> None:
    raise UserError(f"{error.filename}: cannot be listed: {error.strerror}")


@overload
def input_path(inputs: Path, table: InputTable, *, optional: Literal[False] = False) -> Path: ...
@overload
def input_path(inputs: Path, table: InputTable, *, optional: bool) -> Path | None: ...
def input_path(inputs: Path, table: InputTable, *, optional: bool = False) -> Path | None:
    """Where a table lies in the folder of inputs: a folder of its name, or a file with one of the known suffixes."""
    candidates = [inputs / table.place, *(inputs / f"{table.place}{suffix}" for suffix in READERS)]
    found = [path for path in candidates if path.exists()]
    if len(found) > 1:
        names = " and ".join(path.name for path in found)
        raise UserError(f"{inputs}: holds {names}; keep one of them, or move the files into one folder {table.place}/")
    if not found and not optional:
        raise UserError(
            f"{inputs}: holds no {table.place}; put a folder {table.place}/ or a file {table.place}.jsonl (.json, .csv,"
            " .parquet) there, or name another folder with WH_JUDGE_INPUTS"
        )
    return found[0] if found else None


def read_table(path: Path, table: InputTable, *more: Path) -> Batch:
    """All rows of an input (a file or a folder, or several) at once.

    A key that stands in it twice counts where it stands first.
    """
    seen: dict[Any, str] = {}
    places = [(place, file) for place in (path, *more) for file in files_of(place)]
    batches = [batch for place, file in places for batch in read_file(file, table, file_name(place, file), seen)]
    return Batch(
        rows=pa.concat_tables([batch.rows for batch in batches] or [table.schema.empty_table()]).combine_chunks(),
        lines=[line for batch in batches for line in batch.lines],
        problems=[problem for batch in batches for problem in batch.problems],
        normalised=sum(batch.normalised for batch in batches),
    )


def read_layers(path: Path | None, later: Mapping[str, Path], table: InputTable) -> Batch:
    """All rows of an input and of the files that count over it.

    A row of a later file takes the place of the row with its key, and new rows follow; a later lexicon takes the place
    of the whole lexicon, since the order of its rows means something.

    Args:
        path: the input, or None where there is none.
        later: the files, in order, by the names that problems call them.
        table: what the rows are.
    """
    base = read_table(path, table) if path else Batch(table.schema.empty_table(), [])
    if not later:
        return base
    layers = [base]
    for name, file in later.items():
        batches = list(read_file(file, table, name))
        layers.append(
            Batch(
                rows=pa.concat_tables([batch.rows for batch in batches]),
                lines=[line for batch in batches for line in batch.lines],
                problems=[problem for batch in batches for problem in batch.problems],
                normalised=sum(batch.normalised for batch in batches),
            )
        )
    kept = [layer for layer in layers if layer.rows.num_rows][-1:] if table.name == "topic_lexicon" else layers
    rows = pa.concat_tables([layer.rows for layer in kept] or [table.schema.empty_table()]).combine_chunks()
    keys = zip(*(rows[column].to_pylist() for column in table.key), strict=True)
    # A key stays where it stood first, with the row that it had last.
    last = {key: place for place, key in enumerate(keys)}
    lines = np.array([line for layer in kept for line in layer.lines], dtype=np.int64)
    places = np.fromiter(last.values(), dtype=np.int64, count=len(last))
    return Batch(
        rows=rows.take(pa.array(places)),
        lines=lines[places].tolist(),
        problems=[problem for layer in layers for problem in layer.problems],
        normalised=sum(layer.normalised for layer in layers),
    )


def file_name(path: Path, file: Path) -> str:
    """How a file of an input is called in problems and in the warehouse: relative to its folder's parent.

    Bytes of a name that are not UTF-8 are written out.
    """
    return os.fsencode(file.relative_to(path.parent).as_posix()).decode(errors="backslashreplace")


def read_file(
    file: Path, table: InputTable, name: str, seen: dict[Any, str] | None = None, *, all_differ: bool = False
) -> Iterator[Batch]:
    """The rows of one file in batches, at least one batch.

    Args:
        file: the file.
        table: what its rows are.
        name: how problems call the file.
        seen: keys that stand in earlier files, with the place; extended. None means that only this file counts.
        all_differ: whether it is known that no key stands in the file twice.
    """
    reading = _Reading(table, name, {} if seen is None else seen)
    if seen is None and table.name == "chat_turn" and file.suffix.lower() == ".parquet":
        yield from _read_columns(file, reading, all_differ)
        return
    entries = read_entries(file, reading.columns)
    if table.name == "vote":
        yield from _read_votes(entries, reading)
        return
    for entry in entries:
        reading.add(entry.record())
        # A file of nothing but unreadable lines must not be in memory as a whole either.
        if max(len(reading.rows), len(reading.out.problems)) >= BATCH_ROWS:
            yield reading.take()
    yield reading.take()


def _read_votes(entries: Iterator[Record | Line], reading: "_Reading") -> Iterator[Batch]:
    """The records of a file of votes: what is certain column by column, the others one by one."""
    nothing = True
    for some in blocks(entries):
        nothing = False
        found = certain_votes(some)
        kept: list[int] = []
        mask = found.mask & (not reading.is_news(found.names))
        lines = [entry.line or 0 for entry in some]
        for place, key in enumerate(found.rows["vote_id"].to_pylist()):
            # In order, since of two records with one key the first counts.
            if mask[place] and reading.is_first(key, lines[place]):
                continue
            mask[place] = False
            reading.add(some[place].record())
            kept += [place] * (len(reading.rows) - len(kept))
        out = reading.take()
        out.normalised += int((found.normalised & mask).sum())
        yield _in_order(out, np.array(kept, np.int64), found.rows, np.flatnonzero(mask), np.array(lines))
    if nothing:
        yield reading.take()


def _read_columns(file: Path, reading: "_Reading", all_differ: bool) -> Iterator[Batch]:
    """A Parquet file of turns: what is certain column by column, the other rows as any."""
    hashes, line = None if all_differ else key_hashes(file), 0
    for batch in read_batches(file, BATCH_ROWS):
        if isinstance(batch, Record):
            reading.add(batch)
            continue
        repeated = np.full(batch.num_rows, not all_differ)
        if hashes is not None:
            repeated = np.isin(hashes.every[line : line + batch.num_rows], hashes.repeated)
        yield _read_batch(batch, reading, repeated, np.arange(batch.num_rows) + line + 1)
        line += batch.num_rows
    if not line or reading.out.problems:
        yield reading.take()


def read_turns(batch: pa.RecordBatch, name: str, lines: np.ndarray) -> Batch:
    """The turns of a batch of Parquet rows that stand in these lines of a file, ascending; each key once."""
    return _read_batch(batch, _Reading(TABLES["chat_turn"], name, {}), repeated_keys(batch), lines)


def _read_batch(batch: pa.RecordBatch, reading: "_Reading", repeated: np.ndarray, lines: np.ndarray) -> Batch:
    """The rows of a batch.

    Args:
        batch: n rows of a Parquet file.
        reading: what was read before.
        repeated: n booleans, false where the row's key certainly stands in no other row.
        lines: n numbers.
    """
    mask, certain = np.zeros(batch.num_rows, dtype=bool), certain_turns(batch)
    if certain is not None:
        mask = certain.mask & ~repeated
        if reading.is_news(batch.schema.names):
            # The first row that can be read tells of columns that nobody knows: a certain one can be.
            mask = mask & (np.arange(len(mask)) > 0) & bool(mask[:1].all())
    doubtful = np.flatnonzero(~mask)
    for line, value in zip(lines[doubtful].tolist(), _values(batch, doubtful), strict=True):
        reading.add(batch_record(line, value))
    out = reading.take()
    if certain is not None:
        out.normalised += int((certain.normalised & mask).sum())
        out = _in_order(out, np.searchsorted(lines, out.lines), certain.rows, np.flatnonzero(mask), lines)
    return out


def _values(batch: pa.RecordBatch, rows: np.ndarray) -> Iterator[dict[str, Any] | str]:
    """The rows with these numbers, ascending."""
    if len(rows) == batch.num_rows:
        yield from batch_values(batch)
        return
    try:
        yield from batch_values(batch.take(pa.array(rows)))
    except pa.ArrowNotImplementedError:  # Of some types rows can only be cut out.
        for row in rows.tolist():
            yield from batch_values(batch.slice(row, 1))


def _in_order(out: Batch, kept: np.ndarray, rows: pa.Table, chosen: np.ndarray, lines: np.ndarray) -> Batch:
    """A batch with rows besides, all in the order of their file.

    Args:
        out: the batch, of some of n records.
        kept: the numbers of these records.
        rows: a row for each of the n records.
        chosen: the numbers of the rows that are taken.
        lines: n numbers of lines.
    """
    if not len(kept):
        if len(chosen) < rows.num_rows:
            rows = rows.filter(pa.array(np.isin(np.arange(rows.num_rows), chosen, assume_unique=True)))
        return Batch(rows, lines[chosen].tolist(), out.problems, out.normalised)
    numbers = np.concatenate([chosen, kept])
    order = np.argsort(numbers)
    if len(chosen) < rows.num_rows or len(kept):
        places = np.concatenate([chosen, np.arange(len(kept)) + rows.num_rows])
        rows = pa.concat_tables([rows, out.rows]).combine_chunks().take(pa.array(places[order]))
    return Batch(rows, lines[numbers[order]].tolist(), out.problems, out.normalised)


class _Reading:
    """What became of the records of a file so far."""

    def __init__(self, table: InputTable, name: str, seen: dict[Any, str]) -> None:
        self.table, self.name, self.columns, self._seen = table, name, table.columns, seen
        self.rows: list[dict[str, Any]] = []
        self.out = Batch(table.schema.empty_table(), [])
        self._unknown: set[str] = set()

    def is_news(self, names: Iterable[str]) -> bool:
        """Whether there are columns that are none of the table's and that nobody was told of."""
        return not self.columns.known.union(self._unknown).issuperset(names)

    def is_first(self, key: str, line: int) -> bool:
        """Whether no row before has the key; this line's has it from then on."""
        return self._seen.setdefault((key,), place := self._place(line)) is place

    def _place(self, line: int | None) -> str:
        return f"{self.name}:{line}"

    def take(self) -> Batch:
        """The rows since the last time, with their problems."""
        out, self.out = self.out, Batch(self.table.schema.empty_table(), [])
        out.rows, self.rows = _to_arrow(self.rows, self.table), []
        return out

    def add(self, record: Record) -> None:
        """Make a row of a record, or a problem."""
        table, value = self.table, record.value
        if value is None:
            self._problem(record, "rejected", record.reason or "")
            return
        self._note_unknown(record, value)
        try:
            value, changed = nfc_inside(value)
            row = table.model.model_validate(value).__dict__
        except UnicodeEncodeError:
            self._problem(record, "rejected", "holds half of a surrogate pair, which is no text")
            return
        except ValidationError as error:
            self._problem(record, "rejected", reason_of(error))
            return
        key = tuple(row[column] for column in table.key)
        if key in self._seen:
            shown = " ".join(part[:QUOTE_LIMIT] for part in key)
            reason = f"{' '.join(table.key)} {shown} stands already in {self._seen[key]}"
            self._problem(record, "rejected", reason)
            return
        self._seen[key] = self._place(record.line)
        self.rows.append(row)
        self.out.lines.append(record.line or 0)
        self.out.normalised += changed

    def _note_unknown(self, record: Record, value: Mapping[str, Any]) -> None:
        """Tell of each column that is none of the table's once, and of at most `UNKNOWN_TOLD`."""
        told = len(self._unknown)
        new = list(value.keys() - self.columns.known - self._unknown)
        self._unknown.update(new)
        if not new or told > UNKNOWN_TOLD:
            return
        name, shown = self.table.name, [column[:QUOTE_LIMIT] for column in new[: UNKNOWN_TOLD - told]]
        reasons = [f"{name} has no column {column!r}; it is ignored in the whole file" for column in shown]
        if len(shown) < len(new):
            reasons.append(f"{name} has no other columns of this file either; they are ignored, too")
        self._problem(record, "noted", *reasons)

    def _problem(self, record: Record, severity: Literal["rejected", "noted"], *reasons: str) -> None:
        which = f"element {record.element}: " if record.element else ""
        raw = record.raw if record.value is None else json.dumps(record.value, ensure_ascii=False, default=str)
        raw = raw and raw[:RAW_LIMIT].encode(errors="replace").decode()
        self.out.problems += [
            Problem(self.table.name, self.name, record.line, severity, which + reason, raw) for reason in reasons
        ]


QUOTE_LIMIT = 60
"""Characters of a value, a key or a name that a reason quotes."""

CLAUSES_TOLD = 8
"""Errors of one row that its reason tells; of the others it gives the number."""

UNKNOWN_TOLD = 100
"""Unknown columns of one file that are told by name."""

RAW_LIMIT = 1_000_000
"""Characters of a rejected row that are kept; the rest is in the file."""


def _to_arrow(rows: list[dict[str, Any]], table: InputTable) -> pa.Table:
    if table.name == "character_card":
        rows = [row | {"entity_roles": [role.__dict__ for role in row["entity_roles"]]} for row in rows]
    return pa.Table.from_pylist(rows, schema=table.schema)


def reason_of(error: ValidationError) -> str:
    """Why a record is no row, in one line."""
    details = error.errors(include_url=False)
    more = [f"and {len(details) - CLAUSES_TOLD} more"] if len(details) > CLAUSES_TOLD else []
    return "; ".join([*map(_reason, details[:CLAUSES_TOLD]), *more])


_REASONS = {
    "missing": "is missing",
    "string_type": "is no text",
    "string_too_short": "is empty",
    "too_long": f"is longer than {TERM_LIMIT} characters",
    "list_type": "is no list",
    "bool_type": "is neither true nor false",
    "model_type": "is no object",
    "dict_type": "is no object",
    "float_type": "is no number",
}


def _reason(detail: ErrorDetails) -> str:
    """A validation error as a plain clause that starts with the name of the column."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part[:QUOTE_LIMIT]}" for part in detail["loc"]]
    where = "".join(parts).lstrip(".")
    given = detail["input"]
    if given is None and detail["type"] != "missing":
        return f"{where} is null"
    if detail["type"] == "value_error":
        what = str(detail["ctx"]["error"])
    elif detail["type"] == "literal_error":
        what = f"is not {detail['ctx']['expected']}"
    else:
        what = _REASONS.get(detail["type"], detail["msg"])
    shown = "" if detail["type"] == "missing" else f" ({str(given)[:QUOTE_LIMIT]!r})"
    return f"{where} {what}{shown}".lstrip()
