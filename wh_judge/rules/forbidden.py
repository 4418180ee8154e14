"""금지 소재 접촉: the reply holds a term of a topic that the card forbids."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import ahocorasick_rs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wh_judge.model import CharacterCard, ChatTurn, Evidence, LexiconTerm
from wh_judge.rules.rule import Case, Findings, Rule, RuleSettings, cite, example
from wh_judge.text import quoted


@dataclass(frozen=True)
class Touch:
    """The lexicon row that the reply touched."""

    position: int
    """Place of the row in the lexicon, from 0."""
    term: str
    topic: str | None
    """The row's topic where the card forbids it, else None."""
    forbidden_rows: int
    """Lexicon rows of forbidden topics whose term stands in the reply."""


HEAD = 4
"""Characters of a term that the automaton looks for; the rest is compared where they stand. An automaton of whole terms
takes time and memory by all their characters: a minute for 100,000 terms of 200."""

DFA_BYTES = 65_536
"""Bytes of heads up to which the automaton is a table of all next states: the fastest, but up to 1 KB for each byte."""


class Lexicon:
    """The topic lexicon, in order, ready to look for all its terms in one reply."""

    def __init__(self, rows: Sequence[LexiconTerm]) -> None:
        self.rows = tuple(rows)
        self._positions: dict[str, list[int]] = {}
        for position, row in enumerate(self.rows):
            self._positions.setdefault(row.term, []).append(position)
        self._heads: dict[str, set[int]] = {}
        """The lengths of the terms that begin with each head."""
        for term in self._positions:
            self._heads.setdefault(term[:HEAD], set()).add(len(term))
        self._head_list = list(self._heads)
        self._automaton = ahocorasick_rs.AhoCorasick(self._head_list) if self._heads else None

    def hits(self, reply: str) -> list[int]:
        """Positions of the rows whose term is a literal substring of the reply, ascending."""
        if self._automaton is None:
            return []
        found: set[str] = set()
        for head, start, _ in self._automaton.find_matches_as_indexes(reply, overlapping=True):
            found.update(reply[start : start + length] for length in self._heads[self._head_list[head]])
        return sorted(position for term in found for position in self._positions.get(term, ()))


def find(turn: ChatTurn, card: CharacterCard, lexicon: Lexicon) -> Touch | None:
    """The reference: the first hit whose topic the card forbids, else the first hit with no topic, else None."""
    hits = lexicon.hits(turn.reply_text or "")
    forbidden = [position for position in hits if lexicon.rows[position].topic in card.forbidden_topics]
    if not hits:
        return None
    position = (forbidden or hits)[0]
    row = lexicon.rows[position]
    return Touch(position, row.term, row.topic if forbidden else None, len(forbidden))


