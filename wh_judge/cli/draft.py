"""`wh-judge draft`"""

import datetime as dt
import json
import sys

import click

from wh_judge.cli.progress import bar
from wh_judge.cli.wait import wait
from wh_judge.settings import load_settings
from wh_judge.text import one_line

_DAY = click.DateTime(["%Y-%m-%d"])


@click.command(name="draft")
@click.argument("first", metavar="FROM", type=_DAY)
@click.argument("last", metavar="TO", type=_DAY)
@click.option("--inputs", type=click.Path(), help="Folder of cards, lexicon, turns and gold [WH_JUDGE_INPUTS].")
@click.option("--data", type=click.Path(), help="Folder of what a run makes [WH_JUDGE_DATA].")
@wait
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(first: dt.datetime, last: dt.datetime, inputs: str | None, data: str | None, as_json: bool) -> None:
    """Let a language model write sentences for verdicts.

    For verdicts of the days FROM to TO that the setting drafts names, at the endpoint in WH_JUDGE_DRAFTS_URL. The
    model decides nothing: what does not hold is refused, and the rule's sentence stands.

    \b
    Example:
      wh-judge draft 2026-09-01 2026-09-07
    """
    from wh_judge.run import run_drafts
    from wh_judge.store import open_warehouse
    from wh_judge.store.drafts import count_drafts

    settings = load_settings(inputs=inputs, data=data)
    with bar() as progress:
        result = run_drafts(settings, first.date(), last.date(), progress)
    with open_warehouse(settings.warehouse) as connection:
        counts = count_drafts(connection, first.date(), last.date())
    if as_json:
        click.echo(json.dumps({"drafts": counts, "failed": result.failed}, ensure_ascii=False, indent=2))
    else:
        for row in counts:
            why = f"  {row['reason']}" if row["reason"] else ""
            such_as = f"  such as {row['turn_id']}: {row['found']}" if row["reason"] else ""
            click.echo(one_line(f"{row['model']}  {row['outcome']}{why}  {row['drafts']}{such_as}"))
        if not counts and not result.failed:
            click.echo(f"no verdict of these days is one of {', '.join(settings.drafts)}", err=True)
    for name, reason in result.failed.items():
        click.echo(one_line(f"wh-judge: {name} failed: {reason}"), err=True)
    # Other models' drafts are listed for comparison; they are not what was done here.
    refused = any(row["outcome"] != "kept" for row in counts if row["model"] == settings.drafts_model)
    sys.exit(int(bool(result.failed) or refused))
