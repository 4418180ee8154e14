"""Uploaded files: received, checked, and handed to the inbox under the hash of their contents.

Each upload is a folder `data/uploads/<sha256>/` with the file, until it is sent, and `report.json`, what was found in
it. The name that a sender gave is only shown; it is never a path. A file that comes again is checked again, and may be
sent again: what was sent last counts.
"""

import datetime as dt
import hashlib
import itertools
import json
import secrets
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from wh_judge.errors import UserError
from wh_judge.inbox import REJECTED
from wh_judge.ingest import read_file
from wh_judge.inputs import TABLES, TableName
from wh_judge.locks import alone
from wh_judge.model import KST
from wh_judge.readers import READERS
from wh_judge.settings import Settings
from wh_judge.uploaded import label

PREVIEW_ROWS = 20
PREVIEW_TEXT = 200
"""Characters of a cell that the preview shows."""
ABANDONED_SECONDS = 24 * 3600.0
PROBLEMS_KEPT = 10_000
"""Problems that are listed; the others are counted."""
CHARACTERS_KEPT = 10_000
CARD_UPLOADS = 100
"""The newest uploads among which cards are looked for."""


class Found(BaseModel):
    """A problem of a file."""

    model_config = ConfigDict(frozen=True)

    line: int | None
    severity: Literal["rejected", "noted"]
    reason: str


class Report(BaseModel):
    """What was found in an uploaded file."""

    model_config = ConfigDict(frozen=True)

    sha256: str
    name: str
    """The label of what its sender called it."""
    table: TableName
    suffix: str
    size: int
    rows: int
    rejected: int
    noted: int
    normalised: int
    days: dict[str, int]
    """Turns by day, for a log."""
    preview: list[dict[str, str]]
    problems: list[Found]
    characters: dict[str, int] = {}
    """Rows by character, for a log and for cards: the first `CHARACTERS_KEPT`."""
    sent_as: str | None = None
    """Where it lay in the inbox when it was sent last."""

    @property
    def usable(self) -> bool:
        """Whether there is any row to bring in."""
        return self.rows > 0

    @property
    def file(self) -> str:
        """Its name in its folder."""
        return f"file{self.suffix}"


def receive(settings: Settings, name: str, table: TableName, chunks: Iterable[bytes]) -> tuple[Report, bool]:
    """Store a file under the hash of its contents and check it.

    Returns:
        What was found, and whether the file is new.

    Raises:
        UserError: its name ends in none of the known suffixes, or it is empty.
    """
    suffix, name = Path(name).suffix.lower(), label(name)
    if suffix not in READERS:
        raise UserError(f"{name}: {', '.join(READERS)} 파일만 읽습니다. 이름이 그렇게 끝나는 파일을 고르세요.")
    settings.uploads.mkdir(parents=True, exist_ok=True)
    _drop_abandoned(settings.uploads)
    arriving = settings.uploads / f".{secrets.token_hex(8)}.partial"
    arriving.mkdir()
    try:
        digest, size = hashlib.sha256(f"{table}\0{suffix}\0".encode()), 0
        file = arriving / f"file{suffix}"
        with file.open("wb") as out:
            for chunk in chunks:
                digest.update(chunk)
                size += len(chunk)
                out.write(chunk)
        if not size:
            raise UserError(f"{name}: 빈 파일입니다. 내용이 있는 파일을 고르세요.")
        known = find(settings, digest.hexdigest())
        report = check(file, digest.hexdigest(), name, table)
        folder = settings.uploads / report.sha256
        if known:
            report = report.model_copy(update={"name": known.name, "sent_as": known.sent_as})
        folder.mkdir(exist_ok=True)
        file.rename(folder / report.file)
        _keep(folder, report)
        return report, known is None
    finally:
        shutil.rmtree(arriving, ignore_errors=True)


def _drop_abandoned(folder: Path) -> None:
    """What a killed server left of files that were arriving a day ago or more."""
    for arriving in folder.glob(".*.partial"):
        with suppress(FileNotFoundError):
            if arriving.stat().st_mtime < time.time() - ABANDONED_SECONDS:
                shutil.rmtree(arriving, ignore_errors=True)


def check(file: Path, sha256: str, name: str, table: TableName) -> Report:
    """Read a file as it will be read for the judge, in bounded memory, and tell what is in it."""
    rows = rejected = noted = normalised = 0
    days: Counter[str] = Counter()
    characters: Counter[str] = Counter()
    preview: list[dict[str, str]] = []
    problems: list[Found] = []
    for batch in read_file(file, TABLES[table], name):
        rows += batch.rows.num_rows
        normalised += batch.normalised
        preview += [_cells(row) for row in batch.rows.slice(0, PREVIEW_ROWS - len(preview)).to_pylist()]
        for problem in batch.problems:
            rejected += problem.severity == "rejected"
            noted += problem.severity == "noted"
            if len(problems) < PROBLEMS_KEPT:
                problems.append(Found(line=problem.line, severity=problem.severity, reason=problem.reason))
        if table in ("chat_turn", "character_card"):
            _count(characters, batch.rows["character_id"].to_pylist())
        if table == "chat_turn":
            days.update(f"{moment.astimezone(KST):%Y-%m-%d}" for moment in batch.rows["turn_at"].to_pylist())
    return Report(
        sha256=sha256,
        name=name,
        table=table,
        suffix=file.suffix,
        size=file.stat().st_size,
        rows=rows,
        rejected=rejected,
        noted=noted,
        normalised=normalised,
        days=dict(sorted(days.items())),
        preview=preview,
        problems=problems,
        characters=dict(characters),
    )


