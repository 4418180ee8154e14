"""Uploaded files: received, checked, sent; without a server."""

import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from wh_judge.errors import UserError
from wh_judge.inputs import TableName
from wh_judge.screen import uploads
from wh_judge.screen.uploads import Report, can_be_sent, find, listed, receive, rejection, send, without_card
from wh_judge.settings import Settings
from wh_judge.uploaded import LABEL_LIMIT
from wh_judge_tests.builders import card, turn
from wh_judge_tests.house import at


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.model_validate({"data": tmp_path / "data"})


def lines(*rows: object) -> bytes:
    return "".join(f"{row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


LOG = lines(
    turn("T-1", turn_at=at(1)).model_dump(mode="json"),
    turn("T-2", turn_at=at(2)).model_dump(mode="json"),
    turn("T-3", turn_at=at(2)).model_dump(mode="json"),
    {"turn_id": "T-4"},
    "no JSON",
)


def given(settings: Settings, content: bytes = LOG, name: str = "로그.jsonl", table: TableName = "chat_turn") -> Report:
    return receive(settings, name, table, [content[:10], content[10:]])[0]


def kept(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_rows_days_and_problems_are_counted(settings: Settings) -> None:
    report = given(settings)
    assert (report.rows, report.rejected, report.noted, report.size) == (3, 2, 0, len(LOG))
    assert report.days == {"2026-09-01": 1, "2026-09-02": 2}


def test_each_problem_has_its_line(settings: Settings) -> None:
    assert [(problem.line, problem.severity) for problem in given(settings).problems] == [
        (4, "rejected"),
        (5, "rejected"),
    ]


def test_the_first_rows_are_shown_with_long_cells_cut(settings: Settings) -> None:
    long = turn("T-1", reply_text="가" * 5000).model_dump(mode="json")
    [row] = given(settings, lines(long)).preview
    assert row["turn_id"] == "T-1"
    assert row["reply_text"] == "가" * uploads.PREVIEW_TEXT + "…"


def test_no_more_rows_are_shown_than_said(settings: Settings) -> None:
    many = lines(*(turn(f"T-{n}").model_dump(mode="json") for n in range(uploads.PREVIEW_ROWS + 5)))
    assert len(given(settings, many).preview) == uploads.PREVIEW_ROWS


def test_problems_beyond_a_number_are_only_counted(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "PROBLEMS_KEPT", 1)
    report = given(settings)
    assert (len(report.problems), report.rejected) == (1, 2)


def test_a_report_is_found_by_its_hash_and_listed(settings: Settings) -> None:
    report = given(settings)
    assert find(settings, report.sha256) == report
    assert listed(settings, 5) == [report]


@pytest.mark.parametrize("sha256", ["", "../x", "0" * 63, "g" * 64, "0" * 64, "/etc/passwd"])
def test_what_is_no_known_hash_finds_nothing(sha256: str, settings: Settings) -> None:
    given(settings)
    assert find(settings, sha256) is None


def test_the_same_file_is_recognised_under_another_name(settings: Settings) -> None:
    first = given(settings)
    assert receive(settings, "다른 이름.jsonl", "chat_turn", [LOG]) == (first, False)
    assert len(listed(settings, 5)) == 1


def test_the_same_file_as_another_table_is_another_upload(settings: Settings) -> None:
    assert given(settings).sha256 != given(settings, table="gold_label").sha256


def test_the_same_file_many_times_at_once_is_one_upload(settings: Settings) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: receive(settings, "a.jsonl", "chat_turn", [LOG]), range(16)))
    assert len({report.sha256 for report, _ in found}) == 1
    assert kept(settings.uploads) == [f"{found[0][0].sha256}/{name}" for name in ("file.jsonl", "report.json")]


