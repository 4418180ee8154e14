"""The kernel: the worked examples, what becomes of which row, and work that grows with the turns only."""

import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import duckdb
import jsonschema
import pyarrow as pa
import pytest

from wh_judge import judge as judge_module
from wh_judge.judge import Judge, judge
from wh_judge.model import (
    CARD_SCHEMA,
    LEXICON_SCHEMA,
    TURN_SCHEMA,
    UNJUDGED_SCHEMA,
    VERDICT_SCHEMA,
    CharacterCard,
    ChatTurn,
    Evidence,
    verdict_document,
    verdict_from_record,
)
from wh_judge_tests.builders import (
    DATA,
    STATE,
    Judged,
    Record,
    Rows,
    by_kernel,
    by_references,
    card,
    turn,
    worked,
    worked_claims,
)

WORKED = {example["turn_id"]: example for example in worked_claims()}
DECIDED = [
    *("turn_id", "session_id", "character_id", "model_id", "verdict", "rule_expected", "rule_observed"),
    *("off_canon_entities", "touched_term", "touched_topic", "recall_target", "recall_source_turn"),
]


@cache
def documents() -> dict[str, Record]:
    """The kernel's verdicts on the worked inputs, by turn_id."""
    log = worked()
    verdicts = by_kernel(Rows(log.turns, log.cards, log.lexicon)).verdicts
    return {record["turn_id"]: verdict_document(verdict_from_record(record)) for record in verdicts}


def state_tables() -> list[pa.Table]:
    """Turns, cards and lexicon of the state as the kernel takes them."""
    parts = ((STATE.turns, TURN_SCHEMA), (STATE.cards, CARD_SCHEMA), (STATE.lexicon, LEXICON_SCHEMA))
    return [pa.Table.from_pylist([row.model_dump() for row in rows], schema) for rows, schema in parts]


def test_there_are_seven_worked_examples() -> None:
    assert len(WORKED) == 7


@pytest.mark.parametrize("turn_id", WORKED)
def test_a_worked_example_comes_out_as_it_stands(turn_id: str) -> None:
    """In what the rules decide; summary and hedge are free, but the hedge is null just where its is."""
    document, example = documents()[turn_id], WORKED[turn_id]
    assert {name: document[name] for name in DECIDED} == {name: example[name] for name in DECIDED}
    assert (document["hedge"] is None) == (example["hedge"] is None)


@pytest.mark.parametrize("turn_id", WORKED)
def test_a_worked_example_has_its_evidence_in_its_order(turn_id: str) -> None:
    """Every row of the example, with values of the same type; there may be more rows."""
    rows = iter([json.dumps(row, sort_keys=True) for row in documents()[turn_id]["evidence"]])
    missing = [row for row in WORKED[turn_id]["evidence"] if json.dumps(row, sort_keys=True) not in rows]
    assert missing == []


def test_both_forms_agree_on_the_worked_inputs() -> None:
    log = worked()
    rows = Rows(log.turns, log.cards, log.lexicon)
    assert by_kernel(rows) == by_references(rows)


def test_the_turn_that_the_examples_leave_out_kept_to_its_card() -> None:
    [left_out] = documents().keys() - WORKED.keys()
    assert documents()[left_out]["verdict"] == "설정대로 말함"


@pytest.mark.parametrize("turn_id", documents())
def test_a_document_fits_the_output_schema(turn_id: str) -> None:
    schema = json.loads((DATA / "verdict.schema.json").read_text("utf-8"))
    schema["additionalProperties"] = schema["properties"]["evidence"]["items"]["additionalProperties"] = False
    jsonschema.validate(documents()[turn_id], schema)


def test_a_turn_without_a_card_stays_in_the_list_with_the_reason() -> None:
    rows = Rows([turn("T-1", character_id="C-9"), turn("T-2")], [card("C-1")])
    keys = {"turn_id": "T-1", "session_id": "S of T-1", "character_id": "C-9", "model_id": "M-1"}
    expected = [keys | {"reason": "no card for character C-9"}]
    judged = by_kernel(rows)
    assert ([record["turn_id"] for record in judged.verdicts], judged.unjudged) == (["T-2"], expected)


def test_a_turn_without_a_card_is_remembered() -> None:
    """It counts for what it names, as any turn of the session does."""
    asked = {"session_id": "S", "user_asked_recall": True, "user_message": "내 동생 기억나?"}
    rows = Rows(
        [turn("T-1", session_id="S", character_id="C-9", named_entities=["하늘"]), turn("T-2", **asked)], [card("C-1")]
    )
    assert by_kernel(rows).verdicts[0]["recall_source_turn"] == "T-1"


@pytest.mark.parametrize("turns", [(), STATE.turns])
@pytest.mark.parametrize("cards", [(), STATE.cards])
def test_each_turn_is_judged_or_left_unjudged(turns: Sequence[ChatTurn], cards: Sequence[CharacterCard]) -> None:
    verdicts, unjudged = by_kernel(Rows(turns, cards, STATE.lexicon))
    assert (len(verdicts), len(unjudged)) == ((len(turns), 0) if cards else (0, len(turns)))


