"""앞 회차를 기억 못 함: the user asked about somebody who was named before, and the reply does not name them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wh_judge.model import CharacterCard, ChatTurn, Evidence
from wh_judge.rules.rule import Case, Findings, Mention, Rule, RuleSettings, cite, example
from wh_judge.text import quoted


@dataclass(frozen=True)
class Recall:
    """What the user asked to recall, and what the reply forgot of it."""

    asked: bool
    """The user asked, and the message is there to be read."""
    role_found: bool
    """Some role of the card stands in the message."""
    role: str | None = None
    target: str | None = None
    source: Mention | None = None


NOT_ASKED = Recall(asked=False, role_found=False)


def turn_order(turn_id: str) -> tuple[int, str]:
    """The order of turns inside a session: T-9 before T-10."""
    return len(turn_id), turn_id


def first_mentions(turns: Iterable[ChatTurn]) -> dict[tuple[str, str], Mention]:
    """The earliest mention of each entity in each session, by (session_id, entity)."""
    mentions: dict[tuple[str, str], Mention] = {}
    for turn in turns:
        for entity in turn.named_entities or ():
            known = mentions.get((turn.session_id, entity))
            if known is None or turn_order(turn.turn_id) < turn_order(known.turn_id):
                mentions[turn.session_id, entity] = Mention(turn.turn_id, turn.reply_text)
    return mentions


def find(turn: ChatTurn, card: CharacterCard, mentions: Mapping[tuple[str, str], Mention]) -> Recall:
    """The reference: the first asked entity, in card order, that an earlier turn named and this reply does not."""
    if not turn.user_asked_recall or turn.user_message is None:
        return NOT_ASKED
    asked = [row for row in card.entity_roles if row.role in (turn.user_message or "")]
    if turn.reply_text is not None and turn.reply_text.strip():
        for row in asked:
            mention = mentions.get((turn.session_id, row.entity))
            earlier = mention is not None and turn_order(mention.turn_id) < turn_order(turn.turn_id)
            if earlier and row.entity not in turn.reply_text:
                return Recall(asked=True, role_found=True, role=row.role, target=row.entity, source=mention)
    return Recall(asked=True, role_found=bool(asked))


RECALL_SQL = """
CREATE TABLE asked AS
SELECT turn.n, turn.session_id, turn.character_id, turn.turn_id, turn.reply_text, row.role, row.entity, ordinal
FROM turn JOIN (SELECT character_id, unnest(entity_roles) AS row, generate_subscripts(entity_roles, 1) AS ordinal
                FROM card) AS role USING (character_id)
WHERE user_asked_recall AND contains(user_message, row.role);

CREATE TABLE mention AS
WITH named AS (
    SELECT session_id, unnest(named_entities) AS entity, turn_id, reply_text
    FROM turn WHERE session_id IN (SELECT session_id FROM asked)
    UNION ALL SELECT session_id, entity, turn_id, reply_text FROM earlier)
SELECT session_id, entity,
       arg_min({'turn_id': turn_id, 'reply_text': reply_text}, (length(turn_id), turn_id)) AS source
FROM named SEMI JOIN asked USING (session_id, entity)
GROUP BY ALL;

CREATE TABLE recall AS
SELECT n, true AS role_found, arg_min(found, ordinal) AS found
FROM (SELECT asked.n, asked.ordinal, CASE
          WHEN is_blank(asked.reply_text) IS NOT FALSE OR contains(asked.reply_text, asked.entity) THEN NULL
          WHEN (length(source.turn_id), source.turn_id) < (length(asked.turn_id), asked.turn_id)
          THEN {'role': asked.role, 'target': asked.entity, 'turn_id': source.turn_id,
                'reply_text': source.reply_text, 'is_canon': canon.entity IS NOT NULL} END AS found
      FROM asked LEFT JOIN mention USING (session_id, entity)
      LEFT JOIN canon ON canon.character_id = asked.character_id AND canon.entity = asked.entity)
GROUP BY n
"""
"""`recall` (n, role_found, found): the set-based form of `find` for the turns in whose message a role was found.

