"""Why a verdict changed: the turn is judged again with what differs put back, until the old verdict is there again.

Pure, in plain Python, with the references of the rules. First whole inputs are put back (the turn, its card, the
lexicon, the endings, the names in earlier turns), one at a time, then the smallest set; then, inside those that did it,
single cells. What no input explains is the code's doing, since the old code is not there to be run.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, Literal, NamedTuple

from wh_judge.model import CharacterCard, ChatTurn, LexiconTerm, Verdict
from wh_judge.rules import Case, Lexicon, RuleSettings, judge_turn
from wh_judge.rules.rule import Mention

InputName = Literal["chat_turn", "character_card", "topic_lexicon", "endings", "mention", "code"]

DECIDED = (
    "verdict",
    "rule_expected",
    "rule_observed",
    "off_canon_entities",
    "touched_term",
    "touched_topic",
    "recall_target",
    "recall_source_turn",
    "hedge",
)
"""The fields whose change is a change; summary and evidence follow from them and from counts."""

MOST_CELLS = 6
"""Up to so many differing cells every set of them is tried; beyond it cells are dropped one by one."""


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


class Cause(NamedTuple):
    """What changed a verdict."""

    inputs: tuple[InputName, ...]
    cells: tuple[str, ...]
    """The cells inside those inputs, such as `character_card CHR-0001 canon_entities: + 리안`."""


Decided = tuple[Any, ...]


def decided_fields(verdict: Verdict | None) -> Decided | None:
    """The decided fields of a verdict, in the order of `DECIDED`; None for a turn without one."""
    return None if verdict is None else tuple(getattr(verdict, name) for name in DECIDED)


def judge_inputs(inputs: Inputs) -> Decided | None:
    """The decided fields that the references give for these inputs; None where there can be no verdict."""
    if inputs.turn is None or inputs.card is None:
        return None
    mentions = {(inputs.turn.session_id, entity): mention for entity, mention in inputs.mentions.items()}
    settings = RuleSettings.of_parts(inputs.endings)
    verdict, _ = judge_turn(Case(inputs.turn, inputs.card, Lexicon(inputs.lexicon), mentions, settings))
    return decided_fields(verdict)


@dataclass(frozen=True)
class _Edit:
    """One difference between the inputs before and after, and how to put it back."""

    input: InputName
    cell: str
    undo: Callable[[Inputs], Inputs]


def explain(
    before: Inputs,
    after: Inputs,
    old: Decided | None,
    lexicons: tuple[Lexicon, Lexicon],
    code: tuple[str, str] | None = None,
) -> Cause:
    """Why the turn no longer has the decided fields `old`.

    Args:
        before: what the turn was judged by then.
        after: what it is judged by now.
        old: the decided fields then; None where it had no verdict.
        lexicons: the whole lexicon before and after: a text that is put back meets rows that its other version missed.
        code: the code version before and after, where they differ.
    """
    if after.turn is None:
        # Whatever else differs: without the turn there can be no verdict.
        return Cause(("chat_turn",), (f"chat_turn {(before.turn or _nobody).turn_id}: - turn",))
    whole = list(_inputs(before, after, lexicons))
    found = _smallest(whole, after, old, len(whole))
    if found is None:
        if code is not None:
            return Cause(("code",), (f"code: {code[0]} -> {code[1]}",))
        return Cause(tuple(edit.input for edit in whole), tuple(edit.cell for edit in whole))
    cells = [cell for edit in found for cell in _cells(edit, before, after)]
    least = _smallest(cells, after, old, len(cells)) if len(cells) <= MOST_CELLS else _least(cells, after, old)
    named = least if least is not None else cells or found
    return Cause(tuple(edit.input for edit in found), tuple(dict.fromkeys(edit.cell for edit in named)))


def _smallest(edits: Sequence[_Edit], after: Inputs, old: Decided | None, most: int) -> list[_Edit] | None:
    """The first of the smallest sets of edits which, put back together, give the old fields again."""
    for size in range(1, most + 1):
        for chosen in combinations(edits, size):
            if _restore(chosen, after, old):
                return list(chosen)
    return None


def _restore(edits: Sequence[_Edit], after: Inputs, old: Decided | None) -> bool:
    """Whether these edits, put back together, give the old fields again."""
    inputs = after
    for edit in edits:
        inputs = edit.undo(inputs)
    return judge_inputs(inputs) == old


def _least(edits: Sequence[_Edit], after: Inputs, old: Decided | None) -> list[_Edit] | None:
    """A set of edits of which none can be left out; found in as many judgements as there are edits.

    A single edit that is enough is found, since all others can be left out.
    """
    kept = list(edits)
    if not _restore(kept, after, old):
        return None
    for edit in edits:
        fewer = [other for other in kept if other is not edit]
        if _restore(fewer, after, old):
            kept = fewer
    return kept


def _inputs(before: Inputs, after: Inputs, lexicons: tuple[Lexicon, Lexicon]) -> Iterator[_Edit]:
    """The inputs that differ, each as one edit."""
    turn_id = (after.turn or before.turn or _nobody).turn_id
    # With another character comes its card, and with another session who was named there.
    recast = _differ(before.turn, after.turn, "character_id")
    moved = _differ(before.turn, after.turn, "session_id")
    if before.turn != after.turn:
        hits = _rows(lexicons[1], before.turn)

        def undo_turn(inputs: Inputs) -> Inputs:
            card = before.card if recast else inputs.card
            mentions = before.mentions if moved else inputs.mentions
            return replace(inputs, turn=before.turn, lexicon=hits, card=card, mentions=mentions)

        what = "+ turn" if before.turn is None else "text"
        yield _Edit("chat_turn", f"chat_turn {turn_id}: {what}", undo_turn)
    if before.card != after.card and not recast:
        character_id = (after.card or before.card or _nobody).character_id
        what = "+ card" if before.card is None else "- card" if after.card is None else "card"
        yield _Edit(
            "character_card", f"character_card {character_id}: {what}", lambda inputs: replace(inputs, card=before.card)
        )
    if _rows(lexicons[0], after.turn) != after.lexicon or before.lexicon != _rows(lexicons[1], before.turn):

        def undo_lexicon(inputs: Inputs) -> Inputs:
            return replace(inputs, lexicon=_rows(lexicons[0], inputs.turn))

        yield _Edit("topic_lexicon", "topic_lexicon: rows", undo_lexicon)
    if before.endings != after.endings:
        yield _Edit("endings", "endings", lambda inputs: replace(inputs, endings=before.endings))
    if before.mentions != after.mentions and not moved:
        yield _Edit("mention", "mention", lambda inputs: replace(inputs, mentions=before.mentions))


def _differ(before: ChatTurn | None, after: ChatTurn | None, name: str) -> bool:
    return before is not None and after is not None and bool(getattr(before, name) != getattr(after, name))


class _Nobody(NamedTuple):
    turn_id: str = "?"
    character_id: str = "?"


_nobody = _Nobody()


def _rows(lexicon: Lexicon, turn: ChatTurn | None) -> tuple[LexiconTerm, ...]:
    """The lexicon rows whose term stands in the turn's reply."""
    return tuple(lexicon.rows[position] for position in lexicon.hits((turn.reply_text if turn else None) or ""))


