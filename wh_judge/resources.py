"""The one resource of the graph: the warehouse, with the settings in force."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg
import duckdb

from wh_judge.settings import Settings, load_settings
from wh_judge.store import open_warehouse

POOL = "warehouse"
"""Every asset and check that opens the warehouse is in this pool of one: DuckDB lets one process write."""


class Warehouse(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Opens the warehouse. Empty fields mean the environment, pyproject.toml or the default, in this order.

    `given` holds all settings as JSON where whoever starts a run has read them; nothing else counts then. `decided` is
    how many decisions they know, so that none that is written down meanwhile is taken for what made them.
    """

    data: str = ""
    inputs: str = ""
    given: str = ""
    decided: int | None = None

    def settings(self) -> Settings:
        """The settings as they are at this moment, so that a change of pyproject.toml counts from the next run on."""
        if self.given:
            return Settings.model_validate_json(self.given).knowing(self.decided)
        return load_settings(data=self.data or None, inputs=self.inputs or None)

    @contextmanager
    def connect(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection, closed at the end."""
        with open_warehouse(self.settings().warehouse) as connection:
            yield connection
