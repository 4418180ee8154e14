"""The same work turn by turn in plain Python, with the references of the rules: python -m benchmarks.plain IN OUT."""

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from wh_judge.ingest import read_table
from wh_judge.inputs import TABLES
from wh_judge.model import Verdict, cards_from, lexicon_from, turns_from, verdict_document
from wh_judge.rules import Case, Lexicon, first_mentions, judge_turn


def main(folder: Path, out: Path) -> None:
    """Judge the log of the folder."""
    rows = read_table(folder / "turns.parquet", TABLES["chat_turn"]).rows
    turns = sorted(turns_from(rows), key=lambda turn: (len(turn.turn_id), turn.turn_id))
    cards = cards_from(read_table(folder / "cards.json", TABLES["character_card"]).rows)
    by_id = {card.character_id: card for card in cards}
    lexicon = Lexicon(lexicon_from(read_table(folder / "lexicon.csv", TABLES["topic_lexicon"]).rows))
    mentions = first_mentions(turns)
    documents = []
    for turn in turns:
        if turn.character_id in by_id:
            verdict, _ = judge_turn(Case(turn, by_id[turn.character_id], lexicon, mentions))
            document = verdict_document(verdict)
            for row in document["evidence"]:
                row["value"] = None if row["value"] is None else str(row["value"])
            documents.append(document)
    pq.write_table(pa.Table.from_pylist(documents).select(list(Verdict.model_fields)), out, compression="zstd")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
