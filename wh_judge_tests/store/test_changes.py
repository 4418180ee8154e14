"""What is kept of a verdict that changed: before, after, and the cause."""

from collections.abc import Callable
from typing import Any

import duckdb
import pytest

from wh_judge.store import changes, inputs_version, plan, verdict_rows
from wh_judge.store.changes import read_changes
from wh_judge_tests.builders import card, turn
from wh_judge_tests.house import CARDS, DAY_1, DAY_2, DAY_3, DAYS, LEXICON, LOG, House, at, rows

Connection = duckdb.DuckDBPyConnection
Edit = Callable[[House], None]
KEPT, SPEECH, CANON, FORBIDDEN, RECALL = (
    "설정대로 말함",
    "말투 어긋남",
    "세계관 밖 고유명사",
    "금지 소재 접촉",
    "앞 회차를 기억 못 함",
)


def with_card(character: str, **cells: Any) -> Edit:
    return lambda house: house.cards(
        *(c.model_copy(update=cells if c.character_id == character else {}) for c in CARDS)
    )


def with_lexicon(*lexicon: tuple[str, str]) -> Edit:
    return lambda house: house.lexicon(*lexicon)


def with_turn(day: int, place: int, file: str | None = None, **cells: Any) -> Edit:
    """Another version of a turn of the log, in its own file or in another."""

    def edit(house: House) -> None:
        lines = list(LOG[day - 1])
        lines[place] = lines[place].model_copy(update=cells)  # type: ignore[union-attr]
        house.log(file or str(DAYS[day - 1]), *([lines[place]] if file else lines))

    return edit


def without_turn(day: int, place: int) -> Edit:
    return lambda house: _write(house, day, place)


def _write(house: House, day: int, place: int) -> None:
    house.log(str(DAYS[day - 1]), *(line for number, line in enumerate(LOG[day - 1]) if number != place))


def with_endings(*endings: str) -> Edit:
    return lambda house: house.options.update(endings=endings)


def judged(connection: Connection, house: House, run: str = "second") -> list[tuple[Any, ...]]:
    """Bring in and judge what is stale: of each change the turn, the verdicts, the inputs and the cells."""
    house.bring_in(connection)
    for day in house.stale(connection):
        assert house.judge(connection, day, run).committed
    found = [change for change in read_changes(connection) if change["run_id"] == run]
    names = ("turn_id", "verdict_before", "verdict_after", "inputs", "cells")
    return [tuple(change[name] for name in names) for change in found]


