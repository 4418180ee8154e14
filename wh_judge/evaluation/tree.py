"""The evidence tree of a turn: which checks apply and why, what each of them asked, and what the answers rest on.

`evidence_tree` is a pure function of a case and its verdict; nothing of it is stored. Questions and reasons are polite
Korean like summaries and hedges, so that they can stand beside them on a page.

Source of the form: HarnessEval-W, which routes each case to the checks that apply to it, has every check ask measurable
sub-questions, and leaves out what cannot be measured instead of counting it as 0.
"""

from collections.abc import Sequence
from typing import Any

from wh_judge.causes import DECIDED
from wh_judge.evaluation.questions import QUESTIONS, Answer, Node, Question
from wh_judge.model import Verdict, VerdictValue, verdict_document
from wh_judge.rules import RULES, Case, judge_turn
from wh_judge.rules.rule import Rule
from wh_judge.validations import Log, validate_each


class Check(Node):
    """One rule on this turn. `score` is None exactly where it does not apply."""

    code: str
    """The rule's code."""
    verdict: VerdictValue
    """What the turn would get where the check fails first."""
    applies: bool
    why: str
    score: float | None
    decided: bool
    """Whether this check gave the turn its verdict."""
    questions: list[Question]


class Claim(Node):
    """A cell of the verdict beside what the inputs give for it now."""

    cell: str
    stored: Answer
    derived: Answer
    agrees: bool


class Outcome(Node):
    """What one validation says of the verdict."""

    code: str
    outcome: str
    """`passed`, `failed` or `not applicable`."""
    reasons: str | None


class Validator(Node):
    """The verdict derived again: from the answers of this tree, cell by cell, and by the validations."""

    from_answers: VerdictValue
    """The verdict of the first check whose score is below 1, else 설정대로 말함."""
    claims: list[Claim]
    validations: list[Outcome]
    agrees: bool


class EvidenceTree(Node):
    """The whole path of judgement of one turn, the verdict on top."""

    turn_id: str
    session_id: str
    character_id: str
    model_id: str
    verdict: VerdictValue
    summary: str
    hedge: str | None
    score: float | None
    """Mean of the scores of the checks that apply, each with the same weight; None where none does."""
    checks: list[Check]
    """In the order in which the rules are tried."""
    validator: Validator


CLAIMED = tuple(field for field in DECIDED if field != "hedge")
"""The cells that the validator derives again."""


def evidence_tree(case: Case, verdict: Verdict | None = None) -> EvidenceTree:
    """The tree of a turn.

    Args:
        case: the turn with its card, lexicon rows, mentions and settings.
        verdict: the verdict to explain; None takes the one that the references give.

    Raises:
        ValueError: the verdict is of another turn.
    """
    derived, _ = judge_turn(case)
    verdict = verdict or derived
    if verdict.turn_id != case.turn.turn_id:
        raise ValueError(f"the verdict is of {verdict.turn_id}, the case of {case.turn.turn_id}")
    checks = [_check(rule, case, verdict.verdict) for rule in RULES if rule.code in QUESTIONS]
    scores = [check.score for check in checks if check.score is not None]
    return EvidenceTree(
        turn_id=verdict.turn_id,
        session_id=verdict.session_id,
        character_id=verdict.character_id,
        model_id=verdict.model_id,
        verdict=verdict.verdict,
        summary=verdict.summary,
        hedge=verdict.hedge,
        score=sum(scores) / len(scores) if scores else None,
        checks=checks,
        validator=_validator(case, verdict, derived, checks),
    )


def _check(rule: Rule, case: Case, verdict: str) -> Check:
    why_not, why, questions = QUESTIONS[rule.code](case)
    scores = [question.score for question in questions if question.score is not None]
    score: float | None = None
    if why_not is None:
        # One forbidden term ends the story whatever else stands in the reply; the others are shares.
        score = (min(scores) if rule.code == "forbidden" else sum(scores) / len(scores)) if scores else 1.0
    return Check(
        code=rule.code,
        verdict=rule.verdict,
        applies=why_not is None,
        why=why_not or why,
        score=score,
        decided=rule.verdict == verdict,
        questions=questions,
    )


def _validator(case: Case, verdict: Verdict, derived: Verdict, checks: Sequence[Check]) -> Validator:
    from_answers: VerdictValue = next(
        (check.verdict for check in checks if check.score is not None and check.score < 1), RULES[-1].verdict
    )
    pairs: list[tuple[str, Any, Any]] = [(cell, getattr(verdict, cell), getattr(derived, cell)) for cell in CLAIMED]
    claims = [Claim(cell=cell, stored=old, derived=new, agrees=old == new) for cell, old, new in pairs]
    log = Log.of([case.turn], [case.card], case.lexicon.rows, case.settings, earlier=case.mentions)
    results = validate_each([verdict_document(verdict)], log).results
    outcomes = [
        Outcome(
            code=result.code,
            outcome="failed" if result.failed else "passed" if result.passed else "not applicable",
            reasons=result.failures[0].reason if result.failures else None,
        )
        for result in results
    ]
    agrees = (
        from_answers == verdict.verdict
        and all(claim.agrees for claim in claims)
        and not any(result.failed for result in results)
    )
    return Validator(from_answers=from_answers, claims=claims, validations=outcomes, agrees=agrees)
