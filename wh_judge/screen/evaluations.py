"""Self-grading, the validations and their failing turns, and the models side by side."""

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from wh_judge.model import VERDICTS
from wh_judge.screen.errors import PageError, check_page
from wh_judge.screen.filters import read_page
from wh_judge.screen.render import checks, render
from wh_judge.screen.rows import by_id
from wh_judge.screen.snapshots import Snapshot
from wh_judge.validations import VALIDATIONS

FAILED_ROWS = 50
PROMPT_ROWS = 50


def evaluation(snapshot: Snapshot, name: str) -> dict[str, Any] | None:
    """The newest document of an evaluation with the run and the time that it came from; None before it has run."""

    def compute() -> dict[str, Any] | None:
        rows = snapshot.rows("SELECT document, run_id, finished_at FROM evaluation WHERE name = $name", {"name": name})
        return {**rows[0], "document": json.loads(rows[0]["document"])} if rows else None

    return snapshot.cached(("evaluation", name), compute)


def grading_page(request: Request, snapshot: Snapshot) -> Response:
    """The judge against the labels; blank, with the reason, until the runner has run."""
    labels = snapshot.rows("SELECT count(*) AS labels FROM gold_label")[0]["labels"]
    found = evaluation(snapshot, "gold_agreement")
    diverging: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in found["document"]["diverging"] if found and found["document"]["agreement"] is not None else ():
        diverging.setdefault((row["label"], row["verdict"]), []).append(row)
    pairs = sorted(diverging.values(), key=len, reverse=True)
    return render(request, snapshot, "grading.html", found=found, labels=labels, verdicts=VERDICTS, pairs=pairs)


def checks_page(request: Request, snapshot: Snapshot) -> Response:
    """What each validation looks at, its counts by day, and the turns that fail it."""
    code, number = request.query_params.get("code", ""), read_page(request.query_params)
    if code and code not in {entry.code for entry in VALIDATIONS}:
        raise PageError(404, f"{code}: 이런 검증 항목은 없습니다.", "검증 항목 쪽에서 고르세요.")
    failed: list[dict[str, Any]] = []
    days: list[dict[str, Any]] = []
    pages = 1
    if code:
        counted = next(entry for entry in checks(snapshot) if entry["code"] == code)
        pages = check_page(number, counted["failed"] or 0, FAILED_ROWS)
        skip = (number - 1) * FAILED_ROWS
        failed = snapshot.rows(
            f"""SELECT day, turn_id, reason, run_id FROM failed_row WHERE code = $code
                ORDER BY day DESC, length(turn_id), turn_id LIMIT {FAILED_ROWS} OFFSET {skip}""",
            {"code": code},
        )
        days = snapshot.rows("SELECT * FROM validation WHERE code = $code ORDER BY day DESC", {"code": code})
    return render(
        request,
        snapshot,
        "checks.html",
        code=code,
        failed=failed,
        days=days,
        number=number,
        last_page=pages,
    )


def models_page(request: Request, snapshot: Snapshot) -> Response:
    """How often each model leaves its card on shared prompts, and the prompts on which they part."""
    number = read_page(request.query_params)
    found = evaluation(snapshot, "model_divergence")
    models = _models(found)
    prompts = parted_prompts(snapshot)
    pages = check_page(number, len(prompts), PROMPT_ROWS)
    start = (number - 1) * PROMPT_ROWS
    return render(
        request,
        snapshot,
        "models.html",
        found=found,
        prompts=_answers(snapshot, models, prompts[start : start + PROMPT_ROWS]),
        parted=len(prompts),
        number=number,
        last_page=pages,
    )


def parted_prompts(snapshot: Snapshot) -> list[str]:
    """The prompts on which the models part, those of many verdicts first; none before models were compared."""
    models = _models(evaluation(snapshot, "model_divergence"))
    return snapshot.cached("prompts", lambda: _parted(snapshot, models)) if models else []


def _models(found: dict[str, Any] | None) -> list[str]:
    return found["document"]["models"] if found else []


def _parted(snapshot: Snapshot, models: list[str]) -> list[str]:
    """Prompts whose answers have different verdicts, those of many first. Of several answers of a model to one prompt
    the first counts."""
    rows = snapshot.rows(
        """SELECT prompt_id
           FROM (SELECT prompt_id, model_id, arg_min(verdict, (length(turn_id), turn_id)) AS verdict
                 FROM verdict JOIN (SELECT turn_id, prompt_id FROM chat_turn WHERE prompt_id IS NOT NULL)
                 USING (turn_id)
                 WHERE list_contains($models, model_id) GROUP BY ALL)
           GROUP BY prompt_id HAVING count(DISTINCT verdict) > 1
           ORDER BY count(DISTINCT verdict) DESC, length(prompt_id), prompt_id""",
        {"models": models},
    )
    return [row["prompt_id"] for row in rows]


def _answers(snapshot: Snapshot, models: list[str], prompts: list[str]) -> list[dict[str, Any]]:
    """The verdicts on the answers to these prompts, by model; of several the first."""
    turns = snapshot.rows(
        """SELECT prompt_id, model_id, turn_id FROM chat_turn
           WHERE prompt_id IN (SELECT unnest($prompts::VARCHAR[])) AND list_contains($models, model_id)
           ORDER BY length(turn_id), turn_id""",
        {"models": models, "prompts": prompts},
    )
    verdicts = by_id(snapshot, "verdict", "turn_id, verdict", [turn["turn_id"] for turn in turns])
    found: dict[str, dict[str, str]] = {prompt: {} for prompt in prompts}
    for turn in turns:
        if turn["turn_id"] in verdicts:
            found[turn["prompt_id"]].setdefault(turn["model_id"], verdicts[turn["turn_id"]]["verdict"])
    return [{"prompt_id": prompt, "verdicts": verdicts} for prompt, verdicts in found.items()]
