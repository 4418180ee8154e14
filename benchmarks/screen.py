"""How fast the screen is over a million verdicts, while ten readers read.

    python benchmarks/screen.py [TURNS] [READERS] [REQUESTS] [PAUSE_SECONDS] [FOLDER]

Judges a made-up log, publishes it, serves it as `wh-judge screen` does, and reads: each reader opens a page, pauses and
opens another, from a mix of pages. Prints milliseconds by kind of page, the server's CPU time for a page, and the most
memory that it took. With FOLDER the snapshot is kept there and taken again by the next call.
"""

import argparse
import datetime as dt
import http.client
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import duckdb
import pyarrow as pa

from wh_judge.evaluation.divergence import measure_divergence
from wh_judge.judge import judge
from wh_judge.model import CARD_SCHEMA, LEXICON_SCHEMA, TURN_SCHEMA, VERDICTS
from wh_judge.store import evaluations, open_warehouse
from wh_judge.store.evaluations import read_prompted
from wh_judge.store.snapshot import CURRENT, publish
from wh_judge.validations import VALIDATIONS

CHARACTERS, DAYS, SESSION, MODELS, TERMS, RUNS = 2_000, 100, 20, 3, 2_000, 20
FIRST = dt.datetime(2026, 6, 1, 3, tzinfo=dt.UTC)
SYLLABLES = [chr(code) for code in range(0xAC00, 0xD7A4, 37)]
ENDINGS = ("다", "어", "지", "네", "요", "죠", "습니다")


def words(chance: random.Random, count: int) -> list[str]:
    """Made-up words of two to four syllables."""
    return ["".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))) for _ in range(count)]


def text(chance: random.Random, vocabulary: list[str], sentences: int) -> str:
    """Sentences of three to nine words."""
    return " ".join(
        f"{' '.join(chance.choices(vocabulary, k=chance.randint(3, 9)))}{chance.choice(ENDINGS)}."
        for _ in range(sentences)
    )


def make_turns(chance: random.Random, vocabulary: list[str], first: int, count: int, day: int) -> pa.Table:
    """A day's turns in TURN_SCHEMA: sessions of twenty, every second prompt put to three models."""
    numbers = range(first, first + count)
    replies = [text(chance, vocabulary, chance.randint(1, 4)) for _ in numbers]
    asks = [chance.random() < 0.05 for _ in numbers]
    columns = {
        "turn_id": [f"T-{n}" for n in numbers],
        "session_id": [f"S-{n // SESSION}" for n in numbers],
        "character_id": [f"CHR-{n // SESSION % CHARACTERS}" for n in numbers],
        "model_id": [f"model-{n % MODELS}" for n in numbers],
        "prompt_id": [f"P-{n // (2 * MODELS)}" if n % (2 * MODELS) < MODELS else None for n in numbers],
        "turn_at": [FIRST + dt.timedelta(days=day, seconds=n - first) for n in numbers],
        "user_message": ["내 동생 이름 기억나?" if ask else text(chance, vocabulary, 1) for ask in asks],
        "reply_text": [reply if chance.random() > 0.01 else None for reply in replies],
        "named_entities": [
            None if chance.random() < 0.02 else ["하늘"] if chance.random() < 0.2 else
            ["리안"] if chance.random() < 0.05 else [] for _ in numbers
        ],
        "first_person": [chance.choice(["나", "나", "나", "저", None]) for _ in numbers],
        "honorific_level": ["반말"] * count,
        "user_asked_recall": asks,
    }  # fmt: skip
    return pa.table([pa.array(columns[field.name], field.type) for field in TURN_SCHEMA], schema=TURN_SCHEMA)


def make_cards() -> pa.Table:
    """All cards, the first one public; each forbids one topic."""
    return pa.Table.from_pylist(
        [
            {
                "character_id": f"CHR-{number}",
                "name": f"인물 {number}",
                "public": number == 0,
                "honorific_rule": ["반말", "존댓말"][number % 2],
                "first_person": ["나", "저"][number % 2],
                "canon_entities": ["하늘", "북문"],
                "forbidden_topics": [f"소재 {number % 10}"],
                "entity_roles": [{"role": "동생", "entity": "하늘"}],
            }
            for number in range(CHARACTERS)
        ],
        CARD_SCHEMA,
    )


