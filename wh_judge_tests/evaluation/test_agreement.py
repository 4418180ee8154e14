"""The figures of `measure_agreement` against values worked out by hand."""

import json
import math

import pyarrow as pa
import pytest
from pydantic import ValidationError

from wh_judge.evaluation.agreement import Agreement, measure_agreement
from wh_judge.model import VERDICTS
from wh_judge_tests.evaluation import KEPT, NAME, RECALL, SPEECH, TOPIC, gold_table, unjudged_table, verdict_table

Z = 1.959963984540054


def compare(*pairs: tuple[str, str]) -> Agreement:
    """The agreement of labels and verdicts that are given pair by pair."""
    labels, verdicts = ({f"T-{i}": pair[side] for i, pair in enumerate(pairs)} for side in (0, 1))
    return measure_agreement(gold_table(labels), verdict_table(verdicts), unjudged_table())


@pytest.mark.parametrize(
    ("judged", "unjudged", "found", "not_found", "not_judged"),
    [
        (["T-9", "T-10", "T-11"], [], 3, [], []),
        (["T-9"], [], 1, ["T-10", "T-11"], []),
        (["T-9"], ["T-11"], 1, ["T-10"], ["T-11"]),
        ([], ["T-11", "T-10", "T-9"], 0, [], ["T-9", "T-10", "T-11"]),
        (["T-9"], ["T-9"], 1, ["T-10", "T-11"], []),
        (["T-9", "T-77"], ["T-78"], 1, ["T-10", "T-11"], []),
        ([], [], 0, ["T-9", "T-10", "T-11"], []),
    ],
)
def test_each_label_is_found_or_not_judged_or_not_found(
    judged: list[str], unjudged: list[str], found: int, not_found: list[str], not_judged: list[str]
) -> None:
    gold = gold_table({"T-10": KEPT, "T-11": SPEECH, "T-9": KEPT})
    result = measure_agreement(gold, verdict_table(dict.fromkeys(judged, KEPT)), unjudged_table(*unjudged))
    assert (result.labels, result.found, result.not_found, result.not_judged) == (3, found, not_found, not_judged)


@pytest.mark.parametrize(("agreed", "found"), [(7, 10), (0, 5), (5, 5), (1, 1), (111, 120)])
def test_the_agreement_has_wilsons_interval(agreed: int, found: int) -> None:
    result = compare(*[(KEPT, KEPT)] * agreed, *[(KEPT, SPEECH)] * (found - agreed))
    share = agreed / found
    half = Z * math.sqrt(share * (1 - share) / found + Z**2 / (4 * found**2))
    low, high = ((share + Z**2 / (2 * found) + sign * half) / (1 + Z**2 / found) for sign in (-1, 1))
    assert (result.agreed, result.agreement) == (agreed, share)
    assert (result.agreement_low, result.agreement_high) == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize(("agreed", "found"), [(0, 7), (7, 7), (3, 9)])
def test_the_agreement_lies_in_its_interval(agreed: int, found: int) -> None:
    result = compare(*[(KEPT, KEPT)] * agreed, *[(KEPT, SPEECH)] * (found - agreed))
    assert result.agreement is not None and result.agreement_low is not None and result.agreement_high is not None
    assert 0 <= result.agreement_low <= result.agreement <= result.agreement_high <= 1


def test_where_nothing_is_found_there_is_no_number() -> None:
    result = measure_agreement(gold_table({"T-1": KEPT}), verdict_table({}), unjudged_table())
    scores = [score for row in result.per_verdict for score in (row.precision, row.recall, row.f1)]
    assert {result.agreement, result.agreement_low, result.agreement_high, result.kappa, *scores} == {None}


def test_without_labels_there_is_no_number() -> None:
    result = measure_agreement(gold_table({}), verdict_table({"T-1": KEPT}), unjudged_table())
    assert (result.labels, result.found, result.agreement) == (0, 0, None)


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        # observed 35/50, by chance (25 · 30 + 25 · 20) / 2500 = 1/2
        ([(KEPT, KEPT)] * 20 + [(KEPT, SPEECH)] * 5 + [(SPEECH, KEPT)] * 10 + [(SPEECH, SPEECH)] * 15, 0.4),
        ([(KEPT, KEPT), (NAME, NAME)], 1.0),
        ([(KEPT, NAME), (NAME, KEPT)], -1.0),
        ([(KEPT, KEPT), (RECALL, KEPT)], 0.0),
        ([(KEPT, SPEECH)], 0.0),
        ([(TOPIC, TOPIC)] * 3, None),
    ],
)
def test_kappa(pairs: list[tuple[str, str]], kappa: float | None) -> None:
    assert compare(*pairs).kappa == (None if kappa is None else pytest.approx(kappa))


