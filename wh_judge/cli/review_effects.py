"""What a decision changes, in lines: endings and terms, as proposals and as decisions that were just made."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

    from wh_judge.review.decisions import Decision
    from wh_judge.review.endings import Proposal
    from wh_judge.review.trial import Trial
    from wh_judge.rules import RuleSettings


def effect(connection: "duckdb.DuckDBPyConnection", rules: "RuleSettings", row: "Decision") -> Iterator[str]:
    """What a decision that was just written down changes, and how it is undone; nothing for kinds that are not tried.

    Args:
        connection: what is published.
        rules: the settings without the decision.
        row: the decision.
    """
    from wh_judge.report import counted
    from wh_judge.review.endings import try_ending
    from wh_judge.review.terms import never_said, try_term
    from wh_judge.text import quoted

    if (row.kind, row.choice) in (("ending", "add"), ("trailing", "ignore")):
        yield from proposal_lines(try_ending(connection, rules, row.ending))
    elif (row.kind, row.choice) in (("term", "drop"), ("term", "narrow")):
        trial = try_term(connection, rules, row.term or "", row.topic or "", row.instead)
        yield f"{counted(trial.turns, 'turn')} judged otherwise, {agreed(trial)}"
        yield from changes(trial)
        for term in never_said(connection, row.instead):
            yield f"careful: {quoted(term)} stands in no reply of the log"
    else:
        return
    yield f"to take it back: wh-judge review undo {row.decision_id} --by NAME"


def proposal_lines(row: "Proposal") -> Iterator[str]:
    """What an ending would change."""
    yield f"{row.ending or 'ignore_trailing'}  mends {row.mended}, breaks {row.broken}, {agreed(row)}"
    yield from changes(row)


def agreed(row: "Trial") -> str:
    """On how many labels the judge agrees before and after."""
    return f"labels {row.agreed_before} -> {row.agreed_after} of {row.labels}"


def changes(row: "Trial") -> Iterator[str]:
    """The turns that would get another verdict, with examples."""
    from wh_judge.report import counted

    for change in row.changes:
        yield f"  {change.before} -> {change.after}  {counted(change.turns, 'turn')}"
        for turn_id, reply in change.examples:
            yield f"    {turn_id}  {reply}"
