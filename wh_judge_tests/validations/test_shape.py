"""The output schema, its model and the rows of the input: what fits, what does not, and that all three agree."""

import copy
import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from wh_judge.model import Verdict
from wh_judge.validations import Log
from wh_judge_tests.validations.states import DATA, STATE, Claim, claim_about, reasons, results, turn, worked_claims

LOG = STATE.log()
WRITTEN = jsonschema.Draft202012Validator(json.loads((DATA / "verdict.schema.json").read_text("utf-8")))
MODELLED = jsonschema.Draft202012Validator(Verdict.model_json_schema())
KEPT, CANON = claim_about(STATE.claims(), "kept"), claim_about(STATE.claims(), "canon")
ROW = {"source": "chat_turn", "field": "turn_id", "value": "T"}
REQUIRED_ONLY = {name: KEPT[name] for name in WRITTEN.schema["required"]}


def accepted(document: Any) -> tuple[bool, bool, bool]:
    """Whether the written schema, the model's schema and the model in strict mode take the document."""
    try:
        Verdict.model_validate(document, strict=True)
        strict = True
    except ValidationError:
        strict = False
    return WRITTEN.is_valid(document), MODELLED.is_valid(document), strict


ACCEPTED: dict[str, Claim] = {
    "as it is": KEPT,
    "required cells only": REQUIRED_ONLY,
    "empty texts": REQUIRED_ONLY | dict.fromkeys(("turn_id", "session_id", "character_id", "model_id", "summary"), ""),
    "no evidence": KEPT | {"evidence": []},
    "extra cells": KEPT | {"notes": ["a"], "confidence": 1.5},
    "extra evidence cells": KEPT | {"evidence": [ROW | {"why": {}}]},
    "a key of another type": KEPT | {"evidence": [ROW | {"key": 5}]},
    "agg null": KEPT | {"evidence": [ROW | {"agg": None}]},
    "agg count": KEPT | {"evidence": [ROW | {"agg": "count", "value": 2}]},
    "value true": KEPT | {"evidence": [ROW | {"value": True}]},
    "value null": KEPT | {"evidence": [ROW | {"value": None}]},
    "value 1.5": KEPT | {"evidence": [ROW | {"value": 1.5}]},
    "value huge": KEPT | {"evidence": [ROW | {"value": 10**400}]},
    "names null": KEPT | {"off_canon_entities": None},
    "names empty": KEPT | {"off_canon_entities": []},
}
REFUSED: dict[str, Any] = {
    "no object": [],
    "null": None,
    "a text": "설정대로 말함",
    **{f"without {name}": {key: KEPT[key] for key in KEPT if key != name} for name in REQUIRED_ONLY},
    **{f"{name} null": KEPT | {name: None} for name in REQUIRED_ONLY},
    **{f"{name} a number": KEPT | {name: 1} for name in KEPT},
    **{f"{name} true": KEPT | {name: True} for name in KEPT},
    **{f"{name} an object": KEPT | {name: {}} for name in KEPT},
    "a sixth verdict": KEPT | {"verdict": "모름"},
    "verdict with white space": KEPT | {"verdict": "설정대로 말함 "},
    "a number among names": KEPT | {"off_canon_entities": ["리안", 1]},
    "null among names": KEPT | {"off_canon_entities": [None]},
    "names a text": KEPT | {"off_canon_entities": "리안"},
    "evidence a text": KEPT | {"evidence": "reply_text"},
    "a row that is no object": KEPT | {"evidence": [ROW, "reply_text"]},
    **{f"a row without {name}": KEPT | {"evidence": [{k: ROW[k] for k in ROW if k != name}]} for name in ROW},
    "an unknown source": KEPT | {"evidence": [ROW | {"source": "log"}]},
    "field null": KEPT | {"evidence": [ROW | {"field": None}]},
    "an unknown agg": KEPT | {"evidence": [ROW | {"agg": "median"}]},
    "agg empty": KEPT | {"evidence": [ROW | {"agg": ""}]},
    "value a list": KEPT | {"evidence": [ROW | {"value": []}]},
    "value an object": KEPT | {"evidence": [ROW | {"value": {}}]},
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted_by_the_schema_and_the_model(name: str) -> None:
    assert accepted(ACCEPTED[name]) == (True, True, True)


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_the_schema_and_the_model(name: str) -> None:
    assert accepted(REFUSED[name]) == (False, False, False)


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_schema_refuses_fails_and_is_told_why(name: str) -> None:
    assert "expected" in (reasons("verdict_schema", REFUSED[name], LOG) or "")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_json_cannot_hold_is_no_number(number: float) -> None:
    assert reasons("verdict_schema", KEPT | {"evidence": [ROW | {"value": number}]}, LOG)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=5), inside, max_size=3),
    max_leaves=5,
)
CELLS: st.SearchStrategy[Any] = (
    st.sampled_from([None, True, 0, 1.5, "", "count", "chat_turn", "설정대로 말함", [], [None], ["가"], {}, [ROW]])
    | JSON
)


