"""Whatever was edited and judged in whatever order: the end is that of a warehouse that only ever saw the end.

On the way, each change that is kept has a cause that trying everything finds, and a day that fails changes nothing.
"""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wh_judge.model import TURN_SCHEMA, turns_from
from wh_judge.store.inputs_version import log_versions
from wh_judge.store.schema import arrow, names
from wh_judge_tests.house import DAYS, House, Table, rows
from wh_judge_tests.store.edited import Connection, Edit, Edited, in_memory, of_cards, spoken, stories

EXAMPLES = os.environ.get("WH_JUDGE_EXAMPLES")
"""How many stories are tried; where it is given, others each time."""


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
    past = connection.sql("SELECT * FROM card_history").to_arrow_table()
    with in_memory() as fresh:
        other.bring_in(fresh)
        # Since when a card is as it is, is an input too.
        fresh.register("past", past)
        fresh.execute("DELETE FROM card_history")
        fresh.execute("INSERT INTO card_history BY NAME SELECT * FROM past")
        fresh.unregister("past")
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


def kept_as_they_are(connection: Connection) -> None:
    """The hashes that are kept of the log are those that would be made now."""
    for day, *kept in rows(connection, "FROM log_version"):
        connection.execute("DELETE FROM log_version WHERE day = ?", [day])
        assert tuple(kept) == log_versions(connection, day)


briefly = settings(
    max_examples=int(EXAMPLES or "8"),
    derandomize=not EXAMPLES,
    suppress_health_check=list(HealthCheck),
    deadline=None,
)


@briefly
@given(stories, st.permutations(range(3)), st.sampled_from(["now", "turn"]))
def test_the_way_makes_no_difference(story: tuple[Any, Sequence[Edit]], order: Sequence[int], as_of: str) -> None:
    check(*story, order, as_of)


@briefly
@given(of_cards, st.permutations(range(3)))
def test_days_of_which_only_cards_differ_end_the_same(story: tuple[Any, Sequence[Edit]], order: Sequence[int]) -> None:
    check(*story, order, "now")


def check(first: Any, later: Sequence[Edit], order: Sequence[int], as_of: str) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        in_memory() as connection,
        pytest.MonkeyPatch.context() as monkeypatch,
    ):
        house = House(Path(folder) / "edited", card_as_of=as_of)
        edited = Edited(house, connection, monkeypatch)
        edited.files["a"] = {turn_id: spoken(turn_id, **cells) for turn_id, cells in first}
        edited.log("a")
        edited.judge(DAYS)
        for edit in later:
            edited.do(*edit)
            kept_as_they_are(connection)
        stale = house.stale(connection)
        edited.judge([DAYS[place] for place in order if DAYS[place] in stale])
        assert house.stale(connection) == []
        assert final(connection) == afresh(house, connection, Path(folder) / "fresh")
        told(connection)
