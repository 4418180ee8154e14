"""`wh-judge validate`"""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from wh_judge.settings import load_settings

_FILE = click.Path(exists=True, path_type=Path)
SHOWN = 10


@click.command(name="validate")
@click.option("--verdicts", type=_FILE, required=True, help="The verdicts: a file or a folder.")
@click.option("--turns", type=_FILE, required=True, help="The log: a file or a folder.")
@click.option("--cards", type=_FILE, required=True, help="The character cards: a file or a folder.")
@click.option("--lexicon", type=_FILE, required=True, help="The topic lexicon: a file or a folder.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document with every failing turn.")
def command(verdicts: Path, turns: Path, cards: Path, lexicon: Path, as_json: bool) -> None:
    """Hold a file of verdicts from anywhere against the log.

    For verdicts of this program and for those that a language model wrote.

    \b
    Example:
      wh-judge validate --verdicts verdicts.jsonl --turns turns/ --cards cards.json --lexicon lexicon.csv
    """
    from wh_judge.files import need_rows, read_claims, read_log_table
    from wh_judge.ingest import TABLES, read_table
    from wh_judge.model import cards_from, lexicon_from, turns_from
    from wh_judge.validations import Log, validate

    log_rows = read_log_table(turns)
    card_rows, lexicon_rows = read_table(cards, TABLES["character_card"]), read_table(lexicon, TABLES["topic_lexicon"])
    records = list(read_claims(verdicts))
    claims = [record.value for _, record in records if record.value is not None]
    unread = [
        {"file": file, "line": record.line, "reason": record.reason} for file, record in records if record.value is None
    ]
    need_rows(verdicts, len(claims), [_line(row) for row in unread])
    need_rows(turns, log_rows.rows.num_rows, log_rows.problems)
    need_rows(cards, card_rows.rows.num_rows, card_rows.problems)
    log = Log.of(
        turns_from(log_rows.rows), cards_from(card_rows.rows), lexicon_from(lexicon_rows.rows), load_settings().rules
    )
    results = validate(claims, log)
    if as_json:
        document = {
            "unread": unread,
            "validations": [asdict(result) for result in results],
        }
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        from wh_judge.report import validation_tables

        validation_tables(results, SHOWN, Console(emoji=False, highlight=False))
    for row in unread:
        click.echo(f"unread: {_line(row)}", err=True)
    problems = [*log_rows.problems, *card_rows.problems, *lexicon_rows.problems]
    for problem in problems:
        click.echo(f"{problem.severity}: {problem}", err=True)
    sys.exit(int(bool(unread or problems) or any(not result.ok for result in results)))


def _line(unread: dict[str, Any]) -> str:
    where = unread["file"] if unread["line"] is None else f"{unread['file']}:{unread['line']}"
    return f"{where}: {unread['reason']}"
