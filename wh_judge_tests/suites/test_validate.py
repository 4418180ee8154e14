"""What a validation reports: columns, references, examples, severity, and how quietly it does so."""

import logging
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from wh_judge.suites import SUITES, Check, ExpectationResult, SuiteResult, frames, run, validate_table

from .build import KNOWN, SOUND, changed, table_of

COLUMNS = "the columns and their types are those of the model"


def _validated(rows: pa.Table, **more: Any) -> SuiteResult:
    return validate_table("chat_turn", rows, **{"references": KNOWN, "batch": "day"} | more)


def _named(result: SuiteResult, name: str) -> ExpectationResult:
    return next(one for one in result.expectations if one.name == name)


def test_an_empty_table_succeeds_with_no_rows() -> None:
    result = _validated(table_of("chat_turn"))
    assert (result.success, result.rows, result.outcome) == (True, 0, "nothing to check")


def test_the_columns_of_an_empty_table_are_checked() -> None:
    assert [one.name for one in _validated(table_of("chat_turn").drop_columns(["prompt_id"])).failed][:1] == [COLUMNS]


def test_a_missing_column_is_named() -> None:
    result = _validated(changed("chat_turn").drop_columns(["turn_at"]))
    assert _named(result, COLUMNS).unexpected == ("missing: turn_at: timestamp[us, tz=UTC]",)


def test_expectations_on_a_missing_column_fail_with_a_message() -> None:
    failed = _validated(changed("chat_turn").drop_columns(["turn_at"])).failed
    assert {one.message for one in failed if one.column == "turn_at"} == {"the column turn_at is missing"}


@pytest.mark.parametrize("table", SUITES)
def test_without_columns_nothing_passes(table: Any) -> None:
    result = validate_table(table, pa.table({}), references=KNOWN, batch="day")
    assert [one.name for one in result.expectations if one.success] == []


def test_a_column_of_another_type_is_named() -> None:
    rows = changed("chat_turn").set_column(5, "turn_at", pa.array(["2026-09-01", "2026-09-02"]))
    assert _named(_validated(rows), COLUMNS).unexpected == (
        "missing: turn_at: timestamp[us, tz=UTC]",
        "unexpected: turn_at: string",
    )


def test_expectations_on_a_column_of_another_type_fail_with_a_message() -> None:
    failed = _validated(changed("chat_turn").set_column(8, "named_entities", pa.array([1, 2]))).failed
    messages = {one.message for one in failed if one.column == "named_entities"}
    assert messages == {"the column named_entities is int64, not list<item: string>"}


def test_a_check_over_two_columns_fails_where_the_second_is_missing() -> None:
    rows = changed("verdict").drop_columns(["recall_source_turn"])
    found = _named(
        validate_table("verdict", rows, batch="day"), "recall_target and recall_source_turn are both set or both null"
    )
    assert (found.success, found.message) == (False, "the column recall_source_turn is missing")


def test_another_column_is_named() -> None:
    rows = changed("chat_turn").append_column("mood", pa.array(["good", "bad"]))
    assert _named(_validated(rows), COLUMNS).unexpected == ("unexpected: mood: string",)


def test_a_column_that_is_there_twice_is_named() -> None:
    rows = changed("chat_turn")
    rows = rows.append_column("turn_id", rows["turn_id"])
    assert _named(_validated(rows), COLUMNS).unexpected == ("unexpected: turn_id: string (again)",)


def test_a_column_in_another_case_is_another_column() -> None:
    rows = changed("chat_turn").rename_columns({"turn_id": "TURN_ID"})
    assert _named(_validated(rows), "turn_id is unique").message == "the column turn_id is missing"


def test_the_order_of_columns_does_not_matter() -> None:
    rows = changed("chat_turn")
    assert _validated(rows.select(sorted(rows.column_names))).success


def test_the_name_of_list_entries_does_not_matter() -> None:
    rows = changed("chat_turn")
    names = rows["named_entities"].combine_chunks().cast(pa.list_(pa.field("element", pa.string())))
    assert _validated(rows.set_column(8, "named_entities", names)).success


def test_rows_in_chunks_are_all_seen() -> None:
    rows = pa.concat_tables([changed("chat_turn"), table_of("chat_turn", {"turn_id": "T-3", "session_id": ""})])
    assert _named(_validated(rows), "session_id is filled in every row").unexpected == ("T-3: blank: ",)


def test_what_has_no_keys_to_compare_with_is_not_checked() -> None:
    result = _validated(changed("chat_turn"), references={})
    assert result.not_checked == ("character_id has a card, so that the turn can be judged",)


def test_no_known_keys_are_keys_all_the_same() -> None:
    result = _validated(changed("chat_turn"), references={"character_card.character_id": []})
    assert _named(result, "character_id has a card, so that the turn can be judged").unexpected_count == 2


def test_a_null_among_the_known_keys_hides_nothing() -> None:
    keys: Any = ["CHR-1", None]
    result = _validated(changed("chat_turn", character_id="CHR-9"), references={"character_card.character_id": keys})
    assert _named(result, "character_id has a card, so that the turn can be judged").unexpected_count == 1


def test_an_unknown_reference_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"character_card\.id"):
        _validated(changed("chat_turn"), references={"character_card.id": ["CHR-1"]})


def test_a_blank_batch_is_an_error() -> None:
    with pytest.raises(ValueError, match="batch is blank"):
        _validated(changed("chat_turn"), batch=" ")


