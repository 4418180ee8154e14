"""The reasons of problems, and why nothing could be compared, in Korean.

Inside the program and on the command line they are English; people here are not. What no pattern knows is shown as it
is: better English than nothing.
"""

import re
from collections.abc import Iterator

from wh_judge.evaluation.scores import AXIS_NAMES
from wh_judge.review.korean import KINDS, with_code
from wh_judge.screen.review_reasons import REVIEW
from wh_judge.screen.words import particle

_CLAUSES: tuple[tuple[str, str], ...] = (
    (r"is missing", "{column:이/가} 없습니다"),
    (r"is null", "{column:이/가} null입니다"),
    (r"is blank", "{column:이/가} 비어 있습니다"),
    (r"is empty", "{column:이/가} 비어 있습니다"),
    (r"is no text", "{column:이/가} 글이 아닙니다"),
    (r"is no list", "{column:이/가} 목록이 아닙니다"),
    (r"is no object", "{column:이/가} 객체가 아닙니다"),
    (r"is neither true nor false", "{column:이/가} true도 false도 아닙니다"),
    (r"is longer than (\d+) characters", "{column:이/가} {1}자보다 깁니다"),
    (r"is no ISO 8601 date and time, such as (\S+)", "{column:이/가} ISO 8601 날짜와 시각이 아닙니다. {1}처럼 쓰세요"),
    (r"is no date and time", "{column:이/가} 날짜와 시각이 아닙니다"),
    (r"has no offset; write it out, such as (\S+)", "{column}에 시간대가 없습니다. {1}처럼 붙이세요"),
    (r"lies outside the years (\d+) to (\d+)", "{column:이/가} {1}년에서 {2}년 사이가 아닙니다"),
    (r"is not (.+?)", "{column:이/가} {1:list} 가운데 하나가 아닙니다"),
    (r"holds no JSON list: (.+?)", "{column}에 JSON 목록이 없습니다: {1:json}"),
)
"""After the name of a column, before the value that was given."""

