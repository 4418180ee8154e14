"""What a person wants to see after a run, as tables in a terminal and as one JSON document."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import duckdb
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wh_judge.model import VERDICTS
from wh_judge.settings import Settings
from wh_judge.text import listed, one_line, printable
from wh_judge.uploaded import with_labels
from wh_judge.validations import VALIDATIONS, ValidationResult

if TYPE_CHECKING:
    from wh_judge.drafts.score import Score
    from wh_judge.drafts.tally import Tally
    from wh_judge.review.queues import Task

SHORT = dict(zip(VERDICTS[1:], ("말투", "세계관", "금지", "기억"), strict=True))
"""Heads of narrow columns."""
PROBLEMS_SHOWN = 12
DIVERGING_SHOWN = 8


def summarise(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """All that the tables show. What has not run yet is None, never 0."""
    # The warehouse loads Dagster, which `judge` and `validate` need not have.
    from wh_judge.store.evaluations import VALIDATION_SUMS, read
    from wh_judge.store.problems import read_problems

    def rows(sql: str) -> list[dict[str, Any]]:
        return list(connection.sql(sql).to_arrow_table().to_pylist())

    by_model = "SELECT model_id, verdict, count(*) AS turns FROM verdict GROUP BY ALL ORDER BY ALL"
    return {
        "verdicts_by_model": rows(by_model),
        "unjudged": rows(
            "SELECT character_id, reason, count(*) AS turns FROM unjudged GROUP BY ALL ORDER BY turns DESC, reason"
        ),
        "validations": rows(VALIDATION_SUMS),
        "days": rows("SELECT day::VARCHAR AS day, version, run_id FROM judged_day ORDER BY day"),
        "gold_agreement": read(connection, "gold_agreement"),
        "model_divergence": read(connection, "model_divergence"),
        "problems": [problem._asdict() for problem in read_problems(connection)],
    }


def print_summary(summary: dict[str, Any], settings: Settings, console: Console) -> None:
    """The tables, for people."""
    _print_verdicts(summary, console)
    _print_validations(summary, console)
    _print_agreement(summary["gold_agreement"], console)
    _print_divergence(summary["model_divergence"], console)
    _print_problems(summary, settings, console)
    console.print()
    _heading("What to open next", console)
    for what, where in (
        ("the graph, its checks and its history", "make ui, or dagster dev where there is no Makefile"),
        ("the verdicts on a page, in Korean", "make serve, or wh-judge screen"),
        ("why a turn has its verdict", "wh-judge why TURN_ID"),
        ("what changed, and why", "wh-judge changes"),
        ("what people look at and decide", "wh-judge review, or the page /review"),
        ("what the rules are and why", "wh-judge rules"),
        ("Data Docs of the tables", str(settings.docs / "index.html")),
        ("snapshots for analysts (DuckDB)", str(settings.published)),
    ):
        console.print(f"  {what:<40}{safe(where)}", soft_wrap=True)


def _heading(text: str, console: Console) -> None:
    console.print(f"[bold]{safe(text)}[/bold]", soft_wrap=True)


def number_table(*columns: str, text: int = 1) -> Table:
    """A table whose first `text` columns are text, folded where the terminal is narrow, and whose others are numbers,
    which stay whole."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for place, column in enumerate(columns):
        if place < text:
            table.add_column(column, overflow="fold")
        else:
            table.add_column(column, justify="right", no_wrap=True)
    return table


def _print_verdicts(summary: dict[str, Any], console: Console) -> None:
    counts = {(row["model_id"], row["verdict"]): row["turns"] for row in summary["verdicts_by_model"]}
    models = sorted({model for model, _ in counts})
    table = number_table("verdict", *(safe(model) for model in models), "all")
    for verdict in VERDICTS:
        found = [counts.get((model, verdict), 0) for model in models]
        table.add_row(verdict, *map(str, found), str(sum(found)))
    totals = [sum(counts.get((model, verdict), 0) for verdict in VERDICTS) for model in models]
    table.add_section()
    table.add_row("judged turns", *map(str, totals), str(sum(totals)))
    for column, total in zip(table.columns[1:-1], totals, strict=True):
        # Here a head is a name, which may be long: it folds, above numbers that do not.
        column.no_wrap, column.overflow, column.min_width = False, "fold", len(str(total))
    _heading("Verdicts by model", console)
    console.print(table)


def _print_validations(summary: dict[str, Any], console: Console) -> None:
    found = {row["code"]: row for row in summary["validations"]}
    table = number_table("validation", "looked at", "passed", "failed", "not applicable")
    for entry in VALIDATIONS:
        row = found.get(entry.code)
        if row is None:
            table.add_row(entry.code, "not run", "", "", "")
            continue
        failed = f"[bold red]{row['failed']}[/bold red]" if row["failed"] else "0"
        cells = [str(row["looked_at"]), str(row["passed"]), failed, str(row["not_applicable"])]
        table.add_row(entry.code, *cells)
    _heading("Validations over all days", console)
    console.print(table)


