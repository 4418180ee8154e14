"""Tasks out, as CSV, JSONL and for Label Studio; `intake` takes decisions back in.

A task carries all that a decision on it needs, so that its ids survive any tool that gives its fields back.
"""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wh_judge.errors import UserError
from wh_judge.outputs import write_text
from wh_judge.review.decisions import CHOICES as CODES
from wh_judge.review.korean import CHOICES, offered
from wh_judge.review.queues import KINDS, Queue, Task
from wh_judge.spreadsheet import written
from wh_judge.text import quoted

KEYS = ("task_id", "queue", "kind", "turn_id", "character_id", "name", "term", "topic")
"""What comes back as it went out."""

ANSWERS = ("choice", "by", "why", "ending", "instead")
"""What people fill in; `ending` is one that a reply that mixes speech levels makes them want to add, `instead` the name
of the card that a mistake stands for."""

SUFFIXES = (".csv", ".jsonl", ".json")
"""By name: a table, an object a line, and tasks for Label Studio."""

CONFIG = ".xml"
"""The suffix of the labelling configuration of Label Studio."""

TEXTS: Mapping[Queue, Mapping[str, str]] = {
    "forbidden": {"evidence": "근거", "card": "카드", "message": "유저의 말", "reply": "답장"},
    "names": {"evidence": "근거", "card": "카드", "turns": "나온 회차"},
    "speech": {"evidence": "근거", "card": "카드", "message": "유저의 말", "reply": "답장"},
}
"""The texts of a task that Label Studio shows, with their headings."""

ASKED: Mapping[Queue, Mapping[str, str]] = {
    "forbidden": {"why": "까닭"},
    "names": {"why": "까닭", "instead": "새 인물이 아니면, 카드의 어느 이름인가요"},
    "speech": {"why": "까닭", "ending": "빠진 어미"},
}
"""What Label Studio asks for in words, beside the choice."""


def rows_of(tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """Tasks as flat rows: keys, choices, what a person needs, and empty cells for the answer."""
    rows = []
    for task in tasks:
        row: dict[str, Any] = {name: getattr(task, name) for name in KEYS}
        row["choices"] = offered(task.choices)
        rows.append(row | task.data | {"decided": task.decided} | dict.fromkeys(ANSWERS))
    return rows


def write_tasks(queue: Queue, tasks: Sequence[Task], path: Path) -> None:
    """Write the tasks of a queue, by suffix; for Label Studio its labelling configuration beside them, as .xml.

    Raises:
        UserError: the suffix is none of these, or the file cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UserError(f"{path}: write to a name that ends in {', '.join(SUFFIXES)} (Label Studio)")
    write_text(tasks_file(queue, tasks, suffix).decode(), path)
    if suffix == ".json":
        write_text(tasks_file(queue, tasks, CONFIG).decode(), path.with_suffix(CONFIG))


def tasks_file(queue: Queue, tasks: Sequence[Task], suffix: str) -> bytes:
    """Tasks as a file of one of `SUFFIXES`, or the labelling configuration for them."""
    if suffix == ".csv":
        # With a byte order mark, so that spreadsheets read the Hangul.
        return _csv(rows_of(tasks)).encode("utf-8-sig")
    if suffix == ".jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows_of(tasks)).encode()
    if suffix == CONFIG:
        return label_studio_config(queue).encode()
    return json.dumps([label_studio_task(task) for task in tasks], ensure_ascii=False, indent=1).encode()


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row)) or [*KEYS, *ANSWERS]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([written(row.get(column)) for column in columns])
    return text.getvalue()


def label_studio_task(task: Task) -> dict[str, Any]:
    """A task as Label Studio imports it: its keys, and texts that people read."""
    keys = {name: getattr(task, name) for name in KEYS}
    return {"data": {name: cell for name, cell in keys.items() if cell is not None} | _texts(task)}


def _texts(task: Task) -> dict[str, str]:
    data = task.data
    texts = {"evidence": _evidence(task), "card": f"{data['character_name'] or task.character_id} · {data['card']}"}
    if task.queue == "names":
        return texts | {"turns": "\n\n".join(f"{turn['turn_id']}\n{_said(turn)}" for turn in data["turns"])}
    return texts | {"message": data["user_message"] or MISSING, "reply": data["reply_text"] or MISSING}


MISSING = "(없음)"


def _said(turn: Mapping[str, Any]) -> str:
    return f"유저: {turn['user_message'] or MISSING}\n답장: {turn['reply_text'] or MISSING}"


def _evidence(task: Task) -> str:
    """What makes the task one, in words."""
    data, lines = task.data, [] if task.turn_id is None else [f"회차 {task.turn_id}"]
    if task.queue == "names":
        lines.append(f"카드에 없는 이름 {quoted(task.name or '')}, {data['count']}회차에 나옵니다.")
        lines += [f"카드의 가까운 이름 {quoted(close['name'])}: {close['why']}." for close in data["closest"]]
    elif task.queue == "forbidden":
        lines.append(f"사전의 말 {quoted(task.term or '')}, 카드가 막은 소재 {quoted(task.topic or '')}")
    else:
        lines.append(f"{data['sentences']}문장 가운데 {data['polite']}문장이 존댓말: {data['polite_sentences']}")
    return "\n".join([*lines, *([f"지금 결정: {CHOICES.get(task.decided, task.decided)}"] if task.decided else [])])


def label_studio_config(queue: Queue) -> str:
    """The labelling configuration for the tasks of a queue."""
    texts = (
        f'  <Header value="{heading}"/>\n  <Text name="{name}" value="${name}"/>'
        for name, heading in TEXTS[queue].items()
    )
    choices = (f'    <Choice value="{CHOICES.get(code, code)}"/>' for code in CODES[KINDS[queue]])
    asked = (
        f'  <TextArea name="{name}" toName="evidence" placeholder="{words}" maxSubmissions="1"/>'
        for name, words in ASKED[queue].items()
    )
    lines = [
        *("<View>", *texts, '  <Choices name="choice" toName="evidence" choice="single">', *choices, "  </Choices>"),
        *(*asked, "</View>", ""),
    ]
    return "\n".join(lines)