_WHOLE: tuple[tuple[str, str], ...] = (
    (r"no card for character (.+)", "캐릭터 {1}의 카드가 없습니다"),
    (r"not answered by (.+)", "{1} 모델이 답하지 않았습니다"),
    (r"an answer was not judged", "판정하지 못한 답장이 있습니다"),
    (r"no model is compared", "견줄 모델이 없습니다"),
    (r"fewer than two models", "모델이 둘보다 적습니다"),
    (r"no prompts", "함께 답한 프롬프트가 없습니다"),
    (
        r"(\d+) of (\d+) votes are synthetic: a program drew them, no person gave them",
        "{2}표 가운데 {1}표는 지어낸 표입니다. 프로그램이 뽑았고 사람이 준 것이 아닙니다.",
    ),
    (
        r"(\d+) of (\d+) votes are synthetic: agreement with them is not agreement with people",
        "{2}표 가운데 {1}표는 지어낸 표라, 거기에 맞는다고 사람과 맞는 것은 아닙니다.",
    ),
    (
        r"(\d+) models can be ordered in only (\d+) ways?, .+",
        "모델이 {1}개면 순서가 {2}가지뿐이라, 상관 없는 두 순서도 우연히 같을 수 있습니다. 상관은 참고로만 보세요.",
    ),
    (
        r"the votes leave (\d+) components: there is no common scale, and no rating across them",
        "표로 이어지지 않는 묶음이 {1}개라 공통 눈금이 없고, 묶음 사이의 점수도 없습니다.",
    ),
    (
        r"(\d+) of (\d+) resamples had no common scale: .+",
        "다시 뽑은 {2}번 가운데 {1}번은 공통 눈금이 없었습니다. 표 몇 장에 눈금이 있고 없고가 갈립니다.",
    ),
    (
        r"no resample of the votes differs from another, such as of ties alone: no interval follows",
        "비긴 표뿐이거나 해서 표를 다시 뽑아도 늘 같으므로 구간을 낼 수 없습니다.",
    ),
    (
        r"the ratings have no common scale, so models are not ordered by them",
        "순위 점수에 공통 눈금이 없어 모델을 그 순서로 세우지 않습니다.",
    ),
    (
        r"no two annotators voted on the same two replies, so how far people agree is not known",
        "두 사람이 같은 두 답장에 투표한 적이 없어 사람끼리 얼마나 맞는지는 알 수 없습니다.",
    ),
    (
        r"(\d+) models: no correlation between models can be computed from fewer than 3",
        "모델이 {1}개입니다. 모델이 셋보다 적으면 모델 사이의 상관을 낼 수 없습니다.",
    ),
    (
        r"(.+): overall rests on the other axes only, none applied of: (.+)",
        "{1:names}: {2:axes} 축은 해당하는 회차가 없어 나머지 축으로만 모두 점수를 냈습니다.",
    ),
    (
        r"(.+): never compared with the other models, so there is no distance to them",
        "{1}: 다른 모델과 견준 적이 없어 거리를 알 수 없습니다.",
    ),
    (
        r"(.+): won every comparison with others \((.+)\); the distance has no bound",
        "{1}: 다른 모델({2:names})을 모두 이겨 거리에 끝이 없습니다.",
    ),
    (
        r"(.+): lost every comparison with others \((.+)\); the distance has no bound",
        "{1}: 다른 모델({2:names})에 모두 져 거리에 끝이 없습니다.",
    ),
    (
        r"(.+): won every comparison with (.+) and lost every one with (.+); neither distance has a bound",
        "{1}: {2:names}에는 모두 이기고 {3:names}에는 모두 져 두 거리 모두 끝이 없습니다.",
    ),
    (
        r"nobody has voted: all (\d+) comparisons follow from what the models support",
        "아직 사람이 준 표가 없습니다. 견줌 {1}건은 모두 모델이 할 수 있는 일에서 나왔습니다.",
    ),
    (
        r"nobody has voted on (.+): what is supported alone makes the rating, and no interval follows",
        "{1:names}: 사람이 준 표가 없어 할 수 있는 일만으로 매긴 점수이고, 구간은 낼 수 없습니다.",
    ),
    (
        r"one run only: give the judge's runs to see how far they lie apart",
        "한 번만 돌렸습니다. 두 번 이상 돌린 결과가 있어야 얼마나 흔들리는지 알 수 있습니다.",
    ),
    (r"no reply was scored in every run", "모든 실행이 함께 점수를 준 답장이 없습니다."),
    (
        r"no line through (\d+) rated models, so there is no envelope; the spread of the scores still counts",
        "점수가 있는 모델이 {1}개라 선을 그을 수 없어 포락선이 없습니다. 점수가 벌어진 폭은 그대로 봅니다.",
    ),
    (r"rules", "규칙"),
    (r"rules, kept or not", "규칙(지켰는지만)"),
    (r"exact McNemar", "맥니마의 정확"),
    (r"Cochran's Q", "코크런의 Q"),
    (r"no discordant pair", "모델마다 갈린 프롬프트가 없습니다"),
    (r"(\S+) has no column '(.+)'; it is ignored in the whole file", "{1}에는 {2} 칸이 없어 파일 전체에서 무시합니다"),
    (
        r"(\S+) has no other columns of this file either; they are ignored, too",
        "{1}에는 이 파일의 다른 칸들도 없어 함께 무시합니다",
    ),
    (r"(\S+(?: \S+)?) (.+) stands already in (.+)", "{1} {2:은/는} {3}에 이미 있습니다"),
    (r"turn_id (.+) is replaced by the row in (.+)", "turn_id {1:은/는} {2}의 줄로 바뀌었습니다"),
    (r"holds half of a surrogate pair, which is no text", "글자가 될 수 없는 반쪽짜리 대리 코드가 있습니다"),
    (r"holds no row", "읽을 수 있는 줄이 없습니다"),
    (r"is no JSON object", "JSON 객체가 아닙니다"),
    (r"holds (\S+), which is no JSON", "{1:은/는} JSON의 값이 아닙니다"),
    (r"it is nested more than (\d+) deep", "{1}겹보다 깊게 겹쳐 있습니다"),
    (r"holds a number of (\d+) digits", "{1}자리 수가 있습니다"),
    (r"is no JSON from here on, perhaps cut off: (.+)", "여기서부터 JSON이 아닙니다. 잘렸을 수 있습니다 ({1:json})"),
    (
        r"is no JSON: (.+); the file ends in it and may be cut off",
        "JSON이 아닙니다 ({1:json}). 파일이 여기서 끝나니 잘렸을 수 있습니다",
    ),
    (r"is no JSON: (.+)", "JSON이 아닙니다 ({1:json})"),
    (
        r"stands behind the end of the JSON; for one object a line, name the file \.jsonl",
        "JSON이 끝난 뒤에 있습니다. 한 줄에 객체 하나라면 파일 이름을 .jsonl로 하세요",
    ),
    (
        r"is not UTF-8 \(byte (\d+) of the line\); save it as UTF-8",
        "UTF-8이 아닙니다(줄의 {1}번째 바이트). UTF-8로 저장하세요",
    ),
    (r"is not UTF-8; save the file as UTF-8", "UTF-8이 아닙니다. 파일을 UTF-8로 저장하세요"),
    (r"is UTF-16; save it as UTF-8", "UTF-16입니다. UTF-8로 저장하세요"),
    (r"holds text that is not UTF-8", "UTF-8이 아닌 글이 있습니다"),
    (r"holds a value that cannot be read \((.+)\)", "읽을 수 없는 값이 있습니다 ({1})"),
    (r"has a header that names (.+) and (\d+) more twice", "머리글에 {1} 외 {2}개가 두 번 나옵니다"),
    (r"has a header that names (.+) twice", "머리글에 {1:이/가} 두 번 나옵니다"),
    (
        r"has a header that lacks (.+); separate the cells by commas",
        "머리글에 {1:이/가} 없습니다. 칸을 쉼표로 나누세요",
    ),
    (r"has a header that lacks (.+)", "머리글에 {1:이/가} 없습니다"),
    (
        r"is a folder behind a link, which is not followed; give that folder itself",
        "따라가지 않는 링크 뒤의 폴더입니다",
    ),
    (r"is none of (.+); rename it or convert it", "{1} 가운데 하나가 아닙니다. 이름이나 형식을 바꾸세요"),
    (r"is no regular file", "보통 파일이 아닙니다"),
    (r"has (\d+) cells where the header has (\d+)", "칸이 {1}개인데 머리글은 {2}개입니다"),
    (
        r"is no CSV: (.+); a quotation mark may be missing, or the file be cut off",
        "CSV가 아닙니다 ({1}). 따옴표가 빠졌거나 파일이 잘렸을 수 있습니다",
    ),
    (r"is no CSV: (.+)", "CSV가 아닙니다 ({1})"),
    (
        r"cannot be read after row (\d+); it may be cut off \((.+)\)",
        "{1}번째 줄 뒤로 읽을 수 없습니다. 잘렸을 수 있습니다 ({2})",
    ),
    (r"is no Parquet file; it may be cut off \((.+)\)", "Parquet 파일이 아닙니다. 잘렸을 수 있습니다 ({1})"),
    (r"cannot be read: (.+)", "읽을 수 없습니다: {1}"),
    (r"holds (\d+) rows in (\d+) bytes; it is no true log", "{2}바이트에 {1}줄이 들어 있습니다. 진짜 로그가 아닙니다"),
    (
        r"packs (\d+) bytes of column '(.+)' into (\d+); write it with smaller row groups",
        "{2} 칸의 {1}바이트를 {3}바이트로 압축했습니다. 행 그룹을 작게 나누어 저장하세요",
    ),
    (
        r"holds (\d+) list elements of column '(.+)' in one row group; write it with smaller row groups",
        "한 행 그룹의 {2} 칸에 목록 원소가 {1}개 있습니다. 행 그룹을 작게 나누어 저장하세요",
    ),
    (
        r"holds a list in row (\d+) that takes over (\d+) MB; shorten it",
        "{1}번째 줄의 목록이 {2}MB를 넘습니다. 줄이세요",
    ),
    (r"names (.+) and (\d+) more twice", "{1} 외 {2}개가 두 번 나옵니다"),
    (r"names (.+) twice", "{1:이/가} 두 번 나옵니다"),
)

