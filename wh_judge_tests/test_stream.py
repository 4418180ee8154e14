"""A log that is judged part by part is judged as if it were judged at once, however its rows lie in its files."""

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wh_judge import ingest, parts, stream
from wh_judge.errors import UserError
from wh_judge.inputs import TABLES
from wh_judge.judge import Judge
from wh_judge.model import CARD_SCHEMA, LEXICON_SCHEMA, TURN_SCHEMA, ChatTurn
from wh_judge.parts import reading_parts
from wh_judge.rules.recall import turn_order
from wh_judge.stream import Done, judge_parts
from wh_judge.text import nfc
from wh_judge_tests.builders import STATE, Judged, Rows, by_kernel, turn
from wh_judge_tests.input_files import rows as sound_rows
from wh_judge_tests.input_files import write
from wh_judge_tests.strategies import rows as hostile_rows


def table(turns: Sequence[ChatTurn]) -> pa.Table:
    return pa.Table.from_pylist([row.model_dump() for row in turns], TURN_SCHEMA)


def as_read(turns: Sequence[ChatTurn]) -> list[ChatTurn]:
    """The turns with their text composed, as reading does; of those that then have one id, the first."""
    found: dict[str, ChatTurn] = {}
    for row in turns:
        document = json.dumps(row.model_dump(mode="json"), ensure_ascii=False)
        composed = ChatTurn.model_validate_json(nfc(document))
        found.setdefault(composed.turn_id, composed)
    return list(found.values())


def by_parts(log: Rows, path: Path, size: int) -> Judged:
    """What is said of the turns in the files of a path, in parts of `size` rows of a file."""
    cards = pa.Table.from_pylist([row.model_dump() for row in log.cards], CARD_SCHEMA)
    terms = pa.Table.from_pylist([row.model_dump() for row in log.lexicon], LEXICON_SCHEMA)
    found = Judged([], [])
    with (
        patch.object(ingest, "BATCH_ROWS", size),
        patch.object(parts, "PART_ROWS", size),
        reading_parts(path) as whole,
    ):
        for _, judgement in judge_parts(whole, Judge(cards, terms, log.settings, threads=1), workers=2):
            found.verdicts.extend(judgement.verdicts.to_pylist())
            found.unjudged.extend(judgement.unjudged.to_pylist())
    return found


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(hostile_rows(), st.integers(1, 4), st.booleans(), st.integers(0, 8))
def test_parts_are_judged_as_the_whole(log: Rows, size: int, ordered: bool, cut: int) -> None:
    """In one file or in two, in turn order and out of it."""
    turns = sorted(as_read(log.turns), key=lambda row: turn_order(row.turn_id))
    with TemporaryDirectory() as name:
        lying = turns if ordered else turns[::-1]
        for number, some in enumerate((lying[:cut], lying[cut:])):
            pq.write_table(table(some), Path(name, f"{number}.parquet"))
        assert by_parts(log, Path(name), size) == by_kernel(log._replace(turns=turns))


@pytest.mark.parametrize("weight", [1, 200])
def test_parts_that_are_cut_are_judged_as_the_whole(weight: int, tmp_path: Path) -> None:
    turns = sorted(STATE.turns, key=lambda row: turn_order(row.turn_id))
    pq.write_table(table(turns), tmp_path / "x.parquet")
    log = Rows(turns, STATE.cards, STATE.lexicon)
    with (
        patch.object(stream, "BATCH_BYTES", weight),
        patch.object(Judge, "judge", autospec=True, side_effect=Judge.judge) as judging,
    ):
        assert by_parts(log, tmp_path / "x.parquet", 100) == by_kernel(log)
    # The last is the kernel's on the whole.
    assert len(judging.mock_calls) - 1 > 1
    assert sum(each.args[1].num_rows for each in judging.mock_calls) == 2 * len(turns)


def sizes(path: Path) -> list[int]:
    with reading_parts(path) as log:
        return [part.rows.num_rows for part in log.parts]


def test_small_files_are_one_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        pq.write_table(table([turn(f"T-{2 * number}"), turn(f"T-{2 * number + 1}")]), tmp_path / f"{number}.parquet")
    assert sizes(tmp_path) == [10]
    monkeypatch.setattr(parts, "PART_ROWS", 5)
    assert sizes(tmp_path) == [4, 4, 2]
    monkeypatch.setattr(parts, "BATCH_BYTES", 1)
    assert sizes(tmp_path) == [2, 2, 2, 2, 2]


