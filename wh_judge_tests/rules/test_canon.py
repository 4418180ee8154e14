"""세계관 밖 고유명사: named_entities minus canon_entities."""

from unicodedata import normalize

import pytest

from wh_judge.rules.rule import Example, example
from wh_judge_tests.builders import by_kernel, by_references, judged, together

CASES: dict[str, tuple[list[str] | None, list[str], list[str] | None]] = {
    "null names": (None, ["하늘"], None),
    "no names": ([], ["하늘"], []),
    "no names, no canon": ([], [], []),
    "all in the canon": (["하늘", "검술원"], ["검술원", "하늘", "무명"], []),
    "one is not": (["하늘", "리안"], ["하늘"], ["리안"]),
    "the log's order": (["리안", "하늘", "가람"], ["하늘"], ["리안", "가람"]),
    "the log's order and not the alphabet's": (["나", "다", "가"], ["하늘"], ["나", "다", "가"]),
    "each once": (["리안", "가람", "리안", "가람", "리안"], ["하늘"], ["리안", "가람"]),
    "a canon name twice": (["하늘", "하늘"], ["하늘"], []),
    "an empty canon": (["하늘", "하늘"], [], ["하늘"]),
    "a longer name": (["하늘이"], ["하늘"], ["하늘이"]),
    "a shorter name": (["하늘"], ["하늘이"], ["하늘"]),
    "another case": (["Ian"], ["ian"], ["Ian"]),
    "white space": (["하늘 "], ["하늘"], ["하늘 "]),
    "a decomposed name": ([normalize("NFD", "하늘")], ["하늘"], [normalize("NFD", "하늘")]),
    "a name that looks like SQL": (["';--", "\x00"], ["'"], ["';--", "\x00"]),
}
"""Names, canon, and what is left."""


def case(names: list[str] | None, canon: list[str]) -> Example:
    """A turn that keeps to its card but for its names."""
    return example({"named_entities": names}, {"canon_entities": canon})


@pytest.mark.parametrize(("names", "canon", "left"), CASES.values(), ids=CASES)
def test_what_is_left_of_the_names(names: list[str] | None, canon: list[str], left: list[str] | None) -> None:
    assert judged(case(names, canon))["off_canon_entities"] == left


@pytest.mark.parametrize(("names", "canon", "left"), CASES.values(), ids=CASES)
def test_the_verdict_holds_where_something_is_left(
    names: list[str] | None, canon: list[str], left: list[str] | None
) -> None:
    assert judged(case(names, canon))["verdict"] == ("세계관 밖 고유명사" if left else "설정대로 말함")


def test_a_name_need_not_stand_in_the_reply() -> None:
    """The log's list decides; the reply is not searched for names."""
    assert judged(example({"reply_text": "리안이다.", "named_entities": []}, {}))["off_canon_entities"] == []


@pytest.mark.parametrize(
    ("canon", "cited"),
    [
        (["검술원", "하늘"], [("character_card", "canon_entities", None, "검술원", "C-1")]),
        ([], []),
    ],
)
def test_evidence(canon: list[str], cited: list[tuple[str, str, str | None, str, str]]) -> None:
    """The reply, each name once, the card's first name where it has one, their number, and the turn."""
    evidence = judged(case(["리안", "가람", "리안"], canon))["evidence"]
    assert [tuple(row[name] for name in ("source", "field", "agg", "value", "key")) for row in evidence] == [
        ("chat_turn", "reply_text", None, "검을 잡아.", "T-2"),
        ("chat_turn", "named_entities", None, "리안", "T-2"),
        ("chat_turn", "named_entities", None, "가람", "T-2"),
        *cited,
        ("character_card", "canon_entities", "count", str(len(canon)), "C-1"),
        ("chat_turn", "turn_id", None, "T-2", "T-2"),
    ]


@pytest.mark.parametrize(
    ("names", "summary"),
    [
        (["가"], "카드의 이름 2개에 없는 이름 1개(「가」)가 답장에 나왔습니다."),
        (["가", "나", "다"], "카드의 이름 2개에 없는 이름 3개(「가」·「나」·「다」)가 답장에 나왔습니다."),
        (["가", "나", "다", "라"], "카드의 이름 2개에 없는 이름 4개(「가」·「나」·「다」 등)가 답장에 나왔습니다."),
        (["가", "가", "하늘"], "카드의 이름 2개에 없는 이름 1개(「가」)가 답장에 나왔습니다."),
    ],
)
def test_the_summary_names_the_first_three(names: list[str], summary: str) -> None:
    assert judged(case(names, ["검술원", "하늘"]))["summary"] == summary


def test_both_forms_agree_on_the_cases() -> None:
    cases = [case(names, canon) for names, canon, _ in CASES.values()]
    log = together([*cases, case(["가", "나", "다", "라"], [])])
    assert by_kernel(log) == by_references(log)
