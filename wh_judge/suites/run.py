"""Validates one batch of a table with Great Expectations, imported on first use: that takes seconds."""

import logging
import os
import sys
import threading
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from wh_judge.suites.check import REFERENCES, Check
from wh_judge.suites.declared import SUITES
from wh_judge.suites.frames import rows_frame, types_frame, usable_columns
from wh_judge.suites.result import EXAMPLES, ExpectationResult, SuiteResult, TableName, visible

if TYPE_CHECKING:
    from great_expectations.core import ExpectationValidationResult
    from great_expectations.core.batch_definition import BatchDefinition

NO_REFERENCES: Mapping[str, Collection[str]] = MappingProxyType({})

_ONE_AT_A_TIME = threading.Lock()
"""Great Expectations keeps its current context, and Python its warning filters, once per process."""


def validate_table(
    table: TableName,
    rows: pa.Table,
    *,
    references: Mapping[str, Collection[str]] = NO_REFERENCES,
    batch: str,
    docs: Path | None = None,
) -> SuiteResult:
    """Validates `rows`, one batch of `table`, and writes its page under `docs` where that is given.

    `references` holds the known keys of other tables by `table.column`; expectations whose keys are missing are left
    out and named in the result. `chat_turn` compares with `character_card.character_id`, `character_card` with
    `topic_lexicon.topic`, and `verdict` with `character_card.character_id`, `topic_lexicon.term`,
    `topic_lexicon.topic`, `chat_turn.turn_id` (the judged turns) and `mention.turn_id` (earlier turns of their
    sessions, on whatever day, that a recall may go back to).

    A missing column, or one of another type, fails the expectations that read it. The page of the same table and batch
    is overwritten; the index is `build_index`'s.

    Raises ValueError where `batch` is blank or `references` names no column that holds keys.
    """
    if not batch.strip():
        raise ValueError("batch is blank: name the day or version that is validated")
    if unknown := sorted(set(references) - REFERENCES):
        raise ValueError(
            f"references names {unknown[0]}, which holds no keys; it may be {', '.join(sorted(REFERENCES))}"
        )
    suite = SUITES[table]
    checks = [check for check in suite.checks if set(check.references) <= set(references)]
    usable, problems = usable_columns(suite, rows)
    on_rows = [check for check in checks if check.frame == "rows"]
    frames = {"types": types_frame(suite, rows), "rows": rows_frame(suite, on_rows, rows.select(usable), references)}
    with _ONE_AT_A_TIME, _quiet():
        outcomes = _evaluate(table, checks, frames)
        expectations = tuple(_result(check, outcomes[check.name], problems) for check in checks)
        result = SuiteResult(
            table=table,
            batch=batch,
            success=all(one.success for one in expectations),
            rows=rows.num_rows,
            expectations=expectations,
            not_checked=tuple(check.name for check in suite.checks if check not in checks),
        )
        if docs is None:
            return result
        from wh_judge.suites.pages import write_page

        return write_page(result, [outcomes[check.name] for check in checks], docs)


