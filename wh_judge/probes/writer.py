"""A program that writes the messages of probe cases; what it does and whom it asks is its own affair."""

import json
import os
import shlex
import signal
import subprocess
from contextlib import suppress
from typing import Any

from wh_judge.errors import UserError
from wh_judge.probes.case import ProbeCase
from wh_judge.probes.make import Writer, WriterError
from wh_judge.text import nfc, one_line, short

SECONDS = 120.0
"""How long one call may take."""


def program_writer(command: str, seconds: float = SECONDS) -> Writer:
    """A writer that calls a program once a draft: the draft as JSON on its stdin, the message on its stdout.

    Args:
        command: the program and its arguments, as for a shell.
        seconds: how long a call may take; then the program is ended.

    Raises:
        UserError: it names no program. What the writer raises where a call fails is a WriterError.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UserError(f"{command}: is no command ({error}); give --writer a program and its arguments") from None
    if not words:
        raise UserError("--writer names no program; leave it out for the templates")

    def write(case: ProbeCase) -> str:
        given: dict[str, Any] = case.model_dump(include={"cell", "character_id", "target", "intended", "user_message"})
        try:
            code, out, errors = _called(words, json.dumps(given, ensure_ascii=False).encode(), seconds)
            message = nfc(out.decode()).strip()
        except OSError as error:
            raise WriterError(f"cannot be started: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise WriterError(f"took longer than {seconds:g} s") from None
        except UnicodeDecodeError:
            raise WriterError("wrote what is not UTF-8") from None
        if code:
            said = errors.decode(errors="replace").strip().splitlines()[-1:]
            raise WriterError(": ".join([f"ended with exit code {code}", *(short(one_line(line)) for line in said)]))
        return message

    return write


def _called(words: list[str], given: bytes, seconds: float) -> tuple[int, bytes, bytes]:
    """Exit code, stdout and stderr. However the call ends, what the program started ends with it, but for programs that
    made a session of their own."""
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True) as process:
        try:
            out, errors = process.communicate(given, timeout=seconds)
        finally:
            # The group keeps its number while anything in it runs; an empty one is not there.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, out, errors
