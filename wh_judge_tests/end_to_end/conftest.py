"""One story: a server starts over an empty log, a range is backfilled, a card is edited, a corrected file arrives."""

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from wh_judge_tests.end_to_end.server import BACKFILL, ROOT, Server, started

SAMPLE = ROOT / "data" / "sample"
DAYS = ["2026-09-01", "2026-09-02", "2026-09-03"]
EDITED_DAY, CORRECTED_DAY = DAYS[1], DAYS[2]
CORRECTED_FILE = "corrected.jsonl"
EVERY_DAY, EDITED = "CHR-0001", "CHR-0002"
"""Two characters of the sample: one is kept on all days, the other, whose card is edited, on one."""

Row = dict[str, Any]


class Log(NamedTuple):
    """The turns of three days."""

    turns: dict[str, list[Row]]
    """By day."""

    def write(self, folder: Path, *days: str) -> None:
        for day in days:
            write_turns(folder / f"{day}.jsonl", self.turns[day])


class Step(NamedTuple):
    """What came of a step of the story."""

    runs: list[Row]
    """The runs that it brought about."""

    @property
    def days(self) -> list[str]:
        """The days that were run, once for each run."""
        return sorted(day for day in map(day_of, self.runs) if day)


def day_of(run: Row) -> str | None:
    """The day that a run ran; a backfill calls it a range of one."""
    tags = run["tags"]
    first, last = tags.get("dagster/asset_partition_range_start"), tags.get("dagster/asset_partition_range_end")
    assert first == last, "a run of several days"
    day: str | None = tags.get("dagster/partition", first)
    return day


class Corrected(NamedTuple):
    """A turn as a later file has it, and what came of that."""

    turn: Row
    step: Step


def write_turns(path: Path, turns: list[Row]) -> None:
    """A log file that is complete: it was last changed a minute ago."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text("".join(json.dumps(turn, ensure_ascii=False) + "\n" for turn in turns), encoding="utf-8")
    minute_ago = time.time() - 60
    os.utime(partial, (minute_ago, minute_ago))
    partial.replace(path)


def read_cards(inputs: Path) -> list[Row]:
    cards: list[Row] = json.loads((inputs / "cards.json").read_text(encoding="utf-8"))
    return cards


@pytest.fixture(scope="module")
def log() -> Log:
    """Three days of the sample: one character on all of them, the other on the second."""
    turns = {}
    for day in DAYS:
        lines = (SAMPLE / "turns" / f"{day}.jsonl").read_text(encoding="utf-8").splitlines()
        kept = {EVERY_DAY, EDITED} if day == EDITED_DAY else {EVERY_DAY}
        turns[day] = [row for row in map(json.loads, lines) if row["character_id"] in kept]
    return Log(turns)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server over cards and a lexicon, with no turns yet, from when it has read them of its own accord."""
    new = Server(tmp_path_factory.mktemp("end_to_end"))
    for folder in (new.inputs / "turns", new.data / "inbox", new.home):
        folder.mkdir(parents=True)
    for name in ("cards.json", "lexicon.csv"):
        shutil.copy(SAMPLE / name, new.inputs)
    for name in ("dagster.yaml", "workspace.yaml"):
        shutil.copy(ROOT / name, new.home)
    with started(new):
        new.wait("cards are read", lambda: new.materialized("cards"))
        yield new


def _step(server: Server, known: list[Row], what: str, day: str) -> Step:
    """Wait until a day ran again and nothing is left to do."""
    ids = {run["runId"] for run in known}

    def done() -> list[Row] | None:
        runs = server.idle_runs()
        new = [run for run in runs or () if run["runId"] not in ids]
        return new if day in map(day_of, new) else None

    return Step(server.wait(what, done))


@pytest.fixture(scope="module")
def backfilled(server: Server, log: Log) -> Step:
    """The log files are there, and the range was backfilled."""
    known = {run["runId"] for run in server.runs()}
    log.write(server.inputs / "turns", *DAYS)
    backfill = server.backfill(["turns", "verdicts", "verdict_changes"], DAYS)
    server.wait(
        "the backfill is done",
        lambda: server.ask(BACKFILL, id=backfill)["status"] not in ("REQUESTED", "CANCELING", "FAILING"),
    )
    assert server.ask(BACKFILL, id=backfill)["status"] == "COMPLETED_SUCCESS", server.told()
    runs = server.wait("nothing is left to do", server.idle_runs)
    return Step([run for run in runs if run["runId"] not in known])


@pytest.fixture(scope="module")
def card_edited(server: Server, backfilled: Step) -> Step:
    """A character that had to be polite is to speak plainly; the automation did the rest."""
    known = server.runs()
    cards = [
        card | {"honorific_rule": "반말"} if card["character_id"] == EDITED else card
        for card in read_cards(server.inputs)
    ]
    partial = server.inputs / ".cards.json"
    partial.write_text(json.dumps(cards, ensure_ascii=False), encoding="utf-8")
    partial.replace(server.inputs / "cards.json")
    return _step(server, known, "the edited card's day ran again", EDITED_DAY)


@pytest.fixture(scope="module")
def corrected(server: Server, log: Log, card_edited: Step) -> Corrected:
    """A turn that kept to its card speaks politely after all, says a file in the inbox; the automation did the rest."""
    known = server.runs()
    right = log.turns[CORRECTED_DAY][0] | {
        "reply_text": "저는 쉬고 싶어요.",
        "first_person": "저",
        "named_entities": [],
    }
    write_turns(server.data / "inbox" / CORRECTED_FILE, [right])
    return Corrected(right, _step(server, known, "the corrected turn's day ran again", CORRECTED_DAY))
