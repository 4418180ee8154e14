"""What runs together, and when: jobs, the nightly schedule, the sensors, and the conditions of the assets."""

import datetime as dt
import hashlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg

from wh_judge.inbox import later_files, overdue_files, ready_files
from wh_judge.inputs import TABLES, files_of, input_path
from wh_judge.model import KST
from wh_judge.partitions import DAYS
from wh_judge.rejected import changed_since
from wh_judge.resources import POOL, Warehouse
from wh_judge.review.book import book_of, read_book
from wh_judge.review.effects import digest_for
from wh_judge.settings import Settings, load_settings
from wh_judge.store.inputs import bring_in
from wh_judge.store.probes import probes_path
from wh_judge.store.stale import listed_days, refresh_stale
from wh_judge.store.votes import people_files

SENSOR_SECONDS = int(os.environ.get("WH_JUDGE_SENSOR_SECONDS", "30"))
CATCH_UP_DAYS = 31
"""Missed days that one night makes good; a longer gap is a backfill that somebody should start knowingly."""
LONGEST_PAUSE = 3600.0
"""Seconds after which an input whose reading failed is read again, at the latest."""

inputs_job = dg.define_asset_job(
    "inputs", selection=["cards", "lexicon"], description="Reads the cards and the lexicon."
)
day_job = dg.define_asset_job(
    "day",
    selection=["turns", "verdicts", "verdict_changes"],
    description="Brings in new log files and judges one day (Asia/Seoul). Launch it for a range to backfill.",
)
WRITES_DRAFTS = {"wh_judge/drafts": "true"}
"""The tag of runs that ask a model, which may take hours: `dagster.yaml` lets one of them run at a time, so that the
other place is free for whoever judges."""

drafts_job = dg.define_asset_job(
    "write_drafts",
    selection=["drafts"],
    tags=WRITES_DRAFTS,
    description="Lets a language model write sentences for one day's verdicts. Off unless the setting drafts is set.",
)
evaluations_job = dg.define_asset_job(
    "evaluations",
    selection=[
        *("gold_agreement", "model_divergence", "capability_profiles", "votes", "arena_ratings", "vote_agreement"),
        "probe_results",
        "published",
    ],
    description="Measures the judge against the labels, compares and profiles the models, and publishes a snapshot.",
)


@dg.op(pool=POOL, description="Brings new and changed log files into the warehouse and lists the days they touch.")
def bring_in_log(context: dg.OpExecutionContext, warehouse: Warehouse) -> None:
    """Names of the files and the stale days go to the run's log."""
    settings = warehouse.settings()
    with warehouse.connect() as connection:
        for name in bring_in(connection, settings):
            context.log.info("brought in %s", name)
        stale = refresh_stale(connection, settings)
    for entry in stale:
        context.log.info("%s is stale: %s", entry.day, "; ".join(entry.causes))


@dg.job(name="log", description="Brings new and changed log files into the warehouse, those in the inbox too.")
def log_job() -> None:
    """One op; the days that it finds stale are run by their automation condition."""
    bring_in_log()


JOBS: list[Any] = [inputs_job, log_job, day_job, drafts_job, evaluations_job]

DRAFTS = dg.AssetSelection.assets("drafts")


class StaleDays(dg.AutomationCondition[dg.AssetKey]):
    """The days on the list of stale days, which every run that brings in an input writes.

    Dagster's own conditions know that `cards` changed, but not which days hold turns of the character that did.
    """

    @property
    def description(self) -> str:
        """What the UI says of it."""
        return "day no longer follows from its inputs"

    async def evaluate(  # type: ignore[override]
        self, context: dg.AutomationContext[dg.AssetKey]
    ) -> dg.AutomationResult[dg.AssetKey]:
        """The listed days that have a partition, but for those whose verdicts a run is about to write.

        Runs are looked at before the list is read: a run takes its day off the list before it reports the verdicts.
        `turns` waits for them, too, since its own part of a run is done while the day is still on the list.
        """
        view, verdicts = context.asset_graph_view, dg.AssetKey("verdicts")
        every = view.get_full_subset(key=verdicts)
        runs = await view.compute_run_in_progress_subset(key=verdicts, from_subset=every)
        backfills = await view.compute_backfill_in_progress_subset(key=verdicts, from_subset=every)
        busy = {*runs.expensively_compute_partition_keys(), *backfills.expensively_compute_partition_keys()}
        days = (listed_days(load_settings().data).keys() & set(DAYS.get_partition_keys())) - busy
        return dg.AutomationResult(context, view.get_subset_from_partition_keys(context.key, DAYS, days))


