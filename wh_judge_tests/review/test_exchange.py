"""Tasks out, decisions in: ids survive, and what is skipped is no decision."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from wh_judge.errors import UserError
from wh_judge.review.decisions import Draft
from wh_judge.review.exchange import SUFFIXES, label_studio_config, read_drafts, rows_of, write_tasks
from wh_judge.review.queues import Task

HOSTILE = '=HYPERLINK("http://a"), "그래요"\n다음 줄; <b>|'

HIT = Task(
    "2026-W36/forbidden/T-7",
    "forbidden",
    "hit",
    ("harmful", "harmless"),
    "T-7",
    "C-1",
    None,
    "선거",
    "현실 정치",
    {"reply_text": HOSTILE, "user_message": None},
)
NAME = Task(
    "2026-W36/names/C-1/@리안",
    "names",
    "name",
    ("add", "block"),
    None,
    "C-1",
    "@리안",
    None,
    None,
    {"count": 3, "turns": [{"turn_id": "T-8", "reply_text": HOSTILE}], "closest": []},
)
SPEECH = Task(
    "2026-W36/speech/-T 9",
    "speech",
    "speech",
    ("반말", "존댓말", "섞임"),
    "-T 9",
    "C-1",
    None,
    None,
    None,
    {"reply_text": "'가요~", "polite": 1, "sentences": 2},
)
TASKS = [HIT, NAME, SPEECH]


def answered(path: Path, answers: dict[str, dict[str, Any]]) -> Path:
    """The file, with answers filled in by task."""
    suffix = path.suffix
    if suffix == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            row.update(answers.get(row["task_id"].lstrip("'"), {}))
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    elif suffix == ".jsonl":
        documents = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        path.write_text("\n".join(json.dumps(row | answers.get(row["task_id"], {})) for row in documents), "utf-8")
    else:
        tasks = json.loads(path.read_text("utf-8"))
        for number, task in enumerate(tasks, start=1):
            answer = answers.get(task["data"]["task_id"])
            task |= {"id": number, "annotations": [annotation(**answer)] if answer else []}
        path.write_text(json.dumps(tasks), "utf-8")
    return path


def annotation(choice: str = "", by: Any = "jieun@example.org", **more: Any) -> dict[str, Any]:
    """An annotation as Label Studio exports it."""
    results = [{"from_name": "choice", "to_name": "shown", "type": "choices", "value": {"choices": [choice]}}]
    results = results if choice else []
    for name in ("why", "ending"):
        if more.get(name):
            results.append({"from_name": name, "to_name": "shown", "type": "textarea", "value": {"text": [more[name]]}})
    return {
        "id": 7,
        "completed_by": {"id": 1, "email": by} if isinstance(by, str) else by,
        "result": results,
        "was_cancelled": more.get("was_cancelled", False),
    }


ANSWERS = {
    HIT.task_id: {"choice": "harmless", "by": "지은", "why": "행사 이름"},
    NAME.task_id: {"choice": "add", "by": "지은"},
    SPEECH.task_id: {"choice": "섞임", "by": "민호", "ending": "가용"},
}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_ids_survive_the_round_trip(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"tasks{suffix}"
    write_tasks(TASKS, path)
    drafts = read_drafts(answered(path, ANSWERS))
    assert [draft.model_dump(exclude_defaults=True) for draft in drafts] == [
        {
            "kind": "hit",
            "choice": "harmless",
            "by": "지은",
            "why": "행사 이름",
            "turn_id": "T-7",
            "character_id": "C-1",
            "term": "선거",
            "topic": "현실 정치",
        },
        {"kind": "name", "choice": "add", "by": "지은", "character_id": "C-1", "name": "@리안"},
        {"kind": "speech", "choice": "섞임", "by": "민호", "turn_id": "-T 9", "character_id": "C-1"},
        {"kind": "ending", "choice": "add", "by": "민호", "turn_id": "-T 9", "ending": "가용"},
    ]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_nobody_answered_is_no_decision(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"tasks{suffix}"
    write_tasks(TASKS, path)
    assert read_drafts(answered(path, {}), by="지은") == []


@pytest.mark.parametrize("more", [{"was_cancelled": True, "choice": "add"}, {"choice": ""}])
def test_what_was_cancelled_or_skipped_is_no_decision(tmp_path: Path, more: dict[str, Any]) -> None:
    path = tmp_path / "tasks.json"
    write_tasks(TASKS, path)
    assert read_drafts(answered(path, {NAME.task_id: more})) == []


def test_two_annotators_are_two_people(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    write_tasks([SPEECH], path)
    [task] = json.loads(path.read_text("utf-8"))
    task["annotations"] = [annotation("반말"), annotation("존댓말", by=12)]
    path.write_text(json.dumps([task]), "utf-8")
    assert [(draft.choice, draft.by) for draft in read_drafts(path)] == [
        ("반말", "jieun@example.org"),
        ("존댓말", "annotator 12"),
    ]


def test_who_decided_can_be_given_where_the_file_does_not_say(tmp_path: Path) -> None:
    path = tmp_path / "tasks.csv"
    write_tasks([NAME], path)
    answered(path, {NAME.task_id: {"choice": "block"}})
    assert [draft.by for draft in read_drafts(path, by="민호")] == ["민호"]
    with pytest.raises(UserError, match=r"tasks.csv:2: does not say who decided; fill in the column by, or give --by"):
        read_drafts(path)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_one_bad_row_and_nothing_is_taken(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"tasks{suffix}"
    write_tasks(TASKS, path)
    answered(path, ANSWERS | {SPEECH.task_id: {"choice": "화남", "by": "지은"}})
    with pytest.raises(UserError, match="is no decision: choice of speech is none of"):
        read_drafts(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").write_text('{"task_id": 1}\n{broken\n')
    with pytest.raises(UserError, match=r"tasks.jsonl:2: is no JSON"):
        read_drafts(tmp_path / "tasks.jsonl")
    with pytest.raises(UserError, match=r"is none of .csv, .jsonl, .json"):
        read_drafts(tmp_path / "tasks.xlsx")
    with pytest.raises(UserError, match=r"write to a name that ends in"):
        write_tasks(TASKS, tmp_path / "tasks.xlsx")


def test_no_cell_of_the_table_is_a_formula(tmp_path: Path) -> None:
    write_tasks(TASKS, tmp_path / "tasks.csv")
    with (tmp_path / "tasks.csv").open(encoding="utf-8-sig", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if cell[:1] in "=+-@" and cell]
    assert f"'{HOSTILE}" in cells and "'@리안" in cells and "'가요~" in cells


def test_label_studio_is_given_texts_and_a_configuration(tmp_path: Path) -> None:
    write_tasks(TASKS, tmp_path / "tasks.json")
    for task in json.loads((tmp_path / "tasks.json").read_text("utf-8")):
        assert all(isinstance(cell, str) for cell in task["data"].values()) and task["data"]["shown"]
    config = ElementTree.fromstring((tmp_path / "tasks.xml").read_text("utf-8"))
    choices = [choice.get("value") for choice in config.iter("Choice")]
    assert choices == ["harmful", "harmless", "add", "block", "반말", "존댓말", "섞임"]
    assert {tag.get("toName") for tag in config.iter() if tag.get("toName")} == {"shown"}


def test_a_choice_with_marks_is_escaped() -> None:
    ElementTree.fromstring(label_studio_config([replace(NAME, choices=('<"a"&>',))]))


def test_a_row_says_what_can_be_chosen() -> None:
    [row] = rows_of([NAME])
    assert (row["choices"], row["choice"], row["count"]) == ("add / block", None, 3)
    assert isinstance(
        Draft.model_validate({"kind": row["kind"], "choice": "add", "by": "a", "character_id": "C", "name": "N"}), Draft
    )
