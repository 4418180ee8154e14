"""Files of the review: tasks and labels out, decisions back in."""

import io
import tempfile
from collections.abc import Sequence
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from wh_judge.errors import UserError
from wh_judge.model import GOLD_SCHEMA
from wh_judge.outputs import WRITERS
from wh_judge.review.book import Fault
from wh_judge.review.decisions import Decision
from wh_judge.review.effects import labels_with
from wh_judge.review.exchange import CONFIG, SUFFIXES
from wh_judge.review.exchange import tasks_file as as_file
from wh_judge.review.intake import read_drafts
from wh_judge.review.queues import QUEUES
from wh_judge.screen.bounded import bounded
from wh_judge.screen.decided import read
from wh_judge.screen.errors import PageError
from wh_judge.screen.review import address, write
from wh_judge.screen.review_asked import asked_in
from wh_judge.screen.review_tabs import tasks_of
from wh_judge.screen.who import cut
from wh_judge.spreadsheet import written
from wh_judge.store.tables import labels_of_files
from wh_judge.text import one_line, short

FILE_LIMIT = 20 << 20


def tasks_file(request: Request) -> Response:
    """`/review.csv`, `.jsonl` and `.json` (Label Studio): the tasks of a queue; `.xml`: how Label Studio shows them."""
    query, suffix = request.query_params, f".{request.path_params['suffix']}"
    tab = query.get("tab", "names")
    if tab not in QUEUES or suffix not in (*SUFFIXES, CONFIG):
        raise PageError(404, "이런 파일은 없습니다.", "검토 쪽에서 고르세요.")
    if suffix == CONFIG:
        return _file(as_file(tab, [], suffix), f"label-studio-{tab}", suffix, [])
    decisions, faults = read(request)
    with request.app.state.snapshots.read() as snapshot:
        asked = asked_in(request, snapshot, decisions)
        tasks = tasks_of(asked, tab)
    return _file(as_file(tab, tasks, suffix), f"{asked.week}-{tab}", suffix, faults)


def labels_file(request: Request) -> Response:
    """`/labels.csv` and `.jsonl`: one label a turn, those that count. In the CSV no cell begins like a formula."""
    suffix = f".{request.path_params['suffix']}"
    if suffix not in (".csv", ".jsonl"):
        raise PageError(404, "이런 파일은 없습니다.", "csv, jsonl 가운데 하나를 고르세요.")
    decisions, faults = read(request)
    labels = labels_with(labels_of_files(request.app.state.settings), decisions)
    if suffix == ".csv":
        labels = [{name: written(cell) for name, cell in label.items()} for label in labels]
    text = io.StringIO()
    WRITERS[suffix](labels, text, list(GOLD_SCHEMA.names))
    # With a byte order mark, so that spreadsheets read the Hangul.
    return _file(text.getvalue().encode("utf-8-sig" if suffix == ".csv" else "utf-8"), "labels", suffix, faults)


def _file(content: bytes, name: str, suffix: str, faults: Sequence[Fault]) -> Response:
    """A file to keep. Where a line of the book could not be read, its name says so, as nothing else of it can."""
    damage = f"-without-decisions-line-{faults[0].line}" if faults else ""
    return Response(
        content,
        media_type="application/octet-stream",
        headers={"Content-Disposition": f'attachment; filename="{name}{damage}{suffix}"'},
    )


async def take_page(request: Request) -> Response:
    """Takes a file of tasks that people worked on."""
    large = PageError(413, f"파일이 {FILE_LIMIT >> 20} MB보다 큽니다.", "`wh-judge review take`로 받으세요.")
    sent = await bounded(request, FILE_LIMIT, large)
    async with sent.form(max_files=1, max_fields=4) as form:
        file, by, week = form.get("file"), cut(str(form.get("by", ""))), str(form.get("week", ""))
        request.state.back = address(str(form.get("tab", "")), week=week, by=by)
        if not isinstance(file, UploadFile) or not file.filename:
            raise PageError(400, "파일이 없습니다.", "검토 쪽에서 파일을 고르고 다시 보내세요.")
        name, content = file.filename, await file.read()
    taken = await run_in_threadpool(_take, request, name, content, by)
    to = address("decisions", by=by, week=week, taken=str(len(taken)))
    return RedirectResponse(f"{to}#taken", status_code=303)


def _take(request: Request, name: str, content: bytes, by: str) -> list[Decision]:
    suffix = Path(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise UserError(f"{', '.join(SUFFIXES)} 파일만 읽습니다.")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"tasks{suffix}")
        file.write_bytes(content)
        try:
            return write(request, read_drafts(file, by or None))
        except UserError as error:
            # Whoever sent the file knows it by another name.
            raise UserError(str(error).replace(str(file), one_line(short(name)))) from None
