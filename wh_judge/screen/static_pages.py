"""Pages that need little of the log: the way in, the example conversation, the notes, and the first start."""

from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from wh_judge.screen.errors import error_response, for_machine
from wh_judge.screen.render import render
from wh_judge.screen.snapshots import Snapshot
from wh_judge.screen.turns import conversation

EXAMPLE_SESSIONS = 12
NOTHING_PUBLISHED = "아직 공개된 판정이 없습니다."


def home(request: Request) -> Response:
    """To the example until something was uploaded, then to the list."""
    uploaded = any(request.app.state.settings.uploads.glob("*/report.json"))
    return RedirectResponse("/verdicts" if uploaded else "/example")


def example(request: Request, snapshot: Snapshot) -> Response:
    """A public character's past conversations, so that one can see how the screen works."""
    character, sessions = shown_example(snapshot)
    rows: list[dict[str, Any]] = []
    session_id = ""
    if character:
        known = [session["session_id"] for session in sessions]
        asked = request.query_params.get("session", "")
        session_id = asked if asked in known else known[0]
        rows = conversation(snapshot, session_id)
    return render(
        request,
        snapshot,
        "example.html",
        character=character,
        sessions=sorted(sessions, key=lambda session: (session["day"], session["session_id"])),
        session_id=session_id,
        rows=rows,
    )


def shown_example(snapshot: Snapshot) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """The public character that is shown, None where no card is public, and its conversations."""
    public = snapshot.cached("public", lambda: _public(snapshot))
    if not public:
        return None, []
    return public[0], snapshot.cached("example", lambda: _sessions(snapshot, public[0]["character_id"]))


def _public(snapshot: Snapshot) -> list[dict[str, Any]]:
    """The public character that was spoken with most, as its card stands."""
    return snapshot.rows(
        """SELECT card.*, turns FROM character_card AS card
           JOIN (SELECT character_id, count(*) AS turns FROM chat_turn GROUP BY character_id) USING (character_id)
           WHERE public ORDER BY turns DESC, character_id LIMIT 1"""
    )


def _sessions(snapshot: Snapshot, character_id: str) -> list[dict[str, Any]]:
    """Its conversations, first those in which most kinds of verdicts stand."""
    return snapshot.rows(
        f"""SELECT session_id, min(day) AS day, count(*) AS turns, count(DISTINCT verdict) AS kinds
            FROM chat_turn LEFT JOIN (SELECT turn_id, verdict FROM verdict WHERE character_id = $id) USING (turn_id)
            WHERE character_id = $id GROUP BY session_id
            ORDER BY kinds DESC, turns DESC, session_id LIMIT {EXAMPLE_SESSIONS}""",
        {"id": character_id},
    )


def notes(request: Request, snapshot: Snapshot) -> Response:
    """What is automatic, what people must check, and what the judge does not claim."""
    return render(request, snapshot, "notes.html")


def nothing_published(request: Request) -> Response:
    """Before the first run there is nothing to read."""
    if for_machine(request.scope):
        return error_response(request.scope, 503, NOTHING_PUBLISHED, "`wh-judge run`을 먼저 실행하세요.")
    response = render(request, None, "nothing.html")
    response.status_code = 503
    return response
