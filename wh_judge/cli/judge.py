"""`wh-judge judge`"""

import sys
from itertools import islice
from pathlib import Path

import click

from wh_judge.errors import UserError
from wh_judge.model import VERDICTS
from wh_judge.settings import load_settings

_FILE = click.Path(exists=True, path_type=Path)
SHOWN = 20


@click.command(name="judge")
@click.option("--turns", type=_FILE, required=True, help="The log: a file or a folder.")
@click.option("--cards", type=_FILE, required=True, help="The character cards: a file or a folder.")
@click.option("--lexicon", type=_FILE, required=True, help="The topic lexicon: a file or a folder.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Where the verdicts go, by suffix.")
@click.option("--rejects", type=click.Path(path_type=Path), help="Where rows and turns that got no verdict go.")
@click.option("--fail-on", type=click.Choice(VERDICTS), multiple=True, help="Exit with 1 where this verdict occurs.")
def command(turns: Path, cards: Path, lexicon: Path, out: Path, rejects: Path | None, fail_on: tuple[str, ...]) -> None:
    """Judge files, without Dagster and without a warehouse.

    \b
    Files are told apart by suffix: .jsonl, .json, .csv (list cells as JSON), .parquet.
    Example:
      wh-judge judge --turns turns/ --cards cards.json --lexicon lexicon.csv --out verdicts.jsonl \\
        --rejects rejects.jsonl --fail-on "금지 소재 접촉"
    """
    from wh_judge.files import need_rows, rejects_of
    from wh_judge.ingest import TABLES, files_of, read_table
    from wh_judge.judge import Judge
    from wh_judge.outputs import check_writable, write_documents, writing_verdicts
    from wh_judge.parts import reading_parts
    from wh_judge.stream import Done, judge_parts

    taken = {file.resolve() for path in (turns, cards, lexicon) for file in files_of(path)}
    for path in filter(None, (out, rejects)):
        check_writable(path)
        if path.resolve() in taken:
            raise UserError(f"{path}: is read or written already; name another file")
        taken.add(path.resolve())
    if rejects is not None and rejects.suffix.lower() == ".parquet":
        raise UserError(f"{rejects}: rejects are written as .jsonl, .json or .csv")
    card_rows, lexicon_rows = read_table(cards, TABLES["character_card"]), read_table(lexicon, TABLES["topic_lexicon"])
    need_rows(cards, card_rows.rows.num_rows, card_rows.problems)
    kernel = Judge(card_rows.rows, lexicon_rows.rows, load_settings().rules, threads=1)
    done = Done(keep_raw=rejects is not None)
    with reading_parts(turns) as log, writing_verdicts(map(done.verdicts_of, judge_parts(log, kernel)), out):
        need_rows(turns, done.turns, done.problems)
        problems = [*done.problems, *card_rows.problems, *lexicon_rows.problems]
        if rejects is not None:
            columns = ["table", "file", "line", "severity", "turn_id", "reason", "raw"]
            write_documents(rejects_of(problems, done.unjudged), rejects, columns)
    counts, not_judged = done.counts, sum(table.num_rows for table in done.unjudged)
    for verdict in VERDICTS:
        click.echo(f"{counts[verdict]:>9}  {verdict}", err=True)
    if not_judged:
        click.echo(f"{not_judged:>9}  not judged: no card for their character", err=True)
    for document in islice(rejects_of(problems, done.unjudged), SHOWN):
        where = document["file"] if document["line"] is None else f"{document['file']}:{document['line']}"
        click.echo(f"{document['severity']}: {where}: {document['reason']}", err=True)
    rejected = len(problems) + not_judged
    if rejected > SHOWN:
        click.echo(f"… {rejected - SHOWN} more; --rejects FILE keeps them all", err=True)
    sys.exit(int(bool(rejected or any(counts[verdict] for verdict in fail_on))))
