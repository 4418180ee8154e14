"""What stands in the place of a lexicon term that people dropped or narrowed, among the terms of one topic. Pure."""

from collections.abc import Iterable, Mapping, Sequence

Instead = Mapping[str, Sequence[str]]
"""By term, the terms that take its place; none for one that is dropped."""


def standing_for(term: str, instead: Instead) -> list[str]:
    """The terms that stand in the place of a term, in order: a narrower term may be narrowed or dropped, too.

    A term whose place others take is gone, unless they lead back to it: `과음` by `과음` and `과음을` stays.
    """
    return [one for one in _led_to([term], instead) if _stands(one, instead)]


def _stands(term: str, instead: Instead) -> bool:
    return term not in instead or term in _led_to(instead[term], instead)


def _led_to(terms: Iterable[str], instead: Instead) -> dict[str, None]:
    """These terms and all that take their places, step by step, each once."""
    found: dict[str, None] = {}
    waiting = list(reversed(list(terms)))
    while waiting:
        term = waiting.pop()
        if term not in found:
            found[term] = None
            waiting += reversed(instead.get(term, ()))
    return found
