"""Writes data/sample/votes.jsonl: synthetic votes on the prompts that all three models of the sample answered."""

from pathlib import Path

from wh_judge.files import read_log_table
from wh_judge.outputs import write_documents
from wh_judge.votes.journal import document
from wh_judge.votes.synthetic import SAMPLE_ANNOTATORS, SAMPLE_SEED, SAMPLE_STRENGTHS, synthetic_votes

SAMPLE = Path(__file__).parents[1] / "data" / "sample"


def sample_cases() -> list[str]:
    """The prompts of the sample log, in order."""
    prompts = read_log_table(SAMPLE / "turns").rows["prompt_id"].to_pylist()
    return sorted({prompt for prompt in prompts if prompt is not None})


if __name__ == "__main__":
    votes = synthetic_votes(SAMPLE_STRENGTHS, sample_cases(), SAMPLE_ANNOTATORS, SAMPLE_SEED)
    write_documents(map(document, votes), SAMPLE / "votes.jsonl", [])
