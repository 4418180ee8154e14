"""A folder of inputs and a folder of data, and a small log for them: seventeen turns of three days in 2026-09.

`House` writes inputs and does with the warehouse what the graph does, without Dagster. `settle` fills one with `LOG`.
"""

import datetime as dt
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import pytest

from wh_judge.day import judge_day
from wh_judge.inputs import TABLES
from wh_judge.judge import Judgement, judge
from wh_judge.model import VERDICT_SCHEMA, CharacterCard, ChatTurn
from wh_judge.settings import Settings
from wh_judge.store import open_warehouse
from wh_judge.store.days import DayResult, ReadAll
from wh_judge.store.inputs import bring_in
from wh_judge.store.schema import PUBLISHED
from wh_judge.store.stale import find_stale
from wh_judge.store.tables import replace_table
from wh_judge_tests.builders import card, turn

Line = ChatTurn | dict[str, Any] | str
"""A line of a log file; a text is written as it is."""

Table = list[tuple[Any, ...]]

DAY_1, DAY_2, DAY_3 = DAYS = [dt.date(2026, 9, day) for day in (1, 2, 3)]


def at(day: int, minute: int = 0) -> str:
    """A time on this day of 2026-09."""
    return f"2026-09-{day:02}T10:{minute:02}:00+09:00"


class House:
    """A folder of inputs and a folder of data."""

    def __init__(self, root: Path, **options: Any) -> None:
        self.inputs, self.data = root / "inputs", root / "data"
        self.options = options
        """Settings that are not as they are by default."""
        self.turns.mkdir(parents=True, exist_ok=True)
        self.data.mkdir(exist_ok=True)

    @property
    def turns(self) -> Path:
        return self.inputs / "turns"

    @property
    def settings(self) -> Settings:
        return Settings.model_validate({"data": self.data, "inputs": self.inputs, "first_day": DAY_1} | self.options)

    def log(self, name: str, *lines: Line) -> Path:
        """Write a log file."""
        path = self.turns / f"{name}.jsonl"
        path.write_text("".join(_line(line) + "\n" for line in lines), encoding="utf-8")
        return path

    def cards(self, *cards: CharacterCard) -> None:
        documents = [card.model_dump(mode="json") for card in cards]
        (self.inputs / "cards.json").write_text(json.dumps(documents, ensure_ascii=False), encoding="utf-8")

    def lexicon(self, *rows: tuple[str, str]) -> None:
        self._csv("lexicon.csv", "term,topic", rows)

    def gold(self, *rows: tuple[str, str]) -> None:
        self._csv("gold.csv", "turn_id,verdict", rows)

    def _csv(self, name: str, head: str, rows: Sequence[tuple[str, ...]]) -> None:
        text = "\n".join([head, *(",".join(row) for row in rows)])
        (self.inputs / name).write_text(text + "\n", encoding="utf-8")

    @contextmanager
    def warehouse(self) -> Iterator[duckdb.DuckDBPyConnection]:
        with open_warehouse(self.settings.warehouse) as connection:
            yield connection

    def bring_in(self, connection: duckdb.DuckDBPyConnection) -> list[str]:
        """All inputs into the warehouse; the names of the log files that were read."""
        replace_table(connection, TABLES["topic_lexicon"], self.inputs / "lexicon.csv")
        replace_table(connection, TABLES["character_card"], self.inputs / "cards.json")
        return self.bring_in_log(connection)

    def bring_in_log(self, connection: duckdb.DuckDBPyConnection) -> list[str]:
        """New and changed log files into the warehouse; their names."""
        return bring_in(connection, self.settings)

    def judge(
        self,
        connection: duckdb.DuckDBPyConnection,
        day: dt.date,
        run_id: str = "run",
        *,
        sound: bool = True,
        change: Callable[[Judgement], Judgement] = lambda judgement: judgement,
        seen: Callable[[pa.Table], object] = id,
    ) -> DayResult:
        """Judge and validate what must be judged of a day.

        Args:
            connection: the warehouse.
            day: the day.
            run_id: what the day is to say of where it comes from.
            sound: what everything but the validations has to say.
            change: done to each judgement before it is written.
            seen: told all rows of the day as they will be committed.
        """

        def holds(read_all: ReadAll) -> bool:
            seen(read_all())
            return sound

        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr("wh_judge.day.judge", lambda *inputs: change(judge(*inputs)))
            return judge_day(connection, day, self.settings, holds, run_id)

    def stale(self, connection: duckdb.DuckDBPyConnection) -> list[dt.date]:
        return [entry.day for entry in find_stale(connection, self.settings.rules, self.settings.card_as_of)]


def _line(line: Line) -> str:
    if isinstance(line, ChatTurn):
        line = line.model_dump(mode="json")
    return line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)


def spoilt(judgement: Judgement) -> Judgement:
    """The judgement with a summary that says nothing, in the row of T-7 or else in the first."""
    records = judgement.verdicts.to_pylist()
    turn_ids = [record["turn_id"] for record in records]
    records[turn_ids.index("T-7") if "T-7" in turn_ids else 0]["summary"] = SPOILT
    return judgement._replace(verdicts=pa.Table.from_pylist(records, VERDICT_SCHEMA))


