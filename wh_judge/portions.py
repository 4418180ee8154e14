"""How many turns are judged at a time: no more than their verdicts, which cite whole replies, leave room for."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def portions(turns: pa.Table, earlier: pa.Table, rows: int, weight: int) -> list[pa.Table]:
    """The turns cut into pieces, in their order; at least one.

    A reply that names somebody is cited by every later turn of its session that forgets them, however long it is.

    Args:
        turns: rows in TURN_SCHEMA; further columns stay.
        earlier: rows in MENTION_SCHEMA.
        rows: what a piece has at most.
        weight: bytes that the verdicts of a piece cite at most, about; a single turn may cite more.
    """
    ends = np.cumsum(_own(turns) + _cited(turns, earlier, weight))
    found, start = [], 0
    while start < turns.num_rows:
        before = int(ends[start - 1]) if start else 0
        end = int(np.searchsorted(ends, before + weight, side="right"))
        end = min(max(end, start + 1), start + rows)
        found.append(turns.slice(start, end - start))
        start = end
    return found or [turns]


def _own(turns: pa.Table) -> np.ndarray:
    own: np.ndarray = _lengths(turns["reply_text"]) + _lengths(turns["user_message"])
    return own


def _cited(turns: pa.Table, earlier: pa.Table, weight: int) -> np.ndarray:
    """Bytes of the longest reply that each of the n turns may have to cite."""
    asks = pc.fill_null(turns["user_asked_recall"], False)
    names_somebody = pc.greater(pc.list_value_length(turns["named_entities"]), 0)
    # Not the replies themselves, which a filter copies.
    naming = _of_sessions(turns).filter(names_somebody)
    sources = pa.concat_tables([naming, _of_sessions(earlier)])
    if _filled(sources["length"]).max(initial=0) * pc.sum(asks.cast(pa.int64()), min_count=0).as_py() <= weight:
        return np.zeros(turns.num_rows, np.int64)
    longest = sources.group_by("session_id").aggregate([("length", "max")])
    place = pc.index_in(turns["session_id"], longest["session_id"].combine_chunks())
    found = pc.if_else(asks, longest["length_max"].combine_chunks().take(place), 0)
    return _filled(found)


def _of_sessions(rows: pa.Table) -> pa.Table:
    return pa.table({"session_id": rows["session_id"], "length": pc.binary_length(rows["reply_text"])})


def _lengths(texts: pa.ChunkedArray) -> np.ndarray:
    return _filled(pc.binary_length(texts))


def _filled(numbers: pa.ChunkedArray) -> np.ndarray:
    filled: np.ndarray = pc.fill_null(numbers, 0).to_numpy().astype(np.int64)
    return filled
