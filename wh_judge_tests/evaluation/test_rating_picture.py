"""What the picture of the ratings shows."""

import pytest
from matplotlib.text import Text

from wh_judge.evaluation.bradley_terry import Tally
from wh_judge.evaluation.rating_picture import rating_figure, rating_picture
from wh_judge.evaluation.ratings import ArenaRatings, rate_arena

SCALE = [Tally("a", "b", 30, 10, 0, 0), Tally("b", "c", 5, 5, 1, 1)]
ARENA = rate_arena(SCALE, [Tally("a", "b", 0, 4, 0, 0)], {"page": 52})
APART = rate_arena([*SCALE, Tally("c", "d", 3, 0, 0, 0)], [], {"page": 55})
NOTHING = rate_arena([], [], {})


def texts(arena: ArenaRatings) -> list[str]:
    return [text.get_text() for text in rating_figure(arena, None).findobj(Text) if isinstance(text, Text)]


@pytest.mark.parametrize("arena", [ARENA, APART, NOTHING])
def test_it_is_a_png(arena: ArenaRatings) -> None:
    assert rating_picture(arena).startswith(b"\x89PNG")


def test_each_model_stands_with_its_rating() -> None:
    drawn = texts(ARENA)
    for entry in ARENA.people.ratings:
        assert entry.model_id in drawn and f"{entry.rating:.0f}" in drawn
    assert any("52 votes" in text and "4 comparisons by support" in text for text in drawn)


def test_without_a_common_scale_it_says_so() -> None:
    drawn = texts(APART)
    assert any("no common scale: 2 components" in text for text in drawn)
    assert "–" in drawn


def test_without_a_vote_it_says_so() -> None:
    assert "There is no vote yet" in texts(NOTHING)


def test_with_support_alone_its_ratings_are_drawn() -> None:
    arena = rate_arena([], [Tally("a", "b", 2, 1, 0, 0)], {})
    drawn = texts(arena)
    assert "no vote, 3 comparisons by support" in " ".join(drawn)
    assert {"a", "b"} <= set(drawn)
