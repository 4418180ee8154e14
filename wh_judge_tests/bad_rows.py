"""Every kind of cell that makes a row unusable, with the reason by type of file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wh_judge.inputs import TableName
from wh_judge_tests.input_files import SUFFIXES

GONE = object()
"""The cell is not there at all."""

JSON = (".jsonl", ".json")


@dataclass(frozen=True)
class Bad:
    """A cell that makes a row unusable."""

    table: TableName
    column: str
    value: Any
    reason: str
    others: Mapping[str, str]
    """The reason in types of files where it is another, by suffix."""
    suffixes: tuple[str, ...]
    """The types of files that can hold such a cell beside sound ones."""

    def __str__(self) -> str:
        return f"{self.table}-{self.column}-{'gone' if self.value is GONE else repr(self.value)[:24]}"


def bad(table: TableName, column: str, value: Any, clause: str, *only: str, **others: str) -> Bad:
    by_suffix = {f".{suffix}": f"{column}{other}" for suffix, other in others.items()}
    return Bad(table, column, value, f"{column}{clause}", by_suffix, only or SUFFIXES)


KEY_COLUMNS: list[tuple[TableName, str]] = [
    ("chat_turn", "turn_id"),
    ("chat_turn", "session_id"),
    ("chat_turn", "character_id"),
    ("chat_turn", "model_id"),
    ("character_card", "character_id"),
    ("character_card", "name"),
    ("topic_lexicon", "term"),
    ("topic_lexicon", "topic"),
    ("gold_label", "turn_id"),
]
KEYS = [
    case
    for table, column in KEY_COLUMNS
    for case in (
        bad(table, column, GONE, " is missing", csv=" is null", parquet=" is null"),
        bad(table, column, None, " is null"),
        bad(table, column, "", " is empty ('')", csv=" is null"),
        bad(table, column, " \t", r" is blank (' \t')"),
        bad(table, column, "\u3000\xa0", r" is blank ('\u3000\xa0')"),
        bad(table, column, 7, " is no text ('7')", *JSON),
        bad(table, column, 10**30, f" is no text ('{10**30}')", *JSON),
        bad(table, column, True, " is no text ('True')", *JSON),
        bad(table, column, ["a"], """ is no text ("['a']")""", *JSON),
        bad(table, column, {"a": 1}, """ is no text ("{'a': 1}")""", *JSON),
    )
]

NO_DATE = " is no ISO 8601 date and time, such as 2026-09-01T20:01:00+09:00"
NO_OFFSET = " has no offset; write it out, such as +09:00"
OUTSIDE = " lies outside the years 2000 to 2099"
DATES = [
    *(
        bad("chat_turn", "turn_at", value, f"{clause} ({value!r})")
        for value, clause in (
            ("어제", NO_DATE),
            ("2026-13-01T00:00:00+09:00", NO_DATE),
            ("2026-02-29T00:00:00+09:00", NO_DATE),
            ("2026-09-01T25:00:00+09:00", NO_DATE),
            ("2026-09-01T20:01:60+09:00", NO_DATE),
            ("2026-09-01T20:01:00 KST", NO_DATE),
            ("09/01/2026", NO_DATE),
            ("1788260460", NO_DATE),
            ("2026-09-01", NO_OFFSET),
            ("2026-09-01T20:01:00", NO_OFFSET),
            ("1999-12-31T23:59:59+09:00", OUTSIDE),
            ("2100-01-01T00:00:00+09:00", OUTSIDE),
            ("0001-01-01T00:00:00+09:00", OUTSIDE),
        )
    ),
    bad("chat_turn", "turn_at", GONE, " is missing", csv=" is null", parquet=" is null"),
    bad("chat_turn", "turn_at", None, " is null"),
    bad("chat_turn", "turn_at", "", f"{NO_DATE} ('')", csv=" is null"),
    bad("chat_turn", "turn_at", 1788260460, " is no date and time ('1788260460')", *JSON),
]

LIST_COLUMNS: list[tuple[TableName, str]] = [
    ("chat_turn", "named_entities"),
    ("character_card", "canon_entities"),
    ("character_card", "forbidden_topics"),
]
NO_LIST = " holds no JSON list: expecting value at character 1"
LISTS = [
    *(
        case
        for table, column in LIST_COLUMNS
        for case in (
            bad(table, column, "하늘", " is no list ('하늘')", *JSON, ".csv", csv=NO_LIST),
            bad(table, column, '["하늘"]', """ is no list ('["하늘"]')""", *JSON),
            bad(table, column, {"하늘": 1}, """ is no list ("{'하늘': 1}")""", *JSON, ".csv"),
            bad(table, column, ["하늘", ""], "[1] is empty ('')"),
            bad(table, column, ["하늘", "\u3000"], r"[1] is blank ('\u3000')"),
            bad(table, column, ["하늘", None], "[1] is null"),
            bad(table, column, ["하늘", 3], "[1] is no text ('3')", *JSON, ".csv"),
            bad(table, column, [["하늘"]], """[0] is no text ("['하늘']")""", *JSON, ".csv"),
        )
    ),
    bad("character_card", "canon_entities", None, " is null"),
    bad("character_card", "forbidden_topics", None, " is null"),
]
ROLES = [
    bad("character_card", "entity_roles", value, clause, *only)
    for value, clause, *only in (
        (None, " is null"),
        ([{"role": "", "entity": "하늘"}], "[0].role is empty ('')"),
        ([{"role": "동생", "entity": "하늘"}, {"role": " ", "entity": "하늘"}], "[1].role is blank (' ')"),
        ([{"role": "동생", "entity": ""}], "[0].entity is empty ('')"),
        ([{"role": None, "entity": "하늘"}], "[0].role is null"),
        ([{"entity": "하늘"}], "[0].role is missing", *JSON, ".csv"),
        (["동생"], "[0] is no object ('동생')", *JSON, ".csv"),
        ([None], "[0] is null"),
        ({"동생": "하늘"}, """ is no list ("{'동생': '하늘'}")""", *JSON, ".csv"),
    )
]

VERDICTS = "'설정대로 말함', '말투 어긋남', '세계관 밖 고유명사', '금지 소재 접촉' or '앞 회차를 기억 못 함'"
OTHERS = [
    bad("chat_turn", "user_asked_recall", "네", " is neither true nor false ('네')", *JSON, ".csv"),
    bad("chat_turn", "user_asked_recall", "true", " is neither true nor false ('true')", *JSON),
    bad("chat_turn", "user_asked_recall", 1, " is neither true nor false ('1')", *JSON),
    bad("chat_turn", "reply_text", ["응"], """ is no text ("['응']")""", *JSON),
    bad("chat_turn", "user_message", 1.5, " is no text ('1.5')", *JSON),
    bad("chat_turn", "prompt_id", 3, " is no text ('3')", *JSON),
    bad("character_card", "public", None, " is null"),
    bad("character_card", "public", "yes", " is neither true nor false ('yes')", *JSON, ".csv"),
    bad("character_card", "honorific_rule", "존대", " is not '반말' or '존댓말' ('존대')"),
    bad("character_card", "honorific_rule", "", " is not '반말' or '존댓말' ('')", *JSON, ".parquet"),
    bad("character_card", "first_person", 1, " is no text ('1')", *JSON),
    bad("gold_label", "verdict", None, " is null"),
    bad("gold_label", "verdict", "괜찮음", f" is not {VERDICTS} ('괜찮음')"),
    bad("gold_label", "note", 3, " is no text ('3')", *JSON),
]

BAD_ROWS = [*KEYS, *DATES, *LISTS, *ROLES, *OTHERS]
