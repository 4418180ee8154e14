"""Builders of the tables that the evaluations read."""

from collections.abc import Sequence

import pyarrow as pa

from wh_judge.model import GOLD_SCHEMA

KEPT, SPEECH, NAME, TOPIC, RECALL = (
    "설정대로 말함",
    "말투 어긋남",
    "세계관 밖 고유명사",
    "금지 소재 접촉",
    "앞 회차를 기억 못 함",
)

Answer = tuple[str, str | None, str, str | None]
"""turn_id, prompt_id, model_id and verdict; None where the turn was not judged."""


def text_table(*names: str, rows: Sequence[tuple[str | None, ...]]) -> pa.Table:
    """A table of text columns, typed even where it has no row."""
    return pa.table({name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate(names)})


def gold_table(labels: dict[str, str], notes: dict[str, str] | None = None) -> pa.Table:
    """Labels by turn_id."""
    rows = [(turn_id, label, (notes or {}).get(turn_id)) for turn_id, label in labels.items()]
    return text_table("turn_id", "verdict", "note", rows=rows).cast(GOLD_SCHEMA)


def verdict_table(verdicts: dict[str, str]) -> pa.Table:
    """Verdicts by turn_id, with a character, a model and a summary that name the turn."""
    rows = [(turn_id, f"C of {turn_id}", f"M of {turn_id}", v, f"S of {turn_id}") for turn_id, v in verdicts.items()]
    return text_table("turn_id", "character_id", "model_id", "verdict", "summary", rows=rows)


def unjudged_table(*turn_ids: str) -> pa.Table:
    """Turns that could not be judged."""
    return text_table("turn_id", "reason", rows=[(turn_id, "no card") for turn_id in turn_ids])


def answer_tables(answers: list[Answer]) -> tuple[pa.Table, pa.Table]:
    """The turns and the verdicts of some answers."""
    turns = text_table("turn_id", "prompt_id", "model_id", rows=[answer[:3] for answer in answers])
    judged = [(turn_id, verdict) for turn_id, _, _, verdict in answers if verdict is not None]
    return turns, text_table("turn_id", "verdict", rows=judged)


def prompts_answered(models: list[str], patterns: dict[str, int]) -> tuple[pa.Table, pa.Table]:
    """Turns and verdicts: for a pattern such as `"10"` so many prompts on which the models with a 1 diverge."""
    answers: list[Answer] = []
    for pattern, prompts in patterns.items():
        for prompt in range(prompts):
            for model, mark in zip(models, pattern, strict=True):
                verdict = SPEECH if mark == "1" else KEPT
                answers.append((f"T-{len(answers)}", f"{pattern}/{prompt}", model, verdict))
    return answer_tables(answers)
