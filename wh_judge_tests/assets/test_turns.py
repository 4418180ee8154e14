"""`turns`: a day of the log, and what a person should know of it."""

import dagster as dg

from wh_judge.model import TURN_SCHEMA
from wh_judge_tests.assets.graph import Ran, checks, values
from wh_judge_tests.house import DAY_1, DAY_2, DAY_3, LOG

WARN = dg.AssetCheckSeverity.WARN


def test_a_day_carries_its_numbers(ran: Ran) -> None:
    found = ran.metadata("turns", DAY_2)
    numbers = {name: value for name, value in found.items() if isinstance(value, int)}
    assert numbers == {
        "dagster/row_count": 6,
        "sessions": 6,
        "replies_missing": 1,
        "names_missing": 1,
        "first_person_missing": 1,
    }


def test_a_day_carries_a_preview(ran: Ran) -> None:
    lines = ran.metadata("turns", DAY_3)["preview"].splitlines()
    assert lines[0] == "| turn_id | user_message | reply_text |"
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| T-11", "| T-14", "| T-15", "| T-16", "| T-17", "| T-18"]


def test_a_preview_of_hostile_text_is_text(ran: Ran) -> None:
    preview = ran.metadata("turns", DAY_3)["preview"]
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &#124; &#96;선거&#96; |" in preview
    assert "<script" not in preview


def test_the_column_schema_is_the_model_s(ran: Ran) -> None:
    schema = ran.metadata("turns", DAY_1)["dagster/column_schema"]
    assert [column.name for column in schema.columns] == TURN_SCHEMA.names


def test_a_bad_row_anywhere_in_the_log_is_warned_of(ran: Ran) -> None:
    for day in (DAY_1, DAY_2, DAY_3):
        check = ran.check("turns", "rows_accepted", day)
        assert (check.passed, check.severity) == (False, WARN)
        assert (values(check)["rejected"], values(check)["noted"]) == (1, 0)
        assert "| rejected | turns/2026-09-02.jsonl | 7 | character&#95;id is missing" in values(check)["rows"]


def test_a_bad_row_holds_nothing_up(ran: Ran) -> None:
    assert ran.runs[str(DAY_2)].success
    assert ran.metadata("turns", DAY_2)["dagster/row_count"] == 6


def test_a_corrected_file_is_warned_of_no_longer(copy: Ran) -> None:
    copy.house.log(str(DAY_2), *LOG.day_2[:-1])
    check = checks(copy.materialize(["turns"], DAY_1))["turns", "rows_accepted"]
    assert check.passed
    assert values(check) == {"rejected": 0, "noted": 0, "rows_normalised_to_nfc": 0}


def test_characters_without_a_card_are_warned_of_on_their_day(ran: Ran) -> None:
    check = ran.check("turns", "characters_have_cards", DAY_1)
    assert (check.passed, check.severity) == (False, WARN)
    assert values(check)["turns"] == 1
    assert values(check)["characters"].splitlines()[2:] == ["| C-9 | 1 |"]
    assert ran.check("turns", "characters_have_cards", DAY_2).passed


def test_sessions_whose_order_disagrees_with_time_are_warned_of(ran: Ran) -> None:
    assert ran.check("turns", "turn_order_follows_time", DAY_1).passed
    check = ran.check("turns", "turn_order_follows_time", DAY_2)
    assert (check.passed, check.severity) == (False, WARN)
    assert values(check)["sessions"] == 1
    assert values(check)["first"].splitlines()[2:] == ["| S-back | T-11 | T-12 |"]


def test_the_suite_is_run_on_the_day(ran: Ran) -> None:
    check = ran.check("turns", "suite", DAY_1)
    assert (check.passed, check.severity) == (False, WARN), "C-9 has no card"
    assert values(check)["rows"] == 5
    assert ran.check("turns", "suite", DAY_2).passed
    assert values(ran.check("turns", "suite", DAY_2))["data_docs"].endswith("/chat_turn/2026-09-02.html")


def test_checks_of_a_day_know_their_day(ran: Ran) -> None:
    found = {check.partition for (asset, _), check in checks(ran.runs[str(DAY_2)]).items() if asset == "turns"}
    assert found <= {str(DAY_2), None}
    assert ran.check("turns", "suite", DAY_2).partition == str(DAY_2)


def test_a_day_without_turns_says_that_nothing_could_fail(copy: Ran) -> None:
    result = copy.materialize(["turns"], "2026-09-05")
    assert result.success
    check = checks(result)["turns", "suite"]
    assert (check.passed, values(check)["note"]) == (True, "no rows, so nothing could fail")
