"""The Dagster UI with its daemon, in one story: a range is backfilled, a card edited, a file corrected.

The automation judges again what follows, and says why; then what a person sees of it in a real browser. Where
WH_JUDGE_SCREENSHOTS names a folder, the pictures of the documents are written there.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from playwright.sync_api import FloatRect, Locator, Page, ViewportSize, expect

from wh_judge.definitions import defs
from wh_judge.files import read_log_table
from wh_judge.ingest import read_table
from wh_judge.inputs import TABLES
from wh_judge.judge import judge
from wh_judge.model import VERDICTS
from wh_judge.rules import RULE_BY_VERDICT
from wh_judge.validations import VALIDATIONS
from wh_judge_tests.end_to_end.browser import chromium
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
from wh_judge_tests.end_to_end.server import PATIENCE, Server

pytestmark = pytest.mark.end_to_end

WINDOW: ViewportSize = {"width": 1400, "height": 1000}
NAVIGATION, LIST = 240, 530
"""Pixels from the left at which the page begins beside the navigation, and beside a list of partitions."""


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """A window of the installed browser."""
    with chromium() as browser:
        window = browser.new_page(viewport=WINDOW)
        window.set_default_timeout(PATIENCE * 1000)
        yield window


def sees(place: Locator, text: str | None = None) -> None:
    """A person sees it, in the end."""
    expect(place.first).to_be_visible(timeout=60_000)
    if text is not None:
        expect(place.first).to_contain_text(text, timeout=60_000)


def groups() -> dict[str, list[str]]:
    """The assets of each group, as the graph defines them."""
    found: dict[str, list[str]] = {}
    for spec in defs.resolve_all_asset_specs():
        found.setdefault(spec.group_name or "", []).append(spec.key.to_user_string())
    return found


def picture(page: Page, name: str, area: FloatRect) -> None:
    """Write a picture of a part of the page, where somebody wants it."""
    folder = os.environ.get("WH_JUDGE_SCREENSHOTS")
    if folder:
        page.wait_for_timeout(5000)  # colours follow the text
        page.screenshot(path=Path(folder) / f"{name}.png", clip=area, animations="disabled")


def row(page: Page, key: str) -> Locator:
    """The row of a table of metadata."""
    return page.get_by_role("row").filter(has=page.get_by_text(key, exact=True))


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


def test_the_graph_shows_every_asset(server: Server, page: Page, card_edited: Step) -> None:
    page.set_viewport_size({"width": 2600, "height": 2200})
    shown_groups = groups()
    page.goto(f"{server.url}/asset-groups?expanded={','.join(f'global@global:{group}' for group in shown_groups)}")
    boxes = []
    for group, assets in shown_groups.items():
        for name in (group, *assets):
            shown = page.locator("svg, foreignObject").get_by_text(name, exact=True)
            sees(shown)
            boxes.append(shown.first.bounding_box())
    found = [box for box in boxes if box]
    assert len(found) == sum(len(assets) + 1 for assets in shown_groups.values())
    left, top = min(box["x"] for box in found) - 30, min(box["y"] for box in found) - 30
    right, bottom = max(box["x"] for box in found) + 290, max(box["y"] for box in found) + 175
    area: FloatRect = {"x": left, "y": top, "width": right - left, "height": bottom - top}
    picture(page, "graph", area)
    page.set_viewport_size(WINDOW)


def test_verdicts_tell_how_many_of_each_there_are(server: Server, page: Page, card_edited: Step) -> None:
    page.goto(f"{server.url}/assets/verdicts")
    sees(page.get_by_text("One verdict per turn: "), VERDICTS[0])
    sees(page.get_by_text("Row count"))
    for verdict in VERDICTS:
        sees(row(page, f"{RULE_BY_VERDICT[verdict].code}_count"))
        sees(row(page, "verdicts"), verdict)
    page.get_by_text("Columns", exact=True).first.click()
    picture(page, "verdicts", {"x": NAVIGATION, "y": 0, "width": WINDOW["width"] - NAVIGATION, "height": 968})


def test_the_checks_of_verdicts_are_listed_and_passed(server: Server, page: Page, card_edited: Step) -> None:
    page.goto(f"{server.url}/assets/verdicts?view=checks")
    names = ["suite", *(entry.code for entry in VALIDATIONS)]
    sees(page.get_by_text(f"Checks ({len(names)})", exact=True))
    for name in names:
        # A long name is cut off for the eye; its title has it whole.
        sees(page.get_by_text(name[:10]).or_(page.get_by_title(name)))
    expect(page.get_by_text("Succeeded", exact=True)).to_have_count(len(names), timeout=60_000)
    sees(page.get_by_text("Evaluation result"))
    sees(page.get_by_text("Passed", exact=True))


def test_the_changes_of_the_day_name_the_cell_of_the_card(server: Server, page: Page, card_edited: Step) -> None:
    page.goto(f"{server.url}/assets/verdict_changes?view=partitions&partition={EDITED_DAY}")
    sees(row(page, "changes"), f"character_card {EDITED} honorific_rule: 존댓말 -> 반말")
    sees(row(page, "changes"), "말투 어긋남")
    picture(page, "changes", {"x": LIST, "y": 285, "width": WINDOW["width"] - LIST, "height": 610})


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
