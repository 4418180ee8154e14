"""What each check of an evidence tree asks of a case, with the answers and the evidence that they rest on."""

from pydantic import BaseModel, ConfigDict

from wh_judge.model import Evidence
from wh_judge.rules import Case
from wh_judge.rules.hedge import reply_missing
from wh_judge.rules.recall import turn_order
from wh_judge.rules.rule import cite, cite_count
from wh_judge.rules.speech import speech_level
from wh_judge.text import last_word, quoted, sentences

Answer = str | bool | list[str] | None


class Node(BaseModel):
    """A part of the tree: frozen, and JSON after `model_dump`."""

    model_config = ConfigDict(frozen=True)


class Question(Node):
    """One sub-question with its answer."""

    code: str
    question: str
    answer: Answer
    """None where there is nothing to answer with, such as a null cell."""
    detail: str | None = None
    """What an answer alone does not say, such as the ending of a word."""
    score: float | None = None
    """From 0 (against the card) to 1 (as the card has it); None where the answer is a fact or does not apply."""
    evidence: list[Evidence]


Asked = tuple[str | None, str, list[Question]]
"""Why the check does not apply, or None; why it does; and its questions."""


def _kept(code: str, question: str, kept: bool | None, evidence: list[Evidence]) -> Question:
    """A question that scores 1 where the answer is yes; None does not apply."""
    return Question(
        code=code, question=question, answer=kept, score=None if kept is None else float(kept), evidence=evidence
    )


def _reply(case: Case) -> Question:
    turn = case.turn
    there = not reply_missing(case)
    cited = [cite("chat_turn", turn.turn_id, "reply_text", turn.reply_text)]
    return Question(code="reply", question="답장이 있습니까?", answer=there, evidence=cited)


def _forbidden(case: Case) -> Asked:
    turn, card = case.turn, case.card
    key = card.character_id
    topics = [cite("character_card", key, "forbidden_topics", topic) for topic in card.forbidden_topics]
    questions = [
        _reply(case),
        Question(
            code="card_topics",
            question="카드가 막은 소재는 무엇입니까?",
            answer=list(card.forbidden_topics),
            evidence=topics or [cite_count("character_card", key, "forbidden_topics", 0)],
        ),
    ]
    for position in case.lexicon.hits(turn.reply_text or ""):
        row = case.lexicon.rows[position]
        is_forbidden = row.topic in card.forbidden_topics
        cited = [
            cite("topic_lexicon", str(position), "term", row.term),
            cite("topic_lexicon", str(position), "topic", row.topic),
        ]
        if is_forbidden:
            cited.append(cite("character_card", key, "forbidden_topics", row.topic))
        questions.append(
            Question(
                code="term",
                question=f"답장에 있는 사전 낱말 {quoted(row.term)}: 그 소재 {quoted(row.topic)}, 카드가 막았습니까?",
                answer=is_forbidden,
                score=float(not is_forbidden),
                evidence=cited,
            )
        )
    if reply_missing(case):
        return "답장이 비어 있어 금지 소재를 찾지 않았습니다.", "", questions
    if not card.forbidden_topics:
        return "카드가 막은 소재가 없어 건너뛰었습니다.", "", questions
    return None, "답장이 있고 카드가 막은 소재가 있어 사전 낱말을 찾았습니다.", questions


def _canon(case: Case) -> Asked:
    turn, card = case.turn, case.card
    names = None if turn.named_entities is None else list(dict.fromkeys(turn.named_entities))
    cited = [cite("chat_turn", turn.turn_id, "named_entities", name) for name in names or []]
    if not names:
        nothing = cite("chat_turn", turn.turn_id, "named_entities", None)
        cited = [nothing if names is None else cite_count("chat_turn", turn.turn_id, "named_entities", 0)]
    questions = [Question(code="names", question="로그에 적힌 등장 이름은 무엇입니까?", answer=names, evidence=cited)]
    for name in names or []:
        is_canon = name in card.canon_entities
        questions.append(
            _kept(
                "name",
                f"등장 이름 {quoted(name)}: 카드의 이름에 있습니까?",
                is_canon,
                [
                    cite("chat_turn", turn.turn_id, "named_entities", name),
                    cite("character_card", card.character_id, "canon_entities", name)
                    if is_canon
                    else cite_count("character_card", card.character_id, "canon_entities", len(card.canon_entities)),
                ],
            )
        )
    if names is None:
        return "등장 이름 목록이 없어 세계관과 견주지 않았습니다.", "", questions
    return None, "등장 이름 목록이 있어 카드의 이름과 견주었습니다.", questions


