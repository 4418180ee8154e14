"""One turn, one conversation, and the replies of several models to one prompt."""

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from wh_judge.model import VERDICT_SCHEMA, VERDICTS, verdict_document, verdict_from_record
from wh_judge.review.decisions import Decision, in_force
from wh_judge.review.korean import decision
from wh_judge.screen.changes import decisions_by_id, told
from wh_judge.screen.decided import damaged, read, written_down
from wh_judge.screen.drafts import OUTCOMES, RAW_SHOWN, cells_in, drafts_of
from wh_judge.screen.errors import PageError, check_page
from wh_judge.screen.filters import read_page
from wh_judge.screen.listing import character_names
from wh_judge.screen.render import render
from wh_judge.screen.rows import FULL_TEXT, judged
from wh_judge.screen.snapshots import Snapshot
from wh_judge.screen.who import remember, who
from wh_judge.store.schema import names
from wh_judge.text import nfc

SESSION_ROWS = 50


def turn_page(request: Request, snapshot: Snapshot) -> Response:
    """All that is known of a turn: what was said, verdict and evidence, what models wrote, the card, what changed."""
    turn_id = asked(request)
    of_turn = {"id": turn_id}
    found = judged(snapshot, "turn_id = $id", of_turn, full=True)
    if not found:
        raise PageError(404, f"{turn_id}: 이런 회차는 없습니다.", "turn_id를 확인하거나 판정 목록에서 찾으세요.")
    row = found[0]
    book, faults = read(request)
    near = snapshot.rows(
        """SELECT unnest([before, after]) AS turn_id, unnest([-1, 1]) AS step FROM (
               SELECT turn_id, lag(turn_id) OVER later AS before, lead(turn_id) OVER later AS after
               FROM chat_turn WHERE session_id = $session WINDOW later AS (ORDER BY length(turn_id), turn_id))
           WHERE turn_id = $id""",
        of_turn | {"session": row["session_id"]},
    )
    evidence = row.get("evidence") or []
    cards = snapshot.rows("SELECT * FROM character_card WHERE character_id = $id", {"id": row["character_id"]})
    by = who(request)
    shown = render(
        request,
        snapshot,
        "turn.html",
        row=row,
        card=cards[0] if cards else None,
        near={step["step"]: step["turn_id"] for step in near},
        changes=[
            told(change, decisions_by_id(snapshot))
            for change in snapshot.rows(
                "SELECT * FROM verdict_change WHERE turn_id = $id ORDER BY changed_at DESC", of_turn
            )
        ],
        versions=snapshot.rows(
            """SELECT verdict, summary, run_id, written_at, until_run, until_at FROM verdict_history
               WHERE turn_id = $id ORDER BY written_at DESC""",
            of_turn,
        ),
        failed=snapshot.rows("SELECT code, reason, run_id FROM failed_row WHERE turn_id = $id ORDER BY code", of_turn),
        labels=snapshot.rows("SELECT verdict, note FROM gold_label WHERE turn_id = $id", of_turn),
        drafts=drafts_of(snapshot, turn_id, evidence),
        outcomes=OUTCOMES,
        raw_shown=RAW_SHOWN,
        own_cells=cells_in(row.get("summary") or "", evidence),
        full_text=FULL_TEXT,
        verdicts=VERDICTS,
        decided=_decided(snapshot, book, row),
        damaged=damaged(faults),
        told=written_down(book, request.query_params.get("written")),
        by=by,
    )
    return remember(shown, by)


def _decided(snapshot: Snapshot, book: Sequence[Decision], row: dict[str, Any]) -> list[dict[str, Any]]:
    """What people decided of a turn, as the book says now: its labels, its names, its term. Names that are canon by now
    count, too."""
    [found] = snapshot.rows("SELECT named_entities FROM chat_turn WHERE turn_id = $id", {"id": row["turn_id"]})
    names, term = found["named_entities"] or [], (row.get("touched_term"), row.get("touched_topic"))
    return [
        {"row": one, "shown": decision(one)}
        for one in in_force(book)
        if one.turn_id == row["turn_id"]
        or (one.kind == "name" and one.character_id == row["character_id"] and one.name in names)
        or (one.kind == "term" and (one.term, one.topic) == term)
    ]


