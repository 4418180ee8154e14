"""The review loop: what people look at, what they decide, and what their decisions would change.

Decisions are written into the book beside the data; the next run makes them count.
"""

import io
import re
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from wh_judge import strict_json
from wh_judge.errors import UserError, first_fault
from wh_judge.model import GOLD_SCHEMA
from wh_judge.outputs import WRITERS
from wh_judge.review.book import Fault
from wh_judge.review.decisions import Decision, Draft, Standing, in_force
from wh_judge.review.effects import all_labels, labels_with
from wh_judge.review.endings import propose
from wh_judge.review.exchange import SUFFIXES
from wh_judge.review.exchange import tasks_file as as_file
from wh_judge.review.intake import read_drafts
from wh_judge.review.known import Given, check_endings, decide
from wh_judge.review.labels import FILE, by_labeller, pair_agreements
from wh_judge.review.queues import QUEUES, Task, draw, newest_week
from wh_judge.review.terms import LEAST_READ, term_precision
from wh_judge.screen.bounded import bounded
from wh_judge.screen.decided import CHOICES, KNOWN, damaged, decision, read, written_down
from wh_judge.screen.errors import PageError
from wh_judge.screen.reasons import korean_error
from wh_judge.screen.render import render
from wh_judge.screen.snapshots import Snapshot
from wh_judge.screen.who import cut, remember, who
from wh_judge.settings import Settings, configured_rules, reading_settings
from wh_judge.spreadsheet import written
from wh_judge.store.tables import labels_of_files

FILE_LIMIT = 20 << 20
TABS = {
    "names": "카드에 없는 이름",
    "forbidden": "금지 소재 20건",
    "speech": "말투가 섞인 20건",
    "terms": "사전의 말",
    "endings": "종결 어미",
    "decisions": "결정",
}
_LINE_END = re.compile(r"\r\n?|\n")
_FIELDS = ("kind", "choice", "why", "turn_id", "character_id", "name", "term", "topic", "ending", "undoes")


def page(request: Request) -> Response:
    """A queue, the proposals, or the decisions so far."""
    query = request.query_params
    tab, by = query.get("tab", "names"), who(request)
    if tab not in TABS:
        raise PageError(404, "이런 검토 목록은 없습니다.", "검토 쪽의 탭에서 고르세요.")
    decisions, faults = read(request)
    with request.app.state.snapshots.read() as snapshot:
        if snapshot is None:
            raise PageError(404, "아직 공개된 판정이 없습니다.", "`wh-judge run`을 먼저 실행하세요.")
        week = query.get("week", "").strip() or _newest(snapshot)
        context = _content(snapshot, request.app.state.settings, tab, week, decisions)
        context["damaged"] = damaged(faults)
        context["taken"] = _count(query.get("taken", ""))
        context["told"] = written_down(decisions, query.get("written"))
        context["next"] = next_place(context.get("tasks", ()), query.get("at", ""))
        shown = render(
            request, snapshot, "review.html", tab=tab, tabs=TABS, week=week, by=by, choices=CHOICES, **context
        )
        return remember(shown, by)


def next_place(tasks: Sequence[Task], at: str) -> int | None:
    """The place, from 1, of the first task without a decision from a place on, else of the first of all."""
    waiting = [place for place, task in enumerate(tasks, start=1) if not task.decided]
    start = _count(at) or 1
    return next((place for place in waiting if place >= start), next(iter(waiting), None))


def _count(text: str) -> int | None:
    """The number in an address; None where there is none."""
    return int(text) if text.isdecimal() and len(text) < 10 else None


def _newest(snapshot: Snapshot) -> str:
    with snapshot.cursor() as cursor:
        return newest_week(cursor)


def _content(
    snapshot: Snapshot, settings: Settings, tab: str, week: str, decisions: Sequence[Decision]
) -> dict[str, Any]:
    rules = reading_settings(data=str(settings.data)).rules
    with snapshot.cursor() as cursor:
        if tab in QUEUES:
            return {"tasks": draw(cursor, tab, week, rules, decisions)}
        if tab == "terms":
            return {"terms": term_precision(cursor, decisions), "least_read": LEAST_READ}
        if tab == "endings":
            key = ("endings", rules.parts, *(row for row in in_force(decisions) if row.kind in ("ending", "trailing")))
            return {"proposals": snapshot.cached(key, lambda: propose(cursor, rules, decisions))}
    standing = Standing(decisions)
    rows = [
        {"row": row, "shown": decision(row), "counts": standing.counts(row.decision_id)} for row in reversed(decisions)
    ]
    labels = all_labels(labels_of_files(settings), decisions)
    return {
        "decisions": rows,
        "names": {FILE: "정답 파일"},
        "labellers": by_labeller(labels),
        "pairs": pair_agreements(labels),
    }


