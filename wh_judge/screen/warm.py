"""What most pages need, made ready in the background: at the start and whenever a snapshot was published.

Readers never wait for it. Who comes earlier computes for themselves, once for all who ask the same.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import duckdb

from wh_judge.screen import static_pages
from wh_judge.screen.changes import decisions_by_id, overview
from wh_judge.screen.evaluations import parted_prompts
from wh_judge.screen.filters import Filter
from wh_judge.screen.listing import choices, places, runs
from wh_judge.screen.render import ENVIRONMENT, checks
from wh_judge.screen.rows import listed
from wh_judge.screen.snapshots import Snapshot, SnapshotError, Snapshots

SECONDS = 1.0
"""How often it is looked whether there is a new snapshot."""

_LOG = logging.getLogger(__name__)

STEPS: tuple[Callable[[Snapshot], object], ...] = (
    checks,
    choices,
    runs,
    lambda snapshot: listed(snapshot, {group: found[:1] for group, found in places(snapshot, Filter()).items()}),
    decisions_by_id,
    static_pages.shown_example,
    lambda snapshot: overview(snapshot, "", ""),
    parted_prompts,
    lambda _: [ENVIRONMENT.get_template(name) for name in ENVIRONMENT.list_templates()],
)
"""What every list, the example, the changes and the models begin with; the most asked for first."""


@contextmanager
def kept_warm(snapshots: Snapshots) -> Iterator[None]:
    """Each snapshot is made ready, one after the other, for as long as the block lasts."""
    ended = threading.Event()
    thread = threading.Thread(target=_keep, args=(snapshots, ended), name="warm", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _keep(snapshots: Snapshots, ended: threading.Event) -> None:
    ready = None
    while not ended.is_set():
        try:
            with snapshots.read() as snapshot:
                if snapshot and snapshot.id != ready:
                    ready = snapshot.id
                    warm(snapshot, ended)
        except (SnapshotError, duckdb.Error, OSError) as error:
            # Readers are told by the page that they ask for.
            _LOG.debug("%s", error)
        ended.wait(SECONDS)


def warm(snapshot: Snapshot, ended: threading.Event) -> None:
    """Make ready what most pages of a snapshot need, until it is no longer wanted."""
    for step in STEPS:
        if ended.is_set():
            return
        step(snapshot)
