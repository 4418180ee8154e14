"""Which turns of a Parquet file are sound as they stand, found column by column.

A row is certain where reading it by itself (`wh_judge.ingest`) would give just these cells and no problem. What is in
doubt is left to that, so that nothing here decides what is accepted; it only spares reading the rows one by one.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wh_judge.model import FIRST_YEAR, LAST_YEAR, TURN_SCHEMA
from wh_judge.parquet import TooLargeError, bounded_batches
from wh_judge.text import WHITESPACE, nfc, regex_class


class Certain(NamedTuple):
    """A batch of n turns."""

    rows: pa.Table
    """In TURN_SCHEMA, n rows; the cells of rows that are in doubt mean nothing."""
    mask: np.ndarray
    """n booleans: which rows are certain."""
    normalised: np.ndarray
    """n booleans: in which rows some text was not in NFC."""


class DoubtError(ValueError):
    """A column that has to be read row by row."""


COMPOSED = (
    *((0x0000, 0x02FF), (0x0400, 0x0482), (0x2002, 0x20CF), (0x3000, 0x3029), (0x3030, 0x3098), (0x309B, 0xA66E)),
    *((0xAC00, 0xD7A3), (0xFF00, 0xFFEF), (0x1F000, 0x1FAFF)),
)
"""Ranges of characters that are in NFC whatever stands beside them, ascending: a text of nothing else is in NFC."""
_GAPS = [(last + 1, first - 1) for (_, last), (first, _) in pairwise([*COMPOSED, (0x110000, 0x110000)])]
_COMPOSED, _NOT_COMPOSED = (
    "".join(rf"\x{{{first:x}}}-\x{{{last:x}}}" for first, last in ranges) for ranges in (COMPOSED, _GAPS)
)
# Bytes that are no UTF-8 match no class of RE2, not even a negated one: what one of these finds is text.
_SOUND_TEXT = rf"^[{_COMPOSED}]*\z"
_SOUND_KEY = rf"^[^{regex_class(WHITESPACE)}{_NOT_COMPOSED}][{_COMPOSED}]*\z"
_STARTS_FILLED = f"^[^{regex_class(WHITESPACE)}]"
# A day narrower on both sides: the model reads the year in the turn's own offset.
_FIRST_MOMENT = datetime(FIRST_YEAR, 1, 2, tzinfo=UTC)
_LAST_MOMENT = datetime(LAST_YEAR, 1, 1, tzinfo=UTC) - timedelta(days=1)


def certain_turns(batch: pa.RecordBatch) -> Certain | None:
    """The rows that are certain; None where all of the batch are in doubt."""
    mask, normalised = np.ones(batch.num_rows, dtype=bool), np.zeros(batch.num_rows, dtype=bool)
    columns, names = [], batch.schema.names
    try:
        for field in TURN_SCHEMA:
            if field.name in names:
                cells = _COLUMNS[field.name](batch.column(field.name))
                columns.append(cells.column)
                mask &= cells.certain
                normalised[cells.normalised] = True
            elif field.nullable:
                columns.append(pa.nulls(batch.num_rows, field.type))
            else:
                return None
        for name in set(names) - set(TURN_SCHEMA.names):
            _look_into_unknown(batch.column(name))
    except (DoubtError, pa.ArrowException, UnicodeDecodeError):
        return None
    return Certain(pa.table(columns, TURN_SCHEMA), mask, normalised)


class Cells(NamedTuple):
    """A column of n cells."""

    column: pa.Array
    """In its type of TURN_SCHEMA and in NFC."""
    certain: np.ndarray
    """n booleans."""
    normalised: np.ndarray
    """The numbers of the cells that were not in NFC."""


def _texts(column: pa.Array) -> pa.Array:
    """The column as texts; what its bytes are nobody has looked at: Parquet files may hold some that are no UTF-8."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)):
        raise DoubtError
    return column.cast(pa.string())