@pytest.mark.parametrize("chunks", [1, 0])
def test_the_tables_have_their_schemas_even_where_they_are_empty(chunks: int) -> None:
    tables = [schema.empty_table() for schema in (TURN_SCHEMA, CARD_SCHEMA, LEXICON_SCHEMA)]
    if not chunks:
        tables = [pa.Table.from_batches([], table.schema) for table in tables]
    judgement = judge(*tables)
    assert (judgement.verdicts.schema, judgement.unjudged.schema) == (VERDICT_SCHEMA, UNJUDGED_SCHEMA)


@pytest.mark.parametrize("name", ["n", "level", "found", "verdict", "canon_entities", "position", "row_hash"])
def test_further_columns_are_ignored(name: str) -> None:
    tables = state_tables()
    expected = judge(*tables)
    turns = tables[0].append_column(name, pa.array(["존댓말"] * len(STATE.turns)))
    assert judge(turns, *tables[1:]) == expected


@pytest.mark.parametrize(
    ("field", "agg", "cell", "value"),
    [
        ("reply_text", None, "true", "true"),
        ("user_asked_recall", None, "true", True),
        ("canon_entities", "count", "2", 2),
        ("canon_entities", None, "2", "2"),
        ("named_entities", None, None, None),
    ],
)
def test_a_cited_value_has_the_type_of_its_column(field: str, agg: str | None, cell: str | None, value: object) -> None:
    record = by_kernel(Rows([turn("T-1")], [card("C-1")])).verdicts[0]
    cited = {"source": "chat_turn", "field": field, "agg": agg, "value": cell, "key": "T-1"}
    [row] = verdict_from_record(record | {"evidence": [cited]}).evidence
    assert isinstance(row, Evidence) and type(row.value) is type(value) and row.value == value


def long_session(turns: int) -> Judged:
    """A session in which every turn names somebody, and asks after both who was named before and who was not."""
    columns = {
        "turn_id": [f"T-{number}" for number in range(turns)],
        **dict.fromkeys(("session_id", "character_id", "model_id"), ["C-1"] * turns),
        "turn_at": [turn("T-0").turn_at] * turns,
        "user_message": ["내 동생 이름 기억나? 스승은?"] * turns,
        "reply_text": ["글쎄, 몰라."] * turns,
        "named_entities": [["하늘", "검술원"]] * turns,
        "user_asked_recall": [True] * turns,
    }
    log = pa.table({name: columns.get(name, [None] * turns) for name in TURN_SCHEMA.names}, TURN_SCHEMA)
    cards = pa.Table.from_pylist([card("C-1").model_dump()], CARD_SCHEMA)
    judgement = judge(log, cards, LEXICON_SCHEMA.empty_table())
    return Judged(judgement.verdicts.to_pylist(), judgement.unjudged.to_pylist())


def test_a_session_of_many_turns_is_judged() -> None:
    """Each turn against the first mention, not against every turn before it."""
    first, *others = long_session(20_000).verdicts
    assert first["recall_source_turn"] is None
    assert {record["recall_source_turn"] for record in others} == {"T-0"}
    assert len(others) == 19_999


def test_threads_may_share_a_kernel() -> None:
    turns, *inputs = state_tables()
    kernel = Judge(*inputs, threads=1)
    pieces = [turns.slice(start % turns.num_rows, 1 + start % 3) for start in range(60)]
    expected = [kernel.judge(piece) for piece in pieces]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(kernel.judge, pieces)) == expected


def test_threads_may_be_the_first_to_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """They find no DuckDB started, and one of them is slow to start the only one."""
    turns, *inputs = state_tables()
    kernel, connect = Judge(*inputs, threads=1), duckdb.connect
    expected = kernel.judge(turns)
    pauses = iter((0.3,))

    def slowly(**options: Any) -> duckdb.DuckDBPyConnection:
        time.sleep(next(pauses))
        return connect(**options)

    monkeypatch.setattr(judge_module, "_DATABASES", {})
    monkeypatch.setattr(duckdb, "connect", slowly)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(kernel.judge, [turns] * 4)) == [expected] * 4
    assert list(pauses) == []


def test_a_call_leaves_nothing_behind_also_where_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Judge(*state_tables()[1:], threads=1)
    turns = state_tables()[0]
    expected = kernel.judge(turns)
    with monkeypatch.context() as broken, pytest.raises(duckdb.Error):
        broken.setattr(kernel, "_sql", "SELECT no_such_column FROM recall")
        kernel.judge(turns)
    with judge_module._DATABASES[1].database() as database, database.cursor() as connection:
        left = "SELECT schema_name FROM duckdb_schemas() WHERE schema_name LIKE 'call%'"
        assert connection.execute(left).fetchall() == []
        assert connection.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(0,)]
    assert kernel.judge(turns) == expected


@pytest.mark.parametrize("error", [duckdb.InternalException, duckdb.FatalException])
def test_a_duckdb_that_gave_up_is_not_kept(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    """After an error of its own it refuses all that comes later, and would fail every other day of the process."""
    kernel, turns = Judge(*state_tables()[1:], threads=1), state_tables()[0]
    expected = kernel.judge(turns)
    with judge_module._DATABASES[1].database() as kept:
        pass

    def give_up(_: pa.Table) -> pa.Table:
        kept.close()
        raise error

    with monkeypatch.context() as broken, pytest.raises(error):
        broken.setattr(judge_module, "_in_order", give_up)
        kernel.judge(turns)
    assert kernel.judge(turns) == expected
    with judge_module._DATABASES[1].database() as database:
        assert database is not kept
