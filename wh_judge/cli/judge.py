"""`wh-judge judge`"""

import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from rich.console import Console

from wh_judge.errors import UserError
from wh_judge.model import VERDICTS
from wh_judge.settings import Settings, load_settings

if TYPE_CHECKING:
    import pyarrow as pa

    from wh_judge.rowwise import Problem

_FILE = click.Path(exists=True, path_type=Path)
SHOWN = 20
REJECT_COLUMNS = ["table", "file", "line", "severity", "turn_id", "reason", "raw"]


class _Place(click.Path):
    """A path of this machine, or an address such as s3a://logs/turns."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if "://" in str(value) else super().convert(value, param, ctx)


@click.command(name="judge")
@click.option("--turns", type=_Place(exists=True, path_type=Path), required=True, help="The log: a file or a folder.")
@click.option("--cards", type=_FILE, required=True, help="The character cards: a file or a folder.")
@click.option("--lexicon", type=_FILE, required=True, help="The topic lexicon: a file or a folder.")
@click.option(
    "--out",
    type=_Place(path_type=Path),
    required=True,
    help="Where the verdicts go: a file, by suffix; a folder with --engine spark.",
)
@click.option("--rejects", type=click.Path(path_type=Path), help="Where rows and turns that got no verdict go.")
@click.option("--fail-on", type=click.Choice(VERDICTS), multiple=True, help="Exit with 1 where this verdict occurs.")
@click.option(
    "--engine", type=click.Choice(["local", "spark"]), help="What judges; local by default [WH_JUDGE_ENGINE]."
)
@click.option("--master", help="The master of Spark; local[*] by default [WH_JUDGE_SPARK_MASTER].")
def command(
    turns: Path | str,
    cards: Path,
    lexicon: Path,
    out: Path | str,
    rejects: Path | None,
    fail_on: tuple[str, ...],
    engine: str | None,
    master: str | None,
) -> None:
    """Judge files, without Dagster and without a warehouse.

    Files are told apart by suffix: .jsonl, .json, .csv (list cells as JSON), .parquet. The engine spark reads and
    writes Parquet, by day, anywhere Spark can; it also runs the validations, and writes nothing where one fails.

    \b
    Examples:
      wh-judge judge --turns turns/ --cards cards.json --lexicon lexicon.csv --out verdicts.jsonl \\
        --rejects rejects.jsonl --fail-on "금지 소재 접촉"
      wh-judge judge --engine spark --master spark://head:7077 --turns s3a://logs/turns --out s3a://logs/verdicts \\
        --cards cards.json --lexicon lexicon.csv
    """
    settings = load_settings(engine=engine, spark_master=master)
    judge = _on_spark if settings.engine == "spark" else _here
    sys.exit(judge(settings, _Given(turns, cards, lexicon, out, rejects), fail_on))


class _Given(NamedTuple):
    """What is read and written."""

    turns: Path | str
    cards: Path
    lexicon: Path
    out: Path | str
    rejects: Path | None


def _here(settings: Settings, given: _Given, fail_on: tuple[str, ...]) -> int:
    from wh_judge.files import need_rows, rejects_of
    from wh_judge.judge import Judge
    from wh_judge.outputs import write_documents, writing_verdicts
    from wh_judge.parts import reading_parts
    from wh_judge.stream import Done, judge_parts

    turns, out, rejects = given.turns, given.out, given.rejects
    for place in (turns, out):
        if not isinstance(place, Path):
            raise UserError(f"{place}: is no path of this machine; --engine spark reads and writes elsewhere")
    assert isinstance(turns, Path) and isinstance(out, Path)
    _check_files([turns, given.cards, given.lexicon], [out], rejects)
    done = Done(keep_raw=rejects is not None)
    with ThreadPoolExecutor(1) as beside, ExitStack() as closing:
        # To find out how the log lies takes about as long as to read the cards; a log is not sorted for cards that are
        # none.
        reading = beside.submit(_read_inputs, given)
        log = closing.enter_context(reading_parts(turns, reading.result))
        cards, lexicon, of_inputs = reading.result()
        kernel = Judge(cards, lexicon, settings.rules, threads=1)
        closing.enter_context(writing_verdicts(map(done.verdicts_of, judge_parts(log, kernel)), out))
        need_rows(turns, done.turns, done.problems)
        problems = [*done.problems, *of_inputs]
        if rejects is not None:
            write_documents(rejects_of(problems, done.unjudged), rejects, REJECT_COLUMNS)
    not_judged = sum(table.num_rows for table in done.unjudged)
    return _tell(done.counts, not_judged, len(problems), rejects_of(problems, done.unjudged), fail_on)


def _on_spark(settings: Settings, given: _Given, fail_on: tuple[str, ...]) -> int:
    from wh_judge.spark.session import check_installed, open_session

    check_installed()
    from wh_judge.files import need_rows, rejects_of
    from wh_judge.outputs import check_folder, write_documents
    from wh_judge.report import validation_tables
    from wh_judge.spark.engine import judging_log
    from wh_judge.spark.reading import check_files
    from wh_judge.spark.tasks import Inputs

    # Java may have another working folder.
    turns, out = (str(place.absolute() if isinstance(place, Path) else place) for place in (given.turns, given.out))
    rejects = given.rejects
    check_files(turns)
    check_folder(out, turns)
    local = [given.turns] if isinstance(given.turns, Path) else []
    _check_files([*local, given.cards, given.lexicon], [], rejects)
    cards, lexicon, of_inputs = _read_inputs(given)
    with judging_log(open_session(settings.spark_master), turns, Inputs(cards, lexicon, settings.rules)) as log:
        if not (sum(log.counts.values()) or log.not_judged):
            wrong = (row for row in log.rejects() if row["severity"] != "noted")
            need_rows(turns, 0, [f"{row['file']}:{row['line']}: {row['reason']}" for row in islice(wrong, 1)])
        validation_tables(log.validations, SHOWN, Console(stderr=True, emoji=False, highlight=False))
        if not log.sound:
            failed = ", ".join(result.code for result in log.validations if not result.ok)
            raise UserError(f"{given.out}: nothing is written, since {failed} failed")
        if rejects is not None:
            write_documents(chain(rejects_of(of_inputs, []), log.rejects()), rejects, REJECT_COLUMNS)
        log.write(out)
        told = chain(rejects_of(of_inputs, []), log.rejects())
        return _tell(log.counts, log.not_judged, log.problems + len(of_inputs), told, fail_on)


def _read_inputs(given: _Given) -> "tuple[pa.Table, pa.Table, list[Problem]]":
    """The cards, the lexicon, and what is wrong in their files."""
    from wh_judge.files import need_no_worse, need_rows
    from wh_judge.ingest import read_table
    from wh_judge.inputs import TABLES

    cards, lexicon = (
        read_table(given.cards, TABLES["character_card"]),
        read_table(given.lexicon, TABLES["topic_lexicon"]),
    )
    need_rows(given.cards, cards.rows.num_rows, cards.problems)
    need_no_worse(given.lexicon, lexicon.rows.num_rows, lexicon.problems)
    return cards.rows, lexicon.rows, [*cards.problems, *lexicon.problems]


def _check_files(read: list[Path], written: list[Path], rejects: Path | None) -> None:
    """Raise a UserError where a file cannot be written, or is another one of these."""
    from wh_judge.inputs import files_of
    from wh_judge.outputs import check_writable

    taken = {file.resolve() for path in read for file in files_of(path)}
    folders = [path for path in read if path.is_dir()]
    for path in (*written, *filter(None, [rejects])):
        check_writable(path)
        whole = path.resolve()
        if whole in taken:
            raise UserError(f"{path}: is read or written already; name another file")
        folder = next((folder for folder in folders if whole.is_relative_to(folder.resolve())), None)
        if folder is not None:
            raise UserError(f"{path}: lies in {folder}, of which the next run would read it; write it elsewhere")
        taken.add(whole)
    if rejects is not None and rejects.suffix.lower() == ".parquet":
        raise UserError(f"{rejects}: rejects are written as .jsonl, .json or .csv")


def _tell(
    counts: Mapping[str, int],
    not_judged: int,
    problems: int,
    rejects: Iterable[Mapping[str, Any]],
    fail_on: tuple[str, ...],
) -> int:
    """Print what came of it; the exit code."""
    for verdict in VERDICTS:
        click.echo(f"{counts[verdict]:>9}  {verdict}", err=True)
    if not_judged:
        click.echo(f"{not_judged:>9}  not judged: no card for their character", err=True)
    for document in islice(rejects, SHOWN):
        where = document["file"] if document["line"] is None else f"{document['file']}:{document['line']}"
        click.echo(f"{document['severity']}: {where}: {document['reason']}", err=True)
    rejected = problems + not_judged
    if rejected > SHOWN:
        click.echo(f"… {rejected - SHOWN} more; --rejects FILE keeps them all", err=True)
    return int(bool(rejected or any(counts[verdict] for verdict in fail_on)))
