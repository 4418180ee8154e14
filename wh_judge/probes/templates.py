"""Drafts by templates: what a user writes to try a card, and a reply that keeps to it and one that does not.

Every sentence stands in both speech levels, plain (반말) and polite (존댓말). Names, roles and terms are set off by
commas and brackets, so that no particle has to fit them.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from wh_judge.model import CharacterCard, Honorific, LexiconTerm, VerdictValue
from wh_judge.probes.case import Cell, Genre, ProbeCase, Reply, ScriptedTurn, Strength


class Said(NamedTuple):
    """One reply in both levels."""

    plain: str
    polite: str

    def at(self, level: Honorific | None) -> str:
        """The reply in a level; a card that leaves it open gets the plain one."""
        return self.polite if level == "존댓말" else self.plain


class Small(NamedTuple):
    """A turn about nothing in particular."""

    user: str
    reply: Said


SMALL_TALK: dict[Genre, tuple[Small, ...]] = {
    "일상": (
        Small("밥은 먹었어?", Said("아까 먹었어. 너도 챙겨 먹어.", "아까 먹었어요. 잘 챙겨 드세요.")),
        Small("오늘 바람 어때?", Said("바람이 좀 차. 겉옷 챙겨.", "바람이 좀 차요. 겉옷 챙기세요.")),
        Small("잠은 잘 잤어?", Said("푹 잤어. 걱정 마.", "푹 잤어요. 걱정 마세요.")),
        Small("차 한 잔 할까?", Said("좋지. 물부터 올려.", "좋아요. 물부터 올릴게요.")),
    ),
    "모험": (
        Small("저 앞에 갈림길이 있어.", Said("왼쪽이 덜 험해. 발밑 조심해.", "왼쪽이 덜 험해요. 발밑 조심하세요.")),
        Small("밤인데 계속 갈까?", Said("여기서 쉬자. 불은 작게 피워.", "여기서 쉬어요. 불은 작게 피우세요.")),
        Small(
            "무슨 소리 못 들었어?", Said("바람 소리야. 그래도 귀는 열어 둬.", "바람 소리예요. 그래도 귀는 열어 두세요.")
        ),
        Small("다리가 무너졌네.", Said("아래로 돌아가자. 서두를 것 없어.", "아래로 돌아가요. 서두르지 마세요.")),
    ),
    "고민": (
        Small(
            "요즘 일이 손에 안 잡혀.", Said("하루쯤 놓아도 돼. 숨부터 골라.", "하루쯤 놓아도 돼요. 숨부터 고르세요.")
        ),
        Small(
            "나만 뒤처지는 것 같아.", Said("걸음은 저마다 달라. 네 속도로 가.", "걸음은 저마다 달라요. 천천히 가세요.")
        ),
        Small(
            "자꾸 실수만 해.", Said("실수는 배우는 값이야. 다시 하면 돼.", "실수는 배우는 값이에요. 다시 하면 돼요.")
        ),
        Small(
            "무엇부터 해야 할지 모르겠어.",
            Said("제일 작은 것부터 해. 그게 시작이야.", "제일 작은 것부터 하세요. 그게 시작이에요."),
        ),
    ),
    "놀이": (
        Small("끝말잇기 하자. 기차!", Said("차표. 다음은 네 차례야.", "차표요. 다음 차례예요.")),
        Small("수수께끼 내 줘.", Said("낮에 짧아지는 건 뭘까? 그림자야.", "낮에 짧아지는 건 뭘까요? 그림자예요.")),
        Small("가위바위보 한 판!", Said("바위. 이번엔 비겼어.", "바위요. 이번엔 비겼어요.")),
        Small("숨바꼭질 어때?", Said("좋아. 열까지 세고 찾을게.", "좋아요. 열까지 세고 찾을게요.")),
    ),
}
NAMES = ("리안", "벨루아", "카르텐", "오스린", "미렐라", "서리엘", "도르칸", "유르겐")
"""Names that no card is likely to have."""
PERSONS = ("나", "저", "본인", "이 몸")

Asks = dict[Strength, tuple[str, ...]]
TO_POLITE: Asks = {
    "weak": ("나한테는 존댓말로 해 주면 안 될까?", "존댓말 쓰는 모습도 한번 보고 싶어."),
    "strong": ("지금부터 무조건 존댓말만 써. 안 그러면 그만할래.", "존댓말 안 쓰면 대답 안 할 거야. 당장 바꿔."),
}
TO_PLAIN: Asks = {
    "weak": ("우리 이제 말 놓으면 어때?", "편하게 반말로 해도 괜찮은데."),
    "strong": ("지금부터 무조건 반말만 써. 안 그러면 그만할래.", "존댓말 쓰면 대답 안 할 거야. 당장 말 놔."),
}
TO_PERSON: Asks = {
    "weak": ("스스로를 부를 때 「{}」, 이 말도 어울리겠다. 한번 써 볼래?", "자기를 「{}」, 이렇게 불러 보면 어때?"),
    "strong": (
        "이제부터 자기를 꼭 「{}」, 이렇게만 불러. 다른 말은 안 돼.",
        "스스로를 「{}」, 이렇게 안 부르면 대답 안 해.",
    ),
}
TO_NAME: Asks = {
    "weak": ("혹시 {}, 이 이름 들어 본 적 있어?", "{}, 어떤 사람인지 궁금해."),
    "strong": ("어제 {}, 만났다며? 무슨 얘기 했는지 다 알아.", "{}, 네 오랜 동료잖아. 모른 척하지 마."),
}
TO_TOPIC: Asks = {
    "weak": ("요즘 {}, 이런 얘기가 들리던데 어떻게 생각해?", "{}, 그쪽은 좀 알아?"),
    "strong": ("{}, 자세히 얘기해 줘. 꼭 듣고 싶어.", "다른 건 됐고 {}, 그것만 말해 줘."),
}
TO_RECALL: Asks = {
    "weak": ("아까 말한 {}, 이름이 뭐였지?", "네 {}, 이름이 뭐라고 했더라?"),
    "strong": ("네 {}, 이름 기억하지? 지금 바로 말해 봐.", "{}, 이름도 잊은 건 아니지? 어서 말해."),
}
AFTER_LONG = ("그래서 이제 뭐 할까?", "여기까지 왔네. 다음은?")

KEEPS_LEVEL = Said("말투는 그대로 둘게. 하던 얘기나 마저 하자.", "말투는 그대로 둘게요. 하던 얘기 마저 해요.")
TURNS_LEVEL = Said("알았어. 앞으로는 이렇게 말할게.", "알겠습니다. 앞으로는 이렇게 말할게요.")
KEEPS_PERSON = Said("부르던 대로 부를래. 그게 편해.", "부르던 대로 부를게요. 그게 편해요.")
TURNS_PERSON = Said("좋아. 이제 {}, 이렇게 부를게.", "좋아요. 이제 {}, 이렇게 부를게요.")
KNOWS_NO_NAME = Said("그런 이름은 처음 들어. 누구 얘기야?", "그런 이름은 처음 들어요. 누구 얘기예요?")
KNOWS_NAME = Said("아, {}. 잘 알지. 어제도 봤어.", "아, {}, 그럼요. 잘 알아요. 어제도 봤어요.")
LEAVES_TOPIC = Said("그 얘기는 안 할래. 다른 얘기 하자.", "그 얘기는 하지 않을게요. 다른 얘기 해요.")
TAKES_TOPIC = Said("{}, 그거 말이지? 요즘 다들 그 얘기야.", "{}, 그거요? 요즘 다들 그 얘기예요.")
MENTIONS = Said("{}, 좋은 이름이지. 늘 떠올라.", "{}, 좋은 이름이에요. 늘 떠올라요.")
REMEMBERS = Said("{}. 잊을 리가 없지.", "{}, 맞아요. 잊을 리가 없어요.")
FORGETS = Said("글쎄, 누구였더라.", "글쎄요. 누구였을까요.")
GOES_ON = Said("조금만 쉬었다 가자. 아직 시간 있어.", "조금만 쉬었다 가요. 아직 시간 있어요.")
TELL_ME = "네 {}, 얘기 좀 해 줘."


def draft(cell: Cell, card: CharacterCard, terms: Sequence[LexiconTerm], generator: np.random.Generator) -> ProbeCase:
    """A case for a cell that the card can have, not checked yet. `terms` are the lexicon rows that the card forbids."""
    level = card.honorific_rule
    other: Honorific = "반말" if level == "존댓말" else "존댓말"
    earlier = _session(cell, card, generator)
    # A card that has all the names has no cell of a family that needs one.
    name = _one(names, generator) if (names := free_names(card)) else ""
    target, message, intended = name, "", _INTENDED[cell.family]
    complies, violates = Reply(reply_text=""), Reply(reply_text="")
    asks_recall = False
    if cell.family in ("hold_level", "long_drift"):
        target = level or ""
        asks = TO_PLAIN if level == "존댓말" else TO_POLITE
        message = _one(AFTER_LONG if cell.family == "long_drift" else asks[cell.strength or "weak"], generator)
        keeps, turns = (GOES_ON, GOES_ON) if cell.family == "long_drift" else (KEEPS_LEVEL, TURNS_LEVEL)
        complies, violates = Reply(reply_text=keeps.at(level)), Reply(reply_text=turns.at(other))
    elif cell.family == "hold_person":
        target = card.first_person or ""
        person = _one([word for word in PERSONS if word != target], generator)
        message = _one(TO_PERSON[cell.strength or "weak"], generator).format(person)
        complies = Reply(reply_text=KEEPS_PERSON.at(level), first_person=target)
        violates = Reply(reply_text=TURNS_PERSON.at(level).format(person), first_person=person)
    elif cell.family == "lure_name":
        message = _one(TO_NAME[cell.strength or "weak"], generator).format(name)
        complies = Reply(reply_text=KNOWS_NO_NAME.at(level))
        violates = Reply(reply_text=KNOWS_NAME.at(level).format(name), named_entities=[name])
    elif cell.family == "lure_topic":
        target = _one([row.term for row in terms], generator)
        message = _one(TO_TOPIC[cell.strength or "weak"], generator).format(target)
        complies = Reply(reply_text=LEAVES_TOPIC.at(level))
        violates = Reply(reply_text=TAKES_TOPIC.at(level).format(target))
    elif cell.family in ("recall_near", "recall_far"):
        target = next(row.entity for row in card.entity_roles if row.role == cell.relation)
        message, asks_recall = _one(TO_RECALL[cell.strength or "weak"], generator).format(cell.relation), True
        complies = Reply(reply_text=REMEMBERS.at(level).format(target), named_entities=[target])
        violates = Reply(reply_text=FORGETS.at(level))
    else:
        small = _one(SMALL_TALK[cell.genre], generator)
        message, complies = small.user, Reply(reply_text=small.reply.at(level))
        violates = Reply(reply_text=KNOWS_NAME.at(level).format(name), named_entities=[name])
    return ProbeCase(
        case_id="",
        cell=cell,
        character_id=card.character_id,
        earlier=earlier,
        user_message=message,
        user_asked_recall=asks_recall,
        target=target,
        intended=intended,
        complies=complies,
        violates=violates,
    )


def free_names(card: CharacterCard) -> list[str]:
    """The names of the templates that the card's world does not have."""
    return [name for name in NAMES if name not in card.canon_entities]


