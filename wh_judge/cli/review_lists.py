"""What `wh-judge review` lists: decisions, terms, endings, labels. One shape: a JSON document, or lines."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from wh_judge.cli.review_effects import agreed, changes, proposal_lines
from wh_judge.settings import Settings, reading_settings
from wh_judge.text import one_line

if TYPE_CHECKING:
    import duckdb

    from wh_judge.review.decisions import Decision
    from wh_judge.review.labels import PairAgreement
    from wh_judge.review.terms import TermPrecision
    from wh_judge.review.trial import Trial

DATA = click.option("--data", type=click.Path(), help="Folder of what a run makes [WH_JUDGE_DATA].")
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")

FILE = "(file)"
"""Stands for the file of labels in lines; in documents it is null, since a person may be called so."""

FAULTS_TOLD = 5


class Found(NamedTuple):
    """What a list holds."""

    document: object
    """As JSON."""
    lines: Iterable[str]
    """For people; each is made fit for a terminal."""
    nothing: str
    """What is said where there is no line."""


def _listing(find: Callable[..., Found]) -> click.Command:
    """The command that prints what a function finds; its name and its help are the function's."""

    @click.command(name=find.__name__)
    @DATA
    @JSON
    @wraps(find)
    def show(data: str | None, as_json: bool, **more: Any) -> None:
        settings = reading_settings(data=data)
        found = find(settings, **more)
        lines = [] if as_json else list(found.lines)
        if as_json:
            click.echo(json.dumps(found.document, ensure_ascii=False, indent=2))
        for line in lines:
            click.echo(one_line(line))
        if not (as_json or lines):
            click.echo(found.nothing, err=True)
        end(settings)

    return show


def end(settings: Settings) -> None:
    """Tell which lines of the book could not be read and are left out in what was shown, and end with 1 for them."""
    from wh_judge.review.book import book_of, read_what_can_be

    book = book_of(settings.data)
    faults = read_what_can_be(book).faults
    for fault in faults[:FAULTS_TOLD]:
        click.echo(one_line(f"wh-judge: {book}:{fault.line}: is left out here: {fault.remedy}"), err=True)
    if len(faults) > FAULTS_TOLD:
        click.echo(f"wh-judge: {book}: {len(faults) - FAULTS_TOLD} more lines are left out", err=True)
    if faults:
        sys.exit(1)


def _decided(settings: Settings) -> "list[Decision]":
    from wh_judge.review.book import book_of, read_what_can_be

    return read_what_can_be(book_of(settings.data)).decisions


@contextmanager
def reading(settings: Settings) -> "Iterator[tuple[duckdb.DuckDBPyConnection, list[Decision]]]":
    """What is published, as the screen shows it and decisions are checked against it, and what was decided, as far as
    that can be read.

    Raises:
        UserError: nothing is published.
    """
    from wh_judge.errors import UserError
    from wh_judge.store.snapshot import CURRENT, open_published

    with open_published(settings.published) as snapshot:
        if snapshot is None:
            raise UserError(
                f"{settings.published / CURRENT}: is not there; name the folder of the warehouse with --data, or do"
                " wh-judge run first"
            )
        yield snapshot, _decided(settings)


@_listing
def decisions(settings: Settings) -> Found:
    """List all decisions, oldest first, and which of them count.

    \b
    Example:
      wh-judge review decisions
    """
    from wh_judge.model import KST
    from wh_judge.review.book import line
    from wh_judge.review.decisions import in_force, shown, undone_by

    rows = _decided(settings)
    counting, undone = {row.decision_id for row in in_force(rows)}, undone_by(rows)

    def standing(row: "Decision") -> str:
        if row.decision_id in undone:
            return f"  (undone by {undone[row.decision_id].decision_id})"
        return "" if row.decision_id in counting or row.kind == "undo" else "  (does not count any more)"

    return Found(
        [line(row) | {"in_force": row.decision_id in counting} for row in rows],
        (
            f"{row.decision_id}  {row.at.astimezone(KST):%Y-%m-%d %H:%M%z}  {shown(row)}  by {row.by}"
            + (f": {row.why}" if row.why else "")
            + standing(row)
            for row in rows
        ),
        "nobody has decided anything yet; wh-judge review queue shows what there is to decide on",
    )


