"""Errors as pages that say what happened and what to do, and in one JSON shape."""

from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Scope

from wh_judge.screen.render import ENVIRONMENT

_MACHINE = (".json", ".jsonl", ".csv")


class PageError(Exception):
    """What a reader did that cannot be answered: status, what happened, what to do. In Korean."""

    def __init__(self, status: int, what: str, remedy: str) -> None:
        super().__init__(what)
        self.status, self.what, self.remedy = status, what, remedy


def check_page(number: int, rows: int, page_rows: int) -> int:
    """How many pages a list of so many rows has, at least one; refuse a page behind the last.

    Raises:
        PageError: there are fewer pages.
    """
    pages = max(1, -(-rows // page_rows))
    if number > pages:
        raise PageError(404, f"{number}쪽은 없습니다. {pages}쪽까지 있습니다.", "앞 쪽에서 다시 고르세요.")
    return pages


def error_response(scope: Scope, status: int, what: str, remedy: str) -> Response:
    """The error as JSON where a machine asked, else as a page.

    The page leads to `back` of the request's state, where somebody set it, else to the list of verdicts. The JSON
    shape is `{"error": {"status": 404, "title": "Not Found", "what": "...", "remedy": "..."}}`.
    """
    title = HTTPStatus(status).phrase
    # What it quotes may be anything, also half of a surrogate pair, which no answer can hold.
    what, remedy = (text.encode(errors="replace").decode() for text in (what, remedy))
    if for_machine(scope):
        document = {"error": {"status": status, "title": title, "what": what, "remedy": remedy}}
        return JSONResponse(document, status_code=status)
    back = scope.get("state", {}).get("back")
    page = ENVIRONMENT.get_template("error.html").render(status=status, what=what, remedy=remedy, back=back)
    return HTMLResponse(page, status_code=status)


def for_machine(scope: Scope) -> bool:
    """Whether a program asks, and not a person with a browser."""
    accepts = Headers(scope=scope).get("accept", "")
    return scope["path"].endswith(_MACHINE) or ("application/json" in accepts and "text/html" not in accepts)
