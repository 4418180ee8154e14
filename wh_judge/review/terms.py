"""How often a lexicon term was right, of the hits that people read: worst first, with what could be done about it."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import duckdb

from wh_judge.review.decisions import Decision, in_force
from wh_judge.review.queues import hangul_sql
from wh_judge.review.trial import Trial, try_out
from wh_judge.rules import RuleSettings
from wh_judge.rules.speech import polite_pattern
from wh_judge.text import SENTENCE_ENDS, regex_class

LEAST_READ = 5
"""Hits of a term that somebody must have read before anything is proposed. Where all of five were harmless, it is still
possible that 45 of 100 are harmful (1 - 0.05 ** (1 / 5), 95 %, one-sided); where all of one were, 95 of 100."""

MOST_AROUND = 4
"""Characters before and after a term that its surroundings show."""


class TermPrecision(NamedTuple):
    """A lexicon row, and what people said of its hits."""

    term: str
    topic: str
    harmful: int
    harmless: int
    precision: float
    """Harmful of those that were read."""
    hits: int
    """Turns that are judged 금지 소재 접촉 by this row now."""
    proposal: str | None
    """`drop` where no hit was harmful, `narrow` where some were harmless, else `keep`; None where fewer than
    `LEAST_READ` were read, which is too few to tell."""
    around: tuple[str, ...]
    """Where the harmless hits stood: what a narrower term must not match."""
    decided: str | None
    """What was decided of the term and is in force."""


def term_precision(connection: duckdb.DuckDBPyConnection, decisions: Iterable[Decision]) -> list[TermPrecision]:
    """Precision by term, worst first; of equal ones, the one with more hits first.

    Args:
        connection: a warehouse or a snapshot.
        decisions: all of them.
    """
    counts: dict[tuple[str, str], list[int]] = {}
    harmless_turns: dict[tuple[str, str], list[str]] = {}
    decided: dict[tuple[str, str], str] = {}
    for row in in_force(decisions):
        if row.kind == "term":
            decided[row.term or "", row.topic or ""] = row.choice
        if row.kind == "hit":
            key = (row.term or "", row.topic or "")
            counts.setdefault(key, [0, 0])[row.choice == "harmless"] += 1
            if row.choice == "harmless":
                harmless_turns.setdefault(key, []).append(row.turn_id or "")
    hits: dict[tuple[str, str], int] = {
        (term, topic): count
        for term, topic, count in connection.execute(
            """SELECT touched_term, touched_topic, count(*) FROM verdict
               WHERE verdict = '금지 소재 접촉' GROUP BY ALL"""
        ).fetchall()
    }
    found = [
        TermPrecision(
            term=term,
            topic=topic,
            harmful=harmful,
            harmless=harmless,
            precision=harmful / (harmful + harmless),
            hits=hits.get((term, topic), 0),
            proposal=_proposal(harmful, harmless),
            around=_around(connection, term, harmless_turns.get((term, topic), ())),
            decided=decided.get((term, topic)),
        )
        for (term, topic), (harmful, harmless) in counts.items()
    ]
    return sorted(found, key=lambda row: (row.precision, -row.hits, row.term, row.topic))


def _proposal(harmful: int, harmless: int) -> str | None:
    if harmful + harmless < LEAST_READ:
        return None
    return "drop" if not harmful else "narrow" if harmless else "keep"


def _around(connection: duckdb.DuckDBPyConnection, term: str, turn_ids: Sequence[str]) -> tuple[str, ...]:
    rows = connection.execute(
        """SELECT reply_text FROM chat_turn WHERE list_contains(?::VARCHAR[], turn_id) AND contains(reply_text, ?)
           ORDER BY length(turn_id), turn_id""",
        [list(turn_ids), term],
    ).fetchall()
    texts = []
    for (reply,) in rows:
        place = reply.index(term)
        texts.append(reply[max(0, place - MOST_AROUND) : place + len(term) + MOST_AROUND])
    return tuple(dict.fromkeys(texts))


def never_said(connection: duckdb.DuckDBPyConnection, terms: Sequence[str]) -> list[str]:
    """Those of some terms that stand in no reply: they would find nothing, such as one with a slip in it."""
    rows = connection.execute(
        """SELECT term FROM (SELECT unnest($1::VARCHAR[]) AS term, generate_subscripts($1::VARCHAR[], 1) AS place)
           WHERE NOT EXISTS (FROM chat_turn WHERE contains(reply_text, term)) ORDER BY place""",
        [list(terms)],
    ).fetchall()
    return [row[0] for row in rows]


def try_term(
    connection: duckdb.DuckDBPyConnection, settings: RuleSettings, term: str, topic: str, instead: Sequence[str] = ()
) -> Trial:
    """What would change if a lexicon row were dropped, or if narrower terms took its place; cards count as they stand.

    A turn that the row decides stays 금지 소재 접촉 where another row holds; else it gets the next verdict that holds.
    A term that does not hold the one whose place it takes may find turns that the row did not.
    """
    polite = f"regexp_matches(turn.reply_text, '{polite_pattern(settings)}(?:[{regex_class(SENTENCE_ENDS)}]|\\z)')"
    # Only then are all turns looked through.
    found_anew = (
        """ OR (verdict.verdict <> '금지 소재 접촉' AND list_contains(card.forbidden_topics, $topic)
                AND len(list_filter($instead::VARCHAR[], lambda x: contains(turn.reply_text, x))) > 0)"""
        if any(term not in other for other in instead)
        else ""
    )
    judged = f"""
        SELECT verdict.turn_id, turn.reply_text, verdict.verdict AS before,
               CASE WHEN EXISTS (FROM (SELECT term, topic FROM topic_lexicon WHERE term <> $term OR topic <> $topic
                                       UNION ALL SELECT unnest($instead::VARCHAR[]), $topic) AS other
                                 WHERE contains(turn.reply_text, other.term)
                                   AND list_contains(card.forbidden_topics, other.topic)) THEN '금지 소재 접촉'
                    WHEN len(off_canon_entities) > 0 THEN '세계관 밖 고유명사'
                    WHEN coalesce({hangul_sql("turn.reply_text")} AND {polite} <> (honorific_rule = '존댓말'), false)
                         OR coalesce(turn.first_person <> card.first_person, false) THEN '말투 어긋남'
                    WHEN recall_target IS NOT NULL THEN '앞 회차를 기억 못 함' ELSE '설정대로 말함' END AS after
        FROM verdict JOIN chat_turn AS turn USING (turn_id)
        JOIN character_card AS card ON card.character_id = verdict.character_id
        WHERE (touched_term = $term AND touched_topic = $topic){found_anew}"""
    return try_out(connection, judged, {"term": term, "topic": topic, "instead": list(instead)})
