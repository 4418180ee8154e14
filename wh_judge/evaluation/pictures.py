"""The two evaluations as PNG pictures: `confusion_picture` and `divergence_picture`.

Drawn with `wh_judge.evaluation.pen`. Verdicts are named in Korean where a Korean font is installed, else in English.
"""

from typing import TYPE_CHECKING, Any

from wh_judge.evaluation.agreement import VERDICTS, Agreement
from wh_judge.evaluation.divergence import REASONS, Divergence
from wh_judge.evaluation.pen import INK, MUTED, PAPER, WIDTH, Colour, Pen, korean_family, png
from wh_judge.model import VerdictValue

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENGLISH = dict(
    zip(
        VERDICTS,
        ("kept to the card", "speech mismatch", "off-canon name", "forbidden topic", "forgotten recall"),
        strict=True,
    )
)
"""What the verdicts are called in a picture without a Korean font."""

_PHRASES = {
    "agreement": ("판정 일치", "Agreement with the labels"),
    "label": ("정답", "label"),
    "judge": ("판정", "judge"),
    "total": ("계", "total"),
    "no labels": ("판정이 있는 정답 회차가 아직 없습니다", "No labelled turn has a verdict yet"),
    "divergence": ("모델별 어긋난 비율", "Turns that leave their card, by model"),
    "prompts": ("같은 prompt {}개", "{} shared prompts"),
    "left out": ("제외 {}개", "{} left out"),
    "interval": ("95 % 구간", "95 % interval"),
    "more": ("모델 {}개 중 {}개", "{} models, top {} drawn"),
    "no prompts": ("비교한 모델이 모두 답한 prompt가 없습니다", "No prompt was answered by every compared model"),
}
_EMPTY = (0.965, 0.965, 0.965)
_AGREED, _DIVERGED = (0.03, 0.32, 0.61), (0.76, 0.25, 0.05)
_REASON_COLOURS: dict[VerdictValue, Colour] = dict(
    zip(REASONS, ((0.90, 0.62, 0.0), (0.04, 0.44, 0.66), (0.78, 0.27, 0.18), (0.55, 0.42, 0.67)), strict=True)
)
_MODELS = 40


def confusion_picture(agreement: Agreement) -> bytes:
    """The confusion matrix as a PNG: rows are labels, columns the judge's verdicts, darker = more of the row."""
    return png(confusion_figure(agreement, korean_family()))


def divergence_picture(divergence: Divergence) -> bytes:
    """Each model's diverging share as a PNG: bars stacked by reason, and the interval of the share below its bar."""
    return png(divergence_figure(divergence, korean_family()))


def confusion_figure(agreement: Agreement, family: str | None) -> "Figure":
    """The figure of `confusion_picture`, in Korean with the font `family`, in English where it is None."""
    pen = Pen(family, _PHRASES)
    if agreement.agreement is None or agreement.agreement_low is None or agreement.agreement_high is None:
        return pen.message("agreement", "no labels")
    figure, axes = pen.page("agreement", 5.3, left=1.4, top=1.45, right=0.6, bottom=0.4)
    interval = f"{agreement.agreement_low:.1%} – {agreement.agreement_high:.1%}"
    kappa = "" if agreement.kappa is None else f"  ·  κ {agreement.kappa:.2f}"
    share = f"{agreement.agreement:.1%} ({agreement.agreed:,} / {agreement.found:,})"
    pen.subtitle(figure, f"{share}  ·  {pen.say('interval')} {interval}{kappa}")

    size = len(VERDICTS)
    for row, counts in enumerate(agreement.confusion):
        for column, count in enumerate(counts):
            colour = _EMPTY
            if count:
                colour = _tint(_AGREED if row == column else _DIVERGED, 0.12 + 0.88 * count / sum(counts))
                pen.write(axes, column, row, f"{count:,}", size=13, color=_readable(colour), ha="center")
            axes.barh(row, 0.96, 0.94, left=column - 0.48, color=colour)
    for rank, verdict in enumerate(VERDICTS):
        name = _two_lines(_name(pen, verdict))
        pen.write(axes, rank, -0.58, name, size=9.5, ha="center", va="bottom")
        pen.write(axes, -0.58, rank, name, size=9.5, ha="right")
        support, predicted = agreement.per_verdict[rank].support, agreement.per_verdict[rank].predicted
        pen.write(axes, size - 0.25, rank, f"{support:,}" if support else "", color=MUTED, ha="center")
        pen.write(axes, rank, size - 0.33, f"{predicted:,}" if predicted else "", color=MUTED, ha="center")
    pen.write(axes, size - 0.25, -0.58, pen.say("total"), color=MUTED, ha="center", va="bottom")
    pen.write(axes, -0.58, size - 0.33, pen.say("total"), color=MUTED, ha="right")
    pen.write(axes, -0.58, -0.58, f"{pen.say('label')} ↓   {pen.say('judge')} →", color=MUTED, ha="right", va="bottom")
    axes.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5))
    axes.set_axis_off()
    return figure