@pytest.mark.parametrize(
    ("change", "severity", "outcome"),
    [
        ({}, None, "passed"),
        ({"character_id": "CHR-9"}, "warn", "warnings"),
        ({"character_id": "CHR-9", "session_id": ""}, "error", "failed"),
    ],
)
def test_the_worst_failure_makes_the_outcome(change: dict[str, Any], severity: str | None, outcome: str) -> None:
    result = _validated(changed("chat_turn", **change))
    assert (result.success, result.severity, result.outcome) == (severity is None, severity, outcome)


def test_five_examples_are_shown_of_many() -> None:
    result = _validated(table_of("chat_turn", *({"turn_id": f"T-{n}", "session_id": " "} for n in range(7))))
    found = _named(result, "session_id is filled in every row")
    assert (found.unexpected_count, len(found.unexpected)) == (7, 5)


def test_an_example_names_the_row_and_the_value() -> None:
    result = _validated(changed("chat_turn", character_id="CHR-9"))
    assert result.failed[0].unexpected == ("T-1: CHR-9",)


def test_a_row_without_a_key_is_named_by_its_position() -> None:
    result = _validated(changed("chat_turn", turn_id=None))
    assert result.failed[0].unexpected == ("row 2: null",)


def test_a_row_with_half_a_key_is_named_by_its_position() -> None:
    result = validate_table("topic_lexicon", changed("topic_lexicon", topic=" \u3000"), batch="day")
    assert result.failed[0].unexpected == ("row 2: blank:  \\u3000",)


def test_a_key_of_two_columns_is_shown_whole() -> None:
    result = validate_table("topic_lexicon", changed("topic_lexicon", term="국회"), batch="day")
    assert result.failed[0].unexpected == ("국회 · 현실 정치", "국회 · 현실 정치")


def test_a_time_is_shown_with_its_offset() -> None:
    result = _validated(changed("chat_turn", turn_at=datetime(1970, 1, 1, tzinfo=UTC)))
    assert result.failed[0].unexpected == ("1970-01-01 00:00:00+00:00",)


def test_what_cannot_be_seen_is_written_out() -> None:
    result = _validated(changed("chat_turn", character_id="a\0\u202eb\n"))
    assert result.failed[0].unexpected == ("T-1: a\\x00\\u202eb\\n",)


def test_a_long_value_is_cut() -> None:
    result = _validated(changed("chat_turn", character_id="가" * 1_000_000))
    assert result.failed[0].unexpected == (f"T-1: {'가' * 200}",)


def test_an_expectation_that_raises_fails_with_its_message(monkeypatch: pytest.MonkeyPatch) -> None:
    check = Check(
        name="turn_id is a number",
        column="turn_id",
        expectation="ExpectColumnValuesToBeBetween",
        arguments={"column": "turn_id", "min_value": 0},
        needs=("turn_id",),
    )
    suite = SUITES["chat_turn"].model_copy(update={"checks": (check,)})
    monkeypatch.setattr(run, "SUITES", {"chat_turn": suite})
    found = _validated(changed("chat_turn")).expectations[0]
    assert (found.success, "same type" in (found.message or "")) == (False, True)


def test_the_level_of_the_log_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger("great_expectations"), "level", logging.INFO)
    _validated(changed("chat_turn"))
    assert logging.getLogger("great_expectations").level == logging.INFO


def test_nothing_is_logged(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    caplog.set_level(logging.DEBUG)
    _validated(changed("chat_turn").drop_columns(["turn_at"]), docs=tmp_path)
    assert [record for record in caplog.records if record.name.startswith("great_expectations")] == []


def _python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_the_suites_are_read_without_great_expectations() -> None:
    done = _python("import sys, wh_judge.suites as s; s.SUITES; sys.exit('great_expectations' in sys.modules)")
    assert done.returncode == 0


_CUT_OFF = """
import socket
def no(*args, **kwargs): raise SystemExit("reached out to the network")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = socket.create_connection = no
import pyarrow as pa
from wh_judge.suites import validate_table
result = validate_table("chat_turn", pa.table({"turn_id": ["T-1", "T-1", None]}), batch="day")
assert not result.success
"""


def test_a_validation_says_nothing_and_calls_nobody() -> None:
    done = _python(_CUT_OFF)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_no_column_of_the_model_is_left_out_of_the_sound_rows() -> None:
    assert {table: sorted(row) for table, row in SOUND.items()} == {
        suite.table: sorted(suite.arrow_schema.names) for suite in SUITES.values()
    }


@pytest.mark.parametrize("count", [0, 1])
def test_what_kept_expectations_from_looking_once_fails_no_later_batch(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from great_expectations.execution_engine.pandas_execution_engine import PandasExecutionEngine

    def give_up(*_: object, **__: object) -> None:
        raise MemoryError

    rows = table_of("chat_turn", *[SOUND["chat_turn"]] * count)
    run._made_before.cache_clear()
    with monkeypatch.context() as full:
        full.setattr(PandasExecutionEngine, "resolve_metrics", give_up)
        full.setattr(PandasExecutionEngine, "resolve_metric_bundle", give_up)
        assert not _validated(rows).success
    assert _validated(rows).success
    # What was made of it stands.
    monkeypatch.setattr(run, "_ask", give_up)
    assert _validated(rows).success


@pytest.mark.parametrize("error", [duckdb.InternalException, duckdb.FatalException])
def test_a_duckdb_that_gave_up_looks_at_no_later_batch(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    assert _validated(changed("chat_turn")).success
    with frames._DATABASE.database() as kept:
        pass

    def give_up(*_: object) -> None:
        kept.close()
        raise error

    with monkeypatch.context() as broken, pytest.raises(error):
        broken.setattr("wh_judge.suites.frames.np.arange", give_up)
        _validated(changed("chat_turn"))
    assert _validated(changed("chat_turn")).success
