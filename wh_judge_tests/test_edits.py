"""Differences between the inputs of a turn: put back one by one they give what was, and none is more than it says."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wh_judge.causes import judge_inputs
from wh_judge.cell_edits import cell_edits
from wh_judge.edits import Difference, Inputs, input_edits
from wh_judge.list_edits import MOST_ELEMENTS
from wh_judge.model import CharacterCard, ChatTurn, LexiconTerm
from wh_judge.rules import Lexicon
from wh_judge.rules.rule import Mention
from wh_judge_tests.builders import card, lexicon, turn

NAMES, TOPICS, ROLES, TERMS = ("하늘", "리안", "도윤"), ("정치", "도박"), ("동생", "스승"), ("선거", "주사위", "국회")


def some(pool: Any, most: int = 3) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(pool), max_size=most, unique=True)


turns = st.builds(
    turn,
    st.just("T-5"),
    session_id=st.sampled_from(["S-1", "S-1", "S-2"]),
    character_id=st.sampled_from(["C-1", "C-1", "C-2"]),
    turn_at=st.sampled_from(["2026-09-01T10:00:00+09:00", "2026-09-02T10:00:00+09:00"]),
    reply_text=st.lists(st.sampled_from([*TERMS, "하늘이.", "가요.", "가자."]), max_size=3).map(" ".join) | st.none(),
    named_entities=some(NAMES) | st.none(),
    first_person=st.sampled_from(["나", "저", None]),
    user_asked_recall=st.sampled_from([True, True, False, None]),
    user_message=st.sampled_from(["동생과 스승?", "동생?", "스승?", None]),
)
roles = st.fixed_dictionaries({"role": st.sampled_from(ROLES), "entity": st.sampled_from(NAMES)})
cards = st.builds(
    card,
    st.just("C-1"),
    honorific_rule=st.sampled_from(["반말", "존댓말", None]),
    first_person=st.sampled_from(["나", None]),
    canon_entities=some(NAMES),
    forbidden_topics=some(TOPICS),
    entity_roles=st.lists(roles, max_size=3),
)
lexicons = st.permutations([(term, topic) for term in TERMS for topic in TOPICS]).flatmap(
    lambda rows: st.integers(0, len(rows)).map(lambda n: Lexicon(lexicon(*rows[:n])))
)
endings = st.permutations(["요", "자", "이"]).flatmap(lambda e: st.integers(1, 3).map(lambda n: tuple(e[:n])))
mentions = st.dictionaries(
    st.sampled_from(NAMES), st.builds(Mention, st.sampled_from(["T-1", "T-2", "T-9"]), st.none())
)


def hits(terms: Lexicon, said: ChatTurn) -> tuple[LexiconTerm, ...]:
    return tuple(row for row in terms.rows if row.term in (said.reply_text or ""))


@st.composite
def differences(draw: st.DrawFn) -> Difference:
    """Two sets of inputs in which every input is as it was half of the time."""

    def twice(of: st.SearchStrategy[Any]) -> tuple[Any, Any]:
        before = draw(of)
        return before, draw(st.just(before) | of)

    said, by, terms, ends, named = map(twice, (turns, cards | st.none(), lexicons, endings, mentions))
    before, after = (Inputs(said[n], by[n], hits(terms[n], said[n]), ends[n], named[n]) for n in (0, 1))
    return Difference(before, after, terms, draw(st.booleans()))


def cells(difference: Difference) -> list[Any]:
    both = [said for said in (difference.after.turn, difference.before.turn) if said]
    return [cell for edit in input_edits(difference) for cell in cell_edits(edit, difference, both)]


@given(differences())
def test_all_inputs_put_back_give_what_was(difference: Difference) -> None:
    inputs = difference.after
    for edit in input_edits(difference):
        inputs = edit.undo(inputs)
    assert inputs == difference.before


@given(differences())
def test_all_cells_put_back_give_the_verdict_that_was(difference: Difference) -> None:
    inputs = difference.after
    for cell in cells(difference):
        inputs = cell.undo(inputs)
    assert judge_inputs(inputs) == judge_inputs(difference.before)


def of_card(before: CharacterCard, after: CharacterCard, said: ChatTurn) -> list[str]:
    """The cells of two cards, as far as they can matter to the turn, without the character."""
    none = Lexicon(lexicon(("선거", "정치")))
    difference = Difference(Inputs(said, before, (), (), {}), Inputs(said, after, (), (), {}), (none, none), False)
    return [cell.cell.split(" ", 2)[2] for cell in cells(difference)]


def test_only_what_can_matter_to_the_turn_is_a_cell() -> None:
    said = turn("T-5", reply_text="선거야.", named_entities=["하늘"], user_message="동생?", user_asked_recall=True)
    role = {"role": "동생", "entity": "하늘"}
    before = card(
        "C-1", canon_entities=[], forbidden_topics=["도박"], entity_roles=[{"role": "스승", "entity": "리안"}]
    )
    after = card("C-1", canon_entities=["하늘", "리안"], forbidden_topics=["정치"], entity_roles=[role])
    assert of_card(before, after, said) == [
        "canon_entities: + 하늘",
        "forbidden_topics: + 정치",
        "entity_roles: + 동생 -> 하늘",
    ]


def test_another_order_beside_an_addition_is_a_cell_of_its_own() -> None:
    said = turn("T-5", named_entities=list(NAMES))
    before, after = card("C-1", canon_entities=["하늘", "리안"]), card("C-1", canon_entities=["도윤", "리안", "하늘"])
    assert of_card(before, after, said) == ["canon_entities: in another order", "canon_entities: + 도윤"]


def test_a_list_in_which_much_differs_is_one_cell() -> None:
    names = [f"이름{n}" for n in range(2_000)]
    said = turn("T-5", named_entities=names)
    few, many = names[:MOST_ELEMENTS], names[: MOST_ELEMENTS + 1]
    none = card("C-1", canon_entities=["하늘"])
    assert len(of_card(none, card("C-1", canon_entities=["하늘", *few]), said)) == MOST_ELEMENTS
    assert of_card(none, card("C-1", canon_entities=["하늘", *many]), said) == ["canon_entities: 21 added, 0 removed"]
    assert of_card(card("C-1", canon_entities=names), none, said) == ["canon_entities: 0 added, 2000 removed"]
