"""Files into the warehouse: what a file replaces, what it leaves, and what is not read again."""

import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from wh_judge import ingest
from wh_judge.ingest import read_file
from wh_judge.inputs import InputTable
from wh_judge.rowwise import Batch
from wh_judge.store import log_files, open_warehouse
from wh_judge.store.inputs_version import log_versions
from wh_judge.store.log_files import ingest_log
from wh_judge.store.problems import read_problems
from wh_judge_tests.builders import turn
from wh_judge_tests.house import DAY_1, DAY_2, DAY_3, LOG, House, Line, at, rows, tables

Connection = duckdb.DuckDBPyConnection


def replies(connection: Connection) -> dict[str, str]:
    """Each turn's reply."""
    return dict(rows(connection, "SELECT turn_id, reply_text FROM chat_turn"))


def replaced(connection: Connection) -> list[tuple[str, int | None, str]]:
    """What is said of rows that do not count."""
    return [(p.file, p.line, p.reason) for p in read_problems(connection) if p.severity == "noted"]


def test_every_file_is_brought_in_once(new_house: House) -> None:
    with new_house.warehouse() as connection:
        assert new_house.bring_in(connection) == [f"turns/2026-09-0{day}.jsonl" for day in (1, 2, 3)]
        assert ingest_log(connection, new_house.turns) == []
        assert rows(connection, "SELECT count(*) FROM chat_turn") == [(17,)]


def test_a_turn_keeps_the_file_and_the_line_that_it_stood_in(warehouse: Connection) -> None:
    assert rows(warehouse, "SELECT file, line FROM chat_turn WHERE turn_id = 'T-12'") == [
        ("turns/2026-09-02.jsonl", 6),
    ]


@pytest.mark.parametrize(
    ("moment", "day"),
    [("2026-09-01T14:59:59Z", DAY_1), ("2026-09-01T15:00:00Z", DAY_2), ("2026-09-01T23:59:59-09:00", DAY_2)],
)
def test_a_turn_s_day_is_its_date_in_seoul(moment: str, day: object, warehouse: Connection, house: House) -> None:
    house.log("more", turn("T-90", turn_at=moment))
    ingest_log(warehouse, house.turns)
    assert rows(warehouse, "SELECT day FROM chat_turn WHERE turn_id = 'T-90'") == [(day,)]


def test_a_corrected_file_replaces_its_turns(warehouse: Connection, house: House) -> None:
    house.log(str(DAY_1), turn("T-1", turn_at=at(1), reply_text="고쳤다."), turn("T-99", turn_at=at(1)))
    assert ingest_log(warehouse, house.turns) == ["turns/2026-09-01.jsonl"]
    assert rows(warehouse, f"SELECT turn_id FROM chat_turn WHERE day = '{DAY_1}' ORDER BY 1") == [("T-1",), ("T-99",)]
    assert replies(warehouse)["T-1"] == "고쳤다."


def test_only_days_that_a_correction_changes_get_stale(warehouse: Connection, house: House) -> None:
    lines = LOG.day_3[:-1]
    house.log(str(DAY_3), *lines, turn("T-18", turn_at=at(3, 18), reply_text="고쳤다."))
    ingest_log(warehouse, house.turns)
    assert house.stale(warehouse) == [DAY_3]


def test_a_file_that_is_written_again_with_the_same_rows_makes_no_day_stale(
    warehouse: Connection, house: House
) -> None:
    house.log(str(DAY_3), *reversed(LOG.day_3))
    assert ingest_log(warehouse, house.turns) == ["turns/2026-09-03.jsonl"]
    assert house.stale(warehouse) == []


def test_a_turn_that_moves_to_another_day_makes_both_days_stale(warehouse: Connection, house: House) -> None:
    house.log(str(DAY_1), *LOG.day_1[1:], turn("T-1", turn_at=at(3, 1), prompt_id="P-1"))
    ingest_log(warehouse, house.turns)
    assert house.stale(warehouse) == [DAY_1, DAY_3]


