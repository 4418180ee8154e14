"""`wh-judge draft`"""

import datetime as dt
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from wh_judge.cli.progress import bar
from wh_judge.cli.wait import wait
from wh_judge.errors import UserError
from wh_judge.settings import Settings, load_settings
from wh_judge.text import listed, one_line

_DAY = click.DateTime(["%Y-%m-%d"])


@click.command(name="draft")
@click.argument("first", metavar="FROM", type=_DAY)
@click.argument("last", metavar="TO", type=_DAY)
@click.option("--inputs", type=click.Path(), help="Folder of cards, lexicon, turns and gold [WH_JUDGE_INPUTS].")
@click.option("--data", type=click.Path(), help="Folder of what a run makes [WH_JUDGE_DATA].")
@click.option("--requests", type=click.Path(path_type=Path), help="Ask nobody; write the requests to a .jsonl file.")
@wait
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    first: dt.datetime,
    last: dt.datetime,
    inputs: str | None,
    data: str | None,
    requests: Path | None,
    as_json: bool,
) -> None:
    """Let a language model write sentences for verdicts.

    For verdicts of the days FROM to TO that the setting drafts names, at the endpoint in WH_JUDGE_DRAFTS_URL. The
    model decides nothing: what does not hold is refused, and the rule's sentence stands. With --requests nobody is
    asked: the requests are written in OpenAI's batch form, for wh-judge validate --drafts to score what comes back.

    \b
    Examples:
      wh-judge draft 2026-09-01 2026-09-07
      wh-judge draft 2026-09-01 2026-09-07 --requests requests.jsonl
    """
    settings = load_settings(inputs=inputs, data=data)
    if requests is not None:
        sys.exit(_write(settings, first.date(), last.date(), requests, as_json))
    sys.exit(_ask(settings, first.date(), last.date(), as_json))


def _ask(settings: Settings, first: dt.date, last: dt.date, as_json: bool) -> int:
    from wh_judge.report import counted, tally_lines
    from wh_judge.run import run_drafts
    from wh_judge.store import open_warehouse
    from wh_judge.store.drafts import count_drafts

    with bar() as progress:
        result = run_drafts(settings, first, last, progress)
    with open_warehouse(settings.warehouse) as connection:
        counts = count_drafts(connection, first, last)
    tally, priced = result.drafted, any(settings.drafts_prices)
    if as_json:
        summary = {"money": None, "cached_money": None} | tally.told(priced)
        document = {"drafts": counts, "summary": summary, "failed": result.failed}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        for row in counts:
            why = f"  {row['reason']}" if row["reason"] else ""
            such_as = f"  such as {row['turn_id']}: {row['found']}" if row["reason"] else ""
            number = f"{counted(row['turns'], 'turn')}, {counted(row['answers'], 'answer')}"
            click.echo(one_line(f"{row['model']}  {row['outcome']}{why}  {number}{such_as}"))
        if tally.turns:
            click.echo("\n" + "\n".join(map(one_line, tally_lines(tally, priced))), err=True)
        elif not result.failed:
            click.echo(f"no verdict of these days is one of {', '.join(settings.drafts)}", err=True)
    for name, reason in result.failed.items():
        click.echo(one_line(f"wh-judge: {name} failed: {reason}"), err=True)
    # Other models' drafts are listed for comparison; they are not what was done here.
    return int(bool(result.failed) or tally.kept < tally.turns)


def _write(settings: Settings, first: dt.date, last: dt.date, out: Path, as_json: bool) -> int:
    from wh_judge.drafts.batch import batch_line
    from wh_judge.drafts.day import model_of
    from wh_judge.drafts.prompt import request_for
    from wh_judge.outputs import check_writable, write_documents
    from wh_judge.report import counted
    from wh_judge.store import read_warehouse
    from wh_judge.store.drafts import days_to_draft, read_cases

    check_writable(out)
    if out.suffix.lower() != ".jsonl":
        raise UserError(f"{out}: requests are written to a name that ends in .jsonl")
    model, written, left_out = model_of(settings), 0, []
    with read_warehouse(settings.warehouse) as connection:
        days = days_to_draft(connection, first, last)

        def lines() -> Iterator[dict[str, Any]]:
            nonlocal written
            for day in days:
                for case in read_cases(connection, day, settings.drafts, settings.rules):
                    request = request_for(case.verdict, model)
                    if request is None:
                        left_out.append(case.verdict.turn_id)
                    else:
                        written += 1
                        yield batch_line(case.verdict.turn_id, request)

        write_documents(lines(), out, [])
    if as_json:
        click.echo(json.dumps({"requests": written, "left_out": left_out}, ensure_ascii=False, indent=2))
    click.echo(f"{counted(written, 'request')} written to {out}; nobody was asked", err=True)
    if left_out:
        click.echo(one_line(f"left out, since their documents are too long: {listed(left_out)}"), err=True)
    return int(bool(left_out))
