"""The rows: votes between two replies, what a model supports, and the scores of other judges."""

from typing import Annotated, Any, Literal, get_args

import pyarrow as pa
from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from wh_judge.model import Instant, Key, Label, Row, VerdictValue

WinnerValue = Literal["model_a", "model_b", "tie", "both_bad"]
Side = Literal["model_a", "model_b"]
WINNERS: tuple[WinnerValue, ...] = get_args(WinnerValue)

SUPPORT_SOURCE = "capability_support"
"""The source of votes that nobody cast: they follow from what the models support."""
SYNTHETIC_SOURCE = "synthetic"
"""The source of votes that were drawn by a program from stated strengths."""

RULES, RULES_KEPT = "rules", "rules, kept or not"
"""The judge of this program by its scores, and by its verdicts alone, which is how verdicts from elsewhere are read."""

SPELLINGS = {"tie (bothbad)": "both_bad"}
"""LMArena's older word for both bad."""


def _spelled(value: Any) -> Any:
    return SPELLINGS.get(value, value) if isinstance(value, str) else value


Winner = Annotated[WinnerValue, BeforeValidator(_spelled)]
"""In LMArena's words. Anything else is an error, never a tie."""


class Vote(Row):
    """One comparison of two models' replies to one prompt."""

    vote_id: Key = Field(description="Identifies the vote")
    case_id: Label = Field(None, description="The prompt that both replies answer: a prompt_id of the log")
    model_a: Key = Field(description="One of the two models")
    model_b: Key = Field(description="The other one")
    winner: Winner = Field(description="model_a, model_b, tie or both_bad")
    annotator: Label = Field(None, description="Who voted")
    source: Key = Field(description="Where the vote comes from; capability_support and synthetic are not people")
    shown_left: Side | None = Field(None, description="Which of the two was shown on the left; null where not known")
    voted_at: Instant | None = Field(None, description="When the vote was given")

    @field_validator("source")
    @classmethod
    def _somebody(cls, value: str) -> str:
        if value == SUPPORT_SOURCE:
            raise ValueError("is the source of comparisons that nobody cast; give what models support as input support")
        return value

    @field_validator("model_b")
    @classmethod
    def _another(cls, value: str, info: ValidationInfo) -> str:
        if value == info.data.get("model_a"):
            raise ValueError("is model_a, too; a model is not compared with itself")
        return value


class CapabilitySupport(Row):
    """Whether a model can do what a case asks at all, such as to read a history of that length."""

    case_id: Key = Field(description="The prompt")
    model_id: Key = Field(description="The model")
    supported: bool = Field(description="Whether it can do what the case asks")
    reason: Label = Field(None, description="Why not")


class JudgeScore(Row):
    """What another judge says of a turn, in one of its runs."""

    judge: Key = Field(description="The judge's name")
    run: Key = Field("1", description="Which of its runs")
    turn_id: Key = Field(description="The judged turn")
    verdict: VerdictValue | None = Field(None, description="Its verdict")
    score: float | None = Field(
        None, ge=0, le=1, description="Its score from 0 to 1; null counts 설정대로 말함 as 1 and the others as 0"
    )

    @field_validator("judge")
    @classmethod
    def _another(cls, value: str) -> str:
        if value in (RULES, RULES_KEPT):
            raise ValueError("is this program's own judge; give the other one another name")
        return value

    @model_validator(mode="after")
    def _says_something(self) -> "JudgeScore":
        if self.verdict is None and self.score is None:
            raise ValueError("has neither verdict nor score")
        return self


_TEXT = pa.string()


def _text(*names: str) -> list[pa.Field]:
    return [pa.field(name, _TEXT, nullable=False) for name in names]


VOTE_SCHEMA = pa.schema(
    [
        *_text("vote_id"),
        ("case_id", _TEXT),
        *_text("model_a", "model_b", "winner"),
        ("annotator", _TEXT),
        *_text("source"),
        ("shown_left", _TEXT),
        ("voted_at", pa.timestamp("us", "UTC")),
    ]
)
SUPPORT_SCHEMA = pa.schema(
    [*_text("case_id", "model_id"), pa.field("supported", pa.bool_(), nullable=False), ("reason", _TEXT)]
)
JUDGE_SCORE_SCHEMA = pa.schema([*_text("judge", "run", "turn_id"), ("verdict", _TEXT), ("score", pa.float64())])


def votes_from(table: pa.Table) -> list[Vote]:
    """The rows of a table in VOTE_SCHEMA; they were validated when they were read."""
    return [Vote.model_construct(**row) for row in table.to_pylist()]
