"""The probe set among the inputs, and the turns that answered it."""

from pathlib import Path
from typing import NamedTuple

import duckdb

from wh_judge.errors import UserError
from wh_judge.probes.case import ProbeSet
from wh_judge.probes.files import read_probes
from wh_judge.probes.results import NO_RESULTS, PREFIX, Answer, ProbeResults, measure_probes
from wh_judge.settings import Settings
from wh_judge.store.schema import one
from wh_judge.store.tables import signature

_NAME = "probe_set"


def probes_path(settings: Settings) -> Path | None:
    """Where the set lies; None where there is none."""
    path = settings.inputs / "probes.json"
    return path if path.exists() else None


def probes_known(connection: duckdb.DuckDBPyConnection, settings: Settings) -> bool:
    """Whether the set is the one that was read last; where there is none and never was, it is."""
    path = probes_path(settings)
    row = one(connection, 'SELECT signature FROM input_file WHERE "table" = ?', [_NAME])
    return (row[0] if row else "") == (signature(path, {}) if path else "")


class SetRead(NamedTuple):
    """The set among the inputs, and what models made of it."""

    results: ProbeResults
    probes: ProbeSet | None
    """None where there is none, or none that can be read."""
    broken: str | None
    """What is wrong with its file."""


def read_results(connection: duckdb.DuckDBPyConnection, settings: Settings) -> SetRead:
    """What models made of the set."""
    path = probes_path(settings)
    signed = signature(path, {}) if path else ""
    connection.execute("INSERT OR REPLACE INTO input_file VALUES (?, ?, ?)", [_NAME, signed, []])
    if path is None:
        return SetRead(NO_RESULTS, None, None)
    try:
        probes = read_probes(path)
    except UserError as error:
        return SetRead(NO_RESULTS, None, str(error))
    return SetRead(results_of(connection, probes), probes, None)


def results_of(connection: duckdb.DuckDBPyConnection, probes: ProbeSet) -> ProbeResults:
    """What models made of a set."""
    rows = connection.execute(
        """SELECT prompt_id, chat_turn.model_id, turn_id, verdict, chat_turn.character_id,
                  coalesce(list_transform(mentions, lambda x: x.entity), [])
           FROM chat_turn LEFT JOIN verdict USING (turn_id)
           WHERE starts_with(prompt_id, ?) ORDER BY length(turn_id), turn_id""",
        [PREFIX],
    ).fetchall()
    return measure_probes(probes, [Answer(*row) for row in rows])
