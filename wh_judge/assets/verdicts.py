"""`verdicts`: one judged, validated row per turn of the day."""

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from typing import Any

import dagster as dg
import pyarrow as pa

from wh_judge.assets.checks import run_suite, suite_result, validation_result
from wh_judge.assets.inputs import OWNERS, SUITE, Events
from wh_judge.assets.metadata import Lineage, column_metadata, lineage_metadata, markdown_table, preview
from wh_judge.judge import judge
from wh_judge.model import VERDICT_SCHEMA, VERDICTS, Verdict
from wh_judge.partitions import DAYS
from wh_judge.resources import POOL, Warehouse
from wh_judge.rules import RULE_BY_VERDICT, rules_version
from wh_judge.rules.hedge import NOTES
from wh_judge.store import days
from wh_judge.suites import SuiteResult
from wh_judge.validations import VALIDATIONS, ValidationResult, claim_from_record, validate

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


@dg.asset(
    partitions_def=DAYS,
    backfill_policy=dg.BackfillPolicy.multi_run(1),
    deps=["cards", "lexicon", "turns"],
    group_name="judgement",
    owners=OWNERS,
    kinds={"duckdb", "python"},
    pool=POOL,
    code_version=rules_version(),
    description="One verdict per turn: 설정대로 말함, 말투 어긋남, 세계관 밖 고유명사, 금지 소재 접촉 or "
    "앞 회차를 기억 못 함, each with its evidence and with what could not be compared. Decided by rules; read "
    "back and validated in the transaction that writes it. A day in which a validation fails keeps its old verdicts.",
    metadata=COLUMNS,
    check_specs=[
        *_CHECKS,
        dg.AssetCheckSpec("suite", asset="verdicts", description=SUITE, blocking=True, partitions_def=DAYS),
    ],
)
def verdicts(context: dg.AssetExecutionContext, warehouse: Warehouse) -> Events:
    """One row per judged turn of the day."""
    settings, day = warehouse.settings(), dt.date.fromisoformat(context.partition_key)
    suites: list[SuiteResult] = []
    with warehouse.connect() as connection:
        inputs = days.read_inputs(connection, day, settings.rules)
        judgement = judge(inputs.turns, inputs.cards, inputs.lexicon, inputs.settings, inputs.earlier)
        log = days.read_log(connection, inputs, judgement)

        def check(rows: pa.Table) -> tuple[Sequence[ValidationResult], bool]:
            references = {
                "chat_turn.turn_id": inputs.turns["turn_id"].to_pylist(),
                "character_card.character_id": inputs.cards["character_id"].to_pylist(),
                "topic_lexicon.term": inputs.lexicon["term"].to_pylist(),
                "topic_lexicon.topic": inputs.lexicon["topic"].to_pylist(),
                "mention.turn_id": list(log.turns),
            }
            suites.append(run_suite("verdict", rows, settings, batch=str(day), references=references))
            hard = [e for e in suites[0].expectations if not e.success and e.severity == "error"]
            return validate(map(claim_from_record, rows.to_pylist()), log), not hard

        result = days.replace_day(connection, inputs, judgement, check, context.run_id)
        rows = days.read_verdicts(connection, day)
        unjudged = days.read_unjudged(connection, day)
    for validation in result.validations:
        yield validation_result(validation, "verdicts")
    yield suite_result(suites[0], "verdicts", settings)
    if not result.committed:
        failed = [validation.code for validation in result.validations if not validation.ok] or ["suite"]
        raise dg.Failure(
            f"{day} keeps its old verdicts: {', '.join(failed)} failed; the failing rows are in failed_row of the"
            " warehouse",
            allow_retries=False,
        )
    yield dg.MaterializeResult(data_version=dg.DataVersion(result.version), metadata=_metadata(rows, unjudged))


def _metadata(rows: pa.Table, unjudged: pa.Table) -> dict[str, Any]:
    counts = Counter(rows["verdict"].to_pylist())
    notes = Counter(note for row in rows["notes"].to_pylist() for note in row)
    metadata: dict[str, Any] = {"dagster/row_count": rows.num_rows, "unjudged": unjudged.num_rows}
    for verdict in VERDICTS:
        code = RULE_BY_VERDICT[verdict].code
        metadata[f"{code}_count"] = counts[verdict]
        if rows.num_rows:
            metadata[f"{code}_rate"] = counts[verdict] / rows.num_rows
    diverging = pa.compute.not_equal(rows["verdict"], VERDICTS[0])
    return (
        COLUMNS
        | metadata
        | {
            "verdicts": markdown_table(["verdict", "turns"], [[name, counts[name]] for name in VERDICTS]),
            "hedges": markdown_table(["hedge", "turns"], [[note.label, notes[note.code]] for note in NOTES]),
            "preview": preview(rows.filter(diverging), ["turn_id", "verdict", "summary"]),
            **lineage_metadata(LINEAGE),
        }
    )
