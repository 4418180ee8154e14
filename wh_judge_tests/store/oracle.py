"""Why verdicts change, found by trying everything: whole logs are kept and judged again by the references."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from wh_judge.causes import Decided, decided_fields
from wh_judge.model import KST, CharacterCard, ChatTurn, LexiconTerm
from wh_judge.rules import Case, Lexicon, RuleSettings, first_mentions, judge_turn

Versions = Sequence[tuple[dt.datetime, CharacterCard]]
Cause = tuple[str, ...]


@dataclass(frozen=True)
class World:
    """All that turns are judged by at one moment."""

    turns: Mapping[str, ChatTurn]
    cards: Mapping[str, Versions]
    """The versions of each card that stands now, with the moment from which each counts."""
    lexicon: Sequence[LexiconTerm]
    settings: RuleSettings
    card_by_time: bool

    def card(self, turn: ChatTurn, setting: "World | None" = None) -> CharacterCard | None:
        """The card that judges the turn, where it is given by the setting of another moment."""
        versions = self.cards.get(turn.character_id)
        if versions is None:
            return None
        if not (setting or self).card_by_time:
            return versions[-1][1]
        return ([version for since, version in versions if since <= turn.turn_at] or [versions[0][1]])[-1]

    def others(self, turn_id: str) -> list[ChatTurn]:
        return [turn for turn in self.turns.values() if turn.turn_id != turn_id]

    def fields(self, turn: ChatTurn) -> Decided | None:
        """What the turn comes to."""
        return _judged(turn, self.card(turn), self, self, self.others(turn.turn_id))


def _judged(
    turn: ChatTurn, card: CharacterCard | None, lexicon: World, endings: World, others: Iterable[ChatTurn]
) -> Decided | None:
    if card is None:
        return None
    mentions = first_mentions([*others, turn])
    verdict, _ = judge_turn(Case(turn, card, Lexicon(lexicon.lexicon), mentions, endings.settings))
    return decided_fields(verdict)


def smallest_causes(then: World, now: World, turn_id: str) -> set[Cause]:
    """The smallest sets of inputs that give the turn the fields of then, put back into the world of now."""
    old, new = then.turns[turn_id], now.turns.get(turn_id)
    if new is None:
        return {("chat_turn",)}
    by_time = then.card_by_time or now.card_by_time
    recast = old.character_id != new.character_id or (by_time and old.turn_at != new.turn_at)
    moved = old.session_id != new.session_id
    inputs = ["card_as_of", "chat_turn", *["character_card"] * (not recast), "topic_lexicon", "endings"]
    inputs += ["mention"] * (not moved)
    for size in range(1, len(inputs) + 1):
        found = {
            back
            for back in combinations(inputs, size)
            if _judged(
                old if "chat_turn" in back else new,
                then.card(old)
                if recast and "chat_turn" in back
                else (then if "character_card" in back else now).card(new, then if "card_as_of" in back else now),
                then if "topic_lexicon" in back else now,
                then if "endings" in back else now,
                (then if {"mention", *["chat_turn"] * moved} & {*back} else now).others(turn_id),
            )
            == then.fields(old)
        }
        if found:
            return found
    raise AssertionError("all that was does not give what was")


class Witness:
    """Remembers by what each turn was judged last."""

    def __init__(self) -> None:
        self.last: dict[str, tuple[World, dt.date]] = {}

    def judged(self, day: dt.date, now: World) -> dict[str, set[Cause]]:
        """The turns that change with this judging of the day, each with its possible causes."""
        today = {turn_id for turn_id, turn in now.turns.items() if turn.turn_at.astimezone(KST).date() == day}
        gone = {turn_id for turn_id, (_, last) in self.last.items() if last == day} - now.turns.keys()
        expected = {}
        for turn_id in (today | gone) & self.last.keys():
            then, _ = self.last[turn_id]
            fields = now.fields(now.turns[turn_id]) if turn_id in now.turns else None
            if then.fields(then.turns[turn_id]) != fields:
                expected[turn_id] = smallest_causes(then, now, turn_id)
        for turn_id in gone:
            del self.last[turn_id]
        self.last |= dict.fromkeys(today, (now, day))
        return expected
