"""Votes and what stands beside them in the warehouse: brought in, counted, read."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from wh_judge.evaluation.bradley_terry import Tally
from wh_judge.evaluation.people import EXAMPLES, JUDGED_SCHEMA, UnplacedScores
from wh_judge.inbox import later_files
from wh_judge.ingest import read_layers
from wh_judge.inputs import TABLES, InputTable, TableName, files_of, input_path
from wh_judge.model import CARD_SCHEMA, LEXICON_SCHEMA, TURN_SCHEMA, VERDICTS
from wh_judge.review.effects import TABLE_EFFECTS, digest_for
from wh_judge.rowwise import Batch
from wh_judge.settings import Settings
from wh_judge.store.decisions import decisions_of
from wh_judge.store.schema import arrow, names
from wh_judge.store.tables import has_rows, is_known, later_named, replace_table
from wh_judge.store.versions import LEXICON_ROWS
from wh_judge.text import as_seen
from wh_judge.votes.rows import SUPPORT_SCHEMA, VOTE_SCHEMA, CapabilitySupport, Vote, votes_from

PEOPLE: tuple[TableName, ...] = ("vote", "capability_support", "judge_score")
"""The inputs that these evaluations read."""


def own_files(settings: Settings, table: InputTable) -> dict[str, Path]:
    """The files of a table in the setting's own folder, by the names that problems call them; only votes have any."""
    if table.name != "vote" or not settings.votes.is_dir():
        return {}
    # The newest last: where a file holds a vote of an earlier one again, it is as somebody has it now.
    files = sorted(files_of(settings.votes), key=lambda file: file.lstat().st_mtime_ns)
    return {file.relative_to(settings.data.parent).as_posix(): file for file in files}


def people_files(settings: Settings) -> list[Path]:
    """All files that these evaluations read."""
    found: list[Path] = []
    for name in PEOPLE:
        path = input_path(settings.inputs, TABLES[name], optional=True)
        found += [*(files_of(path) if path else []), *later_files(settings.inbox, TABLES[name])]
        found += own_files(settings, TABLES[name]).values()
    return found


def bring_in_people(connection: duckdb.DuckDBPyConnection, settings: Settings) -> dict[TableName, Batch]:
    """Bring in all of them whole: those among the inputs, in the inbox, and in the folder of votes."""
    return {
        name: replace_table(
            connection,
            TABLES[name],
            input_path(settings.inputs, TABLES[name], optional=True),
            settings.inbox,
            own_files(settings, TABLES[name]),
        )
        for name in PEOPLE
    }


def is_read(connection: duckdb.DuckDBPyConnection, settings: Settings, table: InputTable) -> bool:
    """Whether a small table is as files and decisions have it now; without any there is nothing to read."""
    path, more = input_path(settings.inputs, table, optional=table.optional), own_files(settings, table)
    decided = decisions_of(settings) if table.name in TABLE_EFFECTS else []
    nothing = path is None and not more and not later_files(settings.inbox, table) and not has_rows(connection, table)
    nothing = nothing and not digest_for(table.name, decided)
    return nothing or is_known(connection, table, path, settings.inbox, more, decided)


def people_known(connection: duckdb.DuckDBPyConnection, settings: Settings) -> bool:
    """Whether all of them are as they were brought in last."""
    return all(is_read(connection, settings, TABLES[name]) for name in PEOPLE)


def read_tallies(connection: duckdb.DuckDBPyConnection) -> list[Tally]:
    """How often each model of a pair was preferred, for every pair that was compared."""
    rows = connection.execute(
        """SELECT first, second, count(*) FILTER (won = first), count(*) FILTER (won = second),
                  count(*) FILTER (winner = 'tie'), count(*) FILTER (winner = 'both_bad')
           FROM (SELECT least(model_a, model_b) AS first, greatest(model_a, model_b) AS second, winner,
                        CASE winner WHEN 'model_a' THEN model_a WHEN 'model_b' THEN model_b END AS won FROM vote)
           GROUP BY ALL ORDER BY ALL"""
    ).fetchall()
    return [Tally(*row) for row in rows]


def vote_sources(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """How many votes come from where."""
    return dict(connection.execute("SELECT source, count(*) FROM vote GROUP BY 1 ORDER BY 2 DESC, 1").fetchall())


@dataclass(frozen=True)
class Answer:
    """A model's reply to a prompt: of several the first in turn order that says anything."""

    turn_id: str
    session_id: str
    character_id: str
    user_message: str | None
    reply_text: str


def read_answers(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, Answer]]:
    """The replies that can be voted on, by case and model; also from a published copy."""
    rows = connection.execute(
        """SELECT prompt_id, model_id, turn_id, session_id, character_id, user_message, reply_text FROM chat_turn
           WHERE prompt_id IS NOT NULL AND trim(reply_text) <> ''
           QUALIFY row_number() OVER (PARTITION BY prompt_id, model_id ORDER BY length(turn_id), turn_id) = 1
           ORDER BY prompt_id, model_id"""
    ).fetchall()
    answers: dict[str, dict[str, Answer]] = {}
    for case_id, model_id, *cells in rows:
        answers.setdefault(case_id, {})[model_id] = Answer(*cells)
    return answers


def replies_as_seen(answers: Mapping[str, Mapping[str, Answer]]) -> dict[str, dict[str, int]]:
    """By case and model a hash of the reply as a reader sees it: in this process that of two that look the same is the
    same."""
    return {
        case: {model: hash(as_seen(answer.reply_text)) for model, answer in of_case.items()}
        for case, of_case in answers.items()
    }