def test_of_a_turn_in_two_files_the_later_file_counts(warehouse: Connection, house: House) -> None:
    house.log("a later arrival", turn("T-1", turn_at=at(1, 1), reply_text="나중 것이다."))
    ingest_log(warehouse, house.turns)
    assert replies(warehouse)["T-1"] == "나중 것이다."
    reason = "turn_id T-1 is replaced by the row in turns/a later arrival.jsonl:1"
    assert replaced(warehouse) == [("turns/2026-09-01.jsonl", 1, reason)]
    assert rows(warehouse, "SELECT count(*) FROM chat_turn") == [(17,)]


def test_files_that_arrive_together_count_in_order_of_name(warehouse: Connection, house: House) -> None:
    house.log("z", turn("T-1", turn_at=at(1), reply_text="지"))
    house.log("a", turn("T-1", turn_at=at(1), reply_text="에이"))
    assert ingest_log(warehouse, house.turns) == ["turns/a.jsonl", "turns/z.jsonl"]
    assert replies(warehouse)["T-1"] == "지"


def test_a_file_that_is_uploaded_again_has_arrived_last(warehouse: Connection, house: House) -> None:
    house.log("later", turn("T-1", turn_at=at(1, 1), reply_text="나중 것이다."))
    ingest_log(warehouse, house.turns)
    house.log(str(DAY_1), *LOG.day_1, turn("T-99", turn_at=at(1)))
    ingest_log(warehouse, house.turns)
    assert replies(warehouse)["T-1"] == "검을 잡아. 오늘은 손목부터 본다."
    assert replaced(warehouse)[0][0] == "turns/later.jsonl"


def test_when_the_later_file_drops_a_turn_the_earlier_row_counts_again(warehouse: Connection, house: House) -> None:
    before = tables(warehouse)
    house.log("later", turn("T-1", turn_at=at(2, 1), reply_text="나중 것이다."))
    ingest_log(warehouse, house.turns)
    assert house.stale(warehouse) == [DAY_1, DAY_2]
    house.log("later")
    ingest_log(warehouse, house.turns)
    after = tables(warehouse)
    assert ("chat_turn", "turns/later.jsonl") in after.pop("read_file") and before.pop("read_file")
    assert after == before
    assert house.stale(warehouse) == []


def test_a_bad_row_in_a_later_file_replaces_nothing(warehouse: Connection, house: House) -> None:
    house.log("later", turn("T-1", turn_at=at(1)).model_dump(mode="json") | {"model_id": " "})
    ingest_log(warehouse, house.turns)
    assert replies(warehouse)["T-1"] == "검을 잡아. 오늘은 손목부터 본다."
    assert house.stale(warehouse) == []


def test_a_file_that_is_gone_leaves_its_turns(warehouse: Connection, house: House) -> None:
    before = tables(warehouse)
    (house.turns / "2026-09-02.jsonl").unlink()
    assert ingest_log(warehouse, house.turns) == []
    assert tables(warehouse) == before
    assert house.stale(warehouse) == []


def test_a_file_that_can_no_longer_be_read_leaves_its_turns_and_says_so(warehouse: Connection, house: House) -> None:
    path = house.turns / "2026-09-03.jsonl"
    path.unlink()
    path.symlink_to(house.turns / "nowhere")
    assert ingest_log(warehouse, house.turns) == []
    assert house.stale(warehouse) == []
    [problem] = [p for p in read_problems(warehouse) if p.file == "turns/2026-09-03.jsonl"]
    assert problem.severity == "rejected"


def test_a_file_that_was_only_touched_is_not_read_again(
    warehouse: Connection, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_files, "read_file", _must_not_be_called)
    path = house.turns / "2026-09-01.jsonl"
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1_000_000_000))
    assert ingest_log(warehouse, house.turns) == []
    monkeypatch.setattr(log_files, "file_hash", _must_not_be_called)
    assert ingest_log(warehouse, house.turns) == [], "the new time was not remembered"


def _must_not_be_called(*arguments: object) -> None:
    raise AssertionError(f"{arguments} was read again")


def test_bad_rows_are_kept_with_their_place_and_the_good_ones_go_on(warehouse: Connection) -> None:
    [problem] = read_problems(warehouse)
    assert (problem.table, problem.file, problem.line) == ("chat_turn", "turns/2026-09-02.jsonl", 7)
    assert problem.severity == "rejected"
    assert "turn_at is no ISO 8601 date and time" in problem.reason
    assert problem.raw == '{"turn_id": "T-13", "session_id": "S-13", "turn_at": "어제"}'
    assert rows(warehouse, f"SELECT count(*) FROM chat_turn WHERE day = '{DAY_2}'") == [(6,)]


