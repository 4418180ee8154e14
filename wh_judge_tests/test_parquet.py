"""Parquet files come in batches of bounded weight, with every row once and in order, or say why they do not."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wh_judge import parquet
from wh_judge.parquet import TooLargeError, bounded_batches, weights
from wh_judge_tests.records import read, reasons

LONG = "가" * 1000
TABLES = {
    "one text in every cell": pa.table({"id": pa.array(range(500)), "text": [LONG] * 500}),
    "one long text": pa.table({"id": pa.array(range(500)), "text": ["가"] * 499 + [LONG * 2]}),
    "a dictionary": pa.table({"id": pa.array(range(500)), "text": pa.array([LONG] * 500).dictionary_encode()}),
    "lists": pa.table({"id": pa.array(range(500)), "names": [["가"] * (number % 60) for number in range(500)]}),
    "structs in lists": pa.table({"id": pa.array(range(500)), "roles": [[{"role": LONG, "entity": "나"}]] * 500}),
    "views": pa.table({"id": pa.array(range(500)), "text": pa.array([LONG] * 500, pa.string_view())}),
    "nulls": pa.table({"id": pa.array(range(500)), "text": pa.array([LONG, None] * 250)}),
    "no rows": pa.table({"id": pa.array([], pa.int64()), "text": pa.array([], pa.string())}),
}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "BATCH_BYTES", 20_000)


@pytest.mark.parametrize("options", [{}, {"row_group_size": 7}, {"use_dictionary": False}], ids=str)
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_every_row_comes_once_in_batches_of_bounded_weight(
    table: pa.Table, options: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "FOLD_LIMIT", 10_000)
    pq.write_table(table, tmp_path / "x.parquet", **options)
    batches = list(bounded_batches(tmp_path / "x.parquet", 100))
    assert [row for batch in batches for row in batch.to_pylist()] == table.to_pylist()
    assert all(0 < batch.num_rows <= 100 for batch in batches)
    assert all(sum(weights(column).sum() for column in batch.columns) <= 20_000 for batch in batches)


def test_what_is_unpacked_at_a_time_is_bounded_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked: list[int] = []

    def spy(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            unpacked.append(batch.nbytes)
            yield batch

    monkeypatch.setattr(parquet, "_joined", spy)
    pq.write_table(TABLES["one text in every cell"], tmp_path / "x.parquet")
    assert sum(batch.num_rows for batch in bounded_batches(tmp_path / "x.parquet", 500)) == 500
    assert max(unpacked) <= 22_000  # The numbers and the offsets of the texts weigh something besides.


def test_light_rows_are_read_as_many_at_a_time_as_asked(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [str(number) for number in range(1000)]}), tmp_path / "x.parquet", row_group_size=40)
    assert [batch.num_rows for batch in bounded_batches(tmp_path / "x.parquet", 400)] == [400, 400, 200]


def test_a_list_that_is_too_heavy_is_named(tmp_path: Path) -> None:
    pq.write_table(pa.table({"names": [["가"], ["나"], ["다"] * 1000]}), tmp_path / "x.parquet", row_group_size=2)
    reason = "holds a list in row 3 that takes over 0 MB; shorten it"
    assert reasons(read(tmp_path / "x.parquet"))[-1] == (None, reason)


LIMITS = {
    "ELEMENTS_LIMIT": (
        pa.table({"names": [["가"] * 30]}),
        10,
        "holds 30 list elements of column 'names.list.element' in one",
    ),
    "FOLD_LIMIT": (pa.table({"text": [LONG * 10]}), 10, "packs 3[0-9]{4} bytes of column 'text' into"),
    "ROWS_PER_BYTE": (pa.table({"id": [1] * 20_000}), 1, "holds 20000 rows in [0-9]+ bytes; it is no true log"),
}


@pytest.mark.parametrize(("limit", "case"), LIMITS.items(), ids=LIMITS)
def test_what_the_metadata_say_is_too_much(
    limit: str, case: tuple[pa.Table, int, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, value, reason = case
    monkeypatch.setattr(parquet, "_MANY_ROWS", 10)
    monkeypatch.setattr(parquet, limit, value)
    pq.write_table(table, tmp_path / "x.parquet", compression="zstd")
    with pytest.raises(TooLargeError, match=reason):
        list(bounded_batches(tmp_path / "x.parquet", 100))
