"""`wh-judge stale`"""

import json
import sys

import click

from wh_judge.settings import load_settings
from wh_judge.text import one_line
from wh_judge.uploaded import with_labels

_JUDGES = frozenset({"chat_turn", "character_card", "topic_lexicon"})
"""Inputs by which days are judged."""


@click.command(name="stale")
@click.option("--inputs", type=click.Path(), help="Folder of cards, lexicon, turns and gold [WH_JUDGE_INPUTS].")
@click.option("--data", type=click.Path(), help="Folder of what a run makes [WH_JUDGE_DATA].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(inputs: str | None, data: str | None, as_json: bool) -> None:
    """List the days that no longer follow from their inputs, and because of what.

    What stands in the warehouse is compared; inputs that changed since they were read, by files, files in the inbox
    or decisions, are named, not read. Which days those touch is known once wh-judge run has read them.

    \b
    Example:
      wh-judge stale
    """
    from wh_judge.store import read_warehouse
    from wh_judge.store.stale import find_stale
    from wh_judge.store.unread import unread_inputs

    settings = load_settings(inputs=inputs, data=data)
    with read_warehouse(settings.warehouse) as connection:
        stale = find_stale(connection, settings.rules, settings.card_as_of)
        unread = unread_inputs(connection, settings)
    if as_json:
        days = [{"day": str(entry.day), "causes": list(entry.causes), "failed": entry.failed} for entry in stale]
        click.echo(json.dumps({"stale": days, "inputs_not_read": unread}, ensure_ascii=False, indent=2))
    else:
        for entry in stale:
            failed = "  (a validation failed on just these inputs)" if entry.failed else ""
            click.echo(f"{entry.day}  {'; '.join(entry.causes)}{failed}")
        for name in unread:
            click.echo(
                f"{one_line(with_labels(name, settings.uploads))} is new or changed since it was read; {_next(name)}",
                err=True,
            )
        if not stale and not unread:
            click.echo("nothing is stale", err=True)
    sys.exit(int(bool(stale or unread)))


def _next(name: str) -> str:
    """What reads an input, and what is known before of the days that it touches."""
    from wh_judge.inputs import TABLES

    if name in {table.place for table in TABLES.values() if table.name not in _JUDGES}:
        return "wh-judge run reads it; no day is judged by it"
    return "wh-judge run reads it, and only then it is known which days it touches"