def is_found(column: pa.Array, pattern: str) -> np.ndarray:
    """Where the pattern is found; a null holds nothing."""
    return as_booleans(pc.fill_null(pc.match_substring_regex(column, pattern), False))


def as_booleans(booleans: pa.Array) -> np.ndarray:
    found: np.ndarray = booleans.to_numpy(zero_copy_only=False)
    return found


_NONE = np.empty(0, dtype=np.int64)


def _nulls(column: pa.Array, kind: pa.DataType) -> Cells:
    return Cells(pa.nulls(len(column), kind), np.ones(len(column), dtype=bool), _NONE)


def _composed(texts: pa.Array, doubtful: np.ndarray) -> tuple[pa.Array, np.ndarray]:
    """The texts in NFC, and the numbers of those that were not; `doubtful` are the numbers of those that may not be."""
    if not len(doubtful):
        return texts, _NONE
    suspects = texts.take(pa.array(doubtful))
    suspects.validate(full=True)
    before = suspects.to_pylist()
    after = [text and nfc(text) for text in before]
    places = np.array([old != new for old, new in zip(before, after, strict=True)])
    mask = np.zeros(len(texts), dtype=bool)
    mask[doubtful] = True
    return pc.replace_with_mask(texts, pa.array(mask), pa.array(after, pa.string())), doubtful[places]


def composed_texts(column: pa.Array) -> Cells:
    if pa.types.is_null(column.type):
        return _nulls(column, pa.string())
    texts = _texts(column)
    sound = is_found(texts, _SOUND_TEXT) | as_booleans(texts.is_null())
    texts, normalised = _composed(texts, np.flatnonzero(~sound))
    return Cells(texts, np.ones(len(column), dtype=bool), normalised)


def key_cells(column: pa.Array) -> Cells:
    texts = _texts(column)
    certain = is_found(texts, _SOUND_KEY)
    doubtful = np.flatnonzero(~certain)
    texts, normalised = _composed(texts, doubtful)
    certain[doubtful] = is_found(texts.take(pa.array(doubtful)), _STARTS_FILLED)
    return Cells(texts, certain, normalised)


def label_cells(column: pa.Array) -> Cells:
    if pa.types.is_null(column.type):
        return _nulls(column, pa.string())
    cells = key_cells(column)
    return cells._replace(certain=cells.certain | as_booleans(cells.column.is_null()))


def _names(column: pa.Array) -> Cells:
    if pa.types.is_null(column.type):
        return _nulls(column, TURN_SCHEMA.field("named_entities").type)
    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
        raise DoubtError
    flat, parents = column.flatten(), pc.list_parent_indices(column).to_numpy(zero_copy_only=False)
    if pa.types.is_null(flat.type):
        flat = flat.cast(pa.string())
    entries = key_cells(flat)
    certain = np.ones(len(column), dtype=bool)
    certain[parents[~entries.certain]] = False
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    lists = pa.ListArray.from_arrays(offsets, entries.column, mask=column.is_null())
    return Cells(lists, certain, parents[entries.normalised])


def _flag(column: pa.Array) -> Cells:
    if pa.types.is_null(column.type):
        return _nulls(column, pa.bool_())
    if not pa.types.is_boolean(column.type):
        raise DoubtError
    return Cells(column, np.ones(len(column), dtype=bool), _NONE)


def _moment(column: pa.Array) -> Cells:
    if not pa.types.is_timestamp(column.type) or column.type.tz is None:
        raise DoubtError
    try:
        pa.scalar(0, pa.timestamp("us", column.type.tz)).as_py()
    except (ValueError, KeyError):  # An unknown time zone.
        raise DoubtError from None
    moments = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.timestamp("us", "UTC"))
    return Cells(moments, plausible_moments(moments), _NONE)