class DraftsAreOn(dg.AutomationCondition[dg.AssetKey]):
    """Every day, as long as the setting `drafts` names verdicts, and none where it does not."""

    @property
    def description(self) -> str:
        """What the UI says of it."""
        return "drafts are switched on"

    async def evaluate(  # type: ignore[override]
        self, context: dg.AutomationContext[dg.AssetKey]
    ) -> dg.AutomationResult[dg.AssetKey]:
        """All candidates or none."""
        on = bool(load_settings().drafts)
        return dg.AutomationResult(context, context.candidate_subset if on else context.get_empty_subset())


STALE_DAYS = (StaleDays() & ~dg.AutomationCondition.in_progress()).with_label("stale day")
# An update counts until something was done about it: a tick that sees it while other days are still at work must not be
# the only one that ever sees it. That this asset was made since does not count, as that run may have begun before.
UPDATED = dg.AutomationCondition.any_deps_updated().since(dg.AutomationCondition.newly_requested())
DEPS_AT_WORK = dg.AutomationCondition.any_deps_in_progress()
DEPS_UPDATED = (UPDATED & ~DEPS_AT_WORK & ~dg.AutomationCondition.in_progress()).with_label("its inputs were updated")
# A model may be asked for hours: readers get the verdicts meanwhile, and the drafts when they are there.
DEPS_UPDATED_BUT_DRAFTS = (UPDATED & ~DEPS_AT_WORK.ignore(DRAFTS) & ~dg.AutomationCondition.in_progress()).with_label(
    "its inputs were updated"
)
DRAFTS_ON = (DEPS_UPDATED & DraftsAreOn()).with_label("its verdicts were updated, and drafts are on")


@dg.schedule(
    job=day_job,
    cron_schedule="0 4 * * *",
    execution_timezone=KST.key,
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="At 04:00 in Seoul: the day before, and the days that were missed while nothing ran.",
)
def nightly(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest]:
    """One run a day that is due."""
    night = context.scheduled_execution_time.astimezone(KST)
    done = context.instance.get_materialized_partitions(dg.AssetKey("verdicts"))
    return [dg.RunRequest(run_key=f"{day} {night:%Y-%m-%d}", partition_key=day) for day in due_days(night.date(), done)]


def due_days(tonight: dt.date, done: set[str]) -> list[str]:
    """The day before, and before it the days since the newest one that was done, at most `CATCH_UP_DAYS` in all."""
    yesterday = tonight - dt.timedelta(days=1)
    newest = max((day for day in done if day <= str(yesterday)), default=None)
    first = yesterday if newest is None else dt.date.fromisoformat(newest) + dt.timedelta(days=1)
    first = max(min(first, yesterday), yesterday - dt.timedelta(days=CATCH_UP_DAYS - 1), load_settings().first_day)
    return [str(first + dt.timedelta(days=n)) for n in range((yesterday - first).days + 1)]


@dg.sensor(
    jobs=[inputs_job, log_job, evaluations_job],
    minimum_interval_seconds=SENSOR_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Looks whether cards, lexicon, labels, log, inbox or settings changed, and reads what did.",
)
def changed_inputs(context: dg.SensorEvaluationContext) -> Iterator[dg.RunRequest | dg.SkipReason]:
    """One run for each kind of input that is not as it was at the last look, or whose last reading failed."""
    known, asked = {**json.loads(context.cursor or "{}")}, False
    for job, fingerprint in fingerprints(load_settings()).items():
        last = known.get(job)
        if not isinstance(last, dict) or last["found"] != fingerprint:
            # The count is in the key because Dagster starts no second run with a key: an edit may be taken back.
            known[job] = {
                "found": fingerprint,
                "count": last["count"] + 1 if isinstance(last, dict) else 1,
                "failed": 0,
            }
        elif _is_due_again(context.instance, _run_key(job, last), last["failed"]):
            known[job] = {"found": fingerprint, "count": last["count"] + 1, "failed": last["failed"] + 1}
        else:
            continue
        asked = True
        # An input before the days that wait in the queue, which would be judged once more after it.
        tags = {} if job == "evaluations" else {"dagster/priority": "1"}
        yield dg.RunRequest(job_name=job, run_key=_run_key(job, known[job]), tags=tags)
    context.update_cursor(json.dumps(known))
    if not asked:
        yield dg.SkipReason("nothing changed")