def votes_by_case(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """How many votes each case has."""
    return dict(
        connection.execute("SELECT case_id, count(*) FROM vote WHERE case_id IS NOT NULL GROUP BY 1").fetchall()
    )


def voted_pairs(connection: duckdb.DuckDBPyConnection, annotator: str) -> set[tuple[str, str, str]]:
    """The cases and the two models, the first of which comes first by name, that an annotator voted on."""
    return set(
        connection.execute(
            """SELECT DISTINCT case_id, least(model_a, model_b), greatest(model_a, model_b) FROM vote
               WHERE annotator = ? AND case_id IS NOT NULL""",
            [annotator],
        ).fetchall()
    )


def journal_votes(settings: Settings) -> list[Vote]:
    """The votes in the setting's own folder as they are now, those that no run has counted yet too."""
    rows = read_layers(None, own_files(settings, TABLES["vote"]), TABLES["vote"]).rows
    return votes_from(rows)


def known_votes(settings: Settings) -> pa.Table:
    """The votes of all files as they are now, those that no run has counted yet too."""
    table = TABLES["vote"]
    later = later_named(settings.inbox, table) | own_files(settings, table)
    return read_layers(input_path(settings.inputs, table, optional=True), later, table).rows


def read_support(connection: duckdb.DuckDBPyConnection) -> list[CapabilitySupport]:
    """What models support, by case and model."""
    sql = f"SELECT {names(SUPPORT_SCHEMA)} FROM capability_support ORDER BY case_id, model_id"
    return [CapabilitySupport.model_construct(**row) for row in connection.sql(sql).to_arrow_table().to_pylist()]


def read_other_judges(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """What other judges say of the turns that answered a prompt, in JUDGED_SCHEMA."""
    return arrow(
        connection,
        f"""SELECT judge, run, prompt_id AS case_id, model_id,
                   avg(said ORDER BY said) AS score
            FROM (SELECT *, coalesce(score, (verdict = '{VERDICTS[0]}')::DOUBLE) AS said FROM judge_score)
            JOIN chat_turn USING (turn_id) WHERE prompt_id IS NOT NULL GROUP BY ALL ORDER BY ALL""",
        JUDGED_SCHEMA,
    )


def read_unplaced(connection: duckdb.DuckDBPyConnection) -> list[UnplacedScores]:
    """What other judges say of turns that are not in the log or answered no prompt."""
    rows = connection.execute(
        f"""WITH missed AS (
                SELECT judge, judge_score.turn_id, chat_turn.turn_id IS NULL AS unknown
                FROM judge_score LEFT JOIN chat_turn USING (turn_id) WHERE prompt_id IS NULL),
            turn AS (
                SELECT DISTINCT judge, turn_id, unknown FROM missed
                QUALIFY dense_rank() OVER (PARTITION BY judge, unknown ORDER BY length(turn_id), turn_id) <= {EXAMPLES})
            SELECT judge, count(*) FILTER (unknown), count(*) FILTER (NOT unknown),
                   (SELECT list(turn_id ORDER BY length(turn_id), turn_id) FROM turn
                    WHERE turn.judge = missed.judge AND turn.unknown),
                   (SELECT list(turn_id ORDER BY length(turn_id), turn_id) FROM turn
                    WHERE turn.judge = missed.judge AND NOT turn.unknown)
            FROM missed GROUP BY judge ORDER BY judge"""
    ).fetchall()
    return [
        UnplacedScores(
            judge=judge,
            unknown=unknown,
            unknown_turns=unknown_turns or [],
            without_prompt=without_prompt,
            turns_without_prompt=turns_without_prompt or [],
        )
        for judge, unknown, without_prompt, unknown_turns, turns_without_prompt in rows
    ]


def read_voted_sessions(connection: duckdb.DuckDBPyConnection) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Turns of the sessions in which a voted case was answered, cards and lexicon: what judging them again needs."""
    sessions = "SELECT session_id FROM chat_turn SEMI JOIN vote ON vote.case_id = chat_turn.prompt_id"
    return (
        arrow(
            connection,
            f"""SELECT {names(TURN_SCHEMA)} FROM chat_turn WHERE session_id IN ({sessions})
                ORDER BY length(turn_id), turn_id""",
            TURN_SCHEMA,
        ),
        arrow(connection, f"SELECT {names(CARD_SCHEMA)} FROM character_card ORDER BY character_id", CARD_SCHEMA),
        arrow(connection, f"SELECT term, topic FROM ({LEXICON_ROWS}) ORDER BY position", LEXICON_SCHEMA),
    )


def vote_table(connection: duckdb.DuckDBPyConnection, source: str | None = None) -> pa.Table:
    """The votes in VOTE_SCHEMA, the oldest first, those of one source where it is given."""
    connection.execute("SET VARIABLE wanted_source = ?", [source])
    where = "WHERE source = getvariable('wanted_source')" if source is not None else ""
    return arrow(connection, f"SELECT {names(VOTE_SCHEMA)} FROM vote {where} ORDER BY voted_at, vote_id", VOTE_SCHEMA)


def read_votes(connection: duckdb.DuckDBPyConnection, source: str | None = None) -> list[Vote]:
    """The same as rows."""
    return votes_from(vote_table(connection, source))
