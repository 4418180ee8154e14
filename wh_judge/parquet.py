"""Parquet files in batches that memory can hold, however well they are packed.

A dictionary page or a run of equal values says in a few bytes what takes gigabytes as rows. How many rows are read at a
time follows from what the file's metadata and its dictionaries say of a row, before the rows are unpacked.
"""

import errno
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

BATCH_BYTES = 128_000_000
"""What the rows of a batch weigh at most, by `weights`; no row may weigh more."""
ELEMENT_BYTES = 128
"""What an element of a list weighs besides its text, which is about what Python takes for it."""
ELEMENTS_LIMIT = 2**25
"""List elements in one row group: one row may hold all of them."""
FOLD_LIMIT = 1000
"""How often its packed size a column of a row group may take, where that is more than a batch."""
ROWS_PER_BYTE = 100
"""Rows for each byte of the file, where it has more than a million."""
_MANY_ROWS = 1_000_000
_PROBED_ELEMENTS = 2**22


class TooLargeError(ValueError):
    """A file that cannot be unpacked within bounds; the text is a clause that says what is wrong."""


class _Chunk(NamedTuple):
    """A column of a row group."""

    path: str
    values: int
    bytes: int
    """Unpacked, but with repeated values written once."""
    repeated: bool
    """Whether it lies in a list."""
    folds: bool
    """Whether a value may be written once for many cells."""


