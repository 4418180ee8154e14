"""What the pictures show, read from the figures, and that they can be drawn with any font and any model id."""

import re
import struct
import subprocess
import sys
import warnings

import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from wh_judge.evaluation import pictures
from wh_judge.evaluation.agreement import VERDICTS, Agreement, measure_agreement
from wh_judge.evaluation.divergence import Divergence, measure_divergence
from wh_judge.evaluation.pen import korean_family
from wh_judge.model import VerdictValue
from wh_judge_tests.evaluation import (
    KEPT,
    NAME,
    RECALL,
    SPEECH,
    TOPIC,
    answer_tables,
    gold_table,
    prompts_answered,
    unjudged_table,
    verdict_table,
)

ANY = "DejaVu Sans"
"""Stands for a Korean font where the words are read and nothing is drawn."""

HANGUL = re.compile("[ㄱ-ㆎ가-힣]")


def agreement_of(*counts: tuple[str, str, int]) -> Agreement:
    """So many turns with this label and this verdict."""
    pairs = [(label, verdict) for label, verdict, count in counts for _ in range(count)]
    labels, verdicts = ({f"T-{i}": pair[side] for i, pair in enumerate(pairs)} for side in (0, 1))
    return measure_agreement(gold_table(labels), verdict_table(verdicts), unjudged_table())


def divergence_of(models: list[str], patterns: dict[str, int]) -> Divergence:
    return measure_divergence(*prompts_answered(models, patterns), models)


AGREEMENT = agreement_of((KEPT, KEPT, 61), (KEPT, SPEECH, 7), (SPEECH, SPEECH, 23), (NAME, KEPT, 2), (TOPIC, TOPIC, 1))
DIVERGENCE = divergence_of(["haneul-7b", "바람-13b"], {"10": 3, "01": 9, "11": 2, "00": 40})
NOTHING_FOUND = measure_agreement(gold_table({"T-1": KEPT}), verdict_table({}), unjudged_table())
NOTHING_COMPARED = divergence_of(["haneul-7b", "baram-13b"], {})


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if isinstance(text, Text) and text.get_text()]


def bars(figure: Figure) -> list[Rectangle]:
    return [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle)]


def on_their_ground(figure: Figure) -> list[tuple[str, str, Rectangle]]:
    """The texts that lie on a bar or cell: text, colour and the rectangle."""
    return [
        (text.get_text(), str(text.get_color()), bar)
        for text in figure.axes[0].texts
        for bar in bars(figure)
        if bar.get_x() < text.get_position()[0] < bar.get_x() + bar.get_width()
        and bar.get_y() < text.get_position()[1] < bar.get_y() + bar.get_height()
    ]


def luminance(colour: tuple[float, float, float]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize(
    "picture",
    [
        pytest.param(lambda: pictures.confusion_picture(AGREEMENT), id="confusion"),
        pytest.param(lambda: pictures.confusion_picture(NOTHING_FOUND), id="nothing found"),
        pytest.param(lambda: pictures.divergence_picture(DIVERGENCE), id="divergence"),
        pytest.param(lambda: pictures.divergence_picture(NOTHING_COMPARED), id="nothing compared"),
        pytest.param(lambda: pictures.divergence_picture(divergence_of([], {})), id="no models"),
        pytest.param(lambda: pictures.divergence_picture(divergence_of(["a"], {"0": 3})), id="nothing diverges"),
    ],
)
def test_a_picture_is_a_png_twice_as_wide_as_it_is_shown(picture) -> None:  # type: ignore[no-untyped-def]
    data = picture()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">I", data[16:20]) == (1050,)


@pytest.mark.parametrize("family", [None, ANY])
def test_the_confusion_shows_the_counts_that_there_are_and_no_zero(family: str | None) -> None:
    numbers = sorted(text for text, _, _ in on_their_ground(pictures.confusion_figure(AGREEMENT, family)))
    assert numbers == sorted(["61", "7", "23", "2", "1"])


def test_labels_run_down_and_verdicts_across() -> None:
    axes = pictures.confusion_figure(AGREEMENT, None).axes[0]
    inside = {text.get_position(): text.get_text() for text in axes.texts if min(text.get_position()) >= 0}
    assert {place: count for place, count in inside.items() if max(place) <= 4} == {
        (0, 0): "61",
        (1, 0): "7",
        (1, 1): "23",
        (0, 2): "2",
        (3, 3): "1",
    }
    assert axes.yaxis_inverted()


