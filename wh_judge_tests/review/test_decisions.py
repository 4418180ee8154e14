"""What a decision is, which of them count, and the book that keeps them."""

import fcntl
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from pydantic import ValidationError

from wh_judge.errors import DiskError, UserError
from wh_judge.review.book import read_book, read_what_can_be, write_down
from wh_judge.review.decisions import CHOICES, Draft, in_force, shown, undone_by
from wh_judge_tests.review.build import NOON, book, disk_with_room_for, draft, hit, label, name, undo


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"kind": "name", "choice": "add", "name": "리안"}, "character_id is missing"),
        ({"kind": "name", "choice": "maybe", "name": "리안", "character_id": "C-1"}, "is none of add, block"),
        ({"kind": "mood", "choice": "add"}, "kind"),
        ({"kind": "label", "choice": "좋음", "turn_id": "T-1"}, "is none of"),
        ({"kind": "term", "choice": "narrow", "term": "과음", "topic": "음주"}, "instead is missing; it names"),
        (
            {"kind": "term", "choice": "drop", "term": "과음", "topic": "음주", "instead": ["과음하"]},
            "instead stands with",
        ),
        (
            {"kind": "name", "choice": "block", "name": "a", "character_id": "b", "instead": ["c"]},
            "instead stands with",
        ),
        ({"kind": "name", "choice": "mistake", "name": "a", "character_id": "b", "instead": ["c", "d"]}, "names one"),
        ({"kind": "term", "choice": "narrow", "term": "a", "topic": "b", "instead": ["a" * 201]}, "longer than 200"),
        ({"kind": "ending", "choice": "add", "ending": "요."}, "has white space or a sentence end"),
        ({"kind": "ending", "choice": "add"}, "ending is missing"),
        ({"kind": "ending", "choice": "add", "ending": "용" * 21}, "an ending is longer than 20 characters"),
        ({"kind": "trailing", "choice": "ignore", "by": "가" * 201}, "at most 200 characters"),
        ({"kind": "undo", "choice": "undo"}, "undoes is missing"),
        ({"kind": "trailing", "choice": "ignore", "by": " "}, "by"),
        ({"kind": "trailing", "choice": "ignore", "colour": "red"}, "colour"),
        ({"kind": "trailing", "choice": "\ud800"}, "half of a surrogate pair"),
        ({"kind": "trailing", "choice": "ignore", "why": "\ud800"}, "half of a surrogate pair"),
    ],
)
def test_what_is_no_decision_is_refused(cells: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Draft.model_validate({"by": "지은"} | cells)


def test_texts_are_in_the_form_that_inputs_have() -> None:
    assert name("add", normalize("NFD", "리안")).name == "리안"
    assert draft("trailing", "ignore", why="").why is None


def test_who_decided_is_the_name_that_a_reader_sees() -> None:
    assert {label("말투 어긋남", "T-1", by).by for by in ("지은", " 지은 ", "지은\r\n", "\u3000지은")} == {"지은"}
    assert label("말투 어긋남", "T-1", "김  지은").by == "김 지은"


def test_a_name_without_end_is_cut_where_it_is_told() -> None:
    assert shown(name("add", "가" * 100_000)) == f"name add C-1 {'가' * 200}…"


def test_the_newest_decision_on_a_subject_counts() -> None:
    rows = book(name("add"), name("block"), name("add", "레온"))
    assert [row.decision_id for row in in_force(rows)] == ["D-2", "D-3"]


def test_what_is_undone_leaves_what_was_before() -> None:
    rows = book(name("add"), name("block"), undo("D-2"))
    assert [shown(row) for row in in_force(rows)] == ["name add C-1 리안"]


def test_an_undo_can_be_undone() -> None:
    assert [row.decision_id for row in in_force(book(name("add"), undo("D-1"), undo("D-2")))] == ["D-1"]
    assert in_force(book(name("add"), undo("D-1"), undo("D-2"), undo("D-3"))) == []


def test_the_undo_that_counts_is_found_by_what_it_undid() -> None:
    rows = book(name("add"), undo("D-1"), undo("D-2"), name("block"), undo("D-4"))
    assert {undone: row.decision_id for undone, row in undone_by(rows).items()} == {"D-2": "D-3", "D-4": "D-5"}


def test_everybody_s_label_counts_and_the_newest_of_each() -> None:
    rows = book(label("말투 어긋남", "T-1"), label("설정대로 말함", "T-1", "민호"), label("설정대로 말함", "T-1"))
    assert [row.decision_id for row in in_force(rows)] == ["D-2", "D-3"]


def test_a_book_gives_back_what_was_written_down(tmp_path: Path) -> None:
    path = tmp_path / "data" / "decisions.jsonl"
    drafts = [name("add", why="스승 | 「새」\n"), draft("term", "narrow", term="a", topic="b", instead=["ab", "ac"])]
    written = write_down(path, drafts, NOON)
    assert read_book(path) == written
    assert [(row.decision_id, row.at) for row in written] == [("D-1", NOON), ("D-2", NOON)]
    assert write_down(path, [undo("D-2")])[0].decision_id == "D-3"
    assert len(path.read_text("utf-8").splitlines()) == 3


def test_no_book_is_no_decision(tmp_path: Path) -> None:
    assert read_book(tmp_path / "decisions.jsonl") == []


def test_what_counts_already_is_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    write_down(path, [name("add"), hit("harmless", "T-1")])
    assert write_down(path, [name("add"), hit("harmless", "T-1")]) == []
    assert len(write_down(path, [name("block"), label("말투 어긋남", "T-1"), label("말투 어긋남", "T-1", "민호")])) == 3


@pytest.mark.parametrize("what", ["D-9", "D-2", "D-1"])
def test_only_what_counts_can_be_undone(tmp_path: Path, what: str) -> None:
    path = tmp_path / "decisions.jsonl"
    write_down(path, [name("add"), name("block"), undo("D-2"), undo("D-1")])
    with pytest.raises(UserError, match=rf"{what}: (there is no such|does not count)"):
        write_down(path, [undo(what)])
    assert len(read_book(path)) == 4


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{broken", "is no decision"),
        ('{"kind": "name"}', "is no decision"),
        (json.dumps({"decision_id": "D-1", "at": "2026-09-04T00:00:00Z", "by": "a", "kind": "trailing"}), "choice"),
        (
            '{"decision_id": "D-7", "at": "2026-09-04T00:00:00Z", "by": "a", "kind": "undo", "choice": "undo",'
            ' "undoes": "D-6"}',
            "undoes D-6, which does not stand before it",
        ),
    ],
)
def test_a_line_that_is_no_decision_is_named(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "decisions.jsonl"
    write_down(path, [name("add")])
    path.write_text(path.read_text("utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(UserError, match=rf"decisions.jsonl:2.*{words}"):
        read_book(path)


@pytest.mark.parametrize("cut", [1, 20])
def test_a_line_that_was_cut_off_says_so(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "decisions.jsonl"
    write_down(path, [name("add"), name("block")])
    os.truncate(path, path.stat().st_size - 1 - cut)
    before = path.read_bytes()
    words = r"decisions.jsonl:2: is no decision: .*delete the line; the file ends in it"
    with pytest.raises(UserError, match=words):
        read_book(path)
    with pytest.raises(UserError, match=words):
        write_down(path, [name("add", "서연")])
    assert path.read_bytes() == before


def test_what_can_be_read_of_a_damaged_book_is_there_with_the_lines_that_cannot(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    written = write_down(path, [name("add"), name("block"), undo("D-2"), label("말투 어긋남", "T-1")])
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b'{"half\n' + lines[2] + lines[3] + lines[3] + b"\xff\n" + lines[1][:9])
    decisions, faults = read_what_can_be(path)
    assert decisions == [written[0], written[3]]
    assert [(fault.line, fault.cut) for fault in faults] == [(2, False), (3, False), (5, False), (6, False), (7, True)]
    assert [fault.why for fault in faults][1:4] == [
        "undoes D-2, which does not stand before it",
        "D-4 stands in it twice",
        "is no decision: it is not UTF-8",
    ]


def test_a_full_disk_leaves_the_book_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    write_down(path, [name("add")])
    before = path.read_bytes()
    with disk_with_room_for(len(before) + 20), pytest.raises(DiskError, match="cannot be written"):
        write_down(path, [name("block")])
    assert path.read_bytes() == before
    assert write_down(path, [name("block")])[0].decision_id == "D-2"


def test_a_number_that_is_none_of_ours_stops_nobody(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    write_down(path, [name("add")])
    path.write_text(path.read_text("utf-8").replace("D-1", "D-" + "9" * 5_000), encoding="utf-8")
    assert write_down(path, [name("block")])[0].decision_id == "D-1"


def test_whoever_reads_waits_for_whoever_writes(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    write_down(path, [name("add")])
    with ThreadPoolExecutor(1) as pool, path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(b'{"half')
        file.flush()
        reading = pool.submit(read_book, path)
        with pytest.raises(TimeoutError):
            reading.result(timeout=0.05)
        file.truncate(path.stat().st_size - 6)
        fcntl.flock(file, fcntl.LOCK_UN)
        assert len(reading.result()) == 1


def test_an_editor_s_byte_order_mark_and_line_ends_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    written = write_down(path, [name("add"), name("block")])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_book(path) == written


def test_of_equal_decisions_in_one_go_one_is_written(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    drafts = [name("add"), name("add"), name("block"), undo("D-2"), name("add"), undo("D-3"), name("block")]
    assert [shown(row) for row in write_down(path, drafts)] == [
        "name add C-1 리안",
        "name block C-1 리안",
        "undo D-2",
        "undo D-3",
    ]


@pytest.mark.parametrize("why", ["가" * 2_001, "\ud800"])
def test_a_reason_that_no_list_can_show_is_refused(why: str) -> None:
    with pytest.raises(ValidationError):
        name("add", why=why)


HOSTILE = "=cmd|' /C calc'!A0\n\u2028\u202e<script>{{1}}\x1b[31m\r\x00"


def test_hostile_text_comes_back_to_the_letter(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    write_down(path, [name("add", of=HOSTILE, why=HOSTILE)])
    [row] = read_book(path)
    assert (row.name, row.why) == (HOSTILE, HOSTILE)


def test_many_who_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: write_down(path, [name("add", f"이름 {n}")]), range(40)))
    rows = read_book(path)
    assert sorted(row.decision_id for row in rows) == sorted(f"D-{n}" for n in range(1, 41))
    assert {row.name for row in rows} == {f"이름 {n}" for n in range(40)}


def test_a_book_that_lost_its_last_line_end_goes_on_in_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    write_down(path, [name("add")])
    os.truncate(path, path.stat().st_size - 1)
    write_down(path, [name("block")])
    assert len(read_book(path)) == 2


def test_every_kind_can_be_told() -> None:
    assert set(CHOICES) == {"name", "hit", "term", "speech", "ending", "trailing", "label", "undo"}
    assert (
        shown(draft("term", "narrow", term="과음", topic="음주", instead=["과음, 하", " 과음"]))
        == "term narrow 과음 음주 -> 「과음, 하」, 「 과음」"
    )
    assert shown(draft("trailing", "ignore")) == "trailing ignore"
