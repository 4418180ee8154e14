"""A day: when its verdicts no longer follow from the inputs, and how they are replaced."""

import datetime as dt
import json
from collections import Counter
from collections.abc import Sequence

import duckdb
import pyarrow as pa
import pytest

from wh_judge.inputs import TABLES
from wh_judge.judge import Judgement, judge
from wh_judge.model import VERDICT_SCHEMA
from wh_judge.model import VERDICTS as VERDICT_VALUES
from wh_judge.rules import RuleSettings, rules_version
from wh_judge.store import inputs_version
from wh_judge.store.log_files import ingest_log
from wh_judge.store.plan import plan_day, read_inputs
from wh_judge.store.tables import replace_table
from wh_judge.store.verdicts import day_facts, judged_versions, read_judged, read_verdicts
from wh_judge.validations import VALIDATIONS
from wh_judge.validations.summary import SUMMARY
from wh_judge_tests.builders import card, turn
from wh_judge_tests.house import (
    CARDS,
    DAY_1,
    DAY_2,
    DAY_3,
    DAYS,
    LEXICON,
    LOG,
    SPOILT,
    VERDICTS,
    House,
    at,
    rows,
    spoilt,
    tables,
)

Connection = duckdb.DuckDBPyConnection


def replace_cards(connection: Connection, house: House, *changed: str, **cells: object) -> None:
    """Change these characters' cards."""
    house.cards(*(row.model_copy(update=cells if row.character_id in changed else {}) for row in CARDS))
    replace_table(connection, TABLES["character_card"], house.inputs / "cards.json")


def test_a_day_without_verdicts_is_stale(new_house: House) -> None:
    with new_house.warehouse() as connection:
        new_house.bring_in(connection)
        assert new_house.stale(connection) == DAYS
        new_house.judge(connection, DAY_2)
        assert new_house.stale(connection) == [DAY_1, DAY_3]


def test_the_verdicts_of_the_log_are_those_that_it_was_made_for(warehouse: Connection) -> None:
    assert dict(rows(warehouse, "SELECT turn_id, verdict FROM verdict")) == VERDICTS
    assert rows(warehouse, "SELECT turn_id, reason FROM unjudged") == [("T-5", "no card for character C-9")]


def test_where_nothing_changed_no_day_is_stale(warehouse: Connection, house: House) -> None:
    house.bring_in(warehouse)
    assert house.stale(warehouse) == []


@pytest.mark.parametrize(
    ("character", "expected"),
    [("C-1", DAYS), ("C-2", [DAY_1, DAY_2]), ("C-3", [DAY_3])],
)
def test_a_changed_card_makes_the_days_of_its_character_stale(
    character: str, expected: list[dt.date], warehouse: Connection, house: House
) -> None:
    replace_cards(warehouse, house, character, canon_entities=["검술원", "하늘", "리안"])
    assert house.stale(warehouse) == expected


def test_a_new_card_makes_the_days_of_its_character_stale(warehouse: Connection, house: House) -> None:
    house.cards(*CARDS, card("C-9"), card("C-10"))
    replace_table(warehouse, TABLES["character_card"], house.inputs / "cards.json")
    assert house.stale(warehouse) == [DAY_1]
    house.judge(warehouse, DAY_1)
    assert rows(warehouse, "SELECT verdict FROM verdict WHERE turn_id = 'T-5'") == [("설정대로 말함",)]
    assert day_facts(warehouse, DAY_1, 1).unjudged == 0


def test_a_card_that_is_gone_makes_the_days_of_its_character_stale(warehouse: Connection, house: House) -> None:
    house.cards(*CARDS[:2])
    replace_table(warehouse, TABLES["character_card"], house.inputs / "cards.json")
    assert house.stale(warehouse) == [DAY_3]
    house.judge(warehouse, DAY_3)
    assert rows(warehouse, "SELECT turn_id FROM unjudged WHERE day = ? ORDER BY turn_id", DAY_3) == [
        ("T-14",),
        ("T-15",),
    ]


@pytest.mark.parametrize(
    "lexicon",
    [LEXICON[1:], (*LEXICON, ("카지노", "도박")), tuple(reversed(LEXICON)), (*LEXICON[:2], ("주사위", "놀이"))],
    ids=["less", "more", "order", "topic"],
)
def test_a_changed_lexicon_makes_every_day_stale(
    lexicon: Sequence[tuple[str, str]], warehouse: Connection, house: House
) -> None:
    house.lexicon(*lexicon)
    replace_table(warehouse, TABLES["topic_lexicon"], house.inputs / "lexicon.csv")
    assert house.stale(warehouse) == DAYS


