"""`wh-judge judge`"""

import sys
from collections import Counter
from pathlib import Path

import click

from wh_judge.cli import HELP
from wh_judge.errors import UserError
from wh_judge.model import VERDICTS
from wh_judge.settings import load_settings

_FILE = click.Path(exists=True, path_type=Path)


@click.command(name="judge", help=HELP["judge"])
@click.option("--turns", type=_FILE, required=True, help="The log: a file or a folder.")
@click.option("--cards", type=_FILE, required=True, help="The character cards: a file or a folder.")
@click.option("--lexicon", type=_FILE, required=True, help="The topic lexicon: a file or a folder.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Where the verdicts go, by suffix.")
@click.option("--rejects", type=click.Path(path_type=Path), help="Where rows and turns that got no verdict go.")
@click.option("--fail-on", type=click.Choice(VERDICTS), multiple=True, help="Exit with 1 where this verdict occurs.")
def command(turns: Path, cards: Path, lexicon: Path, out: Path, rejects: Path | None, fail_on: tuple[str, ...]) -> None:
    """Judge files.

    \b
    Files are told apart by suffix: .jsonl, .json, .csv (list cells as JSON), .parquet.
    Example:
      wh-judge judge --turns turns/ --cards cards.json --lexicon lexicon.csv --out verdicts.jsonl \\
        --rejects rejects.jsonl --fail-on "금지 소재 접촉"
    """
    from wh_judge.files import read_log_table, rejects_of
    from wh_judge.ingest import TABLES, read_table
    from wh_judge.judge import judge
    from wh_judge.outputs import check_suffix, write_documents, write_verdicts

    for path in filter(None, (out, rejects)):
        check_suffix(path)
    if rejects is not None and rejects.suffix.lower() == ".parquet":
        raise UserError(f"{rejects}: rejects are written as .jsonl, .json or .csv")
    log = read_log_table(turns)
    card_rows, lexicon_rows = read_table(cards, TABLES["character_card"]), read_table(lexicon, TABLES["topic_lexicon"])
    for path, batch in ((turns, log), (cards, card_rows)):
        if not batch.rows.num_rows:
            first = f" ({batch.problems[0]})" if batch.problems else ""
            raise UserError(f"{path}: holds no row that can be read{first}")
    judgement = judge(log.rows, card_rows.rows, lexicon_rows.rows, load_settings().rules)
    write_verdicts(judgement.verdicts, out)
    problems = [*log.problems, *card_rows.problems, *lexicon_rows.problems]
    if rejects is not None:
        documents = rejects_of(problems, judgement.unjudged)
        write_documents(documents, rejects, ["table", "file", "line", "severity", "turn_id", "reason", "raw"])
    counts = Counter(judgement.verdicts["verdict"].to_pylist())
    for verdict in VERDICTS:
        click.echo(f"{counts[verdict]:>9}  {verdict}", err=True)
    if judgement.unjudged.num_rows:
        click.echo(f"{judgement.unjudged.num_rows:>9}  not judged: no card for their character", err=True)
    for problem in problems[:20]:
        click.echo(f"{problem.severity}: {problem}", err=True)
    if len(problems) > 20:
        click.echo(f"… {len(problems) - 20} more; --rejects FILE keeps them all", err=True)
    sys.exit(int(bool(problems or judgement.unjudged.num_rows or any(counts[verdict] for verdict in fail_on))))
