"""Records to rows, one by one: each is validated against its table's model and becomes a row, or a problem.

What `wh_judge.columnar` spares of a Parquet file's rows is just this, and has the same outcome.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import pyarrow as pa
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from wh_judge.inputs import InputTable, TableName
from wh_judge.model import TERM_LIMIT
from wh_judge.readers.records import Record
from wh_judge.text import nfc_inside


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


class Reading:
    """What became of the records of a file so far."""

    def __init__(self, table: InputTable, name: str, seen: dict[Any, str]) -> None:
        self.table, self.name, self.columns, self._seen = table, name, table.columns, seen
        self.rows: list[dict[str, Any]] = []
        self.weight = 0
        """About the bytes of the rows and problems since they were taken."""
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
        out.rows, self.rows, self.weight = _to_arrow(self.rows, self.table), [], 0
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
        self.weight += sum(2 * len(cell) for cell in row.values() if isinstance(cell, str))
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
        self.weight += 2 * len(raw or "")
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