def test_what_is_said_of_a_file_goes_with_its_correction(warehouse: Connection, house: House) -> None:
    house.log(str(DAY_2), *LOG.day_2[:-1])
    ingest_log(warehouse, house.turns)
    assert read_problems(warehouse) == []


def test_a_file_is_brought_in_whole_or_not_at_all(
    warehouse: Connection, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tables(warehouse)

    def breaks_off(file: Path, table: InputTable, name: str) -> Iterator[Batch]:
        yield next(read_file(file, table, name))
        raise MemoryError

    house.log(str(DAY_1), turn("T-1", turn_at=at(1), reply_text="고쳤다."), "no JSON")
    monkeypatch.setattr(log_files, "read_file", breaks_off)
    with pytest.raises(MemoryError):
        ingest_log(warehouse, house.turns)
    assert tables(warehouse) == before
    monkeypatch.undo()
    assert ingest_log(warehouse, house.turns) == ["turns/2026-09-01.jsonl"]


def test_batches_of_a_file_make_no_difference(
    warehouse: Connection, house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "BATCH_ROWS", 4)
    monkeypatch.setattr(log_files, "CHUNK_ROWS", 2)
    in_place = "SELECT file, line, turn_id FROM turn_row"
    with open_warehouse(tmp_path / "other.duckdb") as other:
        house.bring_in(other)
        for name in ("chat_turn", "rejected_rows", "character_card"):
            assert tables(other)[name] == tables(warehouse)[name]
        assert rows(other, in_place) == rows(warehouse, in_place)


def test_the_kept_hashes_of_a_day_are_right_whatever_files_did(warehouse: Connection, house: House) -> None:
    """They say whether a day is stale: a day whose turns changed unseen would keep its verdicts."""
    moved = turn("T-1", turn_at=at(2), reply_text="옮겼다.")
    named = {"turn_at": at(1, 4), "named_entities": ["하늘"]}
    steps: list[tuple[str, list[Line]]] = [
        ("later", [turn("T-1", turn_at=at(1), reply_text="나중 것."), turn("T-90", turn_at=at(3))]),
        ("later", [moved]),
        (str(DAY_1), LOG.day_1[1:]),
        ("later", [turn("T-90", turn_at=at(1))]),
        (str(DAY_1), [moved, "{", *LOG.day_1]),
        ("later", []),
        ("recall", [turn("T-4", session_id="S-recall", reply_text="하늘이 왔어.", **named)]),
        ("recall", [turn("T-4", session_id="S-other", **named)]),
        ("recall", []),
        ("last", [turn("T-6", turn_at=at(1)), turn("T-6", turn_at=at(3))]),
    ]
    seen = set()
    for name, lines in steps:
        house.log(name, *lines)
        ingest_log(warehouse, house.turns)
        for day in (DAY_1, DAY_2, DAY_3):
            kept = log_versions(warehouse, day)
            warehouse.execute("DELETE FROM log_version WHERE day = ?", [day])
            assert kept == log_versions(warehouse, day), (name, day)
            seen.add(kept)
    assert rows(warehouse, "SELECT count(*), count(DISTINCT day) FROM log_version") == [(3, 3)]
    assert len(seen) > 8


def test_a_file_leaves_the_hashes_of_days_that_it_says_nothing_of(warehouse: Connection, house: House) -> None:
    """T-6 of the second day asks in the session of T-4, which lies on the first."""
    for day in (DAY_1, DAY_2, DAY_3):
        log_versions(warehouse, day)
    house.log("later", turn("T-4", turn_at=at(1, 4), session_id="S-recall", reply_text="하늘이 왔어."))
    ingest_log(warehouse, house.turns)
    assert rows(warehouse, "SELECT day FROM log_version") == [(DAY_3,)]


def test_a_warehouse_at_which_another_version_was_at_work_keeps_no_hashes(house: House) -> None:
    with house.warehouse() as connection:
        house.bring_in(connection)
        log_versions(connection, DAY_1)
        connection.execute("UPDATE layout SET version = 'of another version'")
    with house.warehouse() as connection:
        assert rows(connection, "FROM log_version") == []
