"""`wh-judge changes`"""

import datetime as dt
import json

import click
from rich.console import Console

from wh_judge.cli.why import told
from wh_judge.report import safe
from wh_judge.settings import reading_settings

_DAY = click.DateTime(["%Y-%m-%d"])


@click.command(name="changes")
@click.argument("first", metavar="[FROM]", type=_DAY, required=False)
@click.argument("last", metavar="[TO]", type=_DAY, required=False)
@click.option("--data", type=click.Path(), help="Folder of what a run makes [WH_JUDGE_DATA].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(first: dt.datetime | None, last: dt.datetime | None, data: str | None, as_json: bool) -> None:
    """List the verdicts that changed, and the cause of each.

    Of turns of the days FROM to TO (YYYY-MM-DD, both included), or of all.

    \b
    Examples:
      wh-judge changes
      wh-judge changes 2026-09-01 2026-09-07 --json
    """
    from wh_judge.store import read_warehouse
    from wh_judge.store.changes import read_changes

    with read_warehouse(reading_settings(data=data).warehouse) as connection:
        changes = read_changes(connection, first and first.date(), last and last.date())
    if as_json:
        click.echo(json.dumps(changes, ensure_ascii=False, indent=2))
        return
    if not changes:
        click.echo("no verdict has changed", err=True)
        return
    console = Console(emoji=False, highlight=False)
    for change in changes:
        console.print(f"{change['day']}  [bold]{safe(change['turn_id'])}[/bold]  {told(change)}", soft_wrap=True)