@pytest.mark.parametrize("name", ["../../x.jsonl", "/etc/x.jsonl", "..\\x.jsonl", "a/b/c.jsonl", "\0.jsonl"])
def test_a_name_is_never_a_path(name: str, settings: Settings, tmp_path: Path) -> None:
    report = given(settings, name=name)
    send(settings, report)
    assert report.name == re.split(r"[/\\]", name)[-1]
    assert {path.split("/")[1] for path in kept(tmp_path)} == {"uploads", "inbox"}
    assert all(report.sha256 in path for path in kept(tmp_path))


def test_a_name_without_end_is_cut(settings: Settings) -> None:
    assert given(settings, name=f"{'가' * 5_000}.jsonl").name.endswith("가.jsonl")
    assert len(find(settings, given(settings).sha256).name) == LABEL_LIMIT  # type: ignore[union-attr]


CHARACTERS = lines(*(turn(f"T-{n}", character_id=f"C-{n % 3}").model_dump(mode="json") for n in range(7)))


def test_the_characters_of_a_log_are_counted(settings: Settings) -> None:
    assert given(settings, CHARACTERS).characters == {"C-0": 3, "C-1": 2, "C-2": 2}


def test_characters_beyond_a_number_are_passed_over(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "CHARACTERS_KEPT", 2)
    assert given(settings, CHARACTERS).characters == {"C-0": 3, "C-1": 2}


def test_a_character_has_a_card_where_one_is_known_or_was_uploaded(settings: Settings) -> None:
    report = given(settings, CHARACTERS)
    assert without_card(settings, report, lambda ids: {"C-1"} & set(ids)) == {"C-0": 3, "C-2": 2}
    given(settings, lines(card("C-2").model_dump(mode="json")), "카드.jsonl", "character_card")
    assert without_card(settings, report, lambda ids: {"C-1"} & set(ids)) == {"C-0": 3}


def test_only_a_log_lacks_cards(settings: Settings) -> None:
    report = given(settings, lines(card("C-2").model_dump(mode="json")), "카드.jsonl", "character_card")
    assert without_card(settings, report, lambda _: set()) == {}


@pytest.mark.parametrize("name", ["a.txt", "a", "a.jsonl.exe", ".jsonl.gz"])
def test_a_file_of_another_kind_is_refused(name: str, settings: Settings) -> None:
    with pytest.raises(UserError, match="파일만 읽습니다"):
        given(settings, name=name)


def test_an_empty_file_is_refused(settings: Settings) -> None:
    with pytest.raises(UserError, match="빈 파일입니다"):
        given(settings, b"")


def test_nothing_is_left_of_what_was_refused_or_broke_off(settings: Settings) -> None:
    def broken() -> object:
        yield LOG
        raise ConnectionError

    with pytest.raises(ConnectionError):
        receive(settings, "a.jsonl", "chat_turn", broken())  # type: ignore[arg-type]
    with pytest.raises(UserError):
        given(settings, b"")
    assert list(settings.uploads.iterdir()) == []


def sent(settings: Settings, report: Report) -> Path:
    """Where a file lies once it was sent."""
    send(settings, report)
    known = find(settings, report.sha256)
    assert known and known.sent_as
    return settings.inbox / known.sent_as


def test_a_log_is_sent_into_the_inbox_under_its_hash(settings: Settings) -> None:
    report = given(settings)
    place = sent(settings, report)
    assert place.parent == settings.inbox and place.name.endswith(f"-{report.sha256}.jsonl")
    assert place.read_bytes() == LOG
    assert kept(settings.uploads) == [f"{report.sha256}/{name}" for name in (".sending", "report.json")]


def test_cards_are_sent_into_their_folder(settings: Settings) -> None:
    content = json.dumps([card("C-1").model_dump(mode="json")]).encode()
    place = sent(settings, given(settings, content, "카드.json", "character_card"))
    assert place.parent == settings.inbox / "cards" and place.read_bytes() == content


def test_sending_twice_is_sending_once(settings: Settings) -> None:
    report = given(settings)
    place = sent(settings, report)
    before = place.stat()
    assert sent(settings, report) == place
    assert place.stat() == before and len(kept(settings.inbox)) == 1


