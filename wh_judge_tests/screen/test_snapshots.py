"""Reading while snapshots are published and dropped: no error, no mixed data, nothing left open."""

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from wh_judge.screen import snapshots as module
from wh_judge.screen.snapshots import Snapshot, SnapshotError, Snapshots
from wh_judge_tests.house import House
from wh_judge_tests.screen.site import listed, reader

READERS, PUBLICATIONS = 6, 40


class Press:
    """Publishes as `wh_judge.store.snapshot` does: aside, renamed, named, and the older ones dropped."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def publish(self, number: int, keep: int = 1) -> None:
        """A snapshot whose every table says its number."""
        partial = self.folder / f".{number}.partial"
        with duckdb.connect(str(partial)) as connection:
            for table in ("first", "second"):
                connection.execute(f"CREATE TABLE {table} AS SELECT {number} AS number FROM range(1000)")
        self.name(partial, str(number), keep)

    def name(self, partial: Path, snapshot_id: str, keep: int) -> None:
        partial.rename(self.folder / f"{snapshot_id}.duckdb")
        pointer = self.folder / ".current"
        pointer.write_text(f"{snapshot_id}\n", encoding="utf-8")
        pointer.rename(self.folder / "current")
        by_age = sorted(self.folder.glob("*.duckdb"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
        for file in [file for file in by_age if file.stem != snapshot_id][keep - 1 :]:
            file.unlink()


def open_files(folder: Path) -> list[str]:
    """The files of a folder that this process holds open, dropped ones too."""
    found = []
    for handle in Path("/proc/self/fd").iterdir():
        try:
            target = str(handle.readlink())
        except OSError:
            continue
        if target.startswith(str(folder)):
            found.append(target)
    return found


@pytest.fixture
def press(tmp_path: Path) -> Press:
    return Press(tmp_path / "published")


@pytest.fixture
def snapshots(press: Press) -> Iterator[Snapshots]:
    found = Snapshots(press.folder)
    yield found
    found.close()
    assert open_files(press.folder) == []


def number(snapshot: Snapshot | None) -> int:
    assert snapshot
    [row] = snapshot.rows("SELECT any_value(number) AS number FROM first")
    return int(row["number"])


def test_nothing_is_read_where_nothing_was_published(snapshots: Snapshots) -> None:
    with snapshots.read() as snapshot:
        assert snapshot is None


def test_the_newest_is_read(press: Press, snapshots: Snapshots) -> None:
    for published in (1, 2):
        press.publish(published)
        with snapshots.read() as snapshot:
            assert number(snapshot) == published


def test_a_reader_keeps_what_it_began_with_though_it_is_dropped(press: Press, snapshots: Snapshots) -> None:
    press.publish(1)
    with snapshots.read() as old:
        press.publish(2)
        assert not (press.folder / "1.duckdb").exists()
        with snapshots.read() as new:
            assert (number(old), number(new)) == (1, 2)
        assert number(old) == 1


def test_the_older_is_closed_by_its_last_reader(press: Press, snapshots: Snapshots) -> None:
    press.publish(1)
    with snapshots.read(), snapshots.read():
        press.publish(2)
        with snapshots.read():
            assert {Path(name).name.split(".")[0] for name in open_files(press.folder)} == {"1", "2"}
    assert {Path(name).name.split(".")[0] for name in open_files(press.folder)} == {"2"}


def test_one_that_nobody_reads_is_closed_at_once(press: Press, snapshots: Snapshots) -> None:
    for published in range(5):
        press.publish(published)
        with snapshots.read():
            assert {Path(name).name.split(".")[0] for name in open_files(press.folder)} == {str(published)}


def in_a_crowd(read: Callable[[], None], meanwhile: Callable[[], None]) -> list[BaseException]:
    """Some threads read over and over while something is done; what they ran into."""
    done, errors = threading.Event(), list[BaseException]()

    def loop() -> None:
        while not done.is_set() and not errors:
            try:
                read()
            except BaseException as error:
                errors.append(error)

    crowd = [threading.Thread(target=loop) for _ in range(READERS)]
    for thread in crowd:
        thread.start()
    try:
        meanwhile()
    finally:
        done.set()
        for thread in crowd:
            thread.join()
    return errors


def test_readers_see_no_error_and_no_mixture_while_snapshots_come_and_go(press: Press, snapshots: Snapshots) -> None:
    press.publish(0)
    seen: set[int] = set()

    def read() -> None:
        with snapshots.read() as snapshot:
            assert snapshot
            first = number(snapshot)
            cached = snapshot.cached("number", lambda: number(snapshot))
            [row] = snapshot.rows("SELECT min(number) AS low, max(number) AS high, count(*) AS rows FROM second")
            assert (row["low"], row["high"], row["rows"], cached) == (first, first, 1000, first)
            seen.add(first)

    def meanwhile() -> None:
        for published in range(1, PUBLICATIONS):
            press.publish(published)

    assert in_a_crowd(read, meanwhile) == []
    assert len(seen) > 1


def test_pages_show_one_snapshot_while_another_is_published(house: House, tmp_path: Path) -> None:
    press = Press(house.settings.published)
    [path] = press.folder.glob("*.duckdb")
    versions = {"all": path, "fewer": tmp_path / "fewer.duckdb"}
    shutil.copy(path, versions["fewer"])
    with duckdb.connect(str(versions["fewer"])) as connection:
        connection.execute("DELETE FROM verdict WHERE day = DATE '2026-09-03'")
        connection.execute("DELETE FROM chat_turn WHERE day = DATE '2026-09-03'")
    kept = {name: file.read_bytes() for name, file in versions.items()}
    with reader(house) as client:

        def read() -> None:
            answer = client.get("/verdicts")
            turns = answer.text.partition("<h1>판정 <small>")[2].partition("회차")[0]
            assert ("T-17" in listed(answer), turns) in ((True, "17"), (False, "11"))
            assert client.get("/verdicts.jsonl").text.count("\n") in (16, 10)

        def meanwhile() -> None:
            for turn in range(12):
                name = ("all", "fewer")[turn % 2]
                partial = press.folder / f".{turn}.partial"
                partial.write_bytes(kept[name])
                press.name(partial, f"{name}{turn}", keep=1)
                client.get("/notes")

        assert in_a_crowd(read, meanwhile) == []
        assert len({Path(name).name for name in open_files(press.folder)}) == 1
    assert open_files(press.folder) == []


@pytest.mark.parametrize("content", [b"", b"no database", b"\x00" * 20_000])
def test_what_is_no_database_is_said_each_time(press: Press, snapshots: Snapshots, content: bytes) -> None:
    press.publish(1)
    (press.folder / "1.duckdb").write_bytes(content)
    for _ in range(2):
        with pytest.raises(SnapshotError, match=r"1\.duckdb"), snapshots.read():
            pass


def test_where_the_newest_cannot_be_opened_the_one_that_is_open_goes_on(press: Press, snapshots: Snapshots) -> None:
    press.publish(1, keep=2)
    with snapshots.read():
        pass
    press.publish(2, keep=2)
    (press.folder / "2.duckdb").write_bytes(b"")
    with snapshots.read() as snapshot:
        assert number(snapshot) == 1
    press.publish(3, keep=2)
    with snapshots.read() as snapshot:
        assert number(snapshot) == 3


def test_nobody_writes_and_nothing_outside_is_read(press: Press, snapshots: Snapshots, tmp_path: Path) -> None:
    press.publish(1)
    (tmp_path / "secret.csv").write_text("a\n1\n")
    with snapshots.read() as snapshot:
        assert snapshot
        for sql in ("DELETE FROM first", f"FROM '{tmp_path}/secret.csv'", f"ATTACH '{tmp_path}/x.duckdb'"):
            with pytest.raises(duckdb.Error):
                snapshot.rows(sql)


@pytest.fixture
def snapshot(press: Press, snapshots: Snapshots) -> Iterator[Snapshot]:
    press.publish(1)
    with snapshots.read() as found:
        assert found
        yield found


def test_what_many_ask_for_at_once_is_computed_once(snapshot: Snapshot) -> None:
    asked, ready, answers = [], threading.Barrier(READERS), []

    def compute() -> int:
        asked.append(1)
        return 7

    def ask() -> None:
        ready.wait()
        answers.append(snapshot.cached("key", compute))

    crowd = [threading.Thread(target=ask) for _ in range(READERS)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    assert (asked, answers) == ([1], [7] * READERS)


def test_what_failed_is_computed_again(snapshot: Snapshot) -> None:
    def fail() -> int:
        raise ValueError("once")

    with pytest.raises(ValueError, match="once"):
        snapshot.cached("key", fail)
    assert snapshot.cached("key", lambda: 7) == 7


def test_what_was_asked_for_longest_ago_is_forgotten(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CACHE_BYTES", 3_500)
    computed: list[str] = []

    def compute() -> bytes:
        computed.append(key)
        return b"x" * 1_000

    for key in ("a", "b", "c", "a", "d", "a", "b"):
        snapshot.cached(key, compute)
    assert computed == ["a", "b", "c", "d", "b"]


def test_no_more_than_so_many_are_kept(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CACHE_ENTRIES", 3)
    computed: list[int] = []

    def compute() -> None:
        computed.append(key)

    for key in (1, 2, 3, 1, 4, 1, 3, 2):
        snapshot.cached(key, compute)
    assert computed == [1, 2, 3, 4, 2]


def test_a_long_question_is_large(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CACHE_BYTES", 3_500)
    computed: list[str] = []

    def compute() -> None:
        computed.append(key[0])

    for key in ("a" * 2_000, "b" * 2_000, "a" * 2_000):
        snapshot.cached(key, compute)
    assert computed == ["a", "b", "a"]


def test_what_is_too_large_to_keep_is_an_answer_all_the_same(
    snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CACHE_BYTES", 10)
    assert [snapshot.cached("key", lambda: "x" * 100) for _ in range(2)] == ["x" * 100] * 2
