"""Ratings as a picture: a row per model, its rating with its interval, and in grey the one with support."""

from typing import TYPE_CHECKING

from wh_judge.evaluation.pen import INK, MUTED, Pen, korean_family, png
from wh_judge.evaluation.ratings import ArenaRatings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PHRASES = {
    "title": ("투표로 매긴 순위", "Ratings by votes"),
    "votes": ("투표 {}건", "{} votes"),
    "interval": ("가로줄 95 % 구간", "lines are 95 % intervals"),
    "support": ("회색 마름모 지원 비교 {}건 포함", "grey diamonds with {} comparisons by support"),
    "apart": ("공통 척도 없음, 묶음 {}개, 묶음 안 순위", "no common scale: {} components, ratings inside each"),
    "more": ("모델 {}개 중 {}개", "{} models, top {} drawn"),
    "nobody": ("투표 없음, 지원 비교 {}건", "no vote, {} comparisons by support"),
    "nothing": ("투표가 아직 없습니다", "There is no vote yet"),
}
_MODELS, _COLOURS = 40, ("#0a70a8", "#c23f0d", "#5b8c00", "#8c6bab")


def rating_picture(ratings: ArenaRatings) -> bytes:
    """The ratings as a PNG."""
    return png(rating_figure(ratings, korean_family()))


def rating_figure(ratings: ArenaRatings, family: str | None) -> "Figure":
    """The figure of `rating_picture`, in Korean with the font `family`, in English where it is None."""
    pen, people = Pen(family, _PHRASES), ratings.people
    if not people.ratings:
        people = ratings.with_support  # Without a vote the grey diamonds are all that there is.
    if not people.ratings:
        return pen.message("title", "nothing")
    shown = people.ratings[:_MODELS]
    figure, axes = pen.page("title", 1.45 + 0.34 * len(shown), left=2.0, top=0.95, right=0.7, bottom=0.45)
    voted = ratings.people.votes
    facts = [pen.say("votes", f"{voted:,}") if voted else pen.say("nobody", f"{ratings.support_votes:,}")]
    if people.common_scale:
        facts.append(pen.say("interval"))
        if voted and ratings.support_votes and ratings.with_support.common_scale:
            facts.append(pen.say("support", f"{ratings.support_votes:,}"))
    else:
        facts.append(pen.say("apart", len(people.components)))
    if len(shown) < len(people.ratings):
        facts.append(pen.say("more", len(people.ratings), len(shown)))
    pen.subtitle(figure, "  ·  ".join(facts))
    beside = axes.get_yaxis_transform()  # x as a share of the width, y in rows
    with_support = {entry.model_id: entry for entry in ratings.with_support.ratings}
    for row, (entry, label) in enumerate(zip(shown, pen.labels([entry.model_id for entry in shown]), strict=True)):
        pen.write(axes, -0.02, row, label if len(label) <= 24 else f"{label[:23]}…", ha="right", transform=beside)
        known = entry.own_rating
        colour = _COLOURS[entry.component % len(_COLOURS)]
        if known is None:
            pen.write(axes, 0.5, row, "–", color=MUTED, ha="center", transform=beside)
            continue
        other = with_support[entry.model_id].rating
        if voted and ratings.support_votes and people.common_scale and other is not None:
            axes.plot([other], [row + 0.18], "D", color="#9aa0a6", markersize=4, zorder=1)
        if entry.low is not None and entry.high is not None:
            axes.plot([entry.low, entry.high], [row, row], color=INK, linewidth=1.3, zorder=2)
        axes.plot([known], [row], "o", color=colour, markersize=6, zorder=3)
        pen.write(axes, 1.02, row, f"{known:.0f}", transform=beside)
    axes.set(ylim=(len(shown) - 0.5, -0.5), yticks=[])
    axes.margins(x=0.08)
    axes.tick_params(axis="x", colors=MUTED, labelsize=9, labelfontfamily=pen.families[0])
    axes.grid(axis="x", color="#e3e5e8", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    return figure
