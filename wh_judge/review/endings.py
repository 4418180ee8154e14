"""Endings that the settings miss: which could be added, and what each would change, before anyone adopts one.

Candidates come from replies that are read as 반말 where the card wants 존댓말. Each is then tried on every turn: which
verdicts would change, in either direction, and how far the labels would agree. The same for passing over what trails an
ending. The functions read a warehouse or a published snapshot; cards count as they stand now.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import duckdb

from wh_judge.review.decisions import Decision, in_force
from wh_judge.review.queues import hangul_sql
from wh_judge.review.trial import Trial, try_out
from wh_judge.rules import RuleSettings
from wh_judge.rules.speech import polite_pattern
from wh_judge.text import HANGUL_FIRST, HANGUL_LAST, SENTENCE_ENDS, last_word, regex_class, sentences, without_trailing

LONGEST = 4
"""Syllables of an ending that is proposed."""

LOOKED_AT = 5_000
"""Replies that candidates are taken from."""

SHOWN = 8
"""Endings that people are shown, the best ones."""

TRIED = 30
"""Candidates that are tried on the whole log, the most frequent ones."""

ALSO_PLAIN = frozenset(
    {"가", "거든", "걸", "게", "구나", "군", "까", "나", "냐", "네", "니", "니까", "다", "던데", "데", "든", "라", "래"}
    | {"랴", "려", "려고", "련", "마", "며", "서", "세", "아", "야", "어", "자", "잖아", "지", "해"}
)
"""Ends that sentences in 반말 have, too (할까, 하니까): a log in which none of them is 반말 has just not shown it."""


@dataclass(frozen=True)
class Proposal(Trial):
    """A change of the settings, and what it would do."""

    ending: str | None
    """The ending to add; None for passing over what trails one."""

    @property
    def mended(self) -> int:
        """Turns that would no longer be 말투 어긋남."""
        return sum(change.turns for change in self.changes if change.before == "말투 어긋남")

    @property
    def broken(self) -> int:
        """Turns that would become it."""
        return sum(change.turns for change in self.changes if change.after == "말투 어긋남")

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {"ending": self.ending, "mended": self.mended, "broken": self.broken} | super().document()


def candidates(replies: Iterable[str], settings: RuleSettings) -> list[str]:
    """Ends of last words in these replies, most frequent first; of equally frequent ones the shorter first."""
    counts: Counter[str] = Counter()
    for reply in replies:
        found: set[str] = set()
        for sentence in sentences(reply):
            word = last_word(without_trailing(sentence) if settings.ignore_trailing else sentence) or ""
            for length in range(1, min(LONGEST, len(word)) + 1):
                if not HANGUL_FIRST <= word[-length] <= HANGUL_LAST:
                    break
                found.add(word[-length:])
        counts.update(found)
    return sorted(counts, key=lambda ending: (-counts[ending], len(ending), ending))


def propose(
    connection: duckdb.DuckDBPyConnection, settings: RuleSettings, decisions: Sequence[Decision]
) -> list[Proposal]:
    """The endings that would mend most and break least, best first; then, where it would change something, trailing.

    None that would break as many turns as it mends. Of endings that end in one another, only the best is there: of
    equally good ones the shortest and plainest, but none of `ALSO_PLAIN` before one that is longer. What was rejected
    is not proposed again.
    """
    rejected = {row.ending for row in in_force(decisions) if row.kind == "ending" and row.choice == "reject"}
    replies = connection.execute(
        f"""SELECT reply_text FROM ({_turns_sql(settings, settings)})
            WHERE NOT polite_before AND rule = '존댓말' ORDER BY md5(turn_id), turn_id LIMIT {LOOKED_AT}"""
    ).fetchall()
    tried = [ending for ending in candidates((row[0] for row in replies), settings) if ending not in rejected][:TRIED]
    found = [try_ending(connection, settings, ending) for ending in tried]
    found = [proposal for proposal in found if proposal.mended > proposal.broken]
    found.sort(key=_rank)
    chosen: list[Proposal] = []
    for proposal in found:
        ending = proposal.ending or ""
        if not any(ending.endswith(other.ending or "") or (other.ending or "").endswith(ending) for other in chosen):
            chosen.append(proposal)
    trailing = propose_trailing(connection, settings, decisions)
    return [*chosen, *([trailing] if trailing else [])]


class Shown(NamedTuple):
    """Proposals that people are shown."""

    proposals: list[Proposal]
    endings: int
    """How many endings are among them."""
    of: int
    """How many are proposed."""


def first_ones(proposals: Sequence[Proposal]) -> Shown:
    """The first `SHOWN` endings, and what trails one."""
    endings = [proposal for proposal in proposals if proposal.ending is not None]
    trailing = [proposal for proposal in proposals if proposal.ending is None]
    return Shown([*endings[:SHOWN], *trailing], len(endings[:SHOWN]), len(endings))


def _rank(proposal: Proposal) -> tuple[int, int, bool, int, str]:
    ending = proposal.ending or ""
    return proposal.broken - proposal.mended, proposal.broken, ending in ALSO_PLAIN, len(ending), ending


def propose_trailing(
    connection: duckdb.DuckDBPyConnection, settings: RuleSettings, decisions: Sequence[Decision]
) -> Proposal | None:
    """What passing over what trails an ending would change; None where it is on, was rejected or changes nothing."""
    rejected = any(row.kind == "trailing" and row.choice == "reject" for row in in_force(decisions))
    if settings.ignore_trailing or rejected:
        return None
    try:
        proposal = try_ending(connection, settings, None)
    except ValueError:
        return None
    return proposal if proposal.changes else None


def adding(settings: RuleSettings, ending: str | None) -> RuleSettings:
    """The settings with one ending more; with None, what trails an ending is passed over.

    Raises:
        ValueError: the settings cannot hold it.
    """
    if ending is None:
        return RuleSettings(endings=settings.endings, ignore_trailing=True)
    return RuleSettings(endings=(*settings.endings, ending), ignore_trailing=settings.ignore_trailing)


def try_ending(connection: duckdb.DuckDBPyConnection, settings: RuleSettings, ending: str | None) -> Proposal:
    """What would change if these settings had one ending more; with None, if they passed over what trails one.

    Raises:
        ValueError: the settings cannot hold it.
    """
    return try_settings(connection, settings, adding(settings, ending), ending)


def try_settings(
    connection: duckdb.DuckDBPyConnection, before: RuleSettings, after: RuleSettings, ending: str | None
) -> Proposal:
    """What would change if settings took the place of others that find fewer sentences polite.

    More endings can only turn 반말 into 존댓말, and only 말투 어긋남 depends on that: a verdict that comes before it
    stays, and without it the next one holds.
    """
    turned = f"SELECT * FROM ({_turns_sql(before, after)}) WHERE NOT polite_before AND polite_after"
    judged = f"""
        SELECT turn_id, reply_text, verdict AS before,
               CASE WHEN verdict IN ('금지 소재 접촉', '세계관 밖 고유명사') THEN verdict
                    WHEN coalesce(rule = '반말', false) OR coalesce(first_person <> person, false) THEN '말투 어긋남'
                    WHEN recall_target IS NOT NULL THEN '앞 회차를 기억 못 함' ELSE '설정대로 말함' END AS after
        FROM ({turned})"""
    trial = try_out(connection, judged)
    return Proposal(trial.changes, trial.labels, trial.agreed_before, trial.agreed_after, ending)


def _turns_sql(before: RuleSettings, after: RuleSettings) -> str:
    """Judged turns whose reply has a speech level, with whether it is polite by either settings."""
    ends = regex_class(SENTENCE_ENDS)
    polite = (f"regexp_matches(reply_text, '{polite_pattern(some)}(?:[{ends}]|\\z)')" for some in (before, after))
    polite_before, polite_after = polite
    return f"""
        SELECT verdict.turn_id, verdict.verdict, recall_target, turn.reply_text, turn.first_person,
               card.honorific_rule AS rule, card.first_person AS person,
               {polite_before} AS polite_before, {polite_after} AS polite_after
        FROM verdict JOIN chat_turn AS turn USING (turn_id)
        JOIN character_card AS card ON card.character_id = verdict.character_id
        WHERE turn.reply_text IS NOT NULL AND {hangul_sql("turn.reply_text")}"""