async def decide_page(request: Request) -> Response:
    """Writes one decision down and leads back to where it was made."""
    async with request.form(max_files=0, max_fields=len(_FIELDS) + 5) as form:
        cells: dict[str, Any] = {name: _cell(form, name) for name in _FIELDS}
        # One a line, since a term may hold anything else; white space of it counts, as it does in the lexicon.
        cells["instead"] = [term for term in _LINE_END.split(str(form.get("instead", ""))) if term.strip()]
        by, back = cut(str(form.get("by", ""))), str(form.get("tab", "decisions"))
        week, at = str(form.get("week", "")), str(form.get("at", ""))
    if not by:
        raise PageError(400, "누가 결정했는지 없습니다.", "이름을 적고 다시 누르세요.")
    try:
        draft = Draft.model_validate(cells | {"by": by})
    except ValidationError as error:
        raise PageError(
            400, f"결정이 아닙니다. ({korean_error(first_fault(error))})", "검토 쪽에서 다시 고르세요."
        ) from None
    given = [Given(draft, CHOICES.get(draft.choice, draft.choice))]
    rows = await run_in_threadpool(_decide, request, given)
    written = rows[0].decision_id if rows else KNOWN
    if back == "turn" and draft.turn_id:
        address = f"/turn?{urlencode({'id': draft.turn_id, 'written': written})}#written"
    else:
        tab = back if back in TABS else "decisions"
        query = {"tab": tab, "week": week, "by": by, "written": written} | ({"at": at} if at else {})
        address = f"/review?{urlencode(query)}#written"
    return remember(RedirectResponse(address, status_code=303), by)


def _cell(form: FormData, name: str) -> str:
    """What a form gives for a field: as JSON where a browser would not send the text as it is."""
    with suppress(ValueError):
        return str(strict_json.decode(str(form[f"{name}.json"]))) if f"{name}.json" in form else str(form.get(name, ""))
    return ""


def tasks_file(request: Request) -> Response:
    """`/review.csv`, `.jsonl` and `.json` (Label Studio): the tasks of a queue."""
    query, suffix = request.query_params, f".{request.path_params['suffix']}"
    tab = query.get("tab", "names")
    if tab not in QUEUES or suffix not in SUFFIXES:
        raise PageError(404, "이런 파일은 없습니다.", "검토 쪽에서 고르세요.")
    decisions, faults = read(request)
    with request.app.state.snapshots.read() as snapshot:
        if snapshot is None:
            raise PageError(404, "아직 공개된 판정이 없습니다.", "`wh-judge run`을 먼저 실행하세요.")
        week = query.get("week", "").strip() or _newest(snapshot)
        tasks: list[Task] = _content(snapshot, request.app.state.settings, tab, week, decisions)["tasks"]
    return _file(as_file(tasks, suffix), f"{week}-{tab}", suffix, faults)


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
        file, by = form.get("file"), cut(str(form.get("by", "")))
        if not isinstance(file, UploadFile) or not file.filename:
            raise PageError(400, "파일이 없습니다.", "검토 쪽에서 파일을 고르고 다시 보내세요.")
        suffix, content = Path(file.filename).suffix.lower(), await file.read()
    taken = await run_in_threadpool(_take, request, suffix, content, by)
    query = {"tab": "decisions", "by": by, "taken": len(taken)}
    return RedirectResponse(f"/review?{urlencode(query)}#taken", status_code=303)


def _take(request: Request, suffix: str, content: bytes, by: str) -> list[Decision]:
    if suffix not in SUFFIXES:
        raise UserError(f"{', '.join(SUFFIXES)} 파일만 읽습니다.")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"tasks{suffix}")
        file.write_bytes(content)
        try:
            return _decide(request, read_drafts(file, by or None))
        except UserError as error:
            # The temporary folder says nothing to whoever sent the file.
            raise UserError(str(error).replace(f"{folder}/", "")) from None


def _decide(request: Request, given: Sequence[Given]) -> list[Decision]:
    data = str(request.app.state.settings.data)
    check_endings(given, configured_rules(data=data), ignoring=reading_settings(data=data).ignore_trailing)
    with ExitStack() as stack:
        snapshot = stack.enter_context(request.app.state.snapshots.read())
        cursor = stack.enter_context(snapshot.cursor()) if snapshot else None
        return decide(cursor, request.app.state.settings.data, given)
