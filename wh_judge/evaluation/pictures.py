"""The two evaluations as PNG pictures: `confusion_picture` and `divergence_picture`.

1050 pixels wide, drawn to be read at 700. Verdicts are named in Korean where a Korean font is installed, else in
English. matplotlib is imported inside the functions, and only its object API is used: nothing global is drawn on.
"""

import contextlib
import io
from typing import TYPE_CHECKING, Any

from wh_judge.evaluation.agreement import VERDICTS, Agreement
from wh_judge.evaluation.divergence import REASONS, Divergence
from wh_judge.model import VerdictValue

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Colour = tuple[float, float, float]
"""Red, green and blue from 0 to 1."""

KOREAN_FONTS = (
    *("Noto Sans CJK KR", "Noto Sans KR", "NanumGothic", "NanumBarunGothic", "Nanum Gothic", "Pretendard"),
    *("Apple SD Gothic Neo", "AppleGothic", "Malgun Gothic", "Source Han Sans KR", "Source Han Sans K"),
    *("UnDotum", "Baekmuk Dotum", "Baekmuk Gulim", "Gulim", "Dotum", "Noto Sans CJK JP"),
)
"""Font families with Hangul, the preferred first."""

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
_INK, _MUTED, _EMPTY = "#1a1a1a", "#5f6368", (0.965, 0.965, 0.965)
_AGREED, _DIVERGED = (0.03, 0.32, 0.61), (0.76, 0.25, 0.05)
_REASON_COLOURS: dict[VerdictValue, Colour] = dict(
    zip(REASONS, ((0.90, 0.62, 0.0), (0.04, 0.44, 0.66), (0.78, 0.27, 0.18), (0.55, 0.42, 0.67)), strict=True)
)
_PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 1}
_WIDTH, _DPI, _MODELS, _LABEL = 7.0, 150, 40, 40


def confusion_picture(agreement: Agreement) -> bytes:
    """The confusion matrix as a PNG: rows are labels, columns the judge's verdicts, darker = more of the row."""
    return _png(confusion_figure(agreement, korean_family()))


def divergence_picture(divergence: Divergence) -> bytes:
    """Each model's diverging share as a PNG: bars stacked by reason, and the interval of the share below its bar."""
    return _png(divergence_figure(divergence, korean_family()))


def korean_family() -> str | None:
    """The first of `KOREAN_FONTS` that is installed, or None.

    matplotlib keeps a list of fonts from its first start; where that names none of them, newer fonts are added to it.
    """
    from matplotlib import font_manager

    fonts = font_manager.fontManager
    if not {entry.name for entry in fonts.ttflist} & set(KOREAN_FONTS):
        for path in set(font_manager.findSystemFonts()) - {entry.fname for entry in fonts.ttflist}:
            with contextlib.suppress(OSError, RuntimeError):
                fonts.addfont(path)
    installed = {entry.name for entry in fonts.ttflist}
    return next((name for name in KOREAN_FONTS if name in installed), None)


def confusion_figure(agreement: Agreement, family: str | None) -> "Figure":
    """The figure of `confusion_picture`, in Korean with the font `family`, in English where it is None."""
    pen = _Pen(family)
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
        name = _two_lines(pen.name(verdict))
        pen.write(axes, rank, -0.58, name, size=9.5, ha="center", va="bottom")
        pen.write(axes, -0.58, rank, name, size=9.5, ha="right")
        support, predicted = agreement.per_verdict[rank].support, agreement.per_verdict[rank].predicted
        pen.write(axes, size - 0.25, rank, f"{support:,}" if support else "", color=_MUTED, ha="center")
        pen.write(axes, rank, size - 0.33, f"{predicted:,}" if predicted else "", color=_MUTED, ha="center")
    pen.write(axes, size - 0.25, -0.58, pen.say("total"), color=_MUTED, ha="center", va="bottom")
    pen.write(axes, -0.58, size - 0.33, pen.say("total"), color=_MUTED, ha="right")
    pen.write(axes, -0.58, -0.58, f"{pen.say('label')} ↓   {pen.say('judge')} →", color=_MUTED, ha="right", va="bottom")
    axes.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5))
    axes.set_axis_off()
    return figure


