"""Which turns of a Parquet file are sound as they stand, found column by column.

A row is certain where reading it by itself (`wh_judge.ingest`) would give just these cells and no problem. What is in
doubt is left to that, so that nothing here decides what is accepted; it only spares reading the rows one by one.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from wh_judge.model import FIRST_YEAR, LAST_YEAR, TURN_SCHEMA
from wh_judge.text import WHITESPACE, nfc, regex_class


class Certain(NamedTuple):
    """A batch of n turns."""

    rows: pa.Table
    """In TURN_SCHEMA, n rows; the cells of rows that are in doubt mean nothing."""
    mask: np.ndarray
    """n booleans: which rows are certain."""


class _DoubtError(Exception):
    """A column that has to be read row by row."""


COMPOSED = (
    *((0x0000, 0x02FF), (0x0400, 0x0482), (0x2002, 0x20CF), (0x3000, 0x3029), (0x3030, 0x3098), (0x309B, 0xA66E)),
    *((0xAC00, 0xD7A3), (0xFF00, 0xFFEF), (0x1F000, 0x1FAFF)),
)
"""Ranges of characters that are in NFC whatever stands beside them: a text of nothing else is in NFC."""
_NOT_COMPOSED = "[^" + "".join(rf"\x{{{first:x}}}-\x{{{last:x}}}" for first, last in COMPOSED) + "]"
_STARTS_FILLED = f"^[^{regex_class(WHITESPACE)}]"
# A day narrower on both sides: the model reads the year in the turn's own offset.
_FIRST_MOMENT = datetime(FIRST_YEAR, 1, 2, tzinfo=UTC)
_LAST_MOMENT = datetime(LAST_YEAR, 1, 1, tzinfo=UTC) - timedelta(days=1)


def certain_turns(batch: pa.RecordBatch) -> Certain | None:
    """The rows that are certain; None where all of the batch are in doubt."""
    mask = np.ones(batch.num_rows, dtype=bool)
    columns, names = [], batch.schema.names
    try:
        for field in TURN_SCHEMA:
            if field.name in names:
                column, certain = _COLUMNS[field.name](batch.column(field.name))
                mask &= certain
            elif field.nullable:
                column = pa.nulls(batch.num_rows, field.type)
            else:
                return None
            columns.append(column)
        for name in set(names) - set(TURN_SCHEMA.names):
            _look_into_unknown(batch.column(name))
    except (_DoubtError, pa.ArrowException, UnicodeDecodeError):
        return None
    return Certain(pa.table(columns, TURN_SCHEMA), mask)


def _texts(column: pa.Array) -> pa.Array:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)):
        raise _DoubtError
    column = column.cast(pa.string())
    column.validate(full=True)  # Parquet files may hold bytes that are no UTF-8.
    return column


def _is(column: pa.Array, pattern: str) -> np.ndarray:
    """Where the pattern is found; a null holds nothing."""
    return _numpy(pc.fill_null(pc.match_substring_regex(column, pattern), False))


def _numpy(booleans: pa.Array) -> np.ndarray:
    found: np.ndarray = booleans.to_numpy(zero_copy_only=False)
    return found


def _key(column: pa.Array) -> tuple[pa.Array, np.ndarray]:
    texts = _texts(column)
    return texts, _is(texts, _STARTS_FILLED) & ~_is(texts, _NOT_COMPOSED)


def _label(column: pa.Array) -> tuple[pa.Array, np.ndarray]:
    if pa.types.is_null(column.type):
        return _nulls(column, pa.string())
    texts, certain = _key(column)
    return texts, certain | _numpy(texts.is_null())


def _text(column: pa.Array) -> tuple[pa.Array, np.ndarray]:
    if pa.types.is_null(column.type):
        return _nulls(column, pa.string())
    texts = _texts(column)
    return texts, ~_is(texts, _NOT_COMPOSED)


def _nulls(column: pa.Array, kind: pa.DataType) -> tuple[pa.Array, np.ndarray]:
    return pa.nulls(len(column), kind), np.ones(len(column), dtype=bool)


def _names(column: pa.Array) -> tuple[pa.Array, np.ndarray]:
    if pa.types.is_null(column.type):
        return _nulls(column, TURN_SCHEMA.field("named_entities").type)
    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
        raise _DoubtError
    if pa.types.is_null(column.type.value_type):
        entries, sound = pa.nulls(len(column.flatten()), pa.string()), np.zeros(len(column.flatten()), dtype=bool)
    else:
        entries, sound = _key(column.flatten())
    certain = np.ones(len(column), dtype=bool)
    certain[pc.list_parent_indices(column).to_numpy(zero_copy_only=False)[~sound]] = False
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    missing = column.is_null()
    return pa.ListArray.from_arrays(pa.array(offsets), entries, mask=missing), certain


def _flag(column: pa.Array) -> tuple[pa.Array, np.ndarray]:
    if pa.types.is_null(column.type):
        return _nulls(column, pa.bool_())
    if not pa.types.is_boolean(column.type):
        raise _DoubtError
    return column, np.ones(len(column), dtype=bool)


def _moment(column: pa.Array) -> tuple[pa.Array, np.ndarray]:
    if not pa.types.is_timestamp(column.type) or column.type.tz is None:
        raise _DoubtError
    try:
        pa.scalar(0, pa.timestamp("us", column.type.tz)).as_py()
    except (ValueError, KeyError):  # An unknown time zone.
        raise _DoubtError from None
    moments = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.timestamp("us", "UTC"))
    first, last = (pa.scalar(moment, moments.type) for moment in (_FIRST_MOMENT, _LAST_MOMENT))
    inside = pc.and_(pc.greater_equal(moments, first), pc.less(moments, last))
    return moments, _numpy(pc.fill_null(inside, False))


def _look_into_unknown(column: pa.Array) -> None:
    """Raise where the column, which nobody wants, could hold what Python cannot: the row would then be rejected."""
    harmless = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_null)
    if not any(test(column.type) for test in harmless):
        _texts(column)


_COLUMNS: Mapping[str, Callable[[pa.Array], tuple[pa.Array, np.ndarray]]] = {
    **dict.fromkeys(("turn_id", "session_id", "character_id", "model_id"), _key),
    **dict.fromkeys(("prompt_id", "first_person", "honorific_level"), _label),
    **dict.fromkeys(("user_message", "reply_text"), _text),
    "turn_at": _moment,
    "named_entities": _names,
    "user_asked_recall": _flag,
}
"""How each column is looked at: the column in its type of TURN_SCHEMA, and where it is certain."""


def repeated_keys(file: Path) -> np.ndarray | None:
    """Hashes of the turn ids, in NFC, that stand in the file more than once; None where there is no saying."""
    try:
        with pq.ParquetFile(file) as parquet:
            hashes = [key_hashes(batch.column(0)) for batch in parquet.iter_batches(columns=["turn_id"])]
    except (_DoubtError, pa.ArrowException, OSError, UnicodeDecodeError, IndexError):
        return None
    ordered = np.sort(np.concatenate(hashes)) if hashes else np.empty(0, dtype=np.int64)
    return np.unique(ordered[1:][ordered[1:] == ordered[:-1]])


def key_hashes(column: pa.Array) -> np.ndarray:
    """A hash of every key, in NFC: equal keys have equal hashes in this process."""
    texts = _texts(column)
    keys = texts.to_pylist()
    for place in np.flatnonzero(_is(texts, _NOT_COMPOSED)).tolist():
        keys[place] = nfc(keys[place])
    return np.fromiter(map(hash, keys), dtype=np.int64, count=len(keys))
