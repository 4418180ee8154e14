"""Cells of a CSV that people open in a spreadsheet: none is taken for a formula, and each can be told again."""

import json
import re
from typing import Any

_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
"""What a spreadsheet takes for the beginning of a formula, in full width too. Apostrophes before it count with it, so
that the one put before is the one taken away."""


def written(value: Any) -> Any:
    """A value as a cell: lists and mappings as JSON, and an apostrophe before what begins like a formula."""
    if isinstance(value, list | tuple | dict):
        value = json.dumps(value, ensure_ascii=False)
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def told(cell: Any) -> Any:
    """What was written into a cell, a list as its JSON."""
    return cell[1:] if isinstance(cell, str) and cell.startswith("'") and _FORMULA.match(cell) else cell
