"""`wh-judge votes`"""

import hashlib
import json
import re
from pathlib import Path

import click
from rich.console import Console

from wh_judge.errors import UserError
from wh_judge.report import counted
from wh_judge.settings import load_settings, reading_settings
from wh_judge.text import one_line, short

_FILE = click.Path(exists=True, path_type=Path)
FORMATS = ("lmarena", "label-studio", "potato")
NAME_LIMIT = 40
"""Characters of a source in the name of a file."""
_DATA = click.option("--data", type=click.Path(), help="Folder of what a run makes [WH_JUDGE_DATA].")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
_FORMAT = click.option(
    "--format", "form", type=click.Choice(FORMATS), default="lmarena", help="Form of the file [lmarena]."
)


@click.group(name="votes")
def command() -> None:
    """Bring in and give out what people prefer, and rate the models by it.

    \b
    Examples:
      wh-judge votes import battles.jsonl --source arena
      wh-judge votes export --format label-studio --out votes.json
      wh-judge votes ratings
    """


@command.command(name="import")
@click.argument("path", metavar="FILE", type=_FILE)
@_FORMAT
@click.option("--source", default="import", help="Where the votes come from, where the file does not say [import].")
@click.option("--items", type=_FILE, help="For Potato: the file of items that it was given.")
@_DATA
def import_votes(path: Path, form: str, source: str, items: Path | None, data: str | None) -> None:
    """Bring in the votes of another tool.

    All of a file or folder, or none: a label that is not known is an error. They are written to the folder votes among
    the data, and the next run counts them. The same file again changes nothing.

    \b
    Examples:
      wh-judge votes import battles.jsonl
      wh-judge votes import project-1.json --format label-studio --source studio
      wh-judge votes import annotation_output/ --format potato --items pairs.jsonl
    """
    from wh_judge.outputs import write_lines
    from wh_judge.store.votes import known_votes
    from wh_judge.votes.formats import check_ids, read_votes
    from wh_judge.votes.journal import lines

    settings = reading_settings(data=data)
    found = read_votes(path, form, source, items)  # type: ignore[arg-type]
    known = known_votes(settings)
    check_ids(found, known, path)
    again = len(set(found["vote_id"].to_pylist()).intersection(known["vote_id"].to_pylist()))
    written, hashed = list(lines(found)), hashlib.md5()
    for line in written:
        hashed.update(line.encode())
    folder = settings.votes
    folder.mkdir(parents=True, exist_ok=True)
    # A name of bounded length that is never one of those that are no inputs, such as README.
    out = folder / f"votes-{re.sub(r'[^0-9A-Za-z가-힣_-]+', '-', source)[:NAME_LIMIT]}-{hashed.hexdigest()[:8]}.jsonl"
    if not out.exists():
        write_lines(written, out)
    told = f" {again} of them are known already, by their ids or as equal votes, and count once;" if again else ""
    click.echo(f"{found.num_rows} votes written to {out};{told} wh-judge run counts them", err=True)


@command.command(name="export")
@_FORMAT
@click.option("--source", help="Only the votes from there.")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="The file: .json for Label Studio, else .jsonl."
)
@_DATA
def export_votes(form: str, source: str | None, out: Path, data: str | None) -> None:
    """Give out the votes for another tool.

    \b
    Example:
      wh-judge votes export --format potato --out votes.jsonl
    """
    from wh_judge.outputs import check_writable
    from wh_judge.store import read_warehouse
    from wh_judge.store.votes import read_votes
    from wh_judge.votes.formats import write_votes

    check_writable(out)
    with read_warehouse(reading_settings(data=data).warehouse) as connection:
        found = read_votes(connection, source)
    if not found:
        raise UserError("there is no such vote in the warehouse; import some and run wh-judge run first")
    write_votes(found, form, out)  # type: ignore[arg-type]
    click.echo(f"{len(found)} votes written to {out}", err=True)


