"""`wh-judge validate --drafts`: each file scored as one model's responses."""

import json
from pathlib import Path
from typing import Any

from wh_judge_tests.builders import STATE
from wh_judge_tests.cli.call import call, state_files


def responses(folder: Path, name: str, **changes: Any) -> None:
    """A file in which a model gives every verdict back, with fields changed."""
    lines = [json.dumps(claim | changes, ensure_ascii=False) for claim in STATE.claims(keyed=False)]
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def scored(tmp_path: Path) -> tuple[int, list[dict[str, Any]]]:
    result = call("validate", "--drafts", "--json", "--verdicts", tmp_path / "models", *state_files(tmp_path))
    return result.code, json.loads(result.out)


COUNT = len(STATE.turns)


def test_files_are_set_side_by_side(tmp_path: Path) -> None:
    responses(tmp_path / "models", "a")
    responses(tmp_path / "models", "b", verdict="합격")
    responses(tmp_path / "models", "c", summary="존댓말을 썼다.")
    code, scores = scored(tmp_path)
    assert code == 1
    assert [(entry["file"], entry["outcomes"]) for entry in scores] == [
        ("models/a.jsonl", {"kept": COUNT}),
        ("models/b.jsonl", {"thrown_away": COUNT}),
        ("models/c.jsonl", {"default": COUNT}),
    ]
    assert scores[1]["reasons"]["v01_verdict_value"] == COUNT
    assert scores[2]["reasons"]["v10_summary_one_polite_sentence"] == COUNT


def test_where_all_are_kept_there_is_nothing_to_look_at(tmp_path: Path) -> None:
    responses(tmp_path / "models", "a")
    assert scored(tmp_path)[0] == 0


def test_what_cannot_be_read_or_is_about_no_turn_counts_as_thrown_away(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    lines = ["{broken", json.dumps({"turn_id": "T-none", "verdict": "말투 어긋남"}), json.dumps({"turn_id": 7})]
    lines.append(json.dumps({"turn_id": "\ud800"}))
    good = json.dumps(STATE.claims(keyed=False)[0], ensure_ascii=False)
    (tmp_path / "models" / "a.jsonl").write_text("\n".join([good, *lines]), encoding="utf-8")
    _, [entry] = scored(tmp_path)
    assert entry["outcomes"] == {"kept": 1, "thrown_away": 4}
    assert entry["reasons"] == {"no_json": 1, "other_turn": 3}
    assert [(refusal["line"], refusal["turn_id"]) for refusal in entry["refusals"]] == [
        (2, None),
        (3, "T-none"),
        (4, None),
        (5, None),
    ]


def test_people_get_a_table(tmp_path: Path) -> None:
    responses(tmp_path / "models", "a", verdict="합격")
    result = call("validate", "--drafts", "--verdicts", tmp_path / "models", *state_files(tmp_path))
    assert f"models/a.jsonl  v01_verdict_value  {COUNT}" in result.out
    assert "… " in result.out and "more, all of them in --json" in result.out


def batch(folder: Path, *responses: Any) -> None:
    """A file as a batch gives it back: of each turn what the model's message is, or what stands in its place."""
    folder.mkdir(exist_ok=True)
    lines = []
    for claim, response in zip(STATE.claims(keyed=False), responses, strict=False):
        if isinstance(response, str):
            choice = {"finish_reason": "length" if response == CUT else "stop", "message": {"content": response}}
            response = {"response": {"status_code": 200, "body": {"choices": [choice]}}, "error": None}
        lines.append(json.dumps({"id": "b", "custom_id": claim["turn_id"]} | response, ensure_ascii=False))
    (folder / "a.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


CUT = '{"turn_id": '
GOOD = [json.dumps(claim, ensure_ascii=False) for claim in STATE.claims(keyed=False)]
REFUSED = {"response": {"status_code": 400, "body": {"error": {"message": "too long"}}}, "error": None}
EXPIRED = {"response": None, "error": {"code": "batch_expired", "message": "too late"}}


def test_what_a_batch_gives_back_is_scored_alike(tmp_path: Path) -> None:
    batch(tmp_path / "models", GOOD[0], GOOD[2], CUT, REFUSED, EXPIRED, {"response": {"body": []}})
    code, [entry] = scored(tmp_path)
    assert code == 1
    assert entry["outcomes"] == {"kept": 1, "thrown_away": 2, "no_response": 3}
    assert entry["reasons"] == {"other_turn": 1, "cut_off": 1, "no_answer": 3}
    told = [refusal["reasons"][0]["reason"] for refusal in entry["refusals"]][2:]
    assert [words[:26] for words in told] == ["the batch has no answer: a"] * 2 + ["the answer is no chat comp"]
    assert [refusal["turn_id"] for refusal in entry["refusals"]] == [turn.turn_id for turn in STATE.turns[1:6]]


def test_what_a_batch_gives_back_is_validated_too(tmp_path: Path) -> None:
    batch(tmp_path / "models", *GOOD)
    result = call("validate", "--json", "--verdicts", tmp_path / "models", *state_files(tmp_path))
    document = json.loads(result.out)
    assert (result.code, document["unread"]) == (0, [])
    assert document["validations"][0]["looked_at"] == COUNT
    batch(tmp_path / "models", GOOD[0], "no JSON", "[]", EXPIRED)
    result = call("validate", "--json", "--verdicts", tmp_path / "models", *state_files(tmp_path))
    assert [(row["line"], row["reason"][:24]) for row in json.loads(result.out)["unread"]] == [
        (2, "the response is no JSON:"),
        (3, "the response is no objec"),
        (4, "the batch has no answer:"),
    ]
