"""A house whose inputs are edited in random ways, and the warehouse that follows."""

import datetime as dt
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb
import pytest
from hypothesis import strategies as st

from wh_judge.inputs import TABLES
from wh_judge.model import TURN_SCHEMA, ChatTurn, LexiconTerm, turns_from
from wh_judge.store import versions
from wh_judge.store.schema import DDL, arrow, names
from wh_judge.store.tables import replace_table
from wh_judge_tests.builders import card, lexicon, turn
from wh_judge_tests.house import DAYS, House, Table, at, rows, spoilt
from wh_judge_tests.store.oracle import Versions, Witness, World

Connection = duckdb.DuckDBPyConnection
Edit = tuple[Any, ...]
"""What is done, and with what: see `Edited.do`."""

TURN_IDS = ("T-1", "T-2", "T-9", "T-10", "T-11", "T-12")
FILES = ("a", "b")
REPLIES = ("몰라.", "선거야.", "하늘이 왔어요.", "주사위 굴려. 선거다.", None)
NAMES: tuple[list[str] | None, ...] = ([], ["하늘"], ["리안"], ["하늘", "리안"], None)
ASKS: dict[str, Any] = {"user_asked_recall": True, "user_message": "동생과 스승 이름 기억나?"}
CARDS: tuple[dict[str, Any] | None, ...] = (
    {"canon_entities": ["하늘", "리안"], "entity_roles": [{"role": "동생", "entity": "하늘"}]},
    {"canon_entities": ["하늘", "리안"], "entity_roles": [{"role": "스승", "entity": "리안"}], "first_person": None},
    {"canon_entities": ["하늘"], "forbidden_topics": ["정치"], "entity_roles": []},
    {
        "honorific_rule": "존댓말",
        "canon_entities": ["하늘", "리안"],
        "forbidden_topics": ["도박", "정치"],
        "entity_roles": [{"role": "동생", "entity": "리안"}, {"role": "스승", "entity": "하늘"}],
    },
    None,
)
LEXICON_ROWS = (("선거", "정치"), ("주사위", "도박"), ("선거", "도박"), ("하늘", "정치"))
ENDINGS = (("요",), ("요", "다"), ("야",))

said = st.fixed_dictionaries(
    {
        "day": st.integers(1, 3),
        "session_id": st.sampled_from(["S-1", "S-1", "S-2"]),
        "character_id": st.sampled_from(["C-1", "C-1", "C-2"]),
        "reply_text": st.sampled_from(REPLIES),
        "named_entities": st.sampled_from(NAMES),
        "asks": st.booleans(),
    }
)
of_card = st.tuples(
    st.just("card"),
    st.sampled_from(["C-1", "C-2"]),
    st.sampled_from(range(len(CARDS))),
    st.sampled_from([0, 10, 24]),
)
judged = st.tuples(st.just("judge"), st.permutations(range(3)), st.integers(1, 3))
failed = st.tuples(st.just("fail"), st.integers(0, 2), st.sampled_from(["spoilt", "unsound", "broken off"]))
edits = st.one_of(
    st.tuples(st.just("say"), st.sampled_from(FILES), st.sampled_from(TURN_IDS), said),
    st.tuples(st.just("say"), st.just("a"), st.sampled_from(TURN_IDS), said),
    st.tuples(st.just("take away"), st.sampled_from(FILES), st.sampled_from(TURN_IDS)),
    of_card,
    st.tuples(st.just("lexicon"), st.permutations(LEXICON_ROWS), st.integers(1, 4)),
    st.tuples(st.just("endings"), st.sampled_from(ENDINGS)),
    st.tuples(st.just("card as of"), st.sampled_from(["now", "turn"])),
    judged,
    judged,
    failed,
)
first = st.lists(st.tuples(st.sampled_from(TURN_IDS), said), min_size=3, max_size=6)
stories = st.tuples(first, st.lists(edits, max_size=9))
of_cards = st.tuples(first, st.lists(st.one_of(of_card, judged, failed), min_size=1, max_size=9))
"""Stories in which only cards are edited."""


BEGIN = dt.datetime.fromisoformat(at(1)) + dt.timedelta(seconds=90)
"""When the first cards came in: between turns of the first day."""


class BrokenOffError(Exception):
    """As if the process ended here."""


