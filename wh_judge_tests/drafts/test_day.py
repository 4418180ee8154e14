"""A day's drafts: asked of a server, weighed, and kept in the warehouse for the verdicts in force alone."""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from wh_judge.drafts import day
from wh_judge.drafts.day import DraftedDay, draft_day
from wh_judge.drafts.tally import Tally
from wh_judge.errors import UserError
from wh_judge.report import tally_lines
from wh_judge.settings import DRAFTS_KEY
from wh_judge.store.drafts import count_drafts, keep_drafts, read_cases
from wh_judge_tests.drafts.scripted import Scripted, Step, copying, serving
from wh_judge_tests.house import CARDS, DAY_1, DAY_2, House, rows, settle

CHOSEN = ("세계관 밖 고유명사", "금지 소재 접촉", "앞 회차를 기억 못 함")


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setenv(DRAFTS_KEY, "secret")
    monkeypatch.setattr(day, "FIRST_PAUSE", 0.001)
    house = settle(tmp_path)
    house.options |= {"drafts": CHOSEN, "drafts_model": "m", "drafts_seconds": 5.0, "drafts_tries": 2}
    return house


@pytest.fixture
def warehouse(house: House) -> Iterator[duckdb.DuckDBPyConnection]:
    with house.warehouse() as connection:
        house.bring_in(connection)
        for one in (DAY_1, DAY_2):
            house.judge(connection, one)
        yield connection


def draft(house: House, connection: duckdb.DuckDBPyConnection, script: Scripted, **options: Any) -> DraftedDay:
    settings = house.settings.model_copy(update={"drafts_url": script.url, **options})
    result = draft_day(read_cases(connection, DAY_2, settings.drafts, settings.rules), settings)
    keep_drafts(connection, DAY_2, result.tries, "run")
    return result


def outcomes(result: DraftedDay) -> Counter[str]:
    return Counter(draft.outcome for draft in result.drafts)


TURNS = ["T-6", "T-7", "T-8", "T-12"]


