"""Why a decision, or a file of them, is none, in Korean: patterns like those of `wh_judge.screen.reasons`."""

_MEND = "; correct it, or let wh-judge run publish it first"
_MENDED = "고치거나 `wh-judge run`으로 먼저 공개하세요"

REVIEW: tuple[tuple[str, str], ...] = (
    (r"is no decision", "결정이 아닙니다"),
    (r"undoes (.+), which does not stand before it", "앞에 없는 결정 {1:을/를} 되돌립니다"),
    (r"(\S+) stands in it twice", "{1:이/가} 두 번 나옵니다"),
    (r"there is no turn (.+)" + _MEND, "{1} 회차가 없습니다. " + _MENDED),
    (r"there is no character (.+)" + _MEND, "{1} 캐릭터가 없습니다. " + _MENDED),
    (r"the card of (.+) does not have the name (.+)" + _MEND, "{1} 카드에 {2:이/가} 없습니다. " + _MENDED),
    (
        r"the card of (.+) has the name (.+) already, so that there is nothing to add",
        "{1} 카드에 {2:이/가} 이미 있어 더할 것이 없습니다",
    ),
    (r"the lexicon has no row (.+) -> (.+)" + _MEND, "사전에 {1} → {2} 줄이 없습니다. " + _MENDED),
    (r"the reply of turn (.+) does not hold (.+)" + _MEND, "{1} 회차의 답장에 {2:이/가} 없습니다. " + _MENDED),
    (
        r"nothing is published yet, so that there is nothing to decide on; run wh-judge run first",
        "아직 공개된 판정이 없어 결정할 것이 없습니다. `wh-judge run`을 먼저 실행하세요",
    ),
    (r"there is no such decision; wh-judge review decisions lists them", "이런 결정은 없습니다. 결정 탭에서 고르세요"),
    (r"does not count any more, so there is nothing to undo", "이미 셈에 들지 않아 되돌릴 것이 없습니다"),
    (r"is no week; write it like (\S+)", "주가 아닙니다. {1}처럼 쓰세요"),
    (r"no verdicts yet; run wh-judge run first", "아직 판정이 없습니다. `wh-judge run`을 먼저 실행하세요"),
    (
        r"choice of (\w+) is none of (.+): (「.*」)",
        "{1:kind}에서 고를 수 있는 것은 {2:choices}입니다. {3:은/는} 없습니다",
    ),
    (r"(\w+) is missing; (\w+) needs (.+)", "{1:이/가} 없습니다. {2} 결정에는 {3:이/가} 있어야 합니다"),
    (
        r"instead is missing; it names the terms that take the place of a term that is narrowed",
        "instead에 좁히는 말을 대신할 말이 없습니다",
    ),
    (
        r"instead stands with a term that is narrowed or a name that is a mistake, and nothing else",
        "instead는 말을 좁힐 때와 새 인물이 아닌 이름에만 적습니다",
    ),
    (
        r"instead names one name of the card that a mistake stands for, or none",
        "instead에는 카드의 이름 하나만 적거나 비워 둡니다",
    ),
    (r"a term is longer than (\d+) characters", "말이 {1}자보다 깁니다"),
    (r"an ending is longer than (\d+) characters", "어미가 {1}자보다 깁니다"),
    (r"an ending has a comma in it; .+", "어미에 쉼표가 있습니다. 어미마다 따로 적으세요"),
    (
        r"the ending (.+) is empty or has white space or a sentence end in it",
        "어미 {1}에 빈칸이나 문장 부호가 있습니다",
    ),
    (r"Input should be a valid (?:string|dictionary|list|tuple|boolean)\b.*", "그 자리에 올 수 없는 값입니다"),
    (r"Input should be (.+) or (.+)", "{1}, {2} 가운데 하나여야 합니다"),
    (r"String should have at most (\d+) characters", "{1}자까지 쓸 수 있습니다"),
    (r"Extra inputs are not permitted", "없는 칸입니다"),
    (r"is blank", "비어 있습니다"),
    (r"Field required", "없습니다"),
    (
        r"it has no kind, so that it is no task; .+",
        "kind 칸이 없어 검토할 과제가 아닙니다. 내려받은 파일을 채워서 올리세요",
    ),
    (r"it does not say who decided; .+", "누가 결정했는지 없습니다. by 칸을 채우거나 이름을 적고 올리세요"),
    (
        r"task_id (.+) is not about (.+); give these cells back as they went out",
        "task_id {1}의 과제가 {2}에 관한 것이 아닙니다. 이 칸들은 받은 그대로 두세요",
    ),
    (r"(\w+) has several answers, (.+); leave one", "{1}에 답이 여럿입니다({2}). 하나만 남기세요"),
    (r"it is not UTF-8", "UTF-8이 아닙니다"),
    (r"it holds half of a surrogate pair, which is no text", "글자가 될 수 없는 반쪽짜리 대리 코드가 있습니다"),
    (
        r"the setting endings names (.+), which holds a mark that would be passed over; change the setting first",
        "설정에 있는 종결 어미 {1}에 지나칠 글자가 들어 있습니다. 설정부터 고치세요",
    ),
    (
        r"(「.*」) holds a mark that is passed over, so that it would never count; leave out what trails it",
        "{1}에 지나치는 글자가 들어 있어 셈에 들 수 없습니다. 그 글자를 빼고 적으세요",
    ),
    (
        r"(「.*」) answers the same task twice, (「.*」) in (.+) too; leave one",
        "{1:이/가} 같은 과제에 두 번 답했습니다({3}에는 {2}). 하나만 남기세요",
    ),
)
