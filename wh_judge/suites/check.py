"""One expectation, as data.

Most expectations on rows are written as the *damage* they look for: an SQL expression that is null for a sound row
and says what is wrong with an unsound one. The expectation is then that the damage column holds nothing but nulls.
It is computed once for all rows by DuckDB, which also finds the rows that other expectations could object to. Great
Expectations judges these rows alone and never walks through sound ones, lists or long texts.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from wh_judge import model
from wh_judge.suites.result import Severity, TableName

REFERENCES = frozenset(
    f"{table}.{field.name}"
    for table, schema in (
        ("chat_turn", model.TURN_SCHEMA),
        ("character_card", model.CARD_SCHEMA),
        ("topic_lexicon", model.LEXICON_SCHEMA),
        ("mention", model.MENTION_SCHEMA),
    )
    for field in schema
    if pa.types.is_string(field.type)
)
"""The `table.column` names whose values may be given as known keys."""

ROWS = "batch_rows"
"""What the SQL of a check calls the table that is looked at."""


class Check(BaseModel):
    """One expectation.

    `expectation` is a class of `great_expectations.expectations` and `arguments` what it is given. It looks at the
    table's `rows`, or at its `types`: an empty frame whose columns are named after the table's, with their types.
    `damage` is SQL over the columns in `needs`; a table of `references` has the name given there and one column, `key`.
    `suspect` is SQL that is true at least for every row that the expectation could object to, for one without `damage`;
    where it is missing, every row is suspect.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    column: str | None = None
    expectation: str = "ExpectColumnValuesToBeNull"
    arguments: Mapping[str, Any] = MappingProxyType({})
    frame: Literal["types", "rows"] = "rows"
    damage: str | None = None
    suspect: str | None = None
    needs: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    severity: Severity = "error"


class Suite(BaseModel):
    """All that is expected of one table. `key` names the columns that identify a row."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    table: TableName
    arrow_schema: pa.Schema
    key: tuple[str, ...]
    checks: tuple[Check, ...]


def typed_name(field: pa.Field) -> str:
    """The column's name with its Arrow type."""
    return f"{field.name}: {field.type}"


def damage(name: str, column: str, sql: str, *others: str, **more: Any) -> Check:
    """A check that `sql`, an expression over `column` and `others`, is null in every row."""
    return Check(name=name, column=column, damage=sql, needs=(column, *others), arguments={"column": name}, **more)


def known(name: str, column: str, *references: str, severity: Severity = "error") -> Check:
    """A check that the column's values are among the keys of one of the references."""
    unknown = " AND ".join(f'{column} NOT IN (SELECT key FROM "{reference}")' for reference in references)
    return damage(name, column, f"CASE WHEN {unknown} THEN {column} END", references=references, severity=severity)