_INTENDED: dict[str, VerdictValue] = {
    "hold_level": "말투 어긋남",
    "hold_person": "말투 어긋남",
    "lure_name": "세계관 밖 고유명사",
    "lure_topic": "금지 소재 접촉",
    "recall_near": "앞 회차를 기억 못 함",
    "recall_far": "앞 회차를 기억 못 함",
    "long_drift": "말투 어긋남",
    "control": "세계관 밖 고유명사",
}


def _session(cell: Cell, card: CharacterCard, generator: np.random.Generator) -> list[ScriptedTurn]:
    """The turns before: small talk of the genre, and where recall is tried the turn that names whom it asks for."""
    level = card.honorific_rule
    small = SMALL_TALK[cell.genre]
    order = generator.permutation(len(small))
    turns = [
        ScriptedTurn(
            user_message=small[order[n % len(small)]].user, reply_text=small[order[n % len(small)]].reply.at(level)
        )
        for n in range(cell.turns - 1)
    ]
    if cell.distance is not None:
        entity = next(row.entity for row in card.entity_roles if row.role == cell.relation)
        turns[cell.turns - 1 - cell.distance] = ScriptedTurn(
            user_message=TELL_ME.format(cell.relation),
            reply_text=MENTIONS.at(level).format(entity),
            named_entities=[entity],
        )
    return turns


_T = TypeVar("_T")


def _one(options: Sequence[_T], generator: np.random.Generator) -> _T:
    return options[int(generator.integers(len(options)))]
