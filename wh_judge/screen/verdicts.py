"""The list of verdicts, grouped by verdict."""

from starlette.requests import Request
from starlette.responses import Response

from wh_judge.screen.errors import PageError, check_page
from wh_judge.screen.filters import ANY_SKIPPED, GROUPS, SKIPS, Filter, read_filter, read_page
from wh_judge.screen.listing import GROUP_ROWS, PAGE_ROWS, choices, places, run_time, runs_offered, turns_in_all
from wh_judge.screen.render import render
from wh_judge.screen.rows import listed
from wh_judge.screen.snapshots import Snapshot


def checked_filter(request: Request, snapshot: Snapshot) -> Filter:
    """The filter of the address.

    Raises:
        PageError: it names a run that the snapshot does not know.
    """
    found = read_filter(request.query_params)
    if found.since and run_time(snapshot, found.since) is None:
        raise PageError(404, f"{found.since}: 이 실행은 판정을 쓰지 않았습니다.", "바뀐 판정에서 실행을 고르세요.")
    return found


def page(request: Request, snapshot: Snapshot) -> Response:
    """All groups with their first rows, or one group in pages."""
    filter_, number = checked_filter(request, snapshot), read_page(request.query_params)
    found = places(snapshot, filter_)
    totals = {group: len(found[group]) for group in GROUPS}
    one = filter_.verdict
    pages = check_page(number, totals[one] if one else 0, PAGE_ROWS)
    skip, most = ((number - 1) * PAGE_ROWS, PAGE_ROWS) if one else (0, GROUP_ROWS)
    wanted = {group: found[group][skip : skip + most] for group in ([one] if one else GROUPS)}
    rows_of = listed(snapshot, wanted)
    groups = [{"name": group, "total": totals[group], "rows": rows} for group, rows in rows_of.items()]
    open_row = request.query_params.get("open", "")
    here = {row["turn_id"] for rows in rows_of.values() for row in rows}
    return render(
        request,
        snapshot,
        "verdicts.html",
        filter=filter_,
        groups=groups,
        totals=totals,
        listed=totals[one] if one else sum(totals.values()),
        all=turns_in_all(snapshot),
        number=number,
        last_page=pages,
        open=open_row,
        elsewhere=bool(open_row) and open_row not in here,
        choices=choices(snapshot),
        runs=runs_offered(snapshot, filter_.since),
        skips={ANY_SKIPPED: "하나라도 건너뜀"} | SKIPS,
    )
