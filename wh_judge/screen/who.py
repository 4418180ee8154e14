"""Who decides and labels: a cookie that holds nothing but the name, so that nobody writes it at each turn again."""

from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.responses import Response

from wh_judge.text import nfc

COOKIE = "wh_judge_by"
NAME_LIMIT = 60
"""Characters of a name that are kept."""
KEPT_SECONDS = 365 * 24 * 60 * 60


def who(request: Request) -> str:
    """The name that the address gives, else the one that this browser gave last; empty where there is none."""
    return cut(request.query_params.get("by", "")) or remembered(request)


def remembered(request: Request) -> str:
    """The name that this browser gave last; empty where there is none."""
    return cut(unquote(request.cookies.get(COOKIE, "")))


def cut(name: str) -> str:
    """A name as it is kept. What is no text for an answer, such as half a surrogate pair, is left out."""
    return nfc(name).encode("utf-8", "ignore").decode("utf-8").strip()[:NAME_LIMIT].strip()


def remember(response: Response, name: str) -> Response:
    """Have the browser keep the name; the next one that is given takes its place."""
    if name:
        response.set_cookie(COOKIE, quote(name), KEPT_SECONDS, httponly=True, samesite="strict", path="/")
    return response