def find_hits(replies: pa.Array | pa.ChunkedArray, terms: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Which terms stand in which replies: `Terms.hits` for terms that are looked for once."""
    return Terms(terms).hits(replies)


class Terms:
    """Distinct non-empty texts, ready to be looked for in any number of replies. Threads may share it."""

    def __init__(self, terms: Sequence[str]) -> None:
        self.terms = list(terms)
        self._heads: dict[bytes, dict[int, dict[bytes, int]]] = {}
        """The places of the terms by head, by length in bytes, by term, all in UTF-8."""
        for place, term in enumerate(self.terms):
            whole = term.encode()
            self._heads.setdefault(term[:HEAD].encode(), {}).setdefault(len(whole), {})[whole] = place
        self._lengths = list(self._heads.values())
        size = sum(map(len, self._heads))
        fastest = ahocorasick_rs.Implementation.DFA if size <= DFA_BYTES else None
        self._automaton = ahocorasick_rs.BytesAhoCorasick(list(self._heads), implementation=fastest)
        # Where a head is all of its only term, a match needs no look.
        self._only = np.full(len(self._heads), -1, dtype=np.int64)
        for number, (head, lengths) in enumerate(self._heads.items()):
            if lengths.keys() == {len(head)}:
                self._only[number] = lengths[len(head)][head]

    def hits(self, replies: pa.Array | pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
        """Which terms stand in which replies, for all replies in one pass over their bytes.

        Arrow keeps the replies of a column end to end in one buffer, so one Aho-Corasick pass over it finds every head
        of a term; what reaches across the border of two replies is dropped. UTF-8 lets no term match inside another
        character.

        Args:
            replies: n texts; nulls match nothing.

        Returns:
            Two integer arrays of one length: reply index and term index, each pair once, in ascending order.
        """
        nothing, count = np.empty(0, dtype=np.int64), len(self.terms)
        if not count or not len(replies):
            return nothing, nothing
        replies = pc.fill_null(replies, "").cast(pa.large_string())
        if isinstance(replies, pa.ChunkedArray):
            replies = replies.combine_chunks()
        offsets = np.frombuffer(replies.buffers()[1], dtype=np.int64)[
            replies.offset : replies.offset + len(replies) + 1
        ]
        data = replies.buffers()[2]
        if data is None:
            return nothing, nothing
        text = np.frombuffer(data, dtype=np.uint8)
        pairs: list[np.ndarray] = []
        first = 0
        while first < len(replies):
            # A window of whole replies bounds the list of matches, however common a term is.
            last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + WINDOW_BYTES, side="right")) - 1)
            starts, ends, term = self._find(text[offsets[first] : offsets[last]])
            reply = np.searchsorted(offsets, starts + offsets[first], side="right") - 1
            inside = ends + offsets[first] <= offsets[reply + 1]
            pairs.append(np.unique(reply[inside] * count + term[inside]))
            first = last
        codes = np.concatenate(pairs)
        return codes // count, codes % count

    def _find(self, text: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of every place where a term stands in the bytes: its start, its end and the place of the term."""
        found = self._automaton.find_matches_as_indexes(text.data, overlapping=True)
        head, start, end = np.array(found, dtype=np.int64).reshape(-1, 3).T
        term = self._only[head]
        direct = term >= 0
        looked = [
            (at, at + length, place)
            for number, at in zip(head[~direct].tolist(), start[~direct].tolist(), strict=True)
            for length, places in self._lengths[number].items()
            if (place := places.get(text[at : at + length].tobytes())) is not None
        ]
        more = np.array(looked, dtype=np.int64).reshape(-1, 3).T
        pairs = zip((start[direct], end[direct], term[direct]), more, strict=True)
        starts, ends, places = (np.concatenate(pair) for pair in pairs)
        return starts, ends, places


WINDOW_BYTES = 8 << 20

HITS_SQL = """
CREATE TABLE touch AS
SELECT n, min(position) FILTER (forbidden) AS forbidden_position, min(position) AS first_position,
       count(*) FILTER (forbidden) AS forbidden_rows
FROM (SELECT hit.n, lexicon.position, list_contains(card.forbidden_topics, lexicon.topic) AS forbidden
      FROM hit JOIN lexicon ON lexicon.term = hit.term
      JOIN turn ON turn.n = hit.n JOIN card ON card.character_id = turn.character_id)
GROUP BY n
"""
"""`touch`: for each turn with a hit the positions of the first forbidden and the first row at all.

Reads `hit` (n, term), `lexicon` (position, term, topic), `turn` and `card`.
"""


def evidence(case: Case, findings: Findings) -> list[Evidence]:
    """The reply, the lexicon row, and the element of the card that forbids it."""
    turn, touch = case.turn, findings.touch
    assert touch is not None
    row = str(touch.position)
    return [
        cite("chat_turn", turn.turn_id, "reply_text", turn.reply_text),
        cite("topic_lexicon", row, "term", touch.term),
        cite("topic_lexicon", row, "topic", touch.topic),
        cite("character_card", case.card.character_id, "forbidden_topics", touch.topic),
    ]


EVIDENCE_SQL = """
[cite('chat_turn', turn_id, 'reply_text', reply_text),
 cite('topic_lexicon', touched_position::VARCHAR, 'term', touched_term),
 cite('topic_lexicon', touched_position::VARCHAR, 'topic', touched_topic),
 cite('character_card', character_id, 'forbidden_topics', touched_topic)]
"""


def columns_sql(_settings: RuleSettings) -> Mapping[str, str]:
    """The set-based form of `find`, over the columns of `touch` and of the lexicon row it points at."""
    return {
        "touched_position": "coalesce(forbidden_position, first_position)",
        "touched_term": "lexicon_term",
        "touched_topic": "CASE WHEN forbidden_position IS NOT NULL THEN lexicon_topic END",
    }


def summary(_case: Case, findings: Findings) -> str:
    """The default sentence."""
    touch = findings.touch
    assert touch is not None and touch.topic is not None
    return (
        f"카드가 막은 소재의 사전 낱말 {touch.forbidden_rows}개가 답장에 있고,"
        f" 사전 차례가 가장 앞선 것은 {quoted(touch.topic)}의 {quoted(touch.term)}입니다."
    )


SUMMARY_SQL = """
'카드가 막은 소재의 사전 낱말 ' || forbidden_rows || '개가 답장에 있고, 사전 차례가 가장 앞선 것은 '
    || quoted(touched_topic) || '의 ' || quoted(touched_term) || '입니다.'
"""


_LEXICON = (("내기", "도박"), ("선거", "현실 정치"))

FORBIDDEN = Rule(
    code="forbidden",
    verdict="금지 소재 접촉",
    what="Looks for every lexicon term as a literal substring of the reply. The verdict holds where the topic of some "
    "such term is among the card's forbidden_topics; the first of them in lexicon order is named.",
    why="Creators forbid a topic because one touch of it ends the story, so it is looked at before everything else. A "
    "harmless term that stands earlier in the lexicon never hides a forbidden one.",
    reference="Forbidden topics: a hit whose topic is in forbidden_topics gives touched_term and touched_topic; "
    "without one the first hit gives touched_term, and touched_topic is null.",
    breaks=example(
        {"reply_text": "요즘 바깥 선거 얘기로 시끄럽더군. 내기까지 걸더라."},
        {"forbidden_topics": ["현실 정치"]},
        _LEXICON,
    ),
    keeps=example(
        {"reply_text": "누가 먼저 지치나 내기할까. 검부터 들어."},
        {"forbidden_topics": ["현실 정치"]},
        _LEXICON,
    ),
    holds=lambda findings: findings.touch is not None and findings.touch.topic is not None,
    evidence=evidence,
    summary=summary,
    columns_sql=columns_sql,
    holds_sql="touched_topic IS NOT NULL",
    evidence_sql=EVIDENCE_SQL,
    summary_sql=SUMMARY_SQL,
)
