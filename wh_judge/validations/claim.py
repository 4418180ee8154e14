"""From the program's own rows to claims."""

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

import pyarrow as pa

from wh_judge.model import CARD_SCHEMA, TURN_SCHEMA, VERDICT_SCHEMA, evidence_value

_NAMES = tuple(name for name in VERDICT_SCHEMA.names if name not in ("evidence", "notes"))
_cells = itemgetter(*_NAMES)
_BOOLEAN = frozenset(cell.name for schema in (TURN_SCHEMA, CARD_SCHEMA) for cell in schema if cell.type == pa.bool_())


def claim_from_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """One record of an Arrow table in `VERDICT_SCHEMA` as a claim whose evidence carries keys.

    Evidence values get the type of the column that they cite. A text that cannot be such a value stays text, so that a
    validation names it. Extra columns are ignored; evidence rows that need no change are shared with the record.
    """
    claim: dict[str, Any] = dict(zip(_NAMES, _cells(record), strict=True))
    claim["evidence"] = [
        row if row["agg"] is None and row["field"] not in _BOOLEAN else typed_evidence(row)
        for row in record["evidence"]
    ]
    return claim


def typed_evidence(row: dict[str, Any]) -> dict[str, Any]:
    """An evidence row whose value is text, with the type of the column that it cites; unchanged where it has none."""
    text, column = row.get("value"), row.get("field")
    if not isinstance(text, str) or not isinstance(column, str):
        return row
    try:
        value = evidence_value(column, row.get("agg"), text)
    except ValueError:
        return row
    if str(value) != (text.capitalize() if isinstance(value, bool) else text):
        return row
    return {**row, "value": value}
