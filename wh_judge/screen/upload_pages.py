"""Uploading a file and following it to its verdicts."""

import datetime as dt
from pathlib import Path
from typing import Any, cast

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from wh_judge.inputs import TableName
from wh_judge.model import KST
from wh_judge.readers import READERS
from wh_judge.screen.bounded import CHUNK, bounded
from wh_judge.screen.daemon import daemon_is_running
from wh_judge.screen.errors import PageError, check_page
from wh_judge.screen.filters import read_page
from wh_judge.screen.listing import runs
from wh_judge.screen.reasons import korean, korean_error
from wh_judge.screen.render import render
from wh_judge.screen.snapshots import Snapshot
from wh_judge.screen.uploads import Report, can_be_sent, find, listed, receive, rejection, send, without_card
from wh_judge.settings import Settings
from wh_judge.uploaded import with_labels

TABLE_NAMES: dict[str, str] = {
    "chat_turn": "회차 로그",
    "character_card": "캐릭터 카드",
    "topic_lexicon": "소재 사전",
    "gold_label": "정답",
}
LISTED = 20
PROBLEM_ROWS = 100
REASON_LINES = 10
CHARACTERS_NAMED = 5
SENT = len("20260901T200100000000")
"""Characters of the time with which the name of a sent file begins."""
UNBROKEN = 26
"""Characters of a cell that stays on one line, such as an id or a time."""


def form_page(request: Request) -> Response:
    """Where a file is chosen or dropped, with the uploads so far."""
    settings: Settings = request.app.state.settings
    with request.app.state.snapshots.read_if_any() as snapshot:
        return render(
            request,
            snapshot,
            "upload.html",
            tables=TABLE_NAMES,
            suffixes=list(READERS),
            limit=settings.upload_limit_mb,
            reports=listed(settings, LISTED),
        )


async def receive_page(request: Request) -> Response:
    """Takes a file, checks it, and leads to its page."""
    settings: Settings = request.app.state.settings
    sent = await bounded(request, settings.upload_limit_mb << 20, _too_large(settings))
    async with sent.form(max_files=1, max_fields=4) as form:
        file, table = form.get("file"), form.get("table")
        if not isinstance(file, UploadFile) or not file.filename:
            raise PageError(400, "파일이 없습니다.", "올리기 쪽에서 파일을 고르고 다시 보내세요.")
        if table not in TABLE_NAMES:
            kinds = " · ".join(TABLE_NAMES.values())
            raise PageError(400, "무슨 파일인지 고르지 않았습니다.", f"{kinds} 가운데 고르세요.")
        chunks = iter(lambda: file.file.read(CHUNK), b"")
        report, new = await run_in_threadpool(receive, settings, file.filename, cast(TableName, table), chunks)
    return RedirectResponse(f"/upload/{report.sha256}{'' if new else '?again=1'}", status_code=303)


def _too_large(settings: Settings) -> PageError:
    return PageError(
        413,
        f"파일이 {settings.upload_limit_mb:,} MB보다 큽니다.",
        "날짜별로 나누어 올리거나, 파일을 data/inbox/에 직접 넣거나, 설정 upload_limit_mb를 키우세요.",
    )


def status_page(request: Request) -> Response:
    """What was found in an upload, and how far it has come."""
    settings: Settings = request.app.state.settings
    report = _asked(request)
    number = read_page(request.query_params)
    pages = check_page(number, len(report.problems), PROBLEM_ROWS)
    start = (number - 1) * PROBLEM_ROWS
    with request.app.state.snapshots.read_if_any() as snapshot:
        progress = _progress(snapshot, settings, report)
        return render(
            request,
            snapshot,
            "uploaded.html",
            report=report,
            first_day=settings.first_day,
            table=TABLE_NAMES[report.table],
            again="again" in request.query_params,
            progress=progress,
            named=CHARACTERS_NAMED,
            named_text=UNBROKEN,
            without_card=_without_card(snapshot, settings, report),
            waiting=bool(report.sent_as) and not (progress["rejected"] or progress["done"]),
            can_be_sent=can_be_sent(settings, report),
            daemon=daemon_is_running(settings) if report.sent_as else None,
            problems=report.problems[start : start + PROBLEM_ROWS],
            number=number,
            last_page=pages,
        )


