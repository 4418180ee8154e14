"""Capability profiles as a dot plot: a panel per axis, a row per model, the score with its number of valid turns."""

from typing import TYPE_CHECKING

from wh_judge.evaluation.pen import INK, MUTED, WIDTH, Colour, Pen, korean_family, png
from wh_judge.evaluation.profile import CapabilityProfiles
from wh_judge.evaluation.scores import AXES, AXIS_NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PHRASES = {
    "title": ("모델의 역량", "What each model is good at"),
    "axis": ("축마다 0에서 100점, 옆은 견준 회차 수", "0 to 100 on each axis, beside it the turns that it rests on"),
    "overall": ("전체", "overall"),
    "more": ("모델 {}개 중 {}개", "{} models, top {} drawn"),
    "nothing": ("판정이 있는 회차가 아직 없습니다", "No turn has a verdict yet"),
}
_COLOURS: tuple[Colour, ...] = (
    *((0.04, 0.44, 0.66), (0.90, 0.62, 0.0), (0.78, 0.27, 0.18), (0.55, 0.42, 0.67)),
    (0.1, 0.1, 0.1),
)
_MODELS, _NAMES = 30, 1.55


def profile_picture(profiles: CapabilityProfiles) -> bytes:
    """The profiles as a PNG, the best overall first."""
    return png(profile_figure(profiles, korean_family()))


def profile_figure(profiles: CapabilityProfiles, family: str | None) -> "Figure":
    """The figure of `profile_picture`, in Korean with the font `family`, in English where it is None."""
    pen = Pen(family, _PHRASES)
    ranked = sorted(profiles.profiles, key=lambda profile: (-(profile.overall or -1), profile.model_id))
    if not ranked:
        return pen.message("title", "nothing")
    shown = ranked[:_MODELS]
    height = 1.5 + 0.42 * len(shown)
    figure, first = pen.page("title", height, left=0.2, top=1.15, right=WIDTH - _NAMES, bottom=0.3)
    facts = [pen.say("axis")]
    if len(shown) < len(ranked):
        facts.append(pen.say("more", len(ranked), len(shown)))
    pen.subtitle(figure, "  ·  ".join(facts))
    first.set(xlim=(0, 1), ylim=(len(shown) - 0.5, -0.5))
    first.set_axis_off()
    for row, label in enumerate(pen.labels([profile.model_id for profile in shown])):
        pen.write(first, 0, row, label if len(label) <= 18 else f"{label[:17]}…", size=9.5)
    columns = len(AXES) + 1
    width = (WIDTH - _NAMES - 0.2) / columns
    for place in range(columns):
        left = (_NAMES + place * width) / WIDTH
        axes = figure.add_axes((left, 0.3 / height, width * 0.92 / WIDTH, (height - 1.45) / height), facecolor="white")
        overall = place == len(AXES)
        name = pen.say("overall") if overall else AXIS_NAMES[AXES[place]][0 if pen.korean else 1]
        pen.write(axes, 50, -0.75, name, size=9.5, ha="center", va="bottom")
        for row, profile in enumerate(shown):
            score = profile.overall if overall else profile.axes[place].score
            turns = profile.turns if overall else profile.axes[place].turns
            axes.plot([0, 100], [row, row], color="#e3e5e8", linewidth=1, zorder=1)
            if score is None:
                pen.write(axes, 50, row, "–", color=MUTED, ha="center")
                continue
            axes.plot([score], [row], "o", color=_COLOURS[place], markersize=6, zorder=2, clip_on=False)
            # Beside the dot, on the side that has room.
            side, ha = (-7, "right") if score > 50 else (7, "left")
            pen.write(axes, score + side, row - 0.27, f"{score:.1f}", size=8, ha=ha, color=INK)
            pen.write(axes, score + side, row + 0.29, f"{turns:,}", size=7, ha=ha, color=MUTED)
        axes.set(xlim=(-4, 104), ylim=(len(shown) - 0.5, -0.6), yticks=[], xticks=[0, 50, 100])
        axes.tick_params(axis="x", colors=MUTED, labelsize=7, length=0)
        axes.spines[:].set_visible(False)
    return figure
