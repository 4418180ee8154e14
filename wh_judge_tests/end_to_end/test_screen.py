"""What a person does on the screen, in a real browser: reads, filters, shares, exports, compares; and what axe says.

Where WH_JUDGE_SCREENSHOTS names a folder, the pictures of the documents are written there.
"""

import csv
import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from wh_judge.evaluation.profile import measure_profiles
from wh_judge.store import evaluations
from wh_judge.store.snapshot import publish
from wh_judge.store.stale import find_stale
from wh_judge.store.votes import journal_votes
from wh_judge_tests.builders import card, turn
from wh_judge_tests.end_to_end.browser import chromium
from wh_judge_tests.end_to_end.server import ROOT
from wh_judge_tests.evaluation.test_profile import table
from wh_judge_tests.house import DAY_1, House, at
from wh_judge_tests.screen.server import served
from wh_judge_tests.screen.site import grade

pytestmark = pytest.mark.end_to_end

FIRST, SECOND = "run-first", "run-second"
WIDTHS = {"light": 1280, "dark": 360}
PAGES = {
    "list": "/verdicts",
    "group": "/verdicts?verdict=금지 소재 접촉&open=T-125",
    "nothing found": "/verdicts?q=없는 말",
    "turn": "/turn?id=T-194",
    "changed turn": "/turn?id=T-6",
    "conversation": "/session?id=S-0101",
    "tree": "/tree?id=T-194",
    "prompt": "/prompt?id=P-003",
    "grading": "/grading",
    "validations": "/checks",
    "validation": "/checks?code=v03_speech_reread",
    "models": "/models",
    "profiles": "/profiles",
    "probes": "/probes",
    "drafts": "/drafts",
    "changes": "/changes",
    "notes": "/notes",
    "example": "/example",
    "arena": "/arena?by=가",
    "upload": "/upload",
    "error": "/turn?id=no",
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The screen over the sample; after the first run a card was edited and its days were judged again."""
    root = tmp_path_factory.mktemp("screen")
    shutil.copytree(ROOT / "data" / "sample", root / "inputs")
    house = House(root)
    with house.warehouse() as connection:
        house.bring_in(connection)
        judge_stale(house, connection, FIRST)
        cards = house.inputs / "cards.json"
        changed = json.loads(cards.read_text(encoding="utf-8"))
        changed[0] |= {"honorific_rule": None, "first_person": None}
        cards.write_text(json.dumps(changed, ensure_ascii=False), encoding="utf-8")
        house.bring_in(connection)
        judge_stale(house, connection, SECOND)
        grade(connection, house)
        publish(connection, house.settings.published, keep=1)
    with served(house.data) as printed:
        yield printed.rstrip("/")


def judge_stale(house: House, connection: Any, run_id: str) -> None:
    for entry in find_stale(connection, house.settings.rules):
        assert house.judge(connection, entry.day, run_id).committed


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


class Reader:
    """A person with a browser, and what the browser complained of."""

    def __init__(self, browser: Browser, address: str, **options: Any) -> None:
        self.context: BrowserContext = browser.new_context(base_url=address, locale="ko-KR", **options)
        self.context.set_default_timeout(20_000)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def open(self, path: str) -> Page:
        self.page.goto(path)
        return self.page


@pytest.fixture
def reader(browser: Browser, address: str) -> Iterator[Reader]:
    """A reader at a desk, who sees no complaint of the browser until the end."""
    found = Reader(browser, address, viewport={"width": 1280, "height": 1000})
    yield found
    found.context.close()
    assert found.complaints == []


def picture(page: Page, name: str) -> None:
    """Write a picture of the window, where somebody wants it."""
    folder = os.environ.get("WH_JUDGE_SCREENSHOTS")
    if folder:
        page.screenshot(path=Path(folder) / f"screen_{name}.png", animations="disabled")


def focused(page: Page) -> str:
    """The row that has the focus."""
    return str(page.evaluate("document.activeElement.closest('details')?.dataset.turn ?? ''"))


def test_somebody_new_looks_at_the_public_character_and_opens_evidence(reader: Reader) -> None:
    page = reader.open("/")
    expect(page).to_have_url("/example")
    expect(page.get_by_role("heading", level=1)).to_contain_text("의 지난 대화")
    verdict = page.locator("details.verdict").first
    verdict.locator("summary").click()
    expect(verdict.get_by_role("columnheader", name="value")).to_be_visible()
    page.get_by_role("link", name="판정 목록으로").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("702회차")


def test_a_list_is_filtered_and_the_address_says_only_what_was_asked(reader: Reader) -> None:
    page = reader.open("/verdicts")
    page.locator("select[name=verdict]").select_option("금지 소재 접촉")
    page.locator("select[name=model]").select_option("baram-13b")
    page.get_by_role("button", name="거르기").click()
    expect(page).to_have_url(
        "/verdicts?verdict=%EA%B8%88%EC%A7%80+%EC%86%8C%EC%9E%AC+%EC%A0%91%EC%B4%89&model=baram-13b"
    )
    expect(page.locator("details.row")).to_have_count(34)
    page.get_by_role("link", name="모두 풀기").click()
    expect(page).to_have_url("/verdicts")


def test_a_link_shows_what_its_sender_saw(reader: Reader, browser: Browser, address: str) -> None:
    page = reader.open("/verdicts?verdict=말투 어긋남")
    row = page.locator("details.row").nth(3)
    row.locator("summary").click()
    turn_id = row.get_attribute("data-turn")
    page.wait_for_url(f"**open={turn_id}*")
    other = Reader(browser, address)
    shown = other.open(page.url).locator(f'details[data-turn="{turn_id}"]')
    expect(shown.get_by_role("columnheader", name="source")).to_be_visible()
    other.context.close()
    row.locator("summary").click()
    page.wait_for_url("**/verdicts?verdict=*")
    expect(page).not_to_have_url("open=")


def test_the_keyboard_moves_opens_closes_and_finds(reader: Reader) -> None:
    page = reader.open("/verdicts?verdict=금지 소재 접촉")
    turns = page.locator("details.row").evaluate_all("rows => rows.map(row => row.dataset.turn)")
    for key, place in (("j", 0), ("j", 1), ("j", 2), ("k", 1)):
        page.keyboard.press(key)
        assert focused(page) == turns[place]
    page.keyboard.press("Enter")
    row = page.locator(f'details[data-turn="{turns[1]}"]')
    expect(row).to_have_attribute("open", "")
    picture(page, "verdicts")
    page.keyboard.press("Escape")
    expect(row).not_to_have_attribute("open", "")
    page.keyboard.press("/")
    page.keyboard.type("선거")
    page.keyboard.press("Enter")
    expect(page).to_have_url("/verdicts?q=%EC%84%A0%EA%B1%B0")


def test_the_same_is_done_with_buttons(reader: Reader) -> None:
    page = reader.open("/verdicts?verdict=금지 소재 접촉")
    for name in ("다음 j", "다음 j", "이전 k", "펼치기 Enter"):
        page.get_by_role("button", name=name).click()
    expect(page.locator("details.row").first).to_have_attribute("open", "")
    page.get_by_role("button", name="접기 Esc").click()
    expect(page.locator("details.row").first).not_to_have_attribute("open", "")


@pytest.mark.parametrize("height", [300, 500, 1000])
def test_nothing_lies_over_the_row_that_has_the_focus(reader: Reader, height: int) -> None:
    page = reader.open("/verdicts?verdict=금지 소재 접촉")
    page.set_viewport_size({"width": 1280, "height": height})
    for key in "jjjjjjjjjjjjkkkkkkkk":
        page.keyboard.press(key)
        assert page.evaluate(
            """() => { const row = document.activeElement, box = row.getBoundingClientRect();
                const at = y => document.elementFromPoint(box.left + 20, y);
                return row.contains(at(box.top + 2)) && row.contains(at(box.bottom - 2));
            }"""
        )


def test_a_list_is_exported(reader: Reader, tmp_path: Path) -> None:
    page = reader.open("/verdicts?verdict=금지 소재 접촉")
    for suffix in ("csv", "jsonl", "json"):
        with page.expect_download() as download:
            page.get_by_role("link", name=suffix.upper(), exact=True).click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        text = path.read_text(encoding="utf-8-sig")
        if suffix == "csv":
            rows: list[Any] = list(csv.DictReader(text.splitlines(keepends=True)))
        else:
            rows = json.loads(text) if suffix == "json" else [json.loads(line) for line in text.splitlines()]
        assert {row["verdict"] for row in rows} == {"금지 소재 접촉"} and len(rows) == 48


def test_two_runs_are_compared_and_a_change_is_followed_to_its_turn(reader: Reader) -> None:
    page = reader.open("/changes")
    page.locator("select[name=since]").select_option(FIRST)
    page.locator("select[name=until]").select_option(SECOND)
    page.get_by_role("button", name="견주기").click()
    expect(page).to_have_url(f"/changes?since={FIRST}&until={SECOND}")
    expect(page.get_by_text("character_card CHR-0001 honorific_rule: 반말 -> null").first).to_be_visible()
    page.locator("article.change a").first.click()
    expect(page.get_by_role("heading", name="왜 바뀌었나")).to_be_visible()


def test_a_turn_is_read_and_its_conversation_followed(reader: Reader) -> None:
    page = reader.open("/turn?id=T-194")
    expect(page.locator(".bubble mark.role")).to_have_text("강아지")
    picture(page, "turn")
    page.get_by_role("link", name="대화 S-").click()
    expect(page.locator("#turn-T-194")).to_be_in_viewport()


def test_without_a_script_all_of_it_works(browser: Browser, address: str) -> None:
    reader = Reader(browser, address, java_script_enabled=False)
    page = reader.open("/verdicts")
    page.locator("select[name=model]").select_option("baram-13b")
    page.get_by_role("button", name="거르기").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("253회차")
    row = page.locator("details.row").first
    row.locator("summary").click()
    expect(row.get_by_role("columnheader", name="value")).to_be_visible()
    expect(page.locator(".keys")).to_be_hidden()
    page.get_by_role("link", name=re.compile("설정대로 말함 .* 모두 보기")).click()
    page.get_by_role("link", name="뒤쪽 →").click()
    expect(page.get_by_text(re.compile(r"^2 / \d쪽$"))).to_be_visible()
    page.locator("details.row").first.locator("summary").click()
    page.get_by_role("link", name="회차 쪽").first.click()
    expect(page.get_by_role("heading", name="검증", exact=True)).to_be_visible()
    reader.context.close()
    assert reader.complaints == []


def test_a_telephone_shows_the_list(browser: Browser, address: str) -> None:
    reader = Reader(
        browser, address, viewport={"width": 360, "height": 740}, color_scheme="dark", device_scale_factor=2
    )
    page = reader.open("/verdicts?verdict=금지 소재 접촉&open=T-676")
    page.locator("details[open]").evaluate("row => row.scrollIntoView()")
    assert page.locator("details[open] td:nth-child(3)").first.evaluate("cell => cell.clientWidth") > 120
    picture(page, "telephone")
    reader.context.close()


def test_a_telephone_has_the_menu_in_one_line_that_slides_to_where_one_is(browser: Browser, address: str) -> None:
    reader = Reader(browser, address, viewport={"width": 360, "height": 740})
    page = reader.open("/upload")
    assert page.locator("header").evaluate("header => header.clientHeight") < 110
    expect(page.locator(".menu [aria-current]")).to_be_in_viewport(ratio=1)
    reader.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_keeps_nobody_out(browser: Browser, address: str, name: str, scheme: Any) -> None:
    """axe finds nothing with everything opened, and the page is not wider than a telephone's window."""
    reader = Reader(browser, address, color_scheme=scheme, viewport={"width": 360, "height": 800})
    page = reader.open(PAGES[name])
    page.evaluate("for (const row of document.querySelectorAll('details')) row.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    # A wide window for colours, where all is to be seen; a narrow one for what must be scrolled.
    page.set_viewport_size({"width": WIDTHS[scheme], "height": 800})
    violations = Axe().run(page).response["violations"]
    assert [(one["id"], node["html"][:200]) for one in violations for node in one["nodes"]] == []
    reader.context.close()
    # The browser tells of every page that is an error.
    assert [one for one in reader.complaints if "404" not in one] == []


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[House, str]]:
    """Replies without end of two models to thirty prompts, and profiles of models at both ends of an axis."""
    house = House(tmp_path_factory.mktemp("arena"))
    house.cards(card("C-1", public=True))
    house.lexicon(("선거", "현실 정치"))
    replies = [
        turn(
            f"T-{number}",
            turn_at=at(1),
            session_id=f"S-{number}",
            model_id=f"M-{number % 2}",
            prompt_id=f"P-{number // 2}",
            reply_text=f"{number}번째 답이야. " * 10_000,
        )
        for number in range(60)
    ]
    house.log("1", *replies)
    with house.warehouse() as connection:
        house.bring_in(connection)
        assert house.judge(connection, DAY_1, FIRST).committed
        ends = [(f"M-{place}", "C-1", "P-1", {"speech": float(place)}) for place in range(2)]
        evaluations.keep(connection, "capability_profiles", measure_profiles(table(ends)), FIRST)
        publish(connection, house.settings.published, keep=1)
    with served(house.data) as address:
        yield house, address.rstrip("/")


def test_a_telephone_shows_every_dot_of_the_profiles(browser: Browser, arena: tuple[House, str]) -> None:
    reader = Reader(browser, arena[1], viewport={"width": 360, "height": 800})
    page = reader.open("/profiles")
    dots = [dot.bounding_box() for dot in page.locator(".dots .model").all()]
    assert len(dots) == 4
    assert all(box and box["x"] >= 0 and box["x"] + box["width"] <= 360 for box in dots)
    reader.context.close()


def test_a_key_that_is_held_down_is_one_vote(browser: Browser, arena: tuple[House, str]) -> None:
    house, address = arena
    reader = Reader(browser, address)
    page = reader.open("/arena?by=held")
    offers = [page.locator("input[name=offer]").input_value()]
    for _ in range(2):
        page.keyboard.down("3")
        expect(page.locator("input[name=offer]")).not_to_have_value(offers[-1])
        offers.append(page.locator("input[name=offer]").input_value())
        for _ in range(5):
            page.keyboard.down("3")  # The browser tells it as a repeat, since it was not let go.
        assert page.evaluate("document.querySelector('[data-vote]').disabled") is False
        page.keyboard.up("3")
    assert [vote.winner for vote in journal_votes(house.settings) if vote.annotator == "held"] == ["tie", "tie"]
    reader.context.close()
    assert reader.complaints == []


def test_a_vote_is_sent_once_and_its_buttons_show_it(browser: Browser, arena: tuple[House, str]) -> None:
    reader = Reader(browser, arena[1])
    page = reader.open("/arena?by=once")
    sent: list[str] = []
    # No answer: the page stays, as where the answer takes its time.
    page.on("request", lambda request: sent.append(request.post_data or "") if request.method == "POST" else None)
    page.route("**/arena", lambda route: route.fulfill(status=204))
    page.locator("[data-vote='2']").click()
    expect(page.locator("[data-vote]:disabled")).to_have_count(4)
    page.evaluate("document.querySelector('form[data-once]').requestSubmit()")
    page.keyboard.press("1")
    assert len(sent) == 1 and "choice=right" in sent[0]
    reader.context.close()


@pytest.mark.parametrize("width", [360, 1280])
def test_replies_without_end_leave_the_buttons_near(browser: Browser, arena: tuple[House, str], width: int) -> None:
    reader = Reader(browser, arena[1], viewport={"width": width, "height": 800})
    page = reader.open("/arena?by=long")
    assert page.evaluate("document.documentElement.scrollHeight") < 4 * 800
    assert page.evaluate("document.documentElement.scrollWidth") == width
    box = page.get_by_role("region", name="왼쪽 답장")
    box.focus()
    expect(box).to_be_focused()
    assert box.evaluate("box => { box.scrollTop = 1e6; return box.scrollTop; }") > 1000
    assert Axe().run(page).response["violations"] == []
    reader.context.close()


@pytest.mark.parametrize("letter", ["가", "a"])
def test_names_and_ids_without_end_are_no_wider_than_a_telephone(browser: Browser, tmp_path: Path, letter: str) -> None:
    house, long, endless = House(tmp_path), letter * 1_000, letter * 100_000
    house.cards(card(f"C-{long}", name=endless, public=True, canon_entities=[endless]))
    house.lexicon(("선거", "현실 정치"))
    texts = {"first_person": long, "reply_text": endless, "user_message": endless, "named_entities": [endless + "b"]}
    ids = {"session_id": f"S-{long}", "character_id": f"C-{long}", "model_id": f"M-{long}", "prompt_id": f"P-{long}"}
    house.log("1", turn(f"T-{long}", turn_at=at(1), **ids, **texts))
    with house.warehouse() as connection:
        house.bring_in(connection)
        assert house.judge(connection, DAY_1, FIRST).committed
        publish(connection, house.settings.published, keep=1)
    with served(house.data) as address:
        reader = Reader(browser, address.rstrip("/"), viewport={"width": 360, "height": 800})
        widths = {}
        for name in (
            "verdicts?",
            "example?",
            f"turn?id=T-{long}",
            f"session?id=S-{long}",
            f"prompt?id=P-{long}",
            "review?",
        ):
            page = reader.open(f"/{name}")
            page.evaluate("for (const row of document.querySelectorAll('details')) row.open = true")
            widths[name.partition("?")[0]] = page.evaluate("document.documentElement.scrollWidth")
        reader.context.close()
    assert widths == dict.fromkeys(widths, 360)
