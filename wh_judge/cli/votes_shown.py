"""What `wh-judge votes` prints of ratings and of the agreement with votes."""

from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console

from wh_judge.report import counted, number_table, safe
from wh_judge.text import short

if TYPE_CHECKING:
    from wh_judge.evaluation.people import Share, VoteAgreement
    from wh_judge.evaluation.ratings import ArenaRatings


def print_ratings(arena: "ArenaRatings", console: Console) -> None:
    """The ratings by votes, and those with what models support."""
    for name, ratings in (("votes", arena.people), ("votes and support", arena.with_support)):
        if not (arena.people.votes if name == "votes" else arena.support_votes):
            continue
        sources = [counted(arena.people.votes, "vote")] if arena.people.votes else []
        sources += [counted(arena.support_votes, "comparison") + " by support"] if name != "votes" else []
        console.print(f"[bold]Ratings[/bold] by {' and '.join(sources)}")
        rows = number_table("model", "rating", "95 % interval", "own rating", "votes", "won", "lost", "half")
        for entry in ratings.ratings:
            interval = "–" if entry.low is None or entry.high is None else f"{entry.low:.0f} – {entry.high:.0f}"
            numbers = [_whole(entry.rating), interval, _whole(entry.own_rating)]
            counts = map(str, (entry.votes, entry.won, entry.lost, entry.halves))
            rows.add_row(safe(short(entry.model_id)), *numbers, *counts)
        console.print(rows)
        for part in ratings.components:
            if part.why_apart:
                console.print(f"  {safe(part.why_apart)}", soft_wrap=True)
    for caution in arena.cautions:
        console.print(f"  {safe(caution)}", soft_wrap=True)


def print_agreement(found: "VoteAgreement", console: Console) -> None:
    """Judges beside votes, stability, annotators; before them what could not be placed, since it is to be mended."""
    for left in found.unplaced:
        console.print(f"  {safe(left.told())}", soft_wrap=True)
    console.print(f"[bold]Judges[/bold] beside {counted(found.votes, 'vote')}")
    for judge in found.judges:
        console.print(
            f"  {safe(short(judge.judge))}: {counted(judge.votes, 'vote')}, accuracy {_share(judge.accuracy)},"
            f" when decided {_share(judge.accuracy_when_decided)}, draw rate {_share(judge.draw_rate)},"
            f" Brier {_share(judge.brier)} (one half {_decimal(judge.brier_of_one_half)}); {judge.ranks.models} models,"
            f" rho {_decimal(judge.ranks.spearman)} (p {_decimal(judge.ranks.p_value)}),"
            f" tau {_decimal(judge.ranks.kendall)} (p {_decimal(judge.ranks.kendall_p_value)})",
            soft_wrap=True,
        )
    console.print("[bold]Stability[/bold] over runs")
    for entry in found.stability:
        note = f"; {entry.note}" if entry.note else ""
        console.print(
            f"  {safe(short(entry.judge))}: {counted(len(entry.runs), 'run')} over {entry.replies} replies,"
            f" largest spread {_decimal(entry.largest_spread, 3)}, envelope {_decimal(entry.envelope, 3)}{note}",
            soft_wrap=True,
        )
    people = found.labellers
    alpha = _share(Interval(people.alpha, people.low, people.high))
    console.print(f"[bold]Annotators[/bold] {people.annotators}, alpha {alpha} on {people.units} units")
    for pair in people.pairs:
        console.print(
            f"  {safe(short(pair.first))} and {safe(short(pair.second))}: {pair.agreed} of {pair.units},"
            f" kappa {_decimal(pair.kappa)}",
            soft_wrap=True,
        )
    for caution in found.cautions:
        console.print(f"  {safe(caution)}", soft_wrap=True)


class Interval(NamedTuple):
    """A number with its interval."""

    value: float | None
    low: float | None
    high: float | None


def _share(entry: "Interval | Share") -> str:
    between = "" if entry.low is None or entry.high is None else f" ({entry.low:.2f} to {entry.high:.2f})"
    return _decimal(entry.value) + between


def _decimal(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _whole(value: Any) -> str:
    return "–" if value is None else f"{value:.0f}"
