"""What is a vote and what is none; the same for support and the scores of other judges."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from wh_judge.ingest import read_table
from wh_judge.inputs import TABLES
from wh_judge.votes.rows import RULES, RULES_KEPT, SUPPORT_SOURCE, WINNERS, CapabilitySupport, JudgeScore, Vote
from wh_judge_tests.input_files import write
from wh_judge_tests.votes import vote


@pytest.mark.parametrize("winner", WINNERS)
def test_a_winner_is_one_of_lmarena_s_words(winner: str) -> None:
    assert vote(winner=winner).winner == winner


def test_the_older_word_for_both_bad_means_the_same() -> None:
    assert vote(winner="tie (bothbad)").winner == "both_bad"


@pytest.mark.parametrize("winner", ["A", "draw", "Tie", "", None, "both bad", "model_c", 1])
def test_any_other_label_is_an_error_and_never_a_tie(winner: Any) -> None:
    with pytest.raises(ValidationError, match="winner"):
        vote(winner=winner)


def test_a_model_is_not_compared_with_itself() -> None:
    with pytest.raises(ValidationError, match="is model_a, too"):
        vote(model_b="M-1")


def test_nobody_casts_a_comparison_by_support() -> None:
    with pytest.raises(ValidationError, match="nobody cast"):
        vote(source=SUPPORT_SOURCE)


@pytest.mark.parametrize("judge", [RULES, RULES_KEPT])
def test_another_judge_is_not_called_like_this_program_s_own(judge: str) -> None:
    with pytest.raises(ValidationError, match="own judge"):
        JudgeScore(judge=judge, run="1", turn_id="T-1", verdict=None, score=1)


def test_a_vote_needs_only_its_id_models_winner_and_source() -> None:
    required = {name for name, field in Vote.model_fields.items() if field.is_required()}
    assert required == {"vote_id", "model_a", "model_b", "winner", "source"}


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"verdict": "말투 어긋남"}, True),
        ({"score": 0.5}, True),
        ({}, False),
        ({"score": 1.5}, False),
        ({"score": -1.0}, False),
    ],
)
def test_another_judge_says_a_verdict_or_a_score_from_0_to_1(cells: dict[str, Any], said: bool) -> None:
    row = {"judge": "J", "turn_id": "T-1"} | cells
    if said:
        assert JudgeScore.model_validate(row).run == "1"
    else:
        with pytest.raises(ValidationError):
            JudgeScore.model_validate(row)


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv", ".parquet"])
def test_every_file_type_gives_the_same_rows(suffix: str, tmp_path: Path) -> None:
    rows = {
        "vote": [vote().model_dump(mode="json"), vote("V-2", shown_left=None, annotator=None).model_dump(mode="json")],
        "capability_support": [{"case_id": "P-1", "model_id": "M-1", "supported": False, "reason": "문맥 짧음"}],
        "judge_score": [{"judge": "J", "run": "2", "turn_id": "T-1", "verdict": "말투 어긋남", "score": 0.25}],
    }
    models: dict[str, Any] = {"vote": Vote, "capability_support": CapabilitySupport, "judge_score": JudgeScore}
    for name, documents in rows.items():
        path = tmp_path / f"{name}{suffix}"
        write(path, documents)
        batch = read_table(path, TABLES[name])  # type: ignore[index]
        assert batch.problems == []
        assert [models[name].model_validate(row) for row in batch.rows.to_pylist()] == [
            models[name].model_validate(document) for document in documents
        ]


def test_a_bad_label_is_rejected_with_its_line_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    write(path, [vote().model_dump(mode="json"), vote("V-2").model_dump(mode="json") | {"winner": "draw"}])
    batch = read_table(path, TABLES["vote"])
    [problem] = batch.problems
    assert (batch.rows.num_rows, problem.line, problem.severity) == (1, 2, "rejected")
    assert problem.reason.startswith("winner is not 'model_a', 'model_b', 'tie' or 'both_bad'")
