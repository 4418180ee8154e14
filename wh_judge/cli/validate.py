"""`wh-judge validate`"""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console

from wh_judge.cli import HELP
from wh_judge.errors import UserError
from wh_judge.settings import load_settings

_FILE = click.Path(exists=True, path_type=Path)
SHOWN = 10


@click.command(name="validate", help=HELP["validate"])
@click.option("--verdicts", type=_FILE, required=True, help="The verdicts: a file or a folder.")
@click.option("--turns", type=_FILE, required=True, help="The log: a file or a folder.")
@click.option("--cards", type=_FILE, required=True, help="The character cards: a file or a folder.")
@click.option("--lexicon", type=_FILE, required=True, help="The topic lexicon: a file or a folder.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document with every failing turn.")
def command(verdicts: Path, turns: Path, cards: Path, lexicon: Path, as_json: bool) -> None:
    """Hold verdicts from anywhere, such as a language model's, against the log.

    \b
    Example:
      wh-judge validate --verdicts verdicts.jsonl --turns turns/ --cards cards.json --lexicon lexicon.csv
    """
    from wh_judge.files import read_claims, read_log_table
    from wh_judge.ingest import TABLES, read_table
    from wh_judge.model import cards_from, lexicon_from, turns_from
    from wh_judge.validations import Log, validate

    log_rows = read_log_table(turns)
    card_rows, lexicon_rows = read_table(cards, TABLES["character_card"]), read_table(lexicon, TABLES["topic_lexicon"])
    records = list(read_claims(verdicts))
    if not records:
        raise UserError(f"{verdicts}: holds no verdict")
    log = Log.of(
        turns_from(log_rows.rows), cards_from(card_rows.rows), lexicon_from(lexicon_rows.rows), load_settings().rules
    )
    unread = [record for record in records if record.value is None]
    results = validate([record.value for record in records if record.value is not None], log)
    if as_json:
        document = {
            "unread": [{"line": record.line, "reason": record.reason} for record in unread],
            "validations": [asdict(result) for result in results],
        }
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        from wh_judge.report import validation_tables

        validation_tables(results, SHOWN, Console())
        for record in unread:
            click.echo(f"unread: {verdicts}:{record.line}: {record.reason}", err=True)
    for problem in [*log_rows.problems, *card_rows.problems, *lexicon_rows.problems]:
        click.echo(f"{problem.severity}: {problem}", err=True)
    sys.exit(int(bool(unread) or any(not result.ok for result in results)))
