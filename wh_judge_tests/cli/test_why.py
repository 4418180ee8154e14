"""`wh-judge why`, `changes` and `stale`: what they say of a warehouse in which verdicts changed."""

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from wh_judge.inputs import TABLES
from wh_judge.store.tables import replace_table
from wh_judge.validations import VALIDATIONS
from wh_judge_tests.builders import turn
from wh_judge_tests.cli.call import Result, call
from wh_judge_tests.house import CARDS, DAY_1, DAY_3, DAYS, LEXICON, LOG, House, at, settle

CAUSE = "character_card C-1 canon_entities: + 리안"
UNREAD = "is new or changed since it was read; wh-judge run reads it, and only then it is known which days it touches"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    """A house in which T-8 changed because of its card, and T-18 went."""
    house = settle(tmp_path_factory.mktemp("why"))
    with house.warehouse() as connection:
        house.bring_in(connection)
        for day in DAYS:
            house.judge(connection, day, "first-run")
        house.cards(CARDS[0].model_copy(update={"canon_entities": ["검술원", "하늘", "리안"]}), *CARDS[1:])
        house.log(str(DAY_3), *LOG.day_3[:-1])
        house.gold()
        house.bring_in(connection)
        replace_table(connection, TABLES["gold_label"], house.inputs / "gold.csv")
        for day in DAYS:
            house.judge(connection, day, "second-run")
    return house


def told(house: House, *arguments: str) -> Result:
    return call(*arguments, "--data", house.data)


def test_why_knows_the_verdict_and_what_it_rests_on(house: House) -> None:
    code, out, error = told(house, "why", "T-7", "--json")
    known = json.loads(out)
    assert (code, error) == (0, "")
    assert known["turn"]["turn_id"] == known["verdict"]["turn_id"] == "T-7"
    assert known["verdict"]["verdict"] == "금지 소재 접촉"
    assert known["verdict"]["inputs"]["lexicon_rows"] == [{"term": "선거", "topic": "현실 정치"}]
    assert known["verdict"]["evidence"][0]["source"] == "chat_turn"
    assert set(known["checks"]) == {entry.code for entry in VALIDATIONS}
    assert (known["not_judged"], known["changes"]) == (None, [])


def test_no_line_is_broken_where_no_terminal_reads_it(house: House) -> None:
    known = json.loads(told(house, "why", "T-8", "--json").out)
    lines = told(house, "why", "T-8").out.splitlines()
    assert f"{known['verdict']['verdict']}  {known['verdict']['summary']}" in lines
    [judged_from] = [line for line in lines if line.startswith("Judged from")]
    assert judged_from.endswith(f"code {known['verdict']['inputs']['code_version']}") and len(judged_from) > 80


def test_why_knows_the_turn_that_was_to_be_recalled(house: House) -> None:
    known = json.loads(told(house, "why", "T-6", "--json").out)
    assert known["verdict"]["inputs"]["mentions"] == [{"entity": "하늘", "turn_id": "T-4"}]


def test_why_knows_earlier_versions_and_the_cause_of_the_change(house: House) -> None:
    known = json.loads(told(house, "why", "T-8", "--json").out)
    [earlier] = known["earlier_versions"]
    assert (earlier["verdict"], earlier["run_id"], earlier["until_run"]) == (
        "세계관 밖 고유명사",
        "first-run",
        "second-run",
    )
    [change] = known["changes"]
    assert (change["verdict_after"], change["cells"]) == (known["verdict"]["verdict"], [CAUSE])


def test_why_knows_why_a_turn_was_not_judged(house: House) -> None:
    known = json.loads(told(house, "why", "T-5", "--json").out)
    assert (known["verdict"], known["not_judged"]) == (None, "no card for character C-9")


def test_why_knows_what_was_skipped(house: House) -> None:
    assert json.loads(told(house, "why", "T-10", "--json").out)["skipped"] != []
    assert json.loads(told(house, "why", "T-1", "--json").out)["skipped"] == []


