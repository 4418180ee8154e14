"""`wh-judge tree`"""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click
from rich.console import Console

from wh_judge.cli.words import WORD
from wh_judge.report import safe
from wh_judge.settings import reading_settings

if TYPE_CHECKING:
    from wh_judge.evaluation.questions import Question
    from wh_judge.evaluation.tree import EvidenceTree


@click.command(name="tree")
@click.argument("turn_id", type=WORD)
@click.option("--data", type=click.Path(), help="Folder of what a run makes [WH_JUDGE_DATA].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(turn_id: str, data: str | None, as_json: bool) -> None:
    """Show what each check asked of a turn, and what its answers rest on.

    Which checks apply and why, their questions with answers and scores, and the verdict derived again from them.

    \b
    Examples:
      wh-judge tree T-194
      wh-judge tree T-194 --json
    """
    from wh_judge.evaluation.tree import evidence_tree
    from wh_judge.store import read_warehouse
    from wh_judge.store.tree import read_case

    with read_warehouse(reading_settings(data=data).warehouse) as connection:
        case, verdict = read_case(connection, turn_id)
    tree = evidence_tree(case, verdict)
    if as_json:
        click.echo(json.dumps(tree.model_dump(), ensure_ascii=False, indent=2))
    else:
        console = Console(emoji=False, highlight=False)
        for line in _lines(tree):
            console.print(line, soft_wrap=True)


def _lines(tree: "EvidenceTree") -> Iterator[str]:
    """The tree from its root to its leaves, two spaces a level."""
    yield f"[bold]{safe(tree.turn_id)}  {tree.verdict}[/bold]  {_score(tree.score)}  {safe(tree.summary)}"
    for check in tree.checks:
        style = "bold" if check.decided else "default" if check.applies else "dim"
        yield f"  [{style}]{check.code}  {check.verdict}[/{style}]  {_score(check.score)}  {safe(check.why)}"
        for question in check.questions:
            yield f"    {safe(question.question)}  {_answer(question)}"
            for row in question.evidence:
                field = f"{row.agg}({row.field})" if row.agg else row.field
                yield f"      {row.source}.{field}  {safe(json.dumps(row.value, ensure_ascii=False))}"
    validator = tree.validator
    word = "agrees" if validator.agrees else "[bold red]does not agree[/bold red]"
    yield f"  [bold]validator[/bold]  {word}; from the answers above: {validator.from_answers}"
    for claim in validator.claims:
        if not claim.agrees:
            yield f"    {claim.cell}: stored {safe(str(claim.stored))}, derived {safe(str(claim.derived))}"
    for outcome in validator.validations:
        yield f"    {outcome.outcome:<15}{outcome.code}" + (f"  {safe(outcome.reasons)}" if outcome.reasons else "")


def _score(score: float | None) -> str:
    return "–" if score is None else f"{score:.2f}"


def _answer(question: "Question") -> str:
    answer = question.answer
    said = {True: "예", False: "아니요"}.get(answer) if isinstance(answer, bool) else None
    said = said or (", ".join(answer) or "없음" if isinstance(answer, list) else str(answer or "없음"))
    detail = f" ({question.detail})" if question.detail else ""
    score = "" if question.score is None else f"  {_score(question.score)}"
    return f"[bold]{safe(said + detail)}[/bold]{score}"
