"""`probe_results`: the frozen set of the inputs beside the turns that answered it."""

import dagster as dg
import pytest

from wh_judge.probes.files import write_probes
from wh_judge.probes.make import make_probes
from wh_judge.rules import RuleSettings
from wh_judge.store import evaluations
from wh_judge.store.probes import probes_known
from wh_judge_tests.assets.graph import Ran, checks
from wh_judge_tests.builders import lexicon, turn
from wh_judge_tests.house import CARDS, DAY_3, LEXICON, LOG, at, rows

PROBES = make_probes([CARDS[0]], lexicon(*LEXICON), RuleSettings(), cases=12, seed=3)
[LURE, *_] = [case for case in PROBES.cases if case.cell.family == "lure_name"]


@pytest.fixture
def probed(copy: Ran) -> Ran:
    """A house with a set, and with the answers of two models to one of its cases."""
    write_probes(PROBES, copy.house.inputs / "probes.json")
    answers = [
        turn("T-90", turn_at=at(3, 50), prompt_id=LURE.case_id, model_id="M-1", **LURE.complies.model_dump()),
        turn("T-91", turn_at=at(3, 51), prompt_id=LURE.case_id, model_id="M-2", **LURE.violates.model_dump()),
    ]
    copy.house.log(str(DAY_3), *LOG.day_3, *answers)
    assert copy.run("day", DAY_3).success
    assert copy.run("evaluations").success
    return copy


def test_results_say_what_was_expected_and_what_came(probed: Ran) -> None:
    with probed.house.warehouse() as connection:
        found = rows(
            connection, "SELECT model_id, answered, kept, as_intended FROM probe_result WHERE family = 'lure_name'"
        )
        told = rows(connection, "SELECT case_id, turn_id, expected, intended, came FROM probe_answer")
    assert found == [("M-1", 1, 1, 0), ("M-2", 1, 0, 1)]
    kept, lured = "설정대로 말함", "세계관 밖 고유명사"
    assert told == [(LURE.case_id, "T-90", kept, lured, kept), (LURE.case_id, "T-91", kept, lured, lured)]
    metadata = probed.metadata("probe_results", "evaluations")
    assert (metadata["digest"], metadata["cases"], metadata["answers"]) == (PROBES.digest, 12, 2)
    assert "| lure&#95;name | 2 |" in metadata["families"] and "note" not in metadata
    assert (metadata["refused_drafts"], len(PROBES.unfillable) > 0) == (len(PROBES.refused), True)
    assert PROBES.unfillable[0].reason in metadata["unfillable"]


def test_a_set_that_nobody_answered_says_what_to_do(copy: Ran) -> None:
    write_probes(PROBES, copy.house.inputs / "probes.json")
    copy.run("evaluations")
    metadata = copy.metadata("probe_results", "evaluations")
    assert metadata["results"] == "none" and "put the cases to models" in metadata["note"]


def test_a_set_that_was_changed_is_warned_of_and_not_used(probed: Ran) -> None:
    path = probed.house.inputs / "probes.json"
    with probed.house.warehouse() as connection:
        assert probes_known(connection, probed.house.settings)
        path.write_text(path.read_text(encoding="utf-8").replace(LURE.user_message, "다른 말"), encoding="utf-8")
        assert not probes_known(connection, probed.house.settings)
    result = probed.run("evaluations")
    check = checks(result)["probe_results", "set_is_frozen"]
    assert result.success
    assert (check.passed, check.severity) == (False, dg.AssetCheckSeverity.WARN)
    with probed.house.warehouse() as connection:
        document = evaluations.read(connection, "probe_results")
    assert document is not None and document["results"] == []


def test_without_a_set_there_are_no_results(ran: Ran) -> None:
    metadata = ran.metadata("probe_results", "evaluations")
    assert (metadata["digest"], metadata["cases"]) == ("there is no set", 0)
    assert ran.check("probe_results", "set_is_frozen", "evaluations").passed
    with ran.house.warehouse() as connection:
        assert probes_known(connection, ran.house.settings)
