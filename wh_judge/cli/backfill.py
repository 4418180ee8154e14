"""`wh-judge backfill`"""

import datetime as dt
import sys

import click

from wh_judge.cli.progress import bar
from wh_judge.cli.run import show
from wh_judge.cli.wait import wait
from wh_judge.errors import UserError
from wh_judge.settings import load_settings

_DAY = click.DateTime(["%Y-%m-%d"])


@click.command(name="backfill")
@click.argument("first", metavar="FROM", type=_DAY)
@click.argument("last", metavar="TO", type=_DAY)
@click.option("--only-stale", is_flag=True, help="Leave out the days that are fresh.")
@click.option("--inputs", type=click.Path(), help="Folder of cards, lexicon, turns and gold [WH_JUDGE_INPUTS].")
@click.option("--data", type=click.Path(), help="Folder of what a run makes [WH_JUDGE_DATA].")
@wait
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables.")
def command(
    first: dt.datetime, last: dt.datetime, only_stale: bool, inputs: str | None, data: str | None, as_json: bool
) -> None:
    """Materialise the days FROM to TO in order.

    Of the days (YYYY-MM-DD, both included) those that have turns, whether they are stale or not.

    \b
    Examples:
      wh-judge backfill 2026-09-01 2026-09-14
      wh-judge backfill 2026-09-01 2026-09-30 --only-stale
    """
    from wh_judge.run import run_range

    if first > last:
        raise UserError(f"FROM {first:%Y-%m-%d} lies after TO {last:%Y-%m-%d}; swap them")
    settings = load_settings(inputs=inputs, data=data)
    with bar() as progress:
        result = run_range(settings, first.date(), last.date(), progress, only_stale=only_stale)
    sys.exit(show(settings, result, as_json))
