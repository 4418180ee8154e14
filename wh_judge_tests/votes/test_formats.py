"""Votes from and to the files of other tools."""

import json
from pathlib import Path
from typing import Any

import pytest

from wh_judge.errors import UserError
from wh_judge.votes import formats
from wh_judge.votes.formats import FORMATS, Format, write_pairs, write_votes
from wh_judge.votes.rows import Vote, votes_from
from wh_judge_tests.input_files import write
from wh_judge_tests.votes import vote

VOTES = [
    vote("V-1", winner="model_a", shown_left="model_b"),
    vote("V-2", winner="model_b", shown_left="model_b"),
    vote("V-3", winner="tie", annotator=None),
    vote("V-4", winner="both_bad", shown_left="model_a", source="studio"),
    vote("V-5", winner="model_a", shown_left=None),
]


def read_votes(path: Path, form: Format, source: str, items: Path | None = None) -> list[Vote]:
    return votes_from(formats.read_votes(path, form, source, items))


def read(path: Path, form: Format, *documents: Any, **options: Any) -> list[Vote]:
    write(path, list(documents))
    return read_votes(path, form, "elsewhere", **options)


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_written_is_read_back(form: Format, tmp_path: Path) -> None:
    path = tmp_path / ("votes.json" if form == "label-studio" else "votes.jsonl")
    write_votes(VOTES, form, path)
    assert read_votes(path, form, "elsewhere") == VOTES


@pytest.mark.parametrize("form", FORMATS)
def test_a_name_that_does_not_fit_the_form_is_refused(form: Format, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="name that ends in"):
        write_votes(VOTES, form, tmp_path / "votes.csv")


BATTLE = {
    "question_id": 58210,
    "model_a": "haneul-7b",
    "model_b": "baram-13b",
    "winner": "tie (bothbad)",
    "judge": "arena_user_973",
    "conversation_a": [{"role": "user", "content": "안녕"}],
    "tstamp": 1682351591.1322,
    "language": "Korean",
}


def test_a_battle_of_lmarena_is_a_vote(tmp_path: Path) -> None:
    [found] = read(tmp_path / "battles.jsonl", "lmarena", BATTLE)
    assert (found.case_id, found.winner, found.annotator, found.source) == (
        "58210",
        "both_bad",
        "arena_user_973",
        "elsewhere",
    )
    assert found.voted_at is not None and found.voted_at.isoformat() == "2023-04-24T15:53:11.132200+00:00"
    assert found.shown_left is None


def test_equal_battles_are_votes_of_their_own_and_keep_their_ids(tmp_path: Path) -> None:
    path = tmp_path / "battles.jsonl"
    first, second = read(path, "lmarena", BATTLE, BATTLE)
    assert first.vote_id != second.vote_id
    assert read_votes(path, "lmarena", "elsewhere") == [first, second]


def task(*results: Any, **data: Any) -> dict[str, Any]:
    shown = {"case_id": "P-1", "model_a": "M-1", "model_b": "M-2", "shown_left": "model_b"}
    annotations = [
        {"id": n, "completed_by": n, "created_at": "2026-09-20T01:00:00.000000Z", "result": result}
        for n, result in enumerate(results, 1)
    ]
    return {"id": 7, "data": shown | data, "annotations": annotations}


def pairwise(side: str) -> list[Any]:
    return [{"from_name": "pw", "to_name": "l,r", "type": "pairwise", "value": {"selected": side}}]


def choices(*labels: str) -> list[Any]:
    return [{"from_name": "c", "to_name": "l", "type": "choices", "value": {"choices": list(labels)}}]


def test_a_side_of_label_studio_is_the_model_that_was_shown_there(tmp_path: Path) -> None:
    results = [pairwise("left"), pairwise("right"), choices("tie"), choices("both_bad")]
    found = read(tmp_path / "p.json", "label-studio", task(*results))
    assert [entry.winner for entry in found] == ["model_b", "model_a", "tie", "both_bad"]
    assert [entry.annotator for entry in found] == ["1", "2", "3", "4"]
    assert len({entry.vote_id for entry in found}) == 4


