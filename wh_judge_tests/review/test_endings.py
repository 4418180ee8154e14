"""What an ending would change, told before it is adopted, is what the kernel then says."""

from collections import Counter
from pathlib import Path

import duckdb
import pytest

from wh_judge.review.endings import SHOWN, Proposal, adding, candidates, first_ones, propose, try_settings
from wh_judge.rules import RuleSettings
from wh_judge_tests.builders import card, turn
from wh_judge_tests.house import DAY_1, House, at
from wh_judge_tests.review.build import book, draft
from wh_judge_tests.review.conftest import by_kernel

DEFAULT = RuleSettings()
TRAILING = RuleSettings(ignore_trailing=True)


@pytest.mark.parametrize(
    ("settings", "ending"), [(adding(DEFAULT, "습니까"), "습니까"), (adding(DEFAULT, "다"), "다"), (TRAILING, None)]
)
def test_what_is_told_before_is_what_comes(
    connection: duckdb.DuckDBPyConnection, settings: RuleSettings, ending: str | None
) -> None:
    proposal = try_settings(connection, DEFAULT, settings, ending)
    (before, agreed_before), (after, agreed_after) = by_kernel(DEFAULT), by_kernel(settings)
    changed = Counter((before[turn], after[turn]) for turn in before if before[turn] != after[turn])
    assert {(change.before, change.after): change.turns for change in proposal.changes} == changed and changed
    assert (proposal.agreed_before, proposal.agreed_after) == (agreed_before, agreed_after)
    for change in proposal.changes:
        for turn_id, _ in change.examples:
            assert (before[turn_id], after[turn_id]) == (change.before, change.after)


def test_the_sample_s_missed_endings_are_proposed(connection: duckdb.DuckDBPyConnection) -> None:
    found = propose(connection, DEFAULT, [])
    endings = [proposal.ending for proposal in found]
    assert any(ending and ending.endswith("까") for ending in endings)
    assert endings[-1] is None, "what trails an ending comes last"
    assert all(proposal.mended > proposal.broken for proposal in found[:-1])
    assert found[-1].agreed_after > found[-1].agreed_before


def test_of_endings_that_end_in_one_another_only_one_is_proposed(connection: duckdb.DuckDBPyConnection) -> None:
    endings = [proposal.ending or "" for proposal in propose(connection, DEFAULT, [])[:-1]]
    assert not [(a, b) for a in endings for b in endings if a != b and a.endswith(b)]


def test_what_was_rejected_is_not_proposed_again(connection: duckdb.DuckDBPyConnection) -> None:
    first = propose(connection, DEFAULT, [])[0].ending
    decisions = book(draft("ending", "reject", ending=first), draft("trailing", "reject"))
    assert {first, None}.isdisjoint(proposal.ending for proposal in propose(connection, DEFAULT, decisions))


QUESTIONS = ["먼저 가시겠습니까?", "제가 돕겠습니까?"]


@pytest.mark.parametrize(
    ("replies", "ending"),
    [
        (QUESTIONS, "습니까"),
        ([*QUESTIONS, "여기 있습니까?"], "습니까"),
        (["그렇게 할게용", "밥 먹었어용"], "용"),
        (["그렇게 해", "이미 해"], "해"),
    ],
)
def test_of_endings_that_explain_the_same_turns_the_plainest_is_proposed(
    tmp_path: Path, replies: list[str], ending: str
) -> None:
    """습니까 and not 겠습니까, and not 까 either, in which 할까 ends, too."""
    house = House(tmp_path)
    house.cards(card("C-1", honorific_rule="존댓말", first_person=None))
    house.lexicon(("선거", "현실 정치"))
    house.log("2026-09-01", *(turn(f"T-{n}", turn_at=at(1), reply_text=text) for n, text in enumerate(replies)))
    with house.warehouse() as connection:
        house.bring_in(connection)
        assert house.judge(connection, DAY_1).committed
        first = propose(connection, DEFAULT, [])[0]
    assert (first.ending, first.mended) == (ending, len(replies))


def test_candidates_are_the_ends_of_last_words() -> None:
    found = candidates(["준비되셨습니까? 네ㅎㅎ.", "어디 가십니까", "OK!"], DEFAULT)
    assert found[:2] == ["까", "니까"]
    assert {"습니까", "셨습니까", "십니까"} <= set(found) and "네ㅎㅎ" not in found
    assert "네" in candidates(["네ㅎㅎ."], TRAILING)


def test_a_snapshot_is_enough(connection: duckdb.DuckDBPyConnection, sample: Path, tmp_path: Path) -> None:
    """What the screen reads: a published copy, opened for reading only."""
    from wh_judge.store import open_warehouse
    from wh_judge.store.snapshot import publish

    expected = propose(connection, DEFAULT, [])
    connection.close()
    with open_warehouse(sample / "warehouse.duckdb") as warehouse:
        path = publish(warehouse, tmp_path / "published", keep=1).path
    with duckdb.connect(str(path), read_only=True) as snapshot:
        assert propose(snapshot, DEFAULT, []) == expected


@pytest.mark.parametrize(("endings", "shown"), [(0, 0), (SHOWN, SHOWN), (SHOWN + 1, SHOWN)])
def test_the_first_endings_are_shown_and_how_many_there_are_is_told(endings: int, shown: int) -> None:
    rows = [Proposal((), 0, 0, 0, ending) for ending in (*map(str, range(endings)), None)]
    assert first_ones(rows) == ([*rows[:shown], rows[-1]], shown, endings)
