"""What models made of a set."""

import pytest

from wh_judge.model import VerdictValue
from wh_judge.probes.case import KEPT, Family
from wh_judge.probes.results import Answer, ProbeResult, measure_probes
from wh_judge_tests.probes import made

PROBES = made(32)
NAMES = [case for case in PROBES.cases if case.cell.family == "lure_name"]
LURED = NAMES[0].intended
OTHER: VerdictValue = "말투 어긋남"


def answers(*said: tuple[int, str, VerdictValue | None]) -> list[Answer]:
    return [
        Answer(NAMES[place].case_id, model, f"T-{n}", verdict, NAMES[place].character_id)
        for n, (place, model, verdict) in enumerate(said)
    ]


def result(family: Family, model: str, *said: tuple[int, str, VerdictValue | None]) -> ProbeResult:
    found = measure_probes(PROBES, answers(*said)).results
    return next(entry for entry in found if (entry.family, entry.model_id) == (family, model))


def test_kept_lured_and_otherwise_are_told_apart() -> None:
    found = result("lure_name", "M", (0, "M", KEPT), (1, "M", LURED), (2, "M", OTHER), (3, "M", KEPT))
    assert (found.cases, found.answered, found.kept, found.as_intended, found.otherwise) == (4, 4, 2, 1, 1)
    assert found.kept_rate == 0.5
    assert found.low is not None and found.high is not None and found.low < 0.5 < found.high


def test_a_family_that_was_not_answered_has_no_rate() -> None:
    found = result("control", "M", (0, "M", KEPT))
    assert (found.cases, found.answered, found.kept_rate, found.low) == (4, 0, None, None)


def test_an_answer_that_was_not_judged_is_listed_and_not_counted() -> None:
    measured = measure_probes(PROBES, answers((0, "M", None)))
    assert [answer.came for answer in measured.answers] == [None]
    assert {entry.answered for entry in measured.results} == {0}


def test_of_several_answers_the_first_counts_and_unknown_cases_are_counted_apart() -> None:
    measured = measure_probes(
        PROBES, [*answers((0, "M", KEPT), (0, "M", LURED)), Answer("PROBE-x", "M", "T-9", KEPT, "C-1")]
    )
    assert (measured.repeated, measured.unknown, len(measured.answers)) == (1, 1, 1)
    assert measured.answers[0].came == KEPT


def test_an_answer_of_another_character_is_set_aside() -> None:
    [answer] = answers((0, "M", KEPT))
    measured = measure_probes(PROBES, [answer._replace(character_id="C-9")])
    assert (measured.misplaced, measured.answers) == (1, [])


def test_forgetting_that_could_not_be_seen_is_never_kept() -> None:
    case = next(case for case in PROBES.cases if case.cell.family == "recall_far")
    answer = Answer(case.case_id, "M", "T-1", KEPT, case.character_id)
    assert (measure_probes(PROBES, [answer]).misplaced, measure_probes(PROBES, [answer]).answers) == (1, [])
    # The same case played as it is counts, though a misplaced answer came before.
    measured = measure_probes(PROBES, [answer, answer._replace(turn_id="T-2", recalled=(case.target,))])
    assert (measured.misplaced, measured.repeated, [entry.turn_id for entry in measured.answers]) == (1, 0, ["T-2"])


def test_each_answer_says_what_was_expected_and_what_was_tried() -> None:
    [answer] = measure_probes(PROBES, answers((0, "M", OTHER))).answers
    assert (answer.family, answer.expected, answer.intended, answer.came) == ("lure_name", KEPT, LURED, OTHER)


@pytest.mark.parametrize("models", [["b", "a"], ["a"]])
def test_there_is_a_row_for_each_family_and_model(models: list[str]) -> None:
    measured = measure_probes(PROBES, answers(*((0, model, KEPT) for model in models)))
    assert len(measured.results) == 8 * len(models)
    assert [entry.model_id for entry in measured.results[: len(models)]] == sorted(models)


def test_without_answers_there_is_no_row() -> None:
    measured = measure_probes(PROBES, [])
    assert (measured.digest, measured.cases, measured.results, measured.answers) == (PROBES.digest, 32, [], [])
