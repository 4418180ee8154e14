"""A probe set as a file, and what is given out to run it against models."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from wh_judge.errors import UserError
from wh_judge.model import CharacterCard, LexiconTerm
from wh_judge.outputs import write_documents, write_text
from wh_judge.probes.case import ProbeCase, ProbeSet, card_hash, digest_of
from wh_judge.probes.check import check_known
from wh_judge.rules import Lexicon, RuleSettings


def read_probes(path: Path) -> ProbeSet:
    """A frozen set.

    Raises:
        UserError: it is none, or was changed after it was frozen.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"{path}: is not UTF-8; make it again with wh-judge probes make") from None
    try:
        probes = ProbeSet.model_validate_json(text)
    except ValidationError as error:
        detail = error.errors()[0]
        where = ".".join(str(part) for part in detail["loc"]) or "the whole file"
        raise UserError(
            f"{path}: is no probe set ({where}: {detail['msg']}); make it with wh-judge probes make"
        ) from None
    found = digest_of(probes)
    if found != probes.digest:
        raise UserError(
            f"{path}: was changed after it was frozen (its digest is {probes.digest[:12]}, its cases give"
            f" {found[:12]}); make it again with wh-judge probes make"
        )
    return probes


def write_probes(probes: ProbeSet, path: Path) -> None:
    """Write a frozen set: one JSON document with one case a line."""
    document = probes.model_dump()
    lists = ("cases", "refused", "unfillable")
    head = json.dumps({name: value for name, value in document.items() if name not in lists}, ensure_ascii=False)
    parts = [
        f'"{name}": [' + ",".join(f"\n{json.dumps(row, ensure_ascii=False)}" for row in document[name]) + "]"
        for name in lists
    ]
    write_text(head[:-1] + ",\n" + ",\n".join(parts) + "}\n", path)


def export_probes(probes: ProbeSet, path: Path) -> None:
    """Write one line a case: the messages to put to a model, and the log rows of the turns before."""
    write_documents((_exported(case) for case in probes.cases), path, [])


def _exported(case: ProbeCase) -> dict[str, Any]:
    messages = []
    for turn in case.earlier:
        messages += [
            {"role": "user", "content": turn.user_message},
            {"role": "assistant", "content": turn.reply_text},
        ]
    return {
        "prompt_id": case.case_id,
        "character_id": case.character_id,
        "family": case.cell.family,
        "messages": [*messages, {"role": "user", "content": case.user_message}],
        "user_asked_recall": case.user_asked_recall,
        "history": [
            {"character_id": case.character_id, "user_asked_recall": False, **turn.model_dump()}
            for turn in case.earlier
        ],
    }


def failing(
    probes: ProbeSet, cards: Sequence[CharacterCard], lexicon: Sequence[LexiconTerm], settings: RuleSettings
) -> Iterator[tuple[ProbeCase, list[str]]]:
    """The cases that the validator would refuse now, and why."""
    by_id, terms = {card.character_id: card for card in cards}, Lexicon(lexicon)
    for case in probes.cases:
        card = by_id.get(case.character_id)
        reasons = check_known(case, card, terms, settings)
        if reasons and card is not None and card_hash(card) != probes.cards.get(case.character_id):
            reasons.append("the card is not the one that it was frozen with")
        if reasons:
            yield case, reasons
