"""What changed since an earlier run, or between two runs, and why."""

import json
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from wh_judge.causes import DECIDED
from wh_judge.screen.errors import PageError, check_page
from wh_judge.screen.filters import read_page
from wh_judge.screen.listing import Places, run_time, runs_offered
from wh_judge.screen.render import render
from wh_judge.screen.snapshots import Snapshot

CHANGE_ROWS = 50
CAUSES_SHOWN = 20

_STEP = """
WITH step AS (
    SELECT rowid AS place, * FROM verdict_change
    WHERE ($since::TIMESTAMPTZ IS NULL OR changed_at > $since) AND ($until::TIMESTAMPTZ IS NULL OR changed_at <= $until)
)
"""
_NET = f"""{_STEP}, net AS (
    SELECT turn_id, max(place)::INTEGER AS place,
           nullif(arg_min(coalesce(verdict_before, ''), place), '') AS verdict_before,
           nullif(arg_max(coalesce(verdict_after, ''), place), '') AS verdict_after
    FROM step GROUP BY turn_id HAVING arg_min(fields_before, place) <> arg_max(fields_after, place)
)
"""
"""What is left of the changes between two moments: a turn that is again as it was has not changed. A snapshot has the
changes in the order in which they came about."""


class Difference(NamedTuple):
    """A field of a verdict before and after."""

    field: str
    before: Any
    after: Any


class Overview(NamedTuple):
    """How many turns changed from which verdict to which and by which cells, and where they lie in `verdict_change`."""

    pairs: list[dict[str, Any]]
    causes: list[dict[str, Any]]
    places: Places


def page(request: Request, snapshot: Snapshot) -> Response:
    """The turns that are not as they were, each with its verdicts and the cells that did it."""
    since, until = (request.query_params.get(name, "") for name in ("since", "until"))
    number = read_page(request.query_params)
    moments = _moments(snapshot, since, until)
    found = overview(snapshot, since, until)
    pages = check_page(number, len(found.places), CHANGE_ROWS)
    start = (number - 1) * CHANGE_ROWS
    rows = snapshot.rows(
        f"""{_STEP} SELECT turn_id, max(day) AS day, max(changed_at) AS changed_at, arg_max(run_id, place) AS run_id,
                list(verdict_before ORDER BY place)[1] AS verdict_before,
                list(verdict_after ORDER BY place)[-1] AS verdict_after,
                arg_min(fields_before, place) AS fields_before, arg_max(fields_after, place) AS fields_after,
                list_distinct(flatten(list(cells ORDER BY place))) AS cells,
                list_distinct(flatten(list(decisions ORDER BY place))) AS decisions
            FROM step WHERE turn_id IN (
                SELECT turn_id FROM verdict_change JOIN (SELECT unnest($wanted::BIGINT[]) AS wanted) ON rowid = wanted)
            GROUP BY turn_id ORDER BY max(place) DESC""",
        moments | {"wanted": found.places[start : start + CHANGE_ROWS].tolist()},
    )
    return render(
        request,
        snapshot,
        "changes.html",
        since=since,
        until=until,
        overview=found,
        rows=[told(row, decisions_by_id(snapshot)) for row in rows],
        runs=runs_offered(snapshot, since, until),
        number=number,
        last_page=pages,
    )


def told(change: dict[str, Any], decisions: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A change with the fields that differ, and the decisions that made its cells."""
    before, after = (json.loads(change[side] or "null") or {} for side in ("fields_before", "fields_after"))
    differing = [
        Difference(name, before.get(name), after.get(name)) for name in DECIDED if before.get(name) != after.get(name)
    ]
    differences = [one for one in differing if one.field != "verdict"]
    return change | {
        "differences": differences,
        "decided": [decisions[one] for one in change["decisions"] if one in decisions],
    }


def decisions_by_id(snapshot: Snapshot) -> dict[str, dict[str, Any]]:
    """The decisions of people that the snapshot knows."""

    def compute() -> dict[str, dict[str, Any]]:
        rows = snapshot.rows('SELECT decision_id, "by", why, what FROM decision')
        return {row["decision_id"]: row for row in rows}

    return snapshot.cached("decisions", compute)


def overview(snapshot: Snapshot, since: str, until: str) -> Overview:
    """What is left of the changes between two runs, or since the first or until the last where one is not named.

    Raises:
        PageError: a run is not known, or the first is later than the second.
    """
    moments = _moments(snapshot, since, until)
    return snapshot.cached(("changes", since, until), lambda: _overview(snapshot, moments))


def _moments(snapshot: Snapshot, since: str, until: str) -> dict[str, Any]:
    moments = {"since": _moment(snapshot, since), "until": _moment(snapshot, until)}
    if moments["since"] and moments["until"] and moments["since"] > moments["until"]:
        raise PageError(400, "앞 실행이 뒤 실행보다 늦습니다.", "두 실행을 바꾸어 고르세요.")
    return moments


def _moment(snapshot: Snapshot, run_id: str) -> Any:
    if not run_id:
        return None
    moment = run_time(snapshot, run_id)
    if moment is None:
        raise PageError(404, f"{run_id}: 이 실행은 판정을 쓰지 않았습니다.", "실행을 목록에서 고르세요.")
    return moment


def _overview(snapshot: Snapshot, moments: dict[str, Any]) -> Overview:
    pairs = snapshot.rows(
        f"""{_NET} SELECT verdict_before, verdict_after, count(*) AS turns FROM net GROUP BY ALL
            ORDER BY turns DESC, verdict_before, verdict_after""",
        moments,
    )
    causes = snapshot.rows(
        f"""{_NET} SELECT cell, count(DISTINCT turn_id) AS turns
            FROM (SELECT turn_id, unnest(cells) AS cell FROM step SEMI JOIN net USING (turn_id)) GROUP BY cell
            ORDER BY turns DESC, cell LIMIT {CAUSES_SHOWN}""",
        moments,
    )
    places = snapshot.columns(f"{_NET} SELECT place FROM net ORDER BY place DESC", moments)["place"]
    return Overview(pairs, causes, places)
