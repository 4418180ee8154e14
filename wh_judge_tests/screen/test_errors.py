"""What cannot be answered: a page that says what happened and what to do, or one JSON shape."""

from pathlib import Path

import duckdb
import pytest
from starlette.testclient import TestClient

from wh_judge_tests.house import House
from wh_judge_tests.screen.site import Seen, reader, seen

BAD = [
    ("/no-such-page", 404, "이런 쪽은 없습니다."),
    ("/turn", 400, "무엇을 볼지 주소에 없습니다."),
    ("/turn?id=T-no", 404, "T-no: 이런 회차는 없습니다."),
    ("/session", 400, "무엇을 볼지 주소에 없습니다."),
    ("/session?id=S-no", 404, "S-no: 이런 대화는 없습니다."),
    ("/session?id=S-recall&page=2", 404, "2쪽은 없습니다. 1쪽까지 있습니다."),
    ("/prompt", 400, "무엇을 볼지 주소에 없습니다."),
    ("/prompt?id=P-no", 404, "P-no: 이런 프롬프트는 없습니다."),
    ("/verdicts?verdict=no", 400, "verdict=no: 판정 값이 아닙니다."),
    ("/verdicts?page=no", 400, "page=no: 쪽 번호가 아닙니다."),
    ("/verdicts?page=2", 404, "2쪽은 없습니다."),
    ("/verdicts?verdict=금지 소재 접촉&page=2", 404, "2쪽은 없습니다."),
    ("/verdicts?since=run-no", 404, "run-no: 이 실행은 판정을 쓰지 않았습니다."),
    ("/verdicts?first=2026-09-31", 400, "first=2026-09-31: 날짜가 아닙니다."),
    ("/checks?code=no", 404, "no: 이런 검증 항목은 없습니다."),
    ("/models?page=2", 404, "2쪽은 없습니다."),
    ("/changes?page=99999999", 404, "99999999쪽은 없습니다."),
    ("/static/no.css", 404, "이런 쪽은 없습니다."),
]
each_bad = pytest.mark.parametrize(("address", "status", "what"), BAD)


@each_bad
def test_an_error_is_a_page_that_says_what_to_do(client: TestClient, address: str, status: int, what: str) -> None:
    page = seen(client.get(address), status)
    assert what in page.text and page.links("/verdicts")


@each_bad
def test_an_error_has_one_shape_for_programs(client: TestClient, address: str, status: int, what: str) -> None:
    answer = client.get(address, headers={"accept": "application/json"})
    error = answer.json()["error"]
    assert (answer.status_code, list(error)) == (status, ["status", "title", "what", "remedy"])
    assert error["status"] == status and what in error["what"] and error["remedy"]


@pytest.mark.parametrize("address", ["/turn.json?id=T-no", "/turn.json?id=T-5", "/turn.json"])
def test_a_file_is_never_an_error_page(client: TestClient, address: str) -> None:
    assert client.get(address).headers["content-type"] == "application/json"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_a_page_is_only_read(client: TestClient, method: str) -> None:
    assert "이 주소는 이 방법으로 부를 수 없습니다." in seen(client.request(method, "/verdicts"), 405).text


def test_an_error_is_not_kept(client: TestClient) -> None:
    assert client.get("/turn?id=T-no").headers["cache-control"] == "no-store"


PAGES = ["/verdicts", "/turn?id=T-1", "/grading", "/notes", "/example", "/models", "/changes", "/checks"]


@pytest.mark.parametrize("address", PAGES)
def test_before_the_first_run_a_page_says_what_to_do(tmp_path: Path, address: str) -> None:
    house = House(tmp_path)
    with reader(house) as client:
        assert "wh-judge run" in seen(client.get(address), 503).text


@pytest.mark.parametrize("address", ["/verdicts.csv", "/verdicts.json", "/turn.json?id=T-1"])
def test_before_the_first_run_a_program_is_told_so(tmp_path: Path, address: str) -> None:
    with reader(House(tmp_path)) as client:
        answer = client.get(address)
    assert (answer.status_code, answer.json()["error"]["what"]) == (503, "아직 공개된 판정이 없습니다.")


def path_of(house: House) -> Path:
    [path] = house.settings.published.glob("*.duckdb")
    return path


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def overwrite(path: Path) -> None:
    path.write_bytes(b"no database at all" * 1000)


def take_away(path: Path) -> None:
    path.unlink()


def of_another_version(path: Path) -> None:
    path.unlink()
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE verdict (turn_id VARCHAR)")


@pytest.mark.parametrize("damage", [cut_off, overwrite, take_away, of_another_version])
def test_a_snapshot_that_cannot_be_read_is_said(house: House, damage: "object") -> None:
    assert callable(damage)
    damage(path_of(house))
    with reader(house) as client:
        for _ in range(2):
            page = seen(client.get("/verdicts"), 503)
        document = client.get("/verdicts.json").json()
    assert "공개된 판정을 읽지 못했습니다." in page.text and "wh-judge run" in page.text
    assert document["error"]["status"] == 503 and str(house.data) not in page.text


def test_a_pointer_that_is_no_text_is_said(house: House) -> None:
    (house.settings.published / "current").write_bytes(b"\xff\xfe\x00")
    with reader(house) as client:
        assert client.get("/verdicts").status_code == 503


def test_a_snapshot_that_is_made_anew_is_read_again(house: House) -> None:
    path = path_of(house)
    whole = path.read_bytes()
    cut_off(path)
    with reader(house) as client:
        assert client.get("/verdicts").status_code == 503
        path.write_bytes(whole)
        assert client.get("/verdicts").status_code == 200


def test_a_fault_of_the_program_is_a_page_too(site: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret of the program")

    monkeypatch.setattr("wh_judge.screen.verdicts.listed", broken)
    with reader(site) as client:
        answer = client.get("/verdicts")
        document = client.get("/verdicts", headers={"accept": "application/json"}).json()
    page = Seen(answer.text)
    assert answer.status_code == 500 and "화면이 이 요청을 처리하지 못했습니다." in page.text
    assert "secret" not in answer.text and document["error"]["status"] == 500
