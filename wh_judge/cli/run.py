"""`wh-judge run`"""

import json
import sys

import click
from rich.console import Console

from wh_judge.cli.progress import bar
from wh_judge.cli.wait import wait
from wh_judge.settings import Settings, load_settings
from wh_judge.text import one_line


@click.command(name="run")
@click.option("--inputs", type=click.Path(), help="Folder of cards, lexicon, turns and gold [WH_JUDGE_INPUTS].")
@click.option("--data", type=click.Path(), help="Folder of what a run makes [WH_JUDGE_DATA].")
@wait
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables.")
def command(inputs: str | None, data: str | None, as_json: bool) -> None:
    """Materialise what is missing or stale and show the result.

    Reads new and changed files, judges the days that they concern, and measures again. Nothing changed: nothing is run.

    \b
    Examples:
      wh-judge run
      wh-judge run --inputs my-log --data my-data --json
    """
    from wh_judge.run import run_stale

    settings = load_settings(inputs=inputs, data=data)
    with bar() as progress:
        result = run_stale(settings, progress)
    sys.exit(show(settings, result, as_json))


def show(settings: Settings, result: "RunResult", as_json: bool) -> int:  # type: ignore[name-defined]  # noqa: F821
    """Print what the warehouse holds now and what the run did; the exit code tells whether to look at something."""
    from wh_judge.report import counted, print_summary, summarise
    from wh_judge.store import open_warehouse
    from wh_judge.store.changes import count_changes

    with open_warehouse(settings.warehouse) as connection:
        summary = summarise(connection)
        changed = count_changes(connection, result.runs)
    summary["run"] = {
        "dagster_runs": len(result.runs),
        "changed": changed,
        "days_judged": [str(day) for day in result.days],
        "turns_judged": result.turns,
        "failed": result.failed,
        "days_without_partition": [str(day) for day in result.outside],
    }
    if as_json:
        click.echo(json.dumps(summary, ensure_ascii=False, indent=2))
    else:
        print_summary(summary, settings, Console(emoji=False, highlight=False))
        judged = f"{counted(result.turns, 'turn')} of {counted(len(result.days), 'day')} judged"
        judged += f" in {counted(len(result.runs), 'run')}"
        done = judged if result.runs else "nothing to do: all is fresh"
        if changed["turns"]:
            verdicts = f"{counted(changed['verdicts'], 'verdict')} changed"
            done += f"; {counted(changed['turns'], 'turn')} not as before, {verdicts}: wh-judge changes tells why"
        click.echo(f"\n{done}", err=True)
    for name, reason in result.failed.items():
        click.echo(one_line(f"wh-judge: {name} failed: {reason}"), err=True)
    for day in result.outside:
        remedy = "set first_day in pyproject.toml or WH_JUDGE_FIRST_DAY" if day < settings.first_day else "wait for it"
        click.echo(f"wh-judge: {day} has turns but no partition; {remedy}", err=True)
    return int(bool(result.failed or result.outside or summary["problems"] or summary["unjudged"]))
