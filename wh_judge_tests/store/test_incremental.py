"""Whatever was edited and judged in whatever order: the end is that of a warehouse that only ever saw the end."""

import datetime as dt
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wh_judge.ingest import TABLES
from wh_judge.model import TURN_SCHEMA, ChatTurn, turns_from
from wh_judge.store.inputs import replace_table
from wh_judge.store.schema import DDL, arrow, names
from wh_judge_tests.builders import card, turn
from wh_judge_tests.house import DAYS, House, Table, at, rows

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
edits = st.one_of(
    st.tuples(st.just("say"), st.sampled_from(FILES), st.sampled_from(TURN_IDS), said),
    st.tuples(st.just("say"), st.just("a"), st.sampled_from(TURN_IDS), said),
    st.tuples(st.just("take away"), st.sampled_from(FILES), st.sampled_from(TURN_IDS)),
    st.tuples(st.just("card"), st.sampled_from(["C-1", "C-2"]), st.sampled_from(range(len(CARDS)))),
    st.tuples(st.just("lexicon"), st.permutations(LEXICON_ROWS), st.integers(1, 4)),
    st.tuples(st.just("endings"), st.sampled_from(ENDINGS)),
    st.tuples(st.just("judge"), st.permutations(range(3)), st.integers(1, 3)),
    st.tuples(st.just("judge"), st.permutations(range(3)), st.integers(1, 3)),
)
stories = st.tuples(
    st.lists(st.tuples(st.sampled_from(TURN_IDS), said), min_size=3, max_size=6), st.lists(edits, max_size=9)
)


class Edited:
    """A house whose inputs are edited, and the warehouse that follows."""

    def __init__(self, house: House, connection: Connection) -> None:
        self.house, self.connection = house, connection
        self.files: dict[str, dict[str, ChatTurn]] = {name: {} for name in FILES}
        self.cards = {"C-1": 0, "C-2": 2}
        self.tick = 0
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
            self.write_cards()
        elif kind == "lexicon":
            self.lexicon(what[0][: what[1]])
        elif kind == "endings":
            self.house.options["endings"] = what[0]
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

    def lexicon(self, chosen: Sequence[tuple[str, str]]) -> None:
        self.house.lexicon(*chosen)
        replace_table(self.connection, TABLES["topic_lexicon"], self.house.inputs / "lexicon.csv")

    def judge(self, days: Sequence[dt.date]) -> None:
        for day in days:
            self.tick += 1
            result = self.house.judge(self.connection, day, f"run {self.tick}")
            assert result.committed, [failure for entry in result.validations for failure in entry.failures]


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


def final(connection: Connection) -> dict[str, Table]:
    """What must not depend on the way."""
    days = "day IN (SELECT day FROM chat_turn)"
    return {
        "verdict": rows(connection, "SELECT * FROM verdict ORDER BY turn_id"),
        "unjudged": rows(connection, "SELECT * FROM unjudged ORDER BY turn_id"),
        "outcome": rows(connection, "SELECT * FROM outcome ORDER BY turn_id"),
        "judged_day": rows(
            connection, f"SELECT day, inputs, lexicon_version, version FROM judged_day WHERE {days} ORDER BY day"
        ),
        "validation": rows(connection, f"SELECT * EXCLUDE run_id FROM validation WHERE {days} ORDER BY day, code"),
    }


def afresh(house: House, connection: Connection, root: Path) -> dict[str, Table]:
    """What a warehouse comes to that is given what counts now and judges each day once."""
    current = arrow(connection, f"SELECT {names(TURN_SCHEMA)} FROM chat_turn", TURN_SCHEMA)
    other = House(root, **house.options)
    other.log("all", *turns_from(current))
    for name in ("cards.json", "lexicon.csv"):
        (other.inputs / name).write_bytes((house.inputs / name).read_bytes())
    with in_memory() as fresh:
        other.bring_in(fresh)
        for day in other.stale(fresh):
            assert other.judge(fresh, day).committed
        return final(fresh)


def told(connection: Connection) -> None:
    """The history has no gap and no overlap, and the changes lead to the verdicts that stand."""
    for turn_id, open_rows, overlaps in rows(
        connection,
        """SELECT turn_id, count(*) FILTER (until_run IS NULL), count(*) FILTER (until_at > next_at) FROM (
               SELECT *, lead(written_at) OVER (PARTITION BY turn_id ORDER BY written_at, until_at) AS next_at
               FROM verdict_history) GROUP BY turn_id""",
    ):
        assert (open_rows <= 1, overlaps) == (True, 0), turn_id
    assert (
        rows(connection, "SELECT turn_id FROM verdict_change WHERE len(inputs) = 0 OR list_contains(inputs, 'code')")
        == []
    )
    newest = "SELECT turn_id, arg_max(verdict_after, changed_at) AS last FROM verdict_change GROUP BY turn_id"
    wrong = f"SELECT turn_id, last, verdict FROM ({newest}) JOIN verdict USING (turn_id) WHERE last <> verdict"
    assert rows(connection, wrong) == []


@settings(
    max_examples=int(os.environ.get("WH_JUDGE_EXAMPLES", "12")), suppress_health_check=list(HealthCheck), deadline=None
)
@given(stories, st.permutations(range(3)))
def test_the_way_makes_no_difference(story: tuple[Any, Sequence[Edit]], order: Sequence[int]) -> None:
    check(*story, order)


def check(first: Any, later: Sequence[Edit], order: Sequence[int]) -> None:
    with tempfile.TemporaryDirectory() as folder, in_memory() as connection:
        house = House(Path(folder) / "edited")
        edited = Edited(house, connection)
        edited.files["a"] = {turn_id: spoken(turn_id, **cells) for turn_id, cells in first}
        edited.log("a")
        edited.judge(DAYS)
        for edit in later:
            edited.do(*edit)
        stale = house.stale(connection)
        edited.judge([DAYS[place] for place in order if DAYS[place] in stale])
        assert house.stale(connection) == []
        assert final(connection) == afresh(house, connection, Path(folder) / "fresh")
        told(connection)
