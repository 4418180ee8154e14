"""What models answered, by the hash of what was asked: an interrupted day goes on where it was, at no further cost."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from wh_judge.errors import UserError


@dataclass(frozen=True)
class Answer:
    """What came of a request."""

    raw: str | None
    """The text of the response as it came; None where there is none."""
    failure: tuple[str, str] | None = None
    """Where there is no response: a code and the reason."""
    cut_off: bool = False
    prompt_tokens: int = 0
    response_tokens: int = 0
    seconds: float = 0.0
    tries: int = 0
    """Requests that were sent; 0 for an answer out of the cache."""


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
                   response_tokens INTEGER NOT NULL, seconds REAL NOT NULL)"""
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
            "SELECT raw, cut_off, prompt_tokens, response_tokens, seconds FROM answer WHERE hash = ?", [request_hash]
        )
        return Answer(rows[0][0], None, bool(rows[0][1]), *rows[0][2:]) if rows else None

    def keep(self, request_hash: str, answer: Answer) -> None:
        """Keep a response; what is none is asked again the next time."""
        if answer.raw is not None:
            self._run(
                "INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?, ?, ?)",
                [
                    request_hash,
                    answer.raw,
                    answer.cut_off,
                    answer.prompt_tokens,
                    answer.response_tokens,
                    answer.seconds,
                ],
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
