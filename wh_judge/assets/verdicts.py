"""`verdicts`: one judged, validated row per turn of the day."""

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from typing import Any

import dagster as dg

from wh_judge.assets.checks import SHOWN, report_again, run_suite, suite_result, validation_result
from wh_judge.assets.inputs import OWNERS, SUITE, Events
from wh_judge.assets.metadata import PREVIEW_ROWS, Lineage, column_metadata, lineage_metadata, markdown_table, preview
from wh_judge.automation import STALE_DAYS
from wh_judge.day import judge_day
from wh_judge.model import VERDICT_SCHEMA, VERDICTS, Verdict
from wh_judge.partitions import DAYS
from wh_judge.resources import POOL, Warehouse
from wh_judge.rules import RULE_BY_VERDICT, rules_version
from wh_judge.rules.hedge import NOTES
from wh_judge.store import is_of_the_disk
from wh_judge.store.changes import Change
from wh_judge.store.days import JUDGED, ReadAll
from wh_judge.store.schema import number
from wh_judge.store.stale import drop_from_list
from wh_judge.store.verdicts import VerdictFacts, day_facts, reference_keys
from wh_judge.suites import SuiteResult
from wh_judge.validations import VALIDATIONS

LINEAGE: Lineage = {
    **{name: [("turns", name)] for name in ("turn_id", "session_id", "character_id", "model_id")},
    "verdict": [
        ("turns", "reply_text"),
        ("turns", "first_person"),
        ("turns", "named_entities"),
        ("turns", "user_message"),
        ("turns", "user_asked_recall"),
        ("cards", "honorific_rule"),
        ("cards", "first_person"),
        ("cards", "canon_entities"),
        ("cards", "forbidden_topics"),
        ("cards", "entity_roles"),
        ("lexicon", "term"),
        ("lexicon", "topic"),
    ],
    "rule_expected": [("cards", "honorific_rule"), ("cards", "first_person")],
    "rule_observed": [("turns", "reply_text"), ("turns", "first_person")],
    "off_canon_entities": [("turns", "named_entities"), ("cards", "canon_entities")],
    "touched_term": [("turns", "reply_text"), ("lexicon", "term")],
    "touched_topic": [("lexicon", "topic"), ("cards", "forbidden_topics")],
    "recall_target": [
        ("turns", "user_asked_recall"),
        ("turns", "user_message"),
        ("turns", "named_entities"),
        ("turns", "reply_text"),
        ("cards", "entity_roles"),
    ],
    "recall_source_turn": [("turns", "named_entities"), ("turns", "turn_id")],
    "hedge": [("turns", "honorific_level"), ("turns", "named_entities"), ("turns", "first_person")],
}

COLUMNS = column_metadata(VERDICT_SCHEMA, Verdict)

_CHECKS = [
    dg.AssetCheckSpec(
        entry.code,
        asset="verdicts",
        description=f"{entry.title}. {entry.description}",
        blocking=True,
        partitions_def=DAYS,
    )
    for entry in VALIDATIONS
]