def bounded_batches(path: Path, rows: int, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    """The file in batches of at most `rows` rows, of which none weighs more than `BATCH_BYTES`.

    Raises:
        TooLargeError: a row weighs more, or the metadata say that no true file is like that.
        pyarrow.ArrowException, OSError, UnicodeDecodeError: the file cannot be read, or not to its end.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "is no regular file")  # To open a pipe is to wait for its writer.
    with pq.ParquetFile(path) as file:
        count, size = file.metadata.num_rows, path.stat().st_size
        if count > max(_MANY_ROWS, ROWS_PER_BYTE * size):
            raise TooLargeError(f"holds {count} rows in {size} bytes; it is no true log")
        for batch in _joined(_read(path, file, rows, columns), rows):
            yield from _cut(batch)


def _read(path: Path, file: pq.ParquetFile, rows: int, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
    """The rows in batches that are small enough, or smaller; small row groups are read together."""
    together: list[int] = []
    weight = 0
    for group in range(file.metadata.num_row_groups):
        step, most = _step(path, file, group, rows, columns)
        if together and weight + most > BATCH_BYTES:
            yield from file.iter_batches(rows, row_groups=together, columns=columns)
            together, weight = [], 0
        if step < rows:
            yield from file.iter_batches(step, row_groups=[group], columns=columns)
        else:
            together, weight = [*together, group], weight + most
    if together or not file.metadata.num_row_groups:
        yield from file.iter_batches(rows, row_groups=together, columns=columns)


def _step(path: Path, file: pq.ParquetFile, group: int, rows: int, columns: Sequence[str] | None) -> tuple[int, int]:
    """How many rows of a row group may be read at a time, and what all its rows weigh at most, if `rows` may be."""
    chunks = [chunk for chunk in _chunks(file, group) if columns is None or chunk.path.split(".")[0] in columns]
    count = max(1, file.metadata.row_group(group).num_rows)
    plain = sum(chunk.bytes for chunk in chunks)
    steps = [rows] if plain <= BATCH_BYTES else [rows, BATCH_BYTES * count // plain]
    folded = [chunk for chunk in chunks if chunk.folds and chunk.values * chunk.bytes > BATCH_BYTES]
    cells = [chunk for chunk in folded if not chunk.repeated]
    most = plain + sum(chunk.values * chunk.bytes for chunk in chunks if chunk.folds and chunk not in folded)
    if cells:
        longest = _longest(path, group, cells)
        steps.append(BATCH_BYTES // max(1, longest))
        most += longest * count
    for chunk in chunks:
        heaviest = chunk.values * (ELEMENT_BYTES + (chunk.bytes if chunk.folds else 0))
        if chunk.repeated and heaviest > BATCH_BYTES:
            heaviest, every = _heaviest(path, group, chunk, count)
            # One heavy row does not tell of the others: all together may still be little.
            steps += [BATCH_BYTES // heaviest] if every > BATCH_BYTES else []
            most += every
    return max(1, min(steps)), most


def _chunks(file: pq.ParquetFile, group: int) -> Iterator[_Chunk]:
    metadata = file.metadata.row_group(group)
    for number in range(metadata.num_columns):
        column, leaf = metadata.column(number), file.schema.column(number)
        size = column.total_uncompressed_size
        if size > max(BATCH_BYTES, FOLD_LIMIT * column.total_compressed_size):
            raise TooLargeError(
                f"packs {size} bytes of column {leaf.path[:60]!r} into {column.total_compressed_size};"
                " write it with smaller row groups"
            )
        repeated = leaf.max_repetition_level > 0
        if repeated and column.num_values > ELEMENTS_LIMIT:
            raise TooLargeError(
                f"holds {column.num_values} list elements of column {leaf.path[:60]!r} in one row group;"
                " write it with smaller row groups"
            )
        folds = "BYTE_ARRAY" in column.physical_type and not _WRITTEN_OUT.issuperset(column.encodings)
        yield _Chunk(leaf.path, column.num_values, size, repeated, folds)


_WRITTEN_OUT = frozenset({"PLAIN", "RLE", "BIT_PACKED", "DELTA_LENGTH_BYTE_ARRAY"})
"""Encodings that write every value, and those of nulls."""


def _longest(path: Path, group: int, chunks: Sequence[_Chunk]) -> int:
    """Bytes that a row of these columns takes at most: their longest values by their dictionaries."""
    names = [chunk.path for chunk in chunks]
    try:
        with pq.ParquetFile(path, read_dictionary=names) as file:
            batch = next(file.iter_batches(1, row_groups=[group], columns=names), None)
        found = dict(zip(batch.schema.names, batch.columns, strict=True)) if batch else {}
    except (pa.ArrowException, OSError):
        found = {}  # Reading the rows says what is wrong.
    return sum(_longest_of(found.get(chunk.path), chunk) for chunk in chunks)


def _longest_of(column: pa.Array | None, chunk: _Chunk) -> int:
    if column is None or not pa.types.is_dictionary(column.type):
        return chunk.bytes
    lengths = weights(column.dictionary)
    return int(lengths.max()) if len(lengths) else 0


def _heaviest(path: Path, group: int, chunk: _Chunk, rows: int) -> tuple[int, int]:
    """What the heaviest row of a column of lists weighs, and what all of them weigh.

    Raises:
        TooLargeError: it weighs more than a batch may.
    """
    step, row, heaviest, total = max(1, rows * _PROBED_ELEMENTS // chunk.values), 0, 0, 0
    with pq.ParquetFile(path, read_dictionary=[chunk.path]) as file:
        before = sum(file.metadata.row_group(number).num_rows for number in range(group))
        for batch in file.iter_batches(step, row_groups=[group], columns=[chunk.path]):
            every = _row_weights(batch)
            if (every > BATCH_BYTES).any():
                number = before + row + int(np.argmax(every > BATCH_BYTES)) + 1
                raise TooLargeError(
                    f"holds a list in row {number} that takes over {BATCH_BYTES // 10**6} MB; shorten it"
                )
            row, heaviest = row + batch.num_rows, max(heaviest, int(every.max(initial=0)))
            total += int(every.sum())
    return heaviest, total


def _joined(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Small batches put together, to at most so many rows and about the weight of one batch."""
    waiting: list[pa.RecordBatch] = []
    count, weight = 0, 0
    try:
        for batch in batches:
            more = int(_row_weights(batch).sum())
            if waiting and (count + batch.num_rows > rows or weight + more > BATCH_BYTES):
                yield from _together(waiting)
                waiting, count, weight = [], 0, 0
            waiting.append(batch)
            count, weight = count + batch.num_rows, weight + more
    except (pa.ArrowException, OSError, UnicodeDecodeError, TooLargeError):
        yield from _together(waiting)  # What was read before the error is kept.
        raise
    yield from _together(waiting)


def _together(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    if len(batches) < 2:
        return batches
    try:
        return [pa.concat_batches(batches)]
    except pa.ArrowNotImplementedError:  # Of some types there is no joining.
        return batches


def _cut(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The batch in pieces of which none weighs too much, but for single rows."""
    ends = np.cumsum(_row_weights(batch))
    start = 0
    while start < batch.num_rows:
        before = int(ends[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + BATCH_BYTES, side="right")))
        yield batch if end - start == batch.num_rows else batch.slice(start, end - start)
        start = end


def _row_weights(batch: pa.RecordBatch) -> np.ndarray:
    return _sum(batch.columns, batch.num_rows)


def _sum(columns: Iterable[pa.Array], rows: int) -> np.ndarray:
    return np.asarray(np.sum([np.zeros(rows, dtype=np.int64), *map(weights, columns)], axis=0, dtype=np.int64))


def _int64(numbers: pa.Array) -> np.ndarray:
    found: np.ndarray = pc.fill_null(numbers, 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def weights(cells: pa.Array) -> np.ndarray:
    """About the bytes that each of the n cells takes once it is unpacked: n integers."""
    kind = cells.type
    if pa.types.is_dictionary(kind):
        every = np.insert(weights(cells.dictionary), 0, 0)  # A null weighs nothing.
        return np.asarray(every[_int64(pc.add(cells.indices.cast(pa.int64()), 1))])
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        cells = cells.cast(pa.large_binary())
        kind = cells.type
    if any(test(kind) for test in (pa.types.is_string, pa.types.is_binary, _is_large)):
        return _int64(pc.binary_length(cells))
    if pa.types.is_struct(kind):
        return _sum(cells.flatten(), len(cells))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        lengths = _int64(pc.list_value_length(cells))
        inside = np.append(0, np.cumsum(weights(cells.flatten())))
        ends = np.cumsum(lengths)
        return np.asarray(inside[ends] - inside[ends - lengths] + ELEMENT_BYTES * lengths)
    return np.full(len(cells), cells.nbytes // max(1, len(cells)), dtype=np.int64)


def _is_large(kind: pa.DataType) -> bool:
    return bool(pa.types.is_large_string(kind) or pa.types.is_large_binary(kind))
