"""The weekly draws from the sample: what they hold, and that they are the same each time."""

import datetime as dt
from collections import Counter

import duckdb
import pytest

from wh_judge.errors import UserError
from wh_judge.review import terms
from wh_judge.review.decisions import Decision, Draft
from wh_judge.review.queues import (
    DRAWN,
    QUEUES,
    Queue,
    Task,
    Week,
    card_told,
    days_of,
    draw,
    judged_weeks,
    nearest_week,
    open_tasks,
    usual_week,
    week_of,
)
from wh_judge.review.terms import LEAST_READ, term_precision
from wh_judge.rules import RuleSettings
from wh_judge.rules.speech import is_polite
from wh_judge.text import has_hangul, sentences
from wh_judge_tests.review.build import book, draft, hit, name, undo

WEEK = "2026-W37"
DEFAULT = RuleSettings()


def tasks(
    connection: duckdb.DuckDBPyConnection, queue: Queue, week: str = WEEK, decisions: list[Decision] | None = None
) -> list[Task]:
    return draw(connection, queue, week, DEFAULT, decisions or [])


@pytest.mark.parametrize("day", [dt.date(2026, 9, 7), dt.date(2026, 9, 13), dt.date(2027, 1, 1), dt.date(2025, 12, 29)])
def test_a_day_lies_in_its_week(day: dt.date) -> None:
    first, last = days_of(week_of(day))
    assert first <= day <= last and (last - first).days == 6 and first.weekday() == 0


@pytest.mark.parametrize("week", ["", "2026", "2026-W54", "2026-W00", "W36-2026", "2026-W36'; DROP TABLE verdict"])
def test_what_is_no_week_is_refused(week: str) -> None:
    with pytest.raises(UserError, match="is no week; write it like 2026-W36"):
        days_of(week)


def test_the_weeks_of_the_verdicts_stand_newest_first_with_their_days(connection: duckdb.DuckDBPyConnection) -> None:
    weeks = judged_weeks(connection)
    assert [(week.name, week.first.day, week.last.day) for week in weeks] == [
        ("2026-W38", 14, 14), ("2026-W37", 7, 13), ("2026-W36", 1, 6),
    ]  # fmt: skip
    assert sum(week.turns for week in weeks) == 700


def one_week(first: str, last: str) -> Week:
    days = dt.date.fromisoformat(first), dt.date.fromisoformat(last)
    return Week(week_of(days[0]), *days, 1)


WHOLE, BEFORE = one_week("2026-09-07", "2026-09-13"), one_week("2026-08-31", "2026-09-02")
BEGUN = one_week("2026-09-14", "2026-09-14")


@pytest.mark.parametrize(
    ("weeks", "usual"),
    [
        ([WHOLE, BEFORE], WHOLE),
        ([BEGUN, WHOLE, BEFORE], WHOLE),
        # What has verdicts of later days is over, whole or not.
        ([BEGUN, BEFORE], BEFORE),
        ([BEGUN], BEGUN),
    ],
)
def test_without_a_week_it_is_the_newest_that_is_over(weeks: list[Week], usual: Week) -> None:
    assert usual_week(weeks) == usual.name


def test_without_verdicts_there_is_no_week() -> None:
    with duckdb.connect() as empty:
        empty.execute("CREATE TABLE verdict (day DATE)")
        with pytest.raises(UserError, match="no verdicts yet"):
            judged_weeks(empty)


@pytest.mark.parametrize(
    ("queue", "week", "near"),
    [
        ("forbidden", "2020-W01", "2026-W36"),
        ("forbidden", "2026-W39", "2026-W38"),
        ("forbidden", "2026-W37", "2026-W38"),
        ("names", "2020-W01", "2026-W38"),
        ("names", "2026-W38", None),
    ],
)
def test_the_nearest_week_that_has_something(
    connection: duckdb.DuckDBPyConnection, queue: Queue, week: str, near: str | None
) -> None:
    assert nearest_week(connection, queue, week, judged_weeks(connection), DEFAULT, []) == near


def test_a_task_tells_the_card_in_words(connection: duckdb.DuckDBPyConnection) -> None:
    for queue in QUEUES:
        assert all(task.data["card"].startswith("말투: ") for task in tasks(connection, queue))
    card = {"honorific_rule": None, "first_person": "나", "canon_entities": ["가"] * 41, "forbidden_topics": []}
    told = card_told(card | {"entity_roles": [{"role": "동생", "entity": "하늘"}]})
    assert told.startswith("말투: 정해 두지 않음 · 1인칭: 나 · 세계관의 이름: 가, ")
    assert told.endswith("가 … 모두 41개 · 금지 소재: 없음 · 관계: 동생 → 하늘")


@pytest.mark.parametrize("queue", QUEUES)
def test_the_same_week_gives_the_same_draw(connection: duckdb.DuckDBPyConnection, queue: Queue) -> None:
    first = tasks(connection, queue)
    assert first and first == tasks(connection, queue)
    assert len({task.task_id for task in first}) == len(first)


def test_twenty_turns_of_the_week_that_touch_a_forbidden_topic(connection: duckdb.DuckDBPyConnection) -> None:
    found = tasks(connection, "forbidden")
    assert len(found) == DRAWN
    for task in found:
        assert task.term and task.term in task.data["reply_text"] and task.topic
        assert days_of(WEEK)[0] <= dt.date.fromisoformat(task.data["day"]) <= days_of(WEEK)[1]
    assert {task.turn_id for task in found} != {task.turn_id for task in tasks(connection, "forbidden", "2026-W36")}


def test_a_draw_is_no_first_come(connection: duckdb.DuckDBPyConnection) -> None:
    found = [task.turn_id or "" for task in tasks(connection, "speech")]
    assert found != sorted(found, key=lambda turn_id: (len(turn_id), turn_id))


