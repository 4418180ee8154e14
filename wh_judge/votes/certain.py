"""Which of many votes are sound as they stand, found column by column, in whatever form of file they stood.

As `wh_judge.columnar` is for turns: a record is certain where reading it by itself would give just these cells and no
problem. What is in doubt is left to that, so that nothing here decides what is accepted or how an error is told.
"""

import datetime as dt
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from wh_judge.columnar import Cells, DoubtError, as_booleans, composed_texts, is_found, key_cells, label_cells
from wh_judge.columnar import plausible_moments as plausible
from wh_judge.readers.records import Line, Record
from wh_judge.strict_json import NESTING_LIMIT
from wh_judge.text import nfc_inside
from wh_judge.votes.rows import SPELLINGS, SUPPORT_SOURCE, VOTE_SCHEMA, WINNERS, Side

AT_ONCE = 4096
"""Records that are looked at together."""
LONGEST = 2**26
"""Bytes of lines that are looked at together."""
T = TypeVar("T")


class CertainVotes(NamedTuple):
    """n records of a file."""

    rows: pa.Table
    """In VOTE_SCHEMA, n rows; the cells of records that are in doubt mean nothing."""
    mask: np.ndarray
    """n booleans: which records are certain."""
    normalised: np.ndarray
    """n booleans: in which of the certain ones some text was not in NFC."""
    names: frozenset[str]
    """All that the records name, also what is no column of a vote."""


def blocks(entries: Iterable[T]) -> Iterator[list[T]]:
    """The entries in order, at most AT_ONCE together."""
    left = iter(entries)
    while some := list(itertools.islice(left, AT_ONCE)):
        yield some


def certain_votes(entries: Sequence[Record | Line]) -> CertainVotes:
    """The votes that are certain, of n records or of n lines of JSONL that nobody has read yet."""
    lines = [entry.content for entry in entries if isinstance(entry, Line)]
    if len(lines) == len(entries):
        with suppress(DoubtError, pa.ArrowException, UnicodeDecodeError):
            return _certain_lines(lines)
    return certain_cells([entry.record().value for entry in entries])


def certain_cells(records: Sequence[Mapping[str, Any] | None], optional: frozenset[str] = frozenset()) -> CertainVotes:
    """The same of the cells of n records.

    Args:
        records: None, of which nothing could be read, is in doubt.
        optional: columns that may be null although a vote's may not.
    """
    values = [record or {} for record in records]
    names = frozenset(itertools.chain.from_iterable(values))
    texts, is_text = {}, np.ones(len(values), dtype=bool)
    try:
        for field in VOTE_SCHEMA:
            cells = [value.get(field.name) for value in values]
            if pa.types.is_timestamp(field.type):
                cells = [cell.isoformat() if isinstance(cell, dt.datetime) else cell for cell in cells]
            if not set(map(type, cells)) <= {str, type(None)}:
                is_text &= np.fromiter((cell is None or type(cell) is str for cell in cells), bool, len(cells))
                cells = [cell if type(cell) is str else None for cell in cells]
            texts[field.name] = pa.array(cells, pa.string())
        found = _certain(texts, names, optional)
    except (pa.ArrowException, UnicodeEncodeError):
        columns, none = [pa.nulls(len(values), field.type) for field in VOTE_SCHEMA], np.zeros_like(is_text)
        return CertainVotes(pa.table(columns, VOTE_SCHEMA), none, none, names)
    others, mask = names.difference(VOTE_SCHEMA.names), found.mask & is_text
    for place, value in enumerate(values) if others else ():
        # It is ignored, but its text has to be one.
        try:
            found.normalised[place] |= nfc_inside([cell for name, cell in value.items() if name in others])[1]
        except UnicodeEncodeError:
            mask[place] = False
    return found._replace(mask=mask)


