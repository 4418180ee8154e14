"""What the picture of the profiles shows."""

import pytest
from matplotlib.text import Text

from wh_judge.evaluation.pen import korean_family
from wh_judge.evaluation.profile import CapabilityProfiles
from wh_judge.evaluation.profile_picture import profile_figure, profile_picture
from wh_judge_tests.evaluation.test_profile import of

PROFILES = of(
    ("haneul-7b", "A", None, {"speech": 0.25, "canon": 1.0}),
    ("바람-13b", "A", None, {"speech": 1.0, "canon": 1.0, "recall": 0.5}),
)


def texts(profiles: CapabilityProfiles, family: str | None = None) -> list[str]:
    return [text.get_text() for text in profile_figure(profiles, family).findobj(Text) if isinstance(text, Text)]


@pytest.mark.parametrize("profiles", [PROFILES, of()])
def test_it_is_a_png(profiles: CapabilityProfiles) -> None:
    assert profile_picture(profiles).startswith(b"\x89PNG")


def test_each_score_stands_with_its_turns() -> None:
    drawn = texts(PROFILES)
    assert drawn.count("25.0") == 1 and drawn.count("50.0") == 1 and "62.5" in drawn
    assert drawn.count("–") == 3  # recall of one, forbidden of both


def test_the_best_stands_first() -> None:
    drawn = texts(PROFILES, korean_family())
    assert [text for text in drawn if text in ("haneul-7b", "바람-13b", "??-13b")][1] == "haneul-7b"


def test_without_a_turn_it_says_so() -> None:
    assert "No turn has a verdict yet" in texts(of())


def test_more_models_than_fit_are_counted() -> None:
    many = of(*((f"M-{n}", "A", None, {"speech": 1.0}) for n in range(31)))
    assert any("31 models, top 30 drawn" in text for text in texts(many))
