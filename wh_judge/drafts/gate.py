"""What becomes of a model's response: it is kept, it falls back to the default sentence, or it is thrown away whole.

Validations 1, 2, 8, 9 and 10 are run on it, and beside them what only a draft can get wrong: it must be about this turn
and keep the rule's verdict, and its sentence must name what the verdict rests on and no other verdict.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from wh_judge import strict_json
from wh_judge.drafts.cache import Answer
from wh_judge.model import VERDICTS, Verdict
from wh_judge.validations import MODEL_OUTPUT, Log, validate
from wh_judge.validations.validation import differs, shown

Outcome = Literal["kept", "default", "thrown_away", "no_response"]
"""`kept`: the model's sentence stands. `default`: the rule's does. `thrown_away`: the rule's, and nothing else of the
response counts either. `no_response`: the rule's, since there is nothing to weigh."""

SUMMARY_LIMIT = 300
"""Characters of a sentence that a list can still show."""

THROWN_AWAY = frozenset(
    {"no_json", "cut_off", "other_turn", "other_verdict", "v01_verdict_value", "v02_required_filled"}
)
"""Reasons that make a response worthless as a whole; all others cost it only its sentence."""

_SPEECH = ("말투", "1인칭", "반말", "존댓말")


@dataclass(frozen=True)
class Reason:
    """Why a response is refused: a code to count by, and what was found."""

    code: str
    text: str


@dataclass(frozen=True)
class Weighed:
    """What became of one response."""

    outcome: Outcome
    summary: str | None
    """The model's sentence where it is kept."""
    reasons: tuple[Reason, ...]


def weigh_answer(answer: Answer, verdict: Verdict, log: Log) -> Weighed:
    """Weigh what came of a request."""
    if answer.raw is None:
        return Weighed("no_response", None, (Reason(*(answer.failure or ("no_answer", "no answer"))),))
    return weigh(answer.raw, verdict, log, cut_off=answer.cut_off)


def weigh(raw: str, verdict: Verdict, log: Log, *, cut_off: bool = False) -> Weighed:
    """Weigh a response as the server gave it.

    Args:
        raw: the text of the response, whatever it is.
        verdict: the rule's, for the turn that was asked about.
        log: what the response's evidence is held against.
        cut_off: whether the server says that it stopped before the end.
    """
    try:
        claim = strict_json.decode(raw)
    except ValueError as error:
        if cut_off:
            return refused("cut_off", f"the response ends before its end, after {len(raw)} characters")
        return refused("no_json", f"the response is no JSON: {strict_json.reason(error)}")
    return weigh_claim(claim, verdict, log)


def weigh_claim(claim: Any, verdict: Verdict, log: Log) -> Weighed:
    """Weigh a response that is JSON."""
    if not isinstance(claim, dict):
        return refused("no_json", f"the response is no object: {shown(claim)}")
    failed = [result for result in validate([claim], log, MODEL_OUTPUT) if not result.ok]
    reasons = [Reason(result.code, result.failures[0].reason) for result in failed]
    reasons += _of_a_draft(claim, verdict)
    codes = {reason.code for reason in reasons}
    if codes & THROWN_AWAY:
        return Weighed("thrown_away", None, tuple(reasons))
    if reasons:
        return Weighed("default", None, tuple(reasons))
    return Weighed("kept", claim["summary"].strip(), ())


def refused(code: str, text: str) -> Weighed:
    """A response of which nothing can be used."""
    return Weighed("thrown_away", None, (Reason(code, text),))


def _of_a_draft(claim: dict[str, Any], verdict: Verdict) -> Iterator[Reason]:
    found, summary = claim.get("verdict"), claim.get("summary")
    if claim.get("turn_id") != verdict.turn_id:
        yield Reason("other_turn", differs("turn_id", verdict.turn_id, claim.get("turn_id")))
    if found in VERDICTS and found != verdict.verdict:
        yield Reason("other_verdict", differs("verdict", verdict.verdict, found))
    if not isinstance(summary, str):
        return
    others = [other for other in VERDICTS if other != verdict.verdict and other in summary]
    if others:
        yield Reason("names_other_verdict", f"summary: names {others[0]}, which is not the verdict")
    decisive = decisive_cells(verdict)
    if not any(cell in summary for cell in decisive):
        yield Reason("names_no_cell", f"summary: names none of {' / '.join(map(shown, decisive))}")
    if len(summary) > SUMMARY_LIMIT:
        yield Reason("too_long", f"summary: {len(summary)} characters, more than {SUMMARY_LIMIT}")
    if any(unicodedata.category(mark) in ("Cc", "Cf", "Cs", "Co") for mark in summary.strip()):
        yield Reason("unprintable", f"summary: holds marks that no page can show: {summary[:40]!a}")


def decisive_cells(verdict: Verdict) -> tuple[str, ...]:
    """What the verdict rests on: its sentence must name one of them."""
    cells: dict[str, tuple[str | None, ...]] = {
        "금지 소재 접촉": (verdict.touched_term,),
        "세계관 밖 고유명사": tuple(verdict.off_canon_entities or ()),
        "앞 회차를 기억 못 함": (verdict.recall_target,),
    }
    return tuple(cell for cell in cells.get(verdict.verdict, _SPEECH) if cell)
