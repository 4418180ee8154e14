"""Every reason that a file can give is told in Korean on the screen."""

import re
from pathlib import Path

import pyarrow as pa
import pytest

from wh_judge import strict_json
from wh_judge.evaluation.bradley_terry import Tally
from wh_judge.evaluation.people import JUDGED_SCHEMA
from wh_judge.evaluation.ratings import ArenaRatings, rate, rate_arena
from wh_judge.evaluation.stability import measure_stability
from wh_judge.ingest import read_file
from wh_judge.inputs import TABLES
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
        ("turn_id T-1 stands already in a.jsonl:3", "turn_id T-1은 a.jsonl:3에 이미 있습니다"),
        ("session_id is missing; turn_at is null", "session_id가 없습니다; turn_at이 null입니다"),
        ("model_id is no text ('x; turn_id is null')", "model_id가 글이 아닙니다 ('x; turn_id is null')"),
        ("name is empty ('{1}')", "name이 비어 있습니다 ('{1}')"),
        ("turn_at is null; and 12 more", "turn_at이 null입니다; 외 12개"),
        ("names 'a', 'b' and 3 more twice", "'a', 'b' 외 3개가 두 번 나옵니다"),
        ("has a header that names 'a' and 3 more twice", "머리글에 'a' 외 3개가 두 번 나옵니다"),
        (
            "holds a list in row 3 that takes over 128 MB; shorten it",
            "3번째 줄의 목록이 128MB를 넘습니다. 줄이세요",
        ),
        ("holds 5 rows in 2 bytes; it is no true log", "2바이트에 5줄이 들어 있습니다. 진짜 로그가 아닙니다"),
        (
            "packs 9 bytes of column 'a' into 2; write it with smaller row groups",
            "a 칸의 9바이트를 2바이트로 압축했습니다. 행 그룹을 작게 나누어 저장하세요",
        ),
        (
            "holds 5 list elements of column 'a' in one row group; write it with smaller row groups",
            "한 행 그룹의 a 칸에 목록 원소가 5개 있습니다. 행 그룹을 작게 나누어 저장하세요",
        ),
        (
            "chat_turn has no other columns of this file either; they are ignored, too",
            "chat_turn에는 이 파일의 다른 칸들도 없어 함께 무시합니다",
        ),
        ("something new went wrong", "something new went wrong"),
    ],
)
def test_a_reason_keeps_what_it_quotes(reason: str, told: str) -> None:
    assert korean(reason) == told


BROKEN = [
    "",
    "{",
    '{"a"}',
    '{"a" 1}',
    '{"a": 1 "b": 2}',
    '"a',
    '"\t"',
    '"\\x"',
    '"\\u12"',
    "1 2",
    "NaN",
    "9" * 5_000,
    '{"a": 1, "a": 2}',
]


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: text[:20])
def test_what_is_wrong_with_a_json_text_is_told_in_korean(text: str) -> None:
    with pytest.raises(ValueError) as error:
        strict_json.decode(text)
    told = korean(f"is no JSON: {strict_json.reason(error.value)}")
    assert told.startswith("JSON이 아닙니다 (") and HANGUL.search(told.removeprefix("JSON이 아닙니다")), told


RATED = [
    rate_arena([Tally("a", "b", 0, 0, 3, 0)], [], {"x": 3}),
    rate_arena([Tally("a", "b", 1, 1, 0, 0)], [], {"synthetic": 2}),
    rate_arena([Tally("a", "b", 3, 2, 0, 0), Tally("c", "d", 2, 2, 0, 0)], [], {"x": 9}),
    rate_arena([Tally("a", "b", 3, 0, 0, 0), Tally("b", "c", 2, 0, 0, 0)], [], {"x": 5}),
    rate_arena([], [Tally("a", "b", 2, 1, 0, 0)], {}),
    rate_arena([Tally("a", "b", 2, 1, 0, 0)], [Tally("a", "c", 2, 1, 0, 0)], {}),
]


@pytest.mark.parametrize("rated", RATED)
def test_what_ratings_do_not_bear_is_told_in_korean(rated: ArenaRatings) -> None:
    apart = [part.why_apart for part in rated.people.components if part.why_apart]
    assert rated.cautions + apart
    for sentence in rated.cautions + apart:
        assert HANGUL.search(korean(sentence)), sentence


AXES_TOLD = [
    ("a", "recall", "a: 기억 축은 해당하는"),
    ("a, b", "speech, forbidden", "a, b: 말투, 금지 소재 축은 해당하는"),
    ("a, b and 3 more", "canon", "a, b 외 3개: 세계관 축은 해당하는"),
]


@pytest.mark.parametrize(("models", "axes", "told"), AXES_TOLD)
def test_axes_and_further_models_have_korean_names(models: str, axes: str, told: str) -> None:
    assert korean(f"{models}: overall rests on the other axes only, none applied of: {axes}").startswith(told)


SCORED = [("1", "P-1", "M-1", 0.5), ("2", "P-1", "M-1", 0.5), ("2", "P-1", "M-2", 0.5), ("3", "P-2", "M-1", 0.5)]


@pytest.mark.parametrize("rows", [SCORED[:1], SCORED[:2], SCORED[1:]])
def test_why_stability_is_not_known_is_told_in_korean(rows: list[tuple[str, str, str, float]]) -> None:
    judged = pa.Table.from_pylist([dict(zip(JUDGED_SCHEMA.names, ("J", *row), strict=True)) for row in rows])
    [found] = measure_stability(judged.cast(JUDGED_SCHEMA), rate([]))
    assert found.note is not None and HANGUL.search(korean(found.note)), found.note


def test_the_place_of_an_element_is_told_in_korean() -> None:
    assert korean("element 2: is no JSON object") == f"2번째 것: {korean('is no JSON object')}"
    assert korean("verdict is not 'a', 'b' or 'c' ('d')").startswith("verdict가 'a', 'b', 'c' 가운데 하나가 아닙니다")