_COLUMN = r"(?P<column>[a-z_]+(?:\[\d+\])?(?:\.[a-z_]+)?)"
_VALUE = r"""(?P<value> \((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\))?(?:; |$)"""
_PATTERNS = [(re.compile(pattern, re.DOTALL), korean) for pattern, korean in (*_WHOLE, *REVIEW)]
_OF_A_COLUMN = [(re.compile(f"{_COLUMN} {pattern}{_VALUE}", re.DOTALL), korean) for pattern, korean in _CLAUSES]


def korean(reason: str) -> str:
    """A reason in Korean, with what it quotes as it was."""
    if found := re.fullmatch(r"element (\d+): (.+)", reason, re.DOTALL):
        return f"{found[1]}번째 것: {korean(found[2])}"
    for pattern, sentence in _PATTERNS:
        if found := pattern.fullmatch(reason):
            return _filled(sentence, found)
    if (told := _json_fault(reason)) is not None:
        return told
    return "; ".join(_clauses(reason))


def korean_error(error: str, most: int = 4) -> str:
    """An error in Korean: what stands before its reason, such as file and line, in at most so many parts, stays."""
    told = korean(error)
    if told != error or ": " not in error or not most:
        return told
    head, tail = error.split(": ", 1)
    return f"{korean(head)}: {korean_error(tail, most - 1)}"


