"""Every page over the small log."""

import pytest
from starlette.testclient import TestClient

from wh_judge.model import VERDICTS
from wh_judge.screen.filters import GROUPS
from wh_judge.screen.render import PAGES
from wh_judge.store.snapshot import publish
from wh_judge.validations import VALIDATIONS
from wh_judge_tests.house import VERDICTS as OF_LOG
from wh_judge_tests.house import House
from wh_judge_tests.screen.site import FAILED, FIRST, GRADED, SECOND, Seen, all_pages, grade, listed, reader, seen

EVERY_PAGE = [
    "/verdicts",
    f"/verdicts?verdict={VERDICTS[0]}",
    "/turn?id=T-1",
    "/turn?id=T-5",
    "/session?id=S-recall",
    "/prompt?id=P-1",
    "/grading",
    "/checks",
    "/checks?code=v10_summary_one_polite_sentence",
    "/models",
    "/changes",
    f"/changes?since={FIRST}",
    "/notes",
    "/example",
]
each_page = pytest.mark.parametrize("address", EVERY_PAGE)


@each_page
def test_a_page_is_in_korean_and_has_one_heading(client: TestClient, address: str) -> None:
    page = seen(client.get(address))
    assert page.all("html", lang="ko") and len(page.all("h1")) == 1 and page.all("main", id="main")


@each_page
def test_a_page_has_no_script_and_no_style_of_its_own(client: TestClient, address: str) -> None:
    page = seen(client.get(address))
    assert [found["src"] for found in page.all("script")] == ["/static/screen.js"]
    assert page.all("style") == [] and [name for _, found in page.tags for name in found if name[:2] == "on"] == []
    assert [found for _, found in page.tags if "style" in found] == []


@each_page
def test_the_validations_are_always_in_view_with_their_counts(client: TestClient, address: str) -> None:
    page = seen(client.get(address))
    assert [f"/checks?code={entry.code}" in page.links("/checks") for entry in VALIDATIONS] == [True] * 12
    assert "15 통과 · 1 실패" in page.text.partition("10. summary")[2]


@each_page
def test_one_line_tells_how_many_validations_passed_and_failed(client: TestClient, address: str) -> None:
    page = seen(client.get(address))
    assert "출력 스키마·검증 항목 통과 11 실패 1 안 돌았음 0" in page.text
    assert len(page.all("aside", **{"class": "checks"})) == 1


@each_page
def test_what_can_be_slid_is_reached_by_keyboard_and_has_a_name_of_its_own(client: TestClient, address: str) -> None:
    slid = seen(client.get(address)).all("div", **{"class": "wide"})
    names = [found["aria-label"] for found in slid]
    assert sorted(set(names)) == sorted(names)
    assert [found for found in slid if (found["tabindex"], found["role"]) != ("0", "region")] == []


@each_page
def test_no_id_stands_twice(client: TestClient, address: str) -> None:
    ids = [found["id"] for _, found in seen(client.get(address)).tags if "id" in found]
    assert sorted(set(ids)) == sorted(ids)


@each_page
def test_every_field_has_a_name_for_those_who_do_not_see_it(client: TestClient, address: str) -> None:
    html = client.get(address).text
    every = [found for tag in ("input", "select") for found in Seen(html).all(tag)]
    fields = [found for found in every if found.get("type") != "hidden"]
    assert len([found for found in fields if "aria-label" in found]) + html.count("<label") == len(fields)


@each_page
def test_a_page_asked_for_its_head_has_no_body(client: TestClient, address: str) -> None:
    answer = client.head(address)
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize(("address", "name"), PAGES)
def test_the_menu_tells_where_one_is(client: TestClient, address: str, name: str) -> None:
    assert [found["href"] for found in seen(client.get(address)).all("a", **{"aria-current": "page"})] == [address]


