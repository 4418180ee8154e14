"""The file of answers: what it keeps of each request, and files that an older version made."""

import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from wh_judge.drafts.cache import Answer, Cache

FAILED = Answer(None, ("no_answer", "nothing"), "busy", seconds=0.5, asked_at=1.0)
GIVEN = Answer("응", cut_off=True, prompt_tokens=3, response_tokens=4, seconds=0.5, asked_at=2.0)


def test_the_tries_of_a_request_are_kept_in_order(tmp_path: Path) -> None:
    with Cache(tmp_path / "answers.sqlite") as cache:
        cache.keep("hash", replace(GIVEN, tries=2, earlier=(FAILED,)))
        assert (cache.get("hash"), cache.failed("hash")) == (GIVEN, [FAILED])


def test_a_request_without_a_response_has_only_what_failed(tmp_path: Path) -> None:
    with Cache(tmp_path / "answers.sqlite") as cache:
        cache.keep("hash", replace(FAILED, asked_at=2.0, earlier=(FAILED,)))
        cache.keep("hash", Answer(None, ("not_asked_cap", "no room")))
        assert (cache.get("hash"), len(cache.failed("hash"))) == (None, 2)


def test_a_file_of_an_older_version_keeps_its_answers(tmp_path: Path) -> None:
    path, before = tmp_path / "answers.sqlite", time.time()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            """CREATE TABLE answer (hash TEXT PRIMARY KEY, raw TEXT NOT NULL, cut_off INTEGER NOT NULL,
               prompt_tokens INTEGER NOT NULL, response_tokens INTEGER NOT NULL, seconds REAL NOT NULL)"""
        )
        connection.execute("INSERT INTO answer VALUES ('hash', '응', 1, 3, 4, 0.5)")
    for _ in range(2):
        with Cache(path) as cache:
            found = cache.get("hash")
            assert found is not None and replace(found, asked_at=2.0) == GIVEN and (found.asked_at or 0) >= before
