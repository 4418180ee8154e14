"""Files to rows: what is right becomes an Arrow table, what is not becomes a problem with file, line and reason.

Text is normalised to NFC, rows are validated once, here, against the models; inside the program they are trusted.
Nothing is dropped: each record of a file ends as a row or as a rejected problem.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from wh_judge.columnar import certain_turns, key_hashes, repeated_keys
from wh_judge.inputs import TABLES, InputTable, file_name, files_of
from wh_judge.parquet import BATCH_BYTES
from wh_judge.readers import read_entries
from wh_judge.readers.parquet import batch_record, batch_values, read_batches
from wh_judge.readers.records import Line, Record
from wh_judge.rowwise import Batch, Reading
from wh_judge.votes.certain import blocks, certain_votes

BATCH_ROWS = 100_000


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
    reading = Reading(table, name, {} if seen is None else seen)
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
        if max(len(reading.rows), len(reading.out.problems)) >= BATCH_ROWS or reading.weight >= BATCH_BYTES:
            yield reading.take()
    yield reading.take()


def _read_votes(entries: Iterator[Record | Line], reading: Reading) -> Iterator[Batch]:
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


def _read_columns(file: Path, reading: Reading, all_differ: bool) -> Iterator[Batch]:
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
    return _read_batch(batch, Reading(TABLES["chat_turn"], name, {}), repeated_keys(batch), lines)


def _read_batch(batch: pa.RecordBatch, reading: Reading, repeated: np.ndarray, lines: np.ndarray) -> Batch:
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
    places = np.concatenate([chosen, np.arange(len(kept)) + rows.num_rows])
    rows = pa.concat_tables([rows, out.rows]).combine_chunks().take(pa.array(places[order]))
    return Batch(rows, lines[numbers[order]].tolist(), out.problems, out.normalised)
