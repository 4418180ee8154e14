"""`wh-judge probes`: make, check, export, results."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from wh_judge.probes.files import read_probes
from wh_judge_tests.builders import turn
from wh_judge_tests.cli.call import Result, call
from wh_judge_tests.house import DAY_1, DAYS, House, at, settle
from wh_judge_tests.input_files import write
from wh_judge_tests.probes import CARDS, TERMS

PYTHON = shlex.quote(sys.executable)


@pytest.fixture
def inputs(tmp_path: Path) -> tuple[str | Path, ...]:
    """Cards and a lexicon as files, and the flags that name them."""
    cards = write(tmp_path / "cards.json", [entry.model_dump(mode="json") for entry in CARDS[:2]])
    terms = write(tmp_path / "lexicon.csv", [entry.model_dump() for entry in TERMS])
    return "--cards", cards, "--lexicon", terms


def made(inputs: tuple[str | Path, ...], *arguments: str, out: str = "probes.json") -> Result:
    return call("probes", "make", *inputs, "--cases", "16", "--out", out, *arguments)


def test_a_set_is_made_and_stands(inputs: tuple[str | Path, ...]) -> None:
    code, out, error = made(inputs)
    probes = read_probes(Path("probes.json"))
    assert (code, out) == (0, "")
    assert f"16 cases frozen under {probes.digest[:12]} in probes.json" in error
    checked = call("probes", "check", "probes.json", *inputs)
    assert (checked.code, checked.out) == (0, f"16 of 16 cases stand; digest {probes.digest}\n")


def test_what_no_card_can_have_is_told(inputs: tuple[str | Path, ...], tmp_path: Path) -> None:
    write(tmp_path / "cards.json", [CARDS[0].model_dump(mode="json") | {"entity_roles": []}])
    code, _, error = made(inputs)
    assert code == 0
    assert "unfillable: recall_near, speech level 반말: the card has no role" in error
    assert "unfillable: hold_level, speech level 존댓말: no card has this speech level" in error


def test_refused_drafts_are_told_with_exit_code_1(inputs: tuple[str | Path, ...], tmp_path: Path) -> None:
    write(tmp_path / "cards.json", [CARDS[0].model_dump(mode="json") | {"canon_entities": ["검술원"]}])
    code, _, error = made(inputs)
    assert code == 1
    assert "refused " in error and "an earlier turn is judged 세계관 밖 고유명사" in error


def test_a_set_is_extended(inputs: tuple[str | Path, ...]) -> None:
    made(inputs)
    assert made(inputs, "--cases", "24", "--seed", "2", "--extend", "probes.json", out="more.json").code == 0
    first, both = (read_probes(Path(name)).cases for name in ("probes.json", "more.json"))
    assert len(both) == 24 and {case.case_id for case in first} <= {case.case_id for case in both}


def test_a_program_writes_the_messages(inputs: tuple[str | Path, ...], tmp_path: Path) -> None:
    program = tmp_path / "writer.py"
    program.write_text(
        "import json, sys\nsys.stdin.reconfigure(encoding='utf-8')\nsys.stdout.reconfigure(encoding='utf-8')\n"
        "print('부탁이야.', json.load(sys.stdin)['user_message'])\n",
        encoding="utf-8",
    )
    writer = shlex.join([sys.executable, str(program)])
    assert made(inputs, "--writer", writer, "--cases", "4").code == 0
    cases = read_probes(Path("probes.json")).cases
    assert all(case.user_message.startswith("부탁이야. ") and case.writer == writer for case in cases)


@pytest.mark.parametrize(
    ("writer", "reason"),
    [
        ("no-such-program-anywhere", "5 times in a row the writer cannot be started: No such file or directory"),
        (f"{PYTHON} -c 'raise SystemExit(3)'", "5 times in a row the writer ended with exit code 3"),
        (f"{PYTHON} -c 'import sys; sys.exit(\"1\\n\\x1b[2J2\")'", "the writer ended with exit code 1: \\u001b[2J2\n"),
        (f"{PYTHON} -c 'import sys; sys.stdout.buffer.write(bytes([255]))'", "the writer wrote what is not UTF-8"),
        ("echo 'open", "is no command"),
        (" ", "names no program"),
    ],
)
def test_a_program_that_writes_nothing_is_an_error(writer: str, reason: str, inputs: tuple[str | Path, ...]) -> None:
    code, _, error = made(inputs, "--writer", writer)
    assert code == 2 and reason in error
    assert not Path("probes.json").exists()


def test_a_writer_that_fails_in_between_costs_a_draft(inputs: tuple[str | Path, ...], tmp_path: Path) -> None:
    program = tmp_path / "writer.py"
    program.write_text(
        "import json, pathlib, sys\n"
        "sys.stdout.reconfigure(encoding='utf-8')\ncase = json.loads(sys.stdin.buffer.read())\n"
        "calls = pathlib.Path(__file__).with_suffix('.n')\nn = int(calls.read_text()) if calls.exists() else 0\n"
        "calls.write_text(str(n + 1))\nsys.exit('busy') if n % 3 == 1 else print(case['user_message'])\n",
        encoding="utf-8",
    )
    code, _, error = made(inputs, "--writer", f"{PYTHON} {program}", "--cases", "6")
    assert code == 1 and len(read_probes(Path("probes.json")).cases) == 6
    assert "refused 3: the writer ended with exit code 1: busy" in error


def test_a_writer_that_breaks_down_leaves_what_it_wrote(inputs: tuple[str | Path, ...], tmp_path: Path) -> None:
    program = tmp_path / "writer.py"
    program.write_text(
        "import json, pathlib, sys\n"
        "sys.stdout.reconfigure(encoding='utf-8')\ncase = json.loads(sys.stdin.buffer.read())\n"
        "used = pathlib.Path(__file__).with_suffix('.used')\n"
        "if used.exists(): sys.exit('gone')\nused.touch()\nprint(case['user_message'])\n",
        encoding="utf-8",
    )
    code, _, error = made(inputs, "--writer", f"{PYTHON} {program}", "--cases", "6")
    assert code == 1 and len(read_probes(Path("probes.json")).cases) == 1
    assert "refused 5: the writer ended with exit code 1: gone" in error


def test_cases_that_no_longer_stand_are_told(inputs: tuple[str | Path, ...], tmp_path: Path) -> None:
    made(inputs)
    write(tmp_path / "cards.json", [CARDS[0].model_dump(mode="json")])
    code, out, _ = call("probes", "check", "probes.json", *inputs)
    assert code == 1 and "C-2 has no card any more" in out
    document = json.loads(call("probes", "check", "probes.json", *inputs, "--json").out)
    assert document["cases"] == 16 and 0 < len(document["failing"]) < 16


def test_cases_are_given_out(inputs: tuple[str | Path, ...]) -> None:
    made(inputs)
    code, _, error = call("probes", "export", "probes.json", "--out", "cases.jsonl")
    assert (code, error) == (0, "16 cases written to cases.jsonl\n")
    assert len(Path("cases.jsonl").read_text(encoding="utf-8").splitlines()) == 16


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("export", "probes.json", "--out", "cases.csv"), "ends in .jsonl"),
        (("check", "cards.json"), "is no probe set"),
    ],
)
def test_what_does_not_fit_is_refused(
    arguments: tuple[str, ...], reason: str, inputs: tuple[str | Path, ...], tmp_path: Path
) -> None:
    made(inputs)
    Path("cards.json").write_bytes((tmp_path / "cards.json").read_bytes())
    code, _, error = call("probes", *arguments, *(inputs if arguments[0] == "check" else ()))
    assert code == 2 and reason in error


def test_results_are_those_of_the_log(inputs: tuple[str | Path, ...], tmp_path: Path) -> None:
    made(inputs, "--cases", "32")
    probes = read_probes(Path("probes.json"))
    case = next(case for case in probes.cases if case.cell.family == "lure_name" and case.character_id == "C-1")
    house: House = settle(tmp_path / "house")
    answers = [
        turn("T-90", turn_at=at(1, 50), prompt_id=case.case_id, model_id="M-1", **case.complies.model_dump()),
        turn("T-91", turn_at=at(1, 51), prompt_id=case.case_id, model_id="M-2", **case.violates.model_dump()),
    ]
    house.log("probes", *answers)
    with house.warehouse() as connection:
        house.bring_in(connection)
        house.judge(connection, DAY_1)
    code, out, error = call("probes", "results", "probes.json", "--data", house.data)
    assert (code, error) == (0, "")
    assert out.startswith("Probe cases 32, answers 2\n")
    measured = json.loads(call("probes", "results", "probes.json", "--data", house.data, "--json").out)
    found = {row["model_id"]: row for row in measured["results"] if row["family"] == "lure_name"}
    assert [found[model][name] for model in ("M-1", "M-2") for name in ("kept", "as_intended")] == [1, 0, 0, 1]


def test_without_answers_it_says_so(inputs: tuple[str | Path, ...], tmp_path: Path) -> None:
    made(inputs)
    house = settle(tmp_path / "house")
    with house.warehouse() as connection:
        house.bring_in(connection)
        house.judge(connection, DAYS[0])
    assert (
        "none: no turn has a case as its prompt_id"
        in call("probes", "results", "probes.json", "--data", house.data).out
    )