@settings(deadline=None)
@given(st.data())
def test_the_schema_and_the_model_agree_on_damaged_documents(data: st.DataObject) -> None:
    document = copy.deepcopy(data.draw(st.sampled_from([KEPT, CANON, *worked_claims()])))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from([document, *document["evidence"]])) if _rows(document) else document
        name = data.draw(st.sampled_from(sorted({*KEPT, *ROW, "agg"})))
        if data.draw(st.booleans()):
            place.pop(name, None)
        else:
            place[name] = data.draw(CELLS)
    assert len(set(accepted(document))) == 1


def _rows(document: Claim) -> bool:
    rows = document.get("evidence")
    return isinstance(rows, list) and bool(rows) and all(isinstance(row, dict) for row in rows)


def test_the_model_has_the_cells_of_the_schema_and_requires_the_same() -> None:
    written, modelled = WRITTEN.schema, MODELLED.schema
    assert list(modelled["properties"]) == list(written["properties"])
    assert modelled["required"] == written["required"]
    row = written["properties"]["evidence"]["items"]
    assert list(modelled["$defs"]["Evidence"]["properties"]) == list(row["properties"])
    assert modelled["$defs"]["Evidence"]["required"] == row["required"]


def test_a_turn_that_is_not_in_the_log_is_named() -> None:
    [failure] = results([KEPT | {"turn_id": "T-?"}], LOG)["verdict_schema"].failures
    assert (failure.turn_id, failure.row) == ("T-?", 1)
    assert failure.reason == "turn_id: expected a turn of the log, found 'T-?'"


def test_nothing_is_recomputed_for_a_turn_that_is_not_in_the_log() -> None:
    found = results([KEPT | {"turn_id": "T-?"}], LOG)
    assert [result.number for result in found.values() if result.not_applicable] == [3, 4, 5, 6, 7, 9, None]


def test_a_turn_that_comes_again_is_named() -> None:
    claims = [KEPT, CANON, KEPT, KEPT]
    failures = results(claims, LOG)["verdict_schema"].failures
    reason = "turn_id: expected one row for each turn, found it in row 1 already"
    assert [(failure.turn_id, failure.row, failure.reason) for failure in failures] == [
        ("kept", row, reason) for row in (3, 4)
    ]


def test_a_turn_that_comes_again_is_judged_again() -> None:
    found = results([KEPT, KEPT | {"verdict": "말투 어긋남"}], LOG)
    assert [failure.row for failure in found["verdict_precedence"].failures] == [2]


def test_a_verdict_on_a_turn_without_a_card_fails_the_precedence() -> None:
    log = Log.of([turn("kept", character_id="C-?")], STATE.cards, STATE.lexicon)
    found = results([KEPT | {"character_id": "C-?"}], log)
    assert [result.number for result in found.values() if result.not_applicable] == [3, 4, 5, 6, 7]
    [failure] = found["verdict_precedence"].failures
    assert failure.reason == "verdict: expected none, since 'C-?' has no card, found one"


@pytest.mark.parametrize("junk", [None, 5, "a", [], {}, [KEPT], True])
def test_a_row_that_is_no_verdict_is_read_as_an_empty_one(junk: Any) -> None:
    found = results([junk, KEPT], LOG)
    assert [(result.number, result.failed) for result in found.values() if result.failed] == [
        (1, 1),
        (2, 1),
        (10, 1),
        (None, 1),
    ]
    assert {result.looked_at for result in found.values()} == {2}
