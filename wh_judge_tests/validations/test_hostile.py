"""Nothing that a file can hold makes a validation raise, and no wrong cell goes unseen."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wh_judge.validations import validate
from wh_judge_tests.validations.states import STATE, Claim, all_failures, claim_about, results

LOG = STATE.log()
CLAIMS = STATE.claims()
NAMES = sorted({*CLAIMS[0], "source", "field", "agg", "value", "key"})


def nested(depth: int) -> list[Any]:
    """Lists in lists."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


WORDS = sorted({cell for claim in CLAIMS for cell in (*claim.values(), *NAMES) if isinstance(cell, str)})
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=10),
    st.sampled_from(
        ["count", "max", "chat_turn", "character_card", "topic_lexicon", "named_entities", "turn_at", "0", *WORDS]
    ),
    st.sampled_from([-(10**400), float("nan"), float("inf"), "\ud800", "가" * 10_000, "\x00", ".", "「"]),
    st.builds(lambda digits: 10**digits, st.sampled_from([20, 5000])),
    st.builds(nested, st.sampled_from([1, 2000])),
)
JUNK = st.recursive(
    LEAVES,
    lambda inside: (
        st.lists(inside, max_size=4) | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), inside, max_size=5)
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.lists(JUNK, max_size=4))
def test_junk_is_counted_and_never_raises(claims: list[Any]) -> None:
    for result in validate(claims, LOG):
        assert result.looked_at == len(claims) == result.passed + result.failed + result.not_applicable
        assert result.failed == len(result.failures)


@settings(deadline=None)
@given(st.data())
def test_a_damaged_verdict_never_raises(data: st.DataObject) -> None:
    claim = copy.deepcopy(data.draw(st.sampled_from(CLAIMS)))
    for _ in range(data.draw(st.integers(1, 3))):
        rows = claim.get("evidence")
        places = [claim, *(row for row in rows if isinstance(row, dict))] if isinstance(rows, list) else [claim]
        data.draw(st.sampled_from(places))[data.draw(st.sampled_from(NAMES))] = data.draw(JUNK)
    for result in validate([claim], LOG):
        assert result.looked_at == 1 == result.passed + result.failed + result.not_applicable
        for failure in result.failures:
            assert "\n" not in failure.reason
            failure.reason.encode()
            json.dumps(failure.turn_id, ensure_ascii=False).encode()


DECIDED = [
    *("turn_id", "session_id", "character_id", "model_id", "verdict", "rule_expected", "rule_observed"),
    *("off_canon_entities", "touched_term", "touched_topic", "recall_target", "recall_source_turn"),
]
"""The cells that the log alone decides."""


@settings(deadline=None)
@given(st.sampled_from(CLAIMS), st.sampled_from(DECIDED), JUNK)
def test_no_other_value_of_a_decided_cell_goes_unseen(claim: Claim, name: str, value: Any) -> None:
    if type(value) is type(claim[name]) and value == claim[name]:
        return
    assert all_failures([claim | {name: value}], LOG)


@settings(deadline=None)
@given(st.data())
def test_no_other_value_of_evidence_goes_unseen(data: st.DataObject) -> None:
    """Only another element of the same list, the same instant or an equal number is as good."""
    claim = copy.deepcopy(data.draw(st.sampled_from(CLAIMS)))
    row = data.draw(st.sampled_from(claim["evidence"]))
    value = data.draw(LEAVES)
    is_list = row["field"] in ("named_entities", "canon_entities", "forbidden_topics", "entity_roles")
    same = type(value) is type(row["value"]) and value == row["value"]
    if same or (is_list and (isinstance(value, str) or value == row["value"])):
        return
    row["value"] = value
    assert "v09_evidence_value" in all_failures([claim], LOG)


@pytest.mark.parametrize("depth", [10, 100_000])
def test_deep_nesting_is_named_and_not_followed(depth: int) -> None:
    claim = claim_about(CLAIMS, "kept") | {"hedge": nested(depth), "off_canon_entities": nested(depth)}
    found = results([claim, nested(depth)], LOG)
    assert [failure.row for failure in found["verdict_schema"].failures] == [1, 2]


@pytest.mark.parametrize("name", DECIDED)
@pytest.mark.parametrize("value", [nested(100_000), 10**5000, "\ud800"], ids=["deep", "huge", "unwritable"])
@pytest.mark.parametrize("other", ["touched_topic", "recall_target", "hedge"])
def test_what_cannot_be_written_is_still_named(name: str, value: Any, other: str) -> None:
    claim = claim_about(CLAIMS, "kept") | {other: "도박"} | {name: value}
    found = all_failures([claim], LOG)
    assert found
    "".join(failure.reason for failures in found.values() for failure in failures).encode()


def test_a_reason_is_bounded() -> None:
    claim = dict.fromkeys(CLAIMS[0], "가" * 1_000_000) | {"turn_id": "kept", "evidence": [{"a": 1}] * 1000}
    lengths = [len(failure.reason) for result in validate([claim], LOG) for failure in result.failures]
    assert len(lengths) > 6
    assert max(lengths) < 2000