def test_the_list_has_all_turns_in_their_groups(client: TestClient) -> None:
    page = seen(client.get("/verdicts"))
    assert page.text.count("T-5 캐릭터 C-9의 카드가 없습니다") == 1
    assert "판정 17회차" in page.text
    for group in GROUPS:
        assert page.links("/verdicts")
        assert len(page.all("section", **{"aria-labelledby": f"group-{CLASS[group]}"})) == 1


CLASS = dict(zip(GROUPS, ("kept", "speech", "canon", "forbidden", "recall", "unjudged"), strict=True))


def test_a_row_has_its_reason_its_turn_and_a_summary_with_figures(client: TestClient) -> None:
    text = seen(client.get("/verdicts?verdict=세계관 밖 고유명사")).text
    assert "세계관 밖 고유명사 T-8 카드의 이름 " in text and "1개(「리안」)가 답장에 나왔습니다." in text


def test_evidence_has_exactly_three_columns(client: TestClient) -> None:
    html = client.get("/verdicts?verdict=금지 소재 접촉").text
    assert html.count("<caption>근거</caption>") == html.count(
        '<tr><th scope="col">source</th><th scope="col">field</th><th scope="col">value</th></tr>'
    )
    assert "topic_lexiconterm선거" in Seen(html).text.replace(" ", "")


@pytest.mark.parametrize(
    ("turn_id", "marked"),
    [
        ("T-1", '<mark class="plain" title="문장의 마지막 어절">'),
        ("T-3", '<mark class="polite" title="존댓말 종결 어미">요</mark>'),
        ("T-6", '<mark class="role" title="유저가 물은 관계">동생</mark>'),
        ("T-7", '<mark class="term" title="사전에 있는 말">선거</mark>'),
        ("T-8", '<mark class="name" title="카드에 없는 이름">리안</mark>'),
    ],
)
def test_what_decided_is_marked(client: TestClient, turn_id: str, marked: str) -> None:
    assert marked in client.get(f"/turn?id={turn_id}").text


def test_skipped_comparisons_are_named_in_their_place(client: TestClient) -> None:
    page = seen(client.get("/verdicts?verdict=설정대로 말함"))
    assert "건너뜀: 답장 없음 · 등장 이름 없음 · 1인칭 없음" in page.text
    assert "답장 없음" in page.text and "등장 이름 목록이 없어 세계관 대조를 건너뛰었습니다." in page.text


def test_a_column_of_a_verdict_has_its_korean_name_beside_it(client: TestClient) -> None:
    text = seen(client.get("/turn?id=T-10")).text
    assert "카드의 말투 rule_expected반말 · 나" in text and "단서 hedge" in text and "1인칭 first_person" in text
    assert "단서 hedge없음" in seen(client.get("/turn?id=T-3")).text


def test_a_turn_that_was_not_judged_has_a_page_with_the_reason(client: TestClient) -> None:
    page = seen(client.get("/turn?id=T-5"))
    assert "판정하지 못한 까닭: 캐릭터 C-9의 카드가 없습니다" in page.text and "카드가 없습니다." in page.text
    assert page.links("/turn.json") == []


def test_a_turn_leads_to_the_turns_beside_it(client: TestClient) -> None:
    page = seen(client.get("/turn?id=T-6"))
    assert page.links("/turn") == ["/turn?id=T-4"]
    assert page.links("/session") == ["/session?id=S-recall&turn=T-6#turn-T-6"]


def test_a_turn_shows_its_label_beside_its_verdict(client: TestClient) -> None:
    assert "크리에이터의 정답 앞 회차를 기억 못 함 판정과 같음" in seen(client.get("/turn?id=T-6")).text


def test_a_turn_shows_why_it_changed_and_its_versions(client: TestClient) -> None:
    text = seen(client.get("/turn?id=T-2")).text
    assert "왜 바뀌었나" in text and "character_card C-1 honorific_rule: 반말 -> " in text
    assert "이전 판정" in text


