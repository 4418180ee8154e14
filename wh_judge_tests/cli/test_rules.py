"""`wh-judge rules`"""

import json

import pytest

from wh_judge.rules import RULES
from wh_judge_tests.cli.call import call

CODES = [rule.code for rule in RULES]
PARTS = ["what", "why", "reference"]


def test_all_rules_are_shown_in_the_order_they_are_tried() -> None:
    code, out, err = call("rules")
    assert (code, err) == (0, "")
    heads = [line for line in out.splitlines() if line and not line.startswith(" ")]
    assert heads == [f"{rule.code}  {rule.verdict}" for rule in RULES]


@pytest.mark.parametrize("rule", RULES, ids=CODES)
def test_one_rule_is_shown_whole(rule: object) -> None:
    shown = next(known for known in RULES if known is rule)
    code, out, err = call("rules", shown.code)
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == f"{shown.code}  {shown.verdict}"
    words = " ".join(out.split())
    for part in PARTS:
        assert f"{part}: {' '.join(getattr(shown, part).split())}" in words
    for example in (shown.breaks, shown.keeps):
        assert " ".join((example.turn.reply_text or "").split()) in words
    assert [line for line in out.splitlines() if line.strip().startswith(f"{shown.verdict}: ")]


def test_json_holds_the_same() -> None:
    code, out, err = call("rules", "--json")
    assert (code, err) == (0, "")
    documents = json.loads(out)
    assert [document["code"] for document in documents] == CODES
    for document, rule in zip(documents, RULES, strict=True):
        assert {part: document[part] for part in PARTS} == {part: getattr(rule, part) for part in PARTS}
        assert document["verdict"] == rule.verdict
        examples = {document[name]["verdict"] for name in ("breaks", "keeps")}
        assert rule.verdict in examples and len(examples) == 2
        assert document["keeps"]["reply_text"] == rule.keeps.turn.reply_text
        assert document["keeps"]["summary"]
    assert json.loads(call("rules", CODES[0], "--json").out) == documents[:1]


@pytest.mark.parametrize("name", ["Speech", "speeches", "", "말투 어긋남"])
def test_a_rule_that_is_none_is_an_error_that_names_the_rules(name: str) -> None:
    assert call("rules", name) == (2, "", f"wh-judge: {name}: is no rule; the codes are {', '.join(CODES)}\n")
