"""The input tables: what their rows are, and where their files lie."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, overload

import pyarrow as pa

from wh_judge.errors import UserError
from wh_judge.model import (
    CARD_SCHEMA,
    GOLD_SCHEMA,
    LEXICON_SCHEMA,
    TURN_SCHEMA,
    CharacterCard,
    ChatTurn,
    GoldLabel,
    LexiconTerm,
    Row,
)
from wh_judge.readers import READERS
from wh_judge.readers.records import Columns
from wh_judge.votes.rows import (
    JUDGE_SCORE_SCHEMA,
    SUPPORT_SCHEMA,
    VOTE_SCHEMA,
    CapabilitySupport,
    JudgeScore,
    Vote,
)

TableName = Literal[
    "chat_turn", "character_card", "topic_lexicon", "gold_label", "vote", "capability_support", "judge_score"
]


@dataclass(frozen=True)
class InputTable:
    """An input table: where it lies among the inputs, its model, its schema, and what identifies a row."""

    name: TableName
    place: str
    model: type[Row]
    schema: pa.Schema
    key: tuple[str, ...]
    optional: bool = False
    """Whether a folder of inputs may do without it."""

    @property
    def columns(self) -> Columns:
        """What its CSV files must and may have."""
        return Columns(
            required=frozenset(name for name, info in self.model.model_fields.items() if info.is_required()),
            known=frozenset(self.schema.names),
            lists=frozenset(entry.name for entry in self.schema if pa.types.is_list(entry.type)),
            booleans=frozenset(entry.name for entry in self.schema if pa.types.is_boolean(entry.type)),
            numbers=frozenset(entry.name for entry in self.schema if pa.types.is_floating(entry.type)),
        )


TABLES: Mapping[TableName, InputTable] = {
    table.name: table
    for table in (
        InputTable("chat_turn", "turns", ChatTurn, TURN_SCHEMA, ("turn_id",)),
        InputTable("character_card", "cards", CharacterCard, CARD_SCHEMA, ("character_id",)),
        InputTable("topic_lexicon", "lexicon", LexiconTerm, LEXICON_SCHEMA, ("term", "topic")),
        InputTable("gold_label", "gold", GoldLabel, GOLD_SCHEMA, ("turn_id",), optional=True),
        InputTable("vote", "votes", Vote, VOTE_SCHEMA, ("vote_id",), optional=True),
        InputTable(
            "capability_support", "support", CapabilitySupport, SUPPORT_SCHEMA, ("case_id", "model_id"), optional=True
        ),
        InputTable("judge_score", "judges", JudgeScore, JUDGE_SCORE_SCHEMA, ("judge", "run", "turn_id"), optional=True),
    )
}


_NO_INPUT = frozenset({"README", "README.md", "README.txt", "_SUCCESS"})


def files_of(path: Path) -> list[Path]:
    """The files of an input, in the order in which they are read: the file, or all in the folder by relative name.

    What begins with a dot or is called README is none, and neither is `_SUCCESS`, which Spark leaves in a folder. A
    link that leads to no file is one, and so is a pipe or a socket, so that reading it says so.

    Raises:
        UserError: a folder in it cannot be listed.
    """
    if not path.is_dir():
        return [path]
    found = []
    for folder, folders, names in os.walk(path, onerror=_cannot_list):
        folders[:] = [name for name in folders if not name.startswith(".")]
        names = [name for name in [*names, *folders] if not name.startswith(".") and name not in _NO_INPUT]
        entries = [Path(folder, name) for name in names]
        found += [entry for entry in entries if entry.is_symlink() or not entry.is_dir()]
    return sorted(found, key=lambda file: file.relative_to(path).as_posix())


def _cannot_list(error: OSError) -> None:
    raise UserError(f"{error.filename}: cannot be listed: {error.strerror}")


@overload
def input_path(inputs: Path, table: InputTable, *, optional: Literal[False] = False) -> Path: ...
@overload
def input_path(inputs: Path, table: InputTable, *, optional: bool) -> Path | None: ...
def input_path(inputs: Path, table: InputTable, *, optional: bool = False) -> Path | None:
    """Where a table lies in the folder of inputs: a folder of its name, or a file with one of the known suffixes."""
    candidates = [inputs / table.place, *(inputs / f"{table.place}{suffix}" for suffix in READERS)]
    found = [path for path in candidates if path.exists()]
    if len(found) > 1:
        names = " and ".join(path.name for path in found)
        raise UserError(f"{inputs}: holds {names}; keep one of them, or move the files into one folder {table.place}/")
    if not found and not optional:
        raise UserError(
            f"{inputs}: holds no {table.place}; put a folder {table.place}/ or a file {table.place}.jsonl (.json, .csv,"
            " .parquet) there, or name another folder with WH_JUDGE_INPUTS"
        )
    return found[0] if found else None


def file_name(path: Path, file: Path) -> str:
    """How a file of an input is called in problems and in the warehouse: relative to its folder's parent.

    Bytes of a name that are not UTF-8 are written out.
    """
    return os.fsencode(file.relative_to(path.parent).as_posix()).decode(errors="backslashreplace")
