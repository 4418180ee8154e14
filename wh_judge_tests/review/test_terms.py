"""What dropping or narrowing a term would change, told before it is decided, is what the kernel then says."""

from collections import Counter

import duckdb
import pytest

from wh_judge.review.decisions import Draft
from wh_judge.review.effects import lexicon_with
from wh_judge.review.terms import try_term
from wh_judge.rules import RuleSettings
from wh_judge_tests.review.build import book, draft
from wh_judge_tests.review.conftest import by_kernel

DEFAULT = RuleSettings()


def term(choice: str, of: str, topic: str, *instead: str) -> Draft:
    return draft("term", choice, term=of, topic=topic, instead=instead)


CASES = [
    term("drop", "과음", "음주"),
    term("drop", "수면제", "약물"),
    term("narrow", "과음", "음주", "과음하"),
    term("narrow", "과음", "음주", "과음", "오늘"),
    term("narrow", "수면제", "약물", "오늘", "하늘"),
]


@pytest.mark.parametrize("decision", CASES, ids=lambda row: f"{row.choice} {row.term} {' '.join(row.instead)}")
def test_what_is_told_before_is_what_comes(connection: duckdb.DuckDBPyConnection, decision: Draft) -> None:
    trial = try_term(connection, DEFAULT, decision.term or "", decision.topic or "", decision.instead)
    before, agreed_before = by_kernel(DEFAULT)
    after, agreed_after = by_kernel(DEFAULT, lambda rows: lexicon_with(rows, book(decision)))
    changed = Counter((before[turn], after[turn]) for turn in before if before[turn] != after[turn])
    assert {(change.before, change.after): change.turns for change in trial.changes} == changed
    assert trial.turns == sum(changed.values())
    assert (trial.agreed_before, trial.agreed_after) == (agreed_before, agreed_after)
    for change in trial.changes:
        assert 0 < len(change.examples) <= change.turns
        for turn_id, _ in change.examples:
            assert (before[turn_id], after[turn_id]) == (change.before, change.after)


def test_the_cases_change_something_in_both_directions(connection: duckdb.DuckDBPyConnection) -> None:
    trials = [try_term(connection, DEFAULT, row.term or "", row.topic or "", row.instead) for row in CASES]
    found = {(change.before, change.after) for trial in trials for change in trial.changes}
    assert {before == "금지 소재 접촉" for before, _ in found} == {True, False}


def test_a_row_that_the_lexicon_does_not_have_changes_nothing(connection: duckdb.DuckDBPyConnection) -> None:
    assert try_term(connection, DEFAULT, "없는 말", "음주").changes == ()
