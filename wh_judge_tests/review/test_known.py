"""A decision is about something that there is, or that there was when somebody decided on it before."""

from pathlib import Path
from typing import Any
from unicodedata import normalize

import duckdb
import pytest

from wh_judge.errors import UserError
from wh_judge.review.book import book_of, read_book, write_down
from wh_judge.review.decisions import Draft
from wh_judge.review.known import Given, by_hand, check_endings, decide
from wh_judge.rules import RuleSettings
from wh_judge_tests.review.build import draft, hit, label, name, undo


@pytest.fixture
def published() -> duckdb.DuckDBPyConnection:
    """As much of a snapshot as is looked at: one turn, one card, one row of the lexicon."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE chat_turn AS SELECT 'T-1' AS turn_id, '요즘 선거 얘기로' AS reply_text")
    connection.execute("INSERT INTO chat_turn VALUES ('T-2', NULL)")
    connection.execute(
        "CREATE TABLE character_card AS SELECT '캐릭' AS character_id, '교관' AS name, ['하늘'] AS canon_entities"
    )
    connection.execute("CREATE TABLE topic_lexicon AS SELECT '선거' AS term, '현실 정치' AS topic")
    return connection


def term(choice: str, of: str, topic: str, *instead: str) -> Draft:
    return draft("term", choice, term=of, topic=topic, instead=instead)


GOOD = [
    name("add", "새 이름", "캐릭"),
    name("block", "새 이름", normalize("NFD", "캐릭")),
    name("add", "교관", "캐릭"),
    name("block", "하늘", "캐릭"),
    name("mistake", "하늘이", "캐릭", instead=["하늘"]),
    name("mistake", "교관님", "캐릭", instead=["교관"]),
    name("mistake", "그건", "캐릭"),
    hit("harmless", "T-1"),
    term("narrow", "선거", "현실 정치", "선거 얘기"),
    draft("speech", "반말", turn_id="T-1"),
    draft("ending", "add", ending="용"),
    draft("ending", "add", ending="욥", turn_id="T-2"),
    draft("trailing", "ignore"),
    label("말투 어긋남", "T-2"),
    undo("D-2"),
]


def test_what_there_is_can_be_decided_on(published: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    assert len(decide(published, tmp_path, [one for row in GOOD for one in by_hand(row)])) == len(GOOD)


BAD = [
    (name("add", "새 이름", "C-9"), "name add: there is no character 「C-9」; correct it, or let wh-judge run publish"),
    (name("add", "새 이름", "캐릭 "), "there is no character 「캐릭 」"),
    (name("mistake", "리안이", "캐릭", instead=["리안"]), "the card of 「캐릭」 does not have the name 「리안」"),
    (
        name("add", "하늘", "캐릭"),
        "the card of 「캐릭」 has the name 「하늘」 already, so that there is nothing to add",
    ),
    (hit("harmful", "T-9"), "there is no turn 「T-9」"),
    (hit("harmful", "T-1", "여당"), "the lexicon has no row 「여당」 -> 「현실 정치」"),
    (hit("harmful", "T-1", topic="음주"), "the lexicon has no row 「선거」 -> 「음주」"),
    (hit("harmful", "T-2"), "the reply of turn 「T-2」 does not hold 「선거」"),
    (term("drop", "선거", "음주"), "the lexicon has no row"),
    (draft("speech", "반말", turn_id="t-1"), "there is no turn"),
    (draft("ending", "add", ending="용", turn_id="T-9"), "there is no turn"),
    (label("말투 어긋남", "' OR 1 = 1 --"), "there is no turn 「' OR 1 = 1 --」"),
    (label("말투 어긋남", "T" * 1_000_000), "there is no turn 「" + "T" * 40 + "…」"),
]


@pytest.mark.parametrize(("row", "words"), BAD)
def test_what_there_is_not_is_named_and_nothing_is_written(
    published: duckdb.DuckDBPyConnection, tmp_path: Path, row: Draft, words: str
) -> None:
    with pytest.raises(UserError) as caught:
        decide(published, tmp_path, [*by_hand(name("add", character="캐릭")), *by_hand(row)])
    assert words in str(caught.value) and len(str(caught.value)) < 250
    assert read_book(book_of(tmp_path)) == []


def test_the_row_of_a_file_is_named(published: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^tasks\.csv:7: there is no turn"):
        decide(published, tmp_path, [Given(label("말투 어긋남", "T-9"), "tasks.csv:7")])


@pytest.mark.parametrize("row", [name("add", "리안", "C-9"), hit("harmless", "T-9"), term("drop", "과음", "음주")])
def test_what_is_gone_since_somebody_decided_on_it_stays_known(
    published: duckdb.DuckDBPyConnection, tmp_path: Path, row: Draft
) -> None:
    write_down(book_of(tmp_path), [row])
    other = {"add": "block", "harmless": "harmful", "drop": "keep"}[row.choice]
    again = Draft.model_validate(row.model_dump() | {"choice": other})
    assert [one.decision_id for one in decide(published, tmp_path, by_hand(again))] == ["D-2"]
    assert [one.decision_id for one in decide(None, tmp_path, by_hand(undo("D-2")))] == ["D-3"]


@pytest.mark.parametrize(
    ("row", "known"), [(label("말투 어긋남", "T-1"), False), (draft("ending", "add", ending="용"), True)]
)
def test_where_nothing_is_published_only_what_needs_nothing_is_taken(tmp_path: Path, row: Draft, known: bool) -> None:
    if known:
        assert decide(None, tmp_path, by_hand(row))
        return
    with pytest.raises(UserError, match=r"nothing is published yet.*run wh-judge run first"):
        decide(None, tmp_path, by_hand(row))


def test_a_snapshot_is_asked_once_for_a_thing(published: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    class Counting:
        asked = 0

        def execute(self, *words: Any) -> duckdb.DuckDBPyConnection:
            self.asked += 1
            return published.execute(*words)

    counting = Counting()
    given = [one for n in range(9) for one in by_hand(name("add", f"이름 {n}", "캐릭"))]
    decide(counting, tmp_path, given)  # type: ignore[arg-type]
    assert counting.asked == 2, "whether there is the card, and its names"


def test_a_name_that_a_card_has_by_a_decision_may_be_added_again(
    published: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """The copy has the name until the next run, also where the decision is undone by now."""
    write_down(book_of(tmp_path), [name("add", "하늘", "캐릭")])
    assert decide(published, tmp_path, by_hand(name("add", "하늘", "캐릭"))) == []
    write_down(book_of(tmp_path), [undo("D-1")])
    assert [row.decision_id for row in decide(published, tmp_path, by_hand(name("add", "하늘", "캐릭")))] == ["D-3"]


@pytest.mark.parametrize(
    ("row", "endings", "ignoring", "words"),
    [
        (draft("trailing", "ignore"), ("요", "용~"), False, "the setting endings names 「용~」"),
        (draft("trailing", "reject"), ("요", "용~"), False, None),
        (draft("trailing", "ignore"), ("요",), False, None),
        (draft("ending", "add", ending="용♡"), ("요",), True, "「용♡」 holds a mark that is passed over"),
        (draft("ending", "reject", ending="용♡"), ("요",), True, None),
        (draft("ending", "add", ending="용♡"), ("요",), False, None),
        (draft("ending", "add", ending="용"), ("요",), True, None),
    ],
)
def test_what_could_never_count_is_not_decided(
    row: Draft, endings: tuple[str, ...], ignoring: bool, words: str | None
) -> None:
    configured = RuleSettings(endings=endings)
    if words is None:
        check_endings(by_hand(row), configured, ignoring=ignoring)
        return
    with pytest.raises(UserError, match=words):
        check_endings(by_hand(row), configured, ignoring=ignoring)