def test_a_turn_that_never_changed_says_which_run_wrote_it(client: TestClient) -> None:
    assert f"실행 {FIRST}가 쓴 판정입니다. 그 뒤로 바뀌지 않았습니다." in seen(client.get("/turn?id=T-11")).text


def test_a_turn_as_a_document(client: TestClient) -> None:
    answer = client.get("/turn.json?id=T-7")
    assert answer.headers["content-type"] == "application/json"
    assert (answer.json()["verdict"], answer.json()["touched_term"]) == ("금지 소재 접촉", "선거")


def test_a_conversation_is_a_chat_with_a_verdict_at_each_reply(client: TestClient) -> None:
    page = seen(client.get("/session?id=S-recall"))
    assert [found["id"] for found in page.all("li", **{"class": "turn"})] == ["turn-T-4", "turn-T-6"]
    assert "내 동생 이름 기억나?" in page.text and len(page.all("details", **{"class": "verdict"})) == 2


def test_a_conversation_has_pages(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wh_judge.screen.turns.SESSION_ROWS", 1)
    pages = [seen(answer) for answer in all_pages(client, "/session", id="S-recall")]
    assert [page.all("li", **{"class": "turn"})[0]["id"] for page in pages] == ["turn-T-4", "turn-T-6"]


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("turn=T-6", "T-6"),
        ("turn=T-4", "T-4"),
        ("turn=T-1", "T-4"),
        ("turn=T-9&page=2", "T-6"),
        ("turn=T-6&page=1", "T-4"),
    ],
)
def test_a_conversation_opens_where_a_turn_stands(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, asked: str, shown: str
) -> None:
    monkeypatch.setattr("wh_judge.screen.turns.SESSION_ROWS", 1)
    page = seen(client.get(f"/session?id=S-recall&{asked}"))
    assert [found["id"] for found in page.all("li", **{"class": "turn"})] == [f"turn-{shown}"]


def test_the_answers_to_a_prompt_stand_side_by_side(client: TestClient) -> None:
    page = seen(client.get("/prompt?id=P-1"))
    assert len(page.all("section", **{"class": "answer"})) == 2
    assert page.links("/turn") == ["/turn?id=T-1", "/turn?id=T-3"]


def test_grading_tells_its_run_and_its_figures(client: TestClient) -> None:
    text = seen(client.get("/grading")).text
    assert f"실행 {GRADED}, 20" in text and "3회차 가운데 3" in text.replace("3회차 가운데 2", "3회차 가운데 3")
    assert [verdict for verdict in VERDICTS if verdict not in text] == []


def test_diverging_turns_are_folded_by_label_and_verdict(house: House) -> None:
    house.gold(("T-1", "말투 어긋남"), ("T-3", "말투 어긋남"), ("T-7", "설정대로 말함"), ("T-2", "설정대로 말함"))
    with house.warehouse() as connection:
        grade(connection, house)
        publish(connection, house.settings.published, keep=1)
    with reader(house) as client:
        page = seen(client.get("/grading"))
    folds = [found for found in page.all("details") if found.get("class") == "fold pair"]
    assert len(folds) == 2 and "open" not in folds[0]
    assert "정답 말투 어긋남 규칙 설정대로 말함 2회차 T-1" in page.text
    places = [found["href"] for found in page.all("a") if found["href"].startswith("#")]
    assert places == ["#main", "#by-verdict", "#confusion", "#diverging"]


def test_validations_lead_to_their_failing_turns(client: TestClient) -> None:
    page = seen(client.get("/checks?code=v10_summary_one_polite_sentence"))
    assert page.links("/turn") == ["/turn?id=T-7"]
    assert f"{FAILED[:8]}" in page.text


def test_a_failing_turn_names_the_validation(client: TestClient) -> None:
    page = seen(client.get("/turn?id=T-7"))
    assert "summary 가 존댓말 한 문장 실패" in page.text
    assert "/checks?code=v10_summary_one_polite_sentence" in page.links("/checks")


