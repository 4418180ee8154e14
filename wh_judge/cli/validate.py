"""`wh-judge validate`"""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from wh_judge.errors import UserError
from wh_judge.report import counted
from wh_judge.settings import load_settings

_FILE = click.Path(exists=True, path_type=Path)
SHOWN = 10


@click.command(name="validate")
@click.option("--verdicts", type=_FILE, required=True, help="The verdicts: a file or a folder.")
@click.option("--turns", type=_FILE, required=True, help="The log: a file or a folder.")
@click.option("--cards", type=_FILE, required=True, help="The character cards: a file or a folder.")
@click.option("--lexicon", type=_FILE, required=True, help="The topic lexicon: a file or a folder.")
@click.option("--drafts", "as_drafts", is_flag=True, help="Score each file as the responses of one model to drafts.")
@click.option("--requests", type=_FILE, help="With --drafts: what was asked, as wh-judge draft --requests writes it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document with every failing turn.")
def command(
    verdicts: Path,
    turns: Path,
    cards: Path,
    lexicon: Path,
    as_drafts: bool,
    requests: Path | None,
    as_json: bool,
) -> None:
    """Hold a file of verdicts from anywhere against the log.

    For verdicts of this program and for those that a language model wrote. With --drafts each response is kept, falls
    back to the rule's sentence or is thrown away, as drafts are, and the files of a folder are set side by side; turns
    that --requests or another file names and a file does not are missing there. A file holds verdicts, or what
    OpenAI's batches give back.

    \b
    Examples:
      wh-judge validate --verdicts verdicts.jsonl --turns turns/ --cards cards.json --lexicon lexicon.csv
      wh-judge validate --drafts --verdicts models/ --turns turns/ --cards cards.json --lexicon lexicon.csv
    """
    from wh_judge.drafts.batch import opened, turns_asked
    from wh_judge.files import need_no_worse, need_rows, read_claims, read_log_table
    from wh_judge.ingest import read_table
    from wh_judge.inputs import TABLES, file_name, files_of
    from wh_judge.model import cards_from, lexicon_from, turns_from
    from wh_judge.validations import Log, validate

    if requests is not None and not as_drafts:
        raise UserError("--requests: tells what drafts were asked for; give --drafts, too")
    asked = None if requests is None else turns_asked(read_claims(requests))
    log_rows = read_log_table(turns)
    card_rows, lexicon_rows = read_table(cards, TABLES["character_card"]), read_table(lexicon, TABLES["topic_lexicon"])
    records = list(read_claims(verdicts))
    if not as_drafts:
        records = [(file, opened(record)) for file, record in records]
    claims = [record.value for _, record in records if record.value is not None]
    unread = [
        {"file": file, "line": record.line, "reason": record.reason} for file, record in records if record.value is None
    ]
    need_rows(verdicts, len(claims), [_line(row) for row in unread])
    _need_column(verdicts, claims, *(("turn_id", "custom_id") if as_drafts else ("verdict",)))
    need_rows(turns, log_rows.rows.num_rows, log_rows.problems)
    need_rows(cards, card_rows.rows.num_rows, card_rows.problems)
    need_no_worse(lexicon, lexicon_rows.rows.num_rows, lexicon_rows.problems)
    log = Log.of(
        turns_from(log_rows.rows), cards_from(card_rows.rows), lexicon_from(lexicon_rows.rows), load_settings().rules
    )
    problems = [*log_rows.problems, *card_rows.problems, *lexicon_rows.problems]
    if as_drafts:
        all_kept = _score(records, log, [file_name(verdicts, file) for file in files_of(verdicts)], asked, as_json)
        _tell(problems)
        sys.exit(int(bool(problems) or not all_kept))
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
    _tell(problems)
    sys.exit(int(bool(unread or problems) or any(not result.ok for result in results)))


def _need_column(path: Path, claims: list[dict[str, Any]], *columns: str) -> None:
    """Raise a UserError where a file holds something else than verdicts, such as a log or cards."""
    if any(claims) and not any(column in claim for claim in claims for column in columns):
        raise UserError(
            f"{path}: holds no verdicts: none of its {counted(len(claims), 'row')} has a cell {' or '.join(columns)};"
            " name a file of verdicts, such as wh-judge judge writes"
        )


def _tell(problems: "list[Problem]") -> None:  # type: ignore[name-defined]  # noqa: F821
    for problem in problems:
        click.echo(f"{problem.severity}: {problem}", err=True)


def _score(
    records: "list[tuple[str, Record]]",  # type: ignore[name-defined]  # noqa: F821
    log: "Log",  # type: ignore[name-defined]  # noqa: F821
    files: list[str],
    asked: list[str] | None,
    as_json: bool,
) -> bool:
    """Print what becomes of responses as drafts; whether all of them are there and kept."""
    from wh_judge.drafts.score import score

    scores = score(records, log, files, asked)
    if as_json:
        click.echo(json.dumps([vars(entry) for entry in scores], ensure_ascii=False, indent=2))
    else:
        from wh_judge.report import draft_tables

        draft_tables(scores, SHOWN, Console(emoji=False, highlight=False))
    return all(entry.outcomes["kept"] == entry.responses and not entry.missing for entry in scores)


def _line(unread: dict[str, Any]) -> str:
    where = unread["file"] if unread["line"] is None else f"{unread['file']}:{unread['line']}"
    return f"{where}: {unread['reason']}"
