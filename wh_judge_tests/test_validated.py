"""Verdicts validated by buckets of sessions, in processes of their own, are validated as all of them at once."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from wh_judge import validated
from wh_judge.judge import judge
from wh_judge.model import CARD_SCHEMA, LEXICON_SCHEMA, MENTION_SCHEMA, TURN_SCHEMA
from wh_judge.rules import RuleSettings
from wh_judge.validated import Judged, validate_rows
from wh_judge_tests.builders import STATE

TURNS = pa.Table.from_pylist([row.model_dump() for row in STATE.turns], TURN_SCHEMA)
CARDS = pa.Table.from_pylist([row.model_dump() for row in STATE.cards], CARD_SCHEMA)
TERMS = pa.Table.from_pylist([row.model_dump() for row in STATE.lexicon], LEXICON_SCHEMA)
JUDGED = Judged(TURNS, TURNS, CARDS, TERMS, MENTION_SCHEMA.empty_table(), RuleSettings())
VERDICTS = judge(TURNS, CARDS, TERMS).verdicts


def with_cells(column: str, cells: list[str | None]) -> pa.Table:
    place = VERDICTS.schema.get_field_index(column)
    return VERDICTS.set_column(
        place, VERDICTS.schema.field(column), pa.array(cells, VERDICTS.schema.field(column).type)
    )


DAMAGES: dict[str, Callable[[], pa.Table]] = {
    "sound": lambda: VERDICTS,
    "other verdicts": lambda: with_cells("verdict", VERDICTS["verdict"].to_pylist()[::-1]),
    "other sources": lambda: with_cells("recall_source_turn", VERDICTS["turn_id"].to_pylist()[::-1]),
    "other sessions": lambda: with_cells("session_id", VERDICTS["session_id"].to_pylist()[::-1]),
    "rows twice": lambda: pa.concat_tables([VERDICTS, VERDICTS.slice(0, 5)]),
    "rows twice in other sessions": lambda: pa.concat_tables(
        [VERDICTS, with_cells("session_id", VERDICTS["session_id"].to_pylist()[::-1]).slice(0, 5)]
    ),
    "turns that nobody knows": lambda: with_cells("turn_id", [f"X-{n}" for n in range(VERDICTS.num_rows)]),
    "none": lambda: VERDICTS.slice(0, 0),
}


@pytest.mark.parametrize("damaged", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("size", [1, 7])
def test_buckets_are_validated_as_all_rows_at_once(
    damaged: Callable[[], pa.Table], size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = damaged()
    expected = validate_rows(rows, JUDGED)
    monkeypatch.setattr(validated, "BUCKET_ROWS", size)
    assert validate_rows(rows, JUDGED) == expected


def test_some_of_the_damages_are_found() -> None:
    assert all(result.ok for result in validate_rows(VERDICTS, JUDGED).results)
    for name in ("other verdicts", "other sources", "other sessions", "rows twice", "turns that nobody knows"):
        assert not all(result.ok for result in validate_rows(DAMAGES[name](), JUDGED).results), name


def test_a_program_whose_main_module_is_not_guarded_is_not_run_again(tmp_path: Path) -> None:
    """As `multiprocessing` would."""
    (tmp_path / "main.py").write_text(
        "print('begun')\n"
        "from wh_judge import validated\n"
        "from wh_judge_tests.test_validated import JUDGED, VERDICTS\n"
        "validated.BUCKET_ROWS = 10\n"
        "print(all(result.ok for result in validated.validate_rows(VERDICTS, JUDGED).results))\n"
    )
    folder = Path(__file__).parent.parent
    command = [sys.executable, str(tmp_path / "main.py")]
    found = subprocess.run(command, capture_output=True, text=True, env={"PYTHONPATH": str(folder)}, check=True)
    assert found.stdout.split() == ["begun", "True"]