def _without_card(snapshot: Snapshot | None, settings: Settings, report: Report) -> dict[str, int]:
    """The characters without a card, as far as that can be told: before the first publication no card is known."""
    if snapshot is None:
        return {}
    sql = "SELECT character_id FROM character_card WHERE character_id IN (SELECT unnest($ids::VARCHAR[]))"
    return without_card(settings, report, lambda ids: {row["character_id"] for row in snapshot.rows(sql, {"ids": ids})})


def send_page(request: Request) -> Response:
    """Puts an upload into the inbox."""
    report = _asked(request)
    send(request.app.state.settings, report)
    return RedirectResponse(f"/upload/{report.sha256}", status_code=303)


def _asked(request: Request) -> Report:
    report = find(request.app.state.settings, request.path_params["sha256"])
    if report is None:
        raise PageError(404, "이런 업로드는 없습니다.", "올리기 쪽의 목록에서 고르세요.")
    return report


def _rejection(settings: Settings, report: Report) -> list[str]:
    """Why the inbox set a file aside, in Korean, with the names of files that people know."""
    lines = rejection(settings, report)[:REASON_LINES]
    return [with_labels(korean_error(line), settings.uploads, files=False) for line in lines]


def _progress(snapshot: Snapshot | None, settings: Settings, report: Report) -> dict[str, Any]:
    """How far an upload has come, as far as the newest snapshot tells."""
    told: dict[str, Any] = {"rejected": _rejection(settings, report), "read": False, "done": False, "noticed": []}
    if snapshot is None or report.sent_as is None:
        return told
    file = (Path(settings.inbox.name) / report.sent_as).as_posix()
    told["noticed"] = _noticed(snapshot, settings, report, file)
    told["read"] = bool(snapshot.rows("SELECT 1 FROM read_file WHERE file = $file", {"file": file}))
    if not told["read"]:
        return told
    if report.table != "chat_turn":
        [later] = snapshot.rows(
            """SELECT count(*) AS files FROM read_file WHERE "table" = $table AND file > $file""",
            {"table": report.table, "file": file},
        )
        return told | {"done": True, "later": later["files"]} | _judged_since(snapshot, report.sent_as)
    [counts] = snapshot.rows(
        """WITH turn AS (SELECT turn_id, day FROM chat_turn WHERE file = $file)
           SELECT (SELECT count(*) FROM turn) AS turns, min(day) AS first, max(day) AS last,
                  count(*) FILTER (day < $from) AS before, count(*) FILTER (day > $to) AS ahead,
                  (SELECT count(*) FROM verdict SEMI JOIN turn USING (turn_id)) AS judged,
                  (SELECT count(*) FROM unjudged SEMI JOIN turn USING (turn_id)) AS unjudged FROM turn""",
        {"file": file, "from": settings.first_day, "to": dt.datetime.now(KST).date()},
    )
    waiting = counts["turns"] - sum(counts[name] for name in ("judged", "unjudged", "before", "ahead"))
    return told | counts | {"waiting": max(0, waiting), "done": waiting <= 0}


def _judged_since(snapshot: Snapshot, sent_as: str) -> dict[str, Any]:
    """Whether anything was judged since a file was sent, and the newest run before that, if there was one."""
    sent = dt.datetime.strptime(Path(sent_as).name[:SENT], "%Y%m%dT%H%M%S%f").replace(tzinfo=dt.UTC)
    known = runs(snapshot)
    before = next((run.run_id for run in known if run.finished_at <= sent), "")
    return {"judged_since": any(run.finished_at > sent for run in known), "before": before}


def _noticed(snapshot: Snapshot, settings: Settings, report: Report, file: str) -> list[str]:
    """What only the run could tell of the file's rows, such as turns that other files have, too."""
    known = {(problem.line, problem.reason) for problem in report.problems}
    rows = snapshot.rows(
        f"SELECT line, reason FROM rejected_rows WHERE file = $file ORDER BY line, reason LIMIT {PROBLEM_ROWS}",
        {"file": file},
    )
    found = [row for row in rows if (row["line"], row["reason"]) not in known]
    told = [with_labels(korean(row["reason"]), settings.uploads, files=False) for row in found]
    lines = ["" if row["line"] is None else f":{row['line']}" for row in found]
    return [f"{report.name}{line} {reason}" for line, reason in zip(lines, told, strict=True)]
