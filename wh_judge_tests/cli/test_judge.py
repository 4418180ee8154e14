"""`wh-judge judge`: from files to a file, and what its exit code says."""

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from wh_judge.model import VERDICTS
from wh_judge_tests.builders import DATA, STATE
from wh_judge_tests.cli.call import CARDS, LEXICON, TURNS, call, inputs, names, state_files
from wh_judge_tests.input_files import SOUND, SUFFIXES, write

WORKED = json.loads((DATA / "worked_examples.json").read_text("utf-8"))
STRANGER = SOUND["chat_turn"] | {"turn_id": "T-5", "character_id": "C-99"}
"""A turn whose character has no card."""


def documents(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def turns_with(folder: Path, *lines: str) -> Path:
    """The worked log with more lines."""
    path = folder / "turns.jsonl"
    path.write_text(TURNS.read_text("utf-8") + "".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def test_the_worked_log_is_judged(here: Path) -> None:
    code, out, err = call("judge", *inputs(), "--out", "v.jsonl")
    assert (code, out) == (0, "")
    found = documents(here / "v.jsonl")
    assert [document["turn_id"] for document in found] == sorted(document["turn_id"] for document in found)
    verdicts = {document["turn_id"]: document["verdict"] for document in found}
    assert {claim["turn_id"]: claim["verdict"] for claim in WORKED}.items() <= verdicts.items()
    counts = Counter(verdicts.values())
    assert [line.split(maxsplit=1) for line in err.splitlines()] == [[str(counts[v]), v] for v in VERDICTS]
    assert names(here) == ["v.jsonl"]


def test_one_object_a_line_in_turn_order(here: Path) -> None:
    assert call("judge", *state_files(here), "--out", "v.jsonl").code == 0
    found = [document["turn_id"] for document in documents(here / "v.jsonl")]
    assert found == sorted((turn.turn_id for turn in STATE.turns), key=lambda turn_id: (len(turn_id), turn_id))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_inputs_of_any_type_give_the_same_file(suffix: str, here: Path) -> None:
    assert call("judge", *state_files(here, ".jsonl"), "--out", "expected.jsonl").code == 0
    assert call("judge", *state_files(here, suffix), "--out", "v.jsonl").code == 0
    assert (here / "v.jsonl").read_bytes() == (here / "expected.jsonl").read_bytes()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_inputs_may_be_folders(suffix: str, here: Path) -> None:
    (here / "all").mkdir()
    state_files(here / "all", suffix)
    for name in ("turns", "cards", "lexicon"):
        (here / name).mkdir()
        (here / "all" / f"{name}{suffix}").rename(here / name / f"x{suffix}")
    assert call("judge", *inputs(here / "turns", here / "cards", here / "lexicon"), "--out", "v.jsonl").code == 0
    assert len(documents(here / "v.jsonl")) == len(STATE.turns)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_written_in_any_type_is_read_back_and_valid(suffix: str, here: Path) -> None:
    flags = state_files(here)
    assert call("judge", *flags, "--out", f"v{suffix}").code == 0
    code, out, err = call("validate", "--verdicts", f"v{suffix}", *flags)
    assert (code, err) == (0, "")
    assert f"{len(STATE.turns)}" in out


def test_rows_that_are_refused_are_1_and_the_others_are_judged(here: Path) -> None:
    turns = turns_with(here, "nonsense", json.dumps(STRANGER | {"turn_at": "어제"}))
    code, out, err = call("judge", *inputs(turns), "--out", "v.jsonl")
    assert (code, out) == (1, "")
    assert len(documents(here / "v.jsonl")) == 8
    assert err.splitlines()[5:] == [
        "rejected: turns.jsonl:9: is no JSON: expecting value at character 1",
        "rejected: turns.jsonl:10: turn_at is no ISO 8601 date and time, such as 2026-09-01T20:01:00+09:00 ('어제')",
    ]


def test_a_turn_without_a_card_is_1_and_named(here: Path) -> None:
    turns = turns_with(here, json.dumps(STRANGER, ensure_ascii=False))
    code, _, err = call("judge", *inputs(turns), "--out", "v.jsonl")
    assert code == 1
    assert "T-5" not in [document["turn_id"] for document in documents(here / "v.jsonl")]
    assert err.splitlines()[5:] == [
        "        1  not judged: no card for their character",
        "unjudged: turns.jsonl:9: no card for character C-99",
    ]


@pytest.mark.parametrize("which", ["cards", "lexicon"])
def test_bad_rows_of_cards_and_lexicon_are_1(which: str, here: Path) -> None:
    cards, lexicon = here / "cards.json", here / "lexicon.csv"
    cards.write_text(CARDS.read_text("utf-8"), encoding="utf-8")
    lexicon.write_text(LEXICON.read_text("utf-8"), encoding="utf-8")
    if which == "cards":
        write(cards, [*json.loads(CARDS.read_text("utf-8")), {"character_id": "CHR-0001"}])
        reason = "rejected: cards.json:5: name is missing; "
    else:
        lexicon.write_text(LEXICON.read_text("utf-8") + ",현실 정치\n", encoding="utf-8")
        reason = "rejected: lexicon.csv:5: term is null"
    code, _, err = call("judge", *inputs(TURNS, cards, lexicon), "--out", "v.jsonl")
    assert code == 1
    assert err.splitlines()[5].startswith(reason)
    assert len(documents(here / "v.jsonl")) == 8


def test_something_noted_is_1(here: Path) -> None:
    turns = turns_with(here, json.dumps(SOUND["chat_turn"] | {"character_id": "CHR-0001", "mood": "x"}))
    code, _, err = call("judge", *inputs(turns), "--out", "v.jsonl")
    assert code == 1
    assert err.splitlines()[-1].startswith("noted: turns.jsonl:9: chat_turn has no column 'mood'")


def test_many_problems_are_cut_on_stderr_and_kept_in_rejects(here: Path) -> None:
    turns = turns_with(here, *["nonsense"] * 25)
    code, _, err = call("judge", *inputs(turns), "--out", "v.jsonl", "--rejects", "r.jsonl")
    assert code == 1
    assert len(err.splitlines()) == 5 + 20 + 1
    assert err.splitlines()[-1] == "… 5 more; --rejects FILE keeps them all"
    assert [row["line"] for row in documents(here / "r.jsonl")] == list(range(9, 34))


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv"])
def test_rejects_hold_file_line_reason_and_the_row(suffix: str, here: Path) -> None:
    turns = turns_with(here, 'nonsense "x"', json.dumps(STRANGER, ensure_ascii=False))
    assert call("judge", *inputs(turns), "--out", "v.jsonl", "--rejects", f"r{suffix}").code == 1
    path = here / f"r{suffix}"
    if suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            rows: list[dict[str, Any]] = [
                {name: cell or None for name, cell in row.items()} for row in csv.DictReader(file)
            ]
            for row in rows:
                row["line"] = int(row["line"])
    else:
        rows = json.loads(path.read_text("utf-8")) if suffix == ".json" else documents(path)
    reason = "is no JSON: expecting value at character 1"
    place = {"table": "chat_turn", "file": "turns.jsonl"}
    assert rows[0] == place | {
        "line": 9,
        "severity": "rejected",
        "turn_id": None,
        "reason": reason,
        "raw": 'nonsense "x"',
    }
    assert {name: rows[1][name] for name in rows[1] if name != "raw"} == place | {
        "line": 10,
        "severity": "unjudged",
        "turn_id": "T-5",
        "reason": "no card for character C-99",
    }
    assert len(rows) == 2


def test_rejects_are_written_where_there_are_none(here: Path) -> None:
    assert call("judge", *inputs(), "--out", "v.jsonl", "--rejects", "r.json").code == 0
    assert json.loads((here / "r.json").read_text()) == []


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ([], 0),
        (["금지 소재 접촉"], 1),
        (["설정대로 말함"], 1),
        (["세계관 밖 고유명사", "앞 회차를 기억 못 함"], 1),
    ],
)
def test_fail_on_is_1_where_a_verdict_occurs(verdicts: list[str], code: int, here: Path) -> None:
    flags = [flag for verdict in verdicts for flag in ("--fail-on", verdict)]
    assert call("judge", *inputs(), "--out", "v.jsonl", *flags).code == code
    assert len(documents(here / "v.jsonl")) == 8


