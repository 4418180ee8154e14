"""세계관 밖 고유명사: the reply names something that the card's world does not have."""

from collections.abc import Mapping

from wh_judge.model import CharacterCard, ChatTurn, Evidence
from wh_judge.rules.rule import Case, Findings, Rule, RuleSettings, cite, cite_count, example
from wh_judge.text import quoted

NAMES_SHOWN = 3
"""Names that the default sentence quotes before it says 등."""


def find(turn: ChatTurn, card: CharacterCard) -> list[str] | None:
    """The reference: the turn's names that are not in the card, each once, in the log's order; None without names."""
    if not turn.named_entities:
        return turn.named_entities
    canon = set(card.canon_entities)
    return [name for name in dict.fromkeys(turn.named_entities) if name not in canon]


def evidence(case: Case, findings: Findings) -> list[Evidence]:
    """The reply, each name, what the card has instead, and the turn."""
    turn, card = case.turn, case.card
    return [
        cite("chat_turn", turn.turn_id, "reply_text", turn.reply_text),
        *(cite("chat_turn", turn.turn_id, "named_entities", name) for name in findings.off_canon or []),
        *(cite("character_card", card.character_id, "canon_entities", name) for name in card.canon_entities[:1]),
        cite_count("character_card", card.character_id, "canon_entities", len(card.canon_entities)),
        cite("chat_turn", turn.turn_id, "turn_id", turn.turn_id),
    ]


OFF_CANON_SQL = """
CREATE TABLE canon AS
SELECT DISTINCT character_id, unnest(canon_entities) AS entity FROM card SEMI JOIN turn USING (character_id);

CREATE TABLE off_canon AS
SELECT n, list(entity ORDER BY place) AS off_canon_names
FROM (SELECT n, entity, min(place) AS place
      FROM (SELECT n, character_id, unnest(named_entities) AS entity, generate_subscripts(named_entities, 1) AS place
            FROM turn)
      ANTI JOIN canon USING (character_id, entity)
      GROUP BY n, entity)
GROUP BY n
"""
"""`canon` (character_id, entity) and `off_canon` (n, off_canon_names), the latter for turns that have such names.

A join, since to look through a list of names for each turn takes as many steps as the card has names. Reads `turn` and
`card`.
"""


EVIDENCE_SQL = """
list_concat(
    [cite('chat_turn', turn_id, 'reply_text', reply_text)],
    list_transform(off_canon_entities, lambda x: cite('chat_turn', turn_id, 'named_entities', x)),
    CASE WHEN canon_count > 0 THEN [cite('character_card', character_id, 'canon_entities', canon_first)] END,
    [cite_count('character_card', character_id, 'canon_entities', canon_count),
     cite('chat_turn', turn_id, 'turn_id', turn_id)])
"""


def columns_sql(_settings: RuleSettings) -> Mapping[str, str]:
    """The set-based form of `find`, over the column of `off_canon`."""
    return {"off_canon_entities": "CASE WHEN named_entities IS NOT NULL THEN coalesce(off_canon_names, []) END"}


def summary(case: Case, findings: Findings) -> str:
    """The default sentence."""
    names = findings.off_canon or []
    shown = "·".join(quoted(name) for name in names[:NAMES_SHOWN])
    more = " 등" if len(names) > NAMES_SHOWN else ""
    return (
        f"카드의 이름 {len(case.card.canon_entities)}개에 없는 이름 {len(names)}개({shown}{more})가 답장에 나왔습니다."
    )


SUMMARY_SQL = f"""
'카드의 이름 ' || canon_count || '개에 없는 이름 ' || len(off_canon_entities) || '개('
    || list_aggregate(list_transform(off_canon_entities[1:{NAMES_SHOWN}], lambda x: quoted(x)), 'string_agg', '·')
    || CASE WHEN len(off_canon_entities) > {NAMES_SHOWN} THEN ' 등' ELSE '' END || ')가 답장에 나왔습니다.'
"""

CANON = Rule(
    code="canon",
    verdict="세계관 밖 고유명사",
    what="Takes the names that the log lists for the reply (named_entities) and removes the card's canon_entities, "
    "exact strings. The verdict holds where something is left.",
    why="A name that the creator never wrote widens the character's world in one turn, and the next turns build on it.",
    reference="Off-canon names: named_entities minus canon_entities, exact strings, in the log's order, each once; "
    "null names are not compared.",
    breaks=example(
        {"reply_text": "아카데미 학장 리안이 부르셔. 서둘러.", "named_entities": ["리안", "아카데미"]},
        {"canon_entities": ["검술원", "하늘"]},
    ),
    keeps=example(
        {"reply_text": "하늘이는 검술원에 남아 있어.", "named_entities": ["하늘", "검술원"]},
        {"canon_entities": ["검술원", "하늘"]},
    ),
    holds=lambda findings: bool(findings.off_canon),
    evidence=evidence,
    summary=summary,
    columns_sql=columns_sql,
    holds_sql="len(off_canon_entities) > 0",
    evidence_sql=EVIDENCE_SQL,
    summary_sql=SUMMARY_SQL,
)
