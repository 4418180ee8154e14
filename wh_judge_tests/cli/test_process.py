"""The program in processes of its own: installed, away from its checkout, without Dagster, at the end of a pipe."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import wh_judge
from wh_judge_tests.cli.call import CARDS, LEXICON, TURNS, call_process, inputs, names

PACKAGE = Path(wh_judge.__file__).parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package alone: the Python files, as a wheel has them."""
    site = tmp_path_factory.mktemp("site")
    for file in PACKAGE.rglob("*.py"):
        (site / file.relative_to(PACKAGE.parent)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, site / file.relative_to(PACKAGE.parent))
    return site


def alone(site: Path, *before: str) -> tuple[str, ...]:
    """The command that runs the package in this folder, after some statements."""
    lines = [
        "import sys",
        f"sys.path.insert(0, {str(site)!r})",
        *before,
        "import wh_judge",
        f"assert wh_judge.__file__.startswith({str(site)!r})",
        "from wh_judge.cli import main",
        "main(prog_name='wh-judge')",
    ]
    return sys.executable, "-P", "-c", "\n".join(lines)


def test_judge_and_validate_need_neither_a_checkout_nor_dagster(installed: Path, here: Path) -> None:
    command = alone(installed, "sys.modules['dagster'] = sys.modules['great_expectations'] = None")
    for path in (TURNS, CARDS, LEXICON):
        shutil.copy(path, here)
    flags = inputs(Path("turns.jsonl"), Path("cards.json"), Path("lexicon.csv"))
    code, out, err = call_process("judge", *flags, "--out", "v.jsonl", cwd=here, command=command)
    assert (code, out) == (0, "")
    assert len(err.splitlines()) == 5
    assert names(here) == ["cards.json", "lexicon.csv", "turns.jsonl", "v.jsonl"]
    code, out, err = call_process("validate", "--verdicts", "v.jsonl", *flags, "--json", cwd=here, command=command)
    assert (code, err) == (0, "")
    assert {result["failed"] for result in json.loads(out)["validations"]} == {0}


def test_the_rules_are_shown_away_from_the_checkout(installed: Path, here: Path) -> None:
    code, out, err = call_process("rules", "--json", cwd=here, command=alone(installed))
    assert (code, err) == (0, "")
    assert len(json.loads(out)) == 5


def test_the_command_is_installed_and_reports_problems_on_stderr(here: Path) -> None:
    turns = here / "turns.jsonl"
    turns.write_bytes(TURNS.read_bytes() + "하늘\n".encode("cp949"))
    code, out, err = call_process("judge", *inputs(turns), "--out", "v.csv", "--rejects", "r.jsonl", cwd=here)
    assert (code, out) == (1, "")
    reason = "is not UTF-8 (byte 1 of the line); save it as UTF-8"
    assert err.splitlines()[5:] == [f"rejected: turns.jsonl:9: {reason}"]
    assert json.loads((here / "r.jsonl").read_text("utf-8"))["reason"] == reason


def test_an_error_is_one_line_and_2(here: Path) -> None:
    (here / "pyproject.toml").write_text("[tool.wh_judge\n")
    code, out, err = call_process("judge", *inputs(), "--out", "v.csv", cwd=here)
    assert (code, out) == (2, "")
    assert err.startswith(f"wh-judge: {here / 'pyproject.toml'}: is no TOML: ")
    assert err.count("\n") == 1
    assert names(here) == ["pyproject.toml"]


def test_hangul_comes_through_in_a_plain_locale(here: Path) -> None:
    code, out, err = call_process("rules", "forbidden", cwd=here, env={"LC_ALL": "C", "TERM": "dumb"})
    assert (code, err) == (0, "")
    assert "금지 소재 접촉" in out


def test_a_reader_that_goes_away_is_no_traceback(here: Path) -> None:
    wh_judge_command = Path(sys.executable).parent / "wh-judge"
    done = subprocess.run(
        ["bash", "-c", f"'{wh_judge_command}' rules --json | head -c 1"], cwd=here, capture_output=True, check=False
    )
    assert (done.stdout, done.stderr) == (b"[", b"")
