"""A whole log from a file or a folder; what got no verdict; verdicts from anywhere."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wh_judge.errors import UserError
from wh_judge.files import need_rows, read_claims, read_log_table, rejects_of, with_places
from wh_judge.judge import judge
from wh_judge.model import TURN_SCHEMA, VERDICT_SCHEMA
from wh_judge.parts import reading_parts
from wh_judge.rowwise import Problem
from wh_judge_tests.builders import STATE
from wh_judge_tests.input_files import FIRST_LINE, SOUND, SUFFIXES, places, read, rows, write


def texts(path: Path) -> list[tuple[str, str | None]]:
    table = read_log_table(path).rows
    return list(zip(table["turn_id"].to_pylist(), table["reply_text"].to_pylist(), strict=True))


def turns(*pairs: tuple[str, str]) -> list[dict[str, Any]]:
    return [SOUND["chat_turn"] | {"turn_id": turn_id, "reply_text": text} for turn_id, text in pairs]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_turns_come_in_turn_order_with_their_places(suffix: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"x{suffix}", rows("chat_turn", "T-10", "T-9", "가-1", "T-1", "t-1", "\U0001f600-1", "T"))
    log = read_log_table(path)
    line = FIRST_LINE[suffix]
    assert log.rows["turn_id"].to_pylist() == ["T", "T-1", "T-9", "t-1", "가-1", "\U0001f600-1", "T-10"]
    assert log.lines.to_pylist() == [line + place for place in (6, 3, 1, 4, 2, 5, 0)]
    assert set(log.files.to_pylist()) == {path.name}
    assert log.rows.schema == TURN_SCHEMA
    assert log.problems == []


def test_a_log_keeps_every_cell(tmp_path: Path) -> None:
    given = [turn.model_dump(mode="json") for turn in STATE.turns]
    path = write(tmp_path / "x.jsonl", given)
    unordered = {row["turn_id"]: row for row in read(path).rows.to_pylist()}
    assert {row["turn_id"]: row for row in read_log_table(path).rows.to_pylist()} == unordered
    assert len(unordered) == len(given)


def test_a_turn_in_a_later_file_replaces_it(tmp_path: Path) -> None:
    folder = tmp_path / "turns"
    folder.mkdir()
    write(folder / "1.jsonl", turns(("T-1", "one"), ("T-2", "one"), ("T-3", "one")))
    write(folder / "2.csv", turns(("T-4", "two"), ("T-2", "two")))
    write(folder / "3.parquet", turns(("T-3", "three"), ("T-2", "three")))
    log = read_log_table(folder)
    assert texts(folder) == [("T-1", "one"), ("T-2", "three"), ("T-3", "three"), ("T-4", "two")]
    assert log.files.to_pylist() == ["turns/1.jsonl", "turns/3.parquet", "turns/3.parquet", "turns/2.csv"]
    assert log.lines.to_pylist() == [1, 2, 1, 2]
    assert places(log.problems) == [
        ("turns/1.jsonl", 2, "noted", "turn_id T-2 is replaced by the row in turns/3.parquet:2"),
        ("turns/1.jsonl", 3, "noted", "turn_id T-3 is replaced by the row in turns/3.parquet:1"),
        ("turns/2.csv", 3, "noted", "turn_id T-2 is replaced by the row in turns/3.parquet:2"),
    ]


def test_a_turn_that_stands_twice_in_one_file_is_not_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "turns"
    folder.mkdir()
    write(folder / "1.jsonl", turns(("T-1", "one"), ("T-1", "again")))
    write(folder / "2.jsonl", turns(("T-2", "two")))
    assert texts(folder) == [("T-1", "one"), ("T-2", "two")]
    assert places(read_log_table(folder).problems) == [
        ("turns/1.jsonl", 2, "rejected", "turn_id T-1 stands already in turns/1.jsonl:1")
    ]


def test_a_bad_row_in_a_later_file_replaces_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "turns"
    folder.mkdir()
    write(folder / "1.jsonl", turns(("T-1", "one")))
    write(folder / "2.jsonl", [row | {"turn_at": "어제"} for row in turns(("T-1", "two"))])
    assert texts(folder) == [("T-1", "one")]
    [problem] = read_log_table(folder).problems
    assert (problem.file, problem.severity) == ("turns/2.jsonl", "rejected")


@pytest.mark.parametrize("empty", [True, False], ids=["a folder without files", "files without rows"])
def test_a_log_without_rows(empty: bool, tmp_path: Path) -> None:
    if not empty:
        (tmp_path / "a.jsonl").touch()
        (tmp_path / "b.csv").write_text("turn_id,session_id,character_id,model_id,turn_at\n")
    log = read_log_table(tmp_path)
    assert log.rows.num_rows == 0
    assert log.rows.schema == TURN_SCHEMA
    assert log.problems == []


def test_rows_and_problems_account_for_every_record(tmp_path: Path) -> None:
    folder = tmp_path / "turns"
    folder.mkdir()
    write(folder / "1.jsonl", rows("chat_turn", "a", "b", " ", "a", "c"))
    write(folder / "2.csv", rows("chat_turn", "b", "d", "", "d"))
    (folder / "3.jsonl").write_text('{"turn_id": "e"}\nnonsense\n', encoding="utf-8")
    log = read_log_table(folder)
    assert log.rows.num_rows == 4
    assert len(log.problems) == 7
    assert log.rows.num_rows + len(log.problems) == 5 + 4 + 2
    assert sum(problem.severity == "noted" for problem in log.problems) == 1


def test_decomposed_rows_of_all_files_are_composed(tmp_path: Path) -> None:
    for name, text in (("1.jsonl", "\u1112\u1161"), ("2.jsonl", "하"), ("3.csv", "\u1112\u1161")):
        write(tmp_path / name, turns((name, text)))
    assert {text for _, text in texts(tmp_path)} == {"하"}


def test_what_got_no_verdict_is_listed_with_its_place(tmp_path: Path) -> None:
    given = [
        row | {"character_id": row["turn_id"][:3]} for row in turns(("C-9 2", "a"), ("C-1 1", "b"), ("C-8 10", "c"))
    ]
    cards = read(write(tmp_path / "cards.json", rows("character_card", "C-1")), "character_card")
    lexicon = read(write(tmp_path / "lexicon.csv", rows("topic_lexicon", "x")), "topic_lexicon")
    with reading_parts(write(tmp_path / "x.csv", given)) as log:
        rows_of_log = pa.concat_tables([part.rows for part in log.parts])
    problem = Problem("topic_lexicon", "lexicon.csv", None, "rejected", "cannot be read", None)
    unjudged = judge(rows_of_log, cards.rows, lexicon.rows).unjudged
    first, *others = rejects_of([problem], [with_places(unjudged, rows_of_log)])
    assert first == problem._asdict() | {"turn_id": None}
    assert [(row["table"], row["file"], row["line"], row["severity"], row["turn_id"]) for row in others] == [
        ("chat_turn", "x.csv", 2, "unjudged", "C-9 2"),
        ("chat_turn", "x.csv", 4, "unjudged", "C-8 10"),
    ]
    assert [row["reason"] for row in others] == ["no card for character C-9", "no card for character C-8"]
    assert all(row["raw"] for row in others)


CLAIMS = [claim | {"session_id": None} for claim in STATE.claims(keyed=False)]


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv"])
def test_claims_are_read_as_they_stand(suffix: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"v{suffix}", CLAIMS)
    found = list(read_claims(path))
    assert [record.value for _, record in found] == CLAIMS
    assert {name for name, _ in found} == {path.name}


def test_evidence_from_parquet_gets_the_type_of_what_it_cites(tmp_path: Path) -> None:
    import pyarrow as pa

    records = STATE.records()
    pq.write_table(pa.Table.from_pylist(records, VERDICT_SCHEMA), tmp_path / "v.parquet")
    found = [record.value for _, record in read_claims(tmp_path / "v.parquet")]
    assert [claim["evidence"] for claim in found if claim] == [claim["evidence"] for claim in STATE.claims()]


@pytest.mark.parametrize("evidence", [None, [None], [{"value": "3"}], [{"value": "x", "agg": "count", "field": "a"}]])
def test_odd_evidence_from_parquet_stays_as_it_is(evidence: object, tmp_path: Path) -> None:
    row = {"turn_id": "T-1", "verdict": "설정대로 말함", "evidence": evidence}
    [(_, record)] = read_claims(write(tmp_path / "v.parquet", [row]))
    assert record.value == row


def test_a_claim_that_cannot_be_read_names_its_file(tmp_path: Path) -> None:
    folder = tmp_path / "verdicts"
    folder.mkdir()
    write(folder / "a.jsonl", CLAIMS[:1])
    (folder / "b.jsonl").write_text("\nnonsense\n")
    (folder / "c.txt").write_text("nonsense\n")
    found = [(name, record.line, record.value is None) for name, record in read_claims(folder)]
    assert found == [("verdicts/a.jsonl", 1, False), ("verdicts/b.jsonl", 2, True), ("verdicts/c.txt", None, True)]


def test_an_input_without_a_row_is_an_error_that_names_the_first_problem() -> None:
    need_rows(Path("x.jsonl"), 1, [])
    with pytest.raises(UserError, match=r"^x\.jsonl: holds no row that can be read$"):
        need_rows(Path("x.jsonl"), 0, [])
    problem = Problem("chat_turn", "x.jsonl", 3, "rejected", "is no JSON", "{")
    with pytest.raises(UserError, match=r"^x\.jsonl: holds no row that can be read \(x\.jsonl:3: is no JSON\)$"):
        need_rows(Path("x.jsonl"), 0, [problem, problem])
