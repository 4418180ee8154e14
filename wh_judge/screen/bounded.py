"""What is sent to the screen, up to a number of bytes."""

from starlette.requests import Request
from starlette.types import Message

from wh_judge.screen.errors import PageError

CHUNK = 1 << 20
"""Bytes that a form takes besides its file, at most."""
DRAINED = 4
"""Times the limit that are read on: a browser that is still sending shows no answer."""


async def bounded(request: Request, limit: int, too_large: PageError) -> Request:
    """The request, whose body is read as it comes in.

    Args:
        request: what is sent, whether or not it says how long it is.
        limit: bytes of the file in it.
        too_large: the error of a longer body.

    Raises:
        PageError: it says itself that it is longer.
    """
    if int(request.headers.get("content-length") or 0) > limit + CHUNK:
        await _drain(request, DRAINED * limit)
        raise too_large
    return Request(request.scope, _Bounded(request, limit, too_large))


class _Bounded:
    def __init__(self, request: Request, limit: int, too_large: PageError) -> None:
        self._request, self._limit, self._left, self._too_large = request, limit, limit + CHUNK, too_large

    async def __call__(self) -> Message:
        message = await self._request.receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            if message.get("more_body"):
                await _drain(self._request, DRAINED * self._limit)
            raise self._too_large
        return message


async def _drain(request: Request, most: int) -> None:
    while most > 0:
        message = await request.receive()
        most -= len(message.get("body", b""))
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            return
