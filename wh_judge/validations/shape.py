"""Validations of a claim's shape: the verdict's value, the required cells, the output schema."""

from collections.abc import Mapping
from typing import Any, NotRequired, get_type_hints

from pydantic import BaseModel, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from wh_judge.model import VERDICTS, Evidence, Verdict
from wh_judge.validations.subject import Subject
from wh_judge.validations.validation import PASSED, Reasons, Validation, differs, shown

REQUIRED = ("turn_id", "session_id", "character_id", "model_id", "verdict", "evidence", "summary")
KEYS = ("session_id", "character_id", "model_id")

_NULLABLE = {"agg"} | {name for name, cell in Verdict.model_fields.items() if not cell.is_required()}
_WANTED = {"string_type": "a text", "list_type": "a list", "dict_type": "an object"}


def _document(model: type[BaseModel], **instead: Any) -> Any:
    """The type of a model's documents. To hold a dict against it makes no objects, and takes half the time."""
    kinds = get_type_hints(model, include_extras=True) | instead
    fields = {name: cell for name, cell in model.model_fields.items() if not cell.exclude}
    return TypedDict(  # type: ignore[operator]
        model.__name__,
        {name: kinds[name] if cell.is_required() else NotRequired[kinds[name]] for name, cell in fields.items()},
    )


_validate = TypeAdapter(_document(Verdict, evidence=list[_document(Evidence)])).validator.validate_python  # type: ignore[misc]


def verdict_value(subject: Subject) -> Reasons:
    """The verdict is one of the five. Always applies: a missing or malformed verdict is none of them."""
    verdict = subject.claim.get("verdict")
    if verdict in VERDICTS:
        return PASSED
    return [f"verdict: expected one of {' / '.join(VERDICTS)}, found {shown(verdict)}"]


def required_filled(subject: Subject) -> Reasons:
    """The seven are filled: present, not null, not blank, and no empty list or object. Always applies.

    A cell of a wrong type is filled; the schema names it.
    """
    claim = subject.claim
    empty = [name for name in REQUIRED if not _is_filled(claim.get(name))]
    return [f"{name}: expected a filled cell, found {_emptiness(claim, name)}" for name in empty] if empty else PASSED


def _is_filled(value: Any) -> bool:
    if isinstance(value, str):
        return value != "" and not value.isspace()
    return value is not None and value != [] and value != {}


def _emptiness(claim: dict[str, Any], name: str) -> str:
    if name not in claim:
        return "none"
    return "white space" if isinstance(claim[name], str) and claim[name] else shown(claim[name])


def fits_schema(subject: Subject) -> Reasons:
    """The claim fits the output schema, and its keys are those of one turn of the log. Always applies.

    Fails also where the log has no such turn, where an earlier row is about the same turn, and where session_id,
    character_id or model_id are not the turn's.
    """
    if not isinstance(subject.given, Mapping):
        return [f"the row: expected an object, found {shown(subject.given)}"]
    reasons: list[str] = []
    try:
        _validate(subject.claim, strict=True)
    except ValidationError as error:
        reasons += _problems(error, subject.claim)
    if subject.first_row != subject.row:
        reasons.append(f"turn_id: expected one row for each turn, found it in row {subject.first_row} already")
    turn = subject.turn
    if turn is None:
        if isinstance(subject.turn_id, str):
            reasons.append(f"turn_id: expected a turn of the log, found {shown(subject.turn_id)}")
        return reasons or PASSED
    for name in KEYS:
        found, expected = subject.claim.get(name), getattr(turn, name)
        # Of another type it is named above.
        if found != expected and isinstance(found, str):
            reasons.append(differs(name, expected, found))
    return reasons or PASSED


def _problems(error: ValidationError, claim: dict[str, Any]) -> list[str]:
    """One reason per cell that does not fit, whatever alternatives the model tried for it."""
    problems: dict[str, str] = {}
    for problem in error.errors(include_url=False, include_context=False, include_input=False):
        place = problem["loc"][:3]
        path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)[1:]
        if problem["type"] == "missing":
            problems[path] = f"{path}: expected a cell, found none"
            continue
        cell: Any = claim
        for step in place:
            cell = cell[step]
        wanted = _WANTED.get(problem["type"], problem["msg"].removeprefix("Input should be "))
        if place[-1] == "value":
            wanted = "a text, a finite number, true, false or null"
        elif place[-1] in _NULLABLE:
            wanted += " or null"
        problems[path] = f"{path}: expected {wanted}, found {shown(cell)}"
    return list(problems.values())


VERDICT_VALUE = Validation(
    number=1,
    code="v01_verdict_value",
    title="verdict 가 다섯 값 가운데 하나",
    description="The verdict is one of the five values.",
    judge=verdict_value,
    model_output=True,
)
REQUIRED_FILLED = Validation(
    number=2,
    code="v02_required_filled",
    title="turn_id·session_id·character_id·model_id·verdict·evidence·summary 일곱 칸이 모두 차 있음",
    description="The seven required cells are there, not null and not blank; the evidence has at least one row.",
    judge=required_filled,
    model_output=True,
)
SCHEMA = Validation(
    number=None,
    code="verdict_schema",
    title="출력 스키마",
    description="The row fits the output schema and is the only one about its turn, which the log has, with the same "
    "session, character and model.",
    judge=fits_schema,
)
