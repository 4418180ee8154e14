"""Blind votes between two replies to one prompt, and the ratings that follow from all votes."""

import datetime as dt
import secrets
import threading
from collections import OrderedDict
from typing import Any, cast, get_args

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from wh_judge.evaluation.pairing import Offer, all_alike, candidates, choose, uncertainty
from wh_judge.evaluation.ratings import ArenaRatings
from wh_judge.screen.errors import PageError
from wh_judge.screen.evaluations import evaluation
from wh_judge.screen.filters import Filter
from wh_judge.screen.render import render
from wh_judge.screen.rows import FULL_TEXT
from wh_judge.screen.snapshots import Snapshot
from wh_judge.store.schema import SHOWN_TEXT
from wh_judge.store.votes import Answer, read_answers, replies_as_seen, voted_pairs, votes_by_case
from wh_judge.text import as_seen, nfc
from wh_judge.votes.rows import Side, Vote, WinnerValue

SOURCE = "screen"
NAME_LIMIT = 60
OPEN_OFFERS = 10_000
BEFORE = 10
"""Turns of the conversation before that are shown."""
CHOICES = {"left": "왼쪽이 낫다", "right": "오른쪽이 낫다", "tie": "비슷하다", "both_bad": "둘 다 나쁘다"}
_SIDES: tuple[Side, ...] = get_args(Side)