@command.command(name="pairs")
@click.option("--format", "form", type=click.Choice(FORMATS[1:]), required=True, help="The tool that people vote in.")
@click.option("--pairs", "number", type=click.IntRange(1), default=100, help="How many pairs [100].")
@click.option("--seed", type=click.IntRange(0), default=1, help="What is drawn follows from it [1].")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="The file: .json for Label Studio, else .jsonl."
)
@_DATA
def pairs(form: str, number: int, seed: int, out: Path, data: str | None) -> None:
    """Give out pairs of replies to vote on in another tool.

    Where the ratings are least certain, on sides that are drawn and remembered in the file. Show left and right, and
    not the models. What comes back is read with `wh-judge votes import`.

    \b
    Example:
      wh-judge votes pairs --format label-studio --pairs 50 --out tasks.json
    """
    import numpy as np

    from wh_judge.evaluation.pairing import all_alike, candidates, choose_many, uncertainty
    from wh_judge.evaluation.ratings import rate
    from wh_judge.outputs import check_writable
    from wh_judge.store import read_warehouse
    from wh_judge.store.votes import read_answers, read_tallies, replies_as_seen, votes_by_case
    from wh_judge.votes.formats import write_pairs

    check_writable(out)
    with read_warehouse(reading_settings(data=data).warehouse) as connection:
        answers, tallies, voted = read_answers(connection), read_tallies(connection), votes_by_case(connection)
    replies = replies_as_seen(answers)
    possible, alike = candidates(replies), all_alike(replies)
    if alike:
        told = f"{counted(len(alike), 'prompt')} with nothing to choose from left out, since all replies are the same"
        click.echo(f"{told}: {', '.join(map(short, alike[:5]))}{' …' * (len(alike) > 5)}", err=True)
    if not possible:
        raise UserError(
            "no prompt was answered by two models with different replies; give the turns a prompt_id and run wh-judge"
            " run first"
        )
    offers = choose_many(possible, uncertainty(rate(tallies)), np.random.default_rng(seed), number, voted)
    documents = []
    for offer in offers:
        first, second = (answers[offer.case_id][model] for model in (offer.model_a, offer.model_b))
        left, right = (first, second) if offer.shown_left == "model_a" else (second, first)
        shown = {"prompt": first.user_message, "left": left.reply_text, "right": right.reply_text}
        documents.append(offer._asdict() | shown)
    write_pairs(documents, form, out)  # type: ignore[arg-type]
    click.echo(f"{len(documents)} pairs written to {out}", err=True)


@command.command(name="ratings")
@_DATA
@_JSON
def ratings(data: str | None, as_json: bool) -> None:
    """Rate the models by the votes.

    Bradley-Terry with mean 1000 and 95 % intervals, with and without the comparisons that follow from what models
    support. Without a common scale the components are told instead.

    \b
    Example:
      wh-judge votes ratings --json
    """
    from wh_judge.cli.votes_shown import print_ratings
    from wh_judge.evaluation.ratings import rate_arena
    from wh_judge.evaluation.support import support_votes, tally
    from wh_judge.store import read_warehouse
    from wh_judge.store.votes import read_support, read_tallies, vote_sources

    with read_warehouse(reading_settings(data=data).warehouse) as connection:
        tallies, sources = read_tallies(connection), vote_sources(connection)
        support = tally(support_votes(read_support(connection)))
    if not tallies and not support:
        raise UserError("there is no vote in the warehouse; import some and run wh-judge run first")
    arena = rate_arena(tallies, support, sources)
    if as_json:
        click.echo(json.dumps(arena.model_dump(), ensure_ascii=False, indent=2))
    else:
        print_ratings(arena, Console(emoji=False, highlight=False))


@command.command(name="agreement")
@_DATA
@_JSON
def agreement(data: str | None, as_json: bool) -> None:
    """Set the judge, and other judges, beside the votes.

    Rank correlation with the ratings, accuracy, draw rate and Brier score over single votes, how far repeated runs lie
    apart, and how far people agree with each other.

    \b
    Example:
      wh-judge votes agreement --json
    """
    from wh_judge.cli.votes_shown import print_agreement
    from wh_judge.store import read_warehouse
    from wh_judge.store.vote_agreement import agreement_now

    settings = load_settings(data=data)
    with read_warehouse(settings.warehouse) as connection:
        found = agreement_now(connection, settings.rules)
    if not found.votes:
        # A judge's turn that the log does not have stays wrong when votes come.
        for left in found.unplaced:
            click.echo(one_line(left.told()), err=True)
        raise UserError("there is no vote in the warehouse; import some and run wh-judge run first")
    if as_json:
        click.echo(json.dumps(found.model_dump(), ensure_ascii=False, indent=2))
    else:
        print_agreement(found, Console(emoji=False, highlight=False))