class Edited:
    """A house whose inputs are edited, the warehouse that follows, and a witness of what each turn was judged by."""

    def __init__(self, house: House, connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
        self.house, self.connection = house, connection
        self.files: dict[str, dict[str, ChatTurn]] = {name: {} for name in FILES}
        self.cards = {"C-1": 0, "C-2": 2}
        self.versions: dict[str, Versions] = {}
        self.terms: Sequence[LexiconTerm] = ()
        self.witness, self.tick, self.clock = Witness(), 0, BEGIN
        monkeypatch.setattr(versions, "clock", lambda: self.clock)
        self.log("a")
        self.write_cards()
        self.lexicon(LEXICON_ROWS)

    def do(self, kind: str, *what: Any) -> None:
        """One edit, which is brought in, or the judging of some days."""
        if kind == "say":
            name, turn_id, cells = what
            self.files[name][turn_id] = spoken(turn_id, **cells)
            self.log(name)
        elif kind == "take away":
            name, turn_id = what
            self.files[name].pop(turn_id, None)
            self.log(name)
        elif kind == "card":
            self.cards[what[0]] = what[1]
            self.clock += dt.timedelta(hours=what[2], minutes=1)
            self.write_cards()
        elif kind == "lexicon":
            self.lexicon(what[0][: what[1]])
        elif kind == "endings":
            self.house.options["endings"] = what[0]
        elif kind == "card as of":
            self.house.options["card_as_of"] = what[0]
        elif kind == "fail":
            self.fail(DAYS[what[0]], what[1])
        else:
            self.judge([DAYS[place] for place in what[0][: what[1]]])

    def log(self, name: str) -> None:
        path = self.house.log(name, *self.files[name].values())
        # Edits follow each other faster than the clock of the file system.
        self.tick += 1
        os.utime(path, ns=(0, 1_700_000_000_000_000_000 + self.tick))
        self.house.bring_in_log(self.connection)

    def write_cards(self) -> None:
        chosen = {name: CARDS[place] for name, place in self.cards.items()}
        found = [card(name, **cells) for name, cells in chosen.items() if cells is not None]
        self.house.cards(*found, card("C-9"))
        replace_table(self.connection, TABLES["character_card"], self.house.inputs / "cards.json")
        for row in found:
            past = self.versions.get(row.character_id, ())
            if not past or past[-1][1] != row:
                self.versions[row.character_id] = (*past, (self.clock, row))

    def lexicon(self, chosen: Sequence[tuple[str, str]]) -> None:
        self.house.lexicon(*chosen)
        self.terms = lexicon(*chosen)
        replace_table(self.connection, TABLES["topic_lexicon"], self.house.inputs / "lexicon.csv")

    def judge(self, days: Sequence[dt.date]) -> None:
        for day in days:
            self.tick += 1
            result = self.house.judge(self.connection, day, f"run {self.tick}")
            assert result.committed, [failure for entry in result.validations for failure in entry.failures]
            told = rows(
                self.connection, "SELECT turn_id, inputs FROM verdict_change WHERE run_id = ?", f"run {self.tick}"
            )
            expected = self.witness.judged(day, self.world())
            assert {turn_id for turn_id, _ in told} == expected.keys()
            for turn_id, inputs in told:
                assert tuple(inputs) in expected[turn_id], turn_id

    def fail(self, day: dt.date, how: str) -> None:
        """Judge a day in vain."""

        def break_off(_: Any) -> None:
            raise BrokenOffError

        before = held(self.connection)
        if how == "spoilt":
            self.house.judge(
                self.connection, day, "failed", change=lambda j: spoilt(j) if len(j.verdicts) else j, sound=False
            )
        elif how == "unsound":
            assert not self.house.judge(self.connection, day, "failed", sound=False).committed
        else:
            with pytest.raises(BrokenOffError):
                self.house.judge(self.connection, day, "failed", seen=break_off)
        assert held(self.connection) == before

    def world(self) -> World:
        """What counts now."""
        current = turns_from(arrow(self.connection, f"SELECT {names(TURN_SCHEMA)} FROM chat_turn", TURN_SCHEMA))
        present = [name for name, place in self.cards.items() if CARDS[place] is not None]
        return World(
            {row.turn_id: row for row in current},
            {name: self.versions[name] for name in present},
            self.terms,
            self.house.settings.rules,
            self.house.settings.card_as_of == "turn",
        )


def held(connection: Connection) -> dict[str, Table]:
    """All that a day that fails must leave as it is."""
    kept = ("verdict_row", "verdict_closed", "verdict_change", "unjudged", "unjudged_left", "outcome", "judged_day")
    return {name: rows(connection, f"SELECT * FROM {name} ORDER BY ALL") for name in kept}


def spoken(turn_id: str, *, day: int, asks: bool, **cells: Any) -> ChatTurn:
    minute = TURN_IDS.index(turn_id)
    return turn(turn_id, turn_at=at(day, minute), **cells, **(ASKS if asks else {}))


@contextmanager
def in_memory() -> Iterator[Connection]:
    """A warehouse without a file."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'Asia/Seoul'")
        connection.execute(DDL)
        yield connection