@pytest.mark.parametrize("family", [None, ANY])
@pytest.mark.parametrize(
    ("draw", "result"),
    [
        (pictures.confusion_figure, NOTHING_FOUND),
        (pictures.divergence_figure, NOTHING_COMPARED),
        (pictures.divergence_figure, divergence_of([], {})),
    ],
)
def test_where_there_is_no_number_none_is_drawn(draw, result, family: str | None) -> None:  # type: ignore[no-untyped-def]
    drawn = texts(draw(result, family))
    assert len(drawn) == 2
    assert not re.search(r"\d", " ".join(drawn))


def test_the_agreement_is_written_with_its_interval_and_kappa() -> None:
    assert any(
        "90.4% (85 / 94)" in text and "82.8% – 94.9%" in text and "κ 0.78" in text
        for text in texts(pictures.confusion_figure(AGREEMENT, None))
    )


def test_an_undefined_kappa_is_not_written() -> None:
    assert "κ" not in " ".join(texts(pictures.confusion_figure(agreement_of((KEPT, KEPT, 3)), None)))


@pytest.mark.parametrize("verdict", VERDICTS)
def test_verdicts_are_named_in_korean_with_a_font_and_in_english_without(verdict: VerdictValue) -> None:
    korean, english = (
        " | ".join(texts(pictures.confusion_figure(AGREEMENT, family))).replace("\n", " ") for family in (ANY, None)
    )
    assert verdict in korean and verdict not in english
    assert pictures.ENGLISH[verdict] in english and pictures.ENGLISH[verdict] not in korean


@pytest.mark.parametrize(
    ("draw", "result"), [(pictures.confusion_figure, AGREEMENT), (pictures.divergence_figure, DIVERGENCE)]
)
def test_without_a_korean_font_no_hangul_is_drawn(draw, result) -> None:  # type: ignore[no-untyped-def]
    assert not HANGUL.search(" ".join(texts(draw(result, None))))


def test_a_korean_font_that_is_named_can_be_found() -> None:
    family = korean_family()
    if family is None:
        pytest.skip("no Korean font is installed")
    from matplotlib.font_manager import findfont, get_font

    assert ord("힣") in get_font(findfont(family, fallback_to_default=False)).get_charmap()


@pytest.mark.parametrize("family", [None, korean_family()])
@pytest.mark.parametrize(
    "model_id",
    ["$x^{2$", r"\frac{1}{$", "바람" * 100, "m" * 200, "line\nbreak\ttab", "\x07bell\u200b", "😀𐎀", "日本-7b", " "],
)
def test_any_model_id_is_drawn_without_a_warning(model_id: str, family: str | None) -> None:
    figure = pictures.divergence_figure(divergence_of(["a", model_id], {"10": 1, "01": 2}), family)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.draw_without_rendering()


@pytest.mark.parametrize(
    ("models", "labels"),
    [
        (["gpt$4$o"], ["gpt$4$o"]),
        (["a" * 30 + "b" * 170], ["a" * 20 + "…" + "b" * 19]),
        (["line\nbreak"], ["line break"]),
        (["바람-13b"], ["??-13b"]),
        (["바람-13b", "하늘-13b"], ["1. ??-13b", "2. ??-13b"]),
        (["a" * 40, "a" * 41], ["a" * 40, "a" * 20 + "…" + "a" * 19]),
    ],
)
def test_the_label_of_a_model(models: list[str], labels: list[str]) -> None:
    figure = pictures.divergence_figure(divergence_of(models, {"1" * len(models): 1}), None)
    assert [text.get_text() for text in figure.axes[0].texts if text.get_position()[0] == 0] == labels


def test_model_ids_are_never_read_as_mathematics() -> None:
    figure = pictures.divergence_figure(divergence_of(["$a$"], {"1": 1}), None)
    (label,) = [text for text in figure.axes[0].texts if text.get_text() == "$a$"]
    assert not label.get_parse_math()


EVERY_REASON = measure_divergence(*answer_tables([(f"T-{i}", f"P-{i}", "a", v) for i, v in enumerate(VERDICTS)]))
EVERY_SHADE = agreement_of(*((KEPT, verdict, 6**i) for i, verdict in enumerate(reversed(VERDICTS))))