def test_what_is_wrong_in_small_files_is_told(tmp_path: Path) -> None:
    for number in range(3):
        rows = table([turn("x"), turn("y")]).set_column(0, "turn_id", pa.array([f"T-{number}", " "]))
        pq.write_table(rows, tmp_path / f"{number}.parquet")
    with reading_parts(tmp_path) as log:
        found = [str(problem) for part in log.parts for problem in part.problems]
    assert found == [f"{tmp_path.name}/{number}.parquet:2: turn_id is blank (' ')" for number in range(3)]


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv"])
def test_long_rows_are_read_a_few_at_a_time(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "BATCH_BYTES", 1_000)
    path = write(
        tmp_path / f"x{suffix}", [row | {"reply_text": "가" * 400} for row in sound_rows("chat_turn", *"abcde")]
    )
    batches = list(ingest.read_file(path, TABLES["chat_turn"], "x"))
    assert [batch.rows.num_rows for batch in batches] == [2, 2, 1]
    monkeypatch.setattr(parts, "BATCH_BYTES", 2_500)
    assert sum(sizes(path)) == 5


def test_a_log_that_cannot_be_sorted_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "SORT_MEMORY", "8MB")
    long = [turn(f"T-{number}", reply_text=f"{number}" * 1_000_000) for number in range(9, 0, -1)]
    pq.write_table(table(long), tmp_path / "x.parquet")
    with pytest.raises(UserError) as raised:
        sizes(tmp_path / "x.parquet")
    told = str(raised.value)
    assert told.startswith(
        f"{tmp_path / 'x.parquet'}: its turns could not be brought into turn order with 8MB of memory"
    )
    assert told.endswith("or write the turns as Parquet in turn order: shorter turn_id first, then by letters")
    assert "\n" not in told


def is_read_as_it_lies(path: Path) -> bool:
    with patch.object(parts, "_sorted", side_effect=AssertionError):
        try:
            with reading_parts(path) as log:
                return all(part.rows.num_rows >= 0 for part in log.parts)
        except AssertionError:
            return False


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["T-1", "T-2", "T-10"], True),
        (["T-1", "", " ", "T-2"], True),
        (["T-2", "T-1"], False),
        (["T-10", "T-2"], False),
        (["T-1", "T-1"], False),
        (["T-1", " T-2", "T-3"], False),
        (["T-1", "T-3", "T-2"], False),
        ([], True),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 10])
def test_only_files_in_turn_order_are_read_as_they_lie(
    ids: list[str], expected: bool, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "PART_ROWS", size)
    cells = table([turn(f"{number}") for number in range(len(ids))]).set_column(
        0, "turn_id", pa.array(ids, pa.string())
    )
    pq.write_table(cells, tmp_path / "x.parquet")
    assert is_read_as_it_lies(tmp_path / "x.parquet") is expected


def test_order_is_kept_over_files(tmp_path: Path) -> None:
    for number, key in enumerate(("T-1", "T-2")):
        pq.write_table(table([turn(key)]), tmp_path / f"{number}.parquet")
    assert is_read_as_it_lies(tmp_path)
    pq.write_table(table([turn("T-0")]), tmp_path / "2.parquet")
    assert not is_read_as_it_lies(tmp_path)
    write(tmp_path / "2.jsonl", sound_rows("chat_turn", "T-9"))
    (tmp_path / "2.parquet").unlink()
    assert not is_read_as_it_lies(tmp_path)


def test_what_is_told_of_the_parts(tmp_path: Path) -> None:
    turns = [*STATE.turns, turn("T-900000", character_id="C-none")]
    turns.sort(key=lambda row: turn_order(row.turn_id))
    pq.write_table(table(turns), tmp_path / "x.parquet")
    log = Rows(turns, STATE.cards, STATE.lexicon)
    cards = pa.Table.from_pylist([row.model_dump() for row in log.cards], CARD_SCHEMA)
    done, expected = Done(keep_raw=False), by_kernel(log)
    with patch.object(ingest, "BATCH_ROWS", 3), reading_parts(tmp_path / "x.parquet") as whole:
        kernel = Judge(cards, pa.Table.from_pylist([row.model_dump() for row in log.lexicon], LEXICON_SCHEMA))
        verdicts = [row for judged in judge_parts(whole, kernel) for row in done.verdicts_of(judged).to_pylist()]
    assert verdicts == expected.verdicts
    assert done.turns == len(turns)
    assert done.counts.total() == len(verdicts)
    [unjudged] = [row for rows in done.unjudged for row in rows.to_pylist() if row["character_id"] == "C-none"]
    place = [row.turn_id for row in turns].index("T-900000")
    assert (unjudged["file"], unjudged["line"]) == ("x.parquet", place + 1)
