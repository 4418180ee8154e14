"""What all pictures share: fonts, ink, and a pen that writes what the font can draw.

1050 pixels wide, drawn to be read at 700. Words are Korean where a Korean font is installed, else English. matplotlib
is imported inside the functions, and only its object API is used: nothing global is drawn on.
"""

import contextlib
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

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

INK, MUTED = "#1a1a1a", "#5f6368"
WIDTH, DPI, LABEL = 7.0, 150, 40
"""Inches, dots per inch, characters of a label."""
PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 1}


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


class Pen:
    """Writes in one font, never as mathtext, and only characters that the font can draw."""

    def __init__(self, family: str | None, phrases: Mapping[str, tuple[str, str]]) -> None:
        from matplotlib.font_manager import findfont, get_font

        self.korean, self.phrases = family is not None, phrases
        self.families = [family, "DejaVu Sans"] if family else ["DejaVu Sans"]
        self.drawable = {code for name in self.families for code in get_font(findfont(name)).get_charmap()}

    def say(self, key: str, *values: object) -> str:
        return self.phrases[key][0 if self.korean else 1].format(*values)

    def labels(self, model_ids: list[str]) -> list[str]:
        """Ids on one line and shortened in the middle; numbered where two would look alike."""
        labels = []
        for model_id in model_ids:
            line = " ".join(model_id.split())
            line = line if len(line) <= LABEL else f"{line[: LABEL // 2]}…{line[1 - LABEL // 2 :]}"
            labels.append("".join(c if c.isprintable() and ord(c) in self.drawable else "?" for c in line))
        alike = len(set(labels)) < len(labels)
        return [f"{number}. {label}" for number, label in enumerate(labels, 1)] if alike else labels

    def write(self, where: "Axes | Figure", x: float, y: float, text: str, size: float = 9, **look: Any) -> None:
        look = {"color": INK, "va": "center", "fontfamily": self.families, "linespacing": 1.25, **look}
        where.text(x, y, text, fontsize=size, parse_math=False, usetex=False, **look)

    def page(
        self, title: str, height: float, *, left: float, top: float, right: float, bottom: float
    ) -> "tuple[Figure, Axes]":
        """A figure with a title, and axes inside the margins; all in inches."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(WIDTH, height), dpi=DPI, facecolor="white")
        self.write(figure, 0.2 / WIDTH, 1 - 0.33 / height, self.say(title), size=14)
        size = (WIDTH - left - right) / WIDTH, (height - top - bottom) / height
        return figure, figure.add_axes((left / WIDTH, bottom / height, *size), facecolor="white")

    def subtitle(self, figure: "Figure", text: str) -> None:
        self.write(figure, 0.2 / WIDTH, 1 - 0.66 / figure.get_figheight(), text, size=9.5, color=MUTED)

    def message(self, title: str, message: str) -> "Figure":
        """A page with words only: where there is no figure to show, none is drawn."""
        figure, axes = self.page(title, 1.6, left=0.3, top=0.6, right=0.3, bottom=0.2)
        axes.set_axis_off()
        self.write(axes, 0.5, 0.5, self.say(message), size=11, color=MUTED, ha="center")
        return figure


def png(figure: "Figure") -> bytes:
    """The figure as a PNG."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    return buffer.getvalue()
