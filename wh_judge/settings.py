"""Where things are and what may be adjusted: flag, then environment, then `[tool.wh_judge]`, then default."""

import datetime as dt
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from wh_judge.errors import UserError, first_fault
from wh_judge.model import VerdictValue
from wh_judge.review.book import book_of, read_book, read_what_can_be
from wh_judge.review.decisions import Decision
from wh_judge.review.effects import settings_with
from wh_judge.rules import RuleSettings

ENVIRONMENT = {
    "data": "WH_JUDGE_DATA",
    "inputs": "WH_JUDGE_INPUTS",
    "first_day": "WH_JUDGE_FIRST_DAY",
    "engine": "WH_JUDGE_ENGINE",
    "spark_master": "WH_JUDGE_SPARK_MASTER",
    "drafts_url": "WH_JUDGE_DRAFTS_URL",
    "drafts_model": "WH_JUDGE_DRAFTS_MODEL",
}
"""Settings that the environment may give, and the variables' names."""

DRAFTS_KEY = "WH_JUDGE_DRAFTS_KEY"
"""The variable with the endpoint's key. It is no setting: settings are written into runs, and a key is not."""


Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Settings(BaseModel):
    """Everything that a user may set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: Path = Field(Path("data"), description="Folder of what a run makes: warehouse, snapshots, Data Docs, inbox")
    inputs: Path = Field(Path("data/sample"), description="Folder of cards, lexicon, turns and gold")
    first_day: dt.date = Field(dt.date(2026, 1, 1), description="The first day (Asia/Seoul) that has a partition")
    docs_url: str = Field("http://127.0.0.1:3001", description="Where `make ui` serves the Data Docs")
    keep_snapshots: int = Field(5, ge=1, description="Published snapshots that are kept for readers")
    upload_limit_mb: int = Field(200, ge=1, description="Largest file that the screen takes, in MB")
    card_as_of: Literal["now", "turn"] = Field(
        "now", description="Judge a turn by its card as it stands now, or as it stood when the turn was written"
    )
    endings: tuple[str, ...] = Field(RuleSettings().endings, description="Endings that make a sentence polite")

    ignore_trailing: bool = Field(
        False, description="Pass over what trails an ending (~, ㅎㅎ, ♡, emoji, closing quotes) when it is read"
    )
    engine: Literal["local", "spark"] = Field(
        "local", description="What judges: this process, or Apache Spark; the verdicts are the same"
    )
    spark_master: str = Field("local[*]", min_length=1, description="The master of Spark, as its --master takes it")
    drafts: tuple[VerdictValue, ...] = Field((), description="Verdicts whose sentence a language model may write")
    drafts_url: str | None = Field(None, description="Base URL of the OpenAI-compatible endpoint of that model")
    drafts_model: str | None = Field(None, description="The model's name there")
    drafts_at_once: int = Field(4, ge=1, le=1000, description="Requests to it that are under way at a time")
    drafts_seconds: float = Field(60.0, gt=0, allow_inf_nan=False, description="How long one try of a request may take")
    drafts_tries: int = Field(5, ge=1, le=100, description="Tries for one request")
    drafts_tokens: int = Field(2_000_000, ge=0, description="Tokens that one day's drafts may use at most, in all runs")
    drafts_money: float | None = Field(
        None, ge=0, allow_inf_nan=False, description="What one day's drafts may cost at most"
    )
    drafts_prices: tuple[Price, Price] = Field(
        (0.0, 0.0), description="What a million tokens cost, of prompts and of responses"
    )

    _decided: int | None = PrivateAttr(None)

    @property
    def decided(self) -> int | None:
        """How many decisions of the book, the first ones, these settings know; None for all that it holds."""
        return self._decided

    def knowing(self, decided: int | None) -> "Settings":
        """The same settings, as what so many decisions have made of them."""
        settings = self.model_copy()
        settings._decided = decided
        return settings

    @property
    def rules(self) -> RuleSettings:
        """The settings that decide verdicts."""
        return RuleSettings(endings=self.endings, ignore_trailing=self.ignore_trailing)

    @property
    def warehouse(self) -> Path:
        """The DuckDB file."""
        return self.data / "warehouse.duckdb"

    @property
    def inbox(self) -> Path:
        """The folder that log files are dropped into."""
        return self.data / "inbox"

    @property
    def votes(self) -> Path:
        """The folder of votes that were given on the page or brought in from other tools."""
        return self.data / "votes"

    @property
    def uploads(self) -> Path:
        """The folder of what was uploaded on the screen."""
        return self.data / "uploads"

    @property
    def published(self) -> Path:
        """The folder of snapshots."""
        return self.data / "published"

    @property
    def docs(self) -> Path:
        """The folder of Data Docs."""
        return self.data / "docs"


def load_settings(**flags: Any) -> Settings:
    """The settings in force here.

    Args:
        flags: settings given by hand; None means not given.

    Raises:
        UserError: a setting has an unusable value.
        DamagedBook: a line of the decisions cannot be read, so that nobody knows which endings count.
    """
    settings = _load(flags)
    return _absolute(_with_decisions(settings, read_book(book_of(settings.data))))


def reading_settings(**flags: Any) -> Settings:
    """The settings for who only reads: decisions that cannot be read are left out, so nothing may be judged by them.

    Args:
        flags: as `load_settings` takes them.

    Raises:
        UserError: a setting has an unusable value.
    """
    settings = _load(flags)
    decisions = read_what_can_be(book_of(settings.data)).decisions
    try:
        return _absolute(_with_decisions(settings, decisions))
    except UserError:
        # Whoever mends what clashes, such as by an undo, must not be kept from it.
        return _absolute(settings).knowing(len(decisions))


def configured_rules(**flags: Any) -> RuleSettings:
    """The settings that decide verdicts as they would be without any decision.

    Args:
        flags: as `load_settings` takes them.

    Raises:
        UserError: a setting has an unusable value.
    """
    return _load(flags).rules


def _load(flags: Mapping[str, Any]) -> Settings:
    file, table = _from_pyproject(Path.cwd())
    environment = {name: os.environ[variable] for name, variable in ENVIRONMENT.items() if os.environ.get(variable)}
    given = {name: value for name, value in flags.items() if value is not None}
    for name, value in (environment | given).items():
        # Such bytes stand as halves of surrogate pairs, which no run, request or table can be given.
        if str(value) != str(value).encode(errors="replace").decode():
            where = f"--{name.replace('_', '-')}" if name in given else ENVIRONMENT[name]
            raise UserError(f"{where}: holds bytes that are not UTF-8; name it in UTF-8")
    try:
        settings = Settings.model_validate(table | environment | given)
        settings.rules  # noqa: B018 - endings are checked where they belong
    except ValidationError as error:
        detail = error.errors()[0]
        name = str(detail["loc"][0]) if detail["loc"] else "endings"
        source = (
            "flag" if name in given else ENVIRONMENT.get(name) if name in environment else f"{file} [tool.wh_judge]"
        )
        what = "is no day; write it like 2026-09-01" if name == "first_day" else detail["msg"]
        raise UserError(f"{source}: {name}: {what}") from None
    return settings


def _absolute(settings: Settings) -> Settings:
    # Absolute, so that a run started elsewhere by the Dagster daemon means the same folders.
    return settings.model_copy(update={"data": settings.data.absolute(), "inputs": settings.inputs.absolute()})


def _with_decisions(settings: Settings, decisions: Sequence[Decision]) -> Settings:
    """The settings with the endings that people added by decision, and with what they decided to pass over."""
    try:
        rules = settings_with(settings.rules, decisions)
    except ValidationError as error:
        raise UserError(
            f"endings: {first_fault(error)}; change the setting, or undo the decision to pass over what trails an"
            " ending"
        ) from None
    of_both = settings.model_copy(update={"endings": rules.endings, "ignore_trailing": rules.ignore_trailing})
    return of_both.knowing(len(decisions))


def _from_pyproject(folder: Path) -> tuple[Path | None, dict[str, Any]]:
    """The nearest pyproject.toml with a [tool.wh_judge] table and the table, its paths relative to that file."""
    for parent in (folder, *folder.parents):
        file = parent / "pyproject.toml"
        if not file.is_file():
            continue
        try:
            tools = tomllib.loads(file.read_text(encoding="utf-8")).get("tool")
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UserError(f"{file}: is no TOML: {error}") from None
        except OSError as error:
            raise UserError(f"{file}: cannot be read: {error.strerror}") from None
        table = tools.get("wh_judge") if isinstance(tools, dict) else None
        if table is not None and not isinstance(table, dict):
            raise UserError(f"{file}: [tool.wh_judge] is no table")
        if table is not None:
            paths = {name: parent / table[name] for name in ("data", "inputs") if isinstance(table.get(name), str)}
            return file, table | paths
    return None, {}
