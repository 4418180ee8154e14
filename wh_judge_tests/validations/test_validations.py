"""Sound verdicts pass; damaged ones are named by the validation that they break."""

import json
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from wh_judge import validations
from wh_judge.model import VERDICTS
from wh_judge.rules.hedge import NOTE_CODES
from wh_judge.validations import MODEL_OUTPUT, VALIDATIONS, claim_from_record, validate, validate_each
from wh_judge_tests.validations.damage import Damage
from wh_judge_tests.validations.damages import DAMAGES
from wh_judge_tests.validations.states import STATE, State, all_failures, claim_about, results, worked, worked_claims

LOG = STATE.log()
CODES = [validation.code for validation in VALIDATIONS]


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("state", [STATE, worked()], ids=["own", "worked"])
def test_verdicts_of_the_references_pass(state: State, keyed: bool) -> None:
    assert all_failures(state.claims(keyed), state.log()) == {}


@pytest.mark.parametrize("state", [STATE, worked()], ids=["own", "worked"])
def test_verdicts_of_the_kernel_pass(state: State) -> None:
    assert all_failures([claim_from_record(record) for record in state.records()], state.log()) == {}


def test_the_worked_examples_pass_as_they_stand() -> None:
    assert all_failures(worked_claims(), worked().log()) == {}


def test_the_state_has_every_verdict_and_every_note() -> None:
    records = STATE.records()
    assert {record["verdict"] for record in records} == set(VERDICTS)
    assert {note for record in records for note in record["notes"]} == set(NOTE_CODES)


def test_every_validation_applies_to_some_sound_claim() -> None:
    assert [code for code, result in results(STATE.claims(), LOG).items() if not result.passed] == []


@pytest.mark.parametrize("damage", DAMAGES, ids=str)
def test_exactly_the_damaged_turn_is_named(damage: Damage) -> None:
    claims = STATE.claims()
    claim = claim_about(claims, damage.turn_id)
    damage.change(claim)
    result = results(claims, LOG)[damage.code]
    assert [(failure.turn_id, failure.row) for failure in result.failures] == [
        (damage.turn_id, claims.index(claim) + 1)
    ]
    assert damage.says in result.failures[0].reason


@pytest.mark.parametrize("size", [1, 3, len(STATE.turns)])
def test_however_many_are_looked_at_at_a_time(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    claims = [*STATE.claims(), *STATE.claims()]
    for damage in DAMAGES[::3]:
        damage.change(claim_about(claims, damage.turn_id))
    monkeypatch.setattr(validations, "AT_A_TIME", 1_000)
    expected = validate_each(claims, LOG)
    monkeypatch.setattr(validations, "AT_A_TIME", size)
    assert validate_each(iter(claims), LOG) == expected
    assert len(expected.letters) == len(claims)


def test_every_validation_has_three_kinds_of_damage() -> None:
    kinds = Counter(damage.code for damage in DAMAGES)
    assert [code for code in CODES if kinds[code] < 3] == []


@pytest.mark.parametrize("code", CODES)
def test_every_failing_turn_is_named(code: str) -> None:
    """Each of many claims is damaged once; a reason for one never hides another."""
    damages = {damage.turn_id: damage for damage in DAMAGES if damage.code == code}
    claims = STATE.claims()
    for damage in damages.values():
        damage.change(claim_about(claims, damage.turn_id))
    assert {failure.turn_id for failure in results(claims, LOG)[code].failures} == set(damages)


def test_what_does_not_apply_is_neither_passed_nor_failed() -> None:
    result = results(STATE.claims(), LOG)["v07_nulls_skipped"]
    nulls = [turn for turn in STATE.turns if turn.named_entities is None or turn.first_person is None]
    assert (result.passed, result.failed, result.not_applicable) == (len(nulls), 0, len(STATE.turns) - len(nulls))


def test_no_claims_pass_nothing() -> None:
    assert {(result.looked_at, result.passed, result.ok) for result in validate([], LOG)} == {(0, 0, True)}


def test_the_codes_are_stable() -> None:
    """They are stored, shown and linked to."""
    assert CODES == [
        "v01_verdict_value",
        "v02_required_filled",
        "v03_speech_reread",
        "v04_off_canon_recomputed",
        "v05_touched_found_again",
        "v06_recall_recomputed",
        "v07_nulls_skipped",
        "v08_evidence_field",
        "v09_evidence_value",
        "v10_summary_one_polite_sentence",
        "verdict_precedence",
        "verdict_schema",
    ]


def test_the_ten_are_numbered_in_order() -> None:
    assert [validation.number for validation in VALIDATIONS] == [*range(1, 11), None, None]


def test_five_are_run_on_what_a_language_model_returns() -> None:
    assert [validation.number for validation in MODEL_OUTPUT] == [1, 2, 8, 9, 10]


@pytest.mark.parametrize("validation", VALIDATIONS, ids=lambda validation: validation.code)
def test_every_validation_is_documented(validation: Any) -> None:
    assert validation.title
    assert validation.description.endswith(".")
    assert validation.judge.__doc__


def test_only_the_validations_that_are_asked_for_are_run() -> None:
    assert [result.number for result in validate(worked_claims(), worked().log(), MODEL_OUTPUT)] == [1, 2, 8, 9, 10]


def test_the_kernel_is_not_even_loaded() -> None:
    code = "import sys, json, wh_judge.validations; print(json.dumps(sorted(sys.modules)))"
    modules = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert "wh_judge.rules" in modules
    assert not {"wh_judge.judge", "duckdb"} & set(modules)
