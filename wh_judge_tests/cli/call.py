"""One call of the command line, in this process or in one of its own."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner

from wh_judge.cli import main
from wh_judge_tests.builders import DATA, STATE
from wh_judge_tests.input_files import write

TURNS, CARDS, LEXICON = (DATA / "worked_inputs" / name for name in ("turns.jsonl", "cards.json", "lexicon.csv"))


class Result(NamedTuple):
    """What came of a call."""

    code: int
    out: str
    err: str


def call(*arguments: str | Path) -> Result:
    """Call `wh-judge` in this process. An exception that gets out of it fails the test."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], prog_name="wh-judge")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return _checked(Result(result.exit_code, result.stdout, result.stderr))


def call_process(
    *arguments: str | Path, cwd: Path, command: tuple[str, ...] = (), env: Mapping[str, str] | None = None
) -> Result:
    """Call `wh-judge`, or another command that does the same, in a process of its own."""
    command = command or (str(Path(sys.executable).parent / "wh-judge"),)
    done = subprocess.run(
        [*command, *map(str, arguments)],
        cwd=cwd,
        env={**{name: value for name, value in os.environ.items() if not name.startswith("WH_JUDGE")}, **(env or {})},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return _checked(Result(done.returncode, done.stdout, done.stderr))


def _checked(result: Result) -> Result:
    assert result.code in (0, 1, 2), result.err
    assert "Traceback" not in result.out + result.err, result.err
    assert "\x1b" not in result.out + result.err, "colours or a progress bar where there is no terminal"
    return result


def inputs(turns: Path = TURNS, cards: Path = CARDS, lexicon: Path = LEXICON) -> tuple[str | Path, ...]:
    """The flags of the three inputs; the worked ones where none are given."""
    return "--turns", turns, "--cards", cards, "--lexicon", lexicon


def state_files(folder: Path, suffix: str = ".jsonl") -> tuple[str | Path, ...]:
    """`STATE` as files, and the flags that name them."""
    parts = {"turns": STATE.turns, "cards": STATE.cards, "lexicon": STATE.lexicon}
    for name, models in parts.items():
        write(folder / f"{name}{suffix}", [model.model_dump(mode="json") for model in models])
    return inputs(*(folder / f"{name}{suffix}" for name in parts))


def names(folder: Path) -> list[str]:
    """Everything in a folder, at any depth."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