SPOILT = "틀린 말"
PAST = ("verdict_history", "card_history", "settings_history", "input_version", "verdict_change")
"""Tables that tell what was before, and so depend on the way."""


def tables(connection: duckdb.DuckDBPyConnection, *, runs: bool = False) -> dict[str, Table]:
    """The rows of all tables that readers get.

    Args:
        connection: the warehouse.
        runs: also which run wrote them and when, and the tables that tell what was before.
    """
    hidden = "" if runs else "WHERE column_name NOT IN ('run_id', 'finished_at')"
    found: dict[str, Table] = {}
    for name, order in PUBLISHED.items():
        if name in PAST and not runs:
            continue
        columns = connection.execute(f"SELECT column_name FROM (DESCRIBE {name}) {hidden}").fetchall()
        names = ", ".join(f'"{column}"' for (column,) in columns)
        found[name] = connection.execute(f"SELECT {names} FROM {name} ORDER BY {order}").fetchall()
    return found


def rows(connection: duckdb.DuckDBPyConnection, sql: str, *parameters: Any) -> Table:
    """The rows of a query."""
    return connection.execute(sql, parameters).fetchall()


CARDS = (
    card("C-1"),
    card("C-2", honorific_rule="존댓말", first_person="저", public=False),
    card("C-3", honorific_rule=None),
)
LEXICON = (("축제", "행사"), ("선거", "현실 정치"), ("주사위", "도박"))
POLITE = {"reply_text": "저는 그렇게 생각해요. 쉬세요.", "honorific_level": "존댓말", "first_person": "저"}
ASKS = {"user_asked_recall": True, "user_message": "내 동생 이름 기억나?", "reply_text": "글쎄, 몰라."}


class Log(NamedTuple):
    """Lines by day."""

    day_1: list[Line]
    day_2: list[Line]
    day_3: list[Line]


LOG = Log(
    [
        turn("T-1", turn_at=at(1, 1), prompt_id="P-1"),
        turn("T-2", turn_at=at(1, 2), **POLITE),
        turn("T-3", turn_at=at(1, 3), character_id="C-2", model_id="M-2", prompt_id="P-1", **POLITE),
        turn("T-4", turn_at=at(1, 4), session_id="S-recall", named_entities=["하늘"]),
        turn("T-5", turn_at=at(1, 5), character_id="C-9"),
    ],
    [
        turn("T-6", turn_at=at(2, 6), session_id="S-recall", **ASKS),
        turn("T-7", turn_at=at(2, 7), reply_text="요즘 선거 얘기로 시끄럽더군.", prompt_id="P-2"),
        turn("T-8", turn_at=at(2, 8), reply_text="리안이 불러.", named_entities=["리안"]),
        turn("T-9", turn_at=at(2, 9), character_id="C-2", model_id="M-2", prompt_id="P-2", **POLITE),
        turn("T-10", turn_at=at(2, 10), reply_text=None, named_entities=None, first_person=None),
        turn("T-12", turn_at=at(2, 12), session_id="S-back", **ASKS),
        '{"turn_id": "T-13", "session_id": "S-13", "turn_at": "어제"}',
    ],
    [
        turn("T-11", turn_at=at(3, 11), session_id="S-back", named_entities=["하늘"]),
        turn("T-14", turn_at=at(3, 14), character_id="C-3", **POLITE),
        turn("T-15", turn_at=at(3, 15), character_id="C-3", reply_text="<script>alert(1)</script> |\n`선거`"),
        turn("T-16", turn_at=at(3, 16), model_id="M-2", prompt_id="P-3", **POLITE),
        turn("T-17", turn_at=at(3, 17), prompt_id="P-3"),
        turn("T-18", turn_at=at(3, 18), reply_text="축제다. 주사위를 굴려."),
    ],
)
"""T-6 asks for what T-4 said the day before, T-12 for what T-11 said the day after; T-5 has no card, T-13 no time."""

VERDICTS = {
    "T-1": "설정대로 말함",
    "T-2": "말투 어긋남",
    "T-3": "설정대로 말함",
    "T-4": "설정대로 말함",
    "T-6": "앞 회차를 기억 못 함",
    "T-7": "금지 소재 접촉",
    "T-8": "세계관 밖 고유명사",
    "T-9": "설정대로 말함",
    "T-10": "설정대로 말함",
    "T-11": "설정대로 말함",
    "T-12": "앞 회차를 기억 못 함",
    "T-14": "말투 어긋남",
    "T-15": "금지 소재 접촉",
    "T-16": "말투 어긋남",
    "T-17": "설정대로 말함",
    "T-18": "금지 소재 접촉",
}
"""What becomes of the log."""


def settle(root: Path) -> House:
    """A house with the log, its cards, its lexicon and labels of three turns, one of which the judge disagrees with."""
    house = House(root)
    house.cards(*CARDS)
    house.lexicon(*LEXICON)
    house.gold(("T-1", "설정대로 말함"), ("T-2", "설정대로 말함"), ("T-6", "앞 회차를 기억 못 함"))
    for day, lines in zip(DAYS, LOG, strict=True):
        house.log(str(day), *lines)
    return house
