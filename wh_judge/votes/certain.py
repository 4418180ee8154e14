"""Which votes of a JSONL file are sound as they stand, found column by column.

As `wh_judge.columnar` is for turns: a line is certain where reading it by itself would give just these cells and no
problem. What is in doubt is left to that, so that nothing here decides what is accepted or how an error is told.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from wh_judge.columnar import Cells, DoubtError, as_booleans, composed_texts, is_found, key_cells, label_cells
from wh_judge.columnar import plausible_moments as plausible
from wh_judge.strict_json import NESTING_LIMIT
from wh_judge.votes.rows import SPELLINGS, SUPPORT_SOURCE, VOTE_SCHEMA, WINNERS, Side


class CertainVotes(NamedTuple):
    """n lines of a file."""

    rows: pa.Table
    """In VOTE_SCHEMA, n rows; the cells of lines that are in doubt mean nothing."""
    mask: np.ndarray
    """n booleans: which lines are certain."""
    normalised: np.ndarray
    """n booleans: in which lines some text was not in NFC."""
    names: frozenset[str]
    """All that certain lines name, also what is no column of a vote."""


FEWEST = 64
"""Lines among which one that is in doubt puts all in doubt; more are halved to find it."""
LONGEST = 2**26
"""Bytes of lines that are looked at together."""


Reader = Callable[[Sequence[bytes]], pa.Table]
"""Makes of lines the columns of VOTE_SCHEMA as texts, a row each, and whatever else the lines name.

Raises DoubtError or an error of pyarrow where some line may be no sound one.
"""


def certain_votes(
    lines: Sequence[bytes], reader: Reader | None = None, optional: frozenset[str] = frozenset()
) -> CertainVotes:
    """The lines that are certain, of lines that are not blank.

    Args:
        lines: each a line of a file, with what ends it.
        reader: what reads them; by default they name the columns of a vote themselves.
        optional: columns that may be null although a vote's may not.
    """
    try:
        return _certain((reader or _own)(lines), optional)
    except (DoubtError, pa.ArrowException, UnicodeDecodeError):
        if len(lines) <= FEWEST:
            columns = [pa.nulls(len(lines), field.type) for field in VOTE_SCHEMA]
            none = np.zeros(len(lines), dtype=bool)
            return CertainVotes(pa.table(columns, VOTE_SCHEMA), none, none, frozenset())
    half = len(lines) // 2
    first, second = (certain_votes(part, reader, optional) for part in (lines[:half], lines[half:]))
    return CertainVotes(
        pa.concat_tables([first.rows, second.rows]),
        np.concatenate([first.mask, second.mask]),
        np.concatenate([first.normalised, second.normalised]),
        first.names | second.names,
    )


def _certain(table: pa.Table, optional: frozenset[str]) -> CertainVotes:
    mask, normalised = np.ones(table.num_rows, dtype=bool), np.zeros(table.num_rows, dtype=bool)
    columns = []
    for field in VOTE_SCHEMA:
        column = table.column(field.name).combine_chunks()
        cells = _COLUMNS[field.name](column)
        columns.append(cells.column)
        mask &= cells.certain | as_booleans(column.is_null()) if field.name in optional else cells.certain
        normalised[cells.normalised] = True
    for name in set(table.column_names) - set(VOTE_SCHEMA.names):
        if pa.types.is_string(table.column(name).type):
            normalised[composed_texts(table.column(name).combine_chunks()).normalised] = True
    rows = pa.table(columns, VOTE_SCHEMA)
    mask &= as_booleans(pc.fill_null(pc.not_equal(rows["model_a"], rows["model_b"]), False).combine_chunks())
    return CertainVotes(rows, mask, normalised, frozenset(table.column_names))


def _own(lines: Sequence[bytes]) -> pa.Table:
    table = parsed(lines, _OF_TEXT)
    for name in set(table.column_names) - set(VOTE_SCHEMA.names):
        if pa.types.is_nested(table.column(name).type):
            raise DoubtError  # What is further inside may have to be normalised.
    return table


_OF_TEXT = pa.schema([(name, pa.string()) for name in VOTE_SCHEMA.names])
_SPACE = b" \t\r\n"


def parsed(lines: Sequence[bytes], schema: pa.Schema) -> pa.Table:
    """The lines as objects, one row each, with the columns of a schema and those that the lines name beside them.

    An object may begin only where a line does: with that, as many rows as lines means one object a line.
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
        parse_options=pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="infer"),
    )
    if table.num_rows != len(lines):
        raise DoubtError
    for name in set(table.column_names) - set(schema.names):
        column = table.column(name)
        # NaN, and a number of thousands of digits, which becomes infinite, are none to the strict reader.
        if _holds_floats(column.type) and not (
            pa.types.is_floating(column.type) and pc.all(pc.is_finite(column.drop_null())).as_py() in (True, None)
        ):
            raise DoubtError
    return table


def _holds_floats(kind: pa.DataType) -> bool:
    inside = [kind.field(place).type for place in range(kind.num_fields)]
    return bool(pa.types.is_floating(kind)) or any(map(_holds_floats, inside))


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
