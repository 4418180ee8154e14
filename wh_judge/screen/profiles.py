"""What each model is good at, axis by axis."""

from starlette.requests import Request
from starlette.responses import Response

from wh_judge.evaluation.scores import AXES, AXIS_NAMES
from wh_judge.screen.errors import PageError
from wh_judge.screen.evaluations import evaluation
from wh_judge.screen.render import render
from wh_judge.screen.snapshots import Snapshot

OVERALL = "overall"
SHAPES = ("circle", "square", "diamond", "triangle")
"""Models are told apart by shape and name, not by colour alone; beyond these the table tells."""


def page(request: Request, snapshot: Snapshot) -> Response:
    """The profiles as a dot plot and a table, correlations of the axes, and two models compared prompt by prompt."""
    found = evaluation(snapshot, "capability_profiles")
    pairs = found["document"]["differences"] if found else []
    names = [f"{_word(pair['first'])} {_word(pair['second'])}" for pair in pairs]
    asked = request.query_params.get("pair") or (names[0] if names else "")
    if asked and asked not in names:
        raise PageError(404, "이런 두 모델의 비교는 없습니다.", "역량 쪽의 목록에서 고르세요.")
    return render(
        request,
        snapshot,
        "profiles.html",
        found=found,
        axes=[*AXES, OVERALL],
        axis_names={axis: korean for axis, (korean, _) in AXIS_NAMES.items()} | {OVERALL: "모두"},
        pairs=dict(zip(names, pairs, strict=True)),
        asked=asked,
        shapes=SHAPES,
    )


def _word(model: str) -> str:
    """The name without a blank, so that a blank between two names parts them in one way only."""
    return model.replace("%", "%25").replace(" ", "%20")
