"""What differs between the inputs that a turn was judged by and is judged by, and how to put each difference back.

Pure. `input_edits` gives whole inputs, `wh_judge.cell_edits` the single cells of one of them. All edits of an input put
back, in their order, give the input as it was, as far as it can matter to the turn.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from wh_judge.model import CharacterCard, ChatTurn, LexiconTerm
from wh_judge.rules import Lexicon
from wh_judge.rules.rule import Mention

InputName = Literal["card_as_of", "chat_turn", "character_card", "topic_lexicon", "endings", "mention", "code"]
CardAsOf = Literal["now", "turn"]
"""Whether a turn is judged by its card as it stands now, or as it stood when the turn was written."""


@dataclass(frozen=True)
class Inputs:
    """All that one turn was judged by. A turn without a card has no verdict; so has one that is not in the log."""

    turn: ChatTurn | None
    card: CharacterCard | None
    lexicon: tuple[LexiconTerm, ...]
    """The rows whose term stands in the reply, in lexicon order; no other row can decide anything."""
    endings: tuple[str, ...]
    mentions: Mapping[str, Mention]
    """The first mention of each entity of the card's roles in the session."""
    card_as_of: CardAsOf = "now"
    """The setting by which `card` is the turn's card."""
    otherwise: CharacterCard | None = None
    """The card by the other value of the setting, as cards stood then; looked at only where the setting differs."""


@dataclass(frozen=True)
class Edit:
    """One difference between the inputs before and after, and how to put it back."""

    input: InputName
    cell: str
    undo: Callable[[Inputs], Inputs]


@dataclass(frozen=True)
class Difference:
    """Two sets of inputs of one turn."""

    before: Inputs
    after: Inputs
    lexicons: tuple[Lexicon, Lexicon]
    """The whole lexicon before and after: a text that is put back meets rows that its other version missed."""
    card_by_time: bool
    """Whether a turn was or is judged by its card as it stood at the turn's time."""

    @property
    def other_setting(self) -> bool:
        """Whether the card was chosen in another way."""
        return self.before.card_as_of != self.after.card_as_of

    @property
    def card_by_old_setting(self) -> CharacterCard | None:
        """The turn's card if only the setting is put back: of the cards of now the one that it chose."""
        return self.after.otherwise if self.other_setting else self.after.card

    @property
    def card_of_then(self) -> CharacterCard | None:
        """The turn's card if only the cards are put back: of the cards of then the one that the setting chooses now."""
        return self.before.otherwise if self.other_setting else self.before.card

    def cards(self, *, setting_back: bool) -> tuple[CharacterCard | None, CharacterCard | None]:
        """The card before and after an edit of cards alone, by the setting of then or by that of now."""
        if setting_back:
            return self.before.card, self.card_by_old_setting
        return self.card_of_then, self.after.card

    @property
    def brings_card(self) -> Sequence[str]:
        """The cells of a turn that say which card it is judged by."""
        return ("character_id", "turn_at") if self.card_by_time else ("character_id",)

    def differ(self, *names: str) -> bool:
        """Whether any of these cells of the turn differs."""
        then, now = self.before.turn, self.after.turn
        return then is not None and now is not None and any(getattr(then, n) != getattr(now, n) for n in names)


def input_edits(difference: Difference) -> Iterator[Edit]:
    """The inputs that differ, each as one edit."""
    before, after, lexicons = difference.before, difference.after, difference.lexicons
    turn_id = (after.turn or before.turn or _nobody).turn_id
    # With another character or time comes its card, and with another session who was named there.
    recast, moved = difference.differ(*difference.brings_card), difference.differ("session_id")
    if difference.other_setting:

        def undo_setting(inputs: Inputs) -> Inputs:
            return replace(inputs, card=difference.card_by_old_setting, card_as_of=before.card_as_of)

        # The first of all: which card the others put back depends on it.
        yield Edit("card_as_of", f"card_as_of: {before.card_as_of} -> {after.card_as_of}", undo_setting)
    if before.turn != after.turn:
        hits = lexicon_rows(lexicons[1], before.turn)

        def undo_turn(inputs: Inputs) -> Inputs:
            card = before.card if recast else inputs.card
            mentions = before.mentions if moved else inputs.mentions
            return replace(inputs, turn=before.turn, lexicon=hits, card=card, mentions=mentions)

        what = "+ turn" if before.turn is None else "text"
        yield Edit("chat_turn", f"chat_turn {turn_id}: {what}", undo_turn)
    if not recast and any(old != new for old, new in (difference.cards(setting_back=back) for back in (True, False))):
        character_id = (after.card or before.card or _nobody).character_id
        what = "+ card" if before.card is None else "- card" if after.card is None else "card"

        def undo_card(inputs: Inputs) -> Inputs:
            card, _ = difference.cards(setting_back=inputs.card_as_of == before.card_as_of)
            return replace(inputs, card=card)

        yield Edit("character_card", f"character_card {character_id}: {what}", undo_card)
    if lexicon_rows(lexicons[0], after.turn) != after.lexicon or before.lexicon != lexicon_rows(
        lexicons[1], before.turn
    ):

        def undo_lexicon(inputs: Inputs) -> Inputs:
            return replace(inputs, lexicon=lexicon_rows(lexicons[0], inputs.turn))

        yield Edit("topic_lexicon", "topic_lexicon: rows", undo_lexicon)
    if before.endings != after.endings:
        yield Edit("endings", "endings", lambda inputs: replace(inputs, endings=before.endings))
    if before.mentions != after.mentions and not moved:
        yield Edit("mention", "mention", lambda inputs: replace(inputs, mentions=before.mentions))


class _Nobody(NamedTuple):
    turn_id: str = "?"
    character_id: str = "?"


_nobody = _Nobody()


def lexicon_rows(lexicon: Lexicon, turn: ChatTurn | None) -> tuple[LexiconTerm, ...]:
    """The lexicon rows whose term stands in the turn's reply."""
    return tuple(lexicon.rows[position] for position in lexicon.hits((turn.reply_text if turn else None) or ""))
