"""The one kind of error that is the user's to mend."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


class UserError(Exception):
    """Bad usage or input: one line that names the file, the row where there is one, and the remedy."""


def first_fault(error: "ValidationError") -> str:
    """The first thing that a model of pydantic finds wrong, as a clause: where, and what."""
    detail = error.errors()[0]
    where = ".".join(map(str, detail["loc"]))
    return f"{where}{': ' if where else ''}{detail['msg'].removeprefix('Value error, ')}"