@pytest.mark.parametrize(
    ("draw", "result", "numbers"),
    [
        (pictures.confusion_figure, AGREEMENT, 5),
        (pictures.confusion_figure, EVERY_SHADE, 5),
        (pictures.divergence_figure, EVERY_REASON, 4),
    ],
)
def test_numbers_are_readable_on_their_ground(draw, result, numbers: int) -> None:  # type: ignore[no-untyped-def]
    """Contrast of at least 4.5, the level AA of WCAG 2.2."""
    written = on_their_ground(draw(result, None))
    assert len(written) == numbers
    for _, colour, bar in written:
        shades = sorted(luminance(to_rgb(shade)) for shade in (colour, bar.get_facecolor()))
        assert (shades[1] + 0.05) / (shades[0] + 0.05) >= 4.5


def test_the_bars_of_a_model_add_up_to_its_rate() -> None:
    verdicts = [KEPT, KEPT, KEPT, NAME, SPEECH, SPEECH, TOPIC, RECALL]
    result = measure_divergence(*answer_tables([(f"T-{i}", f"P-{i}", "a", v) for i, v in enumerate(verdicts)]))
    drawn = bars(pictures.divergence_figure(result, None))
    assert [bar.get_width() for bar in drawn] == [2 / 8, 1 / 8, 1 / 8, 1 / 8]
    assert [bar.get_x() for bar in drawn] == [0, 2 / 8, 3 / 8, 4 / 8]


def test_the_error_bar_is_the_interval() -> None:
    figure = pictures.divergence_figure(DIVERGENCE, None)
    lines = [
        segment for c in figure.axes[0].collections if isinstance(c, LineCollection) for segment in c.get_segments()
    ]
    ends = [bound for line in lines for bound in line[:, 0]]
    by_rate = sorted(DIVERGENCE.per_model, key=lambda model: -model.diverging)
    assert ends == pytest.approx([bound for model in by_rate for bound in (model.low, model.high)])


@pytest.mark.parametrize(
    ("patterns", "written"),
    [
        ({"10": 3, "01": 9}, "exact McNemar, p = 0.146"),
        ({"10": 30}, "exact McNemar, p < 0.001"),
        ({"10": 3, "01": 9}, "12 shared prompts"),
    ],
)
def test_the_line_below_the_title_says_what_was_compared(patterns: dict[str, int], written: str) -> None:
    assert any(written in text for text in texts(pictures.divergence_figure(divergence_of(["a", "b"], patterns), None)))


@pytest.mark.parametrize(("models", "patterns"), [(["a"], {"1": 3}), (["a", "b"], {"11": 3})])
def test_without_a_test_no_p_is_written(models: list[str], patterns: dict[str, int]) -> None:
    drawn = " ".join(texts(pictures.divergence_figure(divergence_of(models, patterns), None)))
    assert "p =" not in drawn and "p <" not in drawn


@pytest.mark.parametrize(("unjudged", "written"), [(0, None), (1, "1 left out"), (3, "3 left out")])
def test_prompts_that_were_left_out_are_counted(unjudged: int, written: str | None) -> None:
    turns, verdicts = prompts_answered(["a"], {"1": 4})
    drawn = texts(pictures.divergence_figure(measure_divergence(turns, verdicts.slice(unjudged), ["a"]), None))
    parts = [part for text in drawn for part in text.split("  ·  ") if "left out" in part]
    assert parts == ([written] if written else [])


def test_of_very_many_models_the_highest_are_drawn() -> None:
    many = divergence_of([f"m-{i}" for i in range(45)], {"1" * i + "0" * (45 - i): 1 for i in range(46)})
    figure = pictures.divergence_figure(many, None)
    drawn = [text.get_text() for text in figure.axes[0].texts if text.get_text().startswith("m-")]
    assert drawn == [f"m-{i}" for i in range(40)]
    assert any("45 models, top 40 drawn" in text for text in texts(figure))


@pytest.mark.parametrize("diverging", [0, 1, 40, 400])
def test_the_ticks_of_the_rates_are_told_apart(diverging: int) -> None:
    figure = pictures.divergence_figure(divergence_of(["a"], {"1": diverging, "0": 400 - diverging}), None)
    figure.draw_without_rendering()
    ticks = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert len(ticks) == len(set(ticks)) > 2


HEAVY = ("matplotlib", "scipy", "statsmodels", "pandas", "duckdb", "dagster")


@pytest.mark.parametrize("module", ["agreement", "divergence", "pictures"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, wh_judge.evaluation.{module}; print([m for m in {HEAVY} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_drawing_leaves_pyplot_alone() -> None:
    code = (
        "import sys; from wh_judge_tests.evaluation.test_pictures import AGREEMENT, DIVERGENCE, pictures\n"
        "pictures.confusion_picture(AGREEMENT), pictures.divergence_picture(DIVERGENCE)\n"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