def test_without_a_remembered_side_the_first_is_on_the_left(tmp_path: Path) -> None:
    [found] = read(tmp_path / "p.json", "label-studio", task(pairwise("left"), shown_left=None))
    assert found.winner == "model_a"


def test_a_cancelled_annotation_is_no_vote(tmp_path: Path) -> None:
    document = task(pairwise("left"), [])
    document["annotations"][1]["was_cancelled"] = True
    assert len(read(tmp_path / "p.json", "label-studio", document)) == 1


def item(selection: Any, **cells: Any) -> dict[str, Any]:
    return {"id": "P-1", "label_annotations": {"preference": selection}} | cells


SHOWN = {"model_a": "M-1", "model_b": "M-2", "shown_left": "model_b"}


@pytest.mark.parametrize(
    ("selection", "winner"),
    [
        ({"selection": "A"}, "model_b"),
        ({"selection": "B"}, "model_a"),
        ({"selection": "tie"}, "tie"),
        ({"A": "1"}, "model_b"),
        ({"both_bad": True, "A": False, "B": ""}, "both_bad"),
    ],
)
def test_a_selection_of_potato_is_a_vote(selection: Any, winner: str, tmp_path: Path) -> None:
    folder = tmp_path / "annotation_output" / "노을"
    folder.mkdir(parents=True)
    write(folder / "annotated_instances.jsonl", [item(selection)])
    write(tmp_path / "pairs.jsonl", [{"id": "P-1", **SHOWN}])
    [found] = read_votes(tmp_path / "annotation_output", "potato", "potato", items=tmp_path / "pairs.jsonl")
    assert (found.winner, found.annotator, found.case_id) == (winner, "노을", "P-1")