def test_other_endings_make_every_day_stale(warehouse: Connection, house: House) -> None:
    assert house.stale(warehouse) == []
    house.options["endings"] = RuleSettings().endings[:-1]
    assert house.stale(warehouse) == DAYS


def test_another_version_of_the_rules_makes_every_day_stale(
    warehouse: Connection, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs_version, "rules_version", lambda: "other")
    assert house.stale(warehouse) == DAYS


def test_labels_make_no_day_stale(warehouse: Connection, house: House) -> None:
    replace_table(warehouse, TABLES["gold_label"], house.inputs / "gold.csv")
    assert house.stale(warehouse) == []


def test_what_was_said_on_an_earlier_day_makes_the_day_stale_that_asks(warehouse: Connection, house: House) -> None:
    lines = [line for line in LOG.day_1 if line != LOG.day_1[3]]
    house.log(str(DAY_1), *lines, turn("T-4", turn_at=at(1, 4), session_id="S-recall", named_entities=["무명"]))
    ingest_log(warehouse, house.turns)
    assert house.stale(warehouse) == [DAY_1, DAY_2]
    house.judge(warehouse, DAY_2)
    assert rows(warehouse, "SELECT verdict, recall_source_turn FROM verdict WHERE turn_id = 'T-6'") == [
        ("설정대로 말함", None),
    ]


def test_what_was_said_on_a_later_day_under_an_earlier_turn_id_counts_too(warehouse: Connection, house: House) -> None:
    assert rows(warehouse, "SELECT recall_source_turn FROM verdict WHERE turn_id = 'T-12'") == [("T-11",)]
    house.log(str(DAY_3), *LOG.day_3[1:], turn("T-11", turn_at=at(3, 11), session_id="S-back"))
    ingest_log(warehouse, house.turns)
    assert house.stale(warehouse) == [DAY_2, DAY_3]


def test_what_the_cited_reply_says_counts_too(warehouse: Connection, house: House) -> None:
    said = turn("T-4", turn_at=at(1, 4), session_id="S-recall", named_entities=["하늘"], reply_text="하늘이가 왔어.")
    house.log(str(DAY_1), *LOG.day_1[:3], said, *LOG.day_1[4:])
    ingest_log(warehouse, house.turns)
    assert house.stale(warehouse) == [DAY_1, DAY_2]


@pytest.mark.parametrize("day", [1, 3])
def test_a_session_in_which_the_other_days_ask_nothing_makes_only_its_own_day_stale(
    day: int, warehouse: Connection, house: House
) -> None:
    house.log("more", turn("T-0", turn_at=at(day), session_id="S of T-8", named_entities=["하늘"]))
    ingest_log(warehouse, house.turns)
    assert house.stale(warehouse) == [DAYS[day - 1]]


def test_a_later_mention_of_the_same_name_makes_only_its_own_day_stale(warehouse: Connection, house: House) -> None:
    house.log("more", turn("T-5.5", turn_at=at(3), session_id="S-recall", named_entities=["하늘"]))
    ingest_log(warehouse, house.turns)
    assert house.stale(warehouse) == [DAY_3], "T-4 named it first"


def test_the_verdicts_of_a_day_whose_turns_are_gone_go_too(warehouse: Connection, house: House) -> None:
    house.log(str(DAY_3))
    ingest_log(warehouse, house.turns)
    assert DAY_3 in house.stale(warehouse)
    assert house.judge(warehouse, DAY_3).committed
    assert read_verdicts(warehouse, DAY_3).num_rows == 0
    assert DAY_3 not in house.stale(warehouse)


def test_verdicts_that_stand_since_there_were_fewer_validations_are_counted_where_they_were_looked_at(
    warehouse: Connection, house: House
) -> None:
    """A new validation makes no day stale: it looks at what is judged from then on."""
    before = house.judge(warehouse, DAY_2).validations
    warehouse.execute("UPDATE outcome SET checks = checks[:-2]")
    replace_cards(warehouse, house, "C-2", first_person="이몸")
    result = house.judge(warehouse, DAY_2)
    assert (result.committed, result.judged) == (True, 1)
    assert [entry.looked_at for entry in result.validations] == [entry.looked_at for entry in before]
    assert [entry.passed + entry.not_applicable for entry in result.validations] == [
        *(entry.looked_at for entry in before[:-1]),
        result.judged,
    ]


