"""`wh-judge review`: what people look at, what they decide, and what their decisions would change."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wh_judge.settings import Settings, load_settings

if TYPE_CHECKING:
    import duckdb

    from wh_judge.review.decisions import Decision
    from wh_judge.review.endings import Proposal
    from wh_judge.review.labels import PairAgreement

_DATA = click.option("--data", type=click.Path(), help="Folder of what a run makes [WH_JUDGE_DATA].")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
_BY = click.option("--by", required=True, help="Who decided.")
_WHY = click.option("--why", help="Why.")
KINDS = ["name", "hit", "term", "speech", "ending", "trailing", "label"]
NEXT = "wh-judge run judges again what it touches"


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


def _read(data: str | None, what: "Callable[[duckdb.DuckDBPyConnection, Settings, list[Decision]], Any]") -> Any:
    from wh_judge.store import open_warehouse
    from wh_judge.store.decisions import decisions_of

    settings = load_settings(data=data)
    with open_warehouse(settings.warehouse) as connection:
        return what(connection, settings, decisions_of(settings))


def _show(as_json: bool, document: object, lines: Iterable[str]) -> None:
    """Print what a command found: one JSON document, or lines that a terminal can show."""
    if as_json:
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
        return
    for line in lines:
        _echo(line)


def _echo(text: str) -> None:
    from wh_judge.text import one_line

    click.echo(one_line(text))


@command.command(name="queue")
@click.argument("name", metavar="NAME", type=click.Choice(["forbidden", "names", "speech"]))
@click.option("--week", help="The ISO week, such as 2026-W36; else that of the newest verdicts.")
@click.option("--open", "only_open", is_flag=True, help="Leave out what is decided.")
@click.option("--out", type=click.Path(path_type=Path), help="Write a .csv, a .jsonl, or a .json for Label Studio.")
@_DATA
@_JSON
def queue(name: str, week: str | None, only_open: bool, out: Path | None, data: str | None, as_json: bool) -> None:
    """Show or write the week's tasks of a queue.

    \b
    Example:
      wh-judge review queue forbidden --week 2026-W36 --out tasks.csv
    """
    from wh_judge.review.exchange import rows_of, write_tasks
    from wh_judge.review.queues import Task, draw, newest_week, open_tasks

    def drawn(connection: "duckdb.DuckDBPyConnection", settings: Settings, decisions: "list[Decision]") -> list[Task]:
        return draw(connection, name, week or newest_week(connection), settings.rules, decisions)  # type: ignore[arg-type]

    tasks = _read(data, drawn)
    tasks = open_tasks(tasks) if only_open else tasks
    if out is not None:
        write_tasks(tasks, out)
        click.echo(f"{len(tasks)} tasks in {out}", err=True)
    if as_json:
        click.echo(json.dumps(rows_of(tasks), ensure_ascii=False, indent=2))
    elif out is None:
        from rich.console import Console

        from wh_judge.report import task_table

        if tasks:
            Console(emoji=False, highlight=False).print(task_table(tasks))
        click.echo(f"{len(tasks)} tasks; --out writes them to a file to decide in", err=True)


@command.command(name="take")
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.option("--by", help="Who decided, where the file does not say it.")
@_DATA
def take(file: Path, by: str | None, data: str | None) -> None:
    """Take in the decisions of a file of tasks: .csv, .jsonl, or an export of Label Studio.

    \b
    Example:
      wh-judge review take tasks.csv --by me
    """
    from wh_judge.review.intake import read_drafts

    _write(load_settings(data=data), read_drafts(file, by))


@command.command(name="decide")
@click.argument("kind", metavar="KIND", type=click.Choice(KINDS))
@click.argument("choice", metavar="CHOICE")
@click.option("--turn", help="The turn, of a hit, a label or a speech level.")
@click.option("--character", help="The character whose card is meant.")
@click.option("--name", help="The name to add or to block.")
@click.option("--term", help="The lexicon term.")
@click.option("--topic", help="Its topic.")
@click.option("--instead", multiple=True, help="A term that takes the place of one that is narrowed; may be repeated.")
@click.option("--ending", help="The ending to add or to reject.")
@_BY
@_WHY
@_DATA
def decide(kind: str, choice: str, data: str | None, **given: Any) -> None:
    """Write down one decision.

    KIND and CHOICE: name add/block, hit harmful/harmless, term drop/narrow/keep, speech 반말/존댓말/섞임, ending
    add/reject, trailing ignore/reject, label with one of the five verdicts.

    \b
    Example:
      wh-judge review decide ending add --ending 습니까 --by me
    """
    from pydantic import ValidationError

    from wh_judge.errors import UserError
    from wh_judge.review.book import reason
    from wh_judge.review.decisions import Draft

    fields = {"turn": "turn_id", "character": "character_id"}
    cells = {fields.get(name, name): value for name, value in given.items()}
    try:
        draft = Draft.model_validate({"kind": kind, "choice": choice} | cells)
    except ValidationError as error:
        raise UserError(f"{kind} {choice}: {reason(error)}") from None
    _write(load_settings(data=data), [draft])


@command.command(name="undo")
@click.argument("decision_id", metavar="DECISION_ID")
@_BY
@_WHY
@_DATA
def undo(decision_id: str, by: str, why: str | None, data: str | None) -> None:
    """Undo a decision, or an undo.

    \b
    Example:
      wh-judge review undo D-1 --by me
    """
    from wh_judge.review.decisions import Draft

    draft = Draft.model_validate({"kind": "undo", "choice": "undo", "undoes": decision_id, "by": by, "why": why})
    _write(load_settings(data=data), [draft])


def _write(settings: Settings, drafts: "Sequence[Any]") -> None:
    from wh_judge.review.book import book_of, write_down
    from wh_judge.review.decisions import shown

    written = write_down(book_of(settings.data), drafts)
    for row in written:
        _echo(f"{row.decision_id}  {shown(row)}")
    known = len(drafts) - len(written)
    click.echo(f"{len(written)} written down{f', {known} known already' if known else ''}; {NEXT}", err=True)


@command.command(name="decisions")
@_DATA
@_JSON
def decisions(data: str | None, as_json: bool) -> None:
    """List all decisions, oldest first, and which of them count.

    \b
    Example:
      wh-judge review decisions
    """
    from wh_judge.review.book import line
    from wh_judge.review.decisions import in_force, shown
    from wh_judge.store.decisions import decisions_of

    rows = decisions_of(load_settings(data=data))
    counting = {row.decision_id for row in in_force(rows)}
    _show(
        as_json,
        [line(row) | {"in_force": row.decision_id in counting} for row in rows],
        (
            f"{row.decision_id}  {row.at:%Y-%m-%d %H:%M}  {shown(row)}  by {row.by}{f': {row.why}' if row.why else ''}"
            + ("" if row.decision_id in counting or row.kind == "undo" else "  (does not count any more)")
            for row in rows
        ),
    )


@command.command(name="terms")
@_DATA
@_JSON
def terms(data: str | None, as_json: bool) -> None:
    """Show how often each lexicon term was right, of the hits that people read; worst first.

    \b
    Example:
      wh-judge review terms
    """
    from wh_judge.review.terms import term_precision

    rows = _read(data, lambda connection, settings, decisions: term_precision(connection, decisions))
    _show(
        as_json,
        [row._asdict() for row in rows],
        (
            f"{row.precision:.0%} of {row.harmful + row.harmless}  {row.term} -> {row.topic}  {row.hits} turns"
            f"  {row.proposal}" + (f"  ({' / '.join(row.around)})" if row.around else "")
            for row in rows
        ),
    )


@command.command(name="endings")
@_DATA
@_JSON
def endings(data: str | None, as_json: bool) -> None:
    """Propose endings that the settings miss, with what each would change before anyone adopts it.

    \b
    Example:
      wh-judge review endings
    """
    from wh_judge.review.endings import propose

    rows = _read(data, lambda connection, settings, decisions: propose(connection, settings.rules, decisions))
    _show(as_json, [row.document() for row in rows], (line for row in rows for line in _proposal(row)))


def _proposal(row: "Proposal") -> Iterator[str]:
    agreed = f"labels {row.agreed_before} -> {row.agreed_after} of {row.labels}"
    yield f"{row.ending or 'ignore_trailing'}  mends {row.mended}, breaks {row.broken}, {agreed}"
    for change in row.changes:
        yield f"  {change.before} -> {change.after}  {change.turns} turns"
        for turn_id, reply in change.examples:
            yield f"    {turn_id}  {reply}"


@command.command(name="labels")
@click.option("--out", type=click.Path(path_type=Path), help="Write one label a turn, as a file of labels (.csv).")
@_DATA
@_JSON
def labels(out: Path | None, data: str | None, as_json: bool) -> None:
    """Show who labelled how many turns and how far each two agree; export the labels that count.

    \b
    Example:
      wh-judge review labels --out gold.csv
    """
    from wh_judge.ingest import TABLES, input_path, read_layers
    from wh_judge.outputs import write_documents
    from wh_judge.review.effects import all_labels, labels_with
    from wh_judge.review.labels import by_labeller, pair_agreements
    from wh_judge.store.decisions import decisions_of
    from wh_judge.store.inputs import later_named

    settings, table = load_settings(data=data), TABLES["gold_label"]
    path = input_path(settings.inputs, table, optional=True)
    gold = read_layers(path, later_named(settings.inbox, table), table).rows.to_pylist()
    decided = decisions_of(settings)
    given = all_labels(gold, decided)
    counts, pairs = {name: len(rows) for name, rows in by_labeller(given).items()}, pair_agreements(given)
    if out is not None:
        write_documents(labels_with(gold, decided), out, ["turn_id", "verdict", "note"])
    document = {
        "labels": [label._asdict() for label in given],
        "labellers": counts,
        "pairs": [pair._asdict() for pair in pairs],
    }
    of_people = (f"{name}  {count} labels" for name, count in counts.items())
    _show(as_json, document, (*of_people, *(line for pair in pairs for line in _agreement(pair))))


def _agreement(pair: "PairAgreement") -> Iterator[str]:
    kappa = "not defined" if pair.kappa is None else f"{pair.kappa:.3f}"
    yield f"{pair.one} and {pair.other}: {pair.agreed} of {pair.turns} turns, kappa {kappa}"
    for turn_id, one, other in pair.differing:
        yield f"  {turn_id}  {one} / {other}"
