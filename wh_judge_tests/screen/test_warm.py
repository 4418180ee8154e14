"""Snapshots are made ready before anybody asks."""

import threading
from collections.abc import Iterator

import pytest

from wh_judge.screen import warm as module
from wh_judge.screen.snapshots import Snapshot, Snapshots
from wh_judge.screen.warm import STEPS, kept_warm, warm
from wh_judge_tests.house import House


@pytest.fixture
def snapshots(site: House) -> Iterator[Snapshots]:
    found = Snapshots(site.settings.published)
    yield found
    found.close()


def fail() -> None:
    raise AssertionError("was not ready")


@pytest.mark.parametrize(
    "key", ["checks", "choices", "runs", ("places", ""), "decisions", "public", ("changes", "", ""), "prompts"], ids=str
)
def test_what_most_pages_need_is_ready(snapshots: Snapshots, key: object) -> None:
    with snapshots.read() as snapshot:
        assert snapshot
        warm(snapshot, threading.Event())
        snapshot.cached(key, fail)


def test_it_ends_where_it_is_no_longer_wanted(snapshots: Snapshots, monkeypatch: pytest.MonkeyPatch) -> None:
    ended, done = threading.Event(), []

    def first(_: Snapshot) -> None:
        done.append(1)
        ended.set()

    monkeypatch.setattr(module, "STEPS", (first, *STEPS))
    with snapshots.read() as snapshot:
        assert snapshot
        warm(snapshot, ended)
        snapshot.cached("checks", lambda: done.append(2))
    assert done == [1, 2]


def test_each_new_snapshot_is_made_ready_once(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    warmed, both = list[str](), threading.Event()

    def note(snapshot: Snapshot) -> None:
        warmed.append(snapshot.id)
        if len(warmed) == 2:
            both.set()

    monkeypatch.setattr(module, "STEPS", (note,))
    monkeypatch.setattr(module, "SECONDS", 0.01)
    folder = house.settings.published
    [path] = folder.glob("*.duckdb")
    found = Snapshots(folder)
    with kept_warm(found):
        while not warmed:
            threading.Event().wait(0.01)
        path.with_name("another.duckdb").write_bytes(path.read_bytes())
        (folder / "current").write_text("another\n")
        assert both.wait(60)
    found.close()
    assert warmed == [path.stem, "another"]


def test_a_snapshot_that_cannot_be_read_is_looked_at_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    warmed = threading.Event()
    monkeypatch.setattr(module, "STEPS", (lambda _: warmed.set(),))
    monkeypatch.setattr(module, "SECONDS", 0.01)
    [path] = house.settings.published.glob("*.duckdb")
    whole = path.read_bytes()
    path.write_bytes(b"no database")
    found = Snapshots(house.settings.published)
    with kept_warm(found):
        assert not warmed.wait(0.1)
        path.with_suffix(".new").write_bytes(whole)
        path.with_suffix(".new").rename(path)
        assert warmed.wait(60)
    found.close()
