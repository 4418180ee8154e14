"""`wh-judge backfill`."""

import json
from pathlib import Path

import pytest

from wh_judge_tests.cli.call import Result, call
from wh_judge_tests.cli.home import Home
from wh_judge_tests.house import DAY_2, DAYS, rows, settle
from wh_judge_tests.plain import make_plain


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, Result]:
    """A house in which only the second day and days without turns were asked for, and what was printed."""
    root = tmp_path_factory.mktemp("filled")
    settle(root)
    home = Home(root)
    with pytest.MonkeyPatch.context() as monkeypatch:
        make_plain(monkeypatch)
        monkeypatch.setenv("DAGSTER_HOME", str(home.folder))
        monkeypatch.chdir(root)
        return home, call("backfill", "2026-09-02", "2026-09-02", "--json", *home.flags)


def test_the_days_asked_for_are_judged(filled: tuple[Home, Result]) -> None:
    home, (code, out, error) = filled
    document = json.loads(out)
    assert (code, error) == (1, ""), "there is a bad row"
    assert document["run"]["days_judged"] == [str(DAY_2)]
    assert document["run"]["dagster_runs"] == 3
    with home.warehouse() as connection:
        assert rows(connection, "SELECT day FROM judged_day") == [(DAY_2,)]


def test_the_whole_log_is_brought_in(filled: tuple[Home, Result]) -> None:
    """A turn of another day may be what is asked for."""
    with filled[0].warehouse() as connection:
        assert rows(connection, "SELECT count(*) FROM chat_turn") == [(17,)]
        assert rows(connection, "SELECT recall_source_turn FROM verdict WHERE turn_id = 'T-6'") == [("T-4",)]


def test_everything_is_measured_and_published(filled: tuple[Home, Result]) -> None:
    home, result = filled
    assert json.loads(result.out)["gold_agreement"]["found"] == 1
    assert (home.settings.published / "current").is_file()


def test_days_that_were_not_asked_for_stay_stale(filled: tuple[Home, Result]) -> None:
    with filled[0].warehouse() as connection:
        assert filled[0].stale(connection) == [day for day in DAYS if day != DAY_2]


def test_days_without_a_turn_are_told(filled: tuple[Home, Result]) -> None:
    home = filled[0]
    code, out, error = call("backfill", "1999-01-01", "1999-01-02", *home.flags)
    assert (code, out) == (2, "")
    assert f"no turns lie on these days; the log has turns from {min(DAYS)} to {max(DAYS)}" in error


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["2026-09-03", "2026-09-01"], "wh-judge: FROM 2026-09-03 lies after TO 2026-09-01; swap them"),
        (["2026-09-03"], "Error: Missing argument 'TO'."),
        (["gestern", "2026-09-01"], "Error: Invalid value for 'FROM': 'gestern' does not match the format '%Y-%m-%d'."),
        (["2026-09-01", "2026-02-30"], "Error: Invalid value for 'TO': '2026-02-30' does not match"),
    ],
    ids=["backwards", "one day", "no day", "a day that is none"],
)
def test_bad_usage_is_2_and_nothing_is_written(arguments: list[str], error: str, here: Path) -> None:
    code, out, found = call("backfill", *arguments)
    assert (code, out) == (2, "")
    assert found.splitlines()[-1].startswith(error)
    assert list(here.iterdir()) == []
