"""The current list as a file: CSV for spreadsheets, JSONL and JSON in the seed's schema."""

import csv
import io
import json
from collections.abc import Callable, Generator, Iterator
from itertools import chain, islice
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from wh_judge.model import VERDICT_SCHEMA, Verdict, verdict_document, verdict_from_record
from wh_judge.screen.errors import PageError
from wh_judge.screen.filters import Filter
from wh_judge.screen.listing import narrowed
from wh_judge.screen.snapshots import Snapshot, Snapshots
from wh_judge.screen.static_pages import NOTHING_PUBLISHED
from wh_judge.screen.verdicts import checked_filter
from wh_judge.spreadsheet import written
from wh_judge.store.schema import names

BATCH = 1_000

Documents = Iterator[dict[str, Any]]


def page(request: Request) -> Response:
    """`/verdicts.csv`, `.jsonl` and `.json`: the verdicts of the list, oldest day first, however many there are.

    Turns that could not be judged have no verdict, and so no place in the schema.
    """
    suffix = request.path_params["suffix"]
    if suffix not in FORMATS:
        raise PageError(404, f".{suffix} 형식은 없습니다.", "csv, jsonl, json 가운데 하나를 고르세요.")
    media_type, write = FORMATS[suffix]
    snapshots: Snapshots = request.app.state.snapshots
    pieces = _pieces(request, snapshots, write)
    # What cannot be answered shows before anything is sent.
    first = next(pieces, "")
    return _Download(
        first,
        pieces,
        media_type=media_type,
        headers={"Content-Disposition": f'attachment; filename="verdicts.{suffix}"'},
    )


class _Download(StreamingResponse):
    """A file that lets go of what it reads however it ends: sent to its end, or left by its reader."""

    def __init__(self, first: str, rest: Generator[str], media_type: str, headers: dict[str, str]) -> None:
        super().__init__(chain([first], rest), media_type=media_type, headers=headers)
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._rest.close()


def _pieces(request: Request, snapshots: Snapshots, write: Callable[[Documents], Iterator[str]]) -> Generator[str]:
    """The file in pieces. The snapshot is held here, since a response is sent after its handler is done."""
    with snapshots.read() as snapshot:
        if snapshot is None:
            raise PageError(503, NOTHING_PUBLISHED, "`wh-judge run`을 먼저 실행하세요.")
        filter_ = checked_filter(request, snapshot)
        lines = write(_documents(snapshot, filter_))
        while piece := "".join(islice(lines, BATCH)):
            yield piece


def _documents(snapshot: Snapshot, filter_: Filter) -> Documents:
    condition, values = narrowed(snapshot, filter_)
    sql = f"SELECT {names(VERDICT_SCHEMA)} FROM verdict WHERE {condition} ORDER BY rowid"
    with snapshot.batches(sql, values, BATCH) as batches:
        for records in batches:
            for record in records:
                yield verdict_document(verdict_from_record(record))


def as_jsonl(documents: Documents) -> Iterator[str]:
    """One object a line."""
    for document in documents:
        yield json.dumps(document, ensure_ascii=False) + "\n"


def as_json(documents: Documents) -> Iterator[str]:
    """One list."""
    yield "["
    for place, document in enumerate(documents):
        yield (",\n" if place else "\n") + json.dumps(document, ensure_ascii=False)
    yield "\n]\n"


def as_csv(documents: Documents) -> Iterator[str]:
    """A byte order mark, by which Excel knows UTF-8, then rows; lists are JSON. No cell begins like a formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(Verdict.model_fields)
    yield "\ufeff" + _taken(out)
    for document in documents:
        writer.writerow([written(document[name]) for name in Verdict.model_fields])
        yield _taken(out)


def _taken(out: io.StringIO) -> str:
    text = out.getvalue()
    out.seek(0)
    out.truncate()
    return text


FORMATS: dict[str, tuple[str, Callable[[Documents], Iterator[str]]]] = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "jsonl": ("application/x-ndjson; charset=utf-8", as_jsonl),
    "json": ("application/json; charset=utf-8", as_json),
}
