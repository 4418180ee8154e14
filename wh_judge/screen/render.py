"""Templates, and what every page shows around its own part."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from wh_judge import __version__
from wh_judge.rules import RuleSettings
from wh_judge.screen import words
from wh_judge.screen.filters import SKIPS, Filter
from wh_judge.screen.findings import korean_finding
from wh_judge.screen.listing import MOST_CHOICES
from wh_judge.screen.marks import marked, reply_spans, word_spans
from wh_judge.screen.reasons import korean
from wh_judge.screen.snapshots import Snapshot
from wh_judge.store.evaluations import VALIDATION_SUMS
from wh_judge.store.schema import SHOWN_TEXT
from wh_judge.store.versions import settings_of
from wh_judge.text import short
from wh_judge.validations import VALIDATIONS

PAGES = (
    ("/verdicts", "판정"),
    ("/grading", "자가채점"),
    ("/checks", "검증 항목"),
    ("/models", "모델"),
    ("/profiles", "역량"),
    ("/arena", "투표"),
    ("/ratings", "순위"),
    ("/probes", "시험 문항"),
    ("/drafts", "초안"),
    ("/changes", "바뀐 판정"),
    ("/review", "검토"),
    ("/notes", "검증 노트"),
    ("/example", "예시 대화"),
    ("/upload", "올리기"),
)

STATES = {"good": "통과", "bad": "실패", "unknown": "안 돌았음"}
"""What may come of a validation; names of styles."""


class _Environment(Environment):
    """Rows are mappings, which Jinja would first ask for an attribute, thousands of times a page."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        if type(obj) is dict and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


ENVIRONMENT = _Environment(
    loader=PackageLoader("wh_judge.screen"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
    lstrip_blocks=True, auto_reload=False,  # An upgrade of the files changes nothing under a server that runs.
)  # fmt: skip
ENVIRONMENT.globals |= {
    "pages": PAGES,
    "version": __version__,
    "titles": {entry.code: entry.title for entry in VALIDATIONS},
    "classes": words.CLASSES,
    "kinds": words.KINDS,
    "fields": {
        name: Markup("{} <code>{}</code>").format(label, words.breakable(name)) for name, label in words.FIELDS.items()
    },
    "states": STATES,
    "shown_text": SHOWN_TEXT,
    "most_choices": MOST_CHOICES,
}
ENVIRONMENT.tests["sent_as_it_is"] = lambda text: not re.search(r"[\0\r\n]", text)
"""Whether a browser sends a field's text as it is: line breaks become those of the network, and NUL another mark."""
ENVIRONMENT.filters["given"] = lambda query: {name: text for name, text in query.items() if text}
ENVIRONMENT.filters["as_json"] = lambda text: json.dumps(text, ensure_ascii=False)
ENVIRONMENT.filters["korean"] = korean
ENVIRONMENT.filters["short"] = short
ENVIRONMENT.filters["finding"] = korean_finding
ENVIRONMENT.filters |= {
    name: getattr(words, name)
    for name in (
        "visible",
        "breakable",
        "moment",
        "day",
        "number",
        "percent",
        "decimal",
        "p_value",
        "setting",
        "particle",
    )
} | {"query": lambda value: Filter(**value).query()}


def render(request: Request, snapshot: Snapshot | None, template: str, **context: Any) -> HTMLResponse:
    """A page: the template with its own context, the navigation, and the validations that are always in view."""
    found = checks(snapshot) if snapshot else None
    page = ENVIRONMENT.get_template(template).render(
        path=request.url.path,
        snapshot=snapshot,
        checks=found,
        tally=Counter(map(state, found or ())),
        **context,
    )
    return HTMLResponse(page)


def state(check: Mapping[str, Any]) -> str:
    """What came of a validation, as a name of `STATES`."""
    if check["looked_at"] is None:
        return "unknown"
    return "bad" if check["failed"] else "good"


def checks(snapshot: Snapshot) -> list[dict[str, Any]]:
    """The validations in their order over all days; counts are None where one has not run."""

    def compute() -> list[dict[str, Any]]:
        found = {row["code"]: row for row in snapshot.rows(VALIDATION_SUMS)}
        blank = dict.fromkeys(("looked_at", "passed", "failed", "not_applicable"))
        return [
            {"number": entry.number, "code": entry.code, "title": entry.title} | found.get(entry.code, blank)
            for entry in VALIDATIONS
        ]

    return snapshot.cached("checks", compute)


def shown(record: Mapping[str, Any], endings: RuleSettings | None = None, terms: Sequence[str] = ()) -> dict[str, Any]:
    """A turn from a list or a page, with what decided marked in its texts and the skipped comparisons by name.

    Args:
        record: the turn.
        endings: as `wh_judge.screen.rows.judged` has them.
        terms: the same.
    """
    row = {"verdict": None} | dict(record)
    text = row["reply_text"] or ""
    if row["verdict"]:
        settings = endings or settings_of(row["settings_version"])
        row["reply"] = marked(text, reply_spans(text, row, settings, by_endings=bool(endings), terms=terms))
        row["skipped"] = [SKIPS[code] for code in row["notes"] if code in SKIPS]
        row["group"] = row["verdict"]
    else:
        row["reply"], row["skipped"] = marked(text, []), []
        row["reason"] = korean(row["reason"] or "")
        row["group"] = "판정하지 못함"
    message = row["user_message"] or ""
    row["message"] = marked(message, word_spans(message, roles_asked(row), "role"))
    row["kinds"] = sorted({piece.kind for piece in (*row["reply"], *row["message"]) if piece.kind})
    return row


def roles_asked(row: Mapping[str, Any]) -> list[str]:
    """The role that the user asked for, where the verdict rests on it."""
    cited = row.get("evidence") or []
    return [str(cell["value"]) for cell in cited if cell["field"] == "entity_roles" and cell["value"]]