def test_why_a_validation_fails_is_told_in_korean(client: TestClient) -> None:
    told = "summary: 요 / 죠 / 니다 / 십시오 가운데 하나로 끝나야 하는데 마지막 어절이 '말'입니다"
    for address in ("/turn?id=T-7", "/checks?code=v10_summary_one_polite_sentence"):
        assert told in seen(client.get(address)).text


def test_failing_turns_have_pages(client: TestClient) -> None:
    assert client.get("/checks?code=v10_summary_one_polite_sentence&page=2").status_code == 404


def test_models_are_compared_on_shared_prompts(client: TestClient) -> None:
    page = seen(client.get("/models"))
    assert f"실행 {GRADED}" in page.text and "맥니마의 정확 검정" in page.text
    assert page.links("/prompt") and page.links("/verdicts")[1:] == ["/verdicts?model=M-1", "/verdicts?model=M-2"]


def test_prompts_on_which_models_part_have_pages(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wh_judge.screen.evaluations.PROMPT_ROWS", 1)
    found = [link for answer in all_pages(client, "/models") for link in seen(answer).links("/prompt")]
    assert found == ["/prompt?id=P-2", "/prompt?id=P-3"]


def test_notes_say_what_is_automatic_what_people_do_and_what_is_not_claimed(client: TestClient) -> None:
    page = seen(client.get("/notes"))
    assert [part in page.text for part in ("자동 ·", "수동 ·", "정직 경계선")] == [True] * 3


def test_the_example_is_a_public_character_s_conversation(client: TestClient) -> None:
    page = seen(client.get("/example"))
    assert page.links("/example")[1:] and page.all("li", **{"class": "turn"})


def test_another_conversation_of_the_example_can_be_chosen(client: TestClient) -> None:
    page = seen(client.get("/example?session=S-back"))
    assert [found["id"] for found in page.all("li", **{"class": "turn"})] == ["turn-T-11", "turn-T-12"]


def test_a_conversation_of_somebody_else_is_not_an_example(client: TestClient) -> None:
    assert client.get("/example?session=S-no").text == client.get("/example").text


def test_the_way_in_is_the_example_until_something_is_uploaded(client: TestClient) -> None:
    answer = client.get("/")
    assert (answer.status_code, answer.headers["location"]) == (307, "/example")


def test_the_open_row_is_in_the_address(client: TestClient) -> None:
    page = seen(client.get("/verdicts?open=T-8"))
    assert [found["data-turn"] for found in page.all("details") if "open" in found] == ["T-8"]


def test_an_open_row_that_is_not_on_the_page_is_led_to(client: TestClient) -> None:
    page = seen(client.get("/verdicts?verdict=설정대로 말함&open=T-8"))
    assert "펼쳐 둔 회차 T-8은 이 쪽에 없습니다." in page.text and "/turn?id=T-8" in page.links("/turn")


def test_all_turns_of_the_log_are_listed(client: TestClient) -> None:
    found = [turn for group in GROUPS for turn in listed(client.get("/verdicts", params={"verdict": group}))]
    assert sorted(found) == sorted([*OF_LOG, "T-5"])


def test_changes_lead_from_run_to_run(client: TestClient) -> None:
    page = seen(client.get("/changes"))
    assert {found["value"] for found in page.all("option")} == {"", FIRST, SECOND}
    assert "/turn?id=T-2" in page.links("/turn")


def test_who_speaks_is_called_by_name(client: TestClient) -> None:
    assert "교관 · M-1" in seen(client.get("/session?id=S-recall")).text


def test_a_run_is_told_from_others_by_its_days(client: TestClient) -> None:
    options = seen(client.get("/changes")).text
    assert "2026-09-01 (화) ~ 2026-09-03 (목) 판정" in options and "2026-09-01 (화) 판정" in options