@pytest.mark.parametrize("order", [(2, 1, 0), (1, 2, 0), (2, 0, 1)])
def test_days_may_be_judged_in_any_order(order: tuple[int, ...], warehouse: Connection, house: House) -> None:
    expected = tables(warehouse)
    for name in ("verdict_row", "unjudged", "outcome", "judged_day", "validation"):
        warehouse.execute(f"DELETE FROM {name}")
    for day in order:
        house.judge(warehouse, DAYS[day])
    assert tables(warehouse) == expected


def test_files_may_come_one_by_one_with_every_day_judged_in_between(house: House) -> None:
    with house.warehouse() as connection:
        expected = tables(connection)
    house.settings.warehouse.unlink()
    for path in house.turns.iterdir():
        path.unlink()
    for day, lines in [(DAY_3, LOG.day_3), (DAY_1, LOG.day_1), (DAY_2, LOG.day_2)]:
        house.log(str(day), *lines)
        with house.warehouse() as connection:
            house.bring_in(connection)
            for stale in house.stale(connection):
                assert house.judge(connection, stale).committed
    with house.warehouse() as connection:
        assert tables(connection) == expected


def test_a_day_that_is_judged_twice_changes_nothing(warehouse: Connection, house: House) -> None:
    before = tables(warehouse, runs=True)
    result = house.judge(warehouse, DAY_2, "second")
    assert (result.committed, result.written) == (True, 0)
    assert tables(warehouse, runs=True) == before, "not even the run that it came from"


def test_a_day_that_changed_says_which_run_changed_it(warehouse: Connection, house: House) -> None:
    replace_cards(warehouse, house, "C-3", honorific_rule="존댓말")
    result = house.judge(warehouse, DAY_3, "second")
    assert (result.committed, result.written) == (True, 2)
    assert rows(warehouse, "SELECT day, run_id FROM judged_day ORDER BY day") == [
        (DAY_1, f"first {DAY_1}"),
        (DAY_2, f"first {DAY_2}"),
        (DAY_3, "second"),
    ]


def test_equal_verdicts_from_other_inputs_count_as_judged(warehouse: Connection, house: House) -> None:
    """The verdict is written, since it names the version of its turn, and has not changed."""
    house.log(str(DAY_3), turn("T-11", turn_at=at(3, 59), session_id="S-back", named_entities=["하늘"]), *LOG.day_3[1:])
    ingest_log(warehouse, house.turns)
    assert house.stale(warehouse) == [DAY_3]
    before = read_verdicts(warehouse, DAY_3).sort_by("turn_id")
    result = house.judge(warehouse, DAY_3)
    assert (result.written, result.changes) == (1, [])
    assert read_verdicts(warehouse, DAY_3).sort_by("turn_id") == before
    assert house.stale(warehouse) == []


def test_a_day_s_version_is_that_of_its_rows(warehouse: Connection, house: House) -> None:
    before = judged_versions(warehouse)
    assert house.judge(warehouse, DAY_2).version == before[DAY_2]
    replace_cards(warehouse, house, "C-3", honorific_rule="존댓말")
    after = {day: house.judge(warehouse, day).version for day in DAYS}
    assert [day for day in DAYS if after[day] != before[day]] == [DAY_3]
    assert judged_versions(warehouse) == after


def test_verdicts_keep_what_they_were_judged_by(warehouse: Connection) -> None:
    found = rows(
        warehouse,
        """SELECT DISTINCT card_version = character_card.version, turn_version = turn_row.row_hash,
                  settings_version, code_version
           FROM verdict JOIN character_card USING (character_id) JOIN turn_row USING (turn_id)""",
    )
    assert found == [(True, True, "endings=" + ",".join(RuleSettings().endings), rules_version())]


def test_verdicts_keep_the_lexicon_rows_and_the_mentions_that_they_rest_on(warehouse: Connection) -> None:
    sql = "SELECT turn_id, lexicon_rows, mentions FROM verdict WHERE lexicon_rows <> [] OR mentions <> [] ORDER BY ALL"
    politics, dice = {"term": "선거", "topic": "현실 정치"}, {"term": "주사위", "topic": "도박"}
    assert rows(warehouse, sql) == [
        ("T-12", [], [{"entity": "하늘", "turn_id": "T-11"}]),
        ("T-15", [politics], []),
        ("T-18", [{"term": "축제", "topic": "행사"}, dice], []),
        ("T-6", [], [{"entity": "하늘", "turn_id": "T-4"}]),
        ("T-7", [politics], []),
    ]