POLITE = "저는 그렇게 생각해요. 쉬세요."
PLAIN = "검을 잡아. 오늘은 손목부터 본다."


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (
            with_card("C-3", honorific_rule="존댓말", first_person="저"),
            [
                (
                    "T-14",
                    SPEECH,
                    KEPT,
                    ["character_card"],
                    [
                        f"character_card C-3 {cell}"
                        for cell in ("honorific_rule: null -> 존댓말", "first_person: 나 -> 저")
                    ],
                )
            ],
        ),
        (
            with_card("C-1", canon_entities=["검술원", "하늘", "리안"]),
            [("T-8", CANON, KEPT, ["character_card"], ["character_card C-1 canon_entities: + 리안"])],
        ),
        (
            with_lexicon(*LEXICON, ("시끄럽", "도박")),
            [],
        ),
        (
            with_lexicon(LEXICON[0], LEXICON[1]),
            [("T-18", FORBIDDEN, KEPT, ["topic_lexicon"], ["topic_lexicon: - 주사위 -> 도박"])],
        ),
        (
            with_lexicon(("쉬세요", "도박"), *LEXICON),
            [
                (name, verdict, FORBIDDEN, ["topic_lexicon"], ["topic_lexicon: + 쉬세요 -> 도박"])
                for name, verdict in [("T-2", SPEECH), ("T-3", KEPT), ("T-9", KEPT), ("T-14", SPEECH), ("T-16", SPEECH)]
            ],
        ),
        (
            with_turn(3, 4, reply_text=POLITE),
            [("T-17", KEPT, SPEECH, ["chat_turn"], [f"chat_turn T-17 reply_text: {PLAIN} -> {POLITE}"])],
        ),
        (
            with_turn(3, 4, "later", reply_text=POLITE),
            [("T-17", KEPT, SPEECH, ["chat_turn"], [f"chat_turn T-17 reply_text: {PLAIN} -> {POLITE}"])],
        ),
        (
            with_turn(1, 3, named_entities=[]),
            [("T-6", RECALL, KEPT, ["mention"], ["named_entities of an earlier turn: - 하늘, chat_turn T-4"])],
        ),
        (
            lambda house: house.cards(*CARDS, card("C-9")),
            [("T-5", None, KEPT, ["character_card"], ["character_card C-9: + card"])],
        ),
        (
            lambda house: house.cards(*CARDS[:2]),
            [
                ("T-14", SPEECH, None, ["character_card"], ["character_card C-3: - card"]),
                ("T-15", FORBIDDEN, None, ["character_card"], ["character_card C-3: - card"]),
            ],
        ),
        (without_turn(3, 5), [("T-18", FORBIDDEN, None, ["chat_turn"], ["chat_turn T-18: - turn"])]),
        (lambda house: house.log("more", turn("T-90", turn_at=at(3))), []),
    ],
    ids=[
        "a cell of the card",
        "an element of the card",
        "a row that makes no difference",
        "a row taken away",
        "a row added",
        "its own text",
        "its own text in another file",
        "a name in an earlier turn of another day",
        "a card came",
        "a card went",
        "the turn went",
        "a first judgement",
    ],
)
def test_a_change_is_kept_with_its_cause(
    edit: Edit, expected: list[tuple[Any, ...]], warehouse: Connection, house: House
) -> None:
    edit(house)
    found = judged(warehouse, house)
    rest = [row for row in found if row[1] == row[2]]
    assert [row for row in found if row not in rest] == expected
    assert {tuple(inputs) for *_, inputs, _ in rest} <= {tuple(inputs) for *_, inputs, _ in expected}


def test_an_ending_is_named(warehouse: Connection, house: House) -> None:
    with_endings("요", "죠", "니다", "십시오", "더군")(house)
    [change] = [row for row in judged(warehouse, house) if row[0] == "T-7"]
    assert change == ("T-7", FORBIDDEN, FORBIDDEN, ["endings"], ["endings: + 더군"])