def _count(counts: Counter[str], found: Iterable[str]) -> None:
    """Count what was found, in bounded memory: nothing new once there is much."""
    full = len(counts) >= CHARACTERS_KEPT
    counts.update(one for one in found if not full or one in counts)
    for one in list(counts)[CHARACTERS_KEPT:]:
        del counts[one]


def _cells(row: dict[str, Any]) -> dict[str, str]:
    return {name: _cut(_text(value)) for name, value in row.items()}


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dt.datetime):
        return value.astimezone(KST).isoformat()
    return json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    return text if len(text) <= PREVIEW_TEXT else f"{text[:PREVIEW_TEXT]}…"


def _keep(folder: Path, report: Report) -> None:
    partial = folder / f".report.{secrets.token_hex(8)}"
    partial.write_text(report.model_dump_json(), encoding="utf-8")
    partial.replace(folder / "report.json")


def find(settings: Settings, sha256: str) -> Report | None:
    """The report of an upload; None for one that is not known."""
    if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
        return None
    return _read(settings.uploads / sha256 / "report.json")


def _read(report: Path) -> Report | None:
    """A report; None for one that is not there, damaged, or of another version."""
    try:
        return Report.model_validate_json(report.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def listed(settings: Settings, most: int) -> list[Report]:
    """The newest uploads."""
    files = sorted(settings.uploads.glob("[0-9a-f]*/report.json"), key=lambda file: -file.stat().st_mtime_ns)
    found = (_read(file) for file in files)
    return list(itertools.islice((report for report in found if report), most))


def without_card(settings: Settings, report: Report, known: Callable[[list[str]], set[str]]) -> dict[str, int]:
    """The characters of a log of which neither the published cards nor uploaded ones tell, with their turns.

    Args:
        settings: where the uploads lie.
        report: what was found in the log.
        known: which of these characters have a published card.
    """
    if report.table != "chat_turn":
        return {}
    cards = known(list(report.characters))
    for other in listed(settings, CARD_UPLOADS):
        if other.table == "character_card":
            cards |= other.characters.keys()
    return {one: turns for one, turns in report.characters.items() if one not in cards}


def send(settings: Settings, report: Report) -> None:
    """Put an uploaded file into the inbox, where the sensor takes it. Sending it twice is sending it once.

    Its name there begins with the time, since files of the small tables count in the order of their names.

    Raises:
        UserError: there is no row in it, or nothing to send any more, or the inbox leads elsewhere.
    """
    if not report.usable:
        raise UserError(f"{report.name}: 읽을 수 있는 줄이 없어 보낼 수 없습니다. 파일을 고쳐 다시 올리세요.")
    # Two at once would each name a file of their own, of which one never comes to be.
    with alone(settings.uploads / report.sha256 / ".sending"):
        folder, file = settings.uploads / report.sha256, settings.uploads / report.sha256 / report.file
        if not file.exists():
            known = find(settings, report.sha256)
            if known and known.sent_as:
                return
            raise UserError(f"{report.name}: 올린 파일이 없어졌습니다. 다시 올리세요.")
        name = f"{dt.datetime.now(dt.UTC):%Y%m%dT%H%M%S%f}-{report.sha256}{report.suffix}"
        place = Path(name) if report.table == "chat_turn" else Path(TABLES[report.table].place, name)
        target = settings.inbox / place
        if target.parent.is_symlink():
            raise UserError(f"{target.parent}: 링크라서 넣지 않습니다. 보통 폴더로 바꾸세요.")
        target.parent.mkdir(parents=True, exist_ok=True)
        # Told before it is done: cut off in between, the file is still here, and the page offers to send it again.
        _keep(folder, report.model_copy(update={"sent_as": place.as_posix()}))
        file.rename(target)


def can_be_sent(settings: Settings, report: Report) -> bool:
    """Whether it has rows, and its file is here: it was not sent yet, or came again since."""
    return report.usable and (settings.uploads / report.sha256 / report.file).exists()


def rejection(settings: Settings, report: Report) -> list[str]:
    """Why the inbox set a file aside, a line for each problem; nothing where it did not."""
    if not report.sent_as:
        return []
    reason = settings.inbox / REJECTED / f"{report.sent_as}.reason.txt"
    try:
        return reason.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
