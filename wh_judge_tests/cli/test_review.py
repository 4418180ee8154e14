"""`wh-judge review`: from a queue to a decision to a verdict that names it, and back."""

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

from wh_judge.store.snapshot import publish
from wh_judge_tests.builders import turn
from wh_judge_tests.cli.call import Result, call, call_process
from wh_judge_tests.house import DAY_1, DAY_3, POLITE, House, at, settle

WEEK = "2026-W36"
DAYS = f"{WEEK} (2026-08-31 to 2026-09-06)"


class Reviewed:
    """A judged log, and the commands on it."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.data = ("--data", str(house.data))

    def run(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(call("run", "--inputs", str(self.house.inputs), *self.data, "--json").out)
        return found

    def review(self, *words: str) -> Result:
        return call("review", *words, *self.data)

    def rows(self, *words: str) -> Any:
        return json.loads(self.review(*words, "--json").out)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a judged log and of the runs that judged it; not to be changed."""
    root = tmp_path_factory.mktemp("judged")
    (root / "home").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DAGSTER_HOME", str(root / "home"))
        patch.setenv("WH_JUDGE_FIRST_DAY", "2026-09-01")
        Reviewed(settle(root / "house")).run()
    return root


@pytest.fixture
def reviewed(judged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reviewed:
    """A judged log of the test's own."""
    shutil.copytree(judged, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("WH_JUDGE_FIRST_DAY", "2026-09-01")
    return Reviewed(House(tmp_path / "house"))


def test_from_a_queue_to_a_verdict_and_back(reviewed: Reviewed, here: Path) -> None:
    assert reviewed.review("queue", "names", "--week", WEEK, "--out", "names.jsonl").code == 0
    [row] = [json.loads(line) for line in (here / "names.jsonl").read_text("utf-8").splitlines()]
    assert (row["name"], row["count"]) == ("리안", 1)
    (here / "names.jsonl").write_text(json.dumps(row | {"choice": "add", "why": "새 스승"}), encoding="utf-8")
    taken = reviewed.review("take", "names.jsonl", "--by", "지은")
    assert taken.out == "D-1  name add C-1 리안\n" and "1 written down; wh-judge run judges again" in taken.err
    assert "1 known already" in reviewed.review("take", "names.jsonl", "--by", "지은").err
    assert reviewed.run()["run"]["days_judged"] == ["2026-09-01", "2026-09-02", "2026-09-03"]
    assert "설정대로 말함  because of character_card C-1 canon_entities: + 리안, decided in D-1 by 지은: 새 스승" in (
        call("changes", *reviewed.data).out
    )
    assert "D-1  name add C-1 리안  by 지은: 새 스승" in call("why", "T-8", *reviewed.data).out
    assert reviewed.review("queue", "names", "--week", WEEK).out == ""
    reviewed.review("undo", "D-1", "--by", "민호", "--why", "실수")
    reviewed.run()
    assert "세계관 밖 고유명사  because of character_card C-1 canon_entities: - 리안, decided in D-2 by 민호: 실수" in (
        call("changes", *reviewed.data).out
    )
    assert reviewed.run()["run"]["dagster_runs"] == 0


def test_a_decision_that_judges_nothing_again_still_reaches_the_readers(reviewed: Reviewed) -> None:
    reviewed.review("decide", "name", "block", "--character", "C-1", "--name", "리안", "--by", "지은")
    done = reviewed.run()["run"]
    assert (done["dagster_runs"], done["days_judged"], done["failed"]) == (1, [], {})
    assert reviewed.run()["run"]["dagster_runs"] == 0


def test_labels_count_beside_those_of_the_file(reviewed: Reviewed, here: Path) -> None:
    assert reviewed.run()["gold_agreement"]["labels"] == 3
    for by, verdict in (("지은", "금지 소재 접촉"), ("민호", "금지 소재 접촉"), ("수아", "설정대로 말함")):
        reviewed.review("decide", "label", verdict, "--turn", "T-7", "--by", by)
    reviewed.review("decide", "label", "말투 어긋남", "--turn", "T-2", "--by", "지은")
    assert reviewed.run()["gold_agreement"]["labels"] == 4
    inputs = reviewed.house.inputs
    (here / "pyproject.toml").write_text(f'[tool.wh_judge]\ninputs = "{inputs}"\n', encoding="utf-8")
    found = reviewed.rows("labels", "--out", "labels.csv")
    assert found["labellers"] == [
        {"by": by, "labels": labels} for by, labels in ((None, 3), ("지은", 2), ("민호", 1), ("수아", 1))
    ]
    pairs = {(pair["one"], pair["other"]): pair for pair in found["pairs"]}
    assert (pairs["지은", "민호"]["agreed"], pairs["지은", "수아"]["agreed"]) == (1, 0)
    assert "T-7,금지 소재 접촉," in (here / "labels.csv").read_text("utf-8")
    assert "지은 and 수아: 0 of 1 turn," in reviewed.review("labels").out


def test_hits_and_endings_are_told(reviewed: Reviewed) -> None:
    for turn_id, choice in (("T-7", "harmless"), ("T-15", "harmful")):
        reviewed.review(
            "decide", "hit", choice, "--turn", turn_id, "--term", "선거", "--topic", "현실 정치", "--by", "지은"
        )
    [row] = reviewed.rows("terms")
    assert (row["precision"], row["proposal"], row["around"]) == (0.5, None, ["요즘 선거 얘기로"])
    assert row["if_dropped"]["turns"] == 2 and row["if_dropped"]["changes"][0]["before"] == "금지 소재 접촉"
    lines = reviewed.review("terms").out.splitlines()
    assert "50% of 2  선거 -> 현실 정치  2 turns  too few to tell: fewer than 5 read" in lines[0]
    assert "  if dropped: 2 turns judged otherwise, labels 2 -> 2 of 3" in lines[1] and "T-7  요즘 선거" in lines[3]
    reviewed.review("decide", "term", "keep", "--term", "선거", "--topic", "현실 정치", "--by", "a")
    assert "fewer than 5 read  decided: keep" in reviewed.review("terms").out
    assert reviewed.rows("endings") == [] and reviewed.review("endings").out == ""


def test_what_an_ending_changes_is_told_with_the_decision(reviewed: Reviewed, here: Path) -> None:
    house = reviewed.house
    house.log("more", turn("T-90", turn_at=at(3), character_id="C-2", **POLITE | {"reply_text": "저는 먹었어용."}))
    reviewed.run()
    told = [
        "  용  mends 1, breaks 0, labels 2 -> 2 of 3",
        "    말투 어긋남 -> 설정대로 말함  1 turn",
        "      T-90  저는 먹었어용.",
    ]
    lines = reviewed.review("decide", "ending", "add", "--ending", "용", "--by", "a").out.splitlines()
    undo = "  to take it back: wh-judge review undo {} --by NAME"
    assert lines == ["D-1  ending add 용", *told, undo.format("D-1")]
    row = {"kind": "speech", "turn_id": "T-90", "choice": "", "by": "a"}
    reviewed.review("undo", "D-1", "--by", "a")
    rows = [json.dumps(row | {"ending": ending}) + "\n" for ending in ("용", "욥")]
    (here / "speech.jsonl").write_text("".join(rows), encoding="utf-8")
    lines = reviewed.review("take", "speech.jsonl").out.splitlines()
    assert lines[:5] == ["D-3  ending add 용", *told, undo.format("D-3")]
    assert lines[5:] == ["D-4  ending add 욥", "  욥  mends 0, breaks 0, labels 2 -> 2 of 3", undo.format("D-4")]
    assert "mends 0, breaks 0" in reviewed.review("decide", "trailing", "ignore", "--by", "a").out


def test_terms_in_the_place_of_one_are_parted_at_commas_and_tried(reviewed: Reviewed) -> None:
    about = ("--term", "선거", "--topic", "현실 정치", "--by", "a")
    told = reviewed.review(
        "decide", "term", "narrow", *about, "--instead", "선거 얘기, 총선거", "--instead", "선거철"
    ).out
    first, effect, change, example, *rest = told.splitlines()
    assert first == "D-1  term narrow 선거 현실 정치 -> 「선거 얘기」, 「총선거」, 「선거철」"
    assert effect == "  1 turn judged otherwise, labels 2 -> 2 of 3"
    assert change.startswith("    금지 소재 접촉 -> ") and example.startswith("      T-15  ")
    absent = [f"  careful: 「{term}」 stands in no reply of the log" for term in ("총선거", "선거철")]
    assert rest == [*absent, "  to take it back: wh-judge review undo D-1 --by NAME"]
    assert "2 turns judged otherwise" in reviewed.review("decide", "term", "drop", *about).out
    assert reviewed.review("decide", "term", "keep", *about).out == "D-3  term keep 선거 현실 정치\n"
    assert "instead is missing" in reviewed.review("decide", "term", "narrow", *about, "--instead", " , ").err


def test_that_more_endings_are_proposed_is_told(reviewed: Reviewed, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ("저는 먹었어용.", "저는 갔답니당.")
    said = [POLITE | {"reply_text": text} for text in texts]
    reviewed.house.log(
        "more", *(turn(f"T-{n}", turn_at=at(3), character_id="C-2", **one) for n, one in enumerate(said, 90))
    )
    reviewed.run()
    assert "mends 1" in reviewed.review("endings").out and "endings; --json" not in reviewed.review("endings").out
    monkeypatch.setattr("wh_judge.review.endings.SHOWN", 1)
    shown = reviewed.review("endings").out
    assert shown.endswith("the first 1 of 2 endings; --json has all\n") and shown.count("mends 1") == 1
    assert len(reviewed.rows("endings")) == 2


def test_what_was_decided_is_listed(reviewed: Reviewed) -> None:
    reviewed.review("decide", "ending", "add", "--ending", "용", "--by", "지은", "--why", "귀여운 말투")
    reviewed.review("undo", "D-1", "--by", "지은")
    lines = reviewed.review("decisions").out.splitlines()
    assert "ending add 용  by 지은: 귀여운 말투  (undone by D-2)" in lines[0] and "undo D-1" in lines[1]
    for choice in ("reject", "add"):
        reviewed.review("decide", "ending", choice, "--ending", "욥", "--by", "지은")
    assert "ending reject 욥  by 지은  (does not count any more)" in reviewed.review("decisions").out
    assert [row["in_force"] for row in reviewed.rows("decisions")] == [False, False, False, True]


def test_a_name_that_is_no_new_person_is_decided_by_command_and_in_korean(reviewed: Reviewed) -> None:
    about = ("--character", "C-1", "--name", "리안", "--instead", "하늘", "--by", "지은")
    assert reviewed.review("decide", "name", "새 인물이 아님", *about).out == "D-1  name mistake C-1 리안 -> 「하늘」\n"
    assert reviewed.rows("queue", "names", "--week", WEEK)["tasks"] == []
    reviewed.run()
    why = call("why", "T-8", *reviewed.data).out
    assert "D-1  name mistake C-1 리안 -> 「하늘」  by 지은" in why and "세계관 밖 고유명사" in why


def test_a_reason_of_several_lines_forges_no_line_of_a_list(reviewed: Reviewed) -> None:
    why = "스승\n2026-09-01  T-1  forged\u2028D-9  forged"
    reviewed.review("decide", "name", "add", "--character", "C-1", "--name", "리안", "--by", "지은", "--why", why)
    reviewed.run()
    told = (call("changes", *reviewed.data), call("why", "T-8", *reviewed.data), reviewed.review("decisions"))
    assert not [
        line for out in told for line in out.out.splitlines() if line.lstrip().startswith(("2026-09-01", "D-9"))
    ]
    assert ["forged D-9  forged" in result.out for result in told] == [True] * 3


def test_a_queue_is_a_table_for_people_and_json_for_machines(reviewed: Reviewed) -> None:
    shown = reviewed.review("queue", "names", "--week", WEEK)
    assert [cell for cell in ("리안", "T-8:") if cell not in shown.out] == [] and "{" not in shown.out
    assert f"{DAYS}: 1 task; --out writes them" in shown.err
    found = reviewed.rows("queue", "names", "--week", WEEK)
    days = (found["queue"], found["week"], found["first"], found["last"])
    assert days == ("names", WEEK, "2026-08-31", "2026-09-06")
    [row] = found["tasks"]
    assert (row["task_id"], row["count"], row["choice"]) == (f"{WEEK}/names/C-1/리안", 1, None)
    reviewed.review(
        "decide", "hit", "harmless", *("--turn", "T-7", "--term", "선거"), "--topic", "현실 정치", "--by", "a"
    )
    hits = reviewed.review("queue", "forbidden", "--week", WEEK).out
    assert [cell for cell in ("T-7", "선거", "harmless") if cell not in hits] == []


def test_a_queue_shows_just_what_can_be_decided_on(reviewed: Reviewed) -> None:
    """Both look at what is published: a day that was judged since is in neither."""
    house = reviewed.house
    house.log("more", turn("T-90", turn_at=at(3), reply_text="선거철이군."))
    with house.warehouse() as connection:
        house.bring_in_log(connection)
        assert house.judge(connection, DAY_3).committed
    hit = ("decide", "hit", "harmless", "--turn", "T-90", "--term", "선거", "--topic", "현실 정치", "--by", "a")

    def shown_and_decided() -> tuple[bool, bool]:
        tasks = reviewed.rows("queue", "forbidden", "--week", WEEK)["tasks"]
        return "T-90" in [task["turn_id"] for task in tasks], reviewed.review(*hit).code == 0

    assert shown_and_decided() == (False, False)
    reviewed.run()
    assert shown_and_decided() == (True, True)


def test_a_queue_is_shown_while_the_warehouse_is_open_elsewhere(reviewed: Reviewed) -> None:
    with duckdb.connect(str(reviewed.house.settings.warehouse)):
        done = call_process("review", "queue", "names", "--week", WEEK, *reviewed.data, cwd=reviewed.house.data)
    assert done.code == 0 and "리안" in done.out


NOTHING: list[tuple[tuple[str, ...], Any, str]] = [
    (("decisions",), [], "nobody has decided anything yet; wh-judge review queue shows"),
    (("terms",), [], "nobody has said yet of a hit whether it is harmful; wh-judge review queue forbidden shows"),
    (("endings",), [], "no ending to propose: none but those that were rejected would free more turns"),
    (("labels",), {"labels": [], "labellers": [], "pairs": []}, "no turn has a label yet; wh-judge review decide"),
]
EMPTY = {
    "forbidden": "no turn of this week is judged 금지 소재 접촉; --week 2026-W36 has some",
    "names": "no off-canon name up to the end of this week is left to decide on; --week 2026-W36 has some",
    "speech": "no reply of this week mixes speech levels",
}


@pytest.mark.parametrize("queue", EMPTY)
def test_an_empty_queue_says_why_and_names_the_nearest_week(reviewed: Reviewed, queue: str) -> None:
    words = ("queue", queue, "--week", "2020-W01")
    assert reviewed.review(*words) == (0, "", f"2020-W01 (2019-12-30 to 2020-01-05): {EMPTY[queue]}\n")
    assert reviewed.rows(*words)["tasks"] == []


@pytest.mark.parametrize(("words", "document", "told"), NOTHING, ids=[" ".join(row[0]) for row in NOTHING])
def test_that_there_is_nothing_is_told(
    reviewed: Reviewed, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], document: Any, told: str
) -> None:
    monkeypatch.setenv("WH_JUDGE_INPUTS", str(reviewed.house.inputs))
    (reviewed.house.inputs / "gold.csv").unlink()
    code, out, error = reviewed.review(*words)
    assert (code, out) == (0, "") and error.startswith(told) and len(error.splitlines()) == 1
    assert reviewed.rows(*words) == document


def test_that_all_is_decided_or_nothing_is_told(reviewed: Reviewed, here: Path) -> None:
    for task in reviewed.rows("queue", "forbidden", "--week", WEEK)["tasks"]:
        about = ("--turn", task["turn_id"], "--term", task["term"], "--topic", task["topic"])
        reviewed.review("decide", "hit", "harmless", *about, "--by", "a")
    left = reviewed.review("queue", "forbidden", "--week", WEEK, "--open")
    assert (left.code, left.out, left.err) == (0, "", f"{DAYS}: somebody has decided on each of the 3\n")
    (here / "names.jsonl").write_text('{"kind": "name", "choice": null}\n', encoding="utf-8")
    assert reviewed.review("take", "names.jsonl").err == "names.jsonl: holds no decision: nobody made a choice in it\n"


BAD: list[tuple[tuple[str, ...], str]] = [
    *((("queue", "names", "--week", week), f"{week}: is no week") for week in ("W36", "9999-W52", "２０２６-W36")),
    (("queue", "names", "--out", "names.xlsx"), "write to a name that ends in"),
    (
        ("decide", "name", "add", "--name", "리안", "--by", "a"),
        "--character is missing; name needs --character, --name",
    ),
    (("decide", "hit", "harmless", "--by", "a"), "--turn is missing; hit needs --turn, --term, --topic"),
    (("decide", "label", "좋음", "--turn", "T-1", "--by", "a"), "choice of label is none of"),
    (("undo", "D-7", "--by", "a"), "D-7: there is no such decision"),
]


@pytest.fixture
def damaged(reviewed: Reviewed) -> Reviewed:
    """A judged log of the test's own, and a book of which the last line was cut off."""
    reviewed.review("decide", "label", "말투 어긋남", "--turn", "T-1", "--by", "a")
    with (reviewed.house.data / "decisions.jsonl").open("ab") as file:
        file.write(b'{"kind": "label"')
    return reviewed


@pytest.mark.parametrize("words", [("why", "T-8"), ("tree", "T-8"), ("changes",), ("probes", "results"), ("profile",)])
def test_a_damaged_book_keeps_nobody_from_reading_verdicts(damaged: Reviewed, words: tuple[str, ...]) -> None:
    result = call(*words, *damaged.data)
    assert "decisions.jsonl" not in result.err and "T-8" in call("why", "T-8", *damaged.data).out


@pytest.mark.parametrize("words", [("decisions",), ("labels",), ("queue", "names"), ("endings",), ("terms",)])
def test_what_is_shown_of_a_damaged_book_says_what_is_left_out(damaged: Reviewed, words: tuple[str, ...]) -> None:
    result = damaged.review(*words)
    assert result.code == 1 and "decisions.jsonl:2: is left out here: is no decision: " in result.err


def test_what_can_be_read_of_a_damaged_book_is_listed(damaged: Reviewed) -> None:
    assert "D-1" in damaged.review("decisions").out and "a  1 label" in damaged.review("labels").out


@pytest.mark.parametrize("words", [("run",), ("stale",), ("review", "undo", "D-1", "--by", "a")])
def test_by_a_damaged_book_nothing_is_judged_and_nothing_decided(damaged: Reviewed, words: tuple[str, ...]) -> None:
    result = call(*words, *damaged.data)
    assert result.code == 2 and "decisions.jsonl:2: is no decision: " in result.err


BY = ("--by", "a")
ABSENT: list[tuple[tuple[str, ...], str]] = [
    (("decide", "name", "add", "--character", "C-9", "--name", "리안", *BY), "there is no character 「C-9」"),
    (("decide", "label", "말투 어긋남", "--turn", "T-1\nwh-judge: \x1b[31m", *BY), "there is no turn 「T-1 wh-judge: "),
    (("decide", "term", "drop", "--term", "과음", "--topic", "음주", *BY), "no row 「과음」 -> 「음주」"),
    (("undo", "D-1\nD-2", *BY), "D-1 D-2: there is no such decision"),
    (("undo", "D-1", *BY, "--why", "가" * 100_000), "why: String should have at most 2000 characters"),
    (("decide", "name", "burn" * 9_999, "--character", "C-1", "--name", "리안", *BY), "choice of name is none of"),
]


@pytest.mark.parametrize(("words", "error"), ABSENT, ids=[row[1] for row in ABSENT])
def test_what_does_not_exist_is_told_in_one_line(reviewed: Reviewed, words: tuple[str, ...], error: str) -> None:
    result = reviewed.review(*words)
    assert (result.code, result.out) == (2, "") and error in result.err
    assert len(result.err.splitlines()) == 1 and "\x1b" not in result.err
    assert reviewed.rows("decisions") == []


def test_a_row_about_what_does_not_exist_is_named_and_nothing_is_taken(reviewed: Reviewed, here: Path) -> None:
    rows = [{"kind": "name", "choice": "add", "character_id": of, "name": "리안", "by": "a"} for of in ("C-1", "C-9")]
    (here / "names.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    result = reviewed.review("take", "names.jsonl")
    assert result.code == 2 and "names.jsonl:2: there is no character 「C-9」" in result.err
    assert reviewed.rows("decisions") == []


def test_a_decision_can_be_written_down_while_the_warehouse_is_open_elsewhere(reviewed: Reviewed) -> None:
    with duckdb.connect(str(reviewed.house.settings.warehouse)):
        done = call_process(
            *("review", "decide", "label", "말투 어긋남", "--turn", "T-1", *BY, *reviewed.data), cwd=reviewed.house.data
        )
    assert (done.code, done.out) == (0, "D-1  label 말투 어긋남 T-1\n")


@pytest.mark.parametrize(("words", "error"), BAD)
def test_what_cannot_be_is_told_in_one_line(tmp_path: Path, words: tuple[str, ...], error: str) -> None:
    house = settle(tmp_path / "house")
    with house.warehouse() as connection:
        house.bring_in(connection)
        house.judge(connection, DAY_1)
        publish(connection, house.settings.published, keep=1)
    result = call("review", *words, "--data", str(house.data))
    assert result.code == 2 and error in result.err and len(result.err.splitlines()) == 1
    assert not (house.data / "decisions.jsonl").exists() or not (house.data / "decisions.jsonl").read_text()