class Offers:
    """Pairs that were shown and not yet voted on. They stay here: a page that told the models would not be blind."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, tuple[str, Offer]] = OrderedDict()
        self._lock = threading.Lock()

    def give(self, annotator: str, offer: Offer) -> str:
        """Remember a pair; what the page knows it by."""
        key = secrets.token_urlsafe(16)
        with self._lock:
            self._open[key] = (annotator, offer)
            while len(self._open) > OPEN_OFFERS:
                self._open.popitem(last=False)
        return key

    def put_back(self, key: str, shown: tuple[str, Offer]) -> None:
        """The pair can be voted on as before: the vote on it could not be kept."""
        with self._lock:
            self._open[key] = shown

    def take(self, key: str) -> tuple[str, Offer] | None:
        """Who was shown which pair; only once, so that a form that is sent twice is one vote."""
        with self._lock:
            return self._open.pop(key, None)


def arena_page(request: Request) -> Response:
    """Two replies on sides that were drawn, for a named annotator; the pair whose distance is least certain."""
    annotator = nfc(request.query_params.get("by", "")).strip()[:NAME_LIMIT].strip()
    with request.app.state.snapshots.read() as snapshot:
        if snapshot is None:
            raise PageError(404, "아직 공개된 판정이 없습니다.", "`wh-judge run`을 먼저 실행하세요.")
        context: dict[str, Any] = {"annotator": annotator, "offer": None, "done": 0, "choices": CHOICES}
        context["alike"] = snapshot.cached("alike", lambda: len(all_alike(_replies(snapshot))))
        if annotator:
            context |= _next_pair(request, snapshot, annotator)
        return render(request, snapshot, "arena.html", **context)


def _next_pair(request: Request, snapshot: Snapshot, annotator: str) -> dict[str, Any]:
    answers = _answers(snapshot)
    found = evaluation(snapshot, "arena_ratings")
    ratings = ArenaRatings.model_validate(found["document"]).people if found else None
    with snapshot.cursor() as cursor:
        counts = votes_by_case(cursor)
        # Votes that came with the inputs or the inbox stand in the published copy alone, the newest in their files.
        voted = request.app.state.voted.by(annotator) | voted_pairs(cursor, annotator)
    possible = candidates(_replies(snapshot), voted)
    offer = choose(possible, uncertainty(ratings), np.random.default_rng(), counts)
    if offer is None:
        return {"done": len(voted)}
    left, right = (offer.model_a, offer.model_b) if offer.shown_left == "model_a" else (offer.model_b, offer.model_a)
    sides = [answers[offer.case_id][model] for model in (left, right)]
    characters = list(dict.fromkeys(side.character_id for side in sides))
    before = [_before(snapshot, side) for side in sides]
    return {
        "offer": request.app.state.offers.give(annotator, offer),
        "sides": list(zip(sides, before, strict=True)),
        "same_before": [*map(_said, before[0])] == [*map(_said, before[1])],
        "cards": [(character, _card(snapshot, character)) for character in characters],
        "same_message": len({as_seen(side.user_message or "") for side in sides}) == 1,
        "done": len(voted),
        "full_text": FULL_TEXT,
    }


def _answers(snapshot: Snapshot) -> dict[str, dict[str, Answer]]:
    def read() -> dict[str, dict[str, Answer]]:
        with snapshot.cursor() as cursor:
            return read_answers(cursor)

    return snapshot.cached("answers", read)


def _replies(snapshot: Snapshot) -> dict[str, dict[str, int]]:
    return snapshot.cached("replies", lambda: replies_as_seen(_answers(snapshot)))


def _card(snapshot: Snapshot, character_id: str) -> dict[str, Any] | None:
    found = snapshot.rows("SELECT * FROM character_card WHERE character_id = $id", {"id": character_id})
    return found[0] if found else None


def _before(snapshot: Snapshot, answer: Answer) -> list[dict[str, Any]]:
    """The last BEFORE turns of the conversation before a reply; each says how many there are."""
    rows = snapshot.rows(
        f"""SELECT left(user_message, {SHOWN_TEXT}) AS message, length(user_message) AS message_length,
                   left(reply_text, {SHOWN_TEXT}) AS reply, length(reply_text) AS reply_length,
                   count(*) OVER () AS turns
            FROM chat_turn
            WHERE session_id = $session AND (length(turn_id), turn_id) < (length($turn), $turn)
            ORDER BY length(turn_id) DESC, turn_id DESC LIMIT {BEFORE}""",
        {"session": answer.session_id, "turn": answer.turn_id},
    )
    return rows[::-1]


def _said(row: dict[str, Any]) -> tuple[str, str]:
    return as_seen(row["message"] or ""), as_seen(row["reply"] or "")


async def vote_page(request: Request) -> Response:
    """Keeps a vote and shows the next pair."""
    async with request.form(max_files=0, max_fields=4) as form:
        key, choice = str(form.get("offer", "")), str(form.get("choice", ""))
    if choice not in CHOICES:
        raise PageError(400, "무엇을 골랐는지 알 수 없습니다.", "네 단추 가운데 하나를 누르세요.")
    shown = request.app.state.offers.take(key)
    if shown is None:
        raise PageError(
            409, "이미 고른 쌍이거나, 화면이 다시 켜져 잊은 쌍입니다.", "투표 쪽을 다시 열어 새 쌍을 고르세요."
        )
    annotator, offer = shown
    try:
        kept = await run_in_threadpool(request.app.state.voted.keep, _vote(annotator, offer, choice))
    except OSError:
        request.app.state.offers.put_back(key, shown)
        raise
    if not kept:
        raise PageError(
            409, "다른 창에서 이미 고른 쌍이라 이번 표는 세지 않았습니다.", "투표 쪽을 다시 열어 새 쌍을 고르세요."
        )
    return RedirectResponse(f"/arena?{Filter().query(by=annotator)}", status_code=303)


def _vote(annotator: str, offer: Offer, choice: str) -> Vote:
    right: Side = _SIDES[1 - _SIDES.index(offer.shown_left)]
    winner = {"left": offer.shown_left, "right": right}.get(choice, choice)
    return Vote(
        vote_id=f"{SOURCE}/{secrets.token_hex(12)}",
        case_id=offer.case_id,
        model_a=offer.model_a,
        model_b=offer.model_b,
        winner=cast(WinnerValue, winner),
        annotator=annotator,
        source=SOURCE,
        shown_left=offer.shown_left,
        voted_at=dt.datetime.now(dt.UTC),
    )


def ratings_page(request: Request, snapshot: Snapshot) -> Response:
    """Ratings with their intervals, with and without what models support, and the judges beside the votes."""
    arena, agreement = (evaluation(snapshot, name) for name in ("arena_ratings", "vote_agreement"))
    return render(request, snapshot, "ratings.html", arena=arena, agreement=agreement)