def test_fail_on_is_0_where_none_occurs(here: Path) -> None:
    write(here / "lexicon.jsonl", [{"term": "없는 말", "topic": "현실 정치"}])
    flags = inputs(lexicon=here / "lexicon.jsonl")
    assert call("judge", *flags, "--out", "v.jsonl", "--fail-on", "금지 소재 접촉").code == 0


def test_endings_of_pyproject_count(here: Path) -> None:
    def verdict() -> str:
        assert call("judge", *inputs(), "--out", "v.jsonl").code == 0
        found = {document["turn_id"]: document["verdict"] for document in documents(here / "v.jsonl")}
        return str(found["T-004468"])

    assert verdict() == "설정대로 말함"
    (here / "pyproject.toml").write_text('[tool.wh_judge]\nendings = ["본다"]\n', encoding="utf-8")
    assert verdict() == "말투 어긋남"


def test_no_verdict_at_all_is_an_empty_file_and_1(here: Path) -> None:
    turns = write(here / "turns.jsonl", [STRANGER])
    for suffix in SUFFIXES:
        assert call("judge", *inputs(turns), "--out", f"v{suffix}").code == 1
    assert (here / "v.jsonl").read_bytes() == b""
    assert json.loads((here / "v.json").read_text()) == []
    assert pq.read_table(here / "v.parquet").num_rows == 0
