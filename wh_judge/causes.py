"""Why a verdict changed: the turn is judged again with what differs put back, until the old verdict is there again.

Pure, in plain Python, with the references of the rules. First whole inputs are put back (the setting `card_as_of`, the
turn, its card, the lexicon, the endings, the names in earlier turns), one at a time, then the smallest set; then single
cells of those that did it. What no input explains is the code's doing, since the old code is not there to be run.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

from wh_judge.cell_edits import cell_edits
from wh_judge.edits import Difference, Edit, InputName, Inputs, input_edits
from wh_judge.model import Verdict
from wh_judge.rules import Case, Lexicon, RuleSettings, judge_turn

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
"""Up to so many differing cells every set of them is tried; beyond it each alone, then cells are dropped one by one."""


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


def explain(
    before: Inputs,
    after: Inputs,
    old: Decided | None,
    lexicons: tuple[Lexicon, Lexicon],
    code: tuple[str, str] | None = None,
    *,
    card_by_time: bool = False,
) -> Cause:
    """Why the turn no longer has the decided fields `old`.

    Args:
        before: what the turn was judged by then.
        after: what it is judged by now.
        old: the decided fields then; None where it had no verdict.
        lexicons: the whole lexicon before and after: a text that is put back meets rows that its other version missed.
        code: the code version before and after, where they differ.
        card_by_time: whether a turn was or is judged by its card as it stood at the turn's time.
    """
    if after.turn is None:
        # Whatever else differs: without the turn there can be no verdict.
        return Cause(("chat_turn",), (f"chat_turn {before.turn.turn_id if before.turn else '?'}: - turn",))
    difference = Difference(before, after, lexicons, card_by_time)
    whole = list(input_edits(difference))
    found = _smallest(whole, after, old, len(whole))
    if found is None:
        if code is not None:
            return Cause(("code",), (f"code: {code[0]} -> {code[1]}",))
        return Cause(tuple(edit.input for edit in whole), tuple(edit.cell for edit in whole))
    # The old turn meets what is put back beside it, so cells that matter to it alone count as well.
    back = any(edit.input == "chat_turn" for edit in found)
    seen = [turn for turn in (after.turn, before.turn if back else None) if turn]
    # The setting has no cells of its own, and the cells of a card are those that differ with it put back.
    setting = [edit for edit in found if edit.input == "card_as_of"]
    rest, start = [edit for edit in found if edit not in setting], _undone(setting, after)
    cells = [cell for edit in rest for cell in cell_edits(edit, difference, seen, setting_back=bool(setting))]
    most = len(cells) if len(cells) <= MOST_CELLS else 1
    named = setting + (_smallest(cells, start, old, most) or _least(cells, start, old) or rest)
    return Cause(tuple(edit.input for edit in found), tuple(dict.fromkeys(edit.cell for edit in named)))


def _smallest(edits: Sequence[Edit], after: Inputs, old: Decided | None, most: int) -> list[Edit] | None:
    """The first of the smallest sets of edits which, put back together, give the old fields again."""
    for size in range(1, most + 1):
        for chosen in combinations(edits, size):
            if _restore(chosen, after, old):
                return list(chosen)
    return None


def _restore(edits: Sequence[Edit], after: Inputs, old: Decided | None) -> bool:
    """Whether these edits, put back together, give the old fields again."""
    return judge_inputs(_undone(edits, after)) == old


def _undone(edits: Sequence[Edit], inputs: Inputs) -> Inputs:
    for edit in edits:
        inputs = edit.undo(inputs)
    return inputs


def _least(edits: Sequence[Edit], after: Inputs, old: Decided | None) -> list[Edit] | None:
    """A set of edits of which none can be left out; found in about twice as many judgements as there are edits."""
    kept, before = list(edits), -1
    if not _restore(kept, after, old):
        return None
    # What could not be left out may be so once others are.
    while len(kept) != before:
        before = len(kept)
        for edit in tuple(kept):
            fewer = [other for other in kept if other is not edit]
            if _restore(fewer, after, old):
                kept = fewer
    return kept
