"""What differs between the inputs that a turn was judged by and is judged by, and how to put each difference back.

Pure. `input_edits` gives whole inputs, `cell_edits` the single cells of one of them. All edits of an input put back, in
their order, give the input as it was, as far as it can matter to the turn.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

from wh_judge.model import CharacterCard, ChatTurn, LexiconTerm
from wh_judge.rules import Lexicon
from wh_judge.rules.rule import Mention

InputName = Literal["card_as_of", "chat_turn", "character_card", "topic_lexicon", "endings", "mention", "code"]
CardAsOf = Literal["now", "turn"]
"""Whether a turn is judged by its card as it stands now, or as it stood when the turn was written."""

MOST_ELEMENTS = 20
"""A list in which more elements differ that can matter is put back as a whole, so that the search stays short."""


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
        hits = _rows(lexicons[1], before.turn)

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
    if _rows(lexicons[0], after.turn) != after.lexicon or before.lexicon != _rows(lexicons[1], before.turn):

        def undo_lexicon(inputs: Inputs) -> Inputs:
            return replace(inputs, lexicon=_rows(lexicons[0], inputs.turn))

        yield Edit("topic_lexicon", "topic_lexicon: rows", undo_lexicon)
    if before.endings != after.endings:
        yield Edit("endings", "endings", lambda inputs: replace(inputs, endings=before.endings))
    if before.mentions != after.mentions and not moved:
        yield Edit("mention", "mention", lambda inputs: replace(inputs, mentions=before.mentions))


class _Nobody(NamedTuple):
    turn_id: str = "?"
    character_id: str = "?"


_nobody = _Nobody()


def _rows(lexicon: Lexicon, turn: ChatTurn | None) -> tuple[LexiconTerm, ...]:
    """The lexicon rows whose term stands in the turn's reply."""
    return tuple(lexicon.rows[position] for position in lexicon.hits((turn.reply_text if turn else None) or ""))


def cell_edits(
    edit: Edit, difference: Difference, seen: Sequence[ChatTurn], *, setting_back: bool = False
) -> Iterator[Edit]:
    """The single cells of one input's difference, as far as they can matter to the turns `seen`.

    `setting_back`: whether `card_as_of` is put back beside them, which says between which cards they differ.
    """
    before, after, lexicons = difference.before, difference.after, difference.lexicons
    old_card, new_card = difference.cards(setting_back=setting_back)
    if edit.input == "chat_turn" and before.turn and after.turn:
        yield from _turn_cells(edit, before.turn, after.turn, difference.brings_card)
    elif edit.input == "character_card" and old_card and new_card:
        topics = {row.topic for lexicon in lexicons for turn in seen for row in _rows(lexicon, turn)}
        yield from _card_cells(old_card, new_card, seen, topics)
    elif edit.input == "topic_lexicon":
        yield from _lexicon_cells(lexicons, seen)
    elif edit.input == "endings":
        yield from _list_cells("endings", "endings", before.endings, after.endings, str, _change_endings)
    elif edit.input == "mention":
        yield from _mention_cells(before, after)
    else:
        yield edit


def _turn_cells(edit: Edit, before: ChatTurn, after: ChatTurn, brings_card: Sequence[str]) -> Iterator[Edit]:
    for name in ChatTurn.model_fields:
        old, new = getattr(before, name), getattr(after, name)
        if old == new:
            continue

        def undo(inputs: Inputs, name: str = name, old: Any = old) -> Inputs:
            assert inputs.turn is not None
            whole = edit.undo(inputs)
            # What is put back brings along what belongs to it: a reply the lexicon rows that hit it.
            brings: dict[str, dict[str, Any]] = {
                "reply_text": {"lexicon": whole.lexicon},
                "session_id": {"mentions": whole.mentions},
                **{decider: {"card": whole.card} for decider in brings_card},
            }
            turn = inputs.turn.model_copy(update={name: old})
            return replace(inputs, turn=turn, **brings.get(name, {}))

        yield Edit("chat_turn", f"chat_turn {after.turn_id} {name}: {shown(old)} -> {shown(new)}", undo)