def _certain(texts: Mapping[str, pa.Array], names: frozenset[str], optional: frozenset[str]) -> CertainVotes:
    """The votes that are certain by their cells as texts, n of each column of VOTE_SCHEMA."""
    size = len(texts["vote_id"])
    mask, normalised, columns = np.ones(size, dtype=bool), np.zeros(size, dtype=bool), []
    for field in VOTE_SCHEMA:
        column = texts[field.name]
        cells = _COLUMNS[field.name](column)
        columns.append(cells.column)
        mask &= cells.certain | as_booleans(column.is_null()) if field.name in optional else cells.certain
        normalised[cells.normalised] = True
    rows = pa.table(columns, VOTE_SCHEMA)
    mask &= as_booleans(pc.fill_null(pc.not_equal(rows["model_a"], rows["model_b"]), False).combine_chunks())
    return CertainVotes(rows, mask, normalised, names)


_OF_TEXT = pa.schema([(name, pa.string()) for name in VOTE_SCHEMA.names])
_SPACE = b" \t\r\n"


def _certain_lines(lines: Sequence[bytes]) -> CertainVotes:
    """The same of lines, without reading any by itself.

    An object may begin only where a line does: with that, as many rows as lines means one object a line.

    Raises:
        DoubtError: some line may be no sound one; an error of pyarrow or of Unicode means the same.
    """
    if not all(line.startswith(b"{") and line.rstrip(_SPACE).endswith(b"}") for line in lines):
        raise DoubtError
    if any(line.count(b"[") + line.count(b"{") > NESTING_LIMIT for line in lines):
        raise DoubtError
    data = b"\n".join(lines)
    if len(data) > LONGEST:
        raise DoubtError
    data.decode()
    table = pj.read_json(
        pa.BufferReader(data),
        read_options=pj.ReadOptions(use_threads=False, block_size=len(data) + 1),
        parse_options=pj.ParseOptions(explicit_schema=_OF_TEXT, unexpected_field_behavior="infer"),
    )
    if table.num_rows != len(lines):
        raise DoubtError
    texts = {name: table[name].combine_chunks() for name in VOTE_SCHEMA.names}
    found = _certain(texts, frozenset(table.column_names), frozenset())
    for name in found.names.difference(VOTE_SCHEMA.names):
        column = table[name].combine_chunks()
        if pa.types.is_nested(column.type):
            raise DoubtError  # What is further inside may have to be normalised.
        # NaN, and a number of thousands of digits, which becomes infinite, are none to the strict reader.
        if pa.types.is_floating(column.type) and not pc.all(pc.is_finite(column.drop_null())).as_py():
            raise DoubtError
        if pa.types.is_string(column.type):
            found.normalised[composed_texts(column).normalised] = True
    return found


def _winner(column: pa.Array) -> Cells:
    for spelling, winner in SPELLINGS.items():
        column = pc.if_else(pc.equal(column, spelling), winner, column)
    return _one_of(WINNERS, column)


def _one_of(values: Sequence[str], column: pa.Array, *, null: bool = False) -> Cells:
    certain = as_booleans(pc.is_in(column, value_set=pa.array(values)))
    return Cells(column, certain | as_booleans(column.is_null()) if null else certain, _NONE)


def _side(column: pa.Array) -> Cells:
    return _one_of(get_args(Side), column, null=True)


def _source(column: pa.Array) -> Cells:
    cells = key_cells(column)
    return cells._replace(certain=cells.certain & ~as_booleans(pc.fill_null(pc.equal(column, SUPPORT_SOURCE), False)))


_MOMENT = r"^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{3}|\.\d{6})?(Z|[+-](0\d|1[0-4]):[0-5]\d)$"
"""The usual way to write a moment; any other is in doubt."""


def _moment(column: pa.Array) -> Cells:
    usual = is_found(column, _MOMENT)
    moments = pc.if_else(pa.array(usual), column, pa.scalar(None, pa.string())).cast(pa.timestamp("us", "UTC"))
    return Cells(moments, plausible(moments) | as_booleans(column.is_null()), _NONE)


_NONE = np.empty(0, dtype=np.int64)
_COLUMNS: Mapping[str, Callable[[pa.Array], Cells]] = {
    **dict.fromkeys(("vote_id", "model_a", "model_b"), key_cells),
    **dict.fromkeys(("case_id", "annotator"), label_cells),
    "winner": _winner,
    "source": _source,
    "shown_left": _side,
    "voted_at": _moment,
}
"""How each column is looked at."""
