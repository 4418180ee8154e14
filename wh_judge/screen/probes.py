"""What models made of prompts that try a card."""

from starlette.requests import Request
from starlette.responses import Response

from wh_judge.probes.case import FAMILIES, FAMILY_NAMES
from wh_judge.screen.errors import PageError, check_page
from wh_judge.screen.evaluations import evaluation
from wh_judge.screen.filters import read_page
from wh_judge.screen.render import render
from wh_judge.screen.snapshots import Snapshot

ANSWER_ROWS = 50


def page(request: Request, snapshot: Snapshot) -> Response:
    """By family and model what was expected and what came, and the answers of one family."""
    found = evaluation(snapshot, "probe_results")
    family, number = request.query_params.get("family", ""), read_page(request.query_params)
    if family and family not in FAMILIES:
        raise PageError(404, f"{family}: 이런 계열은 없습니다.", "시험 문항 쪽의 표에서 고르세요.")
    answers = [entry for entry in found["document"]["answers"] if entry["family"] == family] if found else []
    pages = check_page(number, len(answers), ANSWER_ROWS)
    return render(
        request,
        snapshot,
        "probes.html",
        found=found,
        names={code: korean for code, (korean, _) in FAMILY_NAMES.items()},
        family=family,
        answers=answers[(number - 1) * ANSWER_ROWS : number * ANSWER_ROWS],
        number=number,
        last_page=pages,
    )
