"""Reads the next of what is worked on while the one before is worked on."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

_T = TypeVar("_T")


@contextmanager
def reading_ahead(source: Iterator[_T]) -> Iterator[Iterator[_T]]:
    """The same, none of which may be None, in the same order, read by a thread of its own that is one ahead.

    It begins at once, and has ended when the block has. What the source raises is raised where its place is.
    """
    with ThreadPoolExecutor(1) as thread:
        yield _one_ahead(thread, source, thread.submit(next, source, None))


def _one_ahead(thread: ThreadPoolExecutor, source: Iterator[_T], waiting: Future[_T | None]) -> Iterator[_T]:
    while (one := waiting.result()) is not None:
        waiting = thread.submit(next, source, None)
        yield one
