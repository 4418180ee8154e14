"""`wh-judge probes`"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from wh_judge.errors import UserError
from wh_judge.report import safe
from wh_judge.settings import load_settings, reading_settings
from wh_judge.text import one_line

if TYPE_CHECKING:
    from wh_judge.model import CharacterCard, LexiconTerm
    from wh_judge.probes.results import ProbeResults

_FILE = click.Path(exists=True, path_type=Path)
_OUT = click.Path(path_type=Path)
_CARDS = click.option("--cards", type=_FILE, required=True, help="The character cards: a file or a folder.")
_LEXICON = click.option("--lexicon", type=_FILE, required=True, help="The topic lexicon: a file or a folder.")
_PROBES = click.argument("probes", metavar="PROBES", type=_FILE)
SHOWN = 10


@click.group(name="probes")
def command() -> None:
    """Make prompts that try a card, and see what models make of them.

    \b
    Examples:
      wh-judge probes make --cards cards.json --lexicon lexicon.csv --out probes.json
      wh-judge probes export probes.json --out cases.jsonl
      wh-judge probes results probes.json
    """


@command.command(name="make")
@_CARDS
@_LEXICON
@click.option("--cases", type=click.IntRange(1, 100_000), default=64, help="How many cases [64].")
@click.option("--seed", type=click.IntRange(0), default=1, help="What is drawn follows from it [1].")
@click.option("--extend", type=_FILE, help="A set whose cases are kept where they still stand, and count as covered.")
@click.option("--writer", help="A program that writes the messages: a draft as JSON on stdin, the message on stdout.")
@click.option("--out", type=_OUT, required=True, help="The frozen set, a .json file.")
def make(cards: Path, lexicon: Path, cases: int, seed: int, extend: Path | None, writer: str | None, out: Path) -> None:
    """Make a set of cases and freeze it.

    The least covered cells of the taxonomy are filled first. Only cases that the judge can tell apart are accepted.
    Refused drafts and cells that cannot be filled are told, and kept in the file. The exit code is 1 where a draft was
    refused or fewer cases were accepted than wanted.

    \b
    Example:
      wh-judge probes make --cards cards.json --lexicon lexicon.csv --cases 64 --seed 1 --out probes.json
    """
    from wh_judge.outputs import check_writable
    from wh_judge.probes.files import read_probes, write_probes
    from wh_judge.probes.make import make_probes
    from wh_judge.probes.writer import program_writer

    check_writable(out)
    if out.suffix.lower() != ".json":
        raise UserError(f"{out}: a set is written to a name that ends in .json")
    card_rows, lexicon_rows = _tables(cards, lexicon)
    known = read_probes(extend).cases if extend else []
    by = None if writer is None else (writer, program_writer(writer))
    found = make_probes(card_rows, lexicon_rows, load_settings().rules, cases=cases, seed=seed, writer=by, known=known)
    write_probes(found, out)
    for family, count in Counter(case.cell.family for case in found.cases).items():
        click.echo(f"{count:>9}  {family}", err=True)
    reasons = Counter("; ".join(refusal.reasons) for refusal in found.refused)
    for reason, count in reasons.most_common(SHOWN):
        click.echo(f"refused {count}: {one_line(reason)}", err=True)
    for cell in found.unfillable[:SHOWN]:
        click.echo(f"unfillable: {cell.family}, speech level {cell.level or 'open'}: {cell.reason}", err=True)
    if len(found.unfillable) > SHOWN:
        click.echo(f"… {len(found.unfillable) - SHOWN} more, all of them in {out}", err=True)
    click.echo(f"{len(found.cases)} cases frozen under {found.digest[:12]} in {out}", err=True)
    sys.exit(int(bool(found.refused) or len(found.cases) < cases))


@command.command(name="check")
@_PROBES
@_CARDS
@_LEXICON
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def check(probes: Path, cards: Path, lexicon: Path, as_json: bool) -> None:
    """Hold a frozen set against cards and lexicon as they are now.

    The digest, and each case by the judge. The exit code is 1 where a case can no longer be judged.

    \b
    Example:
      wh-judge probes check probes.json --cards cards.json --lexicon lexicon.csv
    """
    from wh_judge.probes.files import failing, read_probes

    found = read_probes(probes)
    failed = [
        {"case_id": case.case_id, "reasons": reasons}
        for case, reasons in failing(found, *_tables(cards, lexicon), load_settings().rules)
    ]
    if as_json:
        document = {"digest": found.digest, "cases": len(found.cases), "failing": failed}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        click.echo(f"{len(found.cases) - len(failed)} of {len(found.cases)} cases stand; digest {found.digest}")
        for row in failed:
            click.echo(f"{row['case_id']}: {'; '.join(row['reasons'])}")
    sys.exit(int(bool(failed)))


@command.command(name="export")
@_PROBES
@click.option("--out", type=_OUT, required=True, help="The .jsonl file, one case a line.")
def export(probes: Path, out: Path) -> None:
    """Give out the cases, to put them to models.

    Each line has the messages, and the log rows of the turns before, which belong in the log of the answer.

    \b
    Example:
      wh-judge probes export probes.json --out cases.jsonl
    """
    from wh_judge.outputs import check_writable
    from wh_judge.probes.files import export_probes, read_probes

    check_writable(out)
    if out.suffix.lower() != ".jsonl":
        raise UserError(f"{out}: cases are written to a name that ends in .jsonl")
    found = read_probes(probes)
    export_probes(found, out)
    click.echo(f"{len(found.cases)} cases written to {out}", err=True)


@command.command(name="results")
@_PROBES
@click.option("--data", type=click.Path(), help="Folder of what a run makes [WH_JUDGE_DATA].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def results(probes: Path, data: str | None, as_json: bool) -> None:
    """Show what models made of a set: what was expected and what came.

    \b
    Example:
      wh-judge probes results probes.json
    """
    from wh_judge.probes.files import read_probes
    from wh_judge.store import read_warehouse
    from wh_judge.store.probes import results_of

    found = read_probes(probes)
    with read_warehouse(reading_settings(data=data).warehouse) as connection:
        measured = results_of(connection, found)
    if as_json:
        click.echo(json.dumps(measured.model_dump(), ensure_ascii=False, indent=2))
    else:
        _print_results(measured, Console(emoji=False, highlight=False))


def _print_results(measured: "ProbeResults", console: Console) -> None:
    from wh_judge.report import number_table

    console.print(f"[bold]Probe cases[/bold] {measured.cases}, answers {len(measured.answers)}")
    if measured.unknown:
        console.print(f"  {measured.unknown} answers to cases that are not in this set")
    if measured.misplaced:
        console.print(
            f"  {measured.misplaced} answers set aside: by another character than the case's, or without the case's"
            " history and user_asked_recall in the log, so that recall was not judged",
            soft_wrap=True,
        )
    if measured.repeated:
        console.print(f"  {measured.repeated} further answers of a model to a case set aside: the first counts")
    if not measured.results:
        console.print("  none: no turn has a case as its prompt_id")
        return
    rows = number_table("family", "model", "cases", "answered", "kept", "as intended", "otherwise", text=2)
    for row in measured.results:
        counts = (row.cases, row.answered, row.kept, row.as_intended, row.otherwise)
        rows.add_row(row.family, safe(row.model_id), *map(str, counts))
    console.print(rows)


def _tables(cards: Path, lexicon: Path) -> "tuple[list[CharacterCard], list[LexiconTerm]]":
    from wh_judge.files import need_no_worse, need_rows
    from wh_judge.ingest import read_table
    from wh_judge.inputs import TABLES
    from wh_judge.model import cards_from, lexicon_from

    card_rows, lexicon_rows = read_table(cards, TABLES["character_card"]), read_table(lexicon, TABLES["topic_lexicon"])
    need_rows(cards, card_rows.rows.num_rows, card_rows.problems)
    need_no_worse(lexicon, lexicon_rows.rows.num_rows, lexicon_rows.problems)
    for problem in [*card_rows.problems, *lexicon_rows.problems]:
        click.echo(f"{problem.severity}: {problem}", err=True)
    return cards_from(card_rows.rows), lexicon_from(lexicon_rows.rows)
