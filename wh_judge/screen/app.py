"""The application: addresses and what answers them."""

import errno
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from zlib import crc32

import duckdb
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from wh_judge import __version__
from wh_judge.errors import DiskError, UserError
from wh_judge.review.book import BOOK, DamagedBook, book_of
from wh_judge.screen import (
    arena,
    changes,
    drafts,
    evaluations,
    export,
    probes,
    profiles,
    review,
    review_files,
    static_pages,
    trees,
    turns,
    upload_pages,
    verdicts,
)
from wh_judge.screen.decided import fault_told
from wh_judge.screen.errors import PageError, error_response
from wh_judge.screen.filters import LIST
from wh_judge.screen.guard import Access, Guard
from wh_judge.screen.query import Answer, asked_for
from wh_judge.screen.reasons import korean_error
from wh_judge.screen.snapshots import Snapshot, SnapshotError, Snapshots
from wh_judge.screen.voted import Voted
from wh_judge.screen.warm import kept_warm
from wh_judge.screen.who import remembered
from wh_judge.settings import Settings

_LOG = logging.getLogger(__name__)

Page = Callable[[Request, Snapshot], Response]


class _Guarded(Starlette):
    """The guard stands before all else, so that the answer to a failure has its headers, too."""

    def build_middleware_stack(self) -> ASGIApp:
        return Guard(super().build_middleware_stack(), self.state.access)


@asynccontextmanager
async def _serving(app: Starlette) -> AsyncIterator[None]:
    with kept_warm(app.state.snapshots):
        yield
    app.state.snapshots.close()


def create_app(settings: Settings, access: Access | None = None) -> Starlette:
    """The screen over the snapshots of a data folder."""
    app = _Guarded(
        routes=[
            _page("/", static_pages.home),
            _page("/verdicts", _reading(verdicts.page), *LIST),
            _page("/verdicts.{suffix}", export.page, *LIST),
            _page("/turn", _reading(turns.turn_page), "id", "written", "by"),
            _page("/turn.json", _reading(turns.turn_document), "id"),
            _page("/tree", _reading(trees.tree_page), "id"),
            _page("/tree.json", _reading(trees.tree_document), "id"),
            _page("/session", _reading(turns.session_page), "id", "turn", "page"),
            _page("/prompt", _reading(turns.prompt_page), "id", "page"),
            _page("/grading", _reading(evaluations.grading_page)),
            _page("/checks", _reading(evaluations.checks_page), "code", "page"),
            _page("/models", _reading(evaluations.models_page), "page"),
            _page("/profiles", _reading(profiles.page), "pair"),
            _page("/arena", arena.arena_page, "by"),
            Route("/arena", arena.vote_page, methods=["POST"]),
            _page("/ratings", _reading(arena.ratings_page)),
            _page("/probes", _reading(probes.page), "family", "page"),
            _page("/drafts", _reading(drafts.page), "model", "reason", "page"),
            _page("/review", review.page, *review.ASKED),
            Route("/review", review.decide_page, methods=["POST"]),
            Route("/review/take", review_files.take_page, methods=["POST"]),
            _page("/review.{suffix}", review_files.tasks_file, "tab", "week"),
            _page("/labels.{suffix}", review_files.labels_file),
            _page("/changes", _reading(changes.page), "since", "until", "page"),
            _page("/notes", _reading(static_pages.notes)),
            _page("/example", _reading(static_pages.example), "session"),
            _page("/upload", upload_pages.form_page),
            Route("/upload", upload_pages.receive_page, methods=["POST"]),
            _page("/upload/{sha256}", upload_pages.status_page, "again", "page"),
            Route("/upload/{sha256}/send", upload_pages.send_page, methods=["POST"]),
            Mount("/static", StaticFiles(directory=str(files("wh_judge.screen") / "static"))),
        ],
        lifespan=_serving,
        exception_handlers={
            PageError: _page_error,
            DamagedBook: _damaged_book,
            DiskError: _kept_file_error,
            UserError: _user_error,
            HTTPException: _http_error,
            SnapshotError: _snapshot_error,
            duckdb.Error: _snapshot_error,
            OSError: _disk_error,
            Exception: _any_error,
        },
    )
    app.state.access = access or Access()
    app.state.settings = settings
    app.state.offers = arena.Offers()
    app.state.voted = Voted(settings)
    app.state.snapshots = Snapshots(Path(settings.published))
    return app