def turn_document(request: Request, snapshot: Snapshot) -> Response:
    """The verdict of a turn in the output schema."""
    turn_id = asked(request)
    found = snapshot.rows(f"SELECT {names(VERDICT_SCHEMA)} FROM verdict WHERE turn_id = $id", {"id": turn_id})
    if not found:
        raise PageError(404, f"{turn_id}: 이 회차에는 판정이 없습니다.", "turn_id를 확인하세요.")
    return JSONResponse(verdict_document(verdict_from_record(found[0])))


def session_page(request: Request, snapshot: Snapshot) -> Response:
    """A conversation, with a verdict at each reply: a page that is asked for by its number or by a turn on it."""
    session_id, number = asked(request), read_page(request.query_params)
    of_session = {"id": session_id}
    [facts] = snapshot.rows(
        """SELECT count(*) AS turns, min(turn_at) AS first_at, max(turn_at) AS last_at,
                  any_value(character_id) AS character_id
           FROM chat_turn WHERE session_id = $id""",
        of_session,
    )
    if not facts["turns"]:
        raise PageError(404, f"{session_id}: 이런 대화는 없습니다.", "session_id를 확인하거나 판정 목록에서 찾으세요.")
    if "page" not in request.query_params and (turn_id := nfc(request.query_params.get("turn", ""))):
        number = _page_of(snapshot, session_id, turn_id)
    pages = check_page(number, facts["turns"], SESSION_ROWS)
    return render(
        request,
        snapshot,
        "session.html",
        session_id=session_id,
        facts=facts,
        rows=conversation(snapshot, session_id, number),
        names_of=character_names(snapshot),
        number=number,
        last_page=pages,
    )


def _page_of(snapshot: Snapshot, session_id: str, turn_id: str) -> int:
    """The page of a conversation on which a turn stands; the first where it is none of its turns."""
    [row] = snapshot.rows(
        """SELECT count(*) FILTER ((length(turn_id), turn_id) < (length($turn), $turn)) AS before,
                  bool_or(turn_id = $turn) AS there
           FROM chat_turn WHERE session_id = $id""",
        {"id": session_id, "turn": turn_id},
    )
    return int(row["before"]) // SESSION_ROWS + 1 if row["there"] else 1


def conversation(snapshot: Snapshot, session_id: str, number: int = 1) -> list[dict[str, Any]]:
    """A page of a conversation, with a verdict at each reply."""
    return judged(snapshot, "session_id = $id", {"id": session_id}, _page(number))


def _page(number: int) -> str:
    return f"LIMIT {SESSION_ROWS} OFFSET {(number - 1) * SESSION_ROWS}"


def prompt_page(request: Request, snapshot: Snapshot) -> Response:
    """The replies to one prompt side by side."""
    prompt_id = asked(request)
    [found] = snapshot.rows("SELECT count(*) AS turns FROM chat_turn WHERE prompt_id = $id", {"id": prompt_id})
    if not found["turns"]:
        raise PageError(404, f"{prompt_id}: 이런 프롬프트는 없습니다.", "모델 쪽의 목록에서 고르세요.")
    number = read_page(request.query_params)
    pages = check_page(number, found["turns"], SESSION_ROWS)
    rows = judged(snapshot, "prompt_id = $id", {"id": prompt_id}, _page(number))
    return render(
        request,
        snapshot,
        "prompt.html",
        prompt_id=prompt_id,
        rows=rows,
        names_of=character_names(snapshot),
        number=number,
        last_page=pages,
    )


def asked(request: Request) -> str:
    asked = nfc(request.query_params.get("id", ""))
    if not asked:
        raise PageError(400, "무엇을 볼지 주소에 없습니다.", "주소 끝에 ?id=… 를 붙이거나 목록에서 고르세요.")
    return asked