def test_every_validation_of_a_day_is_kept(warehouse: Connection) -> None:
    found = rows(warehouse, f"SELECT code, looked_at, failed FROM validation WHERE day = '{DAY_2}' ORDER BY code")
    assert found == sorted((validation.code, 6, 0) for validation in VALIDATIONS)


def test_a_day_that_fails_keeps_its_old_verdicts(warehouse: Connection, house: House) -> None:
    replace_cards(warehouse, house, "C-1", first_person="저")
    before = tables(warehouse)
    result = house.judge(warehouse, DAY_2, "bad", change=spoilt)
    assert (result.committed, result.written) == (False, 0)
    assert [entry.code for entry in result.validations if not entry.ok] == [SUMMARY.code]
    after = tables(warehouse)
    for name in ("verdict", "unjudged", "judged_day"):
        assert after[name] == before[name]


def test_a_day_that_fails_stays_stale(warehouse: Connection, house: House) -> None:
    replace_cards(warehouse, house, "C-2", canon_entities=[])
    assert house.judge(warehouse, DAY_1).committed
    house.judge(warehouse, DAY_2, "bad", change=spoilt)
    assert house.stale(warehouse) == [DAY_2]


def test_the_failing_rows_are_kept_for_inspection(warehouse: Connection, house: House) -> None:
    replace_cards(warehouse, house, "C-1", first_person="저")
    house.judge(warehouse, DAY_2, "bad", change=spoilt)
    [(day, code, turn_id, reason, verdict, run_id)] = rows(warehouse, "SELECT * FROM failed_row")
    assert (day, code, turn_id, run_id) == (DAY_2, SUMMARY.code, "T-7", "bad")
    assert reason.startswith("summary: expected ")
    assert json.loads(verdict)["summary"] == SPOILT
    assert rows(warehouse, f"SELECT code, failed, run_id FROM validation WHERE failed > 0 AND day = '{DAY_2}'") == [
        (SUMMARY.code, 1, "bad"),
    ]


def test_failing_rows_go_when_the_day_succeeds(warehouse: Connection, house: House) -> None:
    before = tables(warehouse)
    replace_cards(warehouse, house, "C-1", first_person="저")
    assert not house.judge(warehouse, DAY_2, "bad", change=spoilt).committed
    replace_cards(warehouse, house)
    assert house.judge(warehouse, DAY_2).committed
    assert tables(warehouse) == before


def test_a_day_that_fails_the_first_time_has_no_verdicts(new_house: House) -> None:
    with new_house.warehouse() as connection:
        new_house.bring_in(connection)
        new_house.judge(connection, DAY_2, "bad", change=spoilt)
        assert rows(connection, "SELECT count(*) FROM verdict") == [(0,)]
        assert new_house.stale(connection) == DAYS


def test_a_day_that_something_else_speaks_against_is_not_committed(warehouse: Connection, house: House) -> None:
    replace_cards(warehouse, house, "C-1", first_person="저")
    before = tables(warehouse)
    result = house.judge(warehouse, DAY_2, sound=False)
    assert not result.committed
    assert all(entry.ok for entry in result.validations)
    assert tables(warehouse)["verdict"] == before["verdict"]


def test_a_validation_that_breaks_down_leaves_everything_as_it_was(warehouse: Connection, house: House) -> None:
    replace_cards(warehouse, house, "C-1", first_person="저")
    before = tables(warehouse, runs=True)

    def breaks(rows: pa.Table) -> None:
        raise RecursionError

    with pytest.raises(RecursionError):
        house.judge(warehouse, DAY_2, seen=breaks)
    assert tables(warehouse, runs=True) == before
    assert house.judge(warehouse, DAY_2).committed


def test_validations_see_the_rows_as_they_were_written(new_house: House) -> None:
    judgements: list[Judgement] = []
    seen: list[pa.Table] = []

    def note(judgement: Judgement) -> Judgement:
        judgements.append(judgement)
        return judgement

    with new_house.warehouse() as connection:
        new_house.bring_in(connection)
        new_house.judge(connection, DAY_2, change=note, seen=seen.append)
        assert seen == [judgements[0].verdicts]
        assert read_verdicts(connection, DAY_2) == judgements[0].verdicts