def test_the_code_is_named_where_no_input_explains_a_change(
    warehouse: Connection, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the old code had given T-17 another verdict, and the new code gave this one."""
    warehouse.execute("UPDATE verdict_row SET verdict = '말투 어긋남', row_hash = '' WHERE turn_id = 'T-17'")
    [(old,)] = rows(warehouse, "SELECT DISTINCT code_version FROM verdict")
    for module in (inputs_version, plan, verdict_rows, changes):
        monkeypatch.setattr(module, "rules_version", lambda: "new")
    assert judged(warehouse, house) == [("T-17", SPEECH, KEPT, ["code"], [f"code: {old} -> new"])]
    assert rows(warehouse, "SELECT DISTINCT code_version FROM verdict") == [("new",)]


def test_other_code_that_gives_the_same_is_no_change(
    warehouse: Connection, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (inputs_version, plan, verdict_rows, changes):
        monkeypatch.setattr(module, "rules_version", lambda: "new")
    assert judged(warehouse, house) == []


def test_two_edits_of_which_one_did_it(warehouse: Connection, house: House) -> None:
    with_card("C-1", canon_entities=["검술원", "하늘", "리안"])(house)
    with_lexicon(*LEXICON, ("검술원", "행사"))(house)
    with_turn(2, 2, user_message="뭐라고?")(house)
    [change] = [row for row in judged(warehouse, house) if row[0] == "T-8"]
    assert change[1:4] == (CANON, KEPT, ["character_card"])


def test_two_inputs_are_named_where_it_took_both(warehouse: Connection, house: House) -> None:
    with_card("C-1", forbidden_topics=["행사"])(house)
    with_lexicon(("불러", "행사"))(house)
    [change] = [row for row in judged(warehouse, house) if row[0] == "T-7"]
    assert change[1:3] == (FORBIDDEN, KEPT)
    assert set(change[3]) <= {"character_card", "topic_lexicon"}
    [change] = [row for row in judged(warehouse, house) if row[0] == "T-8"]
    assert change[1:3] == (CANON, FORBIDDEN)


def test_fields_before_and_after_are_kept(warehouse: Connection, house: House) -> None:
    with_card("C-1", canon_entities=["검술원", "하늘", "리안"])(house)
    judged(warehouse, house)
    [change] = [row for row in read_changes(warehouse) if row["turn_id"] == "T-8"]
    assert change["fields_before"]["verdict"] == CANON
    assert change["fields_before"]["off_canon_entities"] == ["리안"]
    assert change["fields_after"]["off_canon_entities"] == []
    assert list(change["fields_before"]) == list(change["fields_after"])


def test_a_turn_that_had_no_verdict_has_no_fields(warehouse: Connection, house: House) -> None:
    house.cards(*CARDS, card("C-9"))
    judged(warehouse, house)
    [change] = read_changes(warehouse)
    assert (change["turn_id"], change["fields_before"]) == ("T-5", None)
    assert change["fields_after"]["verdict"] == KEPT


def test_nothing_is_kept_of_a_first_judgement(warehouse: Connection) -> None:
    assert read_changes(warehouse) == []


def test_changes_are_read_by_the_day_of_their_turn(warehouse: Connection, house: House) -> None:
    with_card("C-3", honorific_rule="존댓말", first_person="저")(house)
    house.log(str(DAY_1), LOG.day_1[0].model_copy(update={"first_person": "저"}), *LOG.day_1[1:])  # type: ignore[union-attr]
    judged(warehouse, house)
    assert {change["day"] for change in read_changes(warehouse)} == {str(DAY_1), str(DAY_3)}
    assert {change["day"] for change in read_changes(warehouse, DAY_2)} == {str(DAY_3)}
    assert {change["day"] for change in read_changes(warehouse, None, DAY_2)} == {str(DAY_1)}
    assert read_changes(warehouse, DAY_2, DAY_2) == []


@pytest.mark.parametrize("order", [(DAY_1, DAY_3), (DAY_3, DAY_1)], ids=["old day first", "new day first"])
@pytest.mark.parametrize("reply", [PLAIN, POLITE], ids=["the same reply", "another reply"])
def test_a_turn_that_moves_to_another_day_is_compared_with_itself(
    reply: str, order: tuple[Any, ...], warehouse: Connection, house: House
) -> None:
    with_turn(1, 0, turn_at=turn("T-1", turn_at=at(3, 1)).turn_at, reply_text=reply)(house)
    house.bring_in(warehouse)
    for day in order:
        assert house.judge(warehouse, day, "second").committed
    found = [(change["turn_id"], change["verdict_after"], change["inputs"]) for change in read_changes(warehouse)]
    assert found == ([("T-1", SPEECH, ["chat_turn"])] if reply == POLITE else [])


def test_a_change_and_the_change_back_are_both_kept(warehouse: Connection, house: House) -> None:
    with_card("C-1", canon_entities=["검술원", "하늘", "리안"])(house)
    judged(warehouse, house, "second")
    house.cards(*CARDS)
    judged(warehouse, house, "third")
    found = [(c["run_id"], c["verdict_before"], c["verdict_after"], c["cells"]) for c in read_changes(warehouse)]
    assert found == [
        ("second", CANON, KEPT, ["character_card C-1 canon_entities: + 리안"]),
        ("third", KEPT, CANON, ["character_card C-1 canon_entities: - 리안"]),
    ]
