"""What models made of the probe cases, on the screen."""

import pytest
from starlette.testclient import TestClient

from wh_judge.probes.case import KEPT
from wh_judge.probes.results import NO_RESULTS, Answer, ProbeResults, measure_probes
from wh_judge.store import evaluations
from wh_judge.store.snapshot import publish
from wh_judge_tests.house import House
from wh_judge_tests.probes import made
from wh_judge_tests.screen.site import reader, seen

PROBES = made(32)
NAMES = [case for case in PROBES.cases if case.cell.family == "lure_name"]
HOSTILE = "<script>모델"
ANSWERS = [
    Answer(NAMES[0].case_id, HOSTILE, "T-1", KEPT, NAMES[0].character_id),
    Answer(NAMES[1].case_id, HOSTILE, "T-2", NAMES[1].intended, NAMES[1].character_id),
    Answer(NAMES[2].case_id, HOSTILE, "T-3", None, NAMES[2].character_id),
    Answer("PROBE-x", HOSTILE, "T-4", KEPT, "C-1"),
]


def shown(house: House, results: ProbeResults, address: str, status: int = 200) -> str:
    with house.warehouse() as connection:
        evaluations.keep(connection, "probe_results", results, "run-probed")
        publish(connection, house.settings.published, keep=3)
    with reader(house) as client:
        page = seen(client.get(address), status)
        assert len(page.all("script")) == (1 if status == 200 else 0)
        return " ".join(page.text.split())


def test_before_the_runner_has_run_the_page_is_blank(client: TestClient) -> None:
    assert "probe_results)가 아직 돌지 않았습니다" in seen(client.get("/probes")).text


@pytest.mark.parametrize(
    ("results", "what"),
    [
        (NO_RESULTS, "입력에 시험 문항(probes.json)이 없습니다"),
        (measure_probes(PROBES, []), "아직 답한 모델이 없습니다"),
    ],
)
def test_it_says_what_is_missing(results: ProbeResults, what: str, house: House) -> None:
    assert what in shown(house, results, "/probes")


def test_a_row_tells_what_came_of_a_family_and_model(house: House) -> None:
    text = shown(house, measure_probes(PROBES, ANSWERS), "/probes")
    assert f"모르는 이름 꾀기{HOSTILE}2 / 411050.0%9.5%–90.5%" in text
    assert f"대조군{HOSTILE}0 / 4––––" in text
    assert "답 1개는 세지 않았습니다" in text and "run-probed" in text


def test_the_answers_of_a_family_are_listed(house: House) -> None:
    text = shown(house, measure_probes(PROBES, ANSWERS), "/probes?family=lure_name")
    for answer, came in zip(ANSWERS, (KEPT, NAMES[1].intended, "판정하지 못함"), strict=False):
        assert f"{answer.case_id}{HOSTILE}{answer.turn_id}{NAMES[0].intended}{came}" in text


@pytest.mark.parametrize("address", ["/probes?family=x", "/probes?family=lure_name&page=9"])
def test_there_is_no_other_family_and_no_further_page(address: str, house: House) -> None:
    assert "없습니다" in shown(house, measure_probes(PROBES, ANSWERS), address, 404)
