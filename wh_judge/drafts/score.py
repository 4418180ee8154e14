"""Files of responses, scored as drafts are: so that models can be compared at it, whoever asked them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
    missing: list[str] | None = None
    """Turns that the model was asked about and that no row of the file names; None where nothing tells which."""


def score(
    responses: Iterable[tuple[str, Record]],
    log: Log,
    files: Sequence[str] = (),
    asked: Sequence[str] | None = None,
) -> list[Score]:
    """Weigh each response against the rule's verdict on its turn; one score per file, in the order of the files.

    Args:
        responses: the file's name and the record, as `wh_judge.files.read_claims` gives them.
        log: what was said, with the cards, the lexicon and the settings.
        files: names of the files, also of those that hold nothing.
        asked: n turns that every file should name. Without them these are the turns of the log that any of several
            files names, since all models are asked the same; a single file cannot tell what it lacks.
    """
    scores = {name: Score(name) for name in files}
    answered: dict[str, set[str]] = {name: set() for name in files}
    for name, record in responses:
        entry = scores.setdefault(name, Score(name))
        if (turn := named(_turn_id(record.value or {}))) is not None:
            answered.setdefault(name, set()).add(turn)
        weighed = _weighed(record, log)
        entry.responses += 1
        entry.outcomes[weighed.outcome] += 1
        entry.reasons.update({reason.code for reason in weighed.reasons})
        if weighed.reasons:
            entry.refusals.append(
                {
                    "line": record.line,
                    "turn_id": turn,
                    "outcome": weighed.outcome,
                    "reasons": [{"code": reason.code, "reason": reason.text} for reason in weighed.reasons],
                }
            )
    if asked is None and len(scores) > 1:
        asked = sorted(set().union(*answered.values()) & log.turns.keys(), key=lambda one: (len(one), one))
    if asked is not None:
        for name, entry in scores.items():
            entry.missing = [one for one in asked if one not in answered.get(name, ())]
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
