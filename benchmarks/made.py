"""Seeded logs that look real: Korean replies of 40 to 400 characters, sessions of 5 to 200 turns across days.

The rows stand in the order of their times, as a chat server writes them, so that sessions lie in one another, and turn
ids count upwards. Two in a hundred rows have each of `ODDITIES`.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from wh_judge.model import TURN_SCHEMA

ODD = 0.02
"""Share of the rows that has each oddity."""
ODDITIES = (
    "reply missing",
    "reply without Hangul",
    "reply in the other speech level",
    "reply that holds a lexicon term",
    "names missing",
    "name that the card does not have",
    "word for I missing",
    "other word for I",
    "honorific_level that is not the reply's",
    "user_asked_recall missing",
    "recall asked",
    "decomposed text",
    "character without a card",
    "blank turn_id",
)
CHARACTERS, MODELS, PROMPTS = 5_000, 5, 1_000
CHUNK = 100_000
"""Rows that are made at a time, and rows of a row group."""
FIRST_DAY = np.datetime64("2026-09-01T00:00:00", "us") - np.timedelta64(9, "h")
"""Midnight in Seoul."""
_DAY = 86_400_000_000
_SECOND = 1_000_000
_ROLES = ("동생", "스승", "친구")


@dataclass(frozen=True)
class Words:
    """What replies are put together of."""

    inner: pa.Array
    """Words of one to four syllables, common ones first."""
    casual: pa.Array
    """Last words of sentences in 반말."""
    polite: pa.Array
    """Last words of sentences in 존댓말."""
    names: list[str]


@cache
def words() -> Words:
    """The same words for every log."""
    chance = np.random.default_rng(2)
    syllables = [chr(code) for code in chance.choice(np.arange(0xAC00, 0xD7A4), 900, replace=False)]

    def some(count: int, shortest: int, longest: int) -> list[str]:
        found: dict[str, None] = {}
        while len(found) < count:
            found["".join(chance.choice(syllables, chance.integers(shortest, longest + 1)))] = None
        return list(found)

    stems = some(400, 1, 3)
    return Words(
        inner=pa.array(some(20_000, 1, 4)),
        casual=pa.array([stem + ["다.", "어.", "지.", "네!"][place % 4] for place, stem in enumerate(stems)]),
        polite=pa.array([stem + ["요.", "죠.", "니다.", "요?"][place % 4] for place, stem in enumerate(stems)]),
        names=some(3_000, 2, 4),
    )


def lexicon_terms(count: int) -> list[str]:
    """Terms of five to seven syllables, which hardly any reply holds by accident."""
    chance = np.random.default_rng(7)
    found: dict[str, None] = {}
    while len(found) < count:
        for length in (5, 6, 7):
            codes = chance.integers(0xAC00, 0xD7A4, (1_000, length))
            found.update(dict.fromkeys("".join(map(chr, row)) for row in codes))
    return list(found)[:count]


@cache
def cards() -> tuple[dict[str, Any], ...]:
    """5,000 cards of 8 to 40 names."""
    chance = np.random.default_rng(3)
    made: list[dict[str, Any]] = []
    for number in range(CHARACTERS):
        canon = [words().names[k] for k in chance.choice(len(words().names), chance.integers(8, 41), replace=False)]
        made.append(
            {
                "character_id": f"CHR-{number:04}",
                "name": canon[0],
                "public": bool(chance.random() < 0.5),
                "honorific_rule": "반말" if number % 2 else "존댓말",
                "first_person": "나" if number % 2 else "저",
                "canon_entities": canon,
                "forbidden_topics": [f"소재 {topic}" for topic in chance.choice(20, 4, replace=False)],
                "entity_roles": [{"role": role, "entity": canon[k]} for k, role in enumerate(_ROLES)],
            }
        )
    return tuple(made)


def write_cards(path: Path, new_name: str | None = None) -> None:
    """The cards as JSON; the first may have one name more."""
    first, *others = cards()
    if new_name is not None:
        first = first | {"canon_entities": [*first["canon_entities"], new_name]}
    path.write_text(json.dumps([first, *others], ensure_ascii=False), encoding="utf-8")


def write_lexicon(path: Path, terms: int) -> None:
    """A lexicon of 20 topics, as CSV. The first thousand terms are the same in a lexicon of any size."""
    rows = (f"{term},소재 {place % 20}\n" for place, term in enumerate(lexicon_terms(terms)))
    path.write_text("term,topic\n" + "".join(rows), encoding="utf-8")


def write_log(path: Path, turns: int, days: int) -> None:
    """A log as one Parquet file."""
    with pq.ParquetWriter(path, TURN_SCHEMA, compression="zstd") as writer:
        for chunk in chunks(turns, days):
            writer.write_table(chunk)


def write_days(folder: Path, turns: int, days: int) -> None:
    """A log as one Parquet file a day, of about equal numbers of turns."""
    folder.mkdir(parents=True)
    parts: dict[str, list[pa.Table]] = {}
    for chunk in chunks(turns, days):
        local = pc.local_timestamp(chunk["turn_at"].cast(pa.timestamp("us", "Asia/Seoul")))
        day = local.cast(pa.date32(), safe=False)
        for value in pc.unique(day):
            parts.setdefault(str(value), []).append(chunk.filter(pc.equal(day, value)))
    for name, tables in parts.items():
        pq.write_table(pa.concat_tables(tables), folder / f"{name}.parquet", compression="zstd", row_group_size=CHUNK)


def chunks(turns: int, days: int) -> Iterator[pa.Table]:
    """The rows of a log in TURN_SCHEMA, at most `CHUNK` at a time."""
    chance = np.random.default_rng(1)
    session, moment = _sessions(chance, turns, days)
    for first in range(0, turns, CHUNK):
        part = slice(first, first + CHUNK)
        yield _rows(chance, first, session[part], moment[part])


def _sessions(chance: np.random.Generator, turns: int, days: int) -> tuple[np.ndarray, np.ndarray]:
    """Of every turn its session and its moment, in the order of the moments. Four turns in a hundred come a day later
    than the one before; what would leave the days comes on the first of them."""
    lengths = np.clip(chance.lognormal(3.2, 0.8, turns // 5 + 1), 5, 200).astype(np.int64)
    lengths = lengths[: int(np.searchsorted(np.cumsum(lengths), turns)) + 1]
    session = np.repeat(np.arange(len(lengths)), lengths)[:turns]
    begins = np.repeat(np.cumsum(lengths) - lengths, lengths)[:turns]
    later = np.cumsum(np.where(chance.random(turns) < 0.04, _DAY, chance.integers(20, 240, turns) * _SECOND))
    start = np.repeat(chance.integers(0, days * _DAY, len(lengths)), lengths)[:turns]
    moment = (start + later - later[begins]) % (days * _DAY)
    order = np.argsort(moment, kind="stable")
    return session[order], FIRST_DAY + moment[order].astype("timedelta64[us]")


@cache
def _canon() -> tuple[pa.Array, np.ndarray, np.ndarray]:
    """All names of all cards end to end, where those of each begin, and how many they are."""
    lengths = np.array([len(card["canon_entities"]) for card in cards()])
    names = pa.array([name for card in cards() for name in card["canon_entities"]])
    return names, np.cumsum(lengths) - lengths, lengths


def _rows(chance: np.random.Generator, first: int, session: np.ndarray, moment: np.ndarray) -> pa.Table:
    count = len(session)
    odd = {name: chance.random(count) < ODD for name in ODDITIES}
    character = session * 7919 % CHARACTERS
    polite = (character % 2 == 0) != odd["reply in the other speech level"]
    numbers = pa.array(np.arange(first, first + count)).cast(pa.string())
    names, name_lists = _names(chance, character, odd)
    reply = _replies(chance, polite, names, odd)
    person = np.where(character % 2 == 1, "나", "저")
    level = np.where(polite, "존댓말", "반말")
    asked = odd["recall asked"]
    role = np.array(_ROLES)[chance.integers(0, 3, count)]
    question = pa.array(np.char.add("내 ", np.char.add(role, " 이름 기억나?")))
    message = _if(asked, question, _sentences(chance, chance.integers(3, 15, count), np.zeros(count, dtype=bool)))
    columns = {
        "turn_id": _if(odd["blank turn_id"], pa.scalar(" "), pc.binary_join_element_wise("T-", numbers, "")),
        "session_id": _numbered("S-", session),
        "character_id": _if(odd["character without a card"], pa.scalar("CHR-none"), _numbered("CHR-", character, 4)),
        "model_id": _numbered("model-", chance.integers(0, MODELS, count)),
        "prompt_id": _if(
            chance.random(count) < 0.99,
            pa.scalar(None, pa.string()),
            _numbered("P-", chance.integers(0, PROMPTS, count)),
        ),
        "turn_at": pa.array(moment).cast(pa.timestamp("us", "UTC")),
        "user_message": message,
        "reply_text": reply,
        "named_entities": name_lists,
        "first_person": _if(
            odd["word for I missing"],
            pa.scalar(None, pa.string()),
            _if(odd["other word for I"], pa.scalar("본인"), pa.array(person)),
        ),
        "honorific_level": _if(odd["honorific_level that is not the reply's"], pa.scalar("해요체"), pa.array(level)),
        "user_asked_recall": _if(odd["user_asked_recall missing"], pa.scalar(None, pa.bool_()), pa.array(asked)),
    }
    return pa.table([columns[name] for name in TURN_SCHEMA.names], schema=TURN_SCHEMA)


def _if(mask: np.ndarray, value: Any, other: pa.Array) -> pa.Array:
    return pc.if_else(pa.array(mask), value, other)


def _numbered(prefix: str, numbers: np.ndarray, width: int = 0) -> pa.Array:
    texts = pa.array(numbers).cast(pa.string())
    return pc.binary_join_element_wise(prefix, pc.utf8_lpad(texts, width, "0") if width else texts, "")


def _names(chance: np.random.Generator, character: np.ndarray, odd: dict[str, np.ndarray]) -> tuple[pa.Array, pa.Array]:
    """One name of the card for each row, to be put into the reply, and the lists of names: none to two."""
    all_names, starts, lengths = _canon()
    count = len(character)
    # The first three names, whom the roles stand for, are named most.
    picked = starts[character] + (chance.random((2, count)) ** 2 * lengths[character]).astype(np.int64)
    sizes = np.where(odd["name that the card does not have"], 2, chance.choice(3, count, p=[0.5, 0.35, 0.15]))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    flat = np.empty(offsets[-1], dtype=np.int64)
    flat[offsets[:-1][sizes > 0]] = picked[0][sizes > 0]
    flat[offsets[:-1][sizes > 1] + 1] = picked[1][sizes > 1]
    values = all_names.take(pa.array(flat))
    strange = np.zeros(len(flat), dtype=bool)
    strange[offsets[:-1][odd["name that the card does not have"]] + 1] = True
    values = _if(strange, pa.scalar("리안델"), values)
    lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, mask=pa.array(odd["names missing"]))
    return _if(sizes == 0, pa.scalar(None, pa.string()), all_names.take(pa.array(picked[0]))), lists


def _replies(chance: np.random.Generator, polite: np.ndarray, names: pa.Array, odd: dict[str, np.ndarray]) -> pa.Array:
    """Sentences of seven words, a name before the first: 40 to 400 characters."""
    count = len(polite)
    sizes = np.clip(chance.lognormal(3.6, 0.5, count), 12, 100).astype(np.int64)
    reply = pc.binary_join_element_wise(names, _sentences(chance, sizes, polite), " ", null_handling="skip")
    terms = pa.array(lexicon_terms(1_000)).take(pa.array(chance.integers(0, 1_000, count)))
    reply = _if(odd["reply that holds a lexicon term"], pc.binary_join_element_wise(terms, reply, " "), reply)
    reply = _if(odd["decomposed text"], pc.utf8_normalize(reply, "NFD"), reply)
    reply = _if(odd["reply without Hangul"], pa.scalar("... :)"), reply)
    return _if(odd["reply missing"], pa.scalar(None, pa.string()), reply)


def _sentences(chance: np.random.Generator, sizes: np.ndarray, polite: np.ndarray) -> pa.Array:
    """Texts of `sizes` words, a sentence for seven of them."""
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    total = int(offsets[-1])
    pool = pa.concat_arrays([words().inner, words().casual, words().polite])
    inner, endings = len(words().inner), len(words().casual)
    picked = (inner * chance.random(total) ** 2).astype(np.int64)
    row = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(total) - offsets[row]
    ends = (place % 7 == 6) | (place == sizes[row] - 1)
    picked[ends] = inner + chance.integers(0, endings, int(ends.sum())) + endings * polite[row[ends]]
    lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pool.take(pa.array(picked)))
    return pc.binary_join(lists, " ")