def _clauses(reason: str) -> Iterator[str]:
    """What is wrong with each column of a row, one after the other."""
    while reason:
        matches = ((pattern.match(reason), clause) for pattern, clause in _OF_A_COLUMN)
        found, clause = next(((match, clause) for match, clause in matches if match), (None, ""))
        if found is None:
            yield re.sub(r"^and (\d+) more$", r"외 \1개", reason)
            return
        yield f"{_filled(clause, found)}{found['value'] or ''}"
        reason = reason[found.end() :]


def _filled(sentence: str, found: re.Match[str]) -> str:
    """The sentence with the groups in their places, each with its particle where one is named: `{1:이/가}`.

    What is wrong with a text as JSON, `{1:json}`, is told in Korean, too, and so are axes, `{1:axes}`, how many names
    more there are, `{1:names}`, and the kind of a decision and its choices, `{1:kind}` and `{1:choices}`; a list,
    `{1:list}`, has commas alone.
    """
    named = found.groupdict()
    places = set(found.re.groupindex.values())
    unnamed = [text for place, text in enumerate(found.groups(), start=1) if place not in places]
    texts = named | {str(place): text for place, text in enumerate(unnamed, start=1)}

    def filled(slot: re.Match[str]) -> str:
        text = texts[slot[1]] or ""
        if slot[2] == "json":
            return korean(text)
        if slot[2] == "list":
            return text.replace("' or '", "', '")
        if slot[2] == "names":
            return re.sub(r" and (\d+) more$", r" 외 \1개", text)
        if slot[2] == "kind":
            return KINDS.get(text, text)
        if slot[2] == "choices":
            return ", ".join(map(with_code, text.split(", ")))
        if slot[2] == "axes":
            return ", ".join(_AXES.get(axis, axis) for axis in text.split(", "))
        return text + (particle(text, slot[2]) if slot[2] else "")

    return _SLOT.sub(filled, sentence)


_AXES: dict[str, str] = {axis: korean for axis, (korean, _) in AXIS_NAMES.items()}
_SLOT = re.compile(r"\{(\w+)(?::([\w/]+))?\}")


def _json_fault(reason: str) -> str | None:
    found = re.fullmatch(r"(.+?)(?:: .*)? at character (\d+)", reason, re.DOTALL)
    if found is None or found[1] not in _JSON_FAULTS:
        return None
    return f"{found[2]}번째 글자: {_JSON_FAULTS[found[1]]}"


_JSON_FAULTS = {
    "expecting value": "값이 있어야 합니다",
    "expecting property name enclosed in double quotes": "큰따옴표로 감싼 이름이 있어야 합니다",
    "expecting ':' delimiter": "쌍점(:)이 있어야 합니다",
    "expecting ',' delimiter": "쉼표(,)가 있어야 합니다",
    "unterminated string starting": "여기서 시작한 글이 닫히지 않았습니다",
    "invalid control character": "글 안에 쓸 수 없는 제어 문자가 있습니다",
    "invalid \\escape": "역빗금(\\) 뒤의 글자가 틀렸습니다",
    "invalid \\uXXXX escape": "\\u 뒤에는 16진수 네 자리가 있어야 합니다",
    "extra data": "JSON이 끝난 뒤에 무엇이 더 있습니다",
}
"""What Python's reader of JSON says, in lower case; the same of all its versions."""
