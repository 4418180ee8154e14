"""The scores of all turns at once are those of the checks of each turn's evidence tree."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings

from wh_judge.evaluation.scores import AXES, judge_and_score
from wh_judge.evaluation.tree import evidence_tree
from wh_judge.model import CARD_SCHEMA, LEXICON_SCHEMA, TURN_SCHEMA
from wh_judge.rules import Case, Lexicon, first_mentions
from wh_judge_tests.builders import STATE, Rows
from wh_judge_tests.strategies import rows as logs

_STATE = Rows(STATE.turns, STATE.cards, STATE.lexicon)


def scored(rows: Rows) -> dict[str, dict[str, Any]]:
    """The scores by turn_id."""
    turns, cards, terms = [
        pa.Table.from_pylist([row.model_dump() for row in part], schema)
        for part, schema in ((rows.turns, TURN_SCHEMA), (rows.cards, CARD_SCHEMA), (rows.lexicon, LEXICON_SCHEMA))
    ]
    table = judge_and_score(turns, cards, terms, rows.settings)
    return {row["turn_id"]: row for row in table.to_pylist()}


def grown(rows: Rows) -> dict[str, dict[str, Any]]:
    """The same from the trees."""
    cards = {row.character_id: row for row in rows.cards}
    terms, mentions = Lexicon(rows.lexicon), first_mentions(rows.turns)
    found = {}
    for row in rows.turns:
        if row.character_id in cards:
            tree = evidence_tree(Case(row, cards[row.character_id], terms, mentions, rows.settings))
            axes = {check.code: check.score for check in tree.checks}
            found[row.turn_id] = axes | {"score": tree.score, "kept": tree.verdict == "설정대로 말함"}
    return found


def same(rows: Rows) -> None:
    found, expected = scored(rows), grown(rows)
    assert found.keys() == expected.keys()
    for turn_id, cells in expected.items():
        for name in (*AXES, "score"):
            value, wanted = found[turn_id][name], cells[name]
            assert (value is None) == (wanted is None), (turn_id, name)
            assert value is None or value == pytest.approx(wanted), (turn_id, name)
        assert found[turn_id]["kept"] == cells["kept"]


def test_on_a_log_with_every_verdict_and_every_skipped_comparison() -> None:
    same(_STATE)


@settings(max_examples=40)
@given(logs())
def test_on_any_log(rows: Rows) -> None:
    same(rows)


def test_a_turn_keeps_its_model_character_and_prompt() -> None:
    row = STATE.turns[0].model_copy(update={"prompt_id": "P-1"})
    [found] = scored(Rows([row], STATE.cards, STATE.lexicon)).values()
    assert (found["model_id"], found["character_id"], found["prompt_id"]) == (row.model_id, row.character_id, "P-1")