def test_sending_many_times_at_once_is_sending_once(settings: Settings) -> None:
    report = given(settings)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: send(settings, report), range(8)))
    [file] = [file for file in settings.inbox.iterdir() if file.is_file()]
    told = find(settings, report.sha256)
    assert told is not None and told.sent_as == file.name


def test_what_was_cut_off_before_the_file_was_moved_is_sent_again(settings: Settings) -> None:
    report = given(settings)
    place = sent(settings, report)
    place.rename(settings.uploads / report.sha256 / report.file)
    assert can_be_sent(settings, report)
    assert sent(settings, report).read_bytes() == LOG


def test_a_file_that_comes_again_is_checked_again_and_can_be_sent_again(settings: Settings) -> None:
    first = sent(settings, given(settings))
    again, new = receive(settings, "로그.jsonl", "chat_turn", [LOG])
    assert not new and again.sent_as == first.name and can_be_sent(settings, again)
    second = sent(settings, again)
    assert second.name > first.name and second.read_bytes() == LOG


def test_of_two_files_the_one_that_was_sent_last_comes_last(settings: Settings) -> None:
    one, other = given(settings), given(settings, LOG + b"\n")
    names = [sent(settings, report).name for report in (other, one)]
    assert sorted(names) == names


def test_the_same_bytes_under_another_suffix_are_another_upload(settings: Settings) -> None:
    wrong, right = given(settings, name="a.json"), given(settings, name="a.jsonl")
    assert wrong.sha256 != right.sha256 and right.rows == 3


def test_what_is_gone_cannot_be_sent_and_says_so(settings: Settings) -> None:
    report = given(settings)
    (settings.uploads / report.sha256 / report.file).unlink()
    assert not can_be_sent(settings, report)
    with pytest.raises(UserError, match="없어졌습니다"):
        send(settings, report)


def test_a_link_in_place_of_a_table_s_folder_takes_nothing(settings: Settings, tmp_path: Path) -> None:
    settings.inbox.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (settings.inbox / "gold").symlink_to(tmp_path / "elsewhere")
    report = given(settings, lines({"turn_id": "T-1", "verdict": "말투 어긋남"}), table="gold_label")
    with pytest.raises(UserError, match="링크"):
        send(settings, report)
    assert can_be_sent(settings, report) and kept(tmp_path / "elsewhere") == []


@pytest.mark.parametrize("content", ["{", "[]", '{"sha256": 1}'])
def test_a_damaged_report_is_none(content: str, settings: Settings) -> None:
    report = given(settings)
    (settings.uploads / report.sha256 / "report.json").write_text(content)
    assert find(settings, report.sha256) is None and listed(settings, 5) == []
    assert given(settings) == report


def test_what_a_killed_server_left_is_dropped_after_a_day(settings: Settings) -> None:
    folders = [settings.uploads / name for name in (".old.partial", ".new.partial")]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "file.jsonl").touch()
    os.utime(folders[0], (0, 0))
    given(settings)
    assert [folder.exists() for folder in folders] == [False, True]


def test_a_file_without_a_row_cannot_be_sent(settings: Settings) -> None:
    report = given(settings, b"no JSON\n")
    assert not report.usable
    with pytest.raises(UserError, match="보낼 수 없습니다"):
        send(settings, report)
    assert not settings.inbox.exists()


def test_why_the_inbox_set_a_file_aside_is_told(settings: Settings) -> None:
    report = given(settings)
    assert rejection(settings, report) == []
    place = sent(settings, report)
    reason = settings.inbox / "rejected" / f"{place.name}.reason.txt"
    reason.parent.mkdir(parents=True)
    reason.write_text("까닭\n또 하나\n")
    known = find(settings, report.sha256)
    assert known and rejection(settings, known) == ["까닭", "또 하나"]