def divergence_figure(divergence: Divergence, family: str | None) -> "Figure":
    """The figure of `divergence_picture`, in Korean with the font `family`, in English where it is None."""
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    pen = Pen(family, _PHRASES)
    rates = [
        (model.rate, model.low, model.high, model)
        for model in sorted(divergence.per_model, key=lambda model: -model.diverging)
        if model.rate is not None and model.low is not None and model.high is not None
    ][:_MODELS]
    if not rates:
        return pen.message("divergence", "no prompts")
    figure, axes = pen.page("divergence", 2.2 + 0.7 * len(rates), left=0.3, top=1.5, right=0.3, bottom=0.5)
    facts = [pen.say("prompts", f"{divergence.prompts:,}")]
    if left_out := sum(row.prompts for row in divergence.left_out):
        facts.append(pen.say("left out", f"{left_out:,}"))
    if divergence.test.p_value is not None:
        facts.append(f"{divergence.test.name}, {_p(divergence.test.p_value)}")
    if len(rates) < len(divergence.models):
        facts.append(pen.say("more", len(divergence.models), len(rates)))
    pen.subtitle(figure, "  ·  ".join(facts))

    limit = min(1.0, max(high for _, _, high, _ in rates) * 1.03)
    labels = pen.labels([model.model_id for *_, model in rates])
    for row, ((rate, low, high, model), label) in enumerate(zip(rates, labels, strict=True)):
        pen.write(axes, 0, row - 0.3, label, size=10, bbox=PAPER)
        share = f"{rate:.1%} ({model.diverging:,} / {model.prompts:,})"
        pen.write(axes, limit, row - 0.3, share, size=10, ha="right", bbox=PAPER)
        start = 0.0
        for reason, count in model.by_reason.items():
            width, colour = count / model.prompts, _REASON_COLOURS[reason]
            axes.barh(row + 0.03, width, 0.34, left=start, color=colour)
            if width > limit * (0.01 + 0.014 * len(f"{count:,}")):
                pen.write(axes, start + width / 2, row + 0.03, f"{count:,}", color=_readable(colour), ha="center")
            start += width
        error = [[rate - low], [high - rate]]
        look: dict[str, Any] = {"color": INK, "ms": 4, "elinewidth": 1.3, "capsize": 3, "clip_on": False}
        axes.errorbar([rate], [row + 0.35], xerr=error, fmt="o", **look)
    _legend(pen, figure)
    axes.set(xlim=(0, limit), ylim=(len(rates) - 0.45, -0.55), yticks=[])
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0 if limit > 0.05 else None))
    axes.tick_params(axis="x", colors=MUTED, labelsize=9, labelfontfamily=pen.families[0])
    axes.grid(axis="x", color="#e3e5e8", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    return figure


def _name(pen: Pen, verdict: VerdictValue) -> str:
    return verdict if pen.korean else ENGLISH[verdict]


def _legend(pen: Pen, figure: "Figure") -> None:
    """The colours of the reasons, and what the line below a bar is."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles = [Patch(color=colour, label=_name(pen, reason)) for reason, colour in _REASON_COLOURS.items()]
    interval = Line2D([], [], color=INK, marker="o", ms=4, lw=1.3, label=pen.say("interval"))
    figure.legend(
        handles=[*handles, interval],
        loc="upper left",
        bbox_to_anchor=(0.2 / WIDTH, 1 - 0.88 / figure.get_figheight()),
        borderaxespad=0,
        borderpad=0,
        ncols=3,
        frameon=False,
        prop={"family": pen.families, "size": 9},
    )


def _tint(colour: Colour, strength: float) -> Colour:
    red, green, blue = (1 - strength * (1 - channel) for channel in colour)
    return red, green, blue


def _readable(colour: Colour) -> str:
    """Black or white, whichever has the higher contrast; source: WCAG 2.2, relative luminance."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "black" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "white"


def _two_lines(text: str) -> str:
    """The text broken at the space nearest to its middle, the later of two; as it is where it has none."""
    spaces = [place for place in range(len(text) - 1, 0, -1) if text[place] == " "]
    place = min(spaces, key=lambda place: abs(2 * place + 1 - len(text)), default=None)
    return text if place is None else f"{text[:place]}\n{text[place + 1 :]}"


def _p(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"
