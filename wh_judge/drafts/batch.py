"""Requests and answers as lines of a file, in the form of OpenAI's batches, which other tools take and give, too."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from wh_judge import strict_json
from wh_judge.drafts.cache import Answer
from wh_judge.drafts.completion import read_completion
from wh_judge.drafts.prompt import Request
from wh_judge.errors import UserError, first_fault
from wh_judge.readers.records import Record
from wh_judge.validations.validation import named, shown


def batch_line(turn_id: str, request: Request) -> dict[str, Any]:
    """A request as a line of a batch."""
    return {"custom_id": turn_id, "method": "POST", "url": "/v1/chat/completions", "body": request.body()}


def is_batch(row: Mapping[str, Any]) -> bool:
    """Whether a row is a line of what a batch gives back: a `custom_id`, and a `response` or why there is none."""
    return "custom_id" in row and ("response" in row or "error" in row)


def turns_asked(records: Iterable[tuple[str, Record]]) -> list[str]:
    """The turns of a batch of requests, each once, in their order.

    Args:
        records: the file's name and the record, as `wh_judge.files.read_claims` gives them.

    Raises:
        UserError: a record is no request.
    """
    turns: dict[str, None] = {}
    for file, record in records:
        turn = named((record.value or {}).get("custom_id"))
        if turn is None or "body" not in (record.value or {}):
            where = file if record.line is None else f"{file}:{record.line}"
            reason = record.reason or "is no request"
            raise UserError(f"{where}: {reason}; name a file that wh-judge draft --requests wrote")
        turns[turn] = None
    return list(turns)


def read_answer(row: Mapping[str, Any]) -> Answer:
    """The answer in such a line."""
    response = row.get("response")
    body = response.get("body") if isinstance(response, dict) else None
    try:
        return read_completion(body)
    except ValidationError as error:
        told = row.get("error") or (body.get("error") if isinstance(body, dict) else None)
        reason = f"the answer is no chat completion: {first_fault(error)}"
        return Answer(None, ("no_answer", f"the batch has no answer: {_error(told)}" if told else reason))


def _error(told: Any) -> str:
    """What a batch says of an error, bounded: its code and message where it has them."""
    parts = {name: told.get(name) for name in ("code", "message")} if isinstance(told, dict) else {}
    return ", ".join(f"{name} {shown(part)}" for name, part in parts.items() if part is not None) or shown(told)


def opened(record: Record) -> Record:
    """A record with the model's response in the place of such a line; any other record as it is."""
    if record.value is None or not is_batch(record.value):
        return record
    answer = read_answer(record.value)
    if answer.raw is None:
        return Record(record.line, None, answer.failure[1] if answer.failure else None)
    try:
        claim = strict_json.decode(answer.raw)
    except ValueError as error:
        return Record(record.line, None, f"the response is no JSON: {strict_json.reason(error)}", answer.raw)
    if not isinstance(claim, dict):
        return Record(record.line, None, "the response is no object", answer.raw)
    return record._replace(value=claim)
