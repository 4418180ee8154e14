"""A range is backfilled, a card edited, a file corrected: the automation judges again what follows, and says why."""

import shutil
from pathlib import Path

import duckdb
import pytest

from wh_judge.files import read_log_table
from wh_judge.ingest import TABLES, read_table
from wh_judge.judge import judge
from wh_judge.validations import VALIDATIONS
from wh_judge_tests.end_to_end.conftest import (
    CORRECTED_DAY,
    CORRECTED_FILE,
    DAYS,
    EDITED,
    EDITED_DAY,
    Corrected,
    Log,
    Step,
    day_of,
)
from wh_judge_tests.end_to_end.server import Server

pytestmark = pytest.mark.end_to_end


def published(server: Server) -> dict[str, str]:
    """The verdicts that readers get, by turn."""
    folder = server.data / "published"
    path = folder / f"{(folder / 'current').read_text(encoding='utf-8').strip()}.duckdb"
    with duckdb.connect(path, read_only=True) as connection:
        return dict(connection.execute("SELECT turn_id, verdict FROM verdict").fetchall())


def expected(inputs: Path, turns: Path) -> dict[str, str]:
    """What the judge says of the files."""
    cards = read_table(inputs / "cards.json", TABLES["character_card"]).rows
    lexicon = read_table(inputs / "lexicon.csv", TABLES["topic_lexicon"]).rows
    verdicts = judge(read_log_table(turns).rows, cards, lexicon).verdicts.to_pylist()
    return {row["turn_id"]: row["verdict"] for row in verdicts}


def test_the_inputs_are_read_without_being_asked(server: Server) -> None:
    assert {"inputs", "log", "evaluations"} <= {run["jobName"] for run in server.runs()}


def test_the_backfill_runs_each_day_once(backfilled: Step) -> None:
    assert backfilled.days == DAYS
    assert {run["status"] for run in backfilled.runs} == {"SUCCESS"}


def test_an_edited_card_brings_about_a_run_of_its_day_alone(card_edited: Step) -> None:
    assert card_edited.days == [EDITED_DAY]
    assert {run["status"] for run in card_edited.runs} == {"SUCCESS"}


def test_each_change_is_told_with_the_cell_of_the_card(server: Server, card_edited: Step) -> None:
    changes = server.wh_judge("changes", EDITED_DAY, EDITED_DAY)
    [run] = [run for run in card_edited.runs if day_of(run) == EDITED_DAY]
    assert changes
    assert {change["run_id"] for change in changes} == {run["runId"]}
    for change in changes:
        assert change["inputs"] == ["character_card"]
        assert [cell for cell in change["cells"] if "honorific_rule" in cell] == change["cells"] != []


def test_why_knows_the_verdict_before_and_the_run_that_ended_it(server: Server, card_edited: Step) -> None:
    change = next(c for c in server.wh_judge("changes") if c["verdict_before"] != c["verdict_after"])
    known = server.wh_judge("why", change["turn_id"])
    assert known["turn"]["character_id"] == EDITED
    assert known["verdict"]["verdict"] == change["verdict_after"]
    [earlier] = known["earlier_versions"]
    assert (earlier["verdict"], earlier["until_run"]) == (change["verdict_before"], change["run_id"])
    assert known["changes"] == [change]
    assert set(known["checks"]) == {entry.code for entry in VALIDATIONS}
    assert "failed" not in known["checks"].values()


def test_a_corrected_file_in_the_inbox_brings_about_a_run_of_its_day_alone(corrected: Corrected) -> None:
    assert corrected.step.days == [CORRECTED_DAY]
    assert {run["status"] for run in corrected.step.runs} == {"SUCCESS"}


def test_the_corrected_turn_is_judged_by_what_it_says_now(server: Server, corrected: Corrected) -> None:
    known = server.wh_judge("why", corrected.turn["turn_id"])
    assert known["turn"]["reply_text"] == corrected.turn["reply_text"]
    [change] = known["changes"]
    assert (change["verdict_after"], change["inputs"]) == ("말투 어긋남", ["chat_turn"])


def test_readers_get_what_the_judge_says_of_the_files(
    server: Server, log: Log, corrected: Corrected, tmp_path: Path
) -> None:
    log.write(tmp_path, *DAYS)
    shutil.copy(server.data / "inbox" / CORRECTED_FILE, tmp_path / f"later {CORRECTED_FILE}")
    verdicts = expected(server.inputs, tmp_path)
    assert len(verdicts) == sum(map(len, log.turns.values()))
    server.wait("the snapshot holds the verdicts", lambda: published(server) == verdicts)
