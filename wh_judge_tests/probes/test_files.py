"""A frozen set as a file, and what is given out of it."""

import json
from pathlib import Path

import pytest

from wh_judge.errors import UserError
from wh_judge.ingest import read_table
from wh_judge.inputs import TABLES
from wh_judge.model import ChatTurn, cards_from, lexicon_from
from wh_judge.probes.case import ProbeSet, turns_of
from wh_judge.probes.files import export_probes, failing, read_probes, write_probes
from wh_judge.probes.make import make_probes
from wh_judge_tests.probes import CARDS, SETTINGS, TERMS, made

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
PROBES = made(16)


def test_a_set_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    write_probes(PROBES, tmp_path / "p.json")
    assert read_probes(tmp_path / "p.json") == PROBES


def test_a_set_that_an_editor_saved_with_a_byte_order_mark_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "probes.json"
    write_probes(PROBES, path)
    path.write_text(path.read_text(encoding="utf-8"), encoding="utf-8-sig")
    assert read_probes(path) == PROBES


def test_a_case_that_was_changed_breaks_the_digest(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    write_probes(PROBES, path)
    path.write_text(path.read_text(encoding="utf-8").replace(PROBES.cases[0].user_message, "다른 말"), encoding="utf-8")
    with pytest.raises(UserError, match="was changed after it was frozen"):
        read_probes(path)


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"digest": 1}', b"\xff\xfe"])
def test_what_is_no_set_is_an_error_in_one_line(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_bytes(content)
    with pytest.raises(UserError) as error:
        read_probes(path)
    assert str(error.value).startswith(str(path)) and "\n" not in str(error.value)


def test_each_line_given_out_has_the_messages_and_the_log_of_the_turns_before(tmp_path: Path) -> None:
    export_probes(PROBES, tmp_path / "c.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "c.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["prompt_id"] for line in lines] == [case.case_id for case in PROBES.cases]
    for line, case in zip(lines, PROBES.cases, strict=True):
        roles = [message["role"] for message in line["messages"]]
        assert roles == ["user", "assistant"] * len(case.earlier) + ["user"]
        assert line["messages"][-1]["content"] == case.user_message
        keys = {"turn_id": "T", "session_id": "S", "model_id": "M", "turn_at": "2026-09-01T00:00:00+09:00"}
        rows = [ChatTurn.model_validate(keys | row) for row in line["history"]]
        expected = turns_of(case, case.complies)[:-1]
        assert [row.reply_text for row in rows] == [turn.reply_text for turn in expected]
        assert [row.named_entities for row in rows] == [turn.named_entities for turn in expected]


def test_what_no_longer_stands_is_told_with_the_card_that_changed() -> None:
    assert list(failing(PROBES, CARDS, TERMS, SETTINGS)) == []
    changed = [CARDS[0].model_copy(update={"honorific_rule": "존댓말"}), *CARDS[2:]]
    found = {case.case_id: reasons for case, reasons in failing(PROBES, changed, TERMS, SETTINGS)}
    for case in PROBES.cases:
        if case.character_id == "C-2":
            assert found[case.case_id] == ["C-2 has no card any more"]
        if case.character_id == "C-1":
            assert "the card is not the one that it was frozen with" in found[case.case_id]


def _sample() -> ProbeSet:
    cards = cards_from(read_table(SAMPLE / "cards.json", TABLES["character_card"]).rows)
    terms = lexicon_from(read_table(SAMPLE / "lexicon.csv", TABLES["topic_lexicon"]).rows)
    return make_probes(cards, terms, SETTINGS, cases=56, seed=1)


def test_the_set_of_the_sample_is_what_its_seed_makes() -> None:
    assert read_probes(SAMPLE / "probes.json") == _sample()