def test_off_canon_names_stand_most_frequent_first(connection: duckdb.DuckDBPyConnection) -> None:
    found = tasks(connection, "names", "2026-W38")
    counts = [task.data["count"] for task in found]
    assert counts == sorted(counts, reverse=True)
    listed = connection.execute("SELECT character_id, unnest(off_canon_entities) FROM verdict").fetchall()
    assert {(task.character_id, task.name): task.data["count"] for task in found} == Counter(listed)
    assert all(task.name and task.data["turns"][0]["reply_text"] for task in found)


def test_a_name_is_shown_with_the_canon_name_it_may_be_meant_for(connection: duckdb.DuckDBPyConnection) -> None:
    closest = {task.name: task.data["closest"] for task in tasks(connection, "names", "2026-W38")}
    assert (closest["유진 씨"][0]["name"], closest["유진 씨"][0]["how"]) == ("유진", "particle")
    assert closest["백운선생"] == []


@pytest.mark.parametrize("choice", ["add", "block", "mistake"])
def test_a_name_that_is_decided_is_not_asked_about_again(connection: duckdb.DuckDBPyConnection, choice: str) -> None:
    before = tasks(connection, "names")
    chosen = before[0]
    decided = book(name(choice, chosen.name or "", chosen.character_id or ""))
    assert tasks(connection, "names", decisions=decided) == before[1:]


def test_what_is_decided_stays_in_the_draw_and_says_so(connection: duckdb.DuckDBPyConnection) -> None:
    before = tasks(connection, "forbidden")
    one = before[3]
    after = tasks(
        connection, "forbidden", decisions=book(hit("harmless", one.turn_id or "", one.term or "", one.topic or ""))
    )
    assert [task.task_id for task in after] == [task.task_id for task in before]
    assert after[3].decided == "harmless" and len(open_tasks(after)) == DRAWN - 1


def test_replies_that_mix_speech_levels_are_those_of_the_reference(connection: duckdb.DuckDBPyConnection) -> None:
    drawn = tasks(connection, "speech")
    replies = dict(
        connection.execute("SELECT turn_id, reply_text FROM chat_turn WHERE reply_text IS NOT NULL").fetchall()
    )
    for task in drawn:
        spoken = [is_polite(s, DEFAULT) for s in sentences(replies[task.turn_id]) if has_hangul(s)]
        assert (task.data["polite"], task.data["sentences"]) == (sum(spoken), len(spoken))
        assert 0 < sum(spoken) < len(spoken)
        polite = [s.strip() for s in sentences(replies[task.turn_id]) if has_hangul(s) and is_polite(s, DEFAULT)]
        assert task.data["polite_sentences"] == " / ".join(polite)
    assert 0 < len(drawn) <= DRAWN


def test_a_harmless_hit_counts_against_its_term(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terms, "LEAST_READ", 1)
    found = tasks(connection, "forbidden")
    by_term: dict[tuple[str, str], list[str]] = {}
    for task in found:
        by_term.setdefault((task.term or "", task.topic or ""), []).append(task.turn_id or "")
    (bad, bad_turns), (good, good_turns), (mixed, mixed_turns), *_ = sorted(
        by_term.items(), key=lambda row: -len(row[1])
    )[::-1][-3:]
    drafts = [hit("harmless", turn_id, *bad) for turn_id in bad_turns]
    drafts += [hit("harmful", turn_id, *good) for turn_id in good_turns]
    drafts += [hit("harmless" if n else "harmful", turn_id, *mixed) for n, turn_id in enumerate(mixed_turns)]
    rows = term_precision(connection, book(*drafts))
    assert [(row.term, row.proposal) for row in rows] == [(bad[0], "drop"), (mixed[0], "narrow"), (good[0], "keep")]
    assert [row.precision for row in rows] == [0.0, 1 / len(mixed_turns), 1.0]
    assert all(bad[0] in text for text in rows[0].around) and rows[0].around
    assert all(row.hits >= row.harmful for row in rows)


@pytest.mark.parametrize(
    ("harmful", "harmless", "proposal"),
    [
        (0, 1, None),
        (0, LEAST_READ - 1, None),
        (1, LEAST_READ - 2, None),
        (0, LEAST_READ, "drop"),
        (1, LEAST_READ - 1, "narrow"),
        (LEAST_READ, 0, "keep"),
    ],
)
def test_nothing_is_proposed_of_a_term_of_which_few_hits_were_read(
    harmful: int, harmless: int, proposal: str | None, connection: duckdb.DuckDBPyConnection
) -> None:
    read = ["harmful"] * harmful + ["harmless"] * harmless
    drafts = [hit(choice, f"T-{place}", "과음", "음주") for place, choice in enumerate(read)]
    [row] = term_precision(connection, book(*drafts))
    assert (row.harmful, row.harmless, row.proposal) == (harmful, harmless, proposal)


@pytest.mark.parametrize(
    ("drafts", "decided"),
    [
        ([], None),
        ([draft("term", "drop", term="과음", topic="음주")], "drop"),
        ([draft("term", "keep", term="과음", topic="건강")], None),
        ([draft("term", "drop", term="과음", topic="음주"), undo("D-2")], None),
    ],
)
def test_what_is_decided_of_a_term_stands_beside_the_proposal(
    drafts: list[Draft], decided: str | None, connection: duckdb.DuckDBPyConnection
) -> None:
    [row] = term_precision(connection, book(hit("harmless", "T-1", "과음", "음주"), *drafts))
    assert row.decided == decided


def test_nobody_read_anything_is_no_precision(connection: duckdb.DuckDBPyConnection) -> None:
    assert term_precision(connection, book(draft("trailing", "ignore"))) == []
