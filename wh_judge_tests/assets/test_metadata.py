"""What the UI is given: nothing from a log can become markup in it."""

import base64
from typing import Any

import dagster as dg
import pyarrow as pa
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from wh_judge.assets.metadata import (
    CELL_CHARACTERS,
    PREVIEW_ROWS,
    column_schema,
    lineage_metadata,
    markdown_cell,
    markdown_table,
    picture,
    preview,
)
from wh_judge.model import CARD_SCHEMA, CharacterCard

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a | b",
    "a\\| b",
    "\\",
    "two\nlines",
    "two\r\nlines\u2028three\x0bfour",
    "| --- |",
    "`code`",
    "```",
    "![x](http://example.com/x.png)",
    "[x](javascript:alert(1))",
    "[x]: http://example.com",
    "<http://example.com>",
    "*bold* _italic_ ~~gone~~",
    "# head",
    "- list",
    "1. list",
    "> quote",
    "&lt;script&gt;",
    "&amp;#60;",
    "$x$",
    "선거 이야기",
    " spaces ",
    "",
]


def inline(document: str) -> list[list[Token]]:
    """The tokens of each cell of the only table in a document."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(document)
    outside = [token.type for token in tokens if token.type.split("_")[0] not in ("table", "thead", "tbody")]
    assert set(outside) <= {"tr_open", "tr_close", "th_open", "th_close", "td_open", "td_close", "inline"}
    return [token.children or [] for token in tokens if token.type == "inline"]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_is_shown_as_it_is_and_becomes_no_markup(text: str) -> None:
    cells = inline(markdown_table(["one", "two"], [[text, "next"]]).value)
    assert len(cells) == 4
    shown = cells[2]
    assert {token.type for token in shown} <= {"text", "text_special"}
    assert "".join(token.content for token in shown) == " ".join(text.split())


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (3, "3"), (0.5, "0.5"), (True, "True"), (["하늘", "리안"], "하늘, 리안"), ([], "")],
)
def test_values_that_are_no_text(value: Any, text: str) -> None:
    assert markdown_cell(value) == text


def test_a_long_text_is_cut() -> None:
    assert markdown_cell("가" * CELL_CHARACTERS) == "가" * CELL_CHARACTERS
    assert markdown_cell("가" * (CELL_CHARACTERS + 1)) == "가" * CELL_CHARACTERS + "…"


def test_a_text_is_cut_before_it_is_escaped() -> None:
    assert markdown_cell("|" * (CELL_CHARACTERS + 1)) == "&#124;" * CELL_CHARACTERS + "…"


def test_a_table_without_a_row_says_so() -> None:
    assert markdown_table(["a", "b"], []).value == "none"


def test_a_table_has_a_line_per_row() -> None:
    assert markdown_table(["a", "b"], [[1, None], ["x", 2]]).value.splitlines() == [
        "| a | b |",
        "| --- | --- |",
        "| 1 |  |",
        "| x | 2 |",
    ]


def test_a_preview_shows_the_first_rows_of_the_columns() -> None:
    table = pa.table({"a": range(100), "b": ["x"] * 100, "c": ["y"] * 100})
    lines = preview(table, ["b", "a"]).value.splitlines()
    assert lines[0] == "| b | a |"
    assert lines[2:] == [f"| x | {row} |" for row in range(PREVIEW_ROWS)]


def test_a_column_schema_has_types_descriptions_and_constraints() -> None:
    columns = {column.name: column for column in column_schema(CARD_SCHEMA, CharacterCard).columns}
    assert list(columns) == CARD_SCHEMA.names
    assert columns["name"].type == "string"
    assert columns["canon_entities"].type.startswith("list<")
    assert columns["name"].description == CharacterCard.model_fields["name"].description
    assert [column.name for column in columns.values() if column.constraints.nullable] == [
        "honorific_rule",
        "first_person",
    ]


def test_lineage_is_there_for_the_ui_and_to_read() -> None:
    metadata = lineage_metadata({"verdict": [("turns", "reply_text"), ("cards", "first_person")], "turn_id": []})
    lineage = metadata["dagster/column_lineage"]
    assert {(dep.asset_key, dep.column_name) for dep in lineage.deps_by_column["verdict"]} == {
        (dg.AssetKey("turns"), "reply_text"),
        (dg.AssetKey("cards"), "first_person"),
    }
    shown = inline(metadata["column_lineage_table"].value)[3]
    assert "".join(token.content for token in shown) == "turns.reply_text, cards.first_person"


def test_a_picture_is_inside_the_page() -> None:
    markdown = picture(b"\x89PNG", "confusion matrix").value
    head, encoded = markdown.removesuffix(")").split(",")
    assert head == "![confusion matrix](data:image/png;base64"
    assert base64.b64decode(encoded) == b"\x89PNG"