def test_why_knows_a_turn_that_is_gone(house: House) -> None:
    known = json.loads(told(house, "why", "T-18", "--json").out)
    assert (known["turn"], known["verdict"]) == (None, None)
    assert [version["until_run"] for version in known["earlier_versions"]] == ["second-run"]
    assert known["changes"][0]["cells"] == ["chat_turn T-18: - turn"]


@pytest.mark.parametrize(
    ("turn_id", "texts"),
    [
        ("T-8", ["리안이 불러.", "설정대로 말함", "Earlier", "세계관 밖 고유명사", "Changed", CAUSE, "passed"]),
        ("T-7", ["lexicon row 선거 -> 현실 정치", "금지 소재 접촉"]),
        ("T-6", ["하늘 was named in T-4"]),
        ("T-5", ["Not judged", "no card for character C-9"]),
        ("T-10", ["Not compared"]),
        ("T-15", ["<script>alert(1)</script>"]),
        ("T-18", ["Earlier", "no verdict"]),
        ("T-1", ["Earlier", "then judged again with the same outcome; only these inputs were other: card"]),
    ],
)
def test_why_shows_it_to_people(turn_id: str, texts: list[str], house: House) -> None:
    code, out, error = told(house, "why", turn_id)
    assert (code, error) == (0, "")
    shown = " ".join(out.split())
    assert [text for text in texts if text not in shown] == []


@pytest.mark.parametrize("turn_id", ["T-404", "", "'; DROP TABLE verdict_row; --", "T-8' OR '1'='1"])
@pytest.mark.parametrize("json_flag", [[], ["--json"]], ids=["text", "json"])
def test_a_turn_that_nobody_knows_is_2(turn_id: str, json_flag: list[str], house: House) -> None:
    code, out, error = call("why", "--data", house.data, *json_flag, "--", turn_id)
    assert (code, out) == (2, "")
    assert error.splitlines() == [
        f"wh-judge: {turn_id}: no such turn in the warehouse; check the turn_id, or run wh-judge run first"
    ]


def test_changes_are_listed(house: House) -> None:
    code, out, error = told(house, "changes")
    assert (code, error) == (0, "")
    assert [line.split()[:2] for line in out.splitlines()] == [["2026-09-02", "T-8"], ["2026-09-03", "T-18"]]
    assert CAUSE in out.splitlines()[0]
    assert "no verdict" in out.splitlines()[1]


@pytest.mark.parametrize(
    ("days", "turn_ids"),
    [
        ([], ["T-8", "T-18"]),
        (["2026-09-03"], ["T-18"]),
        (["2026-09-01", "2026-09-02"], ["T-8"]),
        (["2026-09-04"], []),
    ],
)
def test_changes_are_listed_for_machines(days: list[str], turn_ids: list[str], house: House) -> None:
    code, out, _ = told(house, "changes", *days, "--json")
    assert code == 0
    assert [change["turn_id"] for change in json.loads(out)] == turn_ids


def test_where_nothing_changed_changes_says_so(house: House) -> None:
    assert told(house, "changes", "2026-09-04") == (0, "", "no verdict has changed\n")


def test_a_day_that_is_none_is_2(house: House) -> None:
    assert told(house, "changes", "gestern").code == 2


def stale(house: House, *arguments: str) -> Result:
    return call("stale", "--inputs", house.inputs, "--data", house.data, *arguments)


def test_where_nothing_is_stale_stale_says_so(house: House) -> None:
    assert stale(house) == (0, "", "nothing is stale\n")
    assert json.loads(stale(house, "--json").out) == {"stale": [], "inputs_not_read": []}


@pytest.fixture
def edited(tmp_path: Path) -> House:
    """A house whose first day was judged before its card and a turn changed, and whose lexicon was not read since."""
    house = settle(tmp_path)
    with house.warehouse() as connection:
        house.bring_in(connection)
        replace_table(connection, TABLES["gold_label"], house.inputs / "gold.csv")
        for day in DAYS:
            house.judge(connection, day)
        house.cards(*CARDS[:2], CARDS[2].model_copy(update={"name": "새 이름"}))
        house.log("more", turn("T-90", turn_at=at(1)))
        house.bring_in(connection)
    house.lexicon(*LEXICON[1:])
    return house


