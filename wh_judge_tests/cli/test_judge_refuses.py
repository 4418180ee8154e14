"""`wh-judge judge`, exit 2: one clear line, and nothing was written."""

import errno
import os
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from wh_judge import outputs
from wh_judge_tests.cli.call import CARDS, LEXICON, TURNS, Result, call, inputs, names
from wh_judge_tests.input_files import SUFFIXES


def refused(here: Path, *arguments: str | Path) -> str:
    """The one line of an error; fails where anything was written or changed."""
    before = {name: (here / name).stat().st_mtime_ns for name in names(here)}
    result = call("judge", *arguments)
    assert {name: (here / name).stat().st_mtime_ns for name in names(here)} == before
    return one_line(result)


def one_line(result: Result) -> str:
    assert (result.code, result.out) == (2, "")
    last = result.err.splitlines()[-1]
    if not result.err.startswith("Usage: "):
        assert result.err == f"{last}\n"
    return last


def test_an_input_that_is_missing(here: Path) -> None:
    error = refused(here, *inputs(Path("gone.jsonl")), "--out", "v.jsonl")
    assert error == "Error: Invalid value for '--turns': Path 'gone.jsonl' does not exist."


@pytest.mark.parametrize("flag", ["--turns", "--cards", "--lexicon", "--out"])
def test_a_flag_that_is_missing(flag: str, here: Path) -> None:
    given = [*inputs(), "--out", "v.jsonl"]
    place = given.index(flag)
    assert refused(here, *given[:place], *given[place + 2 :]) == f"Error: Missing option '{flag}'."


def test_a_verdict_that_is_none(here: Path) -> None:
    error = refused(here, *inputs(), "--out", "v.jsonl", "--fail-on", "나쁨")
    assert error.startswith("Error: Invalid value for '--fail-on': '나쁨' is not one of '설정대로 말함', ")


OUTPUTS: dict[str, tuple[list[str], str]] = {
    "a type that is unknown": (
        ["--out", "v.txt"],
        "v.txt: write to a name that ends in .jsonl, .json, .csv or .parquet",
    ),
    "a type that is unknown for rejects": (
        ["--out", "v.json", "--rejects", "r.txt"],
        "r.txt: write to a name that ends in .jsonl, .json, .csv or .parquet",
    ),
    "rejects in Parquet": (
        ["--out", "v.json", "--rejects", "r.parquet"],
        "r.parquet: rejects are written as .jsonl, .json or .csv",
    ),
    "a folder that is missing": (["--out", "no/v.json"], "no: is no folder; make it first"),
    "a folder that is missing for rejects": (
        ["--out", "v.json", "--rejects", "no/r.json"],
        "no: is no folder; make it first",
    ),
    "one file for both": (
        ["--out", "v.json", "--rejects", "./v.json"],
        "v.json: is read or written already; name another file",
    ),
    "a folder": (["--out", "folder.jsonl"], "folder.jsonl: is a folder; name a file"),
}


@pytest.mark.parametrize(("flags", "error"), OUTPUTS.values(), ids=OUTPUTS)
def test_an_output_that_cannot_be(flags: list[str], error: str, here: Path) -> None:
    (here / "folder.jsonl").mkdir()
    assert refused(here, *inputs(), *flags) == f"wh-judge: {error}"


@pytest.mark.parametrize("flag", ["--out", "--rejects"])
@pytest.mark.parametrize("folder", [True, False], ids=["in a folder", "a file"])
def test_an_output_that_is_an_input(flag: str, folder: bool, here: Path) -> None:
    (here / "logs").mkdir()
    log = here / "logs" / "turns.jsonl"
    log.write_bytes(TURNS.read_bytes())
    flags = [*inputs(here / "logs" if folder else log), "--out", "v.jsonl", flag, "logs/../logs/turns.jsonl"]
    assert refused(here, *flags).endswith("turns.jsonl: is read or written already; name another file")


