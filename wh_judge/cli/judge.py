"""`wh-judge judge`"""

import sys
from collections import Counter
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
    from wh_judge.files import need_rows, read_log_table, rejects_of
    from wh_judge.ingest import TABLES, files_of, read_table
    from wh_judge.judge import judge
    from wh_judge.outputs import check_writable, write_documents, writing_verdicts

    taken = {file.resolve() for path in (turns, cards, lexicon) for file in files_of(path)}
    for path in filter(None, (out, rejects)):
        check_writable(path)
        if path.resolve() in taken:
            raise UserError(f"{path}: is read or written already; name another file")
        taken.add(path.resolve())
    if rejects is not None and rejects.suffix.lower() == ".parquet":
        raise UserError(f"{rejects}: rejects are written as .jsonl, .json or .csv")
    log = read_log_table(turns)
    card_rows, lexicon_rows = read_table(cards, TABLES["character_card"]), read_table(lexicon, TABLES["topic_lexicon"])
    need_rows(turns, log.rows.num_rows, log.problems)
    need_rows(cards, card_rows.rows.num_rows, card_rows.problems)
    judgement = judge(log.rows, card_rows.rows, lexicon_rows.rows, load_settings().rules)
    problems = [*log.problems, *card_rows.problems, *lexicon_rows.problems]
    documents = list(rejects_of(problems, judgement.unjudged, log))
    with writing_verdicts(judgement.verdicts, out):
        if rejects is not None:
            write_documents(documents, rejects, ["table", "file", "line", "severity", "turn_id", "reason", "raw"])
    counts = Counter(judgement.verdicts["verdict"].to_pylist())
    for verdict in VERDICTS:
        click.echo(f"{counts[verdict]:>9}  {verdict}", err=True)
    if judgement.unjudged.num_rows:
        click.echo(f"{judgement.unjudged.num_rows:>9}  not judged: no card for their character", err=True)
    for document in documents[:SHOWN]:
        where = document["file"] if document["line"] is None else f"{document['file']}:{document['line']}"
        click.echo(f"{document['severity']}: {where}: {document['reason']}", err=True)
    if len(documents) > SHOWN:
        click.echo(f"… {len(documents) - SHOWN} more; --rejects FILE keeps them all", err=True)
    sys.exit(int(bool(documents or any(counts[verdict] for verdict in fail_on))))
