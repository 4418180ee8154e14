"""What a person sees in the Dagster UI, in a real browser.

Where WH_JUDGE_SCREENSHOTS names a folder, the pictures of the documents are written there.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import FloatRect, Locator, Page, ViewportSize, expect

from wh_judge.definitions import defs
from wh_judge.model import VERDICTS
from wh_judge.rules import RULE_BY_VERDICT
from wh_judge.validations import VALIDATIONS
from wh_judge_tests.end_to_end.browser import chromium
from wh_judge_tests.end_to_end.conftest import EDITED, EDITED_DAY, Step
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
