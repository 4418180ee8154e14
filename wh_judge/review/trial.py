"""What a decision would change, before anyone makes it: turns by verdict before and after, and the labels."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import duckdb

EXAMPLES = 3


class Change(NamedTuple):
    """Turns that would get another verdict."""

    before: str
    after: str
    turns: int
    examples: tuple[tuple[str, str], ...]
    """Turn and reply of the first."""


@dataclass(frozen=True)
class Trial:
    """What a decision would do."""

    changes: tuple[Change, ...]
    labels: int
    """Labels on turns that are judged."""
    agreed_before: int
    agreed_after: int

    @property
    def turns(self) -> int:
        """Turns that would get another verdict."""
        return sum(change.turns for change in self.changes)

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self) | {"turns": self.turns, "changes": [change._asdict() for change in self.changes]}


def try_out(connection: duckdb.DuckDBPyConnection, judged: str, values: Mapping[str, Any] | None = None) -> Trial:
    """What another judgement would change.

    Args:
        connection: a warehouse or a snapshot.
        judged: a query for the turns that it may judge otherwise, as turn_id, reply_text, before and after.
        values: the parameters of the query, by name.
    """
    changes = connection.execute(
        f"""SELECT before, after, count(*),
                   list({{'turn_id': turn_id, 'reply': reply_text}} ORDER BY length(turn_id), turn_id)[1:{EXAMPLES}]
            FROM ({judged}) WHERE before <> after GROUP BY before, after ORDER BY count(*) DESC, before, after""",
        values or {},
    ).fetchall()
    [(labels, agreed_before, agreed_after)] = connection.execute(
        f"""SELECT count(*), count(*) FILTER (label.verdict = verdict.verdict),
                   count(*) FILTER (label.verdict = coalesce(judged.after, verdict.verdict))
            FROM gold_label AS label JOIN verdict USING (turn_id) LEFT JOIN ({judged}) AS judged USING (turn_id)""",
        values or {},
    ).fetchall()
    found = (
        Change(before, after, turns, tuple((row["turn_id"], row["reply"]) for row in examples))
        for before, after, turns, examples in changes
    )
    return Trial(tuple(found), labels, agreed_before, agreed_after)