def divergence_figure(divergence: Divergence, family: str | None) -> "Figure":
    """The figure of `divergence_picture`, in Korean with the font `family`, in English where it is None."""
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    pen = _Pen(family)
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
        pen.write(axes, 0, row - 0.3, label, size=10, bbox=_PAPER)
        share = f"{rate:.1%} ({model.diverging:,} / {model.prompts:,})"
        pen.write(axes, limit, row - 0.3, share, size=10, ha="right", bbox=_PAPER)
        start = 0.0
        for reason, count in model.by_reason.items():
            width, colour = count / model.prompts, _REASON_COLOURS[reason]
            axes.barh(row + 0.03, width, 0.34, left=start, color=colour)
            if width > limit * (0.01 + 0.014 * len(f"{count:,}")):
                pen.write(axes, start + width / 2, row + 0.03, f"{count:,}", color=_readable(colour), ha="center")
            start += width
        error = [[rate - low], [high - rate]]
        look: dict[str, Any] = {"color": _INK, "ms": 4, "elinewidth": 1.3, "capsize": 3, "clip_on": False}
        axes.errorbar([rate], [row + 0.35], xerr=error, fmt="o", **look)
    pen.legend(figure)
    axes.set(xlim=(0, limit), ylim=(len(rates) - 0.45, -0.55), yticks=[])
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0 if limit > 0.05 else None))
    axes.tick_params(axis="x", colors=_MUTED, labelsize=9, labelfontfamily=pen.families[0])
    axes.grid(axis="x", color="#e3e5e8", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    return figure


class _Pen:
    """Writes in one font, never as mathtext, and only characters that the font can draw."""

    def __init__(self, family: str | None) -> None:
        from matplotlib.font_manager import findfont, get_font

        self.korean = family is not None
        self.families = [family, "DejaVu Sans"] if family else ["DejaVu Sans"]
        self.drawable = {code for name in self.families for code in get_font(findfont(name)).get_charmap()}

    def say(self, key: str, *values: object) -> str:
        return _PHRASES[key][0 if self.korean else 1].format(*values)

    def name(self, verdict: VerdictValue) -> str:
        return verdict if self.korean else ENGLISH[verdict]

    def labels(self, model_ids: list[str]) -> list[str]:
        """Ids on one line and shortened in the middle; numbered where two would look alike."""
        labels = []
        for model_id in model_ids:
            line = " ".join(model_id.split())
            line = line if len(line) <= _LABEL else f"{line[: _LABEL // 2]}…{line[1 - _LABEL // 2 :]}"
            labels.append("".join(c if c.isprintable() and ord(c) in self.drawable else "?" for c in line))
        alike = len(set(labels)) < len(labels)
        return [f"{number}. {label}" for number, label in enumerate(labels, 1)] if alike else labels

    def write(self, where: "Axes | Figure", x: float, y: float, text: str, size: float = 9, **look: Any) -> None:
        look = {"color": _INK, "va": "center", "fontfamily": self.families, "linespacing": 1.25, **look}
        where.text(x, y, text, fontsize=size, parse_math=False, usetex=False, **look)

    def page(
        self, title: str, height: float, *, left: float, top: float, right: float, bottom: float
    ) -> "tuple[Figure, Axes]":
        """A figure with a title, and axes inside the margins; all in inches."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(_WIDTH, height), dpi=_DPI, facecolor="white")
        self.write(figure, 0.2 / _WIDTH, 1 - 0.33 / height, self.say(title), size=14)
        size = (_WIDTH - left - right) / _WIDTH, (height - top - bottom) / height
        return figure, figure.add_axes((left / _WIDTH, bottom / height, *size), facecolor="white")

    def subtitle(self, figure: "Figure", text: str) -> None:
        self.write(figure, 0.2 / _WIDTH, 1 - 0.66 / figure.get_figheight(), text, size=9.5, color=_MUTED)

    def message(self, title: str, message: str) -> "Figure":
        """A page with words only: where there is no figure to show, none is drawn."""
        figure, axes = self.page(title, 1.6, left=0.3, top=0.6, right=0.3, bottom=0.2)
        axes.set_axis_off()
        self.write(axes, 0.5, 0.5, self.say(message), size=11, color=_MUTED, ha="center")
        return figure

    def legend(self, figure: "Figure") -> None:
        """The colours of the reasons, and what the line below a bar is."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        handles = [Patch(color=colour, label=self.name(reason)) for reason, colour in _REASON_COLOURS.items()]
        interval = Line2D([], [], color=_INK, marker="o", ms=4, lw=1.3, label=self.say("interval"))
        figure.legend(
            handles=[*handles, interval],
            loc="upper left",
            bbox_to_anchor=(0.2 / _WIDTH, 1 - 0.88 / figure.get_figheight()),
            borderaxespad=0,
            borderpad=0,
            ncols=3,
            frameon=False,
            prop={"family": self.families, "size": 9},
        )


def _png(figure: "Figure") -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_DPI)
    return buffer.getvalue()


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
