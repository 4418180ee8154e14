"""Files of responses, scored as drafts are: so that models can be compared at it, whoever asked them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from wh_judge.drafts.batch import is_batch, read_answer
from wh_judge.drafts.gate import Weighed, refused, weigh_answer, weigh_claim
from wh_judge.readers.records import Record
from wh_judge.rules import Case, judge_turn
from wh_judge.validations import Log
from wh_judge.validations.validation import named, shown


@dataclass
class Score:
    """What became of the responses in one file."""

    file: str
    responses: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    """Responses by the reasons for which they were refused; one may have several."""
    refusals: list[dict[str, Any]] = field(default_factory=list)
    """Line, turn, outcome and reasons of each."""


def score(responses: Iterable[tuple[str, Record]], log: Log) -> list[Score]:
    """Weigh each response against the rule's verdict on its turn; one score per file, in the order of the files.

    Args:
        responses: the file's name and the record, as `wh_judge.files.read_claims` gives them.
        log: what was said, with the cards, the lexicon and the settings.
    """
    scores: dict[str, Score] = {}
    for name, record in responses:
        entry = scores.setdefault(name, Score(name))
        weighed = _weighed(record, log)
        entry.responses += 1
        entry.outcomes[weighed.outcome] += 1
        entry.reasons.update({reason.code for reason in weighed.reasons})
        if weighed.reasons:
            entry.refusals.append(
                {
                    "line": record.line,
                    "turn_id": named(_turn_id(record.value or {})),
                    "outcome": weighed.outcome,
                    "reasons": [{"code": reason.code, "reason": reason.text} for reason in weighed.reasons],
                }
            )
    return list(scores.values())


def _weighed(record: Record, log: Log) -> Weighed:
    if record.value is None:
        return refused("no_json", record.reason or "the response cannot be read")
    turn_id = _turn_id(record.value)
    turn = log.turns.get(turn_id) if isinstance(turn_id, str) else None
    card = log.cards.get(turn.character_id) if turn else None
    if turn is None or card is None:
        what = "a turn of the log" if turn is None else "a turn whose character has a card"
        return refused("other_turn", f"turn_id: expected {what}, found {shown(turn_id)}")
    verdict, _ = judge_turn(Case(turn, card, log.lexicon, log.mentions, log.settings))
    if is_batch(record.value):
        return weigh_answer(read_answer(record.value), verdict, log)
    return weigh_claim(record.value, verdict, log)


def _turn_id(row: Mapping[str, Any]) -> Any:
    """The turn that a row is about, as it says."""
    return row.get("custom_id" if is_batch(row) else "turn_id")
