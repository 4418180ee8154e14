"""The command line: `wh-judge`. One module a command; each parses, calls one function, and prints.

Results go to stdout or --out, everything else to stderr. Exit 0 = done, 1 = done with something to look at, 2 = bad
usage or input and nothing written, 3 = an error of wh-judge itself, with its traceback. A user's error is one line
without one.
"""

import importlib
import traceback
from typing import NoReturn

import click

from wh_judge import __version__
from wh_judge.errors import UserError
from wh_judge.text import one_line

COMMANDS = (
    "run",
    "backfill",
    "stale",
    "why",
    "tree",
    "changes",
    "profile",
    "votes",
    "probes",
    "judge",
    "validate",
    "draft",
    "review",
    "rules",
    "screen",
)
"""A command is `wh_judge.cli.<name>.command`, imported when it is called, so that --help is quick."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"wh_judge.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, HELP[name]) for name in COMMANDS])

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except UserError as error:
            # What it quotes may be anything.
            click.echo(f"wh-judge: {one_line(str(error))}", err=True)
            ctx.exit(2)
        except BrokenPipeError:
            raise
        except OSError as error:
            click.echo(f"wh-judge: {error.filename or 'file'}: {error.strerror or error}", err=True)
            ctx.exit(2)
        except KeyboardInterrupt:
            _interrupted(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            # DuckDB's word for Ctrl-C while it is at work.
            if isinstance(error, RuntimeError) and str(error) == "Query interrupted":
                _interrupted(ctx)
            traceback.print_exc()
            click.echo("wh-judge: this is an error of wh-judge itself", err=True)
            ctx.exit(3)


def _interrupted(ctx: click.Context) -> NoReturn:
    click.echo("wh-judge: interrupted; call it again to go on", err=True)
    ctx.exit(130)


HELP = {
    "run": "Materialise what is missing or stale and show the result.",
    "backfill": "Materialise the days FROM to TO in order.",
    "stale": "List the days that no longer follow from their inputs, and because of what.",
    "why": "Show why a turn has its verdict, and why it changed.",
    "tree": "Show what each check asked of a turn, and what its answers rest on.",
    "changes": "List the verdicts that changed, and the cause of each.",
    "profile": "Show what each model is good at, or how two models differ.",
    "votes": "Bring in and give out what people prefer, and rate the models by it.",
    "probes": "Make prompts that try a card, and see what models make of them.",
    "judge": "Judge files, without Dagster and without a warehouse.",
    "validate": "Hold a file of verdicts from anywhere against the log.",
    "draft": "Let a language model write sentences for verdicts.",
    "review": "Show what people should look at, and write down what they decide.",
    "rules": "Show the rules and their documentation.",
    "screen": "Serve the web page on which people read verdicts.",
}


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="wh-judge")
def main() -> None:
    """Judge by rules whether each reply in a chat log kept to its character's card.

    \b
    Examples:
      wh-judge run
      wh-judge judge --turns turns.jsonl --cards cards.json --lexicon lexicon.csv --out verdicts.jsonl
      wh-judge rules speech
    """
