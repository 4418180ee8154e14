"""What a page can be asked for. A parameter that it does not know is told, not passed over: else a reader would take a
list for narrowed down that is not."""

from collections.abc import Callable
from difflib import get_close_matches

from starlette.requests import Request
from starlette.responses import Response

from wh_judge.screen.errors import PageError
from wh_judge.screen.words import particle

Answer = Callable[[Request], Response]

EVERYWHERE = ("token",)
"""Known to every page: a link of a screen that asks for a token may be opened on one that does not."""
NAMED = 5
"""Unknown parameters that an error names."""
NAME_SHOWN = 60
"""Characters of a name that an error shows."""


def asked_for(page: Answer, *known: str) -> Answer:
    """The page, which refuses every parameter but these."""

    def respond(request: Request) -> Response:
        check_names(list(request.query_params), known)
        return page(request)

    return respond


def check_names(given: list[str], known: tuple[str, ...]) -> None:
    """Refuse names that are not known.

    Raises:
        PageError: 400, with what is not known, what may be meant, and what is known.
    """
    unknown = [name for name in given if name not in known and name not in EVERYWHERE]
    if not unknown:
        return
    named = ", ".join(name[:NAME_SHOWN] for name in unknown[:NAMED])
    more = f" 외 {len(unknown) - NAMED}개" if len(unknown) > NAMED else ""
    close = get_close_matches(unknown[0][:NAME_SHOWN], known, n=1)
    meant = f"{close[0]}{particle(close[0], '을/를')} 쓰려던 것인가요? " if close else ""
    offered = f"이 쪽이 아는 조건은 {' · '.join(known)}입니다." if known else "이 쪽은 조건을 받지 않습니다."
    raise PageError(400, f"이 쪽이 모르는 조건입니다: {named}{more}", meant + offered)
