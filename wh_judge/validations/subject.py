"""What a validation looks at: the log as it is known, and one claim beside the turn that it is about."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from wh_judge.model import COLUMNS, CharacterCard, ChatTurn, LexiconTerm
from wh_judge.rules import Case, Lexicon, RuleSettings, find_all, first_mentions
from wh_judge.rules.recall import turn_order
from wh_judge.rules.rule import Findings, Mention

Cited = tuple[int, str, str, dict[str, Any]]
"""An evidence row that cites a column: its place from 0, `source`, `field` and the row."""


@dataclass(frozen=True, eq=False)
class Log:
    """What claims are held against: what was said, the cards, the lexicon and the settings."""

    turns: Mapping[str, ChatTurn]
    """The turns that claims may be about or cite, by turn_id."""
    cards: Mapping[str, CharacterCard]
    """By character_id."""
    lexicon: Lexicon
    mentions: Mapping[tuple[str, str], Mention]
    """The first mention by (session_id, entity). Of a turn outside `turns` it is all that is known."""
    settings: RuleSettings = field(default_factory=RuleSettings)

    @classmethod
    def of(
        cls,
        turns: Iterable[ChatTurn],
        cards: Iterable[CharacterCard],
        lexicon: Iterable[LexiconTerm],
        settings: RuleSettings = RuleSettings(),
        earlier: Mapping[tuple[str, str], Mention] | None = None,
    ) -> "Log":
        """The log from rows.

        Args:
            turns: in any order, each turn_id once.
            cards: one per character.
            lexicon: in lexicon order.
            settings: the endings that the verdicts were judged with.
            earlier: first mentions, by (session_id, entity), in turns of these sessions that are not among `turns`.
        """
        by_id = {turn.turn_id: turn for turn in turns}
        mentions = first_mentions(by_id.values())
        for key, mention in (earlier or {}).items():
            known = mentions.get(key)
            if known is None or turn_order(mention.turn_id) < turn_order(known.turn_id):
                mentions[key] = mention
        return cls(by_id, {card.character_id: card for card in cards}, Lexicon(list(lexicon)), mentions, settings)

    @cached_property
    def lexicon_rows(self) -> Mapping[str, LexiconTerm]:
        """The lexicon by the key that evidence cites a row with: its position, from 0, as text."""
        return {str(position): row for position, row in enumerate(self.lexicon.rows)}

    @cached_property
    def lexicon_keys(self) -> Mapping[str, list[str]]:
        """The keys of the lexicon rows with a term."""
        keys: dict[str, list[str]] = {}
        for key, row in self.lexicon_rows.items():
            keys.setdefault(row.term, []).append(key)
        return keys

    @cached_property
    def lexicon_cells(self) -> Mapping[str, frozenset[str]]:
        """Every cell of the lexicon, by column."""
        return {column: frozenset(getattr(row, column) for row in self.lexicon.rows) for column in ("term", "topic")}

    @cached_property
    def _elements(self) -> dict[tuple[str, str], frozenset[str]]:
        return {}

    def card_elements(self, card: CharacterCard, column: str) -> frozenset[str]:
        """The elements of a card's list cell; those of `entity_roles` are its roles and its entities."""
        known = self._elements.get((card.character_id, column))
        if known is None:
            texts: list[str] = []
            for element in getattr(card, column):
                texts += [element] if isinstance(element, str) else [element.role, element.entity]
            known = self._elements[card.character_id, column] = frozenset(texts)
        return known


class Subject:
    """One claim, with the turn of the log that it is about. What is dear is worked out once, when asked for."""

    __slots__ = ("_cited", "_recomputed", "card", "claim", "first_row", "given", "log", "row", "turn", "turn_id")

    def __init__(self, row: int, claim: Any, log: Log, first_rows: dict[str, int]) -> None:
        self.row = row
        self.log = log
        self.given = claim
        self.claim: dict[str, Any] = claim if isinstance(claim, dict) else {}
        """The claim as an object; what is none is read as an empty one."""
        if not isinstance(claim, dict) and isinstance(claim, Mapping):
            self.claim = dict(claim)
        self.turn_id: Any = self.claim.get("turn_id")
        self.turn: ChatTurn | None = None
        """The log's turn, or None where the log has none with this id."""
        self.card: CharacterCard | None = None
        """The card of the log's turn."""
        self.first_row = row
        """The row of the first claim about this turn."""
        if isinstance(self.turn_id, str):
            self.first_row = first_rows.setdefault(self.turn_id, row)
            self.turn = log.turns.get(self.turn_id)
            if self.turn is not None:
                self.card = log.cards.get(self.turn.character_id)
        self._recomputed: tuple[Case, Findings] | None = None
        self._cited: list[Cited] | None = None

    def recomputed(self) -> tuple[Case, Findings] | None:
        """The turn judged again by the references; None where its turn or card does not exist."""
        if self._recomputed is None and self.turn is not None and self.card is not None:
            log = self.log
            case = Case(self.turn, self.card, log.lexicon, log.mentions, log.settings)
            self._recomputed = case, find_all(case)
        return self._recomputed

    @property
    def evidence(self) -> list[Any]:
        """The claim's evidence; empty where it has no list of it."""
        evidence = self.claim.get("evidence")
        return evidence if isinstance(evidence, list) else []

    def cited(self) -> list[Cited]:
        """The evidence rows whose `field` is a column of their `source`."""
        if self._cited is None:
            self._cited = [
                (place, source, column, row)
                for place, row in enumerate(self.evidence)
                if isinstance(row, dict)
                and isinstance(source := row.get("source"), str)
                and isinstance(column := row.get("field"), str)
                and column in COLUMNS.get(source, ())
            ]
        return self._cited
