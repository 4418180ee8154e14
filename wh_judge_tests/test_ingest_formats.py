"""Equal rows give equal tables, whichever type of file they lie in; text comes in as NFC, moments as instants."""

import json
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from pydantic import BaseModel

from wh_judge import ingest
from wh_judge.inputs import TABLES, TableName
from wh_judge.model import KST
from wh_judge_tests.builders import Rows
from wh_judge_tests.input_files import FIRST_LINE, SOUND, SUFFIXES, keys, read, rows, write
from wh_judge_tests.strategies import rows as hostile_rows

HOSTILE = (
    'a "b" \'c\' ""',
    "a,b;c\td",
    "1\n2\r\n3\r4\n",
    " spaces \u3000",
    "\ufeffmark\ufeff",
    "NUL \0 in it",
    "\x1b[31m red",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1f0\U0001f1f7",
    "\\ \\n \\u0041 \\\\",
    "{}[],:null",
    "=1+1",
    "a\u2028b\u2029c\x85d\x0be\x0cf",
    "null",
    "NaN",
    "true",
)
ALL_CELLS: dict[TableName, list[dict[str, Any]]] = {
    "chat_turn": [
        SOUND["chat_turn"],
        *(
            SOUND["chat_turn"]
            | {"turn_id": text, "reply_text": text, "named_entities": [text, text], "first_person": text}
            for text in HOSTILE
        ),
        SOUND["chat_turn"] | {"turn_id": "T-2", "named_entities": [], "user_asked_recall": True},
        SOUND["chat_turn"]
        | {"turn_id": "T-3"}
        | dict.fromkeys(
            (
                "prompt_id",
                "user_message",
                "reply_text",
                "named_entities",
                "first_person",
                "honorific_level",
                "user_asked_recall",
            )
        ),
        SOUND["chat_turn"] | {"turn_id": "T-4", "turn_at": "2026-09-01T23:59:59.999999-09:30"},
    ],
    "character_card": [
        SOUND["character_card"],
        *(
            SOUND["character_card"]
            | {"character_id": text, "name": text, "entity_roles": [{"role": text, "entity": text}] * 2}
            for text in HOSTILE
        ),
        SOUND["character_card"]
        | {"character_id": "C-2", "public": False, "honorific_rule": None, "first_person": None}
        | {"canon_entities": [], "forbidden_topics": [], "entity_roles": []},
    ],
    "topic_lexicon": [SOUND["topic_lexicon"], *({"term": text, "topic": text} for text in HOSTILE)],
    "gold_label": [
        SOUND["gold_label"],
        *(SOUND["gold_label"] | {"turn_id": text, "note": text} for text in HOSTILE),
        SOUND["gold_label"] | {"turn_id": "T-2", "note": None},
    ],
    "vote": [
        SOUND["vote"],
        *(SOUND["vote"] | {"vote_id": text, "case_id": text, "annotator": text, "source": text} for text in HOSTILE),
        SOUND["vote"] | {"vote_id": "V-2"} | dict.fromkeys(("case_id", "annotator", "shown_left", "voted_at")),
    ],
    "capability_support": [
        SOUND["capability_support"],
        *(SOUND["capability_support"] | {"case_id": text, "reason": text} for text in HOSTILE),
        SOUND["capability_support"] | {"case_id": "P-2", "supported": True, "reason": None},
    ],
    "judge_score": [
        SOUND["judge_score"],
        *(SOUND["judge_score"] | {"judge": text, "turn_id": text} for text in HOSTILE),
        SOUND["judge_score"] | {"turn_id": "T-2", "score": None},
        SOUND["judge_score"] | {"turn_id": "T-3", "verdict": None, "score": 1.0},
    ],
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_written_is_what_is_read(table: TableName, suffix: str, tmp_path: Path) -> None:
    given_rows = ALL_CELLS[table]
    batch = read(write(tmp_path / f"x{suffix}", given_rows), table)
    assert batch.problems == []
    assert batch.normalised == 0
    assert batch.rows.schema == TABLES[table].schema
    times = ("turn_at", "voted_at")
    expected = [
        row | {name: datetime.fromisoformat(row[name]) for name in times if row.get(name) is not None}
        for row in given_rows
    ]
    assert batch.rows.to_pylist() == expected


@settings(max_examples=15)
@given(hostile_rows())
def test_hostile_rows_give_equal_tables(log: Rows) -> None:
    parts: list[tuple[TableName, Sequence[BaseModel]]] = [
        ("chat_turn", log.turns),
        ("character_card", log.cards),
        ("topic_lexicon", log.lexicon),
    ]
    with TemporaryDirectory() as folder:
        for table, models in parts:
            documents = [model.model_dump(mode="json") for model in models]
            # A cell of CSV cannot be both empty and no null.
            empty_is_null = [{name: None if cell == "" else cell for name, cell in row.items()} for row in documents]
            found = [
                read(write(Path(folder, f"x{suffix}"), empty_is_null if suffix == ".csv" else documents), table)
                for suffix in SUFFIXES
            ]
            json_lines, document, comma_separated, parquet = found
            same = read(write(Path(folder, "x.jsonl"), empty_is_null), table)
            assert document.rows == parquet.rows == json_lines.rows
            assert comma_separated.rows == same.rows
            assert len({batch.normalised for batch in found}) == 1
            for batch in found:
                assert batch.rows.num_rows + len(batch.problems) == len(documents)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_decomposed_text_is_composed_and_its_rows_are_counted(suffix: str, tmp_path: Path) -> None:
    composed = rows("chat_turn", "가", "나", "T-3")
    texts = json.dumps(composed[1:2], ensure_ascii=False)
    assert texts != unicodedata.normalize("NFD", texts)
    decomposed = [
        composed[0],
        json.loads(unicodedata.normalize("NFD", texts))[0],
        composed[2] | {"named_entities": [unicodedata.normalize("NFD", "하늘")]},
    ]
    batch = read(write(tmp_path / f"x{suffix}", decomposed))
    plain = read(write(tmp_path / f"y{suffix}", composed))
    assert batch.normalised == 2
    assert plain.normalised == 0
    assert batch.rows == plain.rows


def test_decomposed_text_in_cards_is_composed_to_the_innermost_cell(tmp_path: Path) -> None:
    role = {"role": unicodedata.normalize("NFD", "동생"), "entity": unicodedata.normalize("NFD", "하늘")}
    batch = read(
        write(tmp_path / "x.json", [SOUND["character_card"] | {"entity_roles": [role]}]),
        "character_card",
    )
    assert batch.rows["entity_roles"].to_pylist() == [[{"role": "동생", "entity": "하늘"}]]
    assert batch.normalised == 1


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_cell_of_two_megabytes_comes_through(suffix: str, tmp_path: Path) -> None:
    text = '가"\\\n,' * 250_000
    batch = read(write(tmp_path / f"x{suffix}", [SOUND["chat_turn"] | {"reply_text": text}]))
    assert batch.rows["reply_text"].to_pylist() == [text]


@pytest.mark.parametrize("column", ["prompt_id", "first_person", "honorific_level"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_blank_label_is_null(suffix: str, column: str, tmp_path: Path) -> None:
    labels = ["나", "", " ", "\u3000"]
    given_rows = [SOUND["chat_turn"] | {"turn_id": str(n), column: label} for n, label in enumerate(labels)]
    batch = read(write(tmp_path / f"x{suffix}", given_rows))
    assert batch.rows[column].to_pylist() == ["나", None, None, None]


def test_columns_that_may_be_null_may_be_missing(tmp_path: Path) -> None:
    required = ["turn_id", "session_id", "character_id", "model_id", "turn_at"]
    row = {name: SOUND["chat_turn"][name] for name in required}
    tables = [read(write(tmp_path / f"x{suffix}", [row])) for suffix in SUFFIXES]
    assert [batch.problems for batch in tables] == [[]] * 4
    assert all(batch.rows == tables[0].rows for batch in tables)
    assert tables[0].rows["named_entities"].to_pylist() == [None]


MOMENTS = {
    "2026-09-02T00:00:00+09:00": ("2026-09-01T15:00:00", "2026-09-02"),
    "2026-09-01T23:59:59.999999+09:00": ("2026-09-01T14:59:59.999999", "2026-09-01"),
    "2026-09-01T15:00:00Z": ("2026-09-01T15:00:00", "2026-09-02"),
    "2026-09-01 14:59+00:00": ("2026-09-01T14:59:00", "2026-09-01"),
    "2026-08-31T23:00:00-12:00": ("2026-09-01T11:00:00", "2026-09-01"),
    "20260902T000000+0900": ("2026-09-01T15:00:00", "2026-09-02"),
}


@pytest.mark.parametrize(("text", "expected"), MOMENTS.items(), ids=MOMENTS)
def test_turn_at_is_an_instant_and_decides_the_day_in_seoul(
    text: str, expected: tuple[str, str], tmp_path: Path
) -> None:
    [moment] = read(write(tmp_path / "x.csv", [SOUND["chat_turn"] | {"turn_at": text}])).rows["turn_at"].to_pylist()
    assert moment == datetime.fromisoformat(expected[0]).replace(tzinfo=UTC)
    assert moment.astimezone(KST).date().isoformat() == expected[1]


TEXT = pa.string()
ARROW = {
    "large": pa.large_string(),
    "view": pa.string_view(),
    "dictionary": pa.dictionary(pa.int8(), TEXT),
}


@pytest.mark.parametrize("kind", ARROW.values(), ids=ARROW)
def test_parquet_may_hold_text_in_any_way(kind: pa.DataType, tmp_path: Path) -> None:
    given_rows = ALL_CELLS["chat_turn"][:6]
    table = pa.Table.from_pylist(given_rows)
    schema = pa.schema([(field.name, kind if field.type == TEXT else field.type) for field in table.schema])
    pq.write_table(table.cast(schema), tmp_path / "x.parquet")
    batch = read(tmp_path / "x.parquet")
    assert batch.problems == []
    assert batch.rows == read(write(tmp_path / "x.jsonl", given_rows)).rows


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", ["UTC", "Asia/Seoul", "+09:00", "America/New_York"])
def test_parquet_may_hold_moments_of_any_zone_and_unit(zone: str, unit: str, tmp_path: Path) -> None:
    moments = pa.array([1788260460, 1788274800], pa.timestamp("s", zone)).cast(pa.timestamp(unit, zone))
    table = pa.Table.from_pylist(rows("chat_turn", "a", "b"))
    pq.write_table(
        table.set_column(table.schema.get_field_index("turn_at"), "turn_at", moments), tmp_path / "x.parquet"
    )
    batch = read(tmp_path / "x.parquet")
    assert batch.problems == []
    assert [moment.timestamp() for moment in batch.rows["turn_at"].to_pylist()] == [1788260460, 1788274800]


def test_a_program_s_own_tables_in_parquet_are_read(tmp_path: Path) -> None:
    for name, given_rows in ALL_CELLS.items():
        first = read(write(tmp_path / "x.jsonl", given_rows), name)
        pq.write_table(first.rows, tmp_path / "x.parquet")
        again = read(tmp_path / "x.parquet", name)
        assert again.rows == first.rows
        assert again.problems == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_rows_come_in_batches_that_keep_lines_and_problems(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "BATCH_ROWS", 2)
    given_rows = rows("chat_turn", "a", " ", "b", "c", "a", "d")
    path = write(tmp_path / f"x{suffix}", given_rows)
    batches = list(ingest.read_file(path, TABLES["chat_turn"], path.name))
    line = FIRST_LINE[suffix]
    expected = [["a", "b"], ["c", "d"], []], [[0, 2], [3, 5], []], [[1], [4], []]
    if suffix == ".parquet":  # Rows of the file are counted, not those of them that are sound.
        expected = [["a"], ["b", "c"], ["d"]], [[0], [2, 3], [5]], [[1], [], [4]]
    assert [keys(batch) for batch in batches] == expected[0]
    assert [[number - line for number in batch.lines] for batch in batches] == expected[1]
    assert [[(problem.line or 0) - line for problem in batch.problems] for batch in batches] == expected[2]
    whole = read(path)
    assert (keys(whole), whole.lines) == (["a", "b", "c", "d"], [line, line + 2, line + 3, line + 5])
    assert [problem.line for problem in whole.problems] == [line + 1, line + 4]


def test_lines_that_nobody_can_read_come_in_batches_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "BATCH_ROWS", 2)
    (tmp_path / "x.jsonl").write_text("{\n" * 5, "utf-8")
    batches = list(ingest.read_file(tmp_path / "x.jsonl", TABLES["chat_turn"], "x.jsonl"))
    assert [[problem.line for problem in batch.problems] for batch in batches] == [[1, 2], [3, 4], [5]]


def test_of_elements_on_one_line_a_problem_names_which(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('[{"turn_id": "T-1"}, 7]', "utf-8")
    [batch] = ingest.read_file(tmp_path / "x.json", TABLES["chat_turn"], "x.json")
    first, second = (problem.reason for problem in batch.problems)
    assert first.startswith("element 1: ") and second == "element 2: is no JSON object"
