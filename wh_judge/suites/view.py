"""How the Data Docs look: the templates, and Great Expectations' view made safe and self-contained."""

import html
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup, escape

from wh_judge.suites.result import SuiteResult, visible

if TYPE_CHECKING:
    from great_expectations.render.components import RenderedDocumentContent

_HEAD = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
{% if facts %}<meta name="validation" content="{{ facts }}">
{% endif %}<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{{ title }}</title>
<style>
:root { color-scheme: light dark; --line: #8884; --good: #1a7f37; --warn: #9a6700; --bad: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --good: #3fb950; --warn: #d29922; --bad: #f85149; } }
body { font: 15px/1.5 system-ui, "Apple SD Gothic Neo", "Malgun Gothic", "Noto Sans KR", "Noto Sans CJK KR", sans-serif;
  max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2, h5 { font-size: 1.1rem; margin: 1.5rem 0 .25rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .6rem; text-align: left; vertical-align: top;
  overflow-wrap: anywhere; }
th { font-weight: 600; } td table { width: auto; margin: .4rem 0; } td.number, th.number { text-align: right; }
.table, .failures, .index { table-layout: fixed; }
.table > thead > tr > :first-child { width: 4rem; }
.table > thead > tr > :nth-child(3), .failures > thead > tr > :nth-child(2) { width: 6rem; }
.table > thead > tr > :nth-child(4), .failures > thead > tr > :nth-child(3) { width: 16rem; }
.fa-check-circle::before { content: "✓ pass"; } .fa-times::before { content: "✗ fail"; }
.fas { font-style: normal; white-space: nowrap; }
.passed, .text-success { color: var(--good); } .warnings { color: var(--warn); }
.failed, .text-danger { color: var(--bad); }
.ge-section .row > div { margin: 0; }
</style>
</head>
<body>
"""

_PAGE = (
    _HEAD
    + """\
<p><a href="../index.html">All validations</a></p>
<h1>{{ result.table }} · {{ batch }}</h1>
<p>Result: <strong class="{{ result.outcome }}">{{ result.outcome }}</strong>
· {{ "{:,}".format(result.rows) }} rows · {{ result.expectations | length }} expectations,
{{ result.failed | length }} not met</p>
{% if not result.rows %}<p>The table has no rows: there was nothing to check but its columns.</p>{% endif %}
{% if result.failed %}<h2>Not met</h2>
<table class="failures"><thead><tr><th>Expectation</th><th>If not met</th><th>Unexpected</th></tr></thead><tbody>
{% for one in result.failed %}<tr><td>{{ one.name }}</td>
<td class="{{ 'failed' if one.severity == 'error' else 'warnings' }}">{{ one.severity }}</td>
<td>{{ one.told }}</td></tr>
{% endfor %}</tbody></table>{% endif %}
{% if result.not_checked %}<h2>Not checked</h2><p>The keys to compare with were not given.</p>
<ul>{% for name in result.not_checked %}<li>{{ name }}</li>{% endfor %}</ul>{% endif %}
{% for section in sections %}{% set section_loop = loop %}{% include "section.j2" %}{% endfor %}
</body>
</html>
"""
)

_INDEX = (
    _HEAD
    + """\
<h1>{{ title }}</h1>
{% for table, pages in tables %}<h2>{{ table }}</h2>
<table class="index">
<thead><tr><th>Batch</th><th>Result</th><th class="number">Rows</th><th class="number">Expectations met</th></tr>
</thead><tbody>
{% for page in pages %}<tr><td><a href="{{ page.href }}">{{ page.batch }}</a></td>
<td class="{{ page.outcome }}">{{ page.outcome }}</td><td class="number">{{ "{:,}".format(page.rows) }}</td>
<td class="number">{{ page.met }} of {{ page.expectations }}</td></tr>
{% endfor %}</tbody></table>
{% else %}<p>Nothing has been validated yet.</p>{% endfor %}
</body>
</html>
"""
)


def page_text(result: SuiteResult, document: "RenderedDocumentContent", facts: str) -> str:
    """The page of one validation; `facts` is kept in its head."""
    batch = visible(result.batch)
    text: str = _view().render(document, result=result, batch=batch, title=f"{result.table} · {batch}", facts=facts)
    return text


def index_text(tables: Sequence[tuple[str, Sequence[dict[str, Any]]]]) -> str:
    """The index: per table its pages, each with href, batch, outcome, rows, met and expectations."""
    return jinja2.Environment(autoescape=True).from_string(_INDEX).render(title="Validations", tables=tables)


@cache
def _view() -> Any:
    """Great Expectations' view with this module's page around it. What it prints is escaped, unless it is markup."""
    from great_expectations.render.view.view import DefaultJinjaPageView

    class EscapingView(DefaultJinjaPageView):
        def __init__(self) -> None:
            super().__init__()
            self.env.autoescape = True
            own: list[jinja2.BaseLoader] = [jinja2.DictLoader({"page.j2": _PAGE})]
            self.env.loader = jinja2.ChoiceLoader([*own, self.env.loader] if self.env.loader else own)

        @jinja2.pass_context
        def render_content_block(
            self, context: Any, content_block: Any, index: Any = None, content_block_id: Any = None
        ) -> Markup:
            if isinstance(content_block, list):
                parts = [self.render_content_block(context, part, index, content_block_id) for part in content_block]
                return Markup("").join(parts)
            if isinstance(content_block, dict) and "content_block_type" in content_block:
                return Markup(super().render_content_block(context, content_block, index, content_block_id))
            return escape(content_block)

        def render_string_template(self, template: dict[str, Any]) -> Markup:
            parent: Any = super()
            safe = template | {"template": html.escape(template["template"], quote=False)}
            return Markup(parent.render_string_template(safe))

        def render_styling(self, styling: Mapping[str, Any]) -> Markup:
            return Markup(super().render_styling(styling))

        def attributes_dict_to_html_string(self, attributes_dict: dict[str, Any], prefix: str = "") -> Markup:
            return Markup(super().attributes_dict_to_html_string(attributes_dict, prefix))

    return EscapingView()
