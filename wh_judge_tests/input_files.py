"""Files of the four types, sound ones and broken ones, and what became of them."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from wh_judge.ingest import read_table
from wh_judge.inputs import TABLES, TableName
from wh_judge.rowwise import Batch, Problem
from wh_judge_tests.builders import card, turn
from wh_judge_tests.votes import vote

Row = Mapping[str, Any]

SUFFIXES = (".jsonl", ".json", ".csv", ".parquet")
FIRST_LINE = {".jsonl": 1, ".json": 2, ".csv": 2, ".parquet": 1}
"""Where `write` puts the first row."""

SOUND: Mapping[TableName, dict[str, Any]] = {
    "chat_turn": turn("T-1", session_id="S-1", prompt_id="P-1", named_entities=["하늘"]).model_dump(mode="json"),
    "character_card": card("C-1").model_dump(mode="json"),
    "topic_lexicon": {"term": "선거", "topic": "현실 정치"},
    "gold_label": {"turn_id": "T-1", "verdict": "말투 어긋남", "note": "존댓말이다"},
    "vote": vote("V-1").model_dump(mode="json"),
    "capability_support": {"case_id": "P-1", "model_id": "M-1", "supported": False, "reason": "문맥이 짧다"},
    "judge_score": {"judge": "J", "run": "1", "turn_id": "T-1", "verdict": "말투 어긋남", "score": 0.25},
}
"""A row of each table as JSON, with no cell empty."""


def rows(table: TableName, *keys: str) -> list[dict[str, Any]]:
    """Sound rows with these keys."""
    return [SOUND[table] | {TABLES[table].key[0]: key} for key in keys]


def write(path: Path, rows: Sequence[Row]) -> Path:
    """Write rows as JSON documents have them, one a line where the type has lines."""
    if path.suffix == ".jsonl":
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        path.write_text(text, encoding="utf-8", newline="")
    elif path.suffix == ".json":
        text = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        path.write_text(f"[\n{text}\n]\n", encoding="utf-8", newline="")
    elif path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            names = list(dict.fromkeys(name for row in rows for name in row))
            writer.writerow(names)
            writer.writerows([_cell(row.get(name)) for name in names] for row in rows)
    else:
        pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict | bool) else value


def read(path: Path, table: TableName = "chat_turn") -> Batch:
    """A file or a folder, as rows of a table."""
    return read_table(path, TABLES[table])


def keys(batch: Batch) -> list[str]:
    """The first column of the rows."""
    found: list[str] = batch.rows.column(0).to_pylist()
    return found


def places(problems: Sequence[Problem]) -> list[tuple[str, int | None, str, str]]:
    """Of each problem the file, the line, the severity and the reason."""
    return [(problem.file, problem.line, problem.severity, problem.reason) for problem in problems]
