"""Reads the next of what is worked on while the one before is worked on."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

_T = TypeVar("_T")


@contextmanager
def reading_ahead(source: Iterator[_T]) -> Iterator[Iterator[_T]]:
    """The same, none of which may be None, in the same order, read by a thread of its own that is one ahead.

    The thread has ended when the block has. What the source raises is raised where its place is.
    """
    with ThreadPoolExecutor(1) as thread:
        yield _one_ahead(thread, source)


def _one_ahead(thread: ThreadPoolExecutor, source: Iterator[_T]) -> Iterator[_T]:
    waiting = thread.submit(next, source, None)
    while (one := waiting.result()) is not None:
        waiting = thread.submit(next, source, None)
        yield one