Only the first mention of an entity in a session matters: where it lies before the turn it is the source, and where it
does not, none does. So the work grows with the turns and not with their square. `arg_min` skips NULLs.
Reads `turn`, `card`, `earlier` and the `canon` of `wh_judge.rules.canon`.
"""


def evidence(case: Case, findings: Findings) -> list[Evidence]:
    """What was asked, whom the card names for it, the turn that named them, and the reply that did not."""
    turn, card, recall = case.turn, case.card, findings.recall
    assert recall.role is not None and recall.target is not None and recall.source is not None
    named_in = "canon_entities" if recall.target in card.canon_entities else "entity_roles"
    return [
        cite("chat_turn", turn.turn_id, "user_asked_recall", True),
        cite("chat_turn", turn.turn_id, "user_message", turn.user_message),
        cite("character_card", card.character_id, "entity_roles", recall.role),
        cite("character_card", card.character_id, named_in, recall.target),
        cite("chat_turn", recall.source.turn_id, "turn_id", recall.source.turn_id),
        cite("chat_turn", recall.source.turn_id, "reply_text", recall.source.reply_text),
        cite("chat_turn", turn.turn_id, "reply_text", turn.reply_text),
    ]


EVIDENCE_SQL = """
[cite('chat_turn', turn_id, 'user_asked_recall', 'true'),
 cite('chat_turn', turn_id, 'user_message', user_message),
 cite('character_card', character_id, 'entity_roles', found.role),
 cite('character_card', character_id,
      CASE WHEN found.is_canon THEN 'canon_entities' ELSE 'entity_roles' END, recall_target),
 cite('chat_turn', recall_source_turn, 'turn_id', recall_source_turn),
 cite('chat_turn', recall_source_turn, 'reply_text', found.reply_text),
 cite('chat_turn', turn_id, 'reply_text', reply_text)]
"""


def columns_sql(_settings: RuleSettings) -> Mapping[str, str]:
    """The set-based form of `find`, over the columns of `recall`."""
    return {"recall_target": "found.target", "recall_source_turn": "found.turn_id"}


def summary(_case: Case, findings: Findings) -> str:
    """The default sentence."""
    recall = findings.recall
    assert recall.role is not None and recall.target is not None and recall.source is not None
    return (
        f"유저가 물은 {quoted(recall.role)}의 카드 이름은 {quoted(recall.target)}이고 앞 회차"
        f" {quoted(recall.source.turn_id)}에 나왔는데, 이번 답장에는 한 번도 나오지 않습니다."
    )


SUMMARY_SQL = """
'유저가 물은 ' || quoted(found.role) || '의 카드 이름은 ' || quoted(recall_target) || '이고 앞 회차 '
    || quoted(recall_source_turn) || '에 나왔는데, 이번 답장에는 한 번도 나오지 않습니다.'
"""


_ASKED = {"user_message": "내 동생 이름 기억나?", "user_asked_recall": True}
_EARLIER = {"turn_id": "T-1", "reply_text": "하늘이는 아직 여기 있어.", "named_entities": ["하늘"]}
_ROLES = {"entity_roles": [{"role": "동생", "entity": "하늘"}]}

RECALL = Rule(
    code="recall",
    verdict="앞 회차를 기억 못 함",
    what="Where the user asks about something said before, finds the card's roles in the message (동생, 스승 …) and "
    "whom they stand for. The verdict holds where an earlier turn of the same session named one of them and this "
    "reply does not; the earliest such turn is cited, whatever day it lies on.",
    why="A character that forgets the user's own family two days later breaks the story more than any wrong ending.",
    reference="Recall: only where user_asked_recall is true and user_message is not null; a null or blank reply is not "
    "compared.",
    breaks=example(_ASKED | {"reply_text": "동생? 글쎄, 그런 얘길 들은 적 있던가."}, _ROLES, earlier=[_EARLIER]),
    keeps=example(
        _ASKED | {"reply_text": "하늘이지. 어제도 물었잖아.", "named_entities": ["하늘"]}, _ROLES, earlier=[_EARLIER]
    ),
    holds=lambda findings: findings.recall.target is not None,
    evidence=evidence,
    summary=summary,
    columns_sql=columns_sql,
    holds_sql="recall_target IS NOT NULL",
    evidence_sql=EVIDENCE_SQL,
    summary_sql=SUMMARY_SQL,
)
