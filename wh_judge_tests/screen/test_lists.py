"""Lists: every filter and their combinations against the log itself, pages, and what an address may say."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from wh_judge.errors import UserError
from wh_judge.model import ChatTurn
from wh_judge.screen.filters import ANY_SKIPPED, GROUPS, SKIPS, Filter, read_filter, read_page
from wh_judge.screen.listing import places
from wh_judge.screen.snapshots import Snapshot, Snapshots
from wh_judge_tests.house import LOG, House
from wh_judge_tests.screen.site import FIRST, SECOND, all_pages, listed, seen

TURNS = [line for day in LOG for line in day if isinstance(line, ChatTurn)]
CHANGED_BY_SECOND = {"T-1", "T-2", "T-4"}
SKIPPED_OF = {
    "T-10": {"reply_missing", "names_null", "first_person_null"},
    **{turn_id: {"card_speech_level_open", "card_first_person_open"} for turn_id in ("T-1", "T-2", "T-4")},
    **{turn_id: {"card_speech_level_open"} for turn_id in ("T-14", "T-15")},
}


@pytest.fixture(scope="module")
def snapshot(site: House) -> Iterator[Snapshot]:
    with Snapshots(site.settings.published).read() as found:
        assert found
        yield found


def has(turn: ChatTurn, filter_: Filter) -> bool:
    """What a filter asks for, read from the log."""
    texts = (turn.reply_text or "", turn.user_message or "")
    skipped = SKIPPED_OF.get(turn.turn_id, set())
    return (
        filter_.character in ("", turn.character_id)
        and filter_.model in ("", turn.model_id)
        and filter_.session in ("", turn.session_id)
        and (not filter_.first or filter_.first <= str(turn.turn_at)[:10])
        and (not filter_.last or str(turn.turn_at)[:10] <= filter_.last)
        and (not filter_.q or turn.turn_id == filter_.q or any(filter_.q in text for text in texts))
        and (not filter_.since or (filter_.since == FIRST and turn.turn_id in CHANGED_BY_SECOND))
        and (not filter_.skipped or bool(skipped if filter_.skipped == ANY_SKIPPED else {filter_.skipped} & skipped))
    )


def found(snapshot: Snapshot, filter_: Filter) -> set[str]:
    """The turns of a list."""
    turns = set()
    for group, array in places(snapshot, filter_).items():
        table = "unjudged" if group == GROUPS[-1] else "verdict"
        rows = snapshot.rows(f"SELECT turn_id FROM {table} WHERE list_contains($at, rowid)", {"at": array.tolist()})
        turns |= {row["turn_id"] for row in rows}
    return turns


CHOICES: dict[str, tuple[str, ...]] = {
    "character": ("", "C-1", "C-2", "C-9", "no such"),
    "model": ("", "M-2"),
    "first": ("", "2026-09-02"),
    "last": ("", "2026-09-02"),
    "session": ("", "S-recall"),
    "skipped": ("", ANY_SKIPPED, "card_speech_level_open"),
    "since": ("", FIRST, SECOND),
    "q": ("", "선거", "T-5"),
}


@pytest.mark.parametrize("names", list(itertools.combinations(CHOICES, 2)), ids=" ".join)
def test_two_filters_together_leave_what_both_ask_for(snapshot: Snapshot, names: tuple[str, str]) -> None:
    for values in itertools.product(*(CHOICES[name] for name in names)):
        filter_ = Filter(**dict(zip(names, values, strict=True)))
        assert found(snapshot, filter_) == {turn.turn_id for turn in TURNS if has(turn, filter_)}, filter_


@given(st.fixed_dictionaries({name: st.sampled_from(values) for name, values in CHOICES.items()}))
def test_all_filters_together_leave_what_all_ask_for(snapshot: Snapshot, values: dict[str, str]) -> None:
    filter_ = Filter(**values)
    assert found(snapshot, filter_) == {turn.turn_id for turn in TURNS if has(turn, filter_)}


@pytest.mark.parametrize("code", SKIPS)
def test_a_skipped_comparison_finds_its_turns(snapshot: Snapshot, code: str) -> None:
    assert found(snapshot, Filter(skipped=code)) == {turn for turn, codes in SKIPPED_OF.items() if code in codes}


def test_the_newest_day_comes_first_and_turns_keep_their_order_in_it(client: TestClient) -> None:
    assert listed(client.get("/verdicts", params={"verdict": GROUPS[0]})) == EXPECTED_ORDER


EXPECTED_ORDER = ["T-11", "T-17", "T-9", "T-10", "T-1", "T-2", "T-3", "T-4"]
"""Of the third, the second and the first day."""


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 50])
def test_pages_follow_each_other_across_days(client: TestClient, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr("wh_judge.screen.verdicts.PAGE_ROWS", rows)
    pages = [listed(answer) for answer in all_pages(client, "/verdicts", verdict=GROUPS[0])]
    assert [turn for page in pages for turn in page] == EXPECTED_ORDER
    assert [len(page) for page in pages[:-1]] == [rows] * (len(pages) - 1)


def test_the_pager_keeps_the_filter(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wh_judge.screen.verdicts.PAGE_ROWS", 1)
    pages = list(all_pages(client, "/verdicts", verdict=GROUPS[0], character="C-2", model="M-2"))
    assert [listed(page) for page in pages] == [["T-9"], ["T-3"]]


def test_the_groups_of_a_narrowed_list_lead_to_that_narrowed_list(client: TestClient) -> None:
    page = seen(client.get("/verdicts?model=M-2&q=저는"))
    links = [link for link in page.links("/verdicts") if "verdict=" in link]
    assert links and all("model=M-2" in link and "q=%EC%A0%80%EB%8A%94" in link for link in links)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("", "판정 17회차 "),
        ("verdict=설정대로 말함", "판정 8회차 (전체 17회차 중) "),
        ("q=T-5", "판정 1회차 (전체 17회차 중) "),
        ("q=없는 말", "판정 0회차 (전체 17회차 중) "),
    ],
)
def test_the_heading_counts_what_is_listed(client: TestClient, query: str, told: str) -> None:
    assert told in seen(client.get(f"/verdicts?{query}")).text


def test_a_form_shows_what_was_asked_for(client: TestClient) -> None:
    page = seen(client.get("/verdicts?model=M-2&first=2026-09-01&session=S-1&q=저는&character=C-2"))
    assert [found["value"] for found in page.all("option") if "selected" in found] == ["C-2", "M-2"]
    assert page.all("input", name="first")[0]["value"] == "2026-09-01"
    assert page.all("input", name="session")[0]["value"] == "S-1"


def test_of_many_characters_one_types_which(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_globals(), "most_choices", 2)
    page = seen(client.get("/verdicts?character=C-3"))
    assert page.all("input", name="character")[0]["value"] == "C-3" and len(page.all("datalist")) == 1
    assert len(listed(client.get("/verdicts?character=C-3"))) == 2


def _globals() -> dict[str, Any]:
    from wh_judge.screen.render import ENVIRONMENT

    return ENVIRONMENT.globals


def test_nothing_found_is_said(client: TestClient) -> None:
    assert "이 조건에 맞는 회차가 없습니다." in seen(client.get("/verdicts?q=없는 말")).text


def test_a_day_is_its_first_and_its_last() -> None:
    assert read_filter({"day": "2026-09-02"}) == Filter(first="2026-09-02", last="2026-09-02")


@pytest.mark.parametrize("day", ["20260902", "2026-W36-3", " 2026-09-02 "])
def test_a_day_may_be_written_otherwise(client: TestClient, day: str) -> None:
    assert read_filter({"first": day}).first == "2026-09-02"
    assert client.get("/verdicts", params={"day": day}).status_code == 200


def test_text_is_looked_for_in_normal_form_and_without_blanks_around_it() -> None:
    assert read_filter({"q": " \u1112\u1161\u11ab "}).q == "한"


def test_what_a_list_offers_is_taken_to_the_letter() -> None:
    assert read_filter({"model": " m "}).model == " m "


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"verdict": "좋음"}, "verdict=좋음"),
        ({"skipped": "all"}, "skipped=all"),
        ({"first": "어제"}, "first=어제"),
        ({"last": "2026-13-01"}, "last=2026-13-01"),
        ({"day": "1"}, "first=1"),
        ({"q": "가" * 201}, "q: 찾는 글은 200자까지"),
    ],
)
def test_what_an_address_cannot_say_is_refused_by_name(query: dict[str, str], told: str) -> None:
    with pytest.raises(UserError, match=told):
        read_filter(query)


@pytest.mark.parametrize("page", ["0", "-1", "x", "1.0", "١", "9" * 9, "9" * 5000, "1e3"])
def test_what_is_no_page_is_refused(page: str) -> None:
    with pytest.raises(UserError, match="쪽 번호가 아닙니다"):
        read_page({"page": page})


@pytest.mark.parametrize(("page", "number"), [("", 1), ("7", 7), (" 2 ", 2)])
def test_pages_count_from_one(page: str, number: int) -> None:
    assert read_page({"page": page}) == number


@given(st.builds(Filter, *[st.text(max_size=5) for _ in range(9)]))
def test_an_address_says_all_of_a_filter(filter_: Filter) -> None:
    from urllib.parse import parse_qsl

    said = dict(parse_qsl(filter_.query(), keep_blank_values=True))
    assert Filter(**said) == filter_


def test_an_address_says_nothing_of_what_is_not_asked_for() -> None:
    assert Filter(model="m").query(verdict="x", page=2) == "verdict=x&model=m&page=2"
