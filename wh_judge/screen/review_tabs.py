"""What the tabs of the review show: queues, terms, endings, decisions."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

from wh_judge.review.decisions import Standing, in_force, undone_by
from wh_judge.review.effects import all_labels
from wh_judge.review.endings import first_ones, propose
from wh_judge.review.korean import decision
from wh_judge.review.labels import by_labeller, pair_agreements
from wh_judge.review.queues import Queue, Task, draw, nearest_week, usual_week
from wh_judge.review.terms import LEAST_READ, term_precision
from wh_judge.screen.errors import check_page
from wh_judge.screen.filters import read_page
from wh_judge.screen.listing import MOST_CHOICES, PAGE_ROWS
from wh_judge.screen.review_asked import Asked, count, lines_of, weeks_of
from wh_judge.screen.review_effects import missing_ending, taken_endings, term_effect, with_texts
from wh_judge.screen.rows import of_turns
from wh_judge.store.tables import labels_of_files


def tasks_of(asked: Asked, queue: Queue) -> list[Task]:
    """The tasks of a queue in the week that is asked for."""
    with asked.snapshot.cursor() as cursor:
        return draw(cursor, queue, asked.week, asked.rules, asked.decisions)


def _queue(asked: Asked, tab: str) -> dict[str, Any]:
    queue = cast(Queue, tab)
    tasks, weeks = tasks_of(asked, queue), weeks_of(asked.snapshot)
    at = count(asked.query.get("at", "")) or 1
    if "page" in asked.query:
        at = (read_page(asked.query) - 1) * PAGE_ROWS + 1
    missing = missing_ending(asked) if queue == "speech" else None
    # Whoever looks at what an ending would change stays where they are, decided or not.
    waiting = at if missing and at <= len(tasks) else next_place(tasks, at)
    number = ((at if "page" in asked.query else waiting or 1) - 1) // PAGE_ROWS + 1
    page = _page(number, list(enumerate(tasks, start=1)))
    ids = [turn["turn_id"] for _, task in page.rows for turn in task.data.get("turns", ({"turn_id": task.turn_id},))]
    return page.context | {
        "tasks": page.rows,
        "missing": missing,
        "texts": of_turns(asked.snapshot, ids, asked.rules if queue == "speech" else None),
        "decided": sum(task.decided is not None for task in tasks),
        "next": waiting,
        "this_week": next((week for week in weeks if week.name == asked.week), None),
        "usual": usual_week(weeks),
        "nearest": None if tasks else _nearest(asked, queue),
    }


def _nearest(asked: Asked, queue: Queue) -> str | None:
    rules, weeks = asked.rules, weeks_of(asked.snapshot)

    def compute() -> str | None:
        with asked.snapshot.cursor() as cursor:
            return nearest_week(cursor, queue, asked.week, weeks, rules, asked.decisions)

    # Which turns are drawn does not depend on what is decided, but which names are asked about does.
    return (
        compute() if queue == "names" else asked.snapshot.cached(("nearest", queue, asked.week, rules.parts), compute)
    )


def next_place(tasks: Sequence[Task], at: int) -> int | None:
    """The place, from 1, of the first task without a decision from a place on, else of the first of all."""
    waiting = [place for place, task in enumerate(tasks, start=1) if not task.decided]
    return next((place for place in waiting if place >= at), next(iter(waiting), None))


class _Page(NamedTuple):
    rows: list[Any]
    context: dict[str, Any]


def _page(number: int, rows: list[Any]) -> _Page:
    """A page of a list, and what its template needs to lead to the others."""
    last = check_page(number, len(rows), PAGE_ROWS)
    start = (number - 1) * PAGE_ROWS
    return _Page(rows[start : start + PAGE_ROWS], {"number": number, "last_page": last, "rows": len(rows)})


def _terms(asked: Asked, _tab: str) -> dict[str, Any]:
    with asked.snapshot.cursor() as cursor:
        found = term_precision(cursor, asked.decisions)
    key = (asked.query.get("term", ""), asked.query.get("topic", ""))
    place = next((place for place, row in enumerate(found) if key == (row.term, row.topic)), 0)
    page = _page(read_page(asked.query) if "page" in asked.query else place // PAGE_ROWS + 1, found)
    instead = lines_of(asked.query.get("instead", ""))
    shown = [term_effect(asked, row, instead if key == (row.term, row.topic) else ()) for row in page.rows]
    return page.context | {"terms": shown, "least_read": LEAST_READ, "open": key}


def _endings(asked: Asked, _tab: str) -> dict[str, Any]:
    rules = asked.rules
    key = ("endings", rules.parts, *(row for row in in_force(asked.decisions) if row.kind in ("ending", "trailing")))
    shown = first_ones(asked.snapshot.found(key, lambda cursor: propose(cursor, rules, asked.decisions)))
    proposals = [with_texts(asked, rules, one) for one in shown.proposals]
    return {"proposals": proposals, "endings": shown.endings, "endings_of": shown.of}


def _decisions(asked: Asked, _tab: str) -> dict[str, Any]:
    query, everything = asked.query, asked.decisions
    kind, of = query.get("kind", ""), query.get("who", "")
    rows = [row for row in reversed(everything) if kind in ("", row.kind) and of in ("", row.by)]
    place = next((place for place, row in enumerate(rows) if row.decision_id == query.get("decision")), 0)
    page = _page(read_page(query) if "page" in query else place // PAGE_ROWS + 1, rows)
    standing, undone, by_id = Standing(everything), undone_by(everything), {row.decision_id: row for row in everything}
    labels = all_labels(labels_of_files(asked.settings), everything)
    people = dict.fromkeys(row.by for row in reversed(everything))
    return page.context | {
        "decisions": [
            {
                "row": row,
                "shown": decision(row),
                "counts": standing.counts(row.decision_id),
                "undone_by": undone.get(row.decision_id),
                "newer": None if row.kind == "undo" else standing.newest(row.subject),
                "undid": decision(by_id[row.undoes]) if row.undoes in by_id else None,
            }
            for row in page.rows
        ],
        **taken_endings(asked),
        "kind": kind,
        "who": of,
        "people": [*people][:MOST_CHOICES],
        "labellers": {by: len(of_one) for by, of_one in by_labeller(labels).items()},
        "pairs": pair_agreements(labels),
    }


class Tab(NamedTuple):
    """A tab: its title, its template, and what makes its content."""

    title: str
    template: str
    content: Callable[[Asked, str], dict[str, Any]]


TABS = {
    "names": Tab("카드에 없는 이름", "review_queue.html", _queue),
    "forbidden": Tab("금지 소재 20건", "review_queue.html", _queue),
    "speech": Tab("말투가 섞인 20건", "review_queue.html", _queue),
    "terms": Tab("사전의 말", "review_terms.html", _terms),
    "endings": Tab("종결 어미", "review_endings.html", _endings),
    "decisions": Tab("결정", "review_decisions.html", _decisions),
}