@pytest.mark.parametrize("flag", ["--out", "--rejects"])
@pytest.mark.parametrize("name", ["new.jsonl", "deep/new.jsonl"])
def test_an_output_that_the_next_run_would_read(flag: str, name: str, here: Path) -> None:
    (here / "logs" / "deep").mkdir(parents=True)
    (here / "logs" / "turns.jsonl").write_bytes(TURNS.read_bytes())
    (here / "link").symlink_to("logs")
    error = refused(here, *inputs(here / "link"), "--out", "v.jsonl", flag, f"logs/{name}")
    told = f"logs/{name}: lies in {here / 'link'}, of which the next run would read it; write it elsewhere"
    assert error == f"wh-judge: {told}"


UNUSABLE: dict[str, tuple[str, bytes, str]] = {
    "an empty log": ("turns.jsonl", b"", ""),
    "a log of bad rows": ("turns.jsonl", b"nonsense\n", " (turns.jsonl:1: is no JSON: expecting value at character 1)"),
    "a log of another type": (
        "turns.txt",
        b"x",
        " (turns.txt: is none of .jsonl, .json, .csv, .parquet; rename it or convert it)",
    ),
    "a log in UTF-16": ("turns.jsonl", "{}".encode("utf-16"), " (turns.jsonl: is UTF-16; save it as UTF-8)"),
    "no cards": ("cards.json", b"[]", ""),
    "no row of a lexicon": (
        "lexicon.json",
        b'[{"name": "x"}]',
        " (lexicon.json:1: term is missing; topic is missing)",
    ),
    "cards without a header": (
        "cards.csv",
        b"a,b\n1,2\n",
        " (cards.csv:1: has a header that lacks canon_entities, character_id, entity_roles, forbidden_topics, name,"
        " public)",
    ),
}


@pytest.mark.parametrize(("name", "content", "why"), UNUSABLE.values(), ids=UNUSABLE)
def test_an_input_without_a_row(name: str, content: bytes, why: str, here: Path) -> None:
    (here / name).write_bytes(content)
    given = {path.stem: path for path in (TURNS, CARDS, LEXICON)} | {Path(name).stem: here / name}
    error = refused(here, *inputs(given["turns"], given["cards"], given["lexicon"]), "--out", "v.jsonl")
    assert error == f"wh-judge: {here / name}: holds no row that can be read{why}"


def test_a_log_is_not_sorted_for_cards_that_are_none(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(here / "no disk to sort on"))
    Path("cards.json").write_text("[]", encoding="utf-8")
    error = refused(here, *inputs(cards=Path("cards.json")), "--out", "v.jsonl")
    assert error == "wh-judge: cards.json: holds no row that can be read"


def test_an_empty_folder(here: Path) -> None:
    (here / "turns").mkdir()
    error = refused(here, *inputs(here / "turns"), "--out", "v.jsonl")
    assert error == f"wh-judge: {here / 'turns'}: holds no row that can be read"


def test_settings_that_are_no_good(here: Path) -> None:
    (here / "pyproject.toml").write_text("[tool.wh_judge]\nendings = ['']\n")
    error = refused(here, *inputs(), "--out", "v.jsonl")
    assert error.startswith(f"wh-judge: {here / 'pyproject.toml'} [tool.wh_judge]: endings: ")


def full_disk(*_args: object, **_options: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_disk_that_is_full(suffix: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for known in outputs.WRITERS:
        monkeypatch.setitem(outputs.WRITERS, known, full_disk)
    monkeypatch.setattr(pq, "ParquetWriter", full_disk)
    error = refused(here, *inputs(), "--out", f"v{suffix}", "--rejects", "r.jsonl")
    assert error == f"wh-judge: v{suffix}: cannot be written: No space left on device"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_rejects_that_cannot_be_written_leave_no_verdicts(
    suffix: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / f"v{suffix}").write_text("old")
    monkeypatch.setitem(outputs.WRITERS, ".csv" if suffix != ".csv" else ".json", full_disk)
    rejects = "r.csv" if suffix != ".csv" else "r.json"
    error = refused(here, *inputs(), "--out", f"v{suffix}", "--rejects", rejects)
    assert error == f"wh-judge: {rejects}: cannot be written: No space left on device"
    assert (here / f"v{suffix}").read_text() == "old"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_folder_that_may_not_be_written(here: Path) -> None:
    (here / "closed").mkdir(mode=0o500)
    assert refused(here, *inputs(), "--out", "closed/v.jsonl") == (
        "wh-judge: closed/v.jsonl: cannot be written: Permission denied"
    )