@pytest.mark.parametrize(
    ("form", "document", "reason"),
    [
        ("lmarena", BATTLE | {"winner": "draw"}, "winner is not 'model_a'"),
        ("lmarena", {"winner": "tie"}, "model_a is missing"),
        ("lmarena", BATTLE | {"model_b": "haneul-7b"}, "is model_a, too"),
        ("lmarena", BATTLE | {"tstamp": True, "voted_at": "yesterday"}, "voted_at"),
        ("label-studio", task(pairwise("middle")), "selected is neither left nor right"),
        ("label-studio", task(choices("maybe")), "winner is not 'model_a'"),
        ("label-studio", task([]), "has 0 labels"),
        ("label-studio", task(pairwise("left") + choices("tie")), "has 2 labels"),
        ("label-studio", {"text": "…", "pw": "left"}, "export it as JSON"),
        ("label-studio", task(pairwise("left"), shown_left="M-1"), "shown_left is neither"),
        ("potato", item({"selection": "C"}, **SHOWN), "winner is not 'model_a'"),
        ("potato", item({}, **SHOWN), "has 0 labels"),
        ("potato", item({"selection": "A"}), "with --items"),
        ("potato", {"id": "P-1"}, "label_annotations"),
    ],
)
def test_what_is_no_vote_is_an_error_that_names_the_line(
    form: Format, document: Any, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "votes.jsonl"
    with pytest.raises(UserError) as error:
        read(path, form, document)
    assert str(error.value).startswith(f"{path}:1: ") and reason in str(error.value)


def test_a_broken_line_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    path.write_text(json.dumps(BATTLE) + "\n{\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"votes\.jsonl:2: is no JSON"):
        read_votes(path, "lmarena", "elsewhere")


@pytest.mark.parametrize(
    ("source", "documents", "reason"),
    [
        ("capability_support", [BATTLE], "name another source"),
        ("x", [BATTLE | {"id": "1"}, BATTLE | {"id": "1"}], "stands already in"),
        ("x", [], "holds no vote"),
    ],
)
def test_a_file_that_cannot_be_counted_is_refused(
    source: str, documents: list[Any], reason: str, tmp_path: Path
) -> None:
    write(tmp_path / "v.jsonl", documents)
    with pytest.raises(UserError, match=reason):
        read_votes(tmp_path / "v.jsonl", "lmarena", source)


def test_pairs_are_for_tools_that_people_vote_in(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not of pairs to vote on"):
        write_pairs([], "lmarena", tmp_path / "x.jsonl")
    with pytest.raises(UserError, match="to a name that ends"):
        write_pairs([], "label-studio", tmp_path / "x.csv")


STUDIO_TASK: dict[str, Any] = {
    "id": 1,
    "data": {"model_a": "a", "model_b": "b", "shown_left": "model_b", "case_id": "P-1"},
    "annotations": [{"id": 7, "result": [{"type": "pairwise", "value": {"selected": "left"}}]}],
}
POTATO_LINE: dict[str, Any] = {
    "id": "P-1",
    "model_a": "a",
    "model_b": "b",
    "label_annotations": {"preference": {"selection": "A"}},
}
CHOICE_OF_5 = {"annotations": [{"id": 7, "result": [{"type": "choices", "value": {"choices": 5}}]}]}


@pytest.mark.parametrize(
    ("form", "document", "reason"),
    [
        ("lmarena", BATTLE | {"tstamp": 1e20}, "tstamp is no time in seconds since 1970"),
        ("lmarena", BATTLE | {"tstamp": 10**400}, "tstamp is no time in seconds since 1970"),
        ("lmarena", BATTLE | {"tstamp": 1682351591132}, "tstamp is no time in seconds since 1970"),
        ("lmarena", BATTLE | {"question_id": ["a"]}, "case_id is no text"),
        ("lmarena", BATTLE | {"id": {"a": 1}}, "vote_id is no text"),
        ("lmarena", BATTLE | {"id": True}, "vote_id is no text"),
        ("lmarena", BATTLE | {"source": "capability_support"}, "source is the source of comparisons that nobody cast"),
        ("label-studio", STUDIO_TASK | CHOICE_OF_5, "winner is not"),
        ("label-studio", STUDIO_TASK | {"data": STUDIO_TASK["data"] | {"shown_left": ["a"]}}, "shown_left is neither"),
        ("potato", POTATO_LINE | {"shown_left": ["a"]}, "shown_left is neither"),
        ("potato", POTATO_LINE | {"id": ["a"]}, "case_id is no text"),
    ],
)
def test_what_is_no_vote_is_one_line(form: Format, document: Any, reason: str, tmp_path: Path) -> None:
    path = tmp_path / ("votes.json" if form == "label-studio" else "votes.jsonl")
    with pytest.raises(UserError, match=rf"votes\.jsonl?:\d: {reason}"):
        read(path, form, document)


def test_half_a_surrogate_pair_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    path.write_text('{"model_a": "\\ud800", "model_b": "b", "winner": "tie"}\n')
    with pytest.raises(UserError, match="half of a surrogate pair"):
        read_votes(path, "lmarena", "elsewhere")


def test_whole_numbers_name_annotators_and_votes(tmp_path: Path) -> None:
    [found] = read(tmp_path / "votes.jsonl", "lmarena", BATTLE | {"id": 5, "judge": 12})
    assert (found.vote_id, found.annotator) == ("5", "12")


def test_an_id_that_stands_twice_is_named_with_both_lines(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"votes.jsonl:2: vote_id 5 stands already in .*votes.jsonl:1"):
        read(tmp_path / "votes.jsonl", "lmarena", BATTLE | {"id": 5}, BATTLE | {"id": 5})


def test_tasks_of_two_label_studios_are_different_votes(tmp_path: Path) -> None:
    write(tmp_path / "votes.json", [STUDIO_TASK])
    ids = {read_votes(tmp_path / "votes.json", "label-studio", source)[0].vote_id for source in ("one", "other")}
    assert len(ids) == 2


def test_annotations_without_ids_are_told_apart(tmp_path: Path) -> None:
    annotations = [{"result": STUDIO_TASK["annotations"][0]["result"]}]
    tasks = [{"data": STUDIO_TASK["data"] | {"case_id": case}, "annotations": annotations} for case in ("P-1", "P-2")]
    assert len(read(tmp_path / "votes.json", "label-studio", *tasks)) == 2


def test_a_vote_of_nobody_stays_one_in_a_file_of_potato_s_name(tmp_path: Path) -> None:
    path = tmp_path / "annotated_instances.jsonl"
    write_votes([VOTES[2]], "potato", path)
    assert read_votes(path, "potato", "elsewhere") == [VOTES[2]]
