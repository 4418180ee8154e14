"""Every reason that a file can give is told in Korean on the screen."""

import re
from pathlib import Path

import pytest

from wh_judge.ingest import TABLES, read_file
from wh_judge.screen.reasons import korean
from wh_judge_tests import bad_rows

HANGUL = re.compile("[가-힣]")


@pytest.mark.parametrize("case", bad_rows.KEYS, ids=str)
def test_what_is_wrong_with_a_key_is_told_in_korean(case: bad_rows.Bad) -> None:
    for reason in (case.reason, *case.others.values()):
        told = korean(reason)
        assert told.startswith(case.column) and HANGUL.search(told.removeprefix(case.column))


FILES = {
    "cut off": ("a.jsonl", b'{"turn_id": "T-1", "session'),
    "no object": ("a.jsonl", b"[]\n"),
    "no UTF-8": ("a.jsonl", b'{"turn_id": "\xff"}\n'),
    "UTF-16": ("a.jsonl", "{}".encode("utf-16")),
    "cut off list": ("a.json", b'[{"turn_id": "T-1"}, {'),
    "something behind": ("a.json", b"[] {}"),
    "half a pair": ("a.jsonl", b'{"turn_id": "\\ud800"}\n'),
    "no column": ("a.csv", b"turn_id\nT-1\n"),
    "a column twice": ("a.csv", b"turn_id,turn_id\nT-1,T-2\n"),
    "no Parquet": ("a.parquet", b"no Parquet at all"),
    "another kind": ("a.txt", b"text"),
    "empty": ("a.jsonl", b"{}\n"),
}


@pytest.mark.parametrize("name, content", FILES.values(), ids=FILES)
def test_what_is_wrong_with_a_file_is_told_in_korean(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    reasons = [p.reason for batch in read_file(tmp_path / name, TABLES["chat_turn"], name) for p in batch.problems]
    assert reasons
    for reason in reasons:
        assert HANGUL.search(korean(reason)), reason


@pytest.mark.parametrize(
    "reason, told",
    [
        ("no card for character CHR-0042", "캐릭터 CHR-0042의 카드가 없습니다"),
        ("turn_id T-1 stands already in a.jsonl:3", "turn_id T-1은(는) a.jsonl:3에 이미 있습니다"),
        ("session_id is missing; turn_at is null", "session_id이(가) 없습니다; turn_at이(가) null입니다"),
        ("model_id is no text ('x; turn_id is null')", "model_id이(가) 글이 아닙니다 ('x; turn_id is null')"),
        ("name is empty ('{1}')", "name이(가) 비어 있습니다 ('{1}')"),
        ("something new went wrong", "something new went wrong"),
    ],
)
def test_a_reason_keeps_what_it_quotes(reason: str, told: str) -> None:
    assert korean(reason) == told
