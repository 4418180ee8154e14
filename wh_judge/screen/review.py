"""The review loop: what people look at, what they decide, and what their decisions would change.

Decisions are written into the book beside the data; the next run makes them count. `review_tabs` makes what the tabs
show, `review_files` what goes out and comes back in.
"""

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from wh_judge import strict_json
from wh_judge.review.decisions import Decision
from wh_judge.review.known import Given, check_endings, decide
from wh_judge.review.korean import CHOICES, KINDS
from wh_judge.screen.decided import KNOWN, damaged, read, written_down
from wh_judge.screen.errors import PageError
from wh_judge.screen.render import render
from wh_judge.screen.review_asked import asked_in, count, drafted, lines_of, weeks_of
from wh_judge.screen.review_tabs import TABS
from wh_judge.screen.who import cut, remember, who
from wh_judge.settings import configured_rules, reading_settings

_FIELDS = ("kind", "choice", "why", "turn_id", "character_id", "name", "term", "topic", "ending", "undoes")

ASKED = (
    *("tab", "by", "week", "written", "at", "taken", "page", "kind", "who", "decision", "term", "topic", "instead"),
    "ending",
)
"""What the address of the page may ask for."""


def page(request: Request) -> Response:
    """A queue, the proposals, or the decisions so far."""
    query, by = request.query_params, who(request)
    tab = query.get("tab", "names")
    if "ending" in query:
        # What is no ending may be written anew where it was written.
        request.state.back = address(tab, week=query.get("week", ""), by=by, at=query.get("at", ""))
    if tab not in TABS:
        raise PageError(404, "이런 검토 목록은 없습니다.", "검토 쪽의 탭에서 고르세요.")
    decisions, faults = read(request)
    with request.app.state.snapshots.read() as snapshot:
        asked = asked_in(request, snapshot, decisions)
        shown = render(
            request,
            asked.snapshot,
            TABS[tab].template,
            tab=tab,
            tabs={name: one.title for name, one in TABS.items()},
            week=asked.week,
            weeks=weeks_of(asked.snapshot),
            by=by,
            choices=CHOICES,
            kinds_of=KINDS,
            damaged=damaged(faults),
            taken=count(query.get("taken", "")),
            told=written_down(decisions, query.get("written")),
            **TABS[tab].content(asked, tab),
        )
        return remember(shown, by)


async def decide_page(request: Request) -> Response:
    """Writes one decision down and leads back to where it was made."""
    async with request.form(max_files=0, max_fields=len(_FIELDS) + 5) as form:
        cells: dict[str, Any] = {name: _cell(form, name) for name in _FIELDS}
        cells["instead"] = lines_of(_cell(form, "instead"))
        by, back = cut(str(form.get("by", ""))), str(form.get("tab", "decisions"))
        week, at = str(form.get("week", "")), str(form.get("at", ""))
    of_turn = back == "turn" and cells["turn_id"]
    request.state.back = (
        f"/turn?{urlencode({'id': cells['turn_id']})}" if of_turn else address(back, week=week, by=by, at=at)
    )
    if not by:
        raise PageError(400, "누가 결정했는지 없습니다.", "이름을 적고 다시 누르세요.")
    draft = drafted(cells | {"by": by})
    given = [Given(draft, CHOICES.get(draft.choice, draft.choice))]
    rows = await run_in_threadpool(write, request, given)
    written = rows[0].decision_id if rows else KNOWN
    if of_turn:
        to = f"/turn?{urlencode({'id': draft.turn_id, 'written': written})}#written"
    else:
        to = f"{address(back, week=week, by=by, written=written, at=at)}#written"
    return remember(RedirectResponse(to, status_code=303), by)


def address(tab: str, **asked: str) -> str:
    """A tab of the review; the decisions where it is none."""
    query = {"tab": tab if tab in TABS else "decisions"} | {name: text for name, text in asked.items() if text}
    return f"/review?{urlencode(query)}"


def _cell(form: FormData, name: str) -> str:
    """What a form gives for a field: as JSON where a browser would not send the text as it is."""
    with suppress(ValueError):
        return str(strict_json.decode(str(form[f"{name}.json"]))) if f"{name}.json" in form else str(form.get(name, ""))
    return ""


def write(request: Request, given: Sequence[Given]) -> list[Decision]:
    """Write decisions down, all of them or none.

    Raises:
        UserError: one of them is about what does not exist, or could never count.
    """
    data = str(request.app.state.settings.data)
    check_endings(given, configured_rules(data=data), ignoring=reading_settings(data=data).ignore_trailing)
    with ExitStack() as stack:
        snapshot = stack.enter_context(request.app.state.snapshots.read())
        cursor = stack.enter_context(snapshot.cursor()) if snapshot else None
        return decide(cursor, request.app.state.settings.data, given)
