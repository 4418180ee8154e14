"""What the row models and Arrow schemas say of a table, as checks.

Columns, types, required values, entries of lists, value sets and keys are read from `wh_judge.model`, so that a column
added there is guarded here.
"""

from collections.abc import Iterator
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import pyarrow as pa
from pydantic import BaseModel, TypeAdapter, ValidationError

from wh_judge import model
from wh_judge.suites.check import ROWS, Check, damage, typed_name
from wh_judge.text import sql_text


def _literals(annotation: Any) -> tuple[str, ...]:
    """The values of the `Literal` in an annotation; none where there is no Literal."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return tuple(value for part in get_args(annotation) for value in _literals(part))


def _takes_blank(row: type[model.Row], column: str) -> bool:
    """Whether the row model lets a blank text through: what people wrote may be blank, keys and labels may not."""
    try:
        return bool(TypeAdapter(row.model_fields[column].rebuild_annotation()).validate_python(" ") == " ")
    except ValidationError:
        return False


def _is_blank(value: str, required: bool) -> str:
    missing = f"WHEN {value} IS NULL THEN 'null' " if required else ""
    return f"CASE {missing}WHEN is_blank({value}) THEN 'blank: ' || {value} END"


def _entries(field: pa.Field) -> Check:
    """No list entry, and no part of one that the model requires, is null or blank."""
    kind = field.type.value_type
    required = [""]
    if pa.types.is_struct(kind):
        row = model.EntityRole if field.name == "entity_roles" else model.Evidence
        required = [f".{part}" for part, info in row.model_fields.items() if NoneType not in get_args(info.annotation)]
    bad = " OR ".join(f"e{part} IS NULL OR is_blank(e{part})" for part in required)
    return damage(
        f"{field.name} has no null or blank entry",
        field.name,
        f"CASE WHEN len(list_filter({field.name}, lambda e: {bad})) > 0 THEN {field.name}::VARCHAR END",
    )


def from_schema(schema: pa.Schema, row: type[BaseModel], key: tuple[str, ...]) -> Iterator[Check]:
    """What the model and the schema say: columns, types, required and blank values, entries, value sets, the key."""
    yield Check(
        name="the columns and their types are those of the model",
        expectation="ExpectTableColumnsToMatchSet",
        arguments={"column_set": [typed_name(field) for field in schema]},
        frame="types",
    )
    for field in schema:
        name, text = field.name, pa.types.is_string(field.type)
        if text and not (issubclass(row, model.Row) and _takes_blank(row, name)):
            wish = "null or filled, never blank" if field.nullable else "filled in every row"
            yield damage(f"{name} is {wish}", name, _is_blank(name, required=not field.nullable))
        elif not field.nullable:
            yield damage(f"{name} is given in every row", name, f"CASE WHEN {name} IS NULL THEN 'null' END")
        if pa.types.is_list(field.type):
            yield _entries(field)
        if name in row.model_fields and (values := _literals(row.model_fields[name].annotation)):
            yield Check(
                name=f"{name} is one of {', '.join(values)}",
                column=name,
                expectation="ExpectColumnValuesToBeInSet",
                arguments={"column": name, "value_set": list(values)},
                suspect=f"{name} NOT IN ({', '.join(map(sql_text, values))})",
                needs=(name,),
            )
    single = len(key) == 1
    cells = key[0] if single else f"row({', '.join(key)})"
    blank = " OR ".join(f"{name} IS NULL" for name in key)
    yield Check(
        name=f"{' and '.join(key)} {'is' if single else 'together are'} unique",
        column=key[0] if single else None,
        expectation="ExpectColumnValuesToBeUnique" if single else "ExpectCompoundColumnsToBeUnique",
        arguments={"column": key[0]} if single else {"column_list": list(key)},
        # Not a window, which would hold all columns of all rows.
        suspect=f"{cells} IN (SELECT {cells} FROM {ROWS} GROUP BY ALL HAVING count(*) > 1) OR {blank}",
        needs=key,
    )