@dg.multi_asset(
    name="verdicts",
    partitions_def=DAYS,
    pool=POOL,
    specs=[
        dg.AssetSpec(
            "verdicts",
            deps=["cards", "lexicon", "turns"],
            group_name="judgement",
            owners=OWNERS,
            kinds={"duckdb", "python"},
            code_version=rules_version(),
            description="One verdict per turn: 설정대로 말함, 말투 어긋남, 세계관 밖 고유명사, 금지 소재 접촉 or "
            "앞 회차를 기억 못 함, each with its evidence and with what could not be compared. Decided by rules; read "
            "back and validated in the transaction that writes it. A day in which a validation fails keeps its old "
            "verdicts. Only turns that an edit can touch are judged again.",
            metadata=COLUMNS,
            automation_condition=STALE_DAYS,
        ),
        dg.AssetSpec(
            "verdict_changes",
            deps=["verdicts"],
            group_name="judgement",
            owners=OWNERS,
            kinds={"duckdb", "python"},
            code_version=rules_version(),
            description="The turns whose verdict is no longer what it was, before and after, with the cause: which "
            "input and which cell of it. The cause is established by judging the turn again with what differs put "
            "back.",
        ),
    ],
    check_specs=[
        *_CHECKS,
        dg.AssetCheckSpec("suite", asset="verdicts", description=SUITE, blocking=True, partitions_def=DAYS),
    ],
)
def verdicts(context: dg.AssetExecutionContext, warehouse: Warehouse) -> Events:
    """One row per judged turn of the day, and one per change."""
    settings, day = warehouse.settings(), dt.date.fromisoformat(context.partition_key)
    suites: list[SuiteResult] = []
    with warehouse.connect() as connection:

        def holds(read_all: ReadAll) -> bool:
            keys = reference_keys(connection, day)
            suites.append(run_suite("verdict", read_all(), settings, batch=str(day), references=keys))
            return all(e.success or e.severity != "error" for e in suites[0].expectations)

        try:
            result = judge_day(connection, day, settings, holds, context.run.run_id)
        except Exception as error:
            # What crashes on these inputs would crash again at each look of the sensor: off the list until they change.
            if not is_of_the_disk(error):
                drop_from_list(day, settings.data)
            raise
        facts = day_facts(connection, day, PREVIEW_ROWS)
        drop_from_list(day, settings.data)
        total = number(connection, "SELECT count(*) FROM verdict_change WHERE day = ?", [day])
    checks = [*(validation_result(validation, "verdicts") for validation in result.validations)]
    checks.append(suite_result(suites[0], "verdicts", settings))
    if not result.committed:
        yield from checks
        report_again(context, "verdicts", checks)
        failed = [validation.code for validation in result.validations if not validation.ok] or ["suite"]
        raise dg.Failure(
            f"{day} keeps its old verdicts: {', '.join(failed)} failed; the failing rows are in failed_row of the"
            " warehouse",
            allow_retries=False,
        )
    changed = changes_metadata(result.changes)
    yield dg.MaterializeResult(
        asset_key="verdicts",
        data_version=dg.DataVersion(result.version),
        metadata=_metadata(facts) | {JUDGED: result.judged, "written": result.written} | changed,
        # Told with the materialisation: Dagster takes a result from before it to be about the one before.
        check_results=checks,
    )
    report_again(context, "verdicts", checks)
    yield dg.MaterializeResult(
        asset_key="verdict_changes",
        data_version=dg.DataVersion(f"{result.version}-{total}"),
        metadata={"dagster/row_count": total} | changed,
    )


def changes_metadata(changes: Sequence[Change]) -> dict[str, Any]:
    """How many turns changed, from which verdict to which, by which cause."""
    causes = Counter((*change.verdicts, ", ".join(change.cause.cells)) for change in changes)
    rows = [[before or "no verdict", after or "no verdict", why, n] for (before, after, why), n in causes.most_common()]
    return {
        "changed": len(changes),
        "changed_verdicts": sum(before != after for before, after in (change.verdicts for change in changes)),
        "changes": markdown_table(["before", "after", "cause", "turns"], rows[:SHOWN]),
    }


def _metadata(facts: VerdictFacts) -> dict[str, Any]:
    counts, rows = facts.verdicts, facts.rows
    metadata: dict[str, Any] = {"dagster/row_count": rows, "unjudged": facts.unjudged}
    for verdict in VERDICTS:
        code = RULE_BY_VERDICT[verdict].code
        metadata[f"{code}_count"] = counts[verdict]
        if rows:
            metadata[f"{code}_rate"] = counts[verdict] / rows
    return (
        COLUMNS
        | metadata
        | {
            "verdicts": markdown_table(["verdict", "turns"], [[name, counts[name]] for name in VERDICTS]),
            "hedges": markdown_table(["hedge", "turns"], [[note.label, facts.notes[note.code]] for note in NOTES]),
            "preview": preview(facts.first_diverging, ["turn_id", "verdict", "summary"]),
            **lineage_metadata(LINEAGE),
        }
    )
