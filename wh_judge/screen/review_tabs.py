"""What the tabs of the review show: queues, terms, endings, decisions."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, cast

from pydantic import ValidationError
from starlette.requests import Request

from wh_judge.errors import first_fault
from wh_judge.review.decisions import Decision, Draft, Standing, in_force, undone_by
from wh_judge.review.effects import all_labels, settings_with
from wh_judge.review.endings import Proposal, adding, first_ones, propose, try_ending
from wh_judge.review.known import by_hand, check_endings
from wh_judge.review.korean import decision
from wh_judge.review.labels import by_labeller, pair_agreements
from wh_judge.review.queues import Queue, Task, Week, days_of, draw, judged_weeks, nearest_week, usual_week
from wh_judge.review.terms import LEAST_READ, TermPrecision, never_said, term_precision, try_term
from wh_judge.review.trial import Trial
from wh_judge.rules import RuleSettings
from wh_judge.screen.errors import PageError, check_page
from wh_judge.screen.filters import read_page
from wh_judge.screen.listing import MOST_CHOICES, PAGE_ROWS
from wh_judge.screen.reasons import korean_error
from wh_judge.screen.rows import of_turns
from wh_judge.screen.snapshots import Snapshot
from wh_judge.settings import Settings, configured_rules, reading_settings
from wh_judge.store.tables import labels_of_files
from wh_judge.text import nfc

_LINE_END = re.compile(r"\r\n?|\n")

ENDINGS_TOLD = 8
"""Endings of a file whose effect is told: each is tried on all turns."""

Tried = tuple[Proposal, dict[str, Any]]
"""What an ending would change, and the turns of its examples."""


@dataclass(frozen=True)
class Asked:
    """What a tab is made from."""

    snapshot: Snapshot
    settings: Settings
    query: Mapping[str, str]
    week: str
    decisions: Sequence[Decision]
    """All that the book says, oldest first."""

    @cached_property
    def rules(self) -> RuleSettings:
        """The settings as decisions have them now."""
        return reading_settings(data=str(self.settings.data)).rules


def asked_in(request: Request, snapshot: Snapshot | None, decisions: Sequence[Decision]) -> Asked:
    """What an address asks for.

    Raises:
        PageError: nothing is published.
        UserError: the week is none.
    """
    if snapshot is None:
        raise PageError(404, "아직 공개된 판정이 없습니다.", "`wh-judge run`을 먼저 실행하세요.")
    week = request.query_params.get("week", "").strip() or usual_week(weeks_of(snapshot))
    days_of(week)
    return Asked(snapshot, request.app.state.settings, request.query_params, week, decisions)


def weeks_of(snapshot: Snapshot) -> list[Week]:
    """The weeks that have verdicts, newest first."""

    def compute() -> list[Week]:
        with snapshot.cursor() as cursor:
            return judged_weeks(cursor)

    return snapshot.cached("weeks", compute)


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
    missing = _missing_ending(asked) if queue == "speech" else None
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


def count(text: str) -> int | None:
    """The number in an address; None where there is none."""
    return int(text) if text.isdecimal() and len(text) < 10 else None


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
    shown = [_term(asked, row, instead if key == (row.term, row.topic) else ()) for row in page.rows]
    return page.context | {"terms": shown, "least_read": LEAST_READ, "open": key}


def lines_of(text: str) -> tuple[str, ...]:
    """Terms, one a line, since a term may hold anything else; white space of it counts, as it does in the lexicon, and
    as there they are in NFC."""
    return tuple(term for term in _LINE_END.split(nfc(text)) if term.strip())


def _term(asked: Asked, row: TermPrecision, instead: tuple[str, ...]) -> dict[str, Any]:
    """A term with what would change if it were dropped, and if the terms took its place that are asked for."""
    dropped = _tried(asked, row.term, row.topic, ())
    narrowed = _tried(asked, row.term, row.topic, instead) if instead else None
    shown = [*_examples(dropped), *(_examples(narrowed) if narrowed else ())]
    return {
        "row": row,
        "dropped": dropped,
        "narrowed": narrowed,
        "instead": instead,
        "never_said": _never_said(asked, instead),
        "texts": of_turns(asked.snapshot, shown, terms=(row.term, *instead)),
    }


def _tried(asked: Asked, term: str, topic: str, instead: tuple[str, ...]) -> Trial:
    rules = asked.rules

    def compute() -> Trial:
        with asked.snapshot.cursor() as cursor:
            return try_term(cursor, rules, term, topic, instead)

    return asked.snapshot.cached(("term", term, topic, instead, rules.parts), compute)


def _never_said(asked: Asked, terms: tuple[str, ...]) -> list[str]:
    def compute() -> list[str]:
        with asked.snapshot.cursor() as cursor:
            return never_said(cursor, terms)

    return asked.snapshot.cached(("never said", terms), compute) if terms else []


def _examples(trial: Trial) -> list[str]:
    return [turn_id for change in trial.changes for turn_id, _ in change.examples]


def _endings(asked: Asked, _tab: str) -> dict[str, Any]:
    rules = asked.rules
    key = ("endings", rules.parts, *(row for row in in_force(asked.decisions) if row.kind in ("ending", "trailing")))

    def compute() -> list[Proposal]:
        with asked.snapshot.cursor() as cursor:
            return propose(cursor, rules, asked.decisions)

    shown = first_ones(asked.snapshot.cached(key, compute))
    proposals = [_with_texts(asked, rules, one) for one in shown.proposals]
    return {"proposals": proposals, "endings": shown.endings, "endings_of": shown.of}


def _with_texts(asked: Asked, rules: RuleSettings, proposal: Proposal) -> Tried:
    return proposal, of_turns(asked.snapshot, _examples(proposal), adding(rules, proposal.ending))


def _tried_ending(asked: Asked, rules: RuleSettings, ending: str) -> Tried:
    def compute() -> Proposal:
        with asked.snapshot.cursor() as cursor:
            return try_ending(cursor, rules, ending)

    return _with_texts(asked, rules, asked.snapshot.cached(("ending", ending, rules.parts), compute))


def _missing_ending(asked: Asked) -> Tried | None:
    """What the ending would change that somebody misses in a reply, before it is adopted.

    Raises:
        PageError, UserError: it is none, or could never count.
    """
    if "ending" not in asked.query:
        return None
    [given] = by_hand(drafted({"kind": "ending", "choice": "add", "ending": asked.query["ending"].strip(), "by": "-"}))
    check_endings([given], asked.rules, ignoring=asked.rules.ignore_trailing)
    return _tried_ending(asked, asked.rules, given.draft.ending or "")


def drafted(cells: Mapping[str, Any]) -> Draft:
    """The decision that these fields are.

    Raises:
        PageError: they are none.
    """
    try:
        return Draft.model_validate(dict(cells))
    except ValidationError as error:
        what = f"결정이 아닙니다. ({korean_error(first_fault(error))})"
        raise PageError(400, what, "검토 쪽에서 다시 고르세요.") from None


def _taken_endings(asked: Asked) -> dict[str, Any]:
    """What each ending changes that a file has just brought: those among the newest decisions, as many as it had."""
    taken = count(asked.query.get("taken", "")) or 0
    place = max(0, len(asked.decisions) - taken)
    found = [row.ending or "" for row in asked.decisions[place:] if row.kind == "ending" and row.choice == "add"]
    configured = configured_rules(data=str(asked.settings.data))
    before = settings_with(configured, asked.decisions[:place]) if found else configured
    return {
        "adopted": [_tried_ending(asked, before, ending) for ending in found[:ENDINGS_TOLD]],
        "adopted_rows": len(found),
    }


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
        **_taken_endings(asked),
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
