"""The same work as one would write it with pandas: python -m benchmarks.pandas_judge IN OUT.

Straightforward: a merge for the cards, `str` methods where there are such, `apply` where there are none.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pandas as pd

POLITE = re.compile(r"(?:요|죠|니다|십시오)\s*(?:[.?!．？！。]|$)")


def touched(row: Any, topics: dict[str, list[tuple[int, str]]], terms: list[str]) -> tuple[str | None, str | None]:
    """The term and the topic that the reply touches."""
    reply = row.reply_text if isinstance(row.reply_text, str) else ""
    hits = sorted((place, term, topic) for term in terms if term in reply for place, topic in topics[term])
    for _, term, topic in hits:
        if topic in row.forbidden_topics:
            return term, topic
    return (hits[0][1], None) if hits else (None, None)


def forgotten(row: Any, mentions: dict[tuple[str, str], tuple[tuple[int, str], str]]) -> tuple[str | None, str | None]:
    """Whom the reply forgot, and the turn that named them."""
    if row.user_asked_recall is not True or not isinstance(row.user_message, str) or not row.has_reply:
        return None, None
    for role in row.entity_roles:
        first = mentions.get((row.session_id, role["entity"]))
        if role["role"] in row.user_message and first and first[0] < row.order and role["entity"] not in row.reply_text:
            return role["entity"], first[1]
    return None, None


def verdict(row: Any) -> str:
    """The first rule that holds."""
    if row.touched_topic is not None:
        return "금지 소재 접촉"
    if row.off_canon_entities:
        return "세계관 밖 고유명사"
    level = isinstance(row.level, str) and row.level != row.honorific_rule
    person = isinstance(row.first_person, str) and row.first_person != row.card_person
    if level or person:
        return "말투 어긋남"
    return "앞 회차를 기억 못 함" if row.recall_target is not None else "설정대로 말함"


def evidence(row: Any) -> list[dict[str, Any]]:
    """The cells that decided."""
    cells = [("chat_turn", "reply_text", row.reply_text)]
    if row.verdict == "금지 소재 접촉":
        cells += [("topic_lexicon", "term", row.touched_term), ("topic_lexicon", "topic", row.touched_topic)]
        cells += [("character_card", "forbidden_topics", row.touched_topic)]
    elif row.verdict == "세계관 밖 고유명사":
        cells += [("chat_turn", "named_entities", name) for name in row.off_canon_entities]
        cells += [("character_card", "canon_entities", row.canon_entities[0]), ("chat_turn", "turn_id", row.turn_id)]
    elif row.verdict == "앞 회차를 기억 못 함":
        cells += [("chat_turn", "user_message", row.user_message), ("chat_turn", "turn_id", row.recall_source_turn)]
    else:
        cells += [("character_card", "honorific_rule", row.honorific_rule)]
        cells += [("chat_turn", "first_person", row.first_person), ("character_card", "first_person", row.card_person)]
    return [{"source": source, "field": field, "value": value} for source, field, value in cells]


def main(folder: Path, out: Path) -> None:
    """Judge the log of the folder."""
    turns = pd.read_parquet(folder / "turns.parquet")
    turns = turns[turns.turn_id.str.strip() != ""].drop_duplicates("turn_id")
    for column in ("turn_id", "reply_text", "user_message"):
        turns[column] = turns[column].map(lambda text: normalize("NFC", text), na_action="ignore")
    turns["order"] = turns.turn_id.map(lambda key: (len(key), key))
    turns = turns.sort_values("order")
    cards = pd.DataFrame(json.loads((folder / "cards.json").read_text("utf-8")))
    lexicon = pd.read_csv(folder / "lexicon.csv")
    topics: dict[str, list[tuple[int, str]]] = {}
    for place, term, topic in lexicon.itertuples():
        topics.setdefault(term, []).append((place, topic))
    mentions: dict[tuple[str, str], tuple[tuple[int, str], str]] = {}
    named = turns[["session_id", "turn_id", "order", "named_entities"]].explode("named_entities").dropna()
    for session, turn_id, order, name in named.itertuples(index=False):
        mentions.setdefault((session, name), (order, turn_id))
    rows = turns.merge(cards.rename(columns={"first_person": "card_person"}), on="character_id")
    has_hangul = rows.reply_text.str.contains("[가-힣]", na=False)
    rows["has_reply"] = rows.reply_text.str.strip().fillna("") != ""
    rows["level"] = (
        rows.reply_text.str.contains(POLITE, na=False).map({True: "존댓말", False: "반말"}).where(has_hangul)
    )
    rows["off_canon_entities"] = [
        None if names is None else [name for name in dict.fromkeys(names) if name not in canon]
        for names, canon in zip(rows.named_entities, rows.canon_entities, strict=True)
    ]
    terms = list(topics)
    found = rows.apply(touched, axis=1, result_type="expand", topics=topics, terms=terms)
    rows["touched_term"], rows["touched_topic"] = found[0], found[1]
    found = rows.apply(forgotten, axis=1, result_type="expand", mentions=mentions)
    rows["recall_target"], rows["recall_source_turn"] = found[0], found[1]
    rows = rows.astype({"touched_topic": object, "recall_target": object, "first_person": object})
    rows = rows.where(rows.notna(), None)
    rows["verdict"] = rows.apply(verdict, axis=1)
    rows["evidence"] = rows.apply(evidence, axis=1)
    columns = ["turn_id", "session_id", "character_id", "model_id", "verdict", "level", "off_canon_entities"]
    columns += ["touched_term", "touched_topic", "recall_target", "recall_source_turn", "evidence"]
    rows[columns].to_parquet(out, compression="zstd")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
