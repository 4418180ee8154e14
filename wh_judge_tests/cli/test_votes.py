"""`wh-judge votes`: bring in, give out, rate."""

import json
from pathlib import Path

import pytest

from wh_judge.store.votes import bring_in_people, read_votes
from wh_judge.votes import formats
from wh_judge.votes.rows import WINNERS, Vote, votes_from
from wh_judge_tests.builders import turn
from wh_judge_tests.cli.call import Result, call
from wh_judge_tests.house import DAYS, House, at, settle
from wh_judge_tests.input_files import write
from wh_judge_tests.votes import vote

BATTLES = [
    {"model_a": "a", "model_b": "b", "winner": winner} for winner in ("model_a", "model_a", "model_b", "tie (bothbad)")
]


def read_file(path: Path, form: formats.Format, source: str, items: Path | None = None) -> list[Vote]:
    return votes_from(formats.read_votes(path, form, source, items))


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A house with inputs."""
    return settle(tmp_path)


def brought_in(house: House, *documents: dict[str, str]) -> Result:
    path = write(house.inputs.parent / "battles.jsonl", documents or BATTLES)
    result = call("votes", "import", path, "--source", "arena", "--data", house.data)
    with house.warehouse() as connection:
        bring_in_people(connection, house.settings)
    return result


def test_imported_votes_are_in_the_warehouse_after_the_next_run(house: House) -> None:
    code, out, error = brought_in(house)
    assert (code, out) == (0, "")
    assert error.startswith("4 votes written to ")
    with house.warehouse() as connection:
        found = read_votes(connection)
    assert sorted(entry.winner for entry in found) == ["both_bad", "model_a", "model_a", "model_b"]
    assert {entry.source for entry in found} == {"arena"}


def test_the_same_file_again_changes_nothing_and_says_so(house: House) -> None:
    assert "known already" not in brought_in(house).err
    assert "4 of them are known already" in brought_in(house).err
    with house.warehouse() as connection:
        assert len(read_votes(connection)) == 4


def test_one_bad_label_and_nothing_is_brought_in(house: House) -> None:
    code, out, error = brought_in(house, BATTLES[0], BATTLES[1] | {"winner": "draw"})
    assert (code, out) == (2, "")
    assert "battles.jsonl:2: winner is not 'model_a', 'model_b', 'tie' or 'both_bad' ('draw')" in error
    assert not house.settings.votes.exists()


def test_a_source_is_no_path(house: House) -> None:
    path = write(house.inputs.parent / "battles.jsonl", BATTLES)
    assert call("votes", "import", path, "--source", "../x/y", "--data", house.data).code == 0
    [file] = house.settings.votes.iterdir()
    assert file.name.startswith("votes--x-y-")


@pytest.mark.parametrize("source", ["README", ".hidden", "가" * 300])
def test_votes_of_any_source_are_counted(source: str, house: House) -> None:
    path = write(house.inputs.parent / "battles.jsonl", BATTLES)
    assert call("votes", "import", path, "--source", source, "--data", house.data).code == 0
    with house.warehouse() as connection:
        bring_in_people(connection, house.settings)
        assert {entry.source for entry in read_votes(connection)} == {source}


def test_votes_do_not_take_the_place_of_votes_on_other_replies(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WH_JUDGE_INPUTS", str(house.inputs))
    write(house.inputs / "votes.jsonl", [vote("1").model_dump(mode="json")])
    code, _, error = brought_in(house, {"id": "1", "model_a": "a", "model_b": "b", "winner": "tie"})
    assert code == 2
    assert "battles.jsonl: vote_id 1 is already that of a vote on other replies" in error
    assert not house.settings.votes.exists()


def test_a_vote_that_was_changed_in_the_other_tool_counts_as_it_is_now(house: House) -> None:
    for winner in WINNERS:
        brought_in(house, BATTLES[0] | {"id": "1", "winner": winner})
        with house.warehouse() as connection:
            assert [entry.winner for entry in read_votes(connection)] == [winner]


@pytest.mark.parametrize(("form", "name"), [("lmarena", "o.jsonl"), ("label-studio", "o.json"), ("potato", "o.jsonl")])
def test_exported_votes_are_those_of_the_warehouse(form: str, name: str, house: House) -> None:
    write(house.inputs / "votes.jsonl", [vote(f"V-{n}").model_dump(mode="json") for n in range(3)])
    with house.warehouse() as connection:
        bring_in_people(connection, house.settings)
        expected = read_votes(connection)
    out = house.inputs.parent / name
    code, stdout, error = call("votes", "export", "--format", form, "--out", out, "--data", house.data)
    assert (code, stdout) == (0, "")
    assert error.startswith("3 votes written to ")
    assert read_file(out, form, "x") == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("arguments", [("export", "--out", "o.jsonl"), ("ratings",), ("agreement",)])
def test_without_a_vote_it_says_what_to_do(arguments: tuple[str, ...], house: House) -> None:
    with house.warehouse():
        pass
    code, out, error = call("votes", *arguments, "--data", house.data)
    assert (code, out) == (2, "")
    assert "import some and run wh-judge run first" in error


def test_only_the_votes_of_a_source_are_exported(house: House) -> None:
    brought_in(house)
    code, _, error = call("votes", "export", "--source", "elsewhere", "--out", "o.jsonl", "--data", house.data)
    assert code == 2 and "no such vote" in error


def test_ratings_are_shown(house: House) -> None:
    brought_in(house)
    code, out, error = call("votes", "ratings", "--data", house.data)
    assert (code, error) == (0, "")
    assert out.startswith("Ratings by 4 votes\n")
    assert [line.split()[0] for line in out.splitlines() if line.startswith((" a ", " b "))] == ["a", "b"]
    document = json.loads(call("votes", "ratings", "--data", house.data, "--json").out)
    assert document["people"]["ratings"][0]["model_id"] == "a"


def test_without_a_common_scale_the_components_are_shown(house: House) -> None:
    brought_in(house, *BATTLES[:2])
    out = call("votes", "ratings", "--data", house.data).out
    assert "a: won every comparison with others (b)" in out
    assert "no common scale" in out


def test_agreement_is_shown(house: House) -> None:
    write(house.inputs / "votes.jsonl", [vote("V-1", case_id="P-3", winner="model_a").model_dump(mode="json")])
    with house.warehouse() as connection:
        house.bring_in(connection)
        for day in DAYS:
            house.judge(connection, day)
        bring_in_people(connection, house.settings)
    code, out, error = call("votes", "agreement", "--data", house.data)
    assert (code, error) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "Judges beside 1 vote"
    assert lines[1].startswith("  rules: 1 vote, accuracy 1.00, ")
    assert "  rules: 4 runs over 2 replies, largest spread 0.000" in out
    document = json.loads(call("votes", "agreement", "--data", house.data, "--json").out)
    assert [judge["judge"] for judge in document["judges"]] == ["rules", "rules, kept or not"]


@pytest.mark.parametrize(("form", "name"), [("label-studio", "tasks.json"), ("potato", "items.jsonl")])
def test_pairs_to_vote_on_come_back_as_votes(form: str, name: str, house: House, tmp_path: Path) -> None:
    with house.warehouse() as connection:
        house.bring_in(connection)
    code, out, error = call("votes", "pairs", "--format", form, "--out", name, "--data", house.data)
    assert (code, out) == (0, "")
    assert error == f"3 pairs written to {name}\n"
    text = Path(name).read_text(encoding="utf-8")
    if form == "label-studio":
        tasks = json.loads(text)
        left = {"type": "pairwise", "value": {"selected": "left"}}
        done = [task | {"id": n, "annotations": [{"id": n, "result": [left]}]} for n, task in enumerate(tasks)]
        given = [task["data"] for task in tasks]
        votes = read_file(write(tmp_path / "done.json", done), "label-studio", "studio")
    else:
        given = [json.loads(line) for line in text.splitlines()]
        done = [{"id": item["id"], "label_annotations": {"p": {"selection": "A"}}} for item in given]
        votes = read_file(write(tmp_path / "done.jsonl", done), "potato", "potato", items=Path(name))
    assert [entry.case_id for entry in votes] == [item["case_id"] for item in given]
    assert [entry.winner for entry in votes] == [item["shown_left"] for item in given]
    replies = {item["case_id"]: {item["left"], item["right"]} for item in given}
    assert replies["P-3"] == {"저는 그렇게 생각해요. 쉬세요.", "검을 잡아. 오늘은 손목부터 본다."}


def test_prompts_with_nothing_to_choose_from_are_told(house: House) -> None:
    house.log("same", *(turn(f"T-9{n}", turn_at=at(1), model_id=f"M-{n}", prompt_id="P-9") for n in (1, 2)))
    with house.warehouse() as connection:
        house.bring_in(connection)
    _, _, error = call("votes", "pairs", "--format", "potato", "--out", "x.jsonl", "--data", house.data)
    assert error.startswith("1 prompt with nothing to choose from left out, since all replies are the same: P-9\n")
    assert error.endswith("3 pairs written to x.jsonl\n")


def test_without_a_shared_prompt_there_is_nothing_to_vote_on(house: House) -> None:
    with house.warehouse():
        pass
    code, _, error = call("votes", "pairs", "--format", "potato", "--out", "x.jsonl", "--data", house.data)
    assert code == 2 and "no prompt was answered by two models" in error


def test_ratings_by_support_alone_say_that_nobody_voted(house: House) -> None:
    support = [{"case_id": "P-1", "model_id": m, "supported": m == "a"} for m in ("a", "b")]
    write(house.inputs / "support.jsonl", support)
    with house.warehouse() as connection:
        bring_in_people(connection, house.settings)
    code, out, _ = call("votes", "ratings", "--data", house.data)
    assert code == 0
    assert out.startswith("Ratings by 1 comparison by support\n")
    assert "nobody has voted: all 1 comparisons follow from what the models support" in out


def test_another_judge_s_rows_on_unknown_turns_are_told(house: House) -> None:
    brought_in(house)
    write(house.inputs / "judges.jsonl", [{"judge": "[bold]J", "turn_id": "T-404", "score": 1}])
    with house.warehouse() as connection:
        bring_in_people(connection, house.settings)
    out = call("votes", "agreement", "--data", house.data).out
    assert out.startswith("  [bold]J: left out 1 row on turns that the log does not have, such as T-404\nJudges beside")


def test_unknown_turns_are_told_before_that_nobody_voted(house: House) -> None:
    write(house.inputs / "judges.jsonl", [{"judge": "[bold]J", "turn_id": "T-404", "score": 1}])
    with house.warehouse() as connection:
        bring_in_people(connection, house.settings)
    code, out, error = call("votes", "agreement", "--data", house.data)
    assert (code, out) == (2, "")
    first, second = error.splitlines()
    assert first == "[bold]J: left out 1 row on turns that the log does not have, such as T-404"
    assert "there is no vote in the warehouse" in second


def test_a_long_name_does_not_flood_the_terminal(house: House) -> None:
    votes = [vote(f"V-{n}", annotator=who * 10_000, model_b="m" * 10_000) for n, who in enumerate("가나")]
    write(house.inputs / "votes.jsonl", [entry.model_dump(mode="json") for entry in votes])
    with house.warehouse() as connection:
        bring_in_people(connection, house.settings)
    for command in ("ratings", "agreement"):
        assert len(call("votes", command, "--data", house.data).out) < 5_000
