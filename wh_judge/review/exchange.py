"""Tasks out, as CSV, JSONL and for Label Studio; `intake` takes decisions back in.

A task carries all that a decision on it needs, so that its ids survive any tool that gives its fields back.
"""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from wh_judge.errors import UserError
from wh_judge.review.queues import Task
from wh_judge.spreadsheet import written

KEYS = ("task_id", "queue", "kind", "turn_id", "character_id", "name", "term", "topic")
"""What comes back as it went out."""

ANSWERS = ("choice", "by", "why", "ending")
"""What people fill in; `ending` is one that a reply that mixes speech levels makes them want to add."""

SUFFIXES = (".csv", ".jsonl", ".json")
"""By name: a table, an object a line, and tasks for Label Studio."""


def rows_of(tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """Tasks as flat rows: keys, choices, what a person needs, and empty cells for the answer."""
    rows = []
    for task in tasks:
        row: dict[str, Any] = {name: getattr(task, name) for name in KEYS}
        row["choices"] = " / ".join(task.choices)
        rows.append(row | task.data | {"decided": task.decided} | dict.fromkeys(ANSWERS))
    return rows


def write_tasks(tasks: Sequence[Task], path: Path) -> None:
    """Write tasks, by suffix; for Label Studio its labelling configuration beside them, as .xml.

    Raises:
        UserError: the suffix is none of these, or the file cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UserError(f"{path}: write to a name that ends in {', '.join(SUFFIXES)} (Label Studio)")
    try:
        path.write_bytes(tasks_file(tasks, suffix))
        if suffix == ".json":
            path.with_suffix(".xml").write_text(label_studio_config(tasks), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None


def tasks_file(tasks: Sequence[Task], suffix: str) -> bytes:
    """Tasks as a file of one of `SUFFIXES`."""
    if suffix == ".csv":
        # With a byte order mark, so that spreadsheets read the Hangul.
        return _csv(rows_of(tasks)).encode("utf-8-sig")
    if suffix == ".jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows_of(tasks)).encode()
    return json.dumps(label_studio_tasks(tasks), ensure_ascii=False, indent=1).encode()


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row)) or [*KEYS, *ANSWERS]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([written(row.get(column)) for column in columns])
    return text.getvalue()


def label_studio_tasks(tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """Tasks as Label Studio imports them; every cell is a text, since its tags show texts."""
    documents = []
    for row in rows_of(tasks):
        texts = {
            name: cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
            for name, cell in row.items()
            if cell is not None and name not in ANSWERS
        }
        documents.append({"data": texts | {"shown": _shown(row)}})
    return documents


def _shown(row: Mapping[str, Any]) -> str:
    """What a person reads, as one text."""
    hidden = {*KEYS, *ANSWERS, "choices", "decided"}
    lines = [f"{name}: {row[name]}" for name in ("name", "term", "topic", "turn_id") if row.get(name)]
    for name, cell in row.items():
        if name not in hidden and cell is not None:
            lines.append(f"{name}: {cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)}")
    return "\n".join(lines)


def label_studio_config(tasks: Sequence[Task]) -> str:
    """The labelling configuration for these tasks."""
    choices = list(dict.fromkeys(choice for task in tasks for choice in task.choices))
    lines = [f'    <Choice value="{escape(choice)}"/>' for choice in choices]
    return "\n".join(
        [
            "<View>",
            '  <Text name="shown" value="$shown"/>',
            '  <Choices name="choice" toName="shown" choice="single">',
            *lines,
            "  </Choices>",
            '  <TextArea name="why" toName="shown" placeholder="why" maxSubmissions="1"/>',
            '  <TextArea name="ending" toName="shown" placeholder="ending to add" maxSubmissions="1"/>',
            "</View>",
            "",
        ]
    )
