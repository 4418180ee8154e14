"""Validations that compute again what follows from the log. None applies where the turn or its card does not exist."""

from dataclasses import replace
from typing import Any

from wh_judge.rules import RULES
from wh_judge.rules.forbidden import Touch
from wh_judge.rules.hedge import NOTES
from wh_judge.rules.recall import Recall
from wh_judge.rules.rule import Findings
from wh_judge.rules.speech import SPEECH
from wh_judge.validations.subject import Subject
from wh_judge.validations.validation import PASSED, Reasons, Validation, differs, shown

_level_differs = next(note.holds for note in NOTES if note.code == "honorific_level_differs")

LEVEL_WORDS = ("honorific_level", "말투")
"""Words that, besides the log's level itself, show that a hedge speaks of the log's honorific_level."""
NAMES_WORDS = ("이름", "고유명사", "세계관", "named_entities")
PERSON_WORDS = ("인칭", "first_person")


def speech(subject: Subject) -> Reasons:
    """Speech level read again, both rule cells rebuilt, and 말투 어긋남 where they call for it and only there.

    It must stand only where no rule before it holds. A missing cell counts as null; a malformed one fails. Where the
    log's honorific_level differs, a hedge that is no text fails too, and no evidence row may cite honorific_level.
    """
    recomputed = subject.recomputed()
    if recomputed is None:
        return None
    case, findings = recomputed
    claim, found = subject.claim, findings.speech
    reasons: list[str] = []
    if claim.get("rule_expected") != found.expected:
        reasons.append(differs("rule_expected", found.expected, claim.get("rule_expected")))
    if claim.get("rule_observed") != found.observed:
        reasons.append(differs("rule_observed", found.observed, claim.get("rule_observed")))
    verdict = claim.get("verdict")
    if verdict == SPEECH.verdict:
        if not found.differing:
            reasons.append(f"verdict: expected no {verdict}, since none of {found.compared} compared differ")
    elif found.differing and _first(findings) == SPEECH.verdict:
        what = f"verdict ({found.differing} of {found.compared} compared differ)"
        reasons.append(differs(what, SPEECH.verdict, verdict))
    if _level_differs(case, findings):
        level = case.turn.honorific_level or ""
        if not _says(claim.get("hedge"), (level, *LEVEL_WORDS)):
            reasons.append(
                f"hedge: expected it to say that the log's honorific_level is {shown(level)} and the reply's"
                f" {shown(found.level)}, found {shown(claim.get('hedge'))}"
            )
        if any(source == "chat_turn" and field == "honorific_level" for _, source, field, _ in subject.cited()):
            reasons.append("evidence: expected a differing honorific_level in the hedge only, found it cited")
    return reasons or PASSED


def off_canon(subject: Subject) -> Reasons:
    """The same off-canon names in the same order; null and [] differ. A missing cell is null, a malformed one fails."""
    recomputed = subject.recomputed()
    if recomputed is None:
        return None
    return _same(subject.claim, ("off_canon_entities", recomputed[1].off_canon))


def touched(subject: Subject) -> Reasons:
    """The same term and topic of the lexicon. A missing cell counts as null; a malformed one fails."""
    recomputed = subject.recomputed()
    if recomputed is None:
        return None
    touch = recomputed[1].touch
    if touch is None:
        return _same(subject.claim, ("touched_term", None), ("touched_topic", None))
    return _same(subject.claim, ("touched_term", touch.term), ("touched_topic", touch.topic))


def recall(subject: Subject) -> Reasons:
    """The same target and source; null where recall was not asked. A missing cell is null, a malformed one fails."""
    recomputed = subject.recomputed()
    if recomputed is None:
        return None
    found = recomputed[1].recall
    source = found.source.turn_id if found.source else None
    return _same(subject.claim, ("recall_target", found.target), ("recall_source_turn", source))


def nulls_skipped(subject: Subject) -> Reasons:
    """Null names give null off_canon_entities and a null first person is not compared; the hedge says each.

    Applies only where one of the two is null. A missing cell counts as null; a malformed one, the hedge too, fails.
    """
    turn = subject.turn
    if turn is None or (turn.named_entities is not None and turn.first_person is not None):
        return None
    recomputed = subject.recomputed()
    if recomputed is None:
        return None
    claim, found = subject.claim, recomputed[1].speech
    hedge = claim.get("hedge")
    reasons: list[str] = []
    if turn.named_entities is None:
        if claim.get("off_canon_entities") is not None:
            reasons.append(differs("off_canon_entities (null names)", None, claim["off_canon_entities"]))
        if not _says(hedge, NAMES_WORDS):
            reasons.append(f"hedge: expected it to say that the names are null, found {shown(hedge)}")
    if turn.first_person is None:
        if claim.get("rule_observed") != found.level:
            reasons.append(differs("rule_observed (null first person)", found.level, claim.get("rule_observed")))
        if claim.get("verdict") == SPEECH.verdict and not found.differing:
            reasons.append(f"verdict: expected a null first person not to be compared, found {SPEECH.verdict}")
        if not _says(hedge, PERSON_WORDS):
            reasons.append(f"hedge: expected it to say that the first person is null, found {shown(hedge)}")
    return reasons or PASSED


