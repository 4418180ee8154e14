"""Verdicts to a file, in the output schema: JSONL, JSON, CSV or Parquet by suffix. A file is complete or not there."""

import csv
import fcntl
import glob
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from wh_judge.errors import UserError
from wh_judge.model import VERDICT_SCHEMA, Verdict, verdict_document, verdict_from_record

CHUNK = 10_000


@contextmanager
def writing_verdicts(verdicts: Iterable[pa.Table], path: Path) -> Iterator[None]:
    """Write tables of verdicts (VERDICT_SCHEMA) one after the other, one document a row.

    The file is there once the block has ended without an error. In Parquet every evidence value is text, since a column
    has one type; `wh_judge.model.evidence_value` types it.
    """
    columns = list(Verdict.model_fields)
    with _replacing(path) as partial:
        if path.suffix.lower() == ".parquet":
            _parquet(verdicts, partial, columns)
        else:
            documents = (document for table in verdicts for document in _documents(table))
            _write(documents, partial, path.suffix, columns)
        yield


def _parquet(verdicts: Iterable[pa.Table], path: Path, columns: list[str]) -> None:
    schema = pa.schema([VERDICT_SCHEMA.field(name) for name in columns])
    # What hardly repeats is larger and slower to write as a dictionary.
    repeating = [name for name in columns if name not in ("turn_id", "summary", "evidence")]
    repeating += [f"evidence.list.element.{name}" for name in ("source", "field", "agg")]
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=repeating) as writer:
        for table in verdicts:
            writer.write_table(table.select(columns))


def _documents(verdicts: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in verdicts.to_batches(max_chunksize=CHUNK):
        for record in batch.to_pylist():
            yield verdict_document(verdict_from_record(record))


def check_writable(path: Path) -> None:
    """Raise a UserError where a file of this name could not be written."""
    if path.suffix.lower() not in (*WRITERS, ".parquet"):
        raise UserError(f"{path}: write to a name that ends in {', '.join(WRITERS)} or .parquet")
    if not path.parent.is_dir():
        raise UserError(f"{path.parent}: is no folder; make it first")
    if path.is_dir():
        raise UserError(f"{path}: is a folder; name a file")


def check_folder(path: str, read: str) -> None:
    """Raise a UserError where Spark could not write a folder of this name, or would write into what it reads.

    An address such as `s3a://logs/verdicts` is left to Spark but for that.
    """
    written, taken = _whole(path), _whole(read)
    if written.startswith(taken):
        raise UserError(f"{path}: is read already; name another folder")
    # A day's folder takes the place of one of its name: the log itself may be that.
    if taken.startswith(written):
        raise UserError(f"{path}: holds what is read; name another folder")
    if "://" in path:
        return
    folder = Path(path)
    if folder.suffix.lower() in WRITERS:
        raise UserError(f"{path}: the engine spark writes a folder of Parquet; name a folder")
    if folder.is_file():
        raise UserError(f"{path}: is a file; name a folder")
    if not folder.parent.is_dir():
        raise UserError(f"{folder.parent}: is no folder; make it first")


def _whole(place: str) -> str:
    """A path without links and detours, or an address, with `/` at the end."""
    if place.startswith("file://"):
        place = unquote(urlsplit(place).path)
    return f"{place if '://' in place else os.path.realpath(place)}".rstrip("/") + "/"


def write_documents(documents: Iterable[Mapping[str, Any]], path: Path, columns: list[str]) -> None:
    """Write JSON documents by suffix (.jsonl, .json, .csv)."""
    with _replacing(path) as partial:
        _write(documents, partial, path.suffix, columns)


def write_text(text: str, path: Path) -> None:
    """Write a text, whole or not at all."""
    write_lines([text], path)


def write_lines(lines: Iterable[str], path: Path) -> None:
    """Write a text that comes in pieces, whole or not at all."""
    with _replacing(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        file.writelines(lines)


def _write(documents: Iterable[Mapping[str, Any]], path: Path, suffix: str, columns: list[str]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        WRITERS[suffix.lower()](documents, file, columns)


def _jsonl(documents: Iterable[Mapping[str, Any]], file: TextIO, _columns: list[str]) -> None:
    for document in documents:
        file.write(json.dumps(document, ensure_ascii=False) + "\n")


def _json(documents: Iterable[Mapping[str, Any]], file: TextIO, _columns: list[str]) -> None:
    file.write("[")
    for place, document in enumerate(documents):
        file.write((",\n" if place else "\n") + json.dumps(document, ensure_ascii=False))
    file.write("\n]\n")


def _csv(documents: Iterable[Mapping[str, Any]], file: TextIO, columns: list[str]) -> None:
    writer = csv.writer(file)
    writer.writerow(columns)
    for document in documents:
        cells = (document[column] for column in columns)
        writer.writerow(json.dumps(c, ensure_ascii=False) if isinstance(c, list | dict) else c for c in cells)


WRITERS: Mapping[str, Callable[[Iterable[Mapping[str, Any]], TextIO, list[str]], None]] = {
    ".jsonl": _jsonl,
    ".json": _json,
    ".csv": _csv,
}


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A name beside the file to write to; it takes the file's place at the end, or is gone where something failed.

    A link stays one: what it leads to is replaced. What a process that was killed has left is removed.
    """
    target = Path(os.path.realpath(path))
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        _remove_left(target)
        with partial.open("ab") as held:
            with suppress(OSError):  # A file system without locks.
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield partial
            partial.replace(target)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _remove_left(target: Path) -> None:
    """Remove the partial files that nobody writes to any more: whoever does holds a lock."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.partial"):
        with suppress(OSError), left.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()
