"""`wh-judge why`"""

import json
from itertools import zip_longest
from typing import Any

import click
from rich.console import Console

from wh_judge.causes import DECIDED
from wh_judge.cli.words import WORD
from wh_judge.report import safe
from wh_judge.settings import reading_settings
from wh_judge.text import one_line

_INPUTS = {
    "turn_version": "turn",
    "card_version": "card",
    "settings_version": "settings",
    "code_version": "code",
    "lexicon_rows": "lexicon rows",
    "mentions": "earlier turns",
}
"""What a version of a verdict was judged from, in the words of this command."""


@click.command(name="why")
@click.argument("turn_id", type=WORD)
@click.option("--data", type=click.Path(), help="Folder of what a run makes [WH_JUDGE_DATA].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(turn_id: str, data: str | None, as_json: bool) -> None:
    """Show why a turn has its verdict, and why it changed.

    Its evidence, its checks, its earlier versions, and the cause of each change.

    \b
    Example:
      wh-judge why T-48
    """
    from wh_judge.store import read_warehouse
    from wh_judge.store.why import why

    with read_warehouse(reading_settings(data=data).warehouse) as connection:
        known = why(connection, turn_id)
    if as_json:
        click.echo(json.dumps(known, ensure_ascii=False, indent=2))
    else:
        console = Console(emoji=False, highlight=False)
        # Lines that a program reads are not broken at the width of a terminal that there is not.
        console.soft_wrap = not console.is_terminal
        _print(known, turn_id, console)


def _print(known: dict[str, Any], turn_id: str, console: Console) -> None:
    turn, verdict = known["turn"], known["verdict"]
    if turn:
        console.print(
            f"[bold]{safe(turn_id)}[/bold]  {turn['turn_at']}  {safe(turn['character_id'])}  "
            f"{safe(turn['model_id'])}  session {safe(turn['session_id'])}"
        )
        console.print(f"  user   {safe(str(turn['user_message']))}\n  reply  {safe(str(turn['reply_text']))}")
    if known["not_judged"]:
        console.print(f"[bold yellow]Not judged[/bold yellow]: {safe(known['not_judged'])}")
    if verdict:
        console.print(f"\n[bold]{verdict['verdict']}[/bold]  {safe(verdict['summary'])}")
        if verdict["hedge"]:
            console.print(f"  {safe(verdict['hedge'])}")
        console.print("[bold]Evidence[/bold]")
        for row in verdict["evidence"]:
            field = f"{row['agg']}({row['field']})" if row.get("agg") else row["field"]
            value = safe(json.dumps(row["value"], ensure_ascii=False))
            console.print(f"  {row['source']:<16}{field:<20} {value}", soft_wrap=True)
        inputs = verdict["inputs"]
        console.print(
            f"[bold]Judged from[/bold]  turn {inputs['turn_version'][:12]}, card {inputs['card_version'][:12]}, "
            f"{inputs['settings_version']}, code {inputs['code_version']}"
        )
        for row in inputs["lexicon_rows"]:
            console.print(f"  lexicon row {safe(row['term'])} -> {safe(row['topic'])}")
        for row in inputs["mentions"]:
            console.print(f"  {safe(row['entity'])} was named in {safe(row['turn_id'])}")
        console.print(f"  written {verdict['written_at']} by run {verdict['run_id']}")
    if known["checks"]:
        console.print("[bold]Checks[/bold]")
        for code, outcome in known["checks"].items():
            console.print(f"  {outcome:<15}{code}")
    if known["skipped"]:
        console.print(f"[bold]Not compared[/bold]  {', '.join(known['skipped'])}")
    for row in known["decisions"]:
        why = f": {row['why']}" if row["why"] else ""
        console.print(safe(one_line(f"{row['decision_id']}  {row['what']}  by {row['by']}{why}")), soft_wrap=True)
    versions = [*known["earlier_versions"], *([verdict] if verdict else [])]
    for version, later in zip_longest(known["earlier_versions"], versions[1:]):
        console.print(
            f"[bold]Earlier[/bold]  {version['verdict']}  from {version['written_at']} (run {version['run_id'][:8]})"
            f" to {version['until_at']} (run {version['until_run'][:8]})"
        )
        if later and later["run_id"] == version["until_run"] and (other := _only_inputs(version, later)):
            console.print(f"  then judged again with the same outcome; only these inputs were other: {other}")
    for change in known["changes"]:
        console.print(f"[bold]Changed[/bold]  {told(change)}", soft_wrap=True)


def _only_inputs(old: dict[str, Any], new: dict[str, Any]) -> str:
    """The inputs whose versions differ between two versions of a verdict that decide the same; empty where they do not:
    then the change has a cause of its own."""
    if any(old[name] != new[name] for name in DECIDED):
        return ""
    return ", ".join(word for name, word in _INPUTS.items() if old["inputs"][name] != new["inputs"][name])


def told(change: dict[str, Any]) -> str:
    """A change in one line: the verdicts, the fields where the verdict stayed, the cause, the run."""
    before, after = change["verdict_before"] or "no verdict", change["verdict_after"] or "no verdict"
    if before == after:
        old, new = change["fields_before"], change["fields_after"]
        what = f"{after}, other {', '.join(name for name in new if old[name] != new[name])}"
    else:
        what = f"{before} -> {after}"
    decided = "".join(
        f", decided in {row['decision_id']} by {row.get('by', 'somebody')}"
        + (f": {row['why']}" if row.get("why") else "")
        for row in change["decisions"]
    )
    return f"{what}  because of {safe(one_line('; '.join(change['cells']) + decided))}  (run {change['run_id'][:8]})"