def _card_cells(
    before: CharacterCard, after: CharacterCard, seen: Sequence[ChatTurn], topics: Collection[str]
) -> Iterator[Edit]:
    """Only cells that can matter to the turns: names that they name, roles that they ask for, topics of their terms."""
    where = f"character_card {after.character_id}"
    names = {name for turn in seen for name in turn.named_entities or ()}
    messages = [turn.user_message or "" for turn in seen]
    matters: dict[str, Callable[[Any], bool]] = {
        "canon_entities": lambda name: name in names,
        "forbidden_topics": lambda topic: topic in topics,
        "entity_roles": lambda row: any(row.role in message for message in messages),
    }

    def put_back(name: str, value: Any) -> Callable[[Inputs], Inputs]:
        def undo(inputs: Inputs) -> Inputs:
            assert inputs.card is not None
            return replace(inputs, card=inputs.card.model_copy(update={name: value}))

        return undo

    for name in ("honorific_rule", "first_person"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            yield Edit("character_card", f"{where} {name}: {shown(old)} -> {shown(new)}", put_back(name, old))
    for name, can_matter in matters.items():

        def undo_list(change: _Change, inputs: Inputs, name: str = name) -> Inputs:
            assert inputs.card is not None
            elements = list(change(getattr(inputs.card, name)))
            return replace(inputs, card=inputs.card.model_copy(update={name: elements}))

        old, new = (list(filter(can_matter, getattr(card, name))) for card in (before, after))
        text = _role_text if name == "entity_roles" else str
        yield from _list_cells("character_card", f"{where} {name}", old, new, text, undo_list)


def _role_text(row: Any) -> str:
    return f"{row.role} -> {row.entity}"


def _lexicon_cells(lexicons: tuple[Lexicon, Lexicon], seen: Sequence[ChatTurn]) -> Iterator[Edit]:
    """The rows that stand in the replies of the turns `seen`."""

    def hits(lexicon: Lexicon) -> list[LexiconTerm]:
        places = {place for turn in seen for place in lexicon.hits(turn.reply_text or "")}
        return [lexicon.rows[place] for place in sorted(places)]

    def undo(change: _Change, inputs: Inputs) -> Inputs:
        reply = (inputs.turn.reply_text if inputs.turn else None) or ""
        return replace(inputs, lexicon=tuple(row for row in change(inputs.lexicon) if row.term in reply))

    def text(row: LexiconTerm) -> str:
        return f"{row.term} -> {row.topic}"

    yield from _list_cells("topic_lexicon", "topic_lexicon", hits(lexicons[0]), hits(lexicons[1]), text, undo)


def _change_endings(change: "_Change", inputs: Inputs) -> Inputs:
    return replace(inputs, endings=change(inputs.endings))


def _mention_cells(before: Inputs, after: Inputs) -> Iterator[Edit]:
    for entity in sorted(before.mentions.keys() | after.mentions.keys()):
        old, new = before.mentions.get(entity), after.mentions.get(entity)
        if old == new:
            continue

        def undo(inputs: Inputs, entity: str = entity, old: Mention | None = old) -> Inputs:
            rest = {name: mention for name, mention in inputs.mentions.items() if name != entity}
            return replace(inputs, mentions=rest | ({entity: old} if old else {}))

        places = [f"- {entity}, chat_turn {old.turn_id}"] if old else []
        places += [f"+ {entity}, chat_turn {new.turn_id}"] if new else []
        yield Edit("mention", f"named_entities of an earlier turn: {'; '.join(places)}", undo)


_Change = Callable[[Iterable[Any]], tuple[Any, ...]]


def _list_cells(
    name: InputName,
    where: str,
    old: Sequence[Any],
    new: Sequence[Any],
    text: Callable[[Any], str],
    undo: Callable[[_Change, Inputs], Inputs],
) -> Iterator[Edit]:
    """Single additions and removals between two lists, and the other order of what stands in both.

    Args:
        name: the input.
        where: what the cells' texts begin with.
        old: the elements then, as far as they can matter.
        new: the elements now, likewise.
        text: how an element is written.
        undo: changes the list in some inputs.
    """
    # A second time an element says nothing.
    old, new = tuple(dict.fromkeys(old)), tuple(dict.fromkeys(new))
    had, has = set(old), set(new)
    edits: list[tuple[str, _Change]] = []
    if [element for element in old if element in has] != [element for element in new if element in had]:
        what = "rows in another order" if name == "topic_lexicon" else "in another order"
        edits.append((what, partial(_in_order_of, old)))
    edits += [(f"+ {text(element)}", partial(_without, element)) for element in new if element not in had]
    edits += [(f"- {text(element)}", partial(_reinserted, element, old)) for element in old if element not in has]
    if len(edits) > MOST_ELEMENTS:
        what = f"{len(has - had)} added, {len(had - has)} removed"
        edits = [(what, partial(_instead, old, frozenset(new)))]
    for what, change in edits:
        yield Edit(name, f"{where}: {what}", partial(undo, change))


def _without(element: Any, now: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(other for other in now if other != element)


def _instead(old: tuple[Any, ...], new: Collection[Any], now: Iterable[Any]) -> tuple[Any, ...]:
    """`old`, and behind it what neither it nor `new` holds: elements that cannot matter."""
    return (*old, *(element for element in now if element not in new and element not in old))


def _in_order_of(old: tuple[Any, ...], now: Iterable[Any]) -> tuple[Any, ...]:
    """`now` with those of its elements that `old` holds in the order that they have there, in the same places."""
    now = tuple(now)
    ordered = iter(sorted((element for element in now if element in old), key=old.index))
    return tuple(next(ordered) if element in old else element for element in now)


def _reinserted(element: Any, old: tuple[Any, ...], now: Iterable[Any]) -> tuple[Any, ...]:
    """`now` with the element before the first of the elements that followed it in `old`."""
    now, following = tuple(now), set(old[old.index(element) + 1 :])
    place = next((i for i, other in enumerate(now) if other in following), len(now))
    return (*now[:place], element, *now[place:])


def shown(value: Any) -> str:
    """A cell in a cause: as it stands, cut where it is long."""
    text = "null" if value is None else str(value)
    return text if len(text) <= 60 else text[:60] + "…"
