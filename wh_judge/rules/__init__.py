"""The rules: one rule, one file. `RULES` is the only place where they are registered, in the order they are tried.

A rule file holds its documentation, the reference in plain Python, and the set-based form in SQL. What two rules share
is in `rule.py`; what a verdict could not compare is in `hedge.py`.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from wh_judge.model import SCHEMA_VERSION, Verdict
from wh_judge.rules import canon, forbidden, recall, speech
from wh_judge.rules.canon import CANON
from wh_judge.rules.forbidden import FORBIDDEN, Lexicon
from wh_judge.rules.hedge import NoteCode, hedge
from wh_judge.rules.kept import KEPT
from wh_judge.rules.recall import RECALL, first_mentions
from wh_judge.rules.rule import Case, Findings, Rule, RuleSettings
from wh_judge.rules.speech import SPEECH

__all__ = ["RULES", "Case", "Lexicon", "RuleSettings", "first_mentions", "judge_turn", "rules_version"]

RULES: tuple[Rule, ...] = (FORBIDDEN, CANON, SPEECH, RECALL, KEPT)
"""In the order of precedence: the first that holds gives the verdict, and the last always holds."""

RULE_BY_VERDICT: Mapping[str, Rule] = {rule.verdict: rule for rule in RULES}


def find_all(case: Case) -> Findings:
    """The four comparisons for one turn, by the references."""
    return Findings(
        speech=speech.find(case.turn, case.card, case.settings),
        off_canon=canon.find(case.turn, case.card),
        touch=forbidden.find(case.turn, case.card, case.lexicon),
        recall=recall.find(case.turn, case.card, case.mentions),
    )


def judge_turn(case: Case) -> tuple[Verdict, list[NoteCode]]:
    """One turn judged by the references: what the kernel must give for it too, and the codes of its hedge."""
    findings = find_all(case)
    rule = next(rule for rule in RULES if rule.holds(findings))
    notes, hedged = hedge(case, findings)
    touch, found = findings.touch, findings.recall
    verdict = Verdict.model_construct(
        turn_id=case.turn.turn_id,
        session_id=case.turn.session_id,
        character_id=case.turn.character_id,
        model_id=case.turn.model_id,
        verdict=rule.verdict,
        rule_expected=findings.speech.expected,
        rule_observed=findings.speech.observed,
        off_canon_entities=findings.off_canon,
        touched_term=touch.term if touch else None,
        touched_topic=touch.topic if touch else None,
        recall_target=found.target,
        recall_source_turn=found.source.turn_id if found.source else None,
        evidence=rule.evidence(case, findings),
        summary=rule.summary(case, findings),
        hedge=hedged,
    )
    return verdict, notes


@cache
def rules_version() -> str:
    """Hash of the rules' source and the schema version: what decides a verdict besides its inputs.

    Taken once: a process goes by the code that it has loaded, whatever becomes of the files.
    """
    digest = hashlib.sha256(str(SCHEMA_VERSION).encode())
    folder = Path(__file__).parent
    for file in sorted([*folder.glob("*.py"), folder.parent / "judge.py", folder.parent / "text.py"]):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
