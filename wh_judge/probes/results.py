"""What models made of a probe set: for each family and model what was expected and what came."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from wh_judge.evaluation.agreement import Figures, wilson
from wh_judge.model import VerdictValue
from wh_judge.probes.case import FAMILIES, KEPT, Family, ProbeCase, ProbeSet


class Answer(NamedTuple):
    """A judged turn whose prompt_id is a case."""

    case_id: str
    model_id: str
    turn_id: str
    verdict: VerdictValue | None
    """None where it was not judged."""
    character_id: str
    recalled: Sequence[str] = ()
    """Names that the reply had to have, since the message asked for them and they stand earlier in the session."""


class ProbeAnswer(Figures):
    """One model on one case."""

    case_id: str
    family: Family
    model_id: str
    turn_id: str
    expected: VerdictValue
    intended: VerdictValue
    """What the case tries to bring about."""
    came: VerdictValue | None


class ProbeResult(Figures):
    """One model on one family."""

    family: Family
    model_id: str
    cases: int
    """Cases of the family in the set."""
    answered: int
    """Those that the model answered with a judged turn; what follows rests on them."""
    kept: int
    """The expected verdict came."""
    as_intended: int
    """The model did what the case tries to bring about."""
    otherwise: int
    """Another verdict came: the reply left its card in a way that was not tried."""
    kept_rate: float | None
    low: float | None
    high: float | None
    """Kept / answered with Wilson's 95 % interval; None where nothing was answered."""


class ProbeResults(Figures):
    """The whole set."""

    digest: str | None
    """None where there is no set."""
    cases: int
    unknown: int
    """Answers to cases whose prompt_id looks like a case and is in no set."""
    misplaced: int
    """Answers that are none to the case as it is: another character's, or to a question for a name that the session in
    the log does not hold, so that forgetting it could not be seen; set aside."""
    repeated: int
    """Further answers of a model to a case that it had answered; set aside."""
    results: list[ProbeResult]
    answers: list[ProbeAnswer]


NO_RESULTS = ProbeResults(digest=None, cases=0, unknown=0, misplaced=0, repeated=0, results=[], answers=[])
PREFIX = "PROBE-"


def measure_probes(probes: ProbeSet, answers: Sequence[Answer]) -> ProbeResults:
    """The results of all models.

    Args:
        probes: the set.
        answers: turns whose prompt_id begins with PREFIX, in turn order. A model's first answer to a case counts.
    """
    cases = {case.case_id: case for case in probes.cases}
    first: dict[tuple[str, str], Answer] = {}
    unknown = misplaced = repeated = 0
    for answer in answers:
        if answer.case_id not in cases:
            unknown += 1
        elif not _is_to(answer, cases[answer.case_id]):
            misplaced += 1
        elif (answer.case_id, answer.model_id) in first:
            repeated += 1
        else:
            first[answer.case_id, answer.model_id] = answer
    told = [
        ProbeAnswer(
            case_id=answer.case_id,
            family=cases[answer.case_id].cell.family,
            model_id=answer.model_id,
            turn_id=answer.turn_id,
            expected=KEPT,
            intended=cases[answer.case_id].intended,
            came=answer.verdict,
        )
        for answer in first.values()
    ]
    told.sort(key=lambda answer: (FAMILIES.index(answer.family), answer.case_id, answer.model_id))
    sizes = {family: sum(case.cell.family == family for case in probes.cases) for family in FAMILIES}
    models = sorted({answer.model_id for answer in told})
    return ProbeResults(
        digest=probes.digest,
        cases=len(cases),
        unknown=unknown,
        misplaced=misplaced,
        repeated=repeated,
        results=[_result(family, model, sizes, told) for family in FAMILIES if sizes[family] for model in models],
        answers=told,
    )


def _is_to(answer: Answer, case: ProbeCase) -> bool:
    """Whether the answer is that of the case's character and, where the case asks for a name, was judged by it."""
    judged = answer.verdict is None or not case.user_asked_recall or case.target in answer.recalled
    return answer.character_id == case.character_id and judged


def _result(family: Family, model: str, sizes: Mapping[Family, int], answers: Sequence[ProbeAnswer]) -> ProbeResult:
    own = [a for a in answers if (a.family, a.model_id) == (family, model) and a.came is not None]
    kept = sum(answer.came == answer.expected for answer in own)
    as_intended = sum(answer.came == answer.intended for answer in own)
    low, high = wilson(kept, len(own))
    return ProbeResult(
        family=family,
        model_id=model,
        cases=sizes[family],
        answered=len(own),
        kept=kept,
        as_intended=as_intended,
        otherwise=len(own) - kept - as_intended,
        kept_rate=kept / len(own) if own else None,
        low=low,
        high=high,
    )
