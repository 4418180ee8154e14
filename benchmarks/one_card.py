"""How long it takes to judge again after one card of 5,000 was edited, beside judging everything.

    python -m benchmarks.one_card OUT [DAYS] [TURNS_PER_DAY]

Writes a JSON document: the seconds that judging all took, and of each of three edits the seconds and the verdicts.
"""

import datetime as dt
import json
import random
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from wh_judge.day import judge_day
from wh_judge.inputs import TABLES
from wh_judge.settings import Settings, load_settings
from wh_judge.store import open_warehouse
from wh_judge.store.log_files import ingest_log
from wh_judge.store.stale import find_stale
from wh_judge.store.tables import replace_table

CHARACTERS = 5_000
WORDS = [
    "오늘",
    "검을",
    "잡아",
    "그래",
    "생각해요",
    "좋겠다",
    "하늘이",
    "북문",
    "달리기",
    "아침",
    "밤",
    "나는",
    "합니다",
    "아마",
]


def card(number: int, *names: str) -> dict[str, object]:
    """A card whose world has two names and those given."""
    return {
        "character_id": f"C-{number}",
        "name": f"인물 {number}",
        "public": False,
        "honorific_rule": "반말",
        "first_person": "나",
        "canon_entities": ["하늘", "북문", *names],
        "forbidden_topics": ["현실 정치"],
        "entity_roles": [{"role": "동생", "entity": "하늘"}],
    }


def write_inputs(folder: Path, days: int, turns: int) -> None:
    """Sessions of twenty turns, Parquet by day, seeded."""
    chance = random.Random(5)
    replies = [" ".join(chance.choices(WORDS, k=chance.randint(6, 40))) + "." for _ in range(5_000)]
    (folder / "turns").mkdir(parents=True)
    for day in range(days):
        at = dt.datetime(2026, 9, 1, 3, tzinfo=dt.UTC) + dt.timedelta(days=day)
        numbers = range(day * turns, (day + 1) * turns)
        table = pa.table(
            {
                "turn_id": [f"T-{n}" for n in numbers],
                "session_id": [f"S-{n // 20}" for n in numbers],
                "character_id": [f"C-{n // 20 % CHARACTERS}" for n in numbers],
                "model_id": [f"M-{n % 3}" for n in numbers],
                "turn_at": pa.array([at] * turns, pa.timestamp("us", "UTC")),
                "user_message": ["내 동생 이름 기억나?" if n % 20 == 19 else "뭐 해?" for n in numbers],
                "reply_text": [replies[n % len(replies)] for n in numbers],
                "named_entities": [["하늘"] if n % 7 == 0 else ["리안"] if n % 11 == 0 else [] for n in numbers],
                "first_person": ["나"] * turns,
                "honorific_level": ["반말"] * turns,
                "user_asked_recall": [n % 20 == 19 for n in numbers],
            }
        )
        pq.write_table(table, folder / "turns" / f"{at:%Y-%m-%d}.parquet")
    (folder / "lexicon.csv").write_text("term,topic\n선거,현실 정치\n국회,현실 정치\n", encoding="utf-8")


def write_cards(folder: Path, *edited: str) -> None:
    """All cards; the first has the names given besides."""
    cards = [card(0, *edited), *(card(number) for number in range(1, CHARACTERS))]
    (folder / "cards.json").write_text(json.dumps(cards, ensure_ascii=False), encoding="utf-8")


def judge_stale(connection: duckdb.DuckDBPyConnection, settings: Settings, run_id: str) -> tuple[int, int, float]:
    """Days and verdicts that were written, and seconds, reading the cards included."""
    begun = time.perf_counter()
    replace_table(connection, TABLES["character_card"], settings.inputs / "cards.json")
    stale = [entry.day for entry in find_stale(connection, settings.rules)]
    written = sum(judge_day(connection, day, settings, lambda _read_all: True, run_id).written for day in stale)
    return len(stale), written, time.perf_counter() - begun


def main(out: Path, days: int = 30, turns: int = 100_000) -> None:
    """Judge all, then edit one card three times."""
    with tempfile.TemporaryDirectory() as name:
        settings = load_settings(data=str(Path(name) / "data"), inputs=str(Path(name) / "in"))
        write_inputs(settings.inputs, days, turns)
        write_cards(settings.inputs)
        with open_warehouse(settings.warehouse) as connection:
            replace_table(connection, TABLES["topic_lexicon"], settings.inputs / "lexicon.csv")
            ingest_log(connection, settings.inputs / "turns")
            _, written, all_of_them = judge_stale(connection, settings, "all")
            edits = []
            for edit in ("리안", "마루", "아라"):
                write_cards(settings.inputs, edit)
                stale, verdicts, seconds = judge_stale(connection, settings, edit)
                edits.append({"days": stale, "verdicts": verdicts, "seconds": seconds})
    found = {"days": days, "turns": turns, "judging_all": all_of_them, "verdicts": written, "edits": edits}
    out.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
