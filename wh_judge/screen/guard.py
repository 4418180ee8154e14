"""What stands before every page: which hosts it answers to, who may send, and what a browser may do with an answer."""

import hmac
import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wh_judge.screen.errors import error_response

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
COOKIE = "wh_judge_token"
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


@dataclass(frozen=True)
class Access:
    """Who is answered."""

    hosts: tuple[str, ...] = LOOPBACK
    """Names that a request may give as its host, without a port; `*` for any. Others are refused, so that a foreign
    page cannot reach the screen through a name of its own that leads to this machine."""
    token: str | None = None
    """Asked for where others than this machine can reach the screen."""


class Guard:
    """ASGI middleware: refuses what may not come in, and adds headers to all that goes out."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                out = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    out[name] = value
                # A style sheet is asked for again, and mostly not sent again; what an error says is not kept.
                out.setdefault("Cache-Control", "no-cache" if "etag" in out else "no-store")
            await send(message)

        refusal = self._refusal(scope, headers)
        if refusal:
            status, what, remedy = refusal
            await error_response(scope, status, what, remedy)(scope, receive, send_guarded)
        elif entered := self._entering(scope):
            await entered(scope, receive, send_guarded)
        else:
            await self._app(scope, receive, send_guarded)

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str, str] | None:
        host = _without_port(headers.get("host", ""))
        if "*" not in self._access.hosts and host not in self._access.hosts:
            return 400, "이 주소로는 열 수 없습니다.", "`wh-judge screen`이 알려 준 주소로 여세요."
        if scope["method"] not in ("GET", "HEAD") and not _same_origin(headers):
            return 403, "다른 사이트에서 보낸 요청이라 받지 않았습니다.", "이 화면을 새로 열어 거기서 보내세요."
        if self._access.token and not self._known(scope, headers):
            return 401, "토큰이 있어야 볼 수 있습니다.", "`wh-judge screen`이 알려 준 주소(`?token=…`)로 여세요."
        return None

    def _known(self, scope: Scope, headers: Headers) -> bool:
        given = [_token_of(scope), headers.get("authorization", "").removeprefix("Bearer "), _cookie(headers)]
        wanted = (self._access.token or "").encode()
        return any(hmac.compare_digest(token.encode(), wanted) for token in given if token)

    def _entering(self, scope: Scope) -> RedirectResponse | None:
        """A token in the address becomes a cookie, so that it stands in no link, history or log after that."""
        if not self._access.token or scope["method"] != "GET" or not _token_of(scope):
            return None
        query = {name: values for name, values in _query(scope).items() if name != "token"}
        # A path that begins with // would lead to another host.
        path = "/" + scope["path"].lstrip("/\\")
        response = RedirectResponse(f"{path}?{urlencode(query, doseq=True)}".rstrip("?"), status_code=303)
        response.set_cookie(COOKIE, self._access.token, httponly=True, samesite="strict", path="/")
        return response


def _query(scope: Scope) -> dict[str, list[str]]:
    return parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)


def _token_of(scope: Scope) -> str:
    return _query(scope).get("token", [""])[0]


def _cookie(headers: Headers) -> str:
    """By hand: `SimpleCookie` gives up at the first cookie of anybody else's that it does not like."""
    pairs = (pair.strip().partition("=") for header in headers.getlist("cookie") for pair in header.split(";"))
    return next((value.strip('"') for name, _, value in pairs if name == COOKIE), "")


def _without_port(host: str) -> str:
    found = _HOST.fullmatch(host)
    return found[1].lower() if found else ""


_HOST = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::\d*)?")


def _same_origin(headers: Headers) -> bool:
    """Whether a page of this very screen sent it, or no page at all, such as curl."""
    if not set(headers.getlist("sec-fetch-site")) <= {"same-origin", "none"}:
        return False
    origins = headers.getlist("origin")
    try:
        return all(urlsplit(origin).netloc == headers.get("host", "") for origin in origins)
    except ValueError:
        return False
