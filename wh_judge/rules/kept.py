"""설정대로 말함: what is left when no rule holds."""

from collections.abc import Mapping

from wh_judge.rules import speech
from wh_judge.rules.rule import Case, Findings, Rule, RuleSettings, example


def columns_sql(_settings: RuleSettings) -> Mapping[str, str]:
    """Nothing to find: the other rules' columns decide."""
    return {}


def summary(case: Case, findings: Findings) -> str:
    """The default sentence: how much was compared, and that it fits."""
    compared = findings.speech.compared
    spoken = (
        f"견준 말투·1인칭 {compared}가지가 모두 카드와 같고" if compared else "말투와 1인칭은 0가지를 견줄 수 있었고"
    )
    names = case.turn.named_entities
    named = (
        "등장 이름은 견주지 못했습니다."
        if names is None
        else f"등장 이름 {len(names)}개 가운데 카드 밖 이름은 없습니다."
    )
    return f"{spoken} {named}"


SUMMARY_SQL = """
CASE WHEN compared > 0 THEN '견준 말투·1인칭 ' || compared || '가지가 모두 카드와 같고'
     ELSE '말투와 1인칭은 0가지를 견줄 수 있었고' END
|| CASE WHEN named_entities IS NULL THEN ' 등장 이름은 견주지 못했습니다.'
        ELSE ' 등장 이름 ' || len(named_entities) || '개 가운데 카드 밖 이름은 없습니다.' END
"""

KEPT = Rule(
    code="kept",
    verdict="설정대로 말함",
    what="Holds where none of the four rules does. The evidence is the four cells that were set side by side, and the "
    "null cell of every comparison that had to be skipped.",
    why="A turn that was looked at and kept to its card is a result, not the absence of one: it says how much was "
    "compared.",
    reference="Verdict, first that holds: 금지 소재 접촉, 세계관 밖 고유명사, 말투 어긋남, 앞 회차를 기억 못 함, "
    "else 설정대로 말함.",
    breaks=example({"reply_text": "검을 잡으세요."}, {}),
    keeps=example({}, {}),
    holds=lambda findings: True,
    evidence=speech.evidence,
    summary=summary,
    columns_sql=columns_sql,
    holds_sql="true",
    evidence_sql=speech.EVIDENCE_SQL,
    summary_sql=SUMMARY_SQL,
)
