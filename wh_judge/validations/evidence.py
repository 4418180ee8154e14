"""Validations of the evidence: each row cites a column that exists, and cites it to the letter."""

from datetime import datetime
from typing import Any

from wh_judge.model import CharacterCard
from wh_judge.rules.recall import turn_order
from wh_judge.validations.subject import Subject
from wh_judge.validations.validation import PASSED, Reasons, Validation, differs, shown


def evidence_field(subject: Subject) -> Reasons:
    """Every `field` is a column of its `source`. Does not apply without evidence rows (a missing or malformed list).

    A row that is no object, and one of an unknown source, has no such field and fails.
    """
    evidence = subject.evidence
    if not evidence:
        return None
    cited = subject.cited()
    if len(cited) == len(evidence):
        return PASSED
    good = {place for place, *_ in cited}
    return [_no_column(place, row) for place, row in enumerate(evidence) if place not in good]


def _no_column(place: int, row: Any) -> str:
    if not isinstance(row, dict):
        return f"evidence[{place}]: expected an object that cites a cell, found {shown(row)}"
    return f"evidence[{place}]: expected a column of {shown(row.get('source'))}, found field {shown(row.get('field'))}"


def evidence_value(subject: Subject) -> Reasons:
    """Every `value` equals the cited cell, one element of a list cell, or the aggregate recomputed, to the letter.

    A claim may cite its turn, its turn's card, the turn in its recall_source_turn where that is an earlier one of the
    session, and any row of the lexicon; where it has a touched_term, all lexicon cells are of one row with that term. A
    `key` must name one of these rows, and then only that row counts.

    Rows without a known column are left to `evidence_field`. Does not apply where no row is left, or where the log has
    no such turn. A missing value fails.
    """
    cited = subject.cited()
    if subject.turn is None or not cited:
        return None
    citable = {"chat_turn": _citable_turns(subject), "character_card": [subject.card] if subject.card else []}
    reasons: list[str] = []
    lexicon: list[tuple[int, str, dict[str, Any]]] = []
    for place, source, field, row in cited:
        if source == "topic_lexicon":
            lexicon.append((place, field, row))
            continue
        key = row.get("key")
        for one in citable[source]:
            if (key is None or key == _key(one)) and _holds(subject, one, field, row):
                break
        else:
            rows = [one for one in citable[source] if key is None or key == _key(one)]
            reasons.append(_mismatch(place, source, field, row, rows))
    if lexicon:
        reasons += _lexicon_mismatches(subject, lexicon)
    return reasons or PASSED


def _citable_turns(subject: Subject) -> list[Any]:
    """This turn, then the source turn; of one outside the log's turns the mention is all that is known."""
    turn = subject.turn
    assert turn is not None
    source_id = subject.claim.get("recall_source_turn")
    if not isinstance(source_id, str) or turn_order(source_id) >= turn_order(turn.turn_id):
        return [turn]
    source = subject.log.turns.get(source_id)
    if source is not None:
        return [turn, source] if source.session_id == turn.session_id else [turn]
    target = subject.claim.get("recall_target")
    mention = subject.log.mentions.get((turn.session_id, target)) if isinstance(target, str) else None
    return [turn, mention] if mention is not None and mention.turn_id == source_id else [turn]


def _key(row: Any) -> str:
    key: str = row.character_id if isinstance(row, CharacterCard) else row.turn_id
    return key


_UNKNOWN = object()


def _holds(subject: Subject, cited: Any, field: str, row: dict[str, Any]) -> bool:
    cell = getattr(cited, field, _UNKNOWN)
    value = row.get("value", _UNKNOWN)
    agg = row.get("agg")
    if agg is not None:
        expected = aggregate(cell, agg)
        return expected is not None and not isinstance(value, bool) and bool(value == expected)
    if isinstance(cell, str):
        return bool(value == cell)
    if cell is None or isinstance(cell, bool):
        return value is cell
    if isinstance(cell, datetime):
        return _is_instant(value, cell)
    if not isinstance(cell, list) or not isinstance(value, str):
        return False
    return value in (subject.log.card_elements(cited, field) if isinstance(cited, CharacterCard) else cell)