def _run_key(job: str, found: dict[str, Any]) -> str:
    return f"{job} {found['found']} {found['count']}"


def _is_due_again(instance: dg.DagsterInstance, run_key: str, failed: int) -> bool:
    """Whether the run with this key failed, such as one that was killed, and the pause after it is over.

    Each pause is twice the one before, up to `LONGEST_PAUSE`: what made the run fail may last.
    """
    records = instance.get_run_records(dg.RunsFilter(tags={"dagster/run_key": run_key}), limit=1)
    if not records or records[0].dagster_run.status != dg.DagsterRunStatus.FAILURE:
        return False
    pause = min(SENSOR_SECONDS * 2.0 ** min(failed, 32), LONGEST_PAUSE)
    return time.time() - (records[0].end_time or 0) >= pause


def fingerprints(settings: Settings) -> dict[str, str]:
    """For each job that reads files, a hash of what it reads; inbox files that are still being written do not count."""
    small = [TABLES["character_card"], TABLES["topic_lexicon"]]
    paths = [input_path(settings.inputs, table) for table in small]
    later = [file for table in small for file in later_files(settings.inbox, table)]
    log = input_path(settings.inputs, TABLES["chat_turn"])
    gold = [*filter(None, [input_path(settings.inputs, TABLES["gold_label"], optional=True)])]
    probes = [*filter(None, [probes_path(settings)])]
    book = book_of(settings.data)
    beside = [*later_files(settings.inbox, TABLES["gold_label"]), *people_files(settings)]
    beside += [book] if book.exists() else []
    rules = f"{settings.rules.parts} {settings.card_as_of}"
    # They are moved away by the run that brings in the log, those of the small tables too.
    overdue = "".join(f" {file}" for file in overdue_files(settings.inbox))
    decided = "".join(digest_for(table.name, read_book(book)) for table in small)
    return {
        "inputs": _hash([*(file for path in paths for file in files_of(path)), *later], decided),
        "log": _hash([*files_of(log), *ready_files(settings.inbox), *changed_since(settings.inbox)], rules + overdue),
        "evaluations": _hash([*(file for path in [*gold, *probes] for file in files_of(path)), *beside]),
    }


def _hash(files: list[Path], more: str = "") -> str:
    """Small files by their content, so that a copy of the same file is no change; large ones by size and time."""
    digest = hashlib.sha256(more.encode(errors="surrogateescape"))
    for file in files:
        try:
            stat = file.stat()
            if not file.is_file():
                continue
            content = file.read_bytes() if stat.st_size < 1 << 20 else f"{stat.st_size} {stat.st_mtime_ns}".encode()
        except OSError as error:
            content = str(error.strerror).encode()
        digest.update(f"{file}\0".encode(errors="surrogateescape") + hashlib.sha256(content).digest())
    return digest.hexdigest()[:32]


automation = dg.AutomationConditionSensorDefinition(
    "automation",
    target=dg.AssetSelection.all() - DRAFTS,
    use_user_code_server=True,
    minimum_interval_seconds=SENSOR_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Runs the days that are stale, then what depends on them.",
)
# A sensor of its own: what one sensor asks for of a day goes into one run, and there a day that was judged would wait
# for a model.
drafts_automation = dg.AutomationConditionSensorDefinition(
    "drafts_automation",
    target=DRAFTS,
    use_user_code_server=True,
    minimum_interval_seconds=SENSOR_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    run_tags=WRITES_DRAFTS,
    description="Writes the drafts of the days that were judged, while drafts are on.",
)

SCHEDULES = [nightly]
SENSORS = [changed_inputs, automation, drafts_automation]