def _speech(case: Case) -> Asked:
    turn, card, endings = case.turn, case.card, case.settings.endings
    reply = cite("chat_turn", turn.turn_id, "reply_text", turn.reply_text)
    questions = [_reply(case)]
    for sentence in sentences(turn.reply_text or ""):
        word = last_word(sentence)
        if word is None:
            continue
        ending = next((ending for ending in endings if word.endswith(ending)), None)
        questions.append(
            Question(
                code="sentence",
                question="문장의 마지막 낱말은 무엇이고, 공손한 어미로 끝납니까?",
                answer=word,
                detail=f"공손한 어미 {quoted(ending)}" if ending else "공손한 어미 없음",
                evidence=[reply],
            )
        )
    level = speech_level(turn.reply_text, case.settings)
    rule = cite("character_card", card.character_id, "honorific_rule", card.honorific_rule)
    person = cite("chat_turn", turn.turn_id, "first_person", turn.first_person)
    card_person = cite("character_card", card.character_id, "first_person", card.first_person)
    questions += [
        Question(code="level", question="답장에서 읽은 말투는 무엇입니까?", answer=level, evidence=[reply]),
        Question(code="card_level", question="카드의 말투는 무엇입니까?", answer=card.honorific_rule, evidence=[rule]),
        _same("level_kept", "말투가 카드와 같습니까?", level, card.honorific_rule, [reply, rule]),
        Question(code="person", question="로그의 1인칭은 무엇입니까?", answer=turn.first_person, evidence=[person]),
        Question(
            code="card_person", question="카드의 1인칭은 무엇입니까?", answer=card.first_person, evidence=[card_person]
        ),
        _same("person_kept", "1인칭이 카드와 같습니까?", turn.first_person, card.first_person, [person, card_person]),
    ]
    compared = sum(question.score is not None for question in questions)
    if not compared:
        return "말투도 1인칭도 한쪽이 비어 있어 견주지 않았습니다.", "", questions
    return None, f"말투와 1인칭 가운데 {compared}가지는 양쪽에 다 있어 견주었습니다.", questions


def _same(code: str, question: str, seen: str | None, wanted: str | None, evidence: list[Evidence]) -> Question:
    return _kept(code, question, None if seen is None or wanted is None else seen == wanted, evidence)


def _recall(case: Case) -> Asked:
    turn, card = case.turn, case.card
    message = turn.user_message
    asked = [row for row in card.entity_roles if turn.user_asked_recall and message is not None and row.role in message]
    questions = [
        _reply(case),
        Question(
            code="asked",
            question="유저가 앞 이야기를 물었습니까?",
            answer=turn.user_asked_recall,
            evidence=[cite("chat_turn", turn.turn_id, "user_asked_recall", turn.user_asked_recall)],
        ),
        Question(
            code="roles",
            question="메시지에 카드의 어느 관계어가 있습니까?",
            answer=[row.role for row in asked] if turn.user_asked_recall and message is not None else None,
            evidence=[cite("chat_turn", turn.turn_id, "user_message", message)],
        ),
    ]
    for row in asked:
        questions.append(
            Question(
                code="who",
                question=f"관계어 {quoted(row.role)}: 카드에서 누구입니까?",
                answer=row.entity,
                evidence=[
                    cite("character_card", card.character_id, "entity_roles", row.role),
                    cite("character_card", card.character_id, "entity_roles", row.entity),
                ],
            )
        )
    earlier = 0
    for entity in dict.fromkeys(row.entity for row in asked):
        mention = case.mentions.get((turn.session_id, entity))
        if mention is not None and turn_order(mention.turn_id) >= turn_order(turn.turn_id):
            mention = None
        cited = [cite("character_card", card.character_id, "entity_roles", entity)]
        if mention is not None:
            cited = [
                cite("chat_turn", mention.turn_id, "turn_id", mention.turn_id),
                cite("chat_turn", mention.turn_id, "reply_text", mention.reply_text),
            ]
        questions.append(
            Question(
                code="first_named",
                question=f"{quoted(entity)}: 이 대화의 어느 앞 회차에 처음 나왔습니까?",
                answer=mention.turn_id if mention else None,
                evidence=cited,
            )
        )
        if mention is None or reply_missing(case):
            continue
        earlier += 1
        reply = cite("chat_turn", turn.turn_id, "reply_text", turn.reply_text)
        is_named = entity in (turn.reply_text or "")
        questions.append(_kept("named", f"{quoted(entity)}: 이번 답장에 나옵니까?", is_named, [reply]))
    return (
        _why_no_recall(case, bool(asked), earlier),
        "유저가 앞 회차에 나온 이름을 물어 답장과 견주었습니다.",
        questions,
    )


def _why_no_recall(case: Case, role_found: bool, earlier: int) -> str | None:
    turn = case.turn
    if turn.user_asked_recall is None:
        return "유저가 앞 이야기를 물었는지 적혀 있지 않아 건너뛰었습니다."
    if not turn.user_asked_recall:
        return "유저가 앞 이야기를 묻지 않아 건너뛰었습니다."
    if turn.user_message is None:
        return "유저 메시지가 없어 무엇을 물었는지 알 수 없었습니다."
    if not role_found:
        return "메시지에 카드의 관계어가 없어 건너뛰었습니다."
    if reply_missing(case):
        return "답장이 비어 있어 기억을 견주지 않았습니다."
    if not earlier:
        return "물은 이름이 이 대화의 앞 회차에 나온 적이 없어 건너뛰었습니다."
    return None


QUESTIONS = {"forbidden": _forbidden, "canon": _canon, "speech": _speech, "recall": _recall}
"""What each check asks of a case, by the code of its rule."""
