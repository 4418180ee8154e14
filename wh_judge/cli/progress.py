"""A progress bar on stderr, on a terminal only."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from wh_judge.run import Progress as Told


@contextmanager
def bar() -> "Iterator[Told]":
    """Yields the function that a long work tells how far it is."""
    console = Console(stderr=True)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, disable=not sys.stderr.isatty(), transient=True) as progress:
        task = progress.add_task("starting", total=None)

        def told(what: str, done: int, total: int) -> None:
            # An update leaves the total as it was where it is given none.
            progress.tasks[0].total = total or None
            progress.update(task, description=what, completed=done)

        yield told
