"""What uploaded files were called: labels for people beside the names that the inbox gives them, and never paths."""

import json
import re
from pathlib import Path

from wh_judge.text import nfc

LABEL_LIMIT = 80
"""Characters of a name that are kept."""

_SENT = re.compile(r"(?:inbox/)?(?:[a-z]+/)?\d{8}T\d{12}-([0-9a-f]{64})\.[a-z]+")
"""A file of the inbox that was uploaded, as problems name it."""


def label(name: str) -> str:
    """The last part of a sender's name of a file, cut in its middle: its end tells what kind of file it is."""
    last = re.split(r"[/\\]", nfc(name))[-1] or "…"
    return last if len(last) <= LABEL_LIMIT else f"{last[: LABEL_LIMIT - 21]}…{last[-20:]}"


def label_of(uploads: Path, sha256: str) -> str | None:
    """What the upload of this hash was called; None where that is not known."""
    try:
        report = json.loads((uploads / sha256 / "report.json").read_text(encoding="utf-8"))
        return label(report["name"])
    except (OSError, ValueError, LookupError, TypeError):
        return None


def with_labels(text: str, uploads: Path, *, files: bool = True) -> str:
    """The text with the label of each uploaded file in front of, or without `files` instead of, its name in the inbox.

    What a label holds is the sender's: show it as text of others is shown.
    """

    def told(found: re.Match[str]) -> str:
        known = label_of(uploads, found[1])
        if known is None:
            return found[0]
        return f"{known} ({found[0]})" if files else known

    return _SENT.sub(told, text)
