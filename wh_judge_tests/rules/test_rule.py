"""What a rule is made of: settings that can be used, examples that are complete."""

from unicodedata import normalize

import pytest
from pydantic import ValidationError

from wh_judge.rules import RuleSettings
from wh_judge.rules.rule import DEFAULT_ENDINGS, DEFAULT_SETTINGS, cite, cite_count, example
from wh_judge.text import WHITESPACE
from wh_judge_tests.builders import judged


def test_the_endings_are_those_of_the_specification() -> None:
    assert RuleSettings().endings == DEFAULT_SETTINGS.endings == DEFAULT_ENDINGS == ("요", "죠", "니다", "십시오")


@pytest.mark.parametrize("endings", [(), ("",), ("요", ""), *(((f"가{c}",)) for c in (*WHITESPACE, *".?!．？！。"))])
def test_an_ending_that_no_last_word_can_have_is_refused(endings: tuple[str, ...]) -> None:
    """The set-based form relies on it."""
    with pytest.raises(ValidationError):
        RuleSettings(endings=endings)


@pytest.mark.parametrize("ending", ["요", "…", "~", "[가-힣]", "\u200b", "\x00"])
def test_any_other_ending_is_taken(ending: str) -> None:
    assert RuleSettings(endings=(ending,)).endings == (ending,)


def test_an_ending_is_composed_as_all_text_is() -> None:
    """A decomposed one would never be found in a reply."""
    assert RuleSettings(endings=(normalize("NFD", "네요"),)).endings == ("네요",)


def test_an_example_without_changes_keeps_to_its_card() -> None:
    record = judged(example({}, {}))
    assert (record["verdict"], record["hedge"]) == ("설정대로 말함", None)


def test_an_example_is_checked_as_any_row_is() -> None:
    with pytest.raises(ValidationError):
        example({"turn_id": " "}, {})


def test_a_cell_is_cited_without_an_aggregate() -> None:
    row = cite("chat_turn", "T-1", "reply_text", None)
    assert (row.source, row.key, row.field, row.agg, row.value) == ("chat_turn", "T-1", "reply_text", None, None)


def test_a_number_of_elements_is_cited_as_a_count() -> None:
    row = cite_count("character_card", "C-1", "canon_entities", 0)
    assert (row.source, row.key, row.field, row.agg, row.value) == (
        "character_card",
        "C-1",
        "canon_entities",
        "count",
        0,
    )
