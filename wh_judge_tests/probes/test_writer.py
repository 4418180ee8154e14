"""A program as the writer of messages."""

import re
import shlex
import sys
import time
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest

from wh_judge.probes.case import ProbeCase
from wh_judge.probes.make import WriterError, cells_of
from wh_judge.probes.templates import draft
from wh_judge.probes.writer import program_writer
from wh_judge_tests.drafts.scripted import Step, serving
from wh_judge_tests.probes import CARDS, TERMS

DOCUMENT = Path(__file__).parents[2] / "docs/people.md"


@pytest.fixture
def case() -> ProbeCase:
    """A draft."""
    return draft(next(cells_of(CARDS[0], TERMS)), CARDS[0], TERMS, np.random.default_rng(0))


def python(code: str) -> str:
    return shlex.join([sys.executable, "-X", "utf8", "-c", code])


def has_ended(pid: Path, seconds: float = 10) -> bool:
    """Whether the process ends whose id stands in the file; a signal takes a moment to arrive."""
    state, deadline = Path(f"/proc/{pid.read_text().strip()}/stat"), time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if state.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


def test_it_gets_the_draft_and_its_output_is_the_message(case: ProbeCase) -> None:
    command = python("import json, sys; case = json.load(sys.stdin); print(case['target'], case['user_message'], '')")
    assert program_writer(command)(case) == f"{case.target} {case.user_message}"


def test_what_it_writes_is_composed(case: ProbeCase) -> None:
    text = normalize("NFD", "하늘")
    assert program_writer(python(f"print({text!r})"))(case) == "하늘"


def test_it_need_not_read_the_draft(case: ProbeCase) -> None:
    assert program_writer("echo hi")(case) == "hi"


def test_one_that_takes_too_long_is_ended_with_what_it_started(case: ProbeCase, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    with pytest.raises(WriterError, match=r"took longer than 1 s"):
        program_writer(f"sh -c 'sleep 600 & echo $! > {pid}; wait; echo late'", seconds=1)(case)
    assert has_ended(pid)


def test_what_it_leaves_running_is_ended(case: ProbeCase, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    assert program_writer(f"sh -c 'sleep 600 >/dev/null 2>&1 & echo $! > {pid}; echo hi'")(case) == "hi"
    assert has_ended(pid)


def test_the_program_of_the_manual_asks_a_language_model(
    case: ProbeCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [code] = re.findall(r"```python\n(# ask\.py\n.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    program = tmp_path / "ask.py"
    program.write_text(code, encoding="utf-8")
    write = program_writer(shlex.join([sys.executable, "-X", "utf8", str(program)]))
    said = Step(lambda draft: f"제발, {draft['user_message']}")
    with serving(said, Step(status=500), Step(body=b"{")) as server:
        for name, value in (("URL", server.url), ("MODEL", "m"), ("KEY", "k")):
            monkeypatch.setenv(f"WH_JUDGE_DRAFTS_{name}", value)
        assert write(case) == f"제발, {case.user_message}"
        for reason in ("HTTP Error 500", "JSONDecodeError"):
            with pytest.raises(WriterError, match=reason):
                write(case)
    assert server.requests[0]["model"] == "m" and server.headers[0]["authorization"] == "Bearer k"