def aggregate(cell: Any, agg: Any) -> int | str | None:
    """The aggregate of a cell; None where it has none.

    Only list cells have aggregates. `count` is the number of elements. `min` and `max` are the first and the last
    element in code point order, of a list of texts that is not empty. No cell has `sum` and `avg`: no column holds
    numbers.
    """
    if not isinstance(cell, list):
        return None
    if agg == "count":
        return len(cell)
    if agg in ("min", "max") and cell and all(isinstance(element, str) for element in cell):
        text: str = min(cell) if agg == "min" else max(cell)
        return text
    return None


def _is_instant(value: Any, instant: datetime) -> bool:
    """Whether the value names the instant, with any offset; without one it names none."""
    try:
        return isinstance(value, str) and datetime.fromisoformat(value) == instant
    except ValueError:
        return False


def _mismatch(place: int, source: str, field: str, row: dict[str, Any], rows: list[Any]) -> str:
    what = f"evidence[{place}] {source}.{field}"
    if not rows:
        if row.get("key") is None:
            return f"{what}: expected a row of the log, found none to cite"
        return f"{what}: expected the key of a row that this verdict may cite, found {shown(row['key'])}"
    if "value" not in row:
        return f"{what}: expected a value, found none"
    value, agg = row["value"], row.get("agg")
    cell = getattr(rows[0], field, _UNKNOWN)
    if agg is not None:
        expected = aggregate(cell, agg)
        if expected is None:
            return f"{what}: expected a cell with such an aggregate, found agg {shown(agg)}"
        return differs(f"{what} {agg}", expected, value)
    if isinstance(cell, list):
        return f"{what}: expected one of the {len(cell)} elements, found {shown(value)}"
    if isinstance(cell, datetime):
        return differs(what, cell.isoformat(), value)
    if cell is _UNKNOWN:
        return f"{what}: expected a cell that the log knows, found {shown(value)}"
    return differs(what, cell, value)


def _lexicon_mismatches(subject: Subject, cited: list[tuple[int, str, dict[str, Any]]]) -> list[str]:
    log = subject.log
    term = subject.claim.get("touched_term")
    keys = log.lexicon_keys.get(term, []) if isinstance(term, str) else None
    reasons: list[str] = []
    for place, field, row in cited:
        what = f"evidence[{place}] topic_lexicon.{field}"
        value, key = row.get("value"), row.get("key")
        if row.get("agg") is not None:
            reasons.append(f"{what}: expected a cell with such an aggregate, found agg {shown(row['agg'])}")
        elif not isinstance(value, str):
            reasons.append(f"{what}: expected a text, found {shown(value) if 'value' in row else 'none'}")
        elif keys is not None:
            left = [one for one in keys if key in (None, one) and getattr(log.lexicon_rows[one], field) == value]
            if not left:
                reasons.append(f"{what}: expected a cell of one row with the term {shown(term)}, found {shown(value)}")
            keys = left or keys
        elif key is None:
            if value not in log.lexicon_cells[field]:
                reasons.append(f"{what}: expected a cell of the lexicon, found {shown(value)}")
        else:
            found = log.lexicon_rows.get(key) if isinstance(key, str) else None
            if found is None:
                reasons.append(f"{what}: expected the key of a row of the lexicon, found {shown(key)}")
            elif getattr(found, field) != value:
                reasons.append(differs(what, getattr(found, field), value))
    return reasons


EVIDENCE_FIELD = Validation(
    number=8,
    code="v08_evidence_field",
    title="evidence 의 field 이름이 세 표의 컬럼에 있음",
    description="Every evidence field is a column of its source.",
    judge=evidence_field,
    model_output=True,
)
EVIDENCE_VALUE = Validation(
    number=9,
    code="v09_evidence_value",
    title="evidence 의 value 가 인용한 줄의 값과 글자 그대로 같음",
    description="Every evidence value is the cited cell, an element of it or its aggregate, to the letter; a row with "
    "a key cites exactly that row.",
    judge=evidence_value,
    model_output=True,
)
