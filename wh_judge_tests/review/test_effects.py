"""What decisions change, and which cells of the inputs are their doing."""

from typing import Any

import pytest

from wh_judge.review.decisions import Draft
from wh_judge.review.effects import (
    all_labels,
    cards_with,
    digest_for,
    labels_with,
    lexicon_with,
    settings_with,
)
from wh_judge.review.labels import by_labeller, pair_agreements
from wh_judge.review.made import made_cells
from wh_judge.rules import RuleSettings
from wh_judge_tests.review.build import book, draft, label, name, undo

CARDS: list[dict[str, Any]] = [
    {"character_id": "C-1", "canon_entities": ["하늘", "검술원"]},
    {"character_id": "C-2", "canon_entities": []},
]
LEXICON = [{"term": "과음", "topic": "음주"}, {"term": "선거", "topic": "정치"}, {"term": "과음", "topic": "건강"}]


def canon(*drafts: Draft) -> list[list[str]]:
    return [card["canon_entities"] for card in cards_with(CARDS, book(*drafts))]


@pytest.mark.parametrize(
    ("drafts", "expected"),
    [
        ([], [["하늘", "검술원"], []]),
        ([name("add")], [["하늘", "검술원", "리안"], []]),
        ([name("add"), name("add", "레온")], [["하늘", "검술원", "리안", "레온"], []]),
        ([name("add", "하늘")], [["하늘", "검술원"], []]),
        ([name("block")], [["하늘", "검술원"], []]),
        ([name("add"), name("block")], [["하늘", "검술원"], []]),
        ([name("add"), undo("D-1")], [["하늘", "검술원"], []]),
        ([name("add", character="C-2")], [["하늘", "검술원"], ["리안"]]),
        ([name("add", character="C-9")], [["하늘", "검술원"], []]),
    ],
)
def test_names_that_were_added_stand_in_the_card(drafts: list[Draft], expected: list[list[str]]) -> None:
    assert canon(*drafts) == expected


def term(choice: str, *instead: str) -> Draft:
    return draft("term", choice, term="과음", topic="음주", instead=instead)


def of(narrower: str, choice: str, *instead: str) -> Draft:
    return draft("term", choice, term=narrower, topic="음주", instead=instead)


@pytest.mark.parametrize(
    ("drafts", "expected"),
    [
        ([term("keep")], ["과음 음주", "선거 정치", "과음 건강"]),
        ([term("drop")], ["선거 정치", "과음 건강"]),
        ([term("narrow", "과음하", "과음을")], ["과음하 음주", "과음을 음주", "선거 정치", "과음 건강"]),
        ([term("narrow", "과음하", "과음하")], ["과음하 음주", "선거 정치", "과음 건강"]),
        ([term("drop"), undo("D-1")], ["과음 음주", "선거 정치", "과음 건강"]),
        ([term("drop"), term("keep")], ["과음 음주", "선거 정치", "과음 건강"]),
        ([term("narrow", "과음", "과음을")], ["과음 음주", "과음을 음주", "선거 정치", "과음 건강"]),
        ([term("narrow", "과음하", "과음을"), of("과음하", "drop")], ["과음을 음주", "선거 정치", "과음 건강"]),
        (
            [term("narrow", "과음하", "과음을"), of("과음하", "narrow", "과음하자", "과음했")],
            ["과음하자 음주", "과음했 음주", "과음을 음주", "선거 정치", "과음 건강"],
        ),
        (
            [term("narrow", "과음하"), of("과음하", "narrow", "과음하자"), undo("D-2")],
            ["과음하 음주", "선거 정치", "과음 건강"],
        ),
        (
            [term("narrow", "과음하"), of("과음하", "narrow", "과음하자"), undo("D-1")],
            ["과음 음주", "선거 정치", "과음 건강"],
        ),
        (
            [term("narrow", "과음하"), of("과음하", "narrow", "과음")],
            ["과음 음주", "과음하 음주", "선거 정치", "과음 건강"],
        ),
        ([of("과음하", "drop"), term("narrow", "과음하")], ["선거 정치", "과음 건강"]),
    ],
)
def test_terms_are_dropped_or_narrowed_where_they_stand(drafts: list[Draft], expected: list[str]) -> None:
    assert [f"{row['term']} {row['topic']}" for row in lexicon_with(LEXICON, book(*drafts))] == expected


def ending(choice: str, of: str) -> Draft:
    return draft("ending", choice, ending=of)


@pytest.mark.parametrize(
    ("drafts", "more", "ignore"),
    [
        ([ending("add", "습니까")], ("습니까",), False),
        ([ending("reject", "습니까")], (), False),
        ([ending("add", "요")], (), False),
        ([ending("add", "용"), draft("trailing", "ignore")], ("용",), True),
        ([ending("add", "용~"), draft("trailing", "ignore")], (), True),
        ([draft("trailing", "reject")], (), False),
        ([ending("add", "용"), undo("D-1")], (), False),
    ],
)
def test_endings_are_added_to_the_settings(drafts: list[Draft], more: tuple[str, ...], ignore: bool) -> None:
    default = RuleSettings()
    assert settings_with(default, book(*drafts)) == RuleSettings(
        endings=(*default.endings, *more), ignore_trailing=ignore
    )


