"""Tasks out, decisions in: ids survive, and what is skipped is no decision."""

import csv
import io
import json
import re
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from wh_judge.errors import UserError
from wh_judge.review.decisions import CHOICES, Draft
from wh_judge.review.exchange import ASKED, SUFFIXES, label_studio_task, rows_of, write_tasks
from wh_judge.review.intake import read_drafts
from wh_judge.review.korean import chosen, offered
from wh_judge.review.queues import Task
from wh_judge_tests.review.build import disk_with_room_for

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
    {"character_name": "교관", "reply_text": HOSTILE, "user_message": None, "card": "말투: 반말"},
)
NAME = Task(
    "2026-W36/names/C-1/@리안",
    "names",
    "name",
    ("add", "block", "mistake"),
    None,
    "C-1",
    "@리안",
    None,
    None,
    {
        "character_name": "교관",
        "count": 3,
        "turns": [{"turn_id": "T-8", "user_message": "누구야?", "reply_text": HOSTILE}],
        "closest": [{"name": "리아", "how": "spelling", "likeness": 0.8, "why": "철자가 비슷합니다"}],
        "card": "말투: 반말",
    },
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
    {
        "character_name": None,
        "reply_text": "'가요~",
        "user_message": "응?",
        "polite": 1,
        "sentences": 2,
        "polite_sentences": "가요",
        "card": "말투: 존댓말",
    },
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
    for name in ("why", "ending", "instead"):
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
    write_tasks("names", TASKS, path)
    drafts = [draft for draft, _ in read_drafts(answered(path, ANSWERS))]
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
    write_tasks("names", TASKS, path)
    assert read_drafts(answered(path, {}), by="지은") == []


@pytest.mark.parametrize("more", [{"was_cancelled": True, "choice": "add"}, {"choice": ""}])
def test_what_was_cancelled_or_skipped_is_no_decision(tmp_path: Path, more: dict[str, Any]) -> None:
    path = tmp_path / "tasks.json"
    write_tasks("names", TASKS, path)
    assert read_drafts(answered(path, {NAME.task_id: more})) == []


def test_two_annotators_are_two_people(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    write_tasks("speech", [SPEECH], path)
    [task] = json.loads(path.read_text("utf-8"))
    task["annotations"] = [annotation("반말"), annotation("존댓말", by=12)]
    path.write_text(json.dumps([task]), "utf-8")
    assert [(draft.choice, draft.by) for draft, _ in read_drafts(path)] == [
        ("반말", "jieun@example.org"),
        ("존댓말", "annotator 12"),
    ]


def test_who_decided_can_be_given_where_the_file_does_not_say(tmp_path: Path) -> None:
    path = tmp_path / "tasks.csv"
    write_tasks("names", [NAME], path)
    answered(path, {NAME.task_id: {"choice": "block"}})
    assert [draft.by for draft, _ in read_drafts(path, by="민호")] == ["민호"]
    with pytest.raises(
        UserError,
        match=r"tasks.csv:2: is no decision: it does not say who decided; fill in the column by, or give --by",
    ):
        read_drafts(path)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_one_bad_row_and_nothing_is_taken(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"tasks{suffix}"
    write_tasks("names", TASKS, path)
    answered(path, ANSWERS | {SPEECH.task_id: {"choice": "화남", "by": "지은"}})
    with pytest.raises(UserError, match="is no decision: choice of speech is none of"):
        read_drafts(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").write_text('{"kind": "name"}\n{broken\n')
    with pytest.raises(UserError, match=r"tasks.jsonl:2: is no JSON"):
        read_drafts(tmp_path / "tasks.jsonl")
    with pytest.raises(UserError, match=r"is none of .csv, .jsonl, .json"):
        read_drafts(tmp_path / "tasks.xlsx")
    with pytest.raises(UserError, match=r"write to a name that ends in"):
        write_tasks("names", TASKS, tmp_path / "tasks.xlsx")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_full_disk_leaves_the_file_that_was_there(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"tasks{suffix}"
    path.write_text("as it was", encoding="utf-8")
    with disk_with_room_for(20), pytest.raises(UserError, match="cannot be written"):
        write_tasks("names", TASKS, path)
    assert (path.read_text(encoding="utf-8"), list(tmp_path.iterdir())) == ("as it was", [path])


EDITED_BY_HAND: dict[str, tuple[dict[str, Any], str]] = {
    "results that are none": ({"result": 5}, "annotations.0.result: "),
    "a value that is none": ({"result": [{"from_name": "choice", "value": 3}]}, "annotations.0.result.0.value: "),
    "choices that are no list": (
        {"result": [{"from_name": "choice", "value": {"choices": {"a": 1}}}]},
        "annotations.0.result.0.value.choices: ",
    ),
    "two choices": (
        {"result": [{"from_name": "choice", "value": {"choices": ["반말", "존댓말"]}}]},
        "choice has several answers, 「반말 / 존댓말」; leave one",
    ),
    "a choice in two results": (
        {"result": [{"from_name": "choice", "value": {"choices": [one]}} for one in ("반말", "섞임")]},
        "choice has several answers, 「반말 / 섞임」; leave one",
    ),
}


@pytest.mark.parametrize(("annotated", "words"), EDITED_BY_HAND.values(), ids=EDITED_BY_HAND)
def test_a_task_edited_by_hand_is_told_in_one_line(tmp_path: Path, annotated: dict[str, Any], words: str) -> None:
    path = tmp_path / "tasks.json"
    write_tasks("speech", [SPEECH], path)
    [task] = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps([task | {"annotations": [annotated]}]), "utf-8")
    with pytest.raises(UserError, match=rf"^{re.escape(f'{path}:1: is no decision: {words}')}[^\n]*$"):
        read_drafts(path, by="지은")


@pytest.mark.parametrize(
    ("task", "cells"),
    [
        (HIT, {"turn_id": "7"}),
        (SPEECH, {"turn_id": None}),
        (NAME, {"name": "2026-01-02"}),
        (NAME, {"character_id": "C-01"}),
        (HIT, {"task_id": SPEECH.task_id}),
        (HIT, {"task_id": "1"}),
        (HIT, {"kind": "speech", "choice": "섞임"}),
        (SPEECH, {"kind": "label", "choice": "말투 어긋남"}),
    ],
)
def test_a_cell_that_a_spreadsheet_changed_is_not_taken(tmp_path: Path, task: Task, cells: dict[str, Any]) -> None:
    path = tmp_path / "tasks.jsonl"
    [row] = rows_of([task])
    path.write_text(json.dumps(row | {"choice": task.choices[0], "by": "지은"} | cells), "utf-8")
    with pytest.raises(UserError, match=rf"{re.escape(str(path))}:1: is no decision: task_id .* is not about "):
        read_drafts(path)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_task_that_one_person_answers_twice_otherwise_is_told(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"tasks{suffix}"
    write_tasks("forbidden", [HIT], path)
    lines = answered(path, ANSWERS).read_text("utf-8").strip()
    again = lines.splitlines()[-1].replace("harmless", "harmful") if suffix == ".jsonl" else _last_row(path)
    path.write_text(f"{lines}\n{again}\n", "utf-8")
    with pytest.raises(UserError, match=r"answers the same task twice, 「harmless」 in .*; leave one"):
        read_drafts(path)


def _last_row(path: Path) -> str:
    with path.open(encoding="utf-8-sig", newline="") as file:
        [*_, row] = csv.reader(file)
    text = io.StringIO()
    csv.writer(text).writerow("harmful" if cell == "harmless" else cell for cell in row)
    return text.getvalue().strip()


def test_two_annotators_may_differ_and_one_may_repeat_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    write_tasks("speech", [SPEECH], path)
    [task] = json.loads(path.read_text("utf-8"))
    given = [annotation("반말"), annotation("반말"), annotation("섞임", by="minho@example.org")]
    path.write_text(json.dumps([task | {"annotations": given}]), "utf-8")
    assert [draft.choice for draft, _ in read_drafts(path)] == ["반말", "반말", "섞임"]
    path.write_text(json.dumps([task | {"annotations": [annotation("반말"), annotation("섞임")]}]), "utf-8")
    with pytest.raises(UserError, match="answers the same task twice"):
        read_drafts(path)


def test_ids_survive_another_normal_form(tmp_path: Path) -> None:
    [row] = rows_of([NAME])
    path = tmp_path / "tasks.jsonl"
    decomposed = unicodedata.normalize("NFD", NAME.name or "")
    path.write_text(json.dumps(row | {"choice": "add", "by": "지은", "name": decomposed}), "utf-8")
    assert [draft.name for draft, _ in read_drafts(path)] == [NAME.name]


def test_a_row_by_hand_needs_no_id(tmp_path: Path) -> None:
    path = tmp_path / "more.csv"
    path.write_text("kind,choice,by,turn_id\nlabel,설정대로 말함,지은,T-1\n", "utf-8")
    assert [(draft.kind, draft.turn_id) for draft, _ in read_drafts(path)] == [("label", "T-1")]


NO_TASKS: dict[str, tuple[str, str, str]] = {
    "semicolons": (".csv", "kind;choice;by\nlabel;x;y\n", "lacks choice, kind; separate the cells by commas"),
    "nothing": (".csv", "", "has a header that lacks choice, kind"),
    "a log": (".jsonl", '{"turn_id": "T-1"}', "it has no kind, so that it is no task"),
    "a log as JSON": (".json", '[{"turn_id": "T-1"}]', "it has no kind, so that it is no task"),
    "another project": (".json", '[{"data": {"text": "a"}, "annotations": []}]', "it has no kind"),
    "a broken half": (".json", '[{"data": {"kind": "name"}}, {"da', "is no JSON"),
    "half a text in an id": (
        ".jsonl",
        '{"kind": "hit", "choice": "x", "task_id": "\\ud800"}',
        "half of a surrogate pair",
    ),
    "half a text": (
        ".jsonl",
        '{"kind": "label", "choice": "말투 어긋남", "by": "\\ud800", "turn_id": "1"}',
        "half of a",
    ),
}


@pytest.mark.parametrize(("suffix", "text", "words"), NO_TASKS.values(), ids=NO_TASKS)
def test_a_file_that_holds_no_tasks_is_not_taken_for_one_that_nobody_answered(
    tmp_path: Path, suffix: str, text: str, words: str
) -> None:
    path = tmp_path / f"tasks{suffix}"
    path.write_text(text, "utf-8")
    with pytest.raises(UserError, match=rf"^{re.escape(str(path))}:1: .*{re.escape(words)}"):
        read_drafts(path, by="지은")


@pytest.mark.parametrize(("annotator", "by"), [("jieun@example.org", "jieun@example.org"), (3, "annotator 3")])
def test_flat_exports_of_label_studio_say_who_decided(tmp_path: Path, annotator: Any, by: str) -> None:
    path = tmp_path / "tasks.json"
    [row] = rows_of([SPEECH])
    del row["by"]
    path.write_text(json.dumps([row | {"choice": "반말", "annotator": annotator}]), "utf-8")
    assert [draft.by for draft, _ in read_drafts(path)] == [by]


def test_no_cell_of_the_table_is_a_formula(tmp_path: Path) -> None:
    write_tasks("names", TASKS, tmp_path / "tasks.csv")
    with (tmp_path / "tasks.csv").open(encoding="utf-8-sig", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if cell[:1] in "=+-@" and cell]
    assert f"'{HOSTILE}" in cells and "'@리안" in cells and "'가요~" in cells


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.queue)
def test_label_studio_is_given_texts_and_a_configuration_of_them(tmp_path: Path, task: Task) -> None:
    write_tasks(task.queue, [task], tmp_path / "tasks.json")
    [written] = json.loads((tmp_path / "tasks.json").read_text("utf-8"))
    config = ElementTree.fromstring((tmp_path / "tasks.xml").read_text("utf-8"))
    shown = [text.get("value", "").removeprefix("$") for text in config.iter("Text")]
    texts = [written["data"][name] for name in shown]
    assert len(texts) == len([*config.iter("Header")]) >= 3
    assert all(isinstance(text, str) and text and not text.startswith(("{", "[")) for text in texts)
    assert not any('": ' in text for text in texts)
    assert {tag.get("toName") for tag in config.iter() if tag.get("toName")} == {"evidence"}
    assert [chosen(choice.get("value")) for choice in config.iter("Choice")] == list(task.choices)
    assert [tag.get("name") for tag in config.iter("TextArea")] == list(ASKED[task.queue])


def test_a_task_for_label_studio_is_told_in_words() -> None:
    data = label_studio_task(NAME)["data"]
    assert data["evidence"] == (
        "카드에 없는 이름 「@리안」, 3회차에 나옵니다.\n카드의 가까운 이름 「리아」: 철자가 비슷합니다."
    )
    assert data["card"] == "교관 · 말투: 반말" and data["turns"] == f"T-8\n유저: 누구야?\n답장: {HOSTILE}"
    assert label_studio_task(HIT)["data"]["message"] == "(없음)"
    decided = label_studio_task(replace(SPEECH, decided="섞임"))["data"]["evidence"]
    assert decided == "회차 -T 9\n2문장 가운데 1문장이 존댓말: 가요\n지금 결정: 섞임"


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("word", ["mistake", "새 인물이 아님", "새 인물이 아님 (mistake)"])
def test_a_choice_comes_back_in_korean_or_as_it_stands_in_the_data(tmp_path: Path, suffix: str, word: str) -> None:
    path = tmp_path / f"tasks{suffix}"
    write_tasks("names", [NAME], path)
    given = {"choice": word, "by": "지은", "instead": "리아"}
    [(draft, _)] = read_drafts(answered(path, {NAME.task_id: given}))
    assert (draft.choice, draft.instead) == ("mistake", ("리아",))


def test_every_choice_is_known_by_its_korean_word() -> None:
    for choices in CHOICES.values():
        for word, choice in zip(offered(choices).split(" / "), choices, strict=True):
            assert chosen(word) == chosen(word.split(" (")[0]) == chosen(choice) == choice


def test_a_row_says_what_can_be_chosen() -> None:
    [row] = rows_of([NAME])
    assert (row["choices"], row["choice"], row["count"]) == (
        "더하기 (add) / 막기 (block) / 새 인물이 아님 (mistake)",
        None,
        3,
    )
    assert isinstance(
        Draft.model_validate({"kind": row["kind"], "choice": "add", "by": "a", "character_id": "C", "name": "N"}), Draft
    )