def test_stale_days_are_named_with_their_causes(edited: House) -> None:
    code, out, error = stale(edited)
    assert code == 1
    assert out.splitlines() == [
        f"{DAY_1}  turns were added, corrected or taken away",
        f"{DAY_3}  a card changed: C-3",
    ]
    assert error.splitlines() == [f"lexicon {UNREAD}"]


def test_an_input_by_which_no_day_is_judged_is_named_as_one(edited: House) -> None:
    edited.lexicon(*LEXICON)
    edited.gold(("T-1", "말투 어긋남"))
    said = "gold is new or changed since it was read; wh-judge run reads it; no day is judged by it"
    assert stale(edited).err.splitlines() == [said]


@pytest.mark.parametrize("name", ["cards", "lexicon"])
def test_the_days_that_an_edit_in_the_inbox_touches_are_said_to_be_unknown(name: str, edited: House) -> None:
    edited.lexicon(*LEXICON)
    place = {"cards": edited.inputs / "cards.json", "lexicon": edited.inputs / "lexicon.csv"}[name]
    folder = edited.settings.inbox / name
    folder.mkdir(parents=True)
    shutil.copy(place, folder)
    os.utime(folder / place.name, (0, 0))
    assert stale(edited).err.splitlines() == [f"{name} {UNREAD}"]


def later(house: House) -> None:
    """A log file that was edited, and whose size stays."""
    path = house.turns / f"{DAY_1}.jsonl"
    path.write_bytes(path.read_bytes().replace(b"T-1", b"T-0", 1))


def dropped(house: House, seconds: float = 60) -> None:
    """A file in the inbox that changed so many seconds ago."""
    path = house.settings.inbox / "a\x1b[31m.jsonl"
    path.parent.mkdir(exist_ok=True)
    house.log("new", turn("T-91", turn_at=at(1))).rename(path)
    os.utime(path, (time.time() - seconds,) * 2)


@pytest.mark.parametrize(
    ("edit", "names"),
    [
        (later, [f"turns/{DAY_1}.jsonl"]),
        (lambda house: os.utime(house.turns / f"{DAY_1}.jsonl", (0, 0)), [f"turns/{DAY_1}.jsonl"]),
        (lambda house: house.log("new", turn("T-91", turn_at=at(1))), ["turns/new.jsonl"]),
        (dropped, ["inbox/a\x1b[31m.jsonl"]),
        (lambda house: dropped(house, 0), []),
        (lambda house: (house.turns / "new.jsonl").symlink_to("nowhere"), []),
        (lambda house: (house.turns / f"{DAY_1}.jsonl").unlink(), []),
    ],
    ids=["changed", "touched", "new", "in the inbox", "being written", "no file", "gone"],
)
def test_log_files_that_were_not_read_as_they_are_are_named(
    edit: Callable[[House], object], names: list[str], edited: House
) -> None:
    edited.lexicon(*LEXICON)
    edit(edited)
    assert json.loads(stale(edited, "--json").out)["inputs_not_read"] == names
    said = stale(edited).err
    assert said.count(f" {UNREAD}\n") == len(names)
    assert "\x1b" not in said


def test_an_uploaded_file_is_called_as_its_sender_called_it(edited: House) -> None:
    dropped(edited)
    name = f"20260901T200100000000-{'a' * 64}.jsonl"
    (edited.settings.inbox / "a\x1b[31m.jsonl").rename(edited.settings.inbox / name)
    folder = edited.settings.uploads / ("a" * 64)
    folder.mkdir(parents=True)
    (folder / "report.json").write_text(json.dumps({"name": "내 로그.jsonl"}), encoding="utf-8")
    assert f"내 로그.jsonl (inbox/{name}) {UNREAD}\n" in stale(edited).err


def test_stale_days_are_named_for_machines(edited: House) -> None:
    code, out, error = stale(edited, "--json")
    assert (code, error) == (1, "")
    document = json.loads(out)
    assert [(entry["day"], entry["failed"]) for entry in document["stale"]] == [
        (str(DAY_1), False),
        (str(DAY_3), False),
    ]
    assert document["inputs_not_read"] == ["lexicon"]
