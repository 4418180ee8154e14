"""The single cells in which an input of a turn differs, each with how to put it back; `wh_judge.edits` has the inputs.

Pure. Only cells that can matter to the turns in question are there.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from wh_judge.edits import Difference, Edit, Inputs, lexicon_rows
from wh_judge.list_edits import ListChange, list_changes
from wh_judge.model import CharacterCard, ChatTurn, LexiconTerm
from wh_judge.rules import Lexicon
from wh_judge.rules.rule import Mention


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
        topics = {row.topic for lexicon in lexicons for turn in seen for row in lexicon_rows(lexicon, turn)}
        yield from _card_cells(old_card, new_card, seen, topics)
    elif edit.input == "topic_lexicon":
        yield from _lexicon_cells(lexicons, seen)
    elif edit.input == "endings":
        for what, change in list_changes(before.endings, after.endings, str):
            yield Edit("endings", f"endings: {what}", partial(_change_endings, change))
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

        def undo_list(change: ListChange, inputs: Inputs, name: str = name) -> Inputs:
            assert inputs.card is not None
            elements = list(change(getattr(inputs.card, name)))
            return replace(inputs, card=inputs.card.model_copy(update={name: elements}))

        old, new = (list(filter(can_matter, getattr(card, name))) for card in (before, after))
        text = _role_text if name == "entity_roles" else str
        for what, change in list_changes(old, new, text):
            yield Edit("character_card", f"{where} {name}: {what}", partial(undo_list, change))


def _role_text(row: Any) -> str:
    return f"{row.role} -> {row.entity}"


def _lexicon_cells(lexicons: tuple[Lexicon, Lexicon], seen: Sequence[ChatTurn]) -> Iterator[Edit]:
    """The rows that stand in the replies of the turns `seen`."""

    def hits(lexicon: Lexicon) -> list[LexiconTerm]:
        places = {place for turn in seen for place in lexicon.hits(turn.reply_text or "")}
        return [lexicon.rows[place] for place in sorted(places)]

    def undo(change: ListChange, inputs: Inputs) -> Inputs:
        reply = (inputs.turn.reply_text if inputs.turn else None) or ""
        return replace(inputs, lexicon=tuple(row for row in change(inputs.lexicon) if row.term in reply))

    def text(row: LexiconTerm) -> str:
        return f"{row.term} -> {row.topic}"

    for what, change in list_changes(hits(lexicons[0]), hits(lexicons[1]), text, "rows in another order"):
        yield Edit("topic_lexicon", f"topic_lexicon: {what}", partial(undo, change))


def _change_endings(change: ListChange, inputs: Inputs) -> Inputs:
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


def shown(value: Any) -> str:
    """A cell in a cause: as it stands, cut where it is long."""
    text = "null" if value is None else str(value)
    return text if len(text) <= 60 else text[:60] + "…"
