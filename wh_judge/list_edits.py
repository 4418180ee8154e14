"""What differs between two lists, and how to put each difference back into a list that has others, too. Pure."""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any

MOST_ELEMENTS = 20
"""A list in which more elements differ that can matter is put back as a whole, so that the search stays short."""

ListChange = Callable[[Iterable[Any]], tuple[Any, ...]]
"""Puts a difference back into a list."""


def list_changes(
    old: Sequence[Any], new: Sequence[Any], text: Callable[[Any], str], reordered: str = "in another order"
) -> list[tuple[str, ListChange]]:
    """Single additions and removals between two lists, and the other order of what stands in both; each in words.

    Args:
        old: the elements then, as far as they can matter.
        new: the elements now, likewise.
        text: how an element is written.
        reordered: the words for another order.
    """
    # A second time an element says nothing.
    old, new = tuple(dict.fromkeys(old)), tuple(dict.fromkeys(new))
    had, has = set(old), set(new)
    changes: list[tuple[str, ListChange]] = []
    if [element for element in old if element in has] != [element for element in new if element in had]:
        changes.append((reordered, partial(_in_order_of, old)))
    changes += [(f"+ {text(element)}", partial(_without, element)) for element in new if element not in had]
    changes += [(f"- {text(element)}", partial(_reinserted, element, old)) for element in old if element not in has]
    if len(changes) > MOST_ELEMENTS:
        return [(f"{len(has - had)} added, {len(had - has)} removed", partial(_instead, old, frozenset(new)))]
    return changes


def _without(element: Any, now: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(other for other in now if other != element)


def _instead(old: tuple[Any, ...], new: Collection[Any], now: Iterable[Any]) -> tuple[Any, ...]:
    """`old`, and behind it what neither it nor `new` holds: elements that cannot matter."""
    return (*old, *(element for element in now if element not in new and element not in old))


def _in_order_of(old: tuple[Any, ...], now: Iterable[Any]) -> tuple[Any, ...]:
    """`now` with those of its elements that `old` holds in the order that they have there, in the same places."""
    now = tuple(now)
    ordered = iter(sorted((element for element in now if element in old), key=old.index))
    return tuple(next(ordered) if element in old else element for element in now)


def _reinserted(element: Any, old: tuple[Any, ...], now: Iterable[Any]) -> tuple[Any, ...]:
    """`now` with the element before the first of the elements that followed it in `old`."""
    now, following = tuple(now), set(old[old.index(element) + 1 :])
    place = next((i for i, other in enumerate(now) if other in following), len(now))
    return (*now[:place], element, *now[place:])