@contextmanager
def _quiet() -> Iterator[None]:
    """Nothing on stderr: what an expectation has to say stands in its result. No usage statistics either."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    logger = logging.getLogger("great_expectations")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _load()
            yield
    finally:
        logger.setLevel(level)


@cache
def _load() -> None:
    """Import Great Expectations without pyspark, which it loads where it is installed and nothing here asks it for.

    pyspark takes seconds, and ends a process whose main module has no file: it takes that for its own doctests.
    """
    hidden = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "pyspark"}
    for name in hidden:
        del sys.modules[name]
    sys.modules["pyspark"] = None  # type: ignore[assignment]  # what makes an import of it fail
    try:
        import great_expectations  # noqa: F401
    finally:
        del sys.modules["pyspark"]
        sys.modules.update(hidden)


def _evaluate(
    table: TableName, checks: Sequence[Check], frames: Mapping[str, pa.Table]
) -> dict[str, "ExpectationValidationResult"]:
    """What Great Expectations makes of the checks, by check name.

    Damage is looked at apart: its frame is the same for all batches without any, and what was made of it once stands.
    Where Great Expectations gave up, nothing does: what kept it from looking may be over by the next batch.
    """
    outcomes: dict[str, ExpectationValidationResult] = {}
    for frame, of_damage in (("types", False), ("rows", True), ("rows", False)):
        asked = [check for check in checks if check.frame == frame and (check.damage is not None) == of_damage]
        read = [name for name in frames[frame].column_names if frame == "types" or _reads(asked, name)]
        seen, names = frames[frame].select(read), tuple(check.name for check in asked)
        if seen.num_rows <= 1:
            found = _made_before(table, names, _bytes(seen))
            if any(map(_errors, found.values())):
                _made_before.cache_clear()
            outcomes |= found
        else:
            outcomes |= _ask(table, names, seen)
    return outcomes


def _reads(checks: Sequence[Check], column: str) -> bool:
    return any(column == check.name if check.damage is not None else column in check.needs for check in checks)


def _bytes(frame: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, frame.schema) as writer:
        writer.write_table(frame)
    return bytes(sink.getvalue())


@lru_cache(maxsize=32)
def _made_before(table: TableName, names: tuple[str, ...], frame: bytes) -> Mapping[str, "ExpectationValidationResult"]:
    return _ask(table, names, pa.ipc.open_stream(frame).read_all())


def _ask(table: TableName, names: tuple[str, ...], frame: pa.Table) -> dict[str, "ExpectationValidationResult"]:
    """Have Great Expectations look at the frame."""
    import great_expectations as gx
    import pandas as pd

    expectations = [
        getattr(gx.expectations, check.expectation)(
            **check.arguments,
            description=check.name,
            severity="critical" if check.severity == "error" else "warning",
            meta={"name": check.name},
        )
        for check in SUITES[table].checks
        if check.name in names
    ]
    text = {pa.string(): pd.ArrowDtype(pa.string())}
    batch = _batches().get_batch({"dataframe": frame.to_pandas(types_mapper=text.get)})
    run = batch.validate(
        gx.ExpectationSuite(table, expectations=expectations),
        result_format={"result_format": "BASIC", "partial_unexpected_count": EXAMPLES},
    )
    return {one.expectation_config.meta["name"]: one for one in run.results if one.expectation_config}


@cache
def _batches() -> "BatchDefinition[Any]":
    """What makes a batch of a frame. What is added to a context later makes it write all of itself out."""
    import great_expectations as gx
    from great_expectations.data_context.types.base import (
        DataContextConfig,
        InMemoryStoreBackendDefaults,
        ProgressBarsConfig,
    )

    context = gx.get_context(
        mode="ephemeral",
        project_config=DataContextConfig(
            store_backend_defaults=InMemoryStoreBackendDefaults(),
            progress_bars=ProgressBarsConfig(globally=False),
            analytics_enabled=False,
        ),
    )
    frames = context.data_sources.add_pandas("tables").add_dataframe_asset("frames")
    return frames.add_batch_definition_whole_dataframe("frame")


def _result(check: Check, outcome: "ExpectationValidationResult", problems: Mapping[str, str]) -> ExpectationResult:
    """The outcome for people. An expectation that reads a column that is missing or of another type always fails."""
    messages = [problems[column] for column in check.needs if column in problems]
    messages += _errors(outcome)
    found = outcome.result or {}
    mismatched = found.get("details", {}).get("mismatched", {})
    columns = [f"{kind}: {name}" for kind in ("missing", "unexpected") for name in mismatched.get(kind, ())]
    return ExpectationResult(
        name=check.name,
        column=check.column,
        success=bool(outcome.success) and not messages,
        unexpected_count=len(columns) or found.get("unexpected_count", 0),
        unexpected=tuple(visible(one) for one in (columns or found.get("partial_unexpected_list", ()))[:EXAMPLES]),
        severity=check.severity,
        message=visible(messages[0]) if messages else None,
    )


def _errors(outcome: "ExpectationValidationResult") -> list[str]:
    """What was raised while the expectation looked."""
    info: dict[str, Any] = outcome.exception_info or {}
    errors = [info] if "raised_exception" in info else list(info.values())
    return [str(error["exception_message"]) for error in errors if error["raised_exception"]]
