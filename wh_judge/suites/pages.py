"""The Data Docs: a static page per validation, and an index of the pages.

Great Expectations renders the expectations; the page around them is this module's. Its own pages load scripts and
styles from half a dozen hosts, fill their tables by script, print cell values unescaped, and are all rendered again
whenever one is added. These load nothing, run nothing, escape everything, and are written one at a time:

    docs/index.html
    docs/<table>/<batch>.html
"""

import html
import json
import os
import re
from collections.abc import Sequence
from copy import copy
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from wh_judge.suites.declared import SUITES
from wh_judge.suites.result import ExpectationResult, SuiteResult, visible
from wh_judge.suites.view import index_text, page_text

if TYPE_CHECKING:
    from great_expectations.core import ExpectationValidationResult


def write_page(result: SuiteResult, outcomes: Sequence["ExpectationValidationResult"], docs: Path) -> SuiteResult:
    """Writes the page of one validation, over an older one of the same table and batch; the result with its path.

    `outcomes` are those of Great Expectations, in the order of `result.expectations`; other pages may share them.
    """
    from great_expectations.render.components import RenderedDocumentContent

    order = [None, *SUITES[result.table].arrow_schema.names]
    pairs = sorted(zip(result.expectations, outcomes, strict=True), key=lambda pair: order.index(pair[0].column))
    sections = [_section(list(about)) for _, about in groupby(pairs, key=lambda pair: pair[0].column)]
    facts = {
        "batch": result.batch,
        "outcome": result.outcome,
        "rows": result.rows,
        "met": sum(one.success for one in result.expectations),
        "expectations": len(result.expectations),
    }
    page = docs / result.table / _file_name(result.batch)
    _write(page, page_text(result, RenderedDocumentContent(sections), json.dumps(facts)))
    return result.model_copy(update={"docs_page": page})


def build_index(docs: Path) -> Path:
    """Writes `docs/index.html`, a list of the pages there are, the latest batch first; the path of it."""
    tables = []
    for table in SUITES:
        pages = [
            facts | {"href": f"{table}/{quote(page.name)}", "batch": visible(facts["batch"])}
            for page in sorted((docs / table).glob("*.html"), reverse=True)
            if (facts := _facts(page))
        ]
        if pages:
            tables.append((table, pages))
    index = docs / "index.html"
    _write(index, index_text(tables))
    return index


def _file_name(batch: str) -> str:
    """The batch as a file name that no other batch has; letters of any script stay readable."""
    return "".join(one if one.isalnum() or one in "-_." else quote(one, safe="") for one in batch) + ".html"


def _facts(page: Path) -> dict[str, Any] | None:
    """What a page says of itself in its head; None for a page that is not ours."""
    with page.open(encoding="utf-8", errors="replace") as lines:
        found = re.search(r'<meta name="validation" content="([^"]*)">', "".join(islice(lines, 8)))
    facts: dict[str, Any] | None = json.loads(html.unescape(found[1])) if found else None
    return facts


def _section(pairs: Sequence[tuple[ExpectationResult, "ExpectationValidationResult"]]) -> Any:
    """What Great Expectations renders of the outcomes about one column, in the words of our own results."""
    from great_expectations.render.renderer.column_section_renderer import ValidationResultsColumnSectionRenderer

    shown = []
    for one, found in pairs:
        outcome = copy(found)
        outcome.success = one.success
        outcome.result = {"unexpected_count": 0, "partial_unexpected_list": list(one.unexpected)}
        outcome.exception_info = {"raised_exception": False, "exception_message": None, "exception_traceback": None}
        if outcome.expectation_config and one.column:
            outcome.expectation_config = copy(outcome.expectation_config)
            outcome.expectation_config.kwargs = outcome.expectation_config.kwargs | {"column": one.column}
        shown.append(outcome)
    renderer: Any = ValidationResultsColumnSectionRenderer()
    section = renderer.render(shown)
    table = section.content_blocks[-1]
    table.header_row = ["Status", "Expectation", "If not met", "Unexpected"]
    for (one, _), row in zip(pairs, table.table, strict=True):
        row[-1:] = [one.severity, one.told]
    return section


def _write(path: Path, text: str) -> None:
    """Readers never see half a page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
