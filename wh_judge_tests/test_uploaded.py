"""The name of an uploaded file is a label: bounded, never a path, and shown beside the inbox's name of the file."""

import json
from pathlib import Path

import pytest

from wh_judge.uploaded import LABEL_LIMIT, label, with_labels

SHA = "0123456789abcdef" * 4
FILE = f"inbox/20261130T005501123456-{SHA}.jsonl"
CARDS = f"inbox/cards/20261130T005501123456-{SHA}.json"


@pytest.fixture
def uploads(tmp_path: Path) -> Path:
    (tmp_path / SHA).mkdir()
    (tmp_path / SHA / "report.json").write_text(json.dumps({"name": "로그.jsonl"}), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("로그.jsonl", "로그.jsonl"),
        ("../../x.jsonl", "x.jsonl"),
        ("D:\\log\\x.jsonl", "x.jsonl"),
        ("\u1112\u1161\u11ab.csv", "한.csv"),
        ("a/", "…"),
        ("", "…"),
    ],
)
def test_a_label_is_the_last_part_of_a_name(name: str, shown: str) -> None:
    assert label(name) == shown


def test_a_long_label_keeps_both_ends() -> None:
    shown = label(f"처음{'가' * 1_000}끝.jsonl")
    assert len(shown) == LABEL_LIMIT and shown.startswith("처음") and shown.endswith("끝.jsonl")


@pytest.mark.parametrize("file", [FILE, CARDS])
def test_the_label_stands_before_the_file(uploads: Path, file: str) -> None:
    assert with_labels(f"{file}:3", uploads) == f"로그.jsonl ({file}):3"


def test_the_label_stands_instead_of_the_file(uploads: Path) -> None:
    assert with_labels(f"T-1 stands already in {FILE}:3", uploads, files=False) == "T-1 stands already in 로그.jsonl:3"


@pytest.mark.parametrize("report", ["", "[]", "{}", '{"name": 1}'])
def test_a_file_of_which_no_name_is_known_stays(uploads: Path, report: str) -> None:
    (uploads / SHA / "report.json").write_text(report, encoding="utf-8")
    assert with_labels(FILE, uploads) == FILE


def test_other_files_stay(uploads: Path) -> None:
    assert with_labels("turns/2026-09-05.jsonl:5", uploads) == "turns/2026-09-05.jsonl:5"
