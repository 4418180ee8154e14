"""The one kind of error that is the user's to mend."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


class UserError(Exception):
    """Bad usage or input: one line that names the file, the row where there is one, and the remedy."""


class DiskError(UserError):
    """A file that the program keeps cannot be read or written, such as on a full disk: it is not what was asked for."""

    def __init__(self, path: Path, done: str, error: OSError) -> None:
        super().__init__(f"{path}: cannot be {done}: {error.strerror}")
        self.path, self.error = path, error


def first_fault(error: "ValidationError") -> str:
    """The first thing that a model of pydantic finds wrong, as a clause: where, and what."""
    detail = error.errors()[0]
    where = ".".join(map(str, detail["loc"]))
    return f"{where}{': ' if where else ''}{detail['msg'].removeprefix('Value error, ')}"
