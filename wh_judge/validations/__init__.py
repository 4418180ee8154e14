"""The ten validations, and the two that stand over them: verdicts from anywhere, held against the log.

Here belong: what makes a verdict sound, judged claim by claim with the references of `wh_judge.rules`. `VALIDATIONS` is
the only place where they are registered. `shape` looks at a claim alone, `recomputed` at what follows from the log,
`evidence` at what is cited, `summary` at the sentence.

Here does not belong: the kernel (a validation never calls it), files, tables and Dagster.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from wh_judge.validations.claim import claim_from_record, typed_evidence
from wh_judge.validations.evidence import EVIDENCE_FIELD, EVIDENCE_VALUE
from wh_judge.validations.recomputed import NULLS_SKIPPED, OFF_CANON, PRECEDENCE, RECALL, SPEECH_REREAD, TOUCHED
from wh_judge.validations.shape import REQUIRED_FILLED, SCHEMA, VERDICT_VALUE
from wh_judge.validations.subject import Log, Subject
from wh_judge.validations.summary import SUMMARY
from wh_judge.validations.validation import Failure, Validation, ValidationResult, joined, named

__all__ = [
    "MODEL_OUTPUT",
    "VALIDATIONS",
    "Failure",
    "Log",
    "Outcomes",
    "Validation",
    "ValidationResult",
    "claim_from_record",
    "typed_evidence",
    "validate",
    "validate_each",
]

VALIDATIONS: tuple[Validation, ...] = (
    VERDICT_VALUE,
    REQUIRED_FILLED,
    SPEECH_REREAD,
    OFF_CANON,
    TOUCHED,
    RECALL,
    NULLS_SKIPPED,
    EVIDENCE_FIELD,
    EVIDENCE_VALUE,
    SUMMARY,
    PRECEDENCE,
    SCHEMA,
)
"""The ten by their numbers, then the two without."""

MODEL_OUTPUT: tuple[Validation, ...] = tuple(validation for validation in VALIDATIONS if validation.model_output)
"""Those that are also run alone, on what a language model returns for one turn."""


class Outcomes(NamedTuple):
    """What the validations say."""

    results: list[ValidationResult]
    """One per validation, in their order, each over all claims."""
    letters: list[str]
    """One text per claim, in their order, with one letter per validation: P passed, F failed, N not applicable."""


def validate(
    claims: Iterable[Mapping[str, Any]], log: Log, validations: Sequence[Validation] = VALIDATIONS
) -> list[ValidationResult]:
    """Hold every claim against the log: the results of `validate_each`."""
    return validate_each(claims, log, validations).results


AT_A_TIME = 50
"""Claims that are looked at together."""


def validate_each(
    claims: Iterable[Mapping[str, Any]],
    log: Log,
    validations: Sequence[Validation] = VALIDATIONS,
    rows: Iterable[int] | None = None,
) -> Outcomes:
    """Hold every claim against the log.

    Args:
        claims: n verdicts as JSON documents, from anywhere; evidence rows may carry `key`, the key of the row they
            cite. Whatever is wrong with one is a reason to fail and never an error.
        log: what the claims are about.
        validations: those to run.
        rows: the place of each claim in the input, where these are not all of it; else they count from 1.

    Returns:
        One result per validation, and one text of letters per claim.
    """
    judges = [validation.judge for validation in validations]
    skipped = [0] * len(judges)
    failures: list[list[Failure]] = [[] for _ in judges]
    first_rows: dict[str, int] = {}
    letters: list[str] = []
    numbered = zip(itertools.count(1) if rows is None else rows, claims, strict=False)
    # Some claims at a time, each validation over all of them: what a processor has at hand then serves once more.
    while subjects := [Subject(row, claim, log, first_rows) for row, claim in itertools.islice(numbered, AT_A_TIME)]:
        found: list[list[str]] = []
        for place, judge in enumerate(judges):
            told = [judge(subject) for subject in subjects]
            skipped[place] += told.count(None)
            failures[place] += [
                Failure(named(subject.turn_id), subject.row, joined(reasons))
                for subject, reasons in zip(subjects, told, strict=True)
                if reasons
            ]
            found.append(["N" if reasons is None else "F" if reasons else "P" for reasons in told])
        letters += map("".join, zip(*found, strict=True))
    results = [
        ValidationResult(
            number=validation.number,
            code=validation.code,
            title=validation.title,
            description=validation.description,
            looked_at=len(letters),
            passed=len(letters) - skipped[place] - len(failures[place]),
            failed=len(failures[place]),
            not_applicable=skipped[place],
            failures=tuple(failures[place]),
        )
        for place, validation in enumerate(validations)
    ]
    return Outcomes(results, letters)