@_listing
def terms(settings: Settings) -> Found:
    """Show how often each lexicon term was right, of the hits that people read; worst first.

    \b
    Example:
      wh-judge review terms
    """
    from wh_judge.review.terms import term_precision, try_term

    with reading(settings) as (connection, decided):
        rows = term_precision(connection, decided)
        dropped = [try_term(connection, settings.rules, row.term, row.topic) for row in rows]
    return Found(
        [row._asdict() | {"if_dropped": trial.document()} for row, trial in zip(rows, dropped, strict=True)],
        (line for row, trial in zip(rows, dropped, strict=True) for line in _precision(row, trial)),
        "nobody has said yet of a hit whether it is harmful; wh-judge review queue forbidden shows 20 of a week",
    )


def _precision(row: "TermPrecision", dropped: "Trial") -> Iterator[str]:
    from wh_judge.report import counted
    from wh_judge.review.terms import LEAST_READ

    yield (
        f"{row.precision:.0%} of {row.harmful + row.harmless}  {row.term} -> {row.topic}  {counted(row.hits, 'turn')}  "
        + (row.proposal or f"too few to tell: fewer than {LEAST_READ} read")
        + (f"  decided: {row.decided}" if row.decided else "")
        + (f"  ({' / '.join(row.around)})" if row.around else "")
    )
    if dropped.changes:
        yield f"  if dropped: {counted(dropped.turns, 'turn')} judged otherwise, {agreed(dropped)}"
        yield from changes(dropped)


@_listing
def endings(settings: Settings) -> Found:
    """Propose endings that the settings miss, with what each would change before anyone adopts it.

    \b
    Example:
      wh-judge review endings
    """
    from wh_judge.review.endings import first_ones, propose

    with reading(settings) as (connection, decided):
        rows = propose(connection, settings.rules, decided)
    shown = first_ones(rows)
    more = [f"the first {shown.endings} of {shown.of} endings; --json has all"] if shown.endings < shown.of else []
    return Found(
        [row.document() for row in rows],
        (*(line for row in shown.proposals for line in proposal_lines(row)), *more),
        "no ending to propose: none but those that were rejected would free more turns of 말투 어긋남 than it holds up",
    )


@click.option("--out", type=click.Path(path_type=Path), help="Write one label a turn, as a file of labels (.csv).")
@_listing
def labels(settings: Settings, out: Path | None) -> Found:
    """Show who labelled how many turns and how far each two agree; export the labels that count.

    \b
    Example:
      wh-judge review labels --out gold.csv
    """
    from wh_judge.outputs import write_documents
    from wh_judge.report import counted
    from wh_judge.review.effects import all_labels, labels_with
    from wh_judge.review.labels import by_labeller, pair_agreements
    from wh_judge.store.tables import labels_of_files

    gold, decided = labels_of_files(settings), _decided(settings)
    given = all_labels(gold, decided)
    labellers, pairs = by_labeller(given), pair_agreements(given)
    if out is not None:
        write_documents(labels_with(gold, decided), out, ["turn_id", "verdict", "note"])
    document = {
        "labels": [label._asdict() for label in given],
        "labellers": [{"by": by, "labels": len(rows)} for by, rows in labellers.items()],
        "pairs": [pair._asdict() for pair in pairs],
    }
    of_people = (f"{by or FILE}  {counted(len(rows), 'label')}" for by, rows in labellers.items())
    lines = (*of_people, *(line for pair in pairs for line in _agreement(pair)))
    return Found(document, lines, "no turn has a label yet; wh-judge review decide label VERDICT --turn T gives one")


def _agreement(pair: "PairAgreement") -> Iterator[str]:
    from wh_judge.report import counted

    kappa = "not defined" if pair.kappa is None else f"{pair.kappa:.3f}"
    yield f"{pair.one or FILE} and {pair.other or FILE}: {pair.agreed} of {counted(pair.turns, 'turn')}, kappa {kappa}"
    for turn_id, one, other in pair.differing:
        yield f"  {turn_id}  {one} / {other}"


LISTS = (decisions, terms, endings, labels)