def test_verdicts_are_read_in_turn_order_in_their_schema(warehouse: Connection) -> None:
    table = read_verdicts(warehouse, DAY_2)
    assert table.schema == VERDICT_SCHEMA
    assert table["turn_id"].to_pylist() == ["T-6", "T-7", "T-8", "T-9", "T-10", "T-12"]


def test_a_day_is_summed_up(warehouse: Connection) -> None:
    facts, table = day_facts(warehouse, DAY_2, 2), read_verdicts(warehouse, DAY_2)
    assert facts.rows == table.num_rows
    assert facts.verdicts == Counter(table["verdict"].to_pylist())
    assert facts.notes == Counter(note for notes in table["notes"].to_pylist() for note in notes)
    diverging = [row for row in table.to_pylist() if row["verdict"] != VERDICT_VALUES[0]]
    assert facts.first_diverging.to_pylist() == [
        {name: row[name] for name in ("turn_id", "verdict", "summary")} for row in diverging[:2]
    ]


def test_a_day_is_judged_from_its_own_cards_and_the_mentions_that_it_asks_for(new_house: House) -> None:
    with new_house.warehouse() as connection:
        new_house.bring_in(connection)
        plan = plan_day(connection, DAY_2, RuleSettings())
        [inputs] = read_inputs(connection, plan)
        assert inputs.cards["character_id"].to_pylist() == ["C-1", "C-2"]
        mentions = [(row["session_id"], row["entity"], row["turn_id"]) for row in inputs.earlier.to_pylist()]
        assert mentions == [("S-back", "하늘", "T-11"), ("S-recall", "하늘", "T-4")]
        plan = plan_day(connection, DAY_1, RuleSettings())
        assert [each.earlier.num_rows for each in read_inputs(connection, plan)] == [0]


def test_turns_of_other_days_that_are_cited_are_there_for_the_validations(new_house: House) -> None:
    with new_house.warehouse() as connection:
        new_house.bring_in(connection)
        day = plan_day(connection, DAY_2, RuleSettings())
        [inputs] = read_inputs(connection, day)
        judgement = judge(inputs.turns, inputs.cards, inputs.lexicon, day.settings, inputs.earlier)
        judged = read_judged(connection, day, inputs, judgement.verdicts)
    known = {*judged.turns["turn_id"].to_pylist(), *judged.cited["turn_id"].to_pylist()}
    assert known == {"T-4", "T-6", "T-7", "T-8", "T-9", "T-10", "T-11", "T-12"}


def test_a_day_of_which_some_turns_are_judged_again_is_validated_whole(warehouse: Connection, house: House) -> None:
    replace_cards(warehouse, house, "C-2", first_person="이몸")
    result = house.judge(warehouse, DAY_2, "second")
    assert result.written == 1
    assert {(entry.looked_at, entry.passed + entry.not_applicable) for entry in result.validations} == {(6, 6)}
    kept = rows(warehouse, f"SELECT DISTINCT looked_at FROM validation WHERE day = '{DAY_2}'")
    assert kept == [(6,)]


def test_what_else_must_hold_is_asked_of_all_verdicts_of_the_day(warehouse: Connection, house: House) -> None:
    seen: list[pa.Table] = []
    replace_cards(warehouse, house, "C-2", first_person="이몸")
    house.judge(warehouse, DAY_2, seen=seen.append)
    assert set(seen[0]["turn_id"].to_pylist()) == {"T-6", "T-7", "T-8", "T-9", "T-10", "T-12"}


def test_a_day_of_which_a_part_fails_stays_as_it_was(warehouse: Connection, house: House) -> None:
    """Verdicts, history, changes and outcomes; T-9 alone is judged again."""
    replace_cards(warehouse, house, "C-2", first_person="이몸")
    names = ("verdict_row", "verdict_closed", "verdict_change", "outcome", "unjudged", "judged_day")
    before = {name: rows(warehouse, f"SELECT * FROM {name} ORDER BY ALL") for name in names}
    result = house.judge(warehouse, DAY_2, "bad", change=spoilt)
    assert (result.committed, result.changes) == (False, ())
    assert [(entry.code, entry.looked_at, entry.failed) for entry in result.validations if not entry.ok] == [
        (SUMMARY.code, 6, 1),
    ]
    assert {name: rows(warehouse, f"SELECT * FROM {name} ORDER BY ALL") for name in names} == before
    assert rows(warehouse, "SELECT day FROM failed_day") == [(DAY_2,)]
