"""`vote_agreement`: the judge of this program and others beside the votes of a house."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from wh_judge.store import evaluations
from wh_judge.votes.rows import RULES, RULES_KEPT
from wh_judge_tests.assets.graph import Ran
from wh_judge_tests.house import House
from wh_judge_tests.input_files import write
from wh_judge_tests.votes import vote


@pytest.fixture(scope="module")
def voted(ran: Ran, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    """A house with votes on its prompts, and with another judge that was run twice."""
    root = tmp_path_factory.mktemp("voted")
    _copy(ran.house, root)
    house = House(root)
    votes = [
        vote(f"{case}-{who}", case_id=case, winner=winner, annotator=who)
        for case, winner in (("P-1", "tie"), ("P-2", "model_b"), ("P-3", "model_a"))
        for who in ("가람", "나래")
    ]
    write(house.inputs / "votes.jsonl", [entry.model_dump(mode="json") for entry in votes])
    scores: list[dict[str, Any]] = [
        {"judge": "말씨-판정", "run": run, "turn_id": turn_id, "verdict": verdict}
        for run, seventeenth in (("1", "설정대로 말함"), ("2", "말투 어긋남"))
        for turn_id, verdict in (("T-16", "말투 어긋남"), ("T-17", seventeenth))
    ]
    # Turns that the log does not have, in both runs, and one that answered no prompt.
    scores += [
        {"judge": "말씨-판정", "run": run, "turn_id": f"T-90{n}", "score": 0.5} for run in "12" for n in range(7)
    ]
    scores.append({"judge": "말씨-판정", "turn_id": "T-2", "score": 0.5})
    write(house.inputs / "judges.jsonl", scores)
    with dg.DagsterInstance.ephemeral() as instance:
        graph = Ran(house, instance)
        assert graph.run("evaluations").success
        yield graph


def _copy(house: House, root: Path) -> None:
    shutil.copytree(house.inputs, root / "inputs")
    shutil.copytree(house.data, root / "data")


def test_judges_stand_side_by_side(voted: Ran) -> None:
    with voted.house.warehouse() as connection:
        document = evaluations.read(connection, "vote_agreement")
    assert document is not None
    found = {judge["judge"]: judge for judge in document["judges"]}
    assert list(found) == [RULES, RULES_KEPT, "말씨-판정"]
    # P-1: both keep; P-2: M-1 touches a forbidden topic; P-3: M-2 is polite where the card is not.
    assert (found[RULES]["votes"], found[RULES]["accuracy"]["value"]) == (6, 1.0)
    assert found[RULES_KEPT]["draw_rate"]["value"] == pytest.approx(1 / 3)
    assert (found["말씨-판정"]["votes"], found["말씨-판정"]["accuracy"]["value"]) == (2, 1.0)


def test_the_rules_are_stable_and_another_judge_is_not(voted: Ran) -> None:
    with voted.house.warehouse() as connection:
        document = evaluations.read(connection, "vote_agreement")
    assert document is not None
    spread = {entry["judge"]: entry["largest_spread"] for entry in document["stability"]}
    assert spread == {RULES: 0.0, RULES_KEPT: None, "말씨-판정": 1.0}


def test_annotators_are_compared(voted: Ran) -> None:
    metadata = voted.metadata("vote_agreement", "evaluations")
    assert (metadata["annotators"], metadata["alpha"]) == (2, 1.0)
    assert "| 가람 | 나래 | 3 | 3 |" in metadata["pairs"]
    assert "| 말씨-판정 | 2 |" in metadata["judges"]
    assert "| 말씨-판정 | 2 | not defined | not defined | not defined | not defined |" in metadata["ranks"]


def test_without_votes_it_says_nothing(ran: Ran) -> None:
    metadata = ran.metadata("vote_agreement", "evaluations")
    assert metadata["votes"] == 0
    assert "alpha" not in metadata


def test_rows_on_turns_that_are_not_known_are_told(voted: Ran) -> None:
    with voted.house.warehouse() as connection:
        document = evaluations.read(connection, "vote_agreement")
    assert document is not None
    assert document["unplaced"] == [
        {
            "judge": "말씨-판정",
            "unknown": 14,
            "unknown_turns": [f"T-90{n}" for n in range(5)],
            "without_prompt": 1,
            "turns_without_prompt": ["T-2"],
        }
    ]
    told = voted.metadata("vote_agreement", "evaluations")["unplaced"]
    assert "14 rows on turns that the log does not have, such as T-900, T-901" in told
    assert "1 row on turns without a prompt" in told
