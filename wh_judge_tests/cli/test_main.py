"""The group: help, version, bad usage, and a user's error in one line."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from wh_judge import __version__
from wh_judge.cli import COMMANDS, HELP, main
from wh_judge.errors import UserError
from wh_judge_tests.cli.call import call


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_lists_every_command(flag: str) -> None:
    code, out, err = call(flag)
    assert (code, err) == (0, "")
    assert out.startswith("Usage: wh-judge [OPTIONS] COMMAND [ARGS]...")
    for name, text in HELP.items():
        assert f"  {name} " in out
        assert text in " ".join(out.split())


def test_every_command_is_registered_once() -> None:
    assert tuple(HELP) == COMMANDS
    assert main.list_commands(click.Context(main)) == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_every_command_has_help(name: str, flag: str) -> None:
    code, out, err = call(name, flag)
    assert (code, err) == (0, "")
    assert out.startswith(f"Usage: wh-judge {name} ")
    assert HELP[name] in out


def test_the_version_is_that_of_the_package() -> None:
    assert call("--version") == (0, f"wh-judge, version {__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["jugde"], "Error: No such command 'jugde'."),
        (["--verbose"], "Error: No such option '--verbose'."),
        (["rules", "--jsn"], "Error: No such option '--jsn'."),
        (["rules", "speech", "canon"], "Error: Got unexpected extra argument (canon)"),
        (["judge"], "Error: Missing option '--turns'."),
        (["validate", "--turns"], "Error: Option '--turns' requires an argument."),
    ],
)
def test_bad_usage_is_2_and_says_what_is_wrong(arguments: list[str], error: str) -> None:
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith(error)


def test_no_command_is_2_and_shows_help() -> None:
    code, out, err = call()
    assert (code, out) == (2, "")
    assert err.startswith("Usage: wh-judge")


def test_a_user_s_error_is_one_line_on_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object, **_options: object) -> None:
        raise UserError("x.jsonl:3: is wrong; mend it")

    monkeypatch.setattr("wh_judge.cli.rules._document", fail)
    assert call("rules") == (2, "", "wh-judge: x.jsonl:3: is wrong; mend it\n")


def failing(error: Exception, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    """What is said where this error is raised."""

    def fail(*_args: object, **_options: object) -> None:
        raise error

    monkeypatch.setattr("wh_judge.cli.rules._document", fail)
    result = CliRunner().invoke(main, ["rules"])
    return result.exit_code, result.stdout, result.stderr


def test_an_error_of_the_program_itself_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """And its exit code is not the 1 of what is done."""
    code, out, err = failing(ZeroDivisionError("by nought"), monkeypatch)
    assert (code, out) == (3, "")
    assert err.startswith("Traceback (most recent call last):\n")
    assert err.endswith("\nZeroDivisionError: by nought\nwh-judge: this is an error of wh-judge itself\n")


def test_a_query_that_is_interrupted_is_130_and_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """As DuckDB has it where Ctrl-C comes while it is at work."""
    told = "wh-judge: interrupted; call it again to go on\n"
    assert failing(RuntimeError("Query interrupted"), monkeypatch) == (130, "", told)
    assert failing(RuntimeError("Query broken"), monkeypatch)[0] == 3


def test_settings_that_are_no_good_are_named_with_their_file(here: Path) -> None:
    (here / "pyproject.toml").write_text("[tool.wh_judge]\nendings = []\n")
    code, out, err = call("run")
    assert (code, out) == (2, "")
    assert err.startswith(f"wh-judge: {here / 'pyproject.toml'} [tool.wh_judge]: endings: ")
    assert err.count("\n") == 1