def publish_log(folder: Path, turns: int) -> None:
    """A snapshot of so many judged turns, a twentieth of which changed in later runs."""
    chance = random.Random(7)
    vocabulary = words(chance, 20_000)
    cards = make_cards()
    terms = [{"term": term, "topic": f"소재 {n % 40}"} for n, term in enumerate(words(chance, TERMS))]
    lexicon = pa.Table.from_pylist(terms, LEXICON_SCHEMA)
    per_day = -(-turns // DAYS)
    # What an earlier call that did not come to its end left there would be judged twice.
    (folder / "warehouse.duckdb").unlink(missing_ok=True)
    with open_warehouse(folder / "warehouse.duckdb") as connection:
        connection.register("card", cards)
        connection.register("lexicon", lexicon)
        connection.execute("INSERT INTO character_card BY NAME SELECT *, md5(character_id) AS version FROM card")
        connection.execute("INSERT INTO topic_lexicon BY NAME SELECT *, row_number() OVER () AS position FROM lexicon")
        for day in range(DAYS):
            table = make_turns(chance, vocabulary, day * per_day, per_day, day)
            judgement = judge(table, cards, lexicon)
            connection.register("new_turn", table)
            connection.register("new_verdict", judgement.verdicts)
            date = (FIRST + dt.timedelta(days=day)).date()
            connection.execute(_WRITE.format(date=date, run=f"run-{day}"))
        _write_changes(connection)
        _write_results(connection)
        evaluations.keep(connection, "model_divergence", measure_divergence(*read_prompted(connection)), "run-99")
        publish(connection, folder / "published", keep=1)


_WRITE = """
INSERT INTO turn_row BY NAME SELECT *, DATE '{date}' AS day, 'log' AS file, 1 AS line, 1 AS arrival,
    true AS is_current, md5(turn_id) AS row_hash FROM new_turn;
INSERT INTO verdict_row BY NAME SELECT *, DATE '{date}' AS day, md5(turn_id) AS turn_version,
    md5(character_id) AS card_version, 'endings=요,죠,니다,십시오' AS settings_version, 'code' AS code_version,
    [] AS lexicon_rows, [] AS mentions, md5(turn_id) AS row_hash, '{run}' AS run_id,
    TIMESTAMPTZ '{date} 20:00:00+00' AS written_at FROM new_verdict;
"""


def _write_changes(connection: duckdb.DuckDBPyConnection) -> None:
    """Every twentieth verdict was another one before, until one of the last runs."""
    connection.execute(
        f"""CREATE TEMP TABLE old AS SELECT *, 'run-' || ({DAYS - RUNS} + hash(turn_id) % {RUNS})::VARCHAR AS until_run,
                TIMESTAMPTZ '2026-09-09 00:00:00+00' + INTERVAL 1 MINUTE * (hash(turn_id) % {RUNS})::BIGINT AS until_at
            FROM verdict_row WHERE hash(turn_id || 'x') % 20 = 0;
            INSERT INTO verdict_closed BY NAME SELECT * FROM old;
            INSERT INTO verdict_change BY NAME SELECT day, turn_id, until_run AS run_id, until_at AS changed_at,
                '설정대로 말함' AS verdict_before, verdict AS verdict_after,
                to_json({{'verdict': '설정대로 말함', 'rule_expected': rule_expected}}) AS fields_before,
                to_json({{'verdict': verdict, 'rule_expected': 'x'}}) AS fields_after,
                ['card'] AS inputs, ['character_card ' || character_id || ' honorific_rule: 반말 -> 존댓말'] AS cells,
                [] AS decisions
            FROM old"""
    )


def _write_results(connection: duckdb.DuckDBPyConnection) -> None:
    for entry in VALIDATIONS:
        connection.execute(
            """INSERT INTO validation SELECT day, ?, count(*), count(*), 0, 0, max(run_id)
               FROM verdict_row GROUP BY day""",
            [entry.code],
        )


Address = Callable[[random.Random, int], str]


def _list(**given: str) -> str:
    return f"/verdicts?{urlencode(given)}"


def _day(chance: random.Random) -> str:
    return str((FIRST + dt.timedelta(days=chance.randrange(DAYS))).date())


PAGES: dict[str, tuple[int, Address]] = {
    "all groups": (20, lambda _c, _n: "/verdicts"),
    "a group, some page": (20, lambda c, n: _list(verdict=c.choice(VERDICTS), page=str(c.randint(1, n // 2_500)))),
    "a model": (5, lambda c, _n: _list(model=f"model-{c.randrange(MODELS)}")),
    "a character": (10, lambda c, _n: _list(character=f"CHR-{c.randrange(CHARACTERS)}")),
    "a day and a model": (5, lambda c, _n: _list(day=_day(c), model=f"model-{c.randrange(MODELS)}")),
    "skipped": (3, lambda c, _n: _list(skipped="names_null", verdict=c.choice(VERDICTS))),
    "changed since": (3, lambda c, _n: _list(since=f"run-{DAYS - c.randint(1, RUNS)}")),
    "text": (3, lambda c, _n: _list(q=c.choice(SYLLABLES) + c.choice(SYLLABLES))),
    "a turn": (14, lambda c, n: f"/turn?id=T-{c.randrange(n)}"),
    "a session": (8, lambda c, n: f"/session?id=S-{c.randrange(n // SESSION)}"),
    "a prompt": (2, lambda c, n: f"/prompt?id=P-{c.randrange(n // (2 * MODELS))}"),
    "changes": (3, lambda c, _n: f"/changes?page={c.randint(1, 20)}"),
    "validations": (2, lambda c, _n: f"/checks?code={c.choice(VALIDATIONS).code}"),
    "models": (1, lambda _c, _n: "/models"),
    "example": (1, lambda _c, _n: "/example"),
}
"""How often a page is opened, of a hundred, and its address."""


def read(port: int, turns: int, requests: int, pause: float, seed: int, found: dict[str, list[float]]) -> None:
    """One reader: opens pages and puts their milliseconds into `found`."""
    chance = random.Random(seed)
    kinds, weights = list(PAGES), [weight for weight, _ in PAGES.values()]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    for _ in range(requests):
        [kind] = chance.choices(kinds, weights)
        address = PAGES[kind][1](chance, turns)
        begun = time.perf_counter()
        connection.request("GET", address)
        answer = connection.getresponse()
        body = answer.read()
        found[kind].append(1000 * (time.perf_counter() - begun))
        # A page number beyond a group's last is a question too, and answered as a page.
        assert answer.status in (200, 404), (address, answer.status, body[:2000].decode())
        time.sleep(chance.uniform(0.5, 1.5) * pause)


def cpu_seconds(process: int) -> float:
    """CPU time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def most_memory(process: int) -> int:
    """Resident memory of a process at its most, in MiB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) // 1024


def main(turns: int = 1_000_000, readers: int = 10, requests: int = 100, pause: float = 1.0, folder: str = "") -> None:
    """Make what is to be read, where it is not there yet, and read it."""
    with tempfile.TemporaryDirectory() as name:
        data = Path(folder or name)
        if not (data / "published" / CURRENT).is_file():
            begun = time.perf_counter()
            publish_log(data, turns)
            print(f"judged and published {turns} turns in {time.perf_counter() - begun:.0f} s")
        command = [str(Path(sys.executable).with_name("wh-judge")), "screen", "--port", "0", "--data", str(data)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
            try:
                assert server.stderr is not None
                port = int(server.stderr.readline().strip().rstrip("/").rpartition(":")[2])
                found: dict[str, list[float]] = defaultdict(list)
                read(port, turns, 20, 0, 0, defaultdict(list))
                before, begun = cpu_seconds(server.pid), time.perf_counter()
                crowd = [
                    threading.Thread(target=read, args=(port, turns, requests, pause, 1 + n, found))
                    for n in range(readers)
                ]
                for reader in crowd:
                    reader.start()
                for reader in crowd:
                    reader.join()
                seconds = time.perf_counter() - begun
                _report(found, seconds, cpu_seconds(server.pid) - before, most_memory(server.pid))
            finally:
                server.terminate()


def _report(found: dict[str, list[float]], seconds: float, cpu: float, memory: int) -> None:
    everything = [one for ones in found.values() for one in ones]
    for kind, ones in [*((kind, found[kind]) for kind in PAGES if found[kind]), ("all pages", everything)]:
        ones = sorted(ones)
        print(f"{kind:20} {len(ones):5} pages  median {_share(ones, 0.5):7.1f} ms  95 % {_share(ones, 0.95):7.1f} ms")
    print(
        f"{len(everything) / seconds:.1f} pages a second, {1000 * cpu / len(everything):.1f} ms of CPU a page, "
        f"{memory} MiB at most, load {os.getloadavg()[0]:.1f}"
    )


def _share(ones: list[float], share: float) -> float:
    return ones[min(len(ones) - 1, int(share * len(ones)))]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Readers at the screen over a large log.")
    parser.add_argument("--turns", type=int, default=1_000_000)
    parser.add_argument("--readers", type=int, default=10)
    parser.add_argument("--requests", type=int, default=100, help="of each reader")
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between a reader's pages, on average")
    parser.add_argument("--folder", default="", help="where the log is kept for another time")
    main(**vars(parser.parse_args()))