def _print_agreement(agreement: dict[str, Any] | None, console: Console) -> None:
    if agreement is None or agreement["agreement"] is None:
        _heading("Agreement with the labels", console)
        if agreement is None:
            reason = "has not run"
        else:
            reason = "no labelled turn was judged" if agreement["labels"] else "there are no labels"
        console.print(f"  none: {reason}")
        _print_unmatched(agreement, console)
        return
    low, high = agreement["agreement_low"], agreement["agreement_high"]
    kappa = "not defined" if agreement["kappa"] is None else f"{agreement['kappa']:.3f}"
    _heading(
        f"Agreement with the labels: {agreement['agreed']} of {agreement['found']} = {agreement['agreement']:.1%}"
        f" (95 % {low:.1%} to {high:.1%}), kappa {kappa}",
        console,
    )
    table = number_table("verdict", "labels", "judged", "precision", "recall", "F1")
    for score in agreement["per_verdict"]:
        ratios = [score["precision"], score["recall"], score["f1"]]
        cells = ["–" if ratio is None else f"{ratio:.2f}" for ratio in ratios]
        table.add_row(score["verdict"], str(score["support"]), str(score["predicted"]), *cells)
    console.print(table)
    _print_unmatched(agreement, console)
    diverging = agreement["diverging"]
    if not diverging:
        return
    _heading(f"Turns where label and judge differ ({len(diverging)})", console)
    table = number_table("turn", "label", "judge", "note", text=4)
    for turn in diverging[:DIVERGING_SHOWN]:
        table.add_row(safe(turn["turn_id"]), turn["label"], turn["verdict"], safe(turn["note"] or ""))
    if len(diverging) > DIVERGING_SHOWN:
        table.add_row(f"… {len(diverging) - DIVERGING_SHOWN} more", "", "", "")
    console.print(table)


def _print_unmatched(agreement: dict[str, Any] | None, console: Console) -> None:
    for name, what in (("not_found", "of no turn in the log"), ("not_judged", "of turns that were not judged")):
        ids = agreement[name] if agreement else []
        if ids:
            shown = ", ".join(ids[:DIVERGING_SHOWN]) + (" …" if len(ids) > DIVERGING_SHOWN else "")
            console.print(f"  labels {what}: {len(ids)} ({safe(shown)})", soft_wrap=True)


def _print_divergence(divergence: dict[str, Any] | None, console: Console) -> None:
    if divergence is None or not divergence["prompts"]:
        reason = "has not run" if divergence is None else "no prompt was answered by all models"
        _heading("Divergence by model", console)
        console.print(f"  none: {reason}")
        return
    test = divergence["test"]
    outcome = (
        f"{test['name']} p = {test['p_value']:.2g}"
        if test["p_value"] is not None
        else f"no test: {test['not_computed']}"
    )
    _heading(f"Divergence by model on {divergence['prompts']} prompts that all answered ({outcome})", console)
    table = number_table("model", "diverging", "rate", "95 % interval", *SHORT.values())
    for row in divergence["per_model"]:
        reasons = [str(row["by_reason"].get(verdict, 0)) for verdict in SHORT]
        rate, interval = f"{row['rate']:.1%}", f"{row['low']:.1%} – {row['high']:.1%}"
        table.add_row(safe(row["model_id"]), str(row["diverging"]), rate, interval, *reasons)
    console.print(table)
    for entry in divergence["left_out"]:
        console.print(f"  left out: {entry['prompts']} prompts {safe(entry['reason'])}")


def _print_problems(summary: dict[str, Any], settings: Settings, console: Console) -> None:
    for row in summary["unjudged"]:
        console.print(f"[bold yellow]Not judged[/bold yellow] {counted(row['turns'], 'turn')}: {safe(row['reason'])}")
    problems = summary["problems"]
    if not problems:
        console.print("[bold]Rejected rows[/bold]\n  none")
        return
    rejected = sum(problem["severity"] == "rejected" for problem in problems)
    console.print(f"[bold yellow]Rejected rows[/bold yellow] {rejected}, noted {len(problems) - rejected}")
    for problem in problems[:PROBLEMS_SHOWN]:
        where = problem["file"] if problem["line"] is None else f"{problem['file']}:{problem['line']}"
        where, reason = (with_labels(text, settings.uploads) for text in (where, problem["reason"]))
        console.print(f"  {safe(where)}  {safe(reason)}", soft_wrap=True)
    if len(problems) > PROBLEMS_SHOWN:
        console.print(f"  … {len(problems) - PROBLEMS_SHOWN} more, in rejected_rows of the warehouse and in --json")


