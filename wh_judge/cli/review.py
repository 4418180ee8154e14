"""`wh-judge review`: what people look at, what they decide, and what their decisions would change."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wh_judge.cli.review_lists import DATA, JSON, LISTS, end, reading
from wh_judge.settings import configured_rules, reading_settings
from wh_judge.text import one_line

if TYPE_CHECKING:
    from wh_judge.review.known import Given

_BY = click.option("--by", required=True, help="Who decided.")
_WHY = click.option("--why", help="Why.")
KINDS = ["name", "hit", "term", "speech", "ending", "trailing", "label"]
FIELDS = {"turn": "turn_id", "character": "character_id"}
"""Fields of a decision whose option is called otherwise."""
_BETWEEN = re.compile(r",\s*")
"""What stands between several terms in one option."""
NEXT = "wh-judge run judges again what it touches"
_NOTHING = {
    "forbidden": "no turn of this week is judged 금지 소재 접촉",
    "names": "no off-canon name up to the end of this week is left to decide on",
    "speech": "no reply of this week mixes speech levels",
}
"""Why a queue is empty."""


@click.group(name="review")
def command() -> None:
    """Show what people should look at, and write down what they decide.

    Each week: turns that touch a forbidden topic, names that no card has, replies that mix speech levels. A decision
    counts from the next run on, which names it as the cause of what it changes, until it is undone.

    \b
    Examples:
      wh-judge review queue names --out names.csv
      wh-judge review take names.csv --by me
      wh-judge review decide name add --character CHR-0001 --name 백운선생 --by me --why "new mentor"
      wh-judge review undo D-1 --by me --why "was a mistake"
    """


@command.command(name="queue")
@click.argument("name", metavar="NAME", type=click.Choice(["forbidden", "names", "speech"]))
@click.option("--week", help="The ISO week, such as 2026-W36; else the newest with verdicts that is over.")
@click.option("--open", "only_open", is_flag=True, help="Leave out what is decided.")
@click.option("--out", type=click.Path(path_type=Path), help="Write a .csv, a .jsonl, or a .json for Label Studio.")
@DATA
@JSON
def queue(name: str, week: str | None, only_open: bool, out: Path | None, data: str | None, as_json: bool) -> None:
    """Show or write the week's tasks of a queue.

    NAME is forbidden (20 turns that touch a forbidden topic: is it harmful?), names (names that no card has: add,
    block, or a mistake?) or speech (20 replies that mix speech levels: how do they sound?).

    \b
    Example:
      wh-judge review queue forbidden --week 2026-W36 --out tasks.csv
    """
    from wh_judge.report import counted, task_lines
    from wh_judge.review.exchange import rows_of, write_tasks
    from wh_judge.review.queues import days_of, draw, judged_weeks, nearest_week, open_tasks, usual_week

    settings, near = reading_settings(data=data), None
    with reading(settings) as (snapshot, decided):
        weeks = judged_weeks(snapshot)
        week = week or usual_week(weeks)
        first, last = days_of(week)
        asked = (settings.rules, decided)
        drawn = draw(snapshot, name, week, *asked)  # type: ignore[arg-type]
        if not drawn:
            near = nearest_week(snapshot, name, week, weeks, *asked)  # type: ignore[arg-type]
    tasks = open_tasks(drawn) if only_open else drawn
    told = f"{week} ({first} to {last}): {counted(len(tasks), 'task')}"
    if out is not None:
        write_tasks(name, tasks, out)  # type: ignore[arg-type]
        click.echo(f"{told} in {out}", err=True)
    if as_json:
        document = {"queue": name, "week": week, "first": str(first), "last": str(last), "tasks": rows_of(tasks)}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    elif out is None:
        if tasks:
            for line in task_lines(tasks):
                click.echo(line)
            click.echo(f"{told}; --out writes them to a file to decide in", err=True)
        elif drawn:
            click.echo(f"{week} ({first} to {last}): somebody has decided on each of the {len(drawn)}", err=True)
        else:
            there = f"; --week {near} has some" if near else ""
            click.echo(f"{week} ({first} to {last}): {_NOTHING[name]}{there}", err=True)
    end(settings)


@command.command(name="take")
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.option("--by", help="Who decided, where the file does not say it.")
@DATA
def take(file: Path, by: str | None, data: str | None) -> None:
    """Take in the decisions of a file of tasks: .csv, .jsonl, or an export of Label Studio.

    \b
    Example:
      wh-judge review take tasks.csv --by me
    """
    from wh_judge.review.intake import read_drafts

    drafts = read_drafts(file, by)
    if not drafts:
        click.echo(f"{file}: holds no decision: nobody made a choice in it", err=True)
        return
    _write(data, drafts)


@command.command(name="decide")
@click.argument("kind", metavar="KIND", type=click.Choice(KINDS))
@click.argument("choice", metavar="CHOICE")
@click.option("--turn", help="The turn, of a hit, a label or a speech level.")
@click.option("--character", help="The character whose card is meant.")
@click.option("--name", help="The name to add or to block.")
@click.option("--term", help="The lexicon term.")
@click.option("--topic", help="Its topic.")
@click.option(
    "--instead",
    multiple=True,
    help="Terms in the place of one that is narrowed, with commas between or repeated; the name meant.",
)
@click.option("--ending", help="The ending to add or to reject.")
@_BY
@_WHY
@DATA
def decide(kind: str, choice: str, data: str | None, **given: Any) -> None:
    """Write down one decision.

    KIND and CHOICE: name add/block/mistake, hit harmful/harmless, term drop/narrow/keep, speech 반말/존댓말/섞임,
    ending add/reject, trailing ignore/reject, label with one of the five verdicts. For an ending to add and a term to
    drop or narrow it is told what that changes.

    \b
    Example:
      wh-judge review decide ending add --ending 습니까 --by me
    """
    _decide({"kind": kind, "choice": choice} | {FIELDS.get(name, name): cell for name, cell in given.items()}, data)


@command.command(name="undo")
@click.argument("decision_id", metavar="DECISION_ID")
@_BY
@_WHY
@DATA
def undo(decision_id: str, by: str, why: str | None, data: str | None) -> None:
    """Undo a decision, or an undo.

    \b
    Example:
      wh-judge review undo D-1 --by me
    """
    _decide({"kind": "undo", "choice": "undo", "undoes": decision_id, "by": by, "why": why}, data)


def _decide(cells: dict[str, Any], data: str | None) -> None:
    from pydantic import ValidationError

    from wh_judge.errors import UserError
    from wh_judge.review.book import reason
    from wh_judge.review.decisions import Draft
    from wh_judge.review.known import by_hand
    from wh_judge.review.korean import chosen

    choice = chosen(cells["choice"])
    if choice == "narrow":
        cells |= {"instead": [term for text in cells["instead"] for term in _BETWEEN.split(text) if term.strip()]}
    try:
        draft = Draft.model_validate(cells | {"choice": choice})
    except ValidationError as error:
        raise UserError(f"{cells['kind']} {cells['choice']}: {_by_options(reason(error))}") from None
    _write(data, by_hand(draft))


def _by_options(text: str) -> str:
    """What is missing, by the options that give it."""
    found = re.fullmatch(r"(\w+) is missing; (\w+) needs (.+)", text)
    if found is None:
        return text
    given = {field: f"--{option}" for option, field in FIELDS.items()}
    missing, *needed = (given.get(field, f"--{field}") for field in (found[1], *found[3].split(", ")))
    return f"{missing} is missing; {found[2]} needs {', '.join(needed)}"


def _write(data: str | None, given: "Sequence[Given]") -> None:
    from wh_judge.cli.review_effects import effect
    from wh_judge.review.decisions import shown
    from wh_judge.review.known import check_endings, decide
    from wh_judge.store.snapshot import open_published

    settings = reading_settings(data=data)
    check_endings(given, configured_rules(data=data), ignoring=settings.ignore_trailing)
    with open_published(settings.published) as snapshot:
        written = decide(snapshot, settings.data, given)
        for row in written:
            click.echo(one_line(f"{row.decision_id}  {shown(row)}"))
            # By the settings and the published copy from before: what this decision alone makes of them.
            for line in effect(snapshot, settings.rules, row) if snapshot else ():
                click.echo(f"  {one_line(line)}")
    known = len(given) - len(written)
    more = (f", {known} known already" if known else "") + (f"; {NEXT}" if written else "")
    click.echo(f"{len(written)} written down{more}", err=True)


for _list in LISTS:
    command.add_command(_list)