def _page(path: str, page: Answer, *known: str) -> Route:
    """A page at a path, with the parameters that its address may have."""
    return Route(path, asked_for(page, *known))


def _reading(page: Page) -> Answer:
    """A page over one snapshot. A browser that has it of the same snapshot is told so instead."""

    def respond(request: Request) -> Response:
        with request.app.state.snapshots.read() as snapshot:
            if snapshot is None:
                return static_pages.nothing_published(request)
            book = _state(book_of(request.app.state.settings.data))
            by = crc32(remembered(request).encode())
            tag = f'"{snapshot.id}-{__version__}-{book}-{by:x}"'
            known = request.headers.get("if-none-match", "").split(",")
            if tag in [one.strip().removeprefix("W/") for one in known]:
                return PlainTextResponse(status_code=304, headers={"ETag": tag})
            response = page(request, snapshot)
            response.headers["ETag"] = tag
            response.headers["Cache-Control"] = "private, no-cache"
            return response

    return respond


def _state(book: Path) -> str:
    """What tells a book from what it was before: decisions make it longer, and who mends it may leave its length."""
    try:
        found = book.stat()
    except OSError:
        return "0"
    return f"{found.st_size}-{found.st_mtime_ns}"


_FAULTS = {
    400: "보낸 양식을 읽지 못했습니다. 파일은 하나씩, 이름은 짧게, 화면에 있는 양식으로 보내세요.",
    405: "이 주소는 이 방법으로 부를 수 없습니다.",
}
"""What Starlette refuses; its own words are English."""


def _page_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, PageError)
    return error_response(request.scope, error.status, error.what, error.remedy)


def _user_error(request: Request, error: Exception) -> Response:
    sent = request.method == "POST"
    remedy = "앞 쪽으로 돌아가 고치고 다시 보내세요." if sent else "주소를 고치거나 목록에서 다시 고르세요."
    return error_response(request.scope, 400, korean_error(str(error)), remedy)


def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return error_response(request.scope, 404, "이런 쪽은 없습니다.", "위의 메뉴에서 고르세요.")
    what = _FAULTS.get(error.status_code, f"이 요청을 받지 못했습니다. (HTTP {error.status_code})")
    return error_response(request.scope, error.status_code, what, "앞 쪽으로 돌아가 다시 해 보세요.")


def _snapshot_error(request: Request, error: Exception) -> Response:
    _LOG.error("the published snapshot cannot be read: %s", error)
    what = "공개된 판정을 읽지 못했습니다. 다른 판의 wh-judge가 만들었거나 파일이 상했습니다."
    remedy = "data/published/ 안의 스냅샷을 지우고 `wh-judge run`으로 다시 공개하세요."
    return error_response(request.scope, 503, what, remedy)


def _damaged_book(request: Request, error: Exception) -> Response:
    assert isinstance(error, DamagedBook)
    _LOG.error("%s", error)
    what = f"{fault_told(error.fault)} 결정은 아무것도 적지 않았습니다."
    return error_response(request.scope, 503, what, f"{BOOK}은 데이터 폴더에 있습니다. 그 줄을 손본 뒤 다시 보내세요.")


def _kept_file_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, DiskError)
    return _disk_error(request, error.error)


_DISK = {
    errno.ENOSPC: "디스크에 남은 자리가 없습니다",
    errno.EDQUOT: "쓸 수 있는 용량을 다 썼습니다",
    errno.EFBIG: "파일이 더 커질 수 없습니다",
    errno.EROFS: "읽기만 되는 디스크입니다",
    errno.EACCES: "권한이 없습니다",
    errno.EPERM: "권한이 없습니다",
    errno.EIO: "디스크가 고장 났을 수 있습니다",
}
"""What the system says of a disk; its own words are English."""


def _disk_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, OSError)
    _LOG.error("%s", error)
    why = _DISK.get(error.errno or 0, error.strerror)
    what = f"데이터 폴더를 쓰거나 읽지 못했습니다. ({why}) 보낸 것은 적히지 않았고, 있던 것은 그대로입니다."
    if request.method != "POST":
        what = f"데이터 폴더를 쓰거나 읽지 못했습니다. ({why})"
    return error_response(request.scope, 503, what, "남은 자리와 쓸 권한을 확인하고 다시 해 보세요.")


def _any_error(request: Request, _error: Exception) -> Response:
    what = "화면이 이 요청을 처리하지 못했습니다."
    return error_response(request.scope, 500, what, "`wh-judge screen`을 띄운 창에 까닭이 적혀 있습니다.")
