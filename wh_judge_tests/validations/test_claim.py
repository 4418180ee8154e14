"""From the program's own rows to claims."""

from typing import Any

import pytest

from wh_judge.validations import claim_from_record
from wh_judge_tests.validations.states import STATE

RECORDS = {record["turn_id"]: record for record in STATE.records()}


def test_the_claims_of_the_kernel_are_those_of_the_references() -> None:
    assert [claim_from_record(record) for record in RECORDS.values()] == STATE.claims()


def test_values_get_the_type_of_their_column() -> None:
    values = [claim_from_record(RECORDS[turn_id])["evidence"] for turn_id in ("T-10", "canon", "names null")]
    assert [rows[place]["value"] for rows, place in zip(values, (0, 3, 4), strict=True)] == [True, 2, None]


def test_extra_columns_are_ignored() -> None:
    assert claim_from_record(RECORDS["kept"] | {"day": "2026-09-01"}) == claim_from_record(RECORDS["kept"])


def test_the_record_is_left_as_it_is() -> None:
    records = STATE.records()
    for record in records:
        claim_from_record(record)["summary"] = "다른 말입니다."
    assert repr(records) == repr(STATE.records())


@pytest.mark.parametrize(
    ("field", "agg", "text", "value"),
    [
        ("user_asked_recall", None, "true", True),
        ("user_asked_recall", None, "false", False),
        ("public", None, "true", True),
        ("user_asked_recall", None, None, None),
        ("user_asked_recall", None, "yes", "yes"),
        ("user_asked_recall", None, "True", "True"),
        ("user_asked_recall", None, "", ""),
        ("named_entities", "count", "12", 12),
        ("named_entities", "count", "012", "012"),
        ("named_entities", "count", " 12", " 12"),
        ("named_entities", "count", "many", "many"),
        ("named_entities", "count", "9" * 5000, "9" * 5000),
        ("named_entities", "max", "12", "12"),
        ("reply_text", None, "true", "true"),
    ],
)
def test_a_text_that_is_no_such_value_stays_text(field: str, agg: str | None, text: str | None, value: Any) -> None:
    row = {"source": "chat_turn", "field": field, "agg": agg, "value": text, "key": "kept"}
    [found] = claim_from_record(RECORDS["kept"] | {"evidence": [row]})["evidence"]
    assert found == row | {"value": value}
    assert type(found["value"]) is type(value)
