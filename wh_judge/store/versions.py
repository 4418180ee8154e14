"""Every version of every input is kept: cards, lexicon, settings and turns, each with a hash of its content."""

import datetime as dt

import duckdb

from wh_judge.inputs import InputTable
from wh_judge.model import CARD_SCHEMA, TURN_SCHEMA, CharacterCard, LexiconTerm, cards_from
from wh_judge.rules import RuleSettings
from wh_judge.store.schema import names, one

LEXICON_ROWS = "SELECT position, term, topic FROM topic_lexicon"


STAMPS = (
    *(("card_history", "valid_from"), ("lexicon_history", "valid_from"), ("settings_history", "valid_from")),
    *(("turn_history", "until_at"), ("verdict_row", "written_at"), ("verdict_closed", "until_at")),
    *(("verdict_change", "changed_at"), ("decision_effect", "applied_at"), ("draft_row", "written_at")),
    ("evaluation", "finished_at"),
)
"""The columns that hold when something was written."""


def clock() -> dt.datetime:
    """What the clock of this machine says."""
    return dt.datetime.now(dt.UTC)


def now(connection: duckdb.DuckDBPyConnection) -> dt.datetime:
    """The time to stamp with what is written now: the clock's, but later than all that was stamped before.

    A clock is set back, by hand or over the network; a version that began later than it ended would be held by nobody,
    and the newest card would not be the one that came last. The histories are compared with each other (a decision with
    the verdict before it, a card with the verdict by it), so that one order holds for all of them.
    """
    newest = " UNION ALL ".join(f"SELECT max({column}) AS stamp FROM {table}" for table, column in STAMPS)
    row = one(connection, f"SELECT max(stamp) FROM ({newest})")
    last: dt.datetime | None = row[0] if row else None
    return clock() if last is None else max(clock(), last.astimezone(dt.UTC) + dt.timedelta(microseconds=1))


def table_version(connection: duckdb.DuckDBPyConnection, relation: str, order: str) -> str:
    """Hash of the rows of a relation in the given order: equal exactly where the rows are."""
    sql = f"SELECT md5(coalesce(string_agg(md5(to_json(r)::VARCHAR), '' ORDER BY {order}), '')) FROM ({relation}) AS r"
    row = one(connection, sql)
    assert row is not None
    return str(row[0])


def rows_version(connection: duckdb.DuckDBPyConnection, relation: str) -> str:
    """Hash of the rows of a relation in any order, in half the time of `table_version`. None may be there twice: two of
    the same would count as none."""
    row = one(connection, f"SELECT count(*), bit_xor(md5_number(to_json(r)::VARCHAR)) FROM ({relation}) AS r")
    assert row is not None
    return f"{row[0]}-{row[1] or 0:032x}"


def lexicon_version(connection: duckdb.DuckDBPyConnection) -> str:
    """Hash of the lexicon as it stands."""
    return table_version(connection, LEXICON_ROWS, "position")


def settings_version(settings: RuleSettings) -> str:
    """The settings as text; few and short enough to be their own version."""
    return "endings=" + ",".join(settings.parts)


def settings_of(version: str) -> RuleSettings:
    """The settings that a version writes out; no ending holds a comma."""
    return RuleSettings.of_parts(version.removeprefix("endings=").split(","))


def keep_versions(connection: duckdb.DuckDBPyConnection, table: InputTable) -> None:
    """Keep what is new in cards or lexicon; called in the transaction that brings them in."""
    if table.name == "character_card":
        # A card that returns to an older version is valid from now on again, so only the newest version is compared.
        connection.execute(
            """INSERT INTO card_history BY NAME SELECT *, ? AS valid_from FROM character_card AS card
               WHERE version IS DISTINCT FROM (SELECT arg_max(version, valid_from) FROM card_history AS old
                                               WHERE old.character_id = card.character_id)""",
            [now(connection)],
        )
    if table.name == "topic_lexicon":
        version = lexicon_version(connection)
        if one(connection, "SELECT 1 FROM lexicon_history WHERE version = ? LIMIT 1", [version]) is None:
            connection.execute(
                f"INSERT INTO lexicon_history BY NAME SELECT ? AS version, *, ? AS valid_from FROM ({LEXICON_ROWS})",
                [version, now(connection)],
            )


def keep_settings(connection: duckdb.DuckDBPyConnection, settings: RuleSettings, moment: dt.datetime) -> None:
    """Keep the settings that verdicts are judged with."""
    connection.execute(
        "INSERT OR IGNORE INTO settings_history VALUES (?, ?, ?)",
        [settings_version(settings), list(settings.parts), moment],
    )


def keep_replaced_turns(connection: duckdb.DuckDBPyConnection) -> None:
    """Keep the rows of `old_turn` whose content no current row has any more."""
    connection.execute(
        f"""INSERT INTO turn_history BY NAME
            SELECT {names(TURN_SCHEMA)}, day, row_hash, ? AS until_at
            FROM old_turn ANTI JOIN turn_row USING (turn_id, row_hash)""",
        [now(connection)],
    )


def cards_by_version(connection: duckdb.DuckDBPyConnection, versions: set[str]) -> dict[str, CharacterCard]:
    """Versions of cards by their hash."""
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE wanted AS SELECT unnest(?::VARCHAR[]) AS version", [list(versions)]
    )
    table = connection.sql(
        f"""SELECT version, {names(CARD_SCHEMA)} FROM card_history SEMI JOIN wanted USING (version)
            QUALIFY row_number() OVER (PARTITION BY version) = 1"""
    ).to_arrow_table()
    return dict(zip(table["version"].to_pylist(), cards_from(table.drop_columns("version")), strict=True))


def lexicon_by_version(connection: duckdb.DuckDBPyConnection, version: str) -> list[LexiconTerm]:
    """The rows of a version of the lexicon, in order."""
    rows = connection.execute(
        "SELECT term, topic FROM lexicon_history WHERE version = ? ORDER BY position", [version]
    ).fetchall()
    return [LexiconTerm.model_construct(term=term, topic=topic) for term, topic in rows]


def endings_by_version(connection: duckdb.DuckDBPyConnection) -> dict[str, tuple[str, ...]]:
    """The parts of every version of the settings: its endings, and whether what trails them is ignored."""
    rows = connection.execute("SELECT version, endings FROM settings_history").fetchall()
    return {version: tuple(endings) for version, endings in rows}