def validation_tables(results: Sequence[ValidationResult], shown: int, console: Console) -> None:
    """The results of validating a file, and the first failing turns of each."""
    _heading("Validations", console)
    table = number_table("validation", "looked at", "passed", "failed", "not applicable")
    for result in results:
        failed = f"[bold red]{result.failed}[/bold red]" if result.failed else "0"
        cells = [str(result.looked_at), str(result.passed), failed, str(result.not_applicable)]
        table.add_row(result.code, *cells)
    console.print(table)
    for result in results:
        for failure in result.failures[:shown]:
            turn = failure.turn_id or f"row {failure.row}"
            console.print(f"  {result.code}  {safe(turn)}  {safe(failure.reason)}", soft_wrap=True)
        if len(result.failures) > shown:
            console.print(f"  {result.code}  … {len(result.failures) - shown} more, all of them in --json")


def draft_tables(scores: "Sequence[Score]", shown: int, console: Console) -> None:
    """What became of responses as drafts, file by file, why, and the first refusals of each file."""
    _heading("Responses as drafts", console)
    told = any(score.missing is not None for score in scores)
    table = number_table("file", "responses", "kept", "default", "thrown away", "none", *(["missing"] if told else []))
    for score in scores:
        counts = [
            score.responses,
            *(score.outcomes[name] for name in ("kept", "default", "thrown_away", "no_response")),
            *([] if score.missing is None else [len(score.missing)]),
        ]
        table.add_row(safe(score.file), *map(str, counts))
    console.print(table)
    for score in scores:
        if score.missing:
            console.print(f"  {safe(score.file)}  missing  {safe(listed(score.missing))}", soft_wrap=True)
        for code, count in score.reasons.most_common():
            console.print(f"  {safe(score.file)}  {code}  {count}", soft_wrap=True)
        for refusal in score.refusals[:shown]:
            where = refusal["turn_id"] or f"line {refusal['line']}"
            reasons = "; ".join(reason["reason"] for reason in refusal["reasons"])
            console.print(f"  {safe(score.file)}  {safe(where)}  {refusal['outcome']}  {safe(reasons)}", soft_wrap=True)
        if len(score.refusals) > shown:
            console.print(f"  {safe(score.file)}  … {len(score.refusals) - shown} more, all of them in --json")


def tally_lines(tally: "Tally", priced: bool) -> list[str]:
    """What came of drafts and what that took; money where prices are set."""
    from wh_judge.drafts.tally import money_told

    def used(prompt: int, response: int, estimated: int, money: float) -> str:
        guessed = f"; {estimated:,} of all are estimates, the most that may have been used" if estimated else ""
        tokens = f"{prompt + response:,} tokens ({prompt:,} of prompts, {response:,} of responses{guessed})"
        return f"{tokens}, {money_told(money)} of money" if priced else tokens

    outcomes = f"{tally.kept} kept, {tally.default} default, {tally.thrown_away} thrown away"
    cached = used(
        tally.cached_prompt_tokens, tally.cached_response_tokens, tally.cached_estimated_tokens, tally.cached_money
    )
    asked = used(tally.prompt_tokens, tally.response_tokens, tally.estimated_tokens, tally.money)
    return [
        f"{counted(tally.turns, 'turn')}: {outcomes}, {tally.no_response} without a response",
        *(f"  {code}: {counted(count, 'turn')}" for code, count in tally.reasons.most_common()),
        *(
            [f"from the cache: {counted(tally.from_cache, 'turn')}, which had used {cached}"]
            if tally.from_cache
            else []
        ),
        f"asked now: {counted(tally.requests, 'request')} in {tally.seconds:.1f} s, {asked}",
    ]


def task_lines(tasks: "Iterable[Task]") -> Iterator[str]:
    """The tasks of one queue, two lines each: what to look at and what was decided, then what was said, whole."""
    for task in tasks:
        head, said = _of_name(task) if task.queue == "names" else _of_turn(task)
        decided = f"[{task.decided}]" if task.decided else ""
        yield one_line("  ".join(filter(None, (*head, decided))))
        yield f"    {one_line(said)}"


def _of_name(task: "Task") -> tuple[list[str], str]:
    close = ", ".join(f"{one['name']} ({one['how']})" for one in task.data["closest"])
    said = task.data["turns"][0]
    count = counted(task.data["count"], "turn")
    head = [task.name or "", task.data["character_name"], count, f"close to {close}" if close else ""]
    return head, f"{said['turn_id']}: {said['reply_text'] or ''}"


def _of_turn(task: "Task") -> tuple[list[str], str]:
    data = task.data
    why = f"{task.term} -> {task.topic}" if task.kind == "hit" else f"{data['polite']} of {data['sentences']} polite"
    return [task.turn_id or "", data["character_name"] or "", why], data["reply_text"] or ""


def safe(text: str) -> str:
    """Text from a log or a file for a console: it is neither markup nor a command to the terminal."""
    return escape(printable(text))


def counted(number: int, what: str) -> str:
    """1 day, 2 days."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