def precedence(subject: Subject) -> Reasons:
    """The verdict follows by the precedence, from the claim's own cells and from what is recomputed.

    A verdict on a turn whose card does not exist fails: such a turn cannot be judged. Does not apply where the log has
    no such turn. A missing or malformed verdict follows from nothing and fails; malformed cells are not followed from.
    """
    if subject.turn is None:
        return None
    recomputed = subject.recomputed()
    if recomputed is None:
        return [f"verdict: expected none, since {shown(subject.turn.character_id)} has no card, found one"]
    claim, findings = subject.claim, recomputed[1]
    verdict = claim.get("verdict")
    reasons: list[str] = []
    expected = _first(findings)
    if verdict != expected:
        reasons.append(differs("verdict by the log", expected, verdict))
    own = expected if _as_found(claim, findings) else _own(claim, findings)
    if own is not None and verdict != own:
        reasons.append(differs("verdict by the row's own cells", own, verdict))
    if verdict == SPEECH.verdict and claim.get("rule_expected") == claim.get("rule_observed"):
        both = shown(claim.get("rule_expected"))
        reasons.append(f"verdict: expected rule_observed to differ from rule_expected, found both {both}")
    return reasons or PASSED


def _first(findings: Findings) -> str:
    for rule in RULES:
        if rule.holds(findings):
            break
    return rule.verdict


def _as_found(claim: dict[str, Any], findings: Findings) -> bool:
    touch = findings.touch
    return (
        claim.get("off_canon_entities") == findings.off_canon
        and claim.get("touched_topic") == (touch.topic if touch else None)
        and claim.get("recall_target") == findings.recall.target
    )


def _own(claim: dict[str, Any], findings: Findings) -> str | None:
    """What the claim's own cells call for, the comparison of speech recomputed; None where they cannot be read."""
    topic, target, names = claim.get("touched_topic"), claim.get("recall_target"), claim.get("off_canon_entities")
    if not all(cell is None or isinstance(cell, str) for cell in (topic, target)):
        return None
    if not (names is None or isinstance(names, list)):
        return None
    touch = None if topic is None else Touch(0, "", topic, 1)
    return _first(replace(findings, off_canon=names, touch=touch, recall=Recall(True, True, target=target)))


def _same(claim: dict[str, Any], *expected: tuple[str, Any]) -> Reasons:
    reasons: list[str] = []
    for name, value in expected:
        if claim.get(name) != value:
            reasons.append(differs(name, value, claim.get(name)))
    return reasons or PASSED


def _says(hedge: Any, words: tuple[str, ...]) -> bool:
    return isinstance(hedge, str) and any(word in hedge for word in words)


SPEECH_REREAD = Validation(
    number=3,
    code="v03_speech_reread",
    title="말투는 reply_text 에서 다시 뽑은 값",
    description="The speech level is read again from reply_text, rule_observed and rule_expected are rebuilt, and 말투 "
    "어긋남 stands only where they call for it; a differing honorific_level appears in the hedge and in no evidence.",
    judge=speech,
)
OFF_CANON = Validation(
    number=4,
    code="v04_off_canon_recomputed",
    title="off_canon_entities 를 다시 계산해 같은 목록",
    description="named_entities minus canon_entities gives the same list in the same order; null and [] differ.",
    judge=off_canon,
)
TOUCHED = Validation(
    number=5,
    code="v05_touched_found_again",
    title="touched_term·touched_topic 을 다시 찾아 같은 값",
    description="The lexicon term in reply_text and its forbidden topic are found again and are the same.",
    judge=touched,
)
RECALL = Validation(
    number=6,
    code="v06_recall_recomputed",
    title="recall_target·recall_source_turn 을 다시 계산해 같은 값",
    description="Whom the reply forgot and the earliest turn that named them are the same; both are null where recall "
    "was not asked.",
    judge=recall,
)
NULLS_SKIPPED = Validation(
    number=7,
    code="v07_nulls_skipped",
    title="named_entities·first_person 이 null 이면 대조를 건너뛰고 hedge 에 적음",
    description="Null names give null off_canon_entities, a null first person is not compared, and the hedge says so.",
    judge=nulls_skipped,
)
PRECEDENCE = Validation(
    number=None,
    code="verdict_precedence",
    title="판정 순서",
    description="The verdict is the first that holds, both by the row's own cells and by what is recomputed; a turn "
    "without a card has none.",
    judge=precedence,
)
