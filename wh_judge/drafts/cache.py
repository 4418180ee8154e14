"""What models answered, by the hash of what was asked: an interrupted day goes on where it was, at no further cost."""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from wh_judge.errors import UserError


@dataclass(frozen=True)
class Answer:
    """What came of a request, or of one try of it."""

    raw: str | None
    """The text of the response as it came; None where there is none."""
    failure: tuple[str, str] | None = None
    """Where there is no response: a code and the reason."""
    body: str | None = None
    """Where there is no response: what the server sent instead, cut."""
    cut_off: bool = False
    prompt_tokens: int = 0
    response_tokens: int = 0
    seconds: float = 0.0
    tries: int = 0
    """Requests that were sent; 0 for an answer out of the cache."""
    asked_at: float | None = None
    """When it was sent, in seconds since 1970; None where it was not."""
    earlier: tuple["Answer", ...] = ()
    """The tries that were made before and failed, in order; none for an answer out of the cache."""


class Cache:
    """A file of answers. Each is on disk before the next step, so that a killed process loses none.

    Raises:
        UserError: the file cannot be read or written; where it is none of answers, it may be deleted.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._told():
            self._connection = sqlite3.connect(path, isolation_level=None, timeout=60)
        self._run(
            """CREATE TABLE IF NOT EXISTS answer (
                   hash TEXT PRIMARY KEY, raw TEXT NOT NULL, cut_off INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL,
                   response_tokens INTEGER NOT NULL, seconds REAL NOT NULL, asked_at REAL NOT NULL)"""
        )
        if "asked_at" not in [column[1] for column in self._run("PRAGMA table_info(answer)")]:
            # Of what an older version has kept only this is known: it was not later than now.
            self._run(f"ALTER TABLE answer ADD COLUMN asked_at REAL NOT NULL DEFAULT {time.time()}")
        self._run(
            """CREATE TABLE IF NOT EXISTS failed_try (
                   hash TEXT NOT NULL, code TEXT NOT NULL, reason TEXT NOT NULL, body TEXT, seconds REAL NOT NULL,
                   asked_at REAL NOT NULL, PRIMARY KEY (hash, asked_at))"""
        )

    def __enter__(self) -> "Cache":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def get(self, request_hash: str) -> Answer | None:
        """The answer to a request, with the tokens that it cost when it was asked."""
        rows = self._run(
            "SELECT raw, cut_off, prompt_tokens, response_tokens, seconds, asked_at FROM answer WHERE hash = ?",
            [request_hash],
        )
        for raw, cut_off, prompt_tokens, response_tokens, seconds, asked_at in rows:
            tokens = {"prompt_tokens": prompt_tokens, "response_tokens": response_tokens}
            return Answer(raw, cut_off=bool(cut_off), **tokens, seconds=seconds, asked_at=asked_at)
        return None

    def failed(self, request_hash: str) -> list[Answer]:
        """The tries of a request that had no response, of whatever run, in order."""
        rows = self._run(
            "SELECT code, reason, body, seconds, asked_at FROM failed_try WHERE hash = ? ORDER BY asked_at",
            [request_hash],
        )
        return [
            Answer(None, (code, reason), body, seconds=seconds, asked_at=asked_at)
            for code, reason, body, seconds, asked_at in rows
        ]

    def keep(self, request_hash: str, answer: Answer) -> None:
        """Keep a response and the tries that failed; where there is no response, it is asked again the next time."""
        for one in (*answer.earlier, answer):
            if one.raw is not None:
                tokens = [one.prompt_tokens, one.response_tokens]
                self._run(
                    "INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [request_hash, one.raw, one.cut_off, *tokens, one.seconds, one.asked_at],
                )
            elif one.asked_at is not None and one.failure is not None:
                self._run(
                    "INSERT OR REPLACE INTO failed_try VALUES (?, ?, ?, ?, ?, ?)",
                    [request_hash, *one.failure, one.body, one.seconds, one.asked_at],
                )

    def _run(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._told():
            return self._connection.execute(sql, values).fetchall()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise UserError(f"{self._path}: cannot be read or written: {error}") from None
        except sqlite3.DatabaseError as error:
            raise UserError(
                f"{self._path}: holds no answers ({error}); delete it, and what it held is asked again"
            ) from None
