"""The sentences that language models wrote for a verdict, and why one was refused, in Korean."""

import datetime as dt
import re
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from wh_judge.screen.errors import PageError, check_page
from wh_judge.screen.filters import read_page
from wh_judge.screen.findings import korean_finding
from wh_judge.screen.render import render
from wh_judge.screen.snapshots import Snapshot
from wh_judge.store.drafts import count_drafts

Cell = dict[str, Any]

REASONS = {
    "no_answer": "서버가 답하지 않았습니다",
    "not_accepted": "서버가 물음을 받지 않았습니다",
    "not_asked_cap": "토큰이나 돈의 한도가 차서 묻지 않았습니다",
    "not_asked_long": "판정 문서가 너무 길어 묻지 않았습니다",
    "not_asked_silent": "서버가 거듭 답하지 않아 더 묻지 않았습니다",
    "no_json": "응답이 JSON 객체가 아닙니다",
    "cut_off": "응답이 중간에 끊겼습니다",
    "other_turn": "다른 회차에 대한 응답입니다",
    "other_verdict": "규칙과 다른 판정을 내렸습니다",
    "names_other_verdict": "문장에 다른 판정 이름이 있습니다",
    "names_no_cell": "문장이 판정의 근거를 하나도 대지 않습니다",
    "too_long": "문장이 너무 깁니다",
    "unprintable": "문장에 보이지 않는 글자가 있습니다",
    "v01_verdict_value": "판정이 다섯 가지 가운데 하나가 아닙니다",
    "v02_required_filled": "꼭 있어야 할 칸이 비어 있습니다",
    "v08_evidence_field": "없는 칸을 근거로 댔습니다",
    "v09_evidence_value": "근거로 댄 값이 로그와 다릅니다",
    "v10_summary_one_polite_sentence": "공손한 한 문장이 아닙니다",
}
"""By the code of a reason (`wh_judge.drafts.gate`)."""


OUTCOMES = {
    "kept": "문장을 씀",
    "default": "문장을 쓰지 않음",
    "thrown_away": "응답을 통째로 버림",
    "no_response": "응답이 없음",
}
"""By outcome."""

ANSWERS_SHOWN = 50
"""Answers on a turn's page, and on a page of their list."""
RAW_SHOWN = 20_000
"""Characters of a response on a turn's page."""


def drafts_of(snapshot: Snapshot, turn_id: str, evidence: Sequence[Cell]) -> list[dict[str, Any]]:
    """What models answered for the turn's verdict in force, by model, the newest first; of many those that count before
    all others.

    Each with its outcome, whether it is what counts for its model (`stands`), the reasons in Korean where it was
    refused, the response as it came, cut, and the cells of the evidence that its sentence names.
    """
    rows = snapshot.rows(
        f"""FROM (SELECT model, outcome, summary, reasons, stands, asked_at, left(raw, {RAW_SHOWN}) AS raw,
                         length(raw) AS raw_length, count(*) OVER () AS answers, written_at
                  FROM draft_answer WHERE turn_id = $id
                  ORDER BY stands DESC, asked_at DESC NULLS LAST, written_at DESC LIMIT {ANSWERS_SHOWN})
            ORDER BY model, stands DESC, asked_at DESC NULLS LAST, written_at DESC""",
        {"id": turn_id},
    )
    return [
        row | {"reasons": list(map(_told, row["reasons"])), "cells": cells_in(row["summary"] or "", evidence)}
        for row in rows
    ]


def cells_in(sentence: str, evidence: Sequence[Cell]) -> list[Cell]:
    """The cells whose value stands in a sentence, each once; a number counts only where it stands whole."""
    found: list[Cell] = []
    for cell in evidence:
        value = str(cell["value"] or "")
        # A pattern is made only of what stands there: evidence may have a thousand cells, and texts of any length.
        if not value or value not in sentence or cell in found:
            continue
        if re.search(rf"(?<![0-9]){re.escape(value)}(?![0-9])", sentence):
            found.append(cell)
    return found


def _told(reason: dict[str, str]) -> str:
    """A reason in Korean, with what was found where that is told in Korean, too."""
    told, found = REASONS.get(reason["code"], reason["code"]), korean_finding(reason["text"])
    return told if found == reason["text"] else f"{told} ({found})"


def page(request: Request, snapshot: Snapshot) -> Response:
    """What models answered, by model, outcome and reason, and the turns of one reason."""
    model, reason = (request.query_params.get(name, "") for name in ("model", "reason"))
    number = read_page(request.query_params)
    with snapshot.cursor() as cursor:
        counts = count_drafts(cursor, dt.date.min, dt.date.max)
    if reason and not any((row["model"], row["reason"]) == (model, reason) for row in counts):
        raise PageError(
            404, f"{reason}: 이 모델의 응답을 이 까닭으로 물리친 적이 없습니다.", "초안 쪽의 표에서 고르세요."
        )
    outcomes = ", ".join(f"countif(outcome = '{name}') AS {name}" for name in OUTCOMES)
    refused = "model = $model AND list_contains(list_transform(reasons, lambda x: x.code), $reason)"
    given = {"model": model, "reason": reason}
    [found] = snapshot.rows(f"SELECT count(*) AS answers FROM draft_answer WHERE {refused}", given)
    pages = check_page(number, found["answers"], ANSWERS_SHOWN)
    answers = snapshot.rows(
        f"""SELECT turn_id, outcome, stands, asked_at FROM draft_answer WHERE {refused}
            ORDER BY length(turn_id), turn_id, asked_at LIMIT {ANSWERS_SHOWN} OFFSET {(number - 1) * ANSWERS_SHOWN}""",
        given,
    )
    return render(
        request,
        snapshot,
        "drafts.html",
        models=snapshot.rows(f"SELECT model, count(*) AS turns, {outcomes} FROM draft GROUP BY model ORDER BY model"),
        counts=counts,
        reasons=REASONS,
        outcomes=OUTCOMES,
        model=model,
        reason=reason,
        answers=answers,
        number=number,
        last_page=pages,
    )
