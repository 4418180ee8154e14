"""The Data Docs: what a page says, that it is safe and self-contained, and that pages do not pile up."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pytest

from wh_judge.suites import SUITES, TableName, build_index, run, validate_table

from .build import KNOWN, changed, table_of

HOSTILE = "<script>alert(1)</script>\"'&$a ${b} $$ %s {{ 7 * 7 }} \0"


def _page(docs: Path, rows: pa.Table | None = None, batch: str = "2026-09-01", table: TableName = "chat_turn") -> str:
    rows = changed(table) if rows is None else rows
    page = validate_table(table, rows, references=KNOWN, batch=batch, docs=docs).docs_page
    assert page is not None
    return page.read_text(encoding="utf-8")


def _text(page: str) -> str:
    """What a reader sees of a page."""
    seen: list[str] = []

    class Reader(HTMLParser):
        def handle_data(self, data: str) -> None:
            seen.append(data)

    Reader().feed(page.partition("<body>")[2])
    return " ".join(" ".join(seen).split())


def _files(docs: Path) -> dict[str, bytes]:
    return {path.relative_to(docs).as_posix(): path.read_bytes() for path in docs.rglob("*") if path.is_file()}


def _links(index: Path) -> dict[str, Path]:
    found = re.findall(r'<a href="([^"]*)">([^<]*)</a>', index.read_text(encoding="utf-8"))
    return {text: index.parent / unquote(href) for href, text in found}


def test_the_page_lies_under_table_and_batch(tmp_path: Path) -> None:
    result = validate_table("chat_turn", changed("chat_turn"), batch="2026-09-01", docs=tmp_path)
    assert result.docs_page == tmp_path / "chat_turn" / "2026-09-01.html"


def test_without_docs_no_page_is_written() -> None:
    assert validate_table("chat_turn", changed("chat_turn"), batch="2026-09-01").docs_page is None


@pytest.mark.parametrize("table", SUITES)
def test_the_page_names_every_expectation(tmp_path: Path, table: TableName) -> None:
    text = _text(_page(tmp_path, table=table))
    assert [check.name for check in SUITES[table].checks if check.name not in text] == []


def test_the_page_has_a_section_per_column(tmp_path: Path) -> None:
    headings = re.findall(r"<h5[^>]*>\s*(.*?)\s*</h5>", _page(tmp_path, table="topic_lexicon"))
    assert headings == ["Table-Level Expectations", "term", "topic"]


def test_the_page_shows_what_was_unexpected(tmp_path: Path) -> None:
    page = _page(tmp_path, changed("verdict", verdict="판단 보류 값"), table="verdict")
    assert "판단 보류 값" in _text(page)


def test_the_page_says_that_a_column_is_missing(tmp_path: Path) -> None:
    page = _page(tmp_path, changed("chat_turn").drop_columns(["turn_at"]))
    assert "not evaluated: the column turn_at is missing" in _text(page)


def test_the_page_shows_no_traceback(tmp_path: Path) -> None:
    assert "Traceback" not in _page(tmp_path, changed("chat_turn").drop_columns(["turn_at"]))


def test_the_page_of_an_empty_table_says_so(tmp_path: Path) -> None:
    assert "there was nothing to check but its columns" in _text(_page(tmp_path, table_of("chat_turn")))


def test_the_page_says_what_was_not_checked(tmp_path: Path) -> None:
    page = validate_table("chat_turn", changed("chat_turn"), batch="day", docs=tmp_path).docs_page
    assert page is not None
    assert "Not checked The keys to compare with were not given. character_id has a card" in _text(page.read_text())


HOSTILE_ROWS: dict[str, pa.Table] = {
    "in a damaged key": changed("chat_turn", turn_id=HOSTILE, session_id=" "),
    "in a value": changed("chat_turn", character_id=HOSTILE),
    "in a list": changed("chat_turn", named_entities=[HOSTILE, ""]),
    "in a duplicate": table_of("chat_turn", {"turn_id": HOSTILE}, {"turn_id": HOSTILE}),
    "in a column name": changed("chat_turn").append_column(HOSTILE, pa.array([1, 2])),
    "in the place of a set value": changed("character_card", honorific_rule=HOSTILE),
    "in two keys": table_of("topic_lexicon", *[{"term": HOSTILE, "topic": HOSTILE}] * 2),
    "in evidence": changed(
        "verdict", evidence=[{"source": HOSTILE, "field": HOSTILE, "agg": HOSTILE, "value": "", "key": ""}]
    ),
}


def _hostile_page(docs: Path, case: str) -> str:
    rows = HOSTILE_ROWS[case]
    table = next(name for name, suite in SUITES.items() if set(suite.arrow_schema.names) <= set(rows.column_names))
    return _page(docs, rows, table=table)


@pytest.mark.parametrize("case", HOSTILE_ROWS)
def test_hostile_text_is_shown_to_the_letter(tmp_path: Path, case: str) -> None:
    shown = _text(_hostile_page(tmp_path, case)).replace("\\'", "'")  # DuckDB writes quotes in lists so
    assert HOSTILE.replace("\0", "\\x00") in shown


@pytest.mark.parametrize("case", HOSTILE_ROWS)
def test_hostile_text_makes_no_element(tmp_path: Path, case: str) -> None:
    assert re.search(r"<script|\0", _hostile_page(tmp_path, case)) is None


def test_a_hostile_batch_is_shown_to_the_letter(tmp_path: Path) -> None:
    assert HOSTILE.replace("\0", "\\x00") in _text(_page(tmp_path, batch=HOSTILE))


def test_a_hostile_batch_makes_no_element(tmp_path: Path) -> None:
    assert "<script" not in _page(tmp_path, batch=HOSTILE)


@pytest.mark.parametrize("batch", [HOSTILE, "../../up", "..", "a/b", "2026-09-01 밤", "100%", "a%2Fb"])
def test_the_index_finds_the_page_of_any_batch(tmp_path: Path, batch: str) -> None:
    _page(tmp_path, batch=batch)
    assert [path.parent for path in _links(build_index(tmp_path)).values() if path.is_file()] == [
        tmp_path / "chat_turn"
    ]


def test_two_batches_never_share_a_page(tmp_path: Path) -> None:
    for batch in ("a/b", "a%2Fb", "a b"):
        _page(tmp_path, batch=batch)
    assert len(_files(tmp_path)) == 3


@pytest.mark.parametrize("table", SUITES)
def test_a_page_loads_nothing(tmp_path: Path, table: TableName) -> None:
    loads = re.findall(r"<(?:script|img|iframe|object|link)[^>]*|url\([^)]*\)|@import", _page(tmp_path, table=table))
    assert loads == ['<link rel="icon" href="data:,"']


def test_the_index_loads_nothing(tmp_path: Path) -> None:
    index = build_index(tmp_path).read_text(encoding="utf-8")
    assert re.findall(r"https?://|//[a-z]", index) == []


def test_a_page_forbids_itself_to_load_or_run_anything(tmp_path: Path) -> None:
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in _page(tmp_path)


def test_the_same_validation_leaves_the_same_files(tmp_path: Path) -> None:
    _page(tmp_path, changed("chat_turn", session_id=""))
    build_index(tmp_path)
    before = _files(tmp_path)
    _page(tmp_path, changed("chat_turn", session_id=""))
    build_index(tmp_path)
    assert _files(tmp_path) == before


def test_a_validation_writes_its_own_page_only(tmp_path: Path) -> None:
    _page(tmp_path, batch="2026-09-01")
    page = tmp_path / "chat_turn" / "2026-09-01.html"
    page.write_text("as it was")
    _page(tmp_path, batch="2026-09-02")
    assert page.read_text() == "as it was"


def test_the_index_lists_the_latest_batch_first(tmp_path: Path) -> None:
    for batch in ("2026-09-02", "2026-09-10", "2026-09-01"):
        _page(tmp_path, batch=batch)
    assert list(_links(build_index(tmp_path))) == ["2026-09-10", "2026-09-02", "2026-09-01"]


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (changed("chat_turn"), "day passed 2 13 of 13"),
        (changed("chat_turn", character_id="CHR-9"), "day warnings 2 12 of 13"),
        (changed("chat_turn", session_id=""), "day failed 2 12 of 13"),
        (table_of("chat_turn"), "day nothing to check 0 13 of 13"),
    ],
)
def test_the_index_says_how_each_batch_fared(tmp_path: Path, rows: Any, line: str) -> None:
    _page(tmp_path, rows, batch="day")
    assert line in _text(build_index(tmp_path).read_text(encoding="utf-8"))


def test_the_index_follows_a_batch_that_is_validated_again(tmp_path: Path) -> None:
    _page(tmp_path, changed("chat_turn", session_id=""), batch="day")
    build_index(tmp_path)
    _page(tmp_path, batch="day")
    assert "day passed" in _text(build_index(tmp_path).read_text(encoding="utf-8"))


def test_the_index_passes_over_other_pages(tmp_path: Path) -> None:
    (tmp_path / "chat_turn").mkdir()
    (tmp_path / "chat_turn" / "notes.html").write_text("<p>mine</p>")
    assert "Nothing has been validated yet." in _text(build_index(tmp_path).read_text(encoding="utf-8"))


def test_the_index_of_no_pages_says_so(tmp_path: Path) -> None:
    assert "Nothing has been validated yet." in _text(build_index(tmp_path / "new").read_text(encoding="utf-8"))


@pytest.mark.parametrize("cell", [{"user_message": None}, {"turn_at": None}, {"character_id": " "}])
def test_what_was_found_in_batches_before_stands_in_no_other(cell: dict[str, Any], tmp_path: Path) -> None:
    """What Great Expectations made of frames that are alike is kept, with the parts that pages change."""
    one_row = changed("chat_turn", **cell).slice(1)
    first = [_page(tmp_path / "first"), _page(tmp_path / "first", one_row), _page(tmp_path / "first")]
    run._made_before.cache_clear()
    assert [_page(tmp_path / "then", one_row), _page(tmp_path / "then")] == first[1:]
    assert first[0] == first[2] != first[1]