SCORED = [(KEPT, KEPT)] * 6 + [(KEPT, SPEECH)] * 2 + [(SPEECH, SPEECH)] * 3 + [(SPEECH, NAME)] + [(TOPIC, KEPT)] * 2


@pytest.mark.parametrize(
    ("verdict", "support", "predicted", "precision", "recall", "f1"),
    [
        (KEPT, 8, 8, 6 / 8, 6 / 8, 12 / 16),
        (SPEECH, 4, 5, 3 / 5, 3 / 4, 6 / 9),
        (NAME, 0, 1, 0.0, None, 0.0),
        (TOPIC, 2, 0, None, 0.0, 0.0),
        (RECALL, 0, 0, None, None, None),
    ],
)
def test_the_scores_of_a_verdict(
    verdict: str, support: int, predicted: int, precision: float | None, recall: float | None, f1: float | None
) -> None:
    row = compare(*SCORED).per_verdict[VERDICTS.index(verdict)]
    assert row.model_dump() == {
        "verdict": verdict,
        "support": support,
        "predicted": predicted,
        "precision": precision,
        "recall": recall,
        "f1": f1,
    }


def test_the_rows_of_the_confusion_are_labels() -> None:
    assert compare(*SCORED).confusion == [
        [6, 2, 0, 0, 0],
        [0, 3, 1, 0, 0],
        [0, 0, 0, 0, 0],
        [2, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
    ]


def test_diverging_turns_are_grouped_by_label_then_verdict_then_turn_order() -> None:
    labels = {"T-1": TOPIC, "T-10": KEPT, "T-9": KEPT, "T-2": KEPT, "T-3": SPEECH, "T-4": KEPT}
    verdicts = {"T-1": KEPT, "T-10": NAME, "T-9": NAME, "T-2": RECALL, "T-3": KEPT, "T-4": KEPT}
    result = measure_agreement(gold_table(labels), verdict_table(verdicts), unjudged_table())
    assert [(turn.turn_id, turn.label, turn.verdict) for turn in result.diverging] == [
        ("T-9", KEPT, NAME),
        ("T-10", KEPT, NAME),
        ("T-2", KEPT, RECALL),
        ("T-3", SPEECH, KEPT),
        ("T-1", TOPIC, KEPT),
    ]


@pytest.mark.parametrize("note", ["말끝이 다르다", None])
def test_a_diverging_turn_says_what_both_sides_say(note: str | None) -> None:
    gold = gold_table({"T-1": SPEECH}, {"T-1": note} if note else {})
    (turn,) = measure_agreement(gold, verdict_table({"T-1": NAME}), unjudged_table()).diverging
    assert turn.model_dump() == {
        "turn_id": "T-1",
        "character_id": "C of T-1",
        "model_id": "M of T-1",
        "label": SPEECH,
        "verdict": NAME,
        "note": note,
        "summary": "S of T-1",
    }


def test_further_columns_of_the_verdicts_are_ignored() -> None:
    verdicts = verdict_table({"T-1": KEPT}).append_column("evidence", pa.array([[{"source": "chat_turn"}]]))
    assert measure_agreement(gold_table({"T-1": KEPT}), verdicts, unjudged_table()).agreed == 1


@pytest.mark.parametrize(("label", "verdict"), [("fine", KEPT), (KEPT, "fine")])
def test_a_sixth_verdict_is_refused(label: str, verdict: str) -> None:
    with pytest.raises(KeyError, match="fine"):
        compare((label, verdict))


def test_the_result_survives_json() -> None:
    result = compare(*SCORED)
    assert Agreement.model_validate(json.loads(json.dumps(result.model_dump(), allow_nan=False))) == result


def test_the_result_is_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        compare((KEPT, KEPT)).agreed = 2
