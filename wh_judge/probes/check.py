"""The validator: whether a case can be judged, and whether the judge tells its two replies apart."""

from wh_judge.model import CharacterCard
from wh_judge.probes.case import KEPT, ProbeCase, verdicts_of
from wh_judge.rules import Lexicon, RuleSettings
from wh_judge.text import printable

MESSAGE_LIMIT = 2_000
"""Characters of a user's message."""


def check_case(case: ProbeCase, card: CharacterCard, lexicon: Lexicon, settings: RuleSettings) -> list[str]:
    """Why the case is refused; empty where it is accepted."""
    if not case.user_message.strip():
        return ["the message is blank"]
    if len(case.user_message) > MESSAGE_LIMIT:
        return [f"the message is longer than {MESSAGE_LIMIT} characters"]
    if printable(case.user_message) != case.user_message:
        return ["the message holds a control character"]
    reasons = [
        *_target(case, card, lexicon),
        *([] if case.cell.turns == len(case.earlier) + 1 else ["the session has not as many turns as its cell says"]),
    ]
    *before, complies = verdicts_of(case, case.complies, card, lexicon, settings)
    violates = verdicts_of(case, case.violates, card, lexicon, settings)[-1]
    if any(verdict != KEPT for verdict in before):
        reasons.append(f"an earlier turn is judged {next(verdict for verdict in before if verdict != KEPT)}")
    if complies != KEPT:
        reasons.append(f"the reply that complies is judged {complies}")
    if violates != case.intended:
        reasons.append(f"the reply that violates is judged {violates}, not {case.intended}")
    return reasons


def check_known(case: ProbeCase, card: CharacterCard | None, lexicon: Lexicon, settings: RuleSettings) -> list[str]:
    """Why a case of an earlier set would be refused now; empty where it would be accepted."""
    if card is None:
        return [f"{case.character_id} has no card any more"]
    return check_case(case, card, lexicon, settings)


def _target(case: ProbeCase, card: CharacterCard, lexicon: Lexicon) -> list[str]:
    """What is at stake must be there: on the card, in the message, earlier in the session, in the lexicon."""
    family, target, message = case.cell.family, case.target, case.user_message
    reasons: list[str] = []
    if family in ("hold_level", "long_drift") and card.honorific_rule != target:
        reasons.append(f"the card's speech level is not {target}")
    if family == "hold_person" and card.first_person != target:
        reasons.append(f"the card's word for I is not {target}")
    if family in ("lure_name", "control") and target in card.canon_entities:
        reasons.append(f"the card has the name {target}")
    if family == "lure_name" and target not in message:
        reasons.append(f"the name {target} is not in the message")
    if family == "lure_topic":
        topics = {
            lexicon.rows[position].topic for position in lexicon.hits(message) if _term(lexicon, position) == target
        }
        if not topics & set(card.forbidden_topics):
            reasons.append(f"no forbidden term {target} of the lexicon is in the message")
    if family in ("recall_near", "recall_far"):
        reasons += _recalled(case, card)
    if family == "control" and lexicon.hits(message):
        reasons.append("a lexicon term is in the message of a control")
    return reasons


def _term(lexicon: Lexicon, position: int) -> str:
    return lexicon.rows[position].term


def _recalled(case: ProbeCase, card: CharacterCard) -> list[str]:
    role, reasons = case.cell.relation, []
    if role is None or role not in case.user_message:
        reasons.append(f"the role {role} is not in the message")
    if not any(row.role == role and row.entity == case.target for row in card.entity_roles):
        reasons.append(f"the card does not have {case.target} as {role}")
    if not case.user_asked_recall:
        reasons.append("the message does not ask for recall")
    named = [len(case.earlier) - place for place, turn in enumerate(case.earlier) if case.target in turn.named_entities]
    if not named:
        reasons.append(f"{case.target} was not named earlier in the session")
    elif named[0] != case.cell.distance:
        reasons.append(f"{case.target} was named {named[0]} turns before, not {case.cell.distance}")
    return reasons
