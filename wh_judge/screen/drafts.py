"""The sentences that language models wrote for a verdict, and why one was refused, in Korean."""

from typing import Any

from wh_judge.screen.snapshots import Snapshot

REASONS = {
    "no_answer": "서버가 답하지 않았습니다",
    "not_asked": "모델에 묻지 않았습니다",
    "no_json": "응답이 JSON 객체가 아닙니다",
    "cut_off": "응답이 중간에 끊겼습니다",
    "other_turn": "다른 회차에 대한 응답입니다",
    "other_verdict": "규칙과 다른 판정을 내렸습니다",
    "names_other_verdict": "문장에 다른 판정 이름이 있습니다",
    "names_no_cell": "문장이 판정의 근거를 하나도 대지 않습니다",
    "too_long": "문장이 너무 깁니다",
    "unprintable": "문장에 보이지 않는 글자가 있습니다",
    "v01_verdict_value": "판정이 다섯 가지 가운데 하나가 아닙니다",
    "v02_required_filled": "꼭 있어야 할 칸이 비어 있습니다",
    "v08_evidence_field": "없는 칸을 근거로 댔습니다",
    "v09_evidence_value": "근거로 댄 값이 로그와 다릅니다",
    "v10_summary_one_polite_sentence": "공손한 한 문장이 아닙니다",
}
"""By the code of a reason (`wh_judge.drafts.gate`)."""


def drafts_of(snapshot: Snapshot, turn_id: str) -> list[dict[str, Any]]:
    """What models wrote for the turn's verdict in force: model, outcome, summary where it is kept, and the reasons why
    not in Korean; by model, the newest first."""
    rows = snapshot.rows(
        """SELECT model, outcome, summary, list_transform(reasons, lambda x: x.code) AS codes FROM draft
           WHERE turn_id = $id ORDER BY model, written_at DESC""",
        {"id": turn_id},
    )
    return [row | {"reasons": [REASONS.get(code, code) for code in row["codes"]]} for row in rows]