def plausible_moments(moments: pa.Array) -> np.ndarray:
    """Where a moment lies certainly in the years that the model takes; a null does not."""
    first, last = (pa.scalar(moment, moments.type) for moment in (_FIRST_MOMENT, _LAST_MOMENT))
    return as_booleans(pc.fill_null(pc.and_(pc.greater_equal(moments, first), pc.less(moments, last)), False))


def _look_into_unknown(column: pa.Array) -> None:
    """Raise where the column, which nobody wants, could hold what Python cannot: the row would then be rejected."""
    harmless = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_null)
    if not any(test(column.type) for test in harmless):
        _texts(column).validate(full=True)


_COLUMNS: Mapping[str, Callable[[pa.Array], Cells]] = {
    **dict.fromkeys(("turn_id", "session_id", "character_id", "model_id"), key_cells),
    **dict.fromkeys(("prompt_id", "first_person", "honorific_level"), label_cells),
    **dict.fromkeys(("user_message", "reply_text"), composed_texts),
    "turn_at": _moment,
    "named_entities": _names,
    "user_asked_recall": _flag,
}
"""How each column is looked at."""


class KeyHashes(NamedTuple):
    """Hashes of the turn ids of a file, in NFC: equal ids have equal hashes in this process."""

    every: np.ndarray
    """Of every row."""
    repeated: np.ndarray
    """Those that occur more than once."""


HASHED_ROWS = 65_536


def key_hashes(file: Path) -> KeyHashes | None:
    """The hashes of the file's turn ids; None where they cannot be read."""
    hashes = [_NONE]
    try:
        hashes += [_hashes(batch) for batch in bounded_batches(file, HASHED_ROWS, ["turn_id"])]
    except (DoubtError, TooLargeError, pa.ArrowException, OSError, UnicodeDecodeError, KeyError):
        return None
    every = np.concatenate(hashes)
    return KeyHashes(every, _repeated(every))


def repeated_keys(batch: pa.RecordBatch) -> np.ndarray:
    """Of every row whether its turn id may stand in the batch more than once."""
    try:
        hashes = _hashes(batch)
    except (DoubtError, pa.ArrowException, UnicodeDecodeError, KeyError):
        return np.ones(batch.num_rows, dtype=bool)
    return np.isin(hashes, _repeated(hashes))


def _hashes(batch: pa.RecordBatch) -> np.ndarray:
    keys = plain_texts(batch.column("turn_id")).to_pylist()
    return np.fromiter(map(hash, keys), dtype=np.int64, count=len(keys))


def _repeated(hashes: np.ndarray) -> np.ndarray:
    ordered = np.sort(hashes)
    return np.unique(ordered[1:][ordered[1:] == ordered[:-1]])


def filled_keys(column: pa.Array) -> pa.Array:
    """The keys in NFC without those that are null or blank.

    Raises:
        DoubtError: the column is no text, or a key begins with white space.
        pyarrow.ArrowException: it holds bytes that are no text.
    """
    texts, filled, _ = key_cells(column)
    if any(key and key.strip() for key in texts.filter(pa.array(~filled)).to_pylist()):
        raise DoubtError
    return texts.filter(pa.array(filled))


def plain_texts(column: pa.Array) -> pa.Array:
    """The texts in NFC; raises as `filled_keys`."""
    return composed_texts(column).column


def flags(column: pa.Array) -> pa.Array:
    """The booleans, null as false; raises as `filled_keys`."""
    return pc.fill_null(_flag(column).column, False)


def ascends(ids: pa.Array, before: tuple[int, str] = (0, "")) -> bool:
    """Whether the turn ids, and the one before them by its length, are in turn order, none of them twice."""
    every = pa.concat_arrays([pa.array([before[1]], pa.string()), ids])
    length = pc.utf8_length(every).to_numpy(zero_copy_only=False)
    later = pc.less(every[:-1], every[1:]).to_numpy(zero_copy_only=False)
    return bool(np.all((length[:-1] < length[1:]) | ((length[:-1] == length[1:]) & later)))
