"""The evidence tree of a turn, made when it is asked for."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from wh_judge.errors import UserError
from wh_judge.evaluation.tree import EvidenceTree, evidence_tree
from wh_judge.screen.errors import PageError
from wh_judge.screen.render import render
from wh_judge.screen.snapshots import Snapshot
from wh_judge.screen.turns import asked
from wh_judge.store.tree import read_case

OUTCOMES = {"passed": "통과", "failed": "실패", "not applicable": "해당 없음"}


def tree_page(request: Request, snapshot: Snapshot) -> Response:
    """Which checks apply and why, what each asked, and what the answers rest on."""
    return render(request, snapshot, "tree.html", tree=_tree(request, snapshot), outcomes=OUTCOMES)


def tree_document(request: Request, snapshot: Snapshot) -> Response:
    """The same as JSON."""
    return JSONResponse(_tree(request, snapshot).model_dump())


def _tree(request: Request, snapshot: Snapshot) -> EvidenceTree:
    turn_id = asked(request)
    try:
        with snapshot.cursor() as cursor:
            case, verdict = read_case(cursor, turn_id)
    except UserError:
        raise PageError(
            404, f"{turn_id}: 판정된 회차가 아닙니다.", "turn_id를 확인하거나 판정 목록에서 찾으세요."
        ) from None
    return evidence_tree(case, verdict)