GOLD = [{"turn_id": "T-1", "verdict": "말투 어긋남", "note": "어색함"}]


@pytest.mark.parametrize(
    ("drafts", "expected"),
    [
        ([], [("T-1", "말투 어긋남", "어색함")]),
        (
            [label("설정대로 말함", "T-2", why="괜찮음")],
            [("T-1", "말투 어긋남", "어색함"), ("T-2", "설정대로 말함", "괜찮음")],
        ),
        ([label("설정대로 말함", "T-1")], [("T-1", "말투 어긋남", "어색함")]),
        ([label("설정대로 말함", "T-1"), label("설정대로 말함", "T-1", "민호")], [("T-1", "설정대로 말함", None)]),
        ([label("설정대로 말함", "T-2"), undo("D-1")], [("T-1", "말투 어긋남", "어색함")]),
    ],
)
def test_of_several_labels_the_most_given_counts(drafts: list[Draft], expected: list[tuple[Any, ...]]) -> None:
    assert [tuple(row.values()) for row in labels_with(GOLD, book(*drafts))] == expected


def test_who_labelled_what_and_how_far_two_agree() -> None:
    rows = book(
        label("말투 어긋남", "T-1"),
        label("설정대로 말함", "T-2"),
        label("설정대로 말함", "T-3"),
        label("말투 어긋남", "T-1", "민호"),
        label("말투 어긋남", "T-2", "민호"),
        label("말투 어긋남", "T-9", "민호"),
    )
    labels = all_labels(GOLD, rows)
    assert {who: len(of) for who, of in by_labeller(labels).items()} == {None: 1, "지은": 3, "민호": 3}
    pairs = {(pair.one, pair.other): pair for pair in pair_agreements(labels)}
    both = pairs["지은", "민호"]
    assert (both.turns, both.agreed, both.kappa) == (2, 1, 0.0)
    assert both.differing == (("T-2", "설정대로 말함", "말투 어긋남"),)
    assert pairs[None, "지은"].kappa is None and pairs[None, "지은"].agreed == 1


def test_a_person_may_be_called_as_the_file_is_shown() -> None:
    labels = all_labels(GOLD, book(label("설정대로 말함", "T-1", "(file)")))
    assert {who: len(of) for who, of in by_labeller(labels).items()} == {None: 1, "(file)": 1}
    [pair] = pair_agreements(labels)
    assert (pair.one, pair.other, pair.agreed) == (None, "(file)", 0)


def cells(table: str, rows: list[dict[str, Any]], *drafts: Draft, known: int = 0) -> list[tuple[str, str]]:
    decisions = book(*drafts)
    return [(made.cell, made.decision_id) for made in made_cells(table, rows, decisions[:known], decisions)]


def test_the_cells_that_a_decision_made_are_named_as_a_cause_names_them() -> None:
    assert cells("character_card", CARDS, name("add")) == [("character_card C-1 canon_entities: + 리안", "D-1")]
    assert cells("topic_lexicon", LEXICON, term("narrow", "과음하")) == [
        ("topic_lexicon: - 과음 -> 음주", "D-1"),
        ("topic_lexicon: + 과음하 -> 음주", "D-1"),
    ]
    assert cells("settings", [], ending("add", "용"), draft("trailing", "ignore")) == [
        ("endings: + 용", "D-1"),
        ("endings: + ignore_trailing.", "D-2"),
    ]


def test_an_undo_is_what_made_a_cell_go() -> None:
    assert cells("character_card", CARDS, name("add"), undo("D-1"), known=1) == [
        ("character_card C-1 canon_entities: - 리안", "D-2")
    ]
    assert cells("character_card", CARDS, name("add"), name("block"), known=1) == [
        ("character_card C-1 canon_entities: - 리안", "D-2")
    ]


def test_what_a_file_says_anyway_is_no_decision_s_doing() -> None:
    assert cells("character_card", CARDS, name("add", "하늘")) == []
    assert cells("topic_lexicon", LEXICON[1:], term("drop")) == []


def test_what_one_decision_did_and_another_took_back_has_made_nothing() -> None:
    assert cells("character_card", CARDS, name("add"), undo("D-1")) == []
    assert cells("character_card", CARDS, name("add"), undo("D-1"), undo("D-2")) == [
        ("character_card C-1 canon_entities: + 리안", "D-3")
    ]


def test_what_changes_nothing_is_not_in_the_digest() -> None:
    rows = book(name("block"), name("mistake", "리안이"), term("keep"), ending("reject", "용"))
    assert [digest_for(table, rows) for table in ("character_card", "topic_lexicon", "settings")] == ["", "", ""]


def test_each_input_has_its_own_digest() -> None:
    rows = book(name("add"), term("drop"), label("말투 어긋남", "T-1"), ending("add", "용"))
    digests = [digest_for(t, rows) for t in ("character_card", "topic_lexicon", "gold_label", "settings")]
    assert digests == ["D-1 add", "D-2 drop", "D-3 말투 어긋남", "D-4 add"]
