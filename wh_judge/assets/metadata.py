"""What materialisations show in the UI: schemas, previews, lineage. Text from logs is hostile and is escaped here."""

import base64
import html
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
import pyarrow as pa
from pydantic import BaseModel

PREVIEW_ROWS = 8
CELL_CHARACTERS = 60
SENTENCE_CHARACTERS = 600
"""A sentence that is cut may say the opposite."""


def markdown_cell(value: Any, limit: int = CELL_CHARACTERS) -> str:
    """A value as the text of a markdown table cell that can neither end the cell nor become markup."""
    text = "" if value is None else ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    text = " ".join(text.split())
    text = text if len(text) <= limit else text[:limit] + "…"
    text = html.escape(text, quote=False)
    for mark in "\\`*_[]|~$!":
        text = text.replace(mark, f"&#{ord(mark)};")
    return text


def markdown_table(
    header: Sequence[str], rows: Sequence[Sequence[Any]], limit: int = CELL_CHARACTERS
) -> dg.MarkdownMetadataValue:
    """A markdown table; longer cells are cut. Without a row it says so."""
    if not rows:
        return dg.MetadataValue.md("none")
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    lines += ["| " + " | ".join(markdown_cell(cell, limit) for cell in row) + " |" for row in rows]
    return dg.MetadataValue.md("\n".join(lines))


def sentences(header: str, found: Sequence[str]) -> dg.MarkdownMetadataValue:
    """Sentences as a markdown table of one column."""
    return markdown_table([header], [[sentence] for sentence in found], SENTENCE_CHARACTERS)


def preview(rows: pa.Table, columns: Sequence[str]) -> dg.MarkdownMetadataValue:
    """The first rows of a table."""
    head = rows.select(columns).slice(0, PREVIEW_ROWS).to_pylist()
    return markdown_table(columns, [[row[column] for column in columns] for row in head])


def column_schema(schema: pa.Schema, model: type[BaseModel]) -> dg.TableSchema:
    """The columns with their Arrow types and the model's descriptions."""
    columns = []
    for entry in schema:
        field = model.model_fields.get(entry.name)
        columns.append(
            dg.TableColumn(
                name=entry.name,
                type=str(entry.type),
                description=field.description if field else None,
                constraints=dg.TableColumnConstraints(nullable=entry.nullable),
            )
        )
    return dg.TableSchema(columns=columns)


def column_metadata(schema: pa.Schema, model: type[BaseModel]) -> dict[str, Any]:
    """The columns, where Dagster looks for them: on the asset, and on each of its materialisations."""
    return {"dagster/column_schema": column_schema(schema, model)}


Lineage = Mapping[str, Sequence[tuple[str, str]]]
"""For each column, the (asset, column) pairs that it comes from."""


def lineage_metadata(lineage: Lineage) -> dict[str, Any]:
    """Column lineage for the UI that draws it, and as a table for the one that does not."""
    return {
        "dagster/column_lineage": dg.TableColumnLineage(
            {
                column: [dg.TableColumnDep(asset_key=dg.AssetKey(asset), column_name=name) for asset, name in sources]
                for column, sources in lineage.items()
            }
        ),
        "column_lineage_table": markdown_table(
            ["column", "comes from"],
            [[column, ", ".join(f"{asset}.{name}" for asset, name in sources)] for column, sources in lineage.items()],
        ),
    }


def picture(png: bytes, title: str) -> dg.MarkdownMetadataValue:
    """A picture inside the page, so that nothing has to be served beside it."""
    return dg.MetadataValue.md(f"![{title}](data:image/png;base64,{base64.b64encode(png).decode()})")