def test_the_chosen_verdicts_are_asked_about(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    with serving(copying()) as script:
        result = draft(house, warehouse, script)
    assert [one.turn_id for one in result.drafts] == TURNS
    assert outcomes(result) == {"kept": 4}
    assert replace(result.tally, seconds=0.0) == Tally(
        turns=4, kept=4, requests=4, prompt_tokens=4000, response_tokens=800
    )
    assert sorted(json.loads(sent["messages"][1]["content"])["verdict"]["turn_id"] for sent in script.requests) == (
        sorted(TURNS)
    )


def test_evidence_of_a_turn_of_another_day_holds(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    """T-6 cites T-4 of the day before, T-12 cites nothing of a later day."""
    with serving(copying()) as script:
        result = draft(house, warehouse, script)
    [found] = [one for one in result.drafts if one.turn_id == "T-6"]
    assert found.outcome == "kept" and "T-4" in (found.raw or "")


def test_the_second_time_nothing_is_asked(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    with serving(copying()) as script:
        before, after = draft(house, warehouse, script), draft(house, warehouse, script)
    assert len(script.requests) == 4
    assert replace(after.tally, seconds=0.0) == Tally(
        turns=4, kept=4, from_cache=4, cached_prompt_tokens=4000, cached_response_tokens=800
    )
    assert before.drafts == after.drafts
    assert rows(warehouse, "SELECT count(*) FROM draft_row") == [(4,)]


def test_what_cached_answers_had_cost_is_told_apart(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    priced = {"drafts_prices": (1.0, 10.0)}
    with serving(copying()) as script:
        before, after = (draft(house, warehouse, script, **priced).tally for _ in range(2))
    assert (before.money, before.cached_money) == (0.012, 0.0) == (after.cached_money, after.money)


def test_two_at_once_ask_nothing_twice(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    with serving(Step(copying().content, seconds=0.1)) as script, ThreadPoolExecutor(2) as pool:
        settings = house.settings.model_copy(update={"drafts_url": script.url})
        cases = read_cases(warehouse, DAY_2, settings.drafts, settings.rules)
        one, other = pool.map(lambda _: draft_day(cases, settings), range(2))
    assert len(script.requests) == 4 == one.tally.requests + other.tally.requests
    assert one.drafts == other.drafts and {one.tally.from_cache, other.tally.from_cache} == {0, 4}


REFUSED = Step('{"verdict": "합격"}')


def test_every_refusal_is_kept_with_its_reason_and_the_raw_response(
    house: House, warehouse: duckdb.DuckDBPyConnection
) -> None:
    with serving(REFUSED) as script:
        result = draft(house, warehouse, script)
    assert outcomes(result) == {"thrown_away": 4}
    assert result.tally.reasons["v01_verdict_value"] == 4
    found = rows(warehouse, "SELECT turn_id, outcome, summary, raw, reasons[1].code, model FROM draft ORDER BY ALL")
    assert found == [
        (turn_id, "thrown_away", None, REFUSED.content, "v01_verdict_value", "m") for turn_id in sorted(TURNS)
    ]
    assert all(text for (text,) in rows(warehouse, "SELECT reasons[1].text FROM draft"))


def test_the_verdict_stays_what_the_rules_gave(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    before = rows(warehouse, "FROM verdict ORDER BY turn_id")
    with serving(copying(verdict="설정대로 말함")) as script:
        draft(house, warehouse, script)
    assert rows(warehouse, "FROM verdict ORDER BY turn_id") == before


BROKEN = Step(status=500, body=b"out of memory")


def test_every_try_that_failed_is_kept_with_its_reason_and_what_came(
    house: House, warehouse: duckdb.DuckDBPyConnection
) -> None:
    with serving(copying(), BROKEN, Step(body=b"{half"), copying()) as script:
        result = draft(house, warehouse, script, drafts_at_once=1)
    assert outcomes(result) == {"kept": 3, "no_response": 1} and result.tally.requests == 5
    with serving(BROKEN, copying()) as script:
        again = draft(house, warehouse, script, drafts_at_once=1)
    assert outcomes(again) == {"kept": 4} and (again.tally.requests, again.tally.from_cache) == (2, 3)
    told = rows(
        warehouse,
        "SELECT outcome, reasons[1].code, raw, stands FROM draft_answer WHERE turn_id = 'T-7' ORDER BY asked_at",
    )
    assert told[:-1] == [
        ("no_response", "no_answer", raw, False) for raw in ("out of memory", "{half", "out of memory")
    ]
    assert told[-1][0] == "kept" and told[-1][3]
    assert rows(warehouse, "SELECT turn_id, outcome FROM draft ORDER BY ALL") == [
        (turn, "kept") for turn in sorted(TURNS)
    ]


def test_counts_are_of_answers_and_of_turns(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    with serving(BROKEN, copying(verdict="합격"), copying()) as script:
        draft(house, warehouse, script, drafts_at_once=1)
    counts = count_drafts(warehouse, DAY_2, DAY_2)
    assert [(row["outcome"], row["reason"], row["answers"], row["turns"]) for row in counts] == [
        ("kept", None, 3, 3),
        ("no_response", "no_answer", 1, 0),
        ("thrown_away", "v01_verdict_value", 1, 1),
    ]


def test_what_is_asked_anew_leaves_what_was_refused_before(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    with serving(REFUSED) as script:
        draft(house, warehouse, script)
    (house.data / "drafts.sqlite").unlink()
    with serving(copying()) as script:
        draft(house, warehouse, script)
    assert rows(warehouse, "SELECT outcome, stands, count(*) FROM draft_answer GROUP BY ALL ORDER BY ALL") == [
        ("kept", True, 4),
        ("thrown_away", False, 4),
    ]


@pytest.mark.parametrize(
    ("step", "words"),
    [(None, "the connection broke"), (Step(status=500), "the server answers 500"), (Step(seconds=9.0), "within 0.2 s")],
)
def test_where_nobody_answers_the_day_fails_and_nothing_is_kept_of_it(
    house: House, warehouse: duckdb.DuckDBPyConnection, step: Step | None, words: str
) -> None:
    with serving(step or copying()) as script:
        url = script.url if step else "http://127.0.0.1:9/v1"
        with pytest.raises(UserError, match=f"{words}.*; no request has an answer: .*set WH_JUDGE_DRAFTS_URL"):
            draft(house, warehouse, script, drafts_url=url, drafts_seconds=0.2)
    assert rows(warehouse, "FROM draft_row") == []


def test_a_question_that_a_server_refuses_is_no_server_that_is_silent(
    house: House, warehouse: duckdb.DuckDBPyConnection
) -> None:
    with serving(Step(status=400)) as script:
        assert draft(house, warehouse, script).tally.reasons == {"not_accepted": 4}


def test_who_watches_is_told_after_each_answer(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    told: list[str] = []
    token = day.WATCHER.set(lambda tally, turns: told.append(f"{tally.turns} of {turns}: {tally.so_far(priced=True)}"))
    try:
        with serving(copying(), REFUSED) as script:
            draft(house, warehouse, script, drafts_at_once=1, drafts_prices=(1.0, 1.0))
    finally:
        day.WATCHER.reset(token)
    assert told[0] == "1 of 4: 1 kept, 0 refused, 1,200 tokens, 0.0012"
    assert told[3] == "4 of 4: 1 kept, 3 refused, 4,800 tokens, 0.0048"


def test_the_cap_leaves_the_rest_unasked(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    with serving(copying()) as script:
        result = draft(house, warehouse, script, drafts_tokens=5000, drafts_at_once=1)
        assert 0 < len(script.requests) < 4
        assert result.tally.prompt_tokens + result.tally.response_tokens <= 5000
        assert result.tally.reasons["not_asked_cap"] == result.tally.no_response == 4 - len(script.requests)
        draft(house, warehouse, script)
    assert len(script.requests) == 4


def test_the_cap_is_the_day_s_however_often_it_goes_on(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    with serving(copying()) as script:
        first = draft(house, warehouse, script, drafts_tokens=5000, drafts_at_once=1)
        asked = len(script.requests)
        again = draft(house, warehouse, script, drafts_tokens=5000, drafts_at_once=1)
    assert 0 < asked == len(script.requests) < 4
    assert (first.tally.prompt_tokens, again.tally.prompt_tokens, again.tally.from_cache) == (asked * 1000, 0, asked)
    assert again.tally.reasons["not_asked_cap"] == 4 - asked


def test_tokens_that_no_server_counted_are_told_apart(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    content = copying().content
    with serving(copying(), Step(content, usage=None)) as script:
        first, again = (draft(house, warehouse, script, drafts_at_once=1).tally for _ in range(2))
    counted = first.prompt_tokens + first.response_tokens - first.estimated_tokens
    assert counted == 1200 and first.estimated_tokens > 0
    assert (again.estimated_tokens, again.cached_estimated_tokens) == (0, first.estimated_tokens)
    assert f"; {first.estimated_tokens:,} of all are estimates" in tally_lines(first, False)[-1]
    assert "estimates" not in tally_lines(again, False)[-1] and "estimates" in tally_lines(again, False)[-2]


def test_the_cap_on_money_is_the_day_s_too(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    capped = {"drafts_money": 0.005, "drafts_prices": (1.0, 1.0), "drafts_at_once": 1}
    with serving(Step(copying().content, usage=None)) as script:
        draft(house, warehouse, script, **capped)
        asked = len(script.requests)
        assert draft(house, warehouse, script, **capped).tally.money == 0.0
    assert 0 < asked == len(script.requests) < 4


def test_no_more_requests_are_under_way_than_may_be(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    slow = Step(copying().content, seconds=0.1)
    with serving(slow) as script:
        draft(house, warehouse, script, drafts_at_once=2)
    assert script.most_at_once == 2


def test_the_key_goes_to_the_endpoint_and_nowhere_else(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    with serving(copying()) as script:
        draft(house, warehouse, script)
        assert {headers["authorization"] for headers in script.headers} == {"Bearer secret"}
        assert "secret" not in house.settings.model_dump_json() + json.dumps(script.requests)
    assert "secret" not in str(rows(warehouse, "FROM draft_row"))


def test_a_draft_for_a_verdict_that_changed_is_none(house: House, warehouse: duckdb.DuckDBPyConnection) -> None:
    with serving(copying()) as script:
        draft(house, warehouse, script)
    house.cards(CARDS[0].model_copy(update={"canon_entities": ["검술원", "하늘", "리안"]}), *CARDS[1:])
    house.bring_in(warehouse)
    house.judge(warehouse, DAY_2)
    assert rows(warehouse, "SELECT turn_id FROM draft WHERE turn_id = 'T-8'") == []
    assert rows(warehouse, "SELECT summary IS NULL FROM draft_row WHERE turn_id = 'T-8'") == [(False,)]


@pytest.mark.parametrize("missing", ["drafts_url", "drafts_model"])
def test_without_an_endpoint_the_variables_are_named(
    house: House, warehouse: duckdb.DuckDBPyConnection, missing: str
) -> None:
    with serving(copying()) as script, pytest.raises(UserError, match=f"set .*{missing.upper()}"):
        draft(house, warehouse, script, **{missing: None})


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (None, "holds no answers (file is not a database); delete it, and what it held is asked again"),
        ("CREATE TABLE answer (hash TEXT)", "cannot be read or written: no such column: raw"),
    ],
)
def test_a_file_of_answers_that_is_none_is_named(
    table: str | None, words: str, house: House, warehouse: duckdb.DuckDBPyConnection
) -> None:
    path = house.data / "drafts.sqlite"
    if table is None:
        path.write_bytes(b"no database at all" * 100)
    else:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(table)
    with serving(copying()) as script, pytest.raises(UserError, match=re.escape(f"{path}: {words}")):
        draft(house, warehouse, script)
    assert not script.requests
