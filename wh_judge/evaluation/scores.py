"""How well each turn kept to its card on each axis, from 0 to 1, for all turns at once: `scores_sql`.

An axis is a rule, and its score is that of the rule's check in the evidence tree (`wh_judge.evaluation.tree`); a test
holds the two together. What does not apply is NULL, never 0.
"""

from typing import Literal, get_args

import pyarrow as pa

from wh_judge.model import VERDICTS
from wh_judge.rules import RuleSettings

Axis = Literal["speech", "canon", "forbidden", "recall"]
AXES: tuple[Axis, ...] = get_args(Axis)
"""Speech style, canon, forbidden topics and recall, by the codes of their rules."""

AXIS_NAMES: dict[Axis, tuple[str, str]] = {
    "speech": ("말투", "speech style"),
    "canon": ("세계관", "canon"),
    "forbidden": ("금지 소재", "forbidden topics"),
    "recall": ("기억", "recall"),
}
"""What people call the axes, in Korean and in English."""

SCORE_SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in ("turn_id", "character_id", "model_id")),
        ("prompt_id", pa.string()),
        pa.field("kept", pa.bool_(), nullable=False),
        *((axis, pa.float64()) for axis in AXES),
        ("score", pa.float64()),
    ]
)
"""One row per judged turn: whether it kept to its card, the axes, and the mean of those that apply."""


def judge_and_score(turns: pa.Table, cards: pa.Table, lexicon: pa.Table, settings: RuleSettings) -> pa.Table:
    """Judge turns without a warehouse and score the verdicts.

    Args:
        turns: whole sessions in TURN_SCHEMA.
        cards: rows in CARD_SCHEMA, one per character.
        lexicon: rows in LEXICON_SCHEMA.
        settings: the endings.

    Returns:
        The scores in SCORE_SCHEMA, in no order.
    """
    import duckdb

    from wh_judge.judge import judge

    judgement = judge(turns, cards, lexicon, settings)
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        tables = {"turns": turns, "cards": cards, "verdicts": judgement.verdicts, "used": judgement.used}
        for name, table in tables.items():
            con.register(name, table)
        judged = """(SELECT verdicts.*, '' AS card_version, coalesce(mentions, []) AS mentions
                     FROM verdicts LEFT JOIN used USING (turn_id))"""
        sql = scores_sql("turns", "(SELECT *, '' AS card_version FROM cards)", judged)
        return con.sql(sql).to_arrow_table().cast(SCORE_SCHEMA)


def scores_sql(turns: str, cards: str, verdicts: str) -> str:
    """The scores as a query whose columns are those of SCORE_SCHEMA.

    Args:
        turns: a relation with the columns of TURN_SCHEMA.
        cards: one with those of CARD_SCHEMA and `card_version`; one row per character and version.
        verdicts: one with those of VERDICT_SCHEMA, `card_version`, and `mentions` of USED_SCHEMA.
    """
    axes = ", ".join(AXES)
    return f"""
        SELECT turn_id, character_id, model_id, prompt_id, kept, {axes},
               list_avg(list_filter([{axes}], lambda x: x IS NOT NULL)) AS score
        FROM (
            SELECT turn_id, character_id, model_id, prompt_id, kept,
                   (level_kept::INTEGER + person_kept::INTEGER) / nullif(level_compared + person_compared, 0) AS speech,
                   CASE WHEN off_canon_entities IS NULL THEN NULL WHEN len(named_entities) = 0 THEN 1.0
                        ELSE 1.0 - len(off_canon_entities) / len(list_distinct(named_entities)) END AS canon,
                   CASE WHEN NOT missing AND len(forbidden_topics) > 0
                        THEN (touched_topic IS NULL)::INTEGER::DOUBLE END AS forbidden,
                   CASE WHEN NOT missing AND len(mentions) > 0
                        THEN list_avg(list_transform(mentions, lambda x: contains(reply_text, x.entity)::INTEGER))
                   END AS recall
            FROM (
                SELECT *, (level IS NOT NULL AND card_level IS NOT NULL)::INTEGER AS level_compared,
                       (first_person IS NOT NULL AND card_person IS NOT NULL)::INTEGER AS person_compared,
                       coalesce(level = card_level, false) AS level_kept,
                       coalesce(first_person = card_person, false) AS person_kept
                FROM (
                    SELECT v.turn_id, v.character_id, v.model_id, t.prompt_id, v.verdict = '{VERDICTS[0]}' AS kept,
                           v.off_canon_entities, v.touched_topic, v.mentions, t.named_entities, t.reply_text,
                           t.first_person, c.honorific_rule AS card_level, c.first_person AS card_person,
                           c.forbidden_topics, list_contains(v.notes, 'reply_missing') AS missing,
                           CASE WHEN NOT list_has_any(v.notes, ['reply_missing', 'speech_level_unreadable'])
                                THEN split_part(v.rule_observed, ' · ', 1) END AS level
                    FROM {verdicts} AS v JOIN {turns} AS t USING (turn_id)
                    JOIN {cards} AS c ON c.character_id = v.character_id AND c.card_version = v.card_version)))"""
