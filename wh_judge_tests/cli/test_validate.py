"""`wh-judge validate`: a file of verdicts from anywhere, held against the log."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wh_judge.validations import VALIDATIONS
from wh_judge_tests.builders import DATA, STATE, worked_claims
from wh_judge_tests.cli.call import CARDS, LEXICON, TURNS, Result, call, inputs, names, state_files
from wh_judge_tests.input_files import SUFFIXES, write

EXAMPLES = DATA / "worked_examples.json"
CODES = [validation.code for validation in VALIDATIONS]


def validate(verdicts: Path, *more: str | Path) -> Result:
    return call("validate", "--verdicts", verdicts, *inputs(), *more)


def table(out: str) -> dict[str, list[int]]:
    """Of each validation the numbers: looked at, passed, failed, not applicable."""
    rows = [line.split() for line in out.splitlines()]
    return {row[0]: [int(cell) for cell in row[1:]] for row in rows if len(row) == 5 and row[0] in CODES}


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv"])
def test_the_worked_examples_are_valid_in_any_type(suffix: str, here: Path) -> None:
    code, out, err = validate(write(here / f"v{suffix}", worked_claims()))
    assert (code, err) == (0, "")
    found = table(out)
    assert list(found) == CODES
    assert all(looked == passed + skipped == 7 for looked, passed, failed, skipped in found.values() if not failed)
    assert {failed for _, _, failed, _ in found.values()} == {0}


def test_claims_of_a_log_with_every_case_are_valid(here: Path) -> None:
    verdicts = write(here / "v.jsonl", STATE.claims(keyed=False))
    code, out, err = call("validate", "--verdicts", verdicts, *state_files(here), "--json")
    assert (code, err) == (0, "")
    assert {result["failed"] for result in json.loads(out)["validations"]} == {0}


def damaged(folder: Path, **cells: Any) -> Path:
    """The worked examples, the first one changed."""
    first, *others = worked_claims()
    return write(folder / "v.jsonl", [first | cells, *others])


def test_a_turn_that_fails_is_1_and_named_with_the_reason(here: Path) -> None:
    code, out, err = validate(damaged(here, touched_topic="도박"))
    assert (code, err) == (1, "")
    assert table(out)["v05_touched_found_again"][2] == 1
    [line] = [line for line in out.splitlines() if line.startswith("  v05_touched_found_again  ")]
    assert line.startswith("  v05_touched_found_again  T-004468  touched_topic: expected null, found '도박'")


def test_json_names_every_failing_turn(here: Path) -> None:
    code, out, err = validate(damaged(here, verdict="좋음"), "--json")
    assert (code, err) == (1, "")
    document = json.loads(out)
    assert document["unread"] == []
    assert [result["code"] for result in document["validations"]] == CODES
    first = document["validations"][0]
    assert (first["looked_at"], first["passed"], first["failed"], first["not_applicable"]) == (7, 6, 1, 0)
    assert [(failure["turn_id"], failure["row"]) for failure in first["failures"]] == [("T-004468", 1)]


def test_more_failing_turns_than_are_shown_are_counted(here: Path) -> None:
    claims = [claim | {"summary": "응."} for claim in STATE.claims(keyed=False)]
    code, out, _ = call("validate", "--verdicts", write(here / "v.json", claims), *state_files(here))
    assert code == 1
    shown = [line for line in out.splitlines() if line.startswith("  v10_")]
    assert len(shown) == 11
    assert shown[-1].endswith(f"… {len(claims) - 10} more, all of them in --json")


def test_a_line_that_cannot_be_read_is_1_and_named(here: Path) -> None:
    path = damaged(here)
    path.write_text(path.read_text("utf-8") + '\n{"turn_id": "T-004', encoding="utf-8")
    code, out, err = validate(path)
    assert code == 1
    reason = "is no JSON: unterminated string starting at character 13; the file ends in it and may be cut off"
    assert err == f"unread: v.jsonl:9: {reason}\n"
    assert table(out)[CODES[0]] == [7, 7, 0, 0]
    code, out, json_err = validate(path, "--json")
    assert (code, json_err) == (1, err)
    assert json.loads(out)["unread"] == [{"file": "v.jsonl", "line": 9, "reason": reason}]


def test_a_folder_of_verdicts_is_read_whole(here: Path) -> None:
    (here / "v").mkdir()
    claims = worked_claims()
    write(here / "v" / "1.jsonl", claims[:3])
    write(here / "v" / "2.csv", claims[3:])
    (here / "v" / "3.txt").write_text("x")
    (here / "v" / "README.md").write_text("x")
    code, out, err = validate(here / "v")
    assert code == 1
    assert table(out)[CODES[0]] == [7, 7, 0, 0]
    assert err == "unread: v/3.txt: is none of .jsonl, .json, .csv, .parquet; rename it or convert it\n"


@pytest.mark.parametrize("flag", [[], ["--json"]], ids=["table", "json"])
def test_rows_of_the_log_that_are_refused_are_1_and_on_stderr(flag: list[str], here: Path) -> None:
    turns = here / "turns.jsonl"
    turns.write_text(TURNS.read_text("utf-8") + "nonsense\n", encoding="utf-8")
    code, out, err = call("validate", "--verdicts", EXAMPLES, *inputs(turns), *flag)
    assert code == 1
    assert err == "rejected: turns.jsonl:9: is no JSON: expecting value at character 1\n"
    assert "rejected" not in out


def test_endings_of_pyproject_count(here: Path) -> None:
    (here / "pyproject.toml").write_text('[tool.wh_judge]\nendings = ["본다"]\n', encoding="utf-8")
    code, out, _ = validate(EXAMPLES)
    assert code == 1
    assert "v03_speech_reread  T-004468" in out


def nothing(claim: dict[str, Any]) -> dict[str, Any]:
    return {}


def other_types(claim: dict[str, Any]) -> dict[str, Any]:
    return {name: 3 if isinstance(cell, str | None) else "x" for name, cell in claim.items()}


def nested(claim: dict[str, Any]) -> dict[str, Any]:
    return {name: [{"a": [cell]}] for name, cell in claim.items()}


def all_null(claim: dict[str, Any]) -> dict[str, Any]:
    return dict.fromkeys(claim)


def evidence_of_anything(claim: dict[str, Any]) -> dict[str, Any]:
    return claim | {"evidence": [None, 3, "x", [], {}, {"source": [], "field": {}, "agg": 1, "value": [10**30]}]}


def half_a_pair(claim: dict[str, Any]) -> dict[str, Any]:
    return claim | {"turn_id": "\ud800", "summary": "\ud800", "\ud800": "\udfff", "off_canon_entities": ["\ud800"]}


def markup(claim: dict[str, Any]) -> dict[str, Any]:
    return claim | {"turn_id": "[bold]x[/bold][/red]", "summary": "[red]a[/blue]\n\x1b"}


@pytest.mark.parametrize("flag", [[], ["--json"]], ids=["table", "json"])
@pytest.mark.parametrize(
    "change",
    [nothing, other_types, nested, all_null, evidence_of_anything, half_a_pair, markup],
    ids=lambda f: f.__name__,
)
def test_whatever_a_model_writes_is_judged(
    change: Callable[[dict[str, Any]], dict[str, Any]], flag: list[str], here: Path
) -> None:
    lines = [json.dumps(change(claim)) for claim in worked_claims()]
    (here / "v.jsonl").write_text("\n".join(lines))
    code, out, err = validate(here / "v.jsonl", *flag)
    assert (code, err) == (1, "")
    if flag:
        assert {result["looked_at"] for result in json.loads(out)["validations"]} == {7}
    else:
        assert list(table(out)) == CODES


def test_the_same_turn_twice_fails(here: Path) -> None:
    claims = worked_claims()
    code, out, _ = validate(write(here / "v.json", [*claims, claims[0]]))
    assert code == 1
    assert "T-004468" in out


UNUSABLE: dict[str, tuple[str, str, str]] = {
    "nothing": ("v.jsonl", "", ""),
    "an empty list": ("v.json", "[]", ""),
    "no JSON": ("v.jsonl", "Sure! Here are the verdicts:", " (v.jsonl:1: is no JSON: expecting value at character 1; "),
    "another type": ("v.md", "x", " (v.md: is none of .jsonl, .json, .csv, .parquet; "),
    "CSV without a verdict": ("v.csv", "turn_id\nT-1\n", " (v.csv:1: has a header that lacks verdict)"),
    "Parquet that is none": ("v.parquet", "x", " (v.parquet: is no Parquet file; it may be cut off ("),
}


@pytest.mark.parametrize(("name", "content", "why"), UNUSABLE.values(), ids=UNUSABLE)
def test_verdicts_that_cannot_be_read_at_all_are_2(name: str, content: str, why: str, here: Path) -> None:
    (here / name).write_text(content)
    code, out, err = validate(here / name)
    assert (code, out) == (2, "")
    assert err.startswith(f"wh-judge: {here / name}: holds no row that can be read{why}")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("flags", "file", "why"),
    [
        ((), TURNS, "none of its 8 rows has a cell verdict"),
        ((), CARDS, "none of its 3 rows has a cell verdict"),
        (("--drafts",), CARDS, "none of its 3 rows has a cell turn_id or custom_id"),
    ],
)
def test_a_file_of_something_else_is_2_in_one_line(flags: tuple[str, ...], file: Path, why: str) -> None:
    code, out, err = validate(file, *flags)
    assert (code, out) == (2, "")
    assert err == (
        f"wh-judge: {file}: holds no verdicts: {why}; name a file of verdicts, such as wh-judge judge writes\n"
    )


def test_an_empty_lexicon_is_one(here: Path) -> None:
    (here / "l.csv").write_text("term,topic,more\n", encoding="utf-8")
    code, out, err = call("validate", "--verdicts", EXAMPLES, *inputs(lexicon=here / "l.csv"))
    assert (code, err) == (1, "") and table(out)["v05_touched_found_again"][2] == 1


@pytest.mark.parametrize("which", ["turns", "cards", "lexicon"])
def test_an_input_that_cannot_be_read_at_all_is_2(which: str, here: Path) -> None:
    (here / "x.jsonl").write_text("nonsense\n")
    given = {"turns": TURNS, "cards": CARDS, "lexicon": LEXICON} | {which: here / "x.jsonl"}
    code, out, err = call("validate", "--verdicts", EXAMPLES, *inputs(*given.values()))
    assert (code, out) == (2, "")
    assert err == (
        f"wh-judge: {here / 'x.jsonl'}: holds no row that can be read"
        " (x.jsonl:1: is no JSON: expecting value at character 1)\n"
    )


@pytest.mark.parametrize("flag", ["--verdicts", "--turns", "--cards", "--lexicon"])
def test_a_flag_that_is_missing_is_2(flag: str) -> None:
    given = ["--verdicts", EXAMPLES, *inputs()]
    place = given.index(flag)
    code, out, err = call("validate", *given[:place], *given[place + 2 :])
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == f"Error: Missing option '{flag}'."


def test_nothing_is_written(here: Path) -> None:
    assert validate(EXAMPLES).code == 0
    assert names(here) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_verdicts_in_capitals_are_read(suffix: str, here: Path) -> None:
    assert call("judge", *inputs(), "--out", f"V{suffix.upper()}").code == 0
    assert validate(here / f"V{suffix.upper()}").code == 0
