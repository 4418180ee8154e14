"""What changed since an earlier run, or between two runs, and why."""

import json
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from wh_judge.causes import DECIDED
from wh_judge.screen.errors import PageError, check_page
from wh_judge.screen.filters import read_page
from wh_judge.screen.listing import run_time, runs_offered
from wh_judge.screen.render import render
from wh_judge.screen.snapshots import Snapshot

CHANGE_ROWS = 50
CAUSES_SHOWN = 20

_NET = """
WITH step AS (
    SELECT * FROM verdict_change
    WHERE ($since::TIMESTAMPTZ IS NULL OR changed_at > $since) AND ($until::TIMESTAMPTZ IS NULL OR changed_at <= $until)
), net AS (
    SELECT turn_id, max(day) AS day, max(changed_at) AS changed_at, arg_max(run_id, changed_at) AS run_id,
           list(verdict_before ORDER BY changed_at)[1] AS verdict_before,
           list(verdict_after ORDER BY changed_at)[-1] AS verdict_after,
           list(fields_before::VARCHAR ORDER BY changed_at)[1] AS fields_before,
           list(fields_after::VARCHAR ORDER BY changed_at)[-1] AS fields_after,
           list_distinct(flatten(list(cells ORDER BY changed_at))) AS cells,
           count(*) AS steps
    FROM step GROUP BY turn_id HAVING fields_before IS DISTINCT FROM fields_after
)
"""
"""What is left of the changes between two moments: a turn that is again as it was has not changed."""


class Difference(NamedTuple):
    """A field of a verdict before and after."""

    field: str
    before: Any
    after: Any


def page(request: Request, snapshot: Snapshot) -> Response:
    """The turns that are not as they were, each with its verdicts and the cells that did it."""
    since, until = (request.query_params.get(name, "") for name in ("since", "until"))
    number = read_page(request.query_params)
    moments = {"since": _moment(snapshot, since), "until": _moment(snapshot, until)}
    if moments["since"] and moments["until"] and moments["since"] > moments["until"]:
        raise PageError(400, "앞 실행이 뒤 실행보다 늦습니다.", "두 실행을 바꾸어 고르세요.")
    overview = snapshot.cached(("changes", since, until), lambda: _overview(snapshot, moments))
    pages = max(1, -(-overview["turns"] // CHANGE_ROWS))
    check_page(number, pages)
    rows = snapshot.rows(
        f"""{_NET} SELECT * FROM net ORDER BY changed_at DESC, length(turn_id), turn_id
            LIMIT {CHANGE_ROWS} OFFSET {(number - 1) * CHANGE_ROWS}""",
        moments,
    )
    return render(
        request,
        snapshot,
        "changes.html",
        since=since,
        until=until,
        overview=overview,
        rows=[told(row) for row in rows],
        runs=runs_offered(snapshot, since, until),
        number=number,
        last_page=pages,
    )


def told(change: dict[str, Any]) -> dict[str, Any]:
    """A change with the fields that differ."""
    before, after = (json.loads(change[side] or "null") or {} for side in ("fields_before", "fields_after"))
    differing = [
        Difference(name, before.get(name), after.get(name)) for name in DECIDED if before.get(name) != after.get(name)
    ]
    return change | {"differences": [one for one in differing if one.field != "verdict"]}


def _moment(snapshot: Snapshot, run_id: str) -> Any:
    if not run_id:
        return None
    moment = run_time(snapshot, run_id)
    if moment is None:
        raise PageError(404, f"{run_id}: 이 실행은 판정을 쓰지 않았습니다.", "실행을 목록에서 고르세요.")
    return moment


def _overview(snapshot: Snapshot, moments: dict[str, Any]) -> dict[str, Any]:
    """How many turns changed, from which verdict to which, and by which cells."""
    pairs = snapshot.rows(
        f"""{_NET} SELECT verdict_before, verdict_after, count(*) AS turns FROM net GROUP BY ALL
            ORDER BY turns DESC, verdict_before, verdict_after""",
        moments,
    )
    causes = snapshot.rows(
        f"""{_NET} SELECT cell, count(*) AS turns FROM (SELECT unnest(cells) AS cell FROM net) GROUP BY cell
            ORDER BY turns DESC, cell LIMIT {CAUSES_SHOWN}""",
        moments,
    )
    return {"turns": sum(pair["turns"] for pair in pairs), "pairs": pairs, "causes": causes}
