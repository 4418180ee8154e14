"""The current list as a file, read back by what people read it with."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from wh_judge.model import VERDICTS, Verdict
from wh_judge.screen.export import BATCH, as_csv, as_json, as_jsonl
from wh_judge.spreadsheet import told
from wh_judge_tests.builders import DATA
from wh_judge_tests.house import VERDICTS as OF_LOG
from wh_judge_tests.screen.site import FIRST, seen

SCHEMA = json.loads((DATA / "verdict.schema.json").read_text(encoding="utf-8"))
ORDER = [f"T-{n}" for n in (1, 2, 3, 4, 6, 7, 8, 9, 10, 12, 11, 14, 15, 16, 17, 18)]


def documents(client: TestClient, **query: str) -> list[dict[str, Any]]:
    """The list as JSONL."""
    answer = client.get("/verdicts.jsonl", params=query)
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def test_every_line_fits_the_schema(client: TestClient) -> None:
    found = documents(client)
    for document in found:
        jsonschema.validate(document, SCHEMA)
    assert [document["turn_id"] for document in found] == ORDER


def test_a_line_is_the_turn_s_own_document(client: TestClient) -> None:
    by_turn = {document["turn_id"]: document for document in documents(client)}
    for turn_id in OF_LOG:
        assert client.get(f"/turn.json?id={turn_id}").json() == by_turn[turn_id]


def test_json_is_the_same_as_one_list(client: TestClient) -> None:
    assert client.get("/verdicts.json").json() == documents(client)


def test_a_spreadsheet_opens_the_same_rows_with_hangul_intact(client: TestClient) -> None:
    answer = client.get("/verdicts.csv")
    assert answer.content.startswith("\ufeffturn_id,".encode())
    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"), newline="")))
    assert [list(row) for row in rows] == [list(Verdict.model_fields)] * len(ORDER)
    for row, document in zip(rows, documents(client), strict=True):
        assert {name: row[name] or None for name in ("turn_id", "verdict", "summary", "hedge", "touched_term")} == {
            name: document[name] for name in ("turn_id", "verdict", "summary", "hedge", "touched_term")
        }
        assert json.loads(row["evidence"]) == document["evidence"]
        assert (json.loads(row["off_canon_entities"]) if row["off_canon_entities"] else None) == document[
            "off_canon_entities"
        ]


@pytest.mark.parametrize(
    ("query", "turns"),
    [
        ({"verdict": VERDICTS[3]}, ["T-7", "T-15", "T-18"]),
        ({"verdict": VERDICTS[3], "q": "선거"}, ["T-7", "T-15"]),
        ({"model": "M-2", "day": "2026-09-01"}, ["T-3"]),
        ({"since": FIRST}, ["T-1", "T-2", "T-4"]),
        ({"since": FIRST, "q": "T-2"}, ["T-2"]),
        ({"skipped": "names_null"}, ["T-10"]),
        ({"verdict": "판정하지 못함"}, []),
        ({"character": "no such"}, []),
    ],
    ids=str,
)
@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv"])
def test_a_file_holds_the_list_that_it_was_asked_for(
    client: TestClient, query: dict[str, str], turns: list[str], suffix: str
) -> None:
    answer = client.get(f"/verdicts.{suffix}", params=query)
    text = answer.content.decode("utf-8-sig")
    if suffix == "csv":
        found = [row["turn_id"] for row in csv.DictReader(io.StringIO(text, newline=""))]
    else:
        parsed = json.loads(text) if suffix == "json" else [json.loads(line) for line in text.splitlines()]
        found = [document["turn_id"] for document in parsed]
    assert found == turns


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "json"])
def test_a_file_is_saved_under_its_name(client: TestClient, suffix: str) -> None:
    answer = client.get(f"/verdicts.{suffix}")
    assert answer.headers["content-disposition"] == f'attachment; filename="verdicts.{suffix}"'
    assert answer.headers["content-type"].endswith("; charset=utf-8")


def test_the_page_leads_to_the_files_of_its_list(client: TestClient) -> None:
    page = seen(client.get("/verdicts?model=M-2&verdict=금지 소재 접촉"))
    [link] = page.links("/verdicts.csv")
    assert link.endswith("?verdict=%EA%B8%88%EC%A7%80+%EC%86%8C%EC%9E%AC+%EC%A0%91%EC%B4%89&model=M-2")


def test_other_formats_are_refused(client: TestClient) -> None:
    assert client.get("/verdicts.xlsx").status_code == 404


@pytest.mark.parametrize(
    "address", ["/verdicts.csv?verdict=x", "/verdicts.jsonl?first=x", "/verdicts.json?q=" + "a" * 300]
)
def test_what_cannot_be_read_is_refused_before_the_file_begins(client: TestClient, address: str) -> None:
    answer = client.get(address)
    assert (answer.status_code, answer.json()["error"]["status"]) == (400, 400)


def test_an_unknown_run_is_refused(client: TestClient) -> None:
    assert client.get("/verdicts.csv?since=run-no").status_code == 404


def document(text: str | None) -> dict[str, Any]:
    """A document with a text wherever one may stand."""
    values: dict[str, Any] = dict.fromkeys(Verdict.model_fields, text)
    return values | {"off_canon_entities": [text], "evidence": [{"source": "chat_turn", "field": "x", "value": text}]}


@given(st.text() | st.none() | st.sampled_from(["=cmd|'/c calc'!A1", "'=1"]))
def test_every_cell_can_be_told_again(text: str | None) -> None:
    written = "".join(as_csv(iter([document(text)]))).removeprefix("\ufeff")
    [row] = csv.DictReader(io.StringIO(written, newline=""))
    for name, cell in row.items():
        if name not in ("evidence", "off_canon_entities"):
            assert told(cell) == (text or "")


@given(st.lists(st.text(), max_size=4))
def test_json_is_json_whatever_stands_in_it(texts: list[str]) -> None:
    found = [document(text) for text in texts]
    assert json.loads("".join(as_json(iter(found)))) == found
    assert [json.loads(line) for line in "".join(as_jsonl(iter(found))).split("\n")[:-1]] == found


def test_a_long_list_comes_in_pieces_of_many_rows(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wh_judge.screen.export.BATCH", 3)
    with client.stream("GET", "/verdicts.jsonl") as answer:
        pieces = [piece for piece in answer.iter_raw() if piece]
    assert len(b"".join(pieces).splitlines()) == len(ORDER) and BATCH == 1_000


def test_a_reader_who_leaves_lets_go_of_the_snapshot(client: TestClient, site: Any) -> None:
    with client.stream("GET", "/verdicts.jsonl") as answer:
        assert answer.status_code == 200
    assert client.app.state.snapshots._newest.readers == 0  # type: ignore[attr-defined]
    assert Path(site.settings.published).is_dir()
