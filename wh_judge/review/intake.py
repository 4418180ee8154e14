"""Decisions back in, from CSV, JSONL and Label Studio's exports. What is skipped or cancelled is no decision."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator

from wh_judge.errors import UserError
from wh_judge.readers import read_records
from wh_judge.readers.records import Columns
from wh_judge.review.book import reason
from wh_judge.review.decisions import Draft
from wh_judge.review.exchange import ANSWERS, KEYS, SUFFIXES
from wh_judge.review.known import Given
from wh_judge.review.korean import chosen
from wh_judge.review.queues import KINDS
from wh_judge.spreadsheet import told
from wh_judge.text import nfc_inside, quoted


def read_drafts(path: Path, by: str | None = None) -> list[Given]:
    """The decisions in a file of tasks that people worked on, with file and line; rows without a choice are none.

    Args:
        path: CSV, JSONL, or an export of Label Studio as JSON.
        by: who decided, where the file does not say it.

    Raises:
        UserError: a row cannot be read or is no decision; then none is taken.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(f"{path}: is none of {', '.join(SUFFIXES)}; rename it or convert it")
    suffix = path.suffix.lower()
    drafts: list[Given] = []
    answered: dict[tuple[str, ...], Given] = {}
    columns = Columns(frozenset({"kind", "choice"}), frozenset(), frozenset(), frozenset())
    for record in read_records(path, columns):
        where = f"{path}:{record.line}" if record.line else str(path)
        if record.value is None:
            raise UserError(f"{where}: {record.reason}")
        try:
            for row in _answers(record.value, suffix):
                for draft in _drafts(row, by):
                    _check_once(draft, answered.setdefault((draft.by, *draft.subject), Given(draft, where)))
                    drafts.append(Given(draft, where))
        except ValueError as error:
            raise UserError(f"{where}: is no decision: {reason(error)}") from None
    return drafts


def _check_once(draft: Draft, first: Given) -> None:
    """One person gives one answer: which of two rows of a file is meant, nobody can tell."""
    if (draft.choice, draft.instead) != (first.draft.choice, first.draft.instead):
        there = f"{quoted(first.draft.choice)} in {first.where}"
        raise ValueError(f"{quoted(draft.by)} answers the same task twice, {there} too; leave one")


class _Value(BaseModel):
    choices: list[str] = []
    text: Annotated[list[str], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)] = []


class _Result(BaseModel):
    from_name: str = ""
    value: _Value = _Value()


class _Annotation(BaseModel):
    was_cancelled: bool | None = None
    completed_by: Any = None
    result: list[_Result] | None = None


class _Annotated(BaseModel):
    """A task as Label Studio exports it; there is much more in it."""

    data: dict[str, Any]
    annotations: list[_Annotation] | None = None


def _answers(value: dict[str, Any], suffix: str) -> Iterator[dict[str, Any]]:
    """The answers in one record: one, or for Label Studio one per annotation.

    Raises:
        ValueError: the record is none that went out.
    """
    try:
        value, _ = nfc_inside(value)
    except UnicodeEncodeError:
        raise ValueError("it holds half of a surrogate pair, which is no text") from None
    keys, task = value, None
    if suffix == ".json" and "data" in value:
        task = _Annotated.model_validate(value)
        keys = task.data
    elif suffix == ".csv":
        keys = {name: told(cell) for name, cell in value.items()}
    if "kind" not in keys:
        raise ValueError("it has no kind, so that it is no task; give back the file that wh-judge review queue wrote")
    if task is None:
        # Label Studio names the annotator so where it exports flat rows.
        yield keys | {"by": keys.get("by") or _annotator(keys.get("annotator"))}
        return
    for annotation in task.annotations or []:
        if not annotation.was_cancelled:
            given = {name: keys.get(name) for name in KEYS} | {"by": _annotator(annotation.completed_by)}
            yield given | dict(_given(annotation))


def _given(annotation: _Annotation) -> Iterator[tuple[str, str]]:
    found: dict[str, list[str]] = {}
    for result in annotation.result or []:
        if result.from_name in ANSWERS:
            found.setdefault(result.from_name, []).extend(result.value.choices or result.value.text)
    for name, texts in found.items():
        if len(texts) > 1:
            raise ValueError(f"{name} has several answers, {quoted(' / '.join(texts))}; leave one")
        if texts:
            yield name, texts[0]


def _annotator(completed_by: Any) -> str | None:
    if isinstance(completed_by, dict):
        return str(completed_by.get("email") or f"annotator {completed_by.get('id')}")
    if isinstance(completed_by, str) and "@" in completed_by:
        return completed_by
    return None if completed_by in (None, "") else f"annotator {completed_by}"


def _drafts(row: Mapping[str, Any], by: str | None) -> Iterator[Draft]:
    choice, ending = row.get("choice"), row.get("ending")
    if not choice and not ending:
        return
    who = row.get("by") or by
    if not who:
        raise ValueError("it does not say who decided; fill in the column by, or give --by")
    _check_keys(row)
    common = {"by": who, "why": row.get("why") or None}
    if choice:
        keys = {name: row.get(name) or None for name in ("turn_id", "character_id", "name", "term", "topic")}
        given = {"kind": row.get("kind"), "choice": chosen(choice), "instead": _instead(row.get("instead"))}
        yield Draft.model_validate(given | keys | common)
    if ending:
        yield Draft.model_validate(
            {"kind": "ending", "choice": "add", "ending": ending, "turn_id": row.get("turn_id")} | common
        )


def _instead(cell: Any) -> Any:
    """What takes the place, one a line where it is a text."""
    return [line for line in cell.splitlines() if line.strip()] if isinstance(cell, str) else cell or ()


def _check_keys(row: Mapping[str, Any]) -> None:
    """A spreadsheet makes 1 of 001 and a date of 1-2: what a task is about must still be what its id says."""
    task_id, about = row.get("task_id"), ("character_id", "name") if row.get("kind") == "name" else ("turn_id",)
    if not task_id:
        return
    cells = [str(row.get(name)) for name in about]
    if not str(task_id).endswith("/".join(["", str(row.get("queue")), *cells])):
        found = ", ".join(f"{name} {quoted(cell)}" for name, cell in zip(about, cells, strict=True))
        raise ValueError(f"task_id {quoted(str(task_id))} is not about {found}; give these cells back as they went out")
    if KINDS.get(str(row.get("queue"))) != row.get("kind"):
        kind = f"kind {quoted(str(row.get('kind')))}"
        raise ValueError(f"task_id {quoted(str(task_id))} is not about {kind}; give these cells back as they went out")