def _cells(edit: _Edit, before: Inputs, after: Inputs) -> Iterator[_Edit]:
    """The single cells of one input's difference."""
    if edit.input == "chat_turn" and before.turn and after.turn:
        yield from _turn_cells(edit, before.turn, after.turn)
    elif edit.input == "character_card" and before.card and after.card:
        yield from _card_cells(before.card, after.card, after.turn or before.turn)
    elif edit.input == "topic_lexicon":
        yield from _lexicon_cells(edit, after)
    elif edit.input == "endings":
        for sign, ending, endings in _list_edits(before.endings, after.endings):
            yield _Edit("endings", f"endings: {sign} {ending}", _set("endings", endings))
    elif edit.input == "mention":
        yield from _mention_cells(before, after)
    else:
        yield edit


def _turn_cells(edit: _Edit, before: ChatTurn, after: ChatTurn) -> Iterator[_Edit]:
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
                "character_id": {"card": whole.card},
                "session_id": {"mentions": whole.mentions},
            }
            turn = inputs.turn.model_copy(update={name: old})
            return replace(inputs, turn=turn, **brings.get(name, {}))

        yield _Edit("chat_turn", f"chat_turn {after.turn_id} {name}: {shown(old)} -> {shown(new)}", undo)


def _card_cells(before: CharacterCard, after: CharacterCard, turn: ChatTurn | None) -> Iterator[_Edit]:
    """Only cells that can matter to the turn: names that it names, roles that its message holds, all topics."""
    where = f"character_card {after.character_id}"
    names = set((turn.named_entities if turn else None) or ())
    message = (turn.user_message if turn else None) or ""
    matters: dict[str, Callable[[Any], bool]] = {
        "canon_entities": lambda name: name in names,
        "forbidden_topics": lambda topic: True,
        "entity_roles": lambda row: row.role in message,
    }

    def put_back(name: str, value: Any) -> Callable[[Inputs], Inputs]:
        def undo(inputs: Inputs) -> Inputs:
            assert inputs.card is not None
            return replace(inputs, card=inputs.card.model_copy(update={name: value}))

        return undo

    for name in ("honorific_rule", "first_person"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            yield _Edit("character_card", f"{where} {name}: {shown(old)} -> {shown(new)}", put_back(name, old))
    for name in ("canon_entities", "forbidden_topics", "entity_roles"):
        old, new = getattr(before, name), getattr(after, name)
        for sign, element, change in _list_edits(old, new):
            if element is not None and not matters[name](element):
                continue

            def undo(inputs: Inputs, name: str = name, change: _Change = change) -> Inputs:
                assert inputs.card is not None
                elements = change(getattr(inputs.card, name))
                return replace(inputs, card=inputs.card.model_copy(update={name: list(elements)}))

            text = f"{element.role} -> {element.entity}" if name == "entity_roles" and element else element
            text = "in another order" if element is None else f"{sign} {text}"
            yield _Edit("character_card", f"{where} {name}: {text}", undo)


def _lexicon_cells(edit: _Edit, after: Inputs) -> Iterator[_Edit]:
    old = edit.undo(after).lexicon
    for sign, row, change in _list_edits(old, after.lexicon):
        text = f"{sign} {row.term} -> {row.topic}" if row else "rows in another order"
        yield _Edit("topic_lexicon", f"topic_lexicon: {text}", _set("lexicon", change))


def _mention_cells(before: Inputs, after: Inputs) -> Iterator[_Edit]:
    for entity in sorted(before.mentions.keys() | after.mentions.keys()):
        old, new = before.mentions.get(entity), after.mentions.get(entity)
        if old == new:
            continue

        def undo(inputs: Inputs, entity: str = entity, old: Mention | None = old) -> Inputs:
            rest = {name: mention for name, mention in inputs.mentions.items() if name != entity}
            return replace(inputs, mentions=rest | ({entity: old} if old else {}))

        places = [f"- {entity}, chat_turn {old.turn_id}"] if old else []
        places += [f"+ {entity}, chat_turn {new.turn_id}"] if new else []
        yield _Edit("mention", f"named_entities of an earlier turn: {'; '.join(places)}", undo)


_Change = Callable[[Iterable[Any]], tuple[Any, ...]]


def _list_edits(old: Iterable[Any], new: Iterable[Any]) -> Iterator[tuple[str, Any, _Change]]:
    """Single additions and removals between two lists, each with the function that puts it back.

    Where the elements are the same and only their order differs, that is one edit, with no element.
    """
    old, new = tuple(old), tuple(new)
    if old == new:
        return
    had, has = set(old), set(new)
    added = [element for element in new if element not in had]
    removed = [element for element in old if element not in has]
    for element in added:
        yield "+", element, partial(_without, element)
    for element in removed:
        yield "-", element, partial(_reinserted, element, old)
    if not added and not removed and old != new:
        yield "order", None, partial(_instead, old)


def _without(element: Any, now: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(other for other in now if other != element)


def _instead(old: tuple[Any, ...], _now: Iterable[Any]) -> tuple[Any, ...]:
    return old


def _reinserted(element: Any, old: tuple[Any, ...], now: Iterable[Any]) -> tuple[Any, ...]:
    """`now` with the element before the first of the elements that followed it in `old`."""
    now, following = tuple(now), set(map(repr, old[old.index(element) + 1 :]))
    place = next((i for i, e in enumerate(now) if repr(e) in following), len(now))
    return (*now[:place], element, *now[place:])


def _set(name: Literal["lexicon", "endings"], change: _Change) -> Callable[[Inputs], Inputs]:
    if name == "lexicon":
        return lambda inputs: replace(inputs, lexicon=change(inputs.lexicon))
    return lambda inputs: replace(inputs, endings=change(inputs.endings))


def shown(value: Any) -> str:
    """A cell in a cause: as it stands, cut where it is long."""
    text = "null" if value is None else str(value)
    return text if len(text) <= 60 else text[:60] + "…"
