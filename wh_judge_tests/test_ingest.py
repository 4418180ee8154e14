"""Every kind of bad row, in every type of file that can hold it: kept with file, line and reason; the others go on."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wh_judge.inputs import TABLES, TableName
from wh_judge_tests.bad_rows import BAD_ROWS, GONE, NO_DATE, Bad
from wh_judge_tests.input_files import FIRST_LINE, SOUND, SUFFIXES, keys, places, read, rows, write


@pytest.mark.parametrize(
    ("case", "suffix"),
    [pytest.param(case, suffix, id=f"{case}{suffix}") for case in BAD_ROWS for suffix in case.suffixes],
)
def test_a_bad_row_is_kept_and_the_others_go_on(case: Bad, suffix: str, tmp_path: Path) -> None:
    first, last = rows(case.table, "first", "last")
    middle = SOUND[case.table] | {case.column: case.value}
    if case.value is GONE:
        del middle[case.column]
    path = write(tmp_path / f"x{suffix}", [first, middle, last])
    batch = read(path, case.table)
    line = FIRST_LINE[suffix]
    assert keys(batch) == ["first", "last"]
    assert batch.lines == [line, line + 2]
    reason = case.others.get(suffix, case.reason)
    assert places(batch.problems) == [(path.name, line + 1, "rejected", reason)]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_key_that_stands_twice_counts_where_it_stands_first(table: TableName, suffix: str, tmp_path: Path) -> None:
    first, again, last = rows(table, "a", "a", "z")
    batch = read(write(tmp_path / f"x{suffix}", [first, again, last]), table)
    line = FIRST_LINE[suffix]
    names = TABLES[table].key
    key = " ".join(first[name] for name in names)
    reason = f"{' '.join(names)} {key} stands already in x{suffix}:{line}"
    assert keys(batch) == ["a", "z"]
    assert places(batch.problems) == [(f"x{suffix}", line + 1, "rejected", reason)]


def test_a_term_may_stand_under_several_topics(tmp_path: Path) -> None:
    lexicon = [{"term": "주사위", "topic": "놀이"}, {"term": "주사위", "topic": "도박"}]
    batch = read(write(tmp_path / "x.jsonl", lexicon), "topic_lexicon")
    assert batch.rows.to_pylist() == lexicon
    assert batch.problems == []


def test_keys_that_differ_in_normal_form_alone_are_one_key(tmp_path: Path) -> None:
    batch = read(write(tmp_path / "x.jsonl", rows("character_card", "\u1112\u1161", "하")), "character_card")
    assert keys(batch) == ["하"]
    assert places(batch.problems) == [("x.jsonl", 2, "rejected", "character_id 하 stands already in x.jsonl:1")]


def test_a_bad_row_does_not_take_the_key_of_a_good_one(tmp_path: Path) -> None:
    bad_row, good_row = SOUND["chat_turn"] | {"turn_at": "어제"}, SOUND["chat_turn"]
    batch = read(write(tmp_path / "x.jsonl", [bad_row, good_row]))
    assert (keys(batch), batch.lines, len(batch.problems)) == (["T-1"], [2], 1)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_unknown_column_is_noted_once_in_a_file(suffix: str, tmp_path: Path) -> None:
    given = [row | {"turn_At": "x"} for row in rows("chat_turn", "a", "b", "c")]
    batch = read(write(tmp_path / f"x{suffix}", given))
    reason = "chat_turn has no column 'turn_At'; it is ignored in the whole file"
    assert keys(batch) == ["a", "b", "c"]
    assert batch.rows.schema == TABLES["chat_turn"].schema
    assert places(batch.problems) == [(f"x{suffix}", FIRST_LINE[suffix], "noted", reason)]


def test_everything_wrong_with_a_row_is_said(tmp_path: Path) -> None:
    row = SOUND["chat_turn"] | {"turn_id": " ", "turn_at": "어제", "named_entities": [""], "model_id": None}
    [problem] = read(write(tmp_path / "x.json", [row])).problems
    assert problem.reason == (
        "turn_id is blank (' '); model_id is null; turn_at is no ISO 8601 date and time, such as"
        " 2026-09-01T20:01:00+09:00 ('어제'); named_entities[0] is empty ('')"
    )
    assert str(problem) == f"x.json:2: {problem.reason}"


def test_a_long_value_is_cut_in_the_reason_and_kept_beside_it(tmp_path: Path) -> None:
    row = SOUND["chat_turn"] | {"turn_at": "어" * 1000}
    [problem] = read(write(tmp_path / "x.jsonl", [row])).problems
    assert problem.reason == f"turn_at{NO_DATE} ('{'어' * 60}')"
    assert '"turn_at": "' + "어" * 1000 + '"' in (problem.raw or "")


@pytest.mark.parametrize("line", [r'{"turn_id": "\ud83d"}', r'{"turn_id": "a", "named_entities": ["\udc00"]}'])
def test_half_of_a_surrogate_pair_is_no_text(line: str, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(line + "\n")
    [problem] = read(tmp_path / "x.jsonl").problems
    assert (problem.line, problem.severity) == (1, "rejected")
    assert problem.reason == "holds half of a surrogate pair, which is no text"
    assert "?" in (problem.raw or "")


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv"])
def test_whatever_a_problem_says_can_be_written(suffix: str, tmp_path: Path) -> None:
    text = {
        ".jsonl": rb'{"\ud800": 1}' + b'\n{"\\ud800": 1, "\\ud800": 2}\n\xff{}\n{"turn_id": "\\ud800"}',
        ".json": b'[{"\\ud800": 1}, {"\\ud800": 1, "\\ud800": 2}, {"a": "\xff"}, {"turn_id": "\\ud800"}]',
        ".csv": b"turn_id,session_id,character_id,model_id,turn_at,\xff,named_entities\n"
        b'a,a,a,a,a,a,"[""\\ud800""]"\na,a,a,a,a,\xff,\n',
    }
    (tmp_path / f"x{suffix}").write_bytes(text[suffix])
    batch = read(tmp_path / f"x{suffix}")
    assert batch.rows.num_rows == 0
    assert len(batch.problems) >= 3
    for problem in batch.problems:
        problem.reason.encode()
        (problem.raw or "").encode()


WRONG_COLUMNS: dict[str, tuple[str, pa.Array, str]] = {
    "numbers": ("turn_id", pa.array([1, 2]), "turn_id is no text ('{}')"),
    "bytes": ("session_id", pa.array([b"1", b"2"]), """session_id is no text ("b'{}'")"""),
    "seconds": ("turn_at", pa.array([1, 2]), "turn_at is no date and time ('{}')"),
    "dates": ("turn_at", pa.array([0, 1], pa.date32()), "turn_at is no date and time ('1970-01-0{}')"),
    "moments without a zone": (
        "turn_at",
        pa.array([1788260460000001, 1788260460000002], pa.timestamp("us")),
        "turn_at has no offset; write it out, such as +09:00 ('2026-09-01 11:01:00.00000{}')",
    ),
    "durations": ("turn_at", pa.array([1, 2], pa.duration("us")), "turn_at is no date and time ('0:00:00.00000{}')"),
    "numbers for a boolean": (
        "user_asked_recall",
        pa.array([1, 2]),
        "user_asked_recall is neither true nor false ('{}')",
    ),
    "lists of numbers": ("named_entities", pa.array([[1], [2]]), "named_entities[0] is no text ('{}')"),
    "objects": ("reply_text", pa.array([{"a": 1}, {"a": 2}]), """reply_text is no text ("{{'a': {}}}")"""),
}


@pytest.mark.parametrize(("column", "values", "reason"), WRONG_COLUMNS.values(), ids=WRONG_COLUMNS)
def test_a_parquet_column_of_a_wrong_type(column: str, values: pa.Array, reason: str, tmp_path: Path) -> None:
    table = pa.Table.from_pylist(rows("chat_turn", "a", "b"))
    table = table.set_column(table.schema.get_field_index(column), column, values)
    pq.write_table(table, tmp_path / "x.parquet")
    batch = read(tmp_path / "x.parquet")
    assert batch.rows.num_rows == 0
    expected = [reason.format(value) for value in (1, 2)]
    assert places(batch.problems) == [("x.parquet", n + 1, "rejected", why) for n, why in enumerate(expected)]


def test_of_many_errors_in_a_row_a_few_are_told(tmp_path: Path) -> None:
    [problem] = read(write(tmp_path / "x.jsonl", [SOUND["chat_turn"] | {"named_entities": [1] * 5000}])).problems
    told = "; ".join(f"named_entities[{number}] is no text ('1')" for number in range(8))
    assert problem.reason == f"{told}; and 4992 more"


def test_of_many_unknown_columns_some_are_told_and_their_row_is_written_once(tmp_path: Path) -> None:
    unknown = {f"{number}{'k' * 100}": 1 for number in range(5000)}
    problems = read(write(tmp_path / "x.jsonl", [SOUND["chat_turn"] | unknown, SOUND["chat_turn"] | {"z": 1}])).problems
    assert len({id(problem.raw) for problem in problems[:101]}) == 1
    assert max(len(problem.reason) for problem in problems) < 150
    reasons = [problem.reason for problem in problems]
    assert reasons[100] == "chat_turn has no other columns of this file either; they are ignored, too"
    assert len([reason for reason in reasons if "has no column" in reason]) == 100


def test_a_long_key_is_cut_in_the_reason(tmp_path: Path) -> None:
    [problem] = read(write(tmp_path / "x.jsonl", rows("chat_turn", "k" * 5000, "k" * 5000))).problems
    assert problem.reason == f"turn_id {'k' * 60} stands already in x.jsonl:1"
