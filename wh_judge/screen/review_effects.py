"""What a term or an ending of the review would change, before it is decided."""

from typing import Any

from wh_judge.review.effects import settings_with
from wh_judge.review.endings import Proposal, adding, try_ending
from wh_judge.review.known import by_hand, check_endings
from wh_judge.review.terms import TermPrecision, never_said, try_term
from wh_judge.review.trial import Trial
from wh_judge.rules import RuleSettings
from wh_judge.screen.review_asked import Asked, count, drafted
from wh_judge.screen.rows import of_turns
from wh_judge.settings import configured_rules

ENDINGS_TOLD = 8
"""Endings of a file whose effect is told: each is tried on all turns."""

Tried = tuple[Proposal, dict[str, Any]]
"""What an ending would change, and the turns of its examples."""


def term_effect(asked: Asked, row: TermPrecision, instead: tuple[str, ...]) -> dict[str, Any]:
    """A term with what would change if it were dropped, and if the terms took its place that are asked for."""
    dropped = _tried(asked, row.term, row.topic, ())
    narrowed = _tried(asked, row.term, row.topic, instead) if instead else None
    shown = [*_examples(dropped), *(_examples(narrowed) if narrowed else ())]
    return {
        "row": row,
        "dropped": dropped,
        "narrowed": narrowed,
        "instead": instead,
        "never_said": _never_said(asked, instead),
        "texts": of_turns(asked.snapshot, shown, terms=(row.term, *instead)),
    }


def _tried(asked: Asked, term: str, topic: str, instead: tuple[str, ...]) -> Trial:
    rules = asked.rules
    key = ("term", term, topic, instead, rules.parts)
    return asked.snapshot.found(key, lambda cursor: try_term(cursor, rules, term, topic, instead))


def _never_said(asked: Asked, terms: tuple[str, ...]) -> list[str]:
    return asked.snapshot.found(("never said", terms), lambda cursor: never_said(cursor, terms)) if terms else []


def _examples(trial: Trial) -> list[str]:
    return [turn_id for change in trial.changes for turn_id, _ in change.examples]


def with_texts(asked: Asked, rules: RuleSettings, proposal: Proposal) -> Tried:
    """A proposed ending with the turns of its examples, marked as they would be read with it."""
    return proposal, of_turns(asked.snapshot, _examples(proposal), adding(rules, proposal.ending))


def _tried_ending(asked: Asked, rules: RuleSettings, ending: str) -> Tried:
    key = ("ending", ending, rules.parts)
    return with_texts(asked, rules, asked.snapshot.found(key, lambda cursor: try_ending(cursor, rules, ending)))


def missing_ending(asked: Asked) -> Tried | None:
    """What the ending would change that somebody misses in a reply, before it is adopted.

    Raises:
        PageError, UserError: it is none, or could never count.
    """
    if "ending" not in asked.query:
        return None
    [given] = by_hand(drafted({"kind": "ending", "choice": "add", "ending": asked.query["ending"].strip(), "by": "-"}))
    check_endings([given], asked.rules, ignoring=asked.rules.ignore_trailing)
    return _tried_ending(asked, asked.rules, given.draft.ending or "")


def taken_endings(asked: Asked) -> dict[str, Any]:
    """What each ending changes that a file has just brought: those among the newest decisions, as many as it had."""
    taken = count(asked.query.get("taken", "")) or 0
    place = max(0, len(asked.decisions) - taken)
    found = [row.ending or "" for row in asked.decisions[place:] if row.kind == "ending" and row.choice == "add"]
    configured = configured_rules(data=str(asked.settings.data))
    before = settings_with(configured, asked.decisions[:place]) if found else configured
    return {
        "adopted": [_tried_ending(asked, before, ending) for ending in found[:ENDINGS_TOLD]],
        "adopted_rows": len(found),
    }
