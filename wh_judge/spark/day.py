"""A day of the warehouse judged on Spark. The warehouse stays where it is: its turns go out, its verdicts come back."""

import pyarrow as pa
import pyarrow.compute as pc

from wh_judge.judge import Judgement
from wh_judge.model import TURN_SCHEMA, UNJUDGED_SCHEMA, USED_SCHEMA, VERDICT_SCHEMA
from wh_judge.spark.engine import deal, results_of
from wh_judge.spark.session import open_session, spark_errors
from wh_judge.spark.tasks import DEALT_SCHEMA, JUDGED_SCHEMA, Inputs
from wh_judge.validations import Outcomes


def judge_turns(master: str, turns: pa.Table, named: pa.Table, inputs: Inputs) -> tuple[Judgement, Outcomes]:
    """Judge turns as the kernel does, and validate every verdict there, too.

    Args:
        master: of the Spark session.
        turns: n rows in TURN_SCHEMA, in turn order.
        named: rows in TURN_SCHEMA: other turns of these sessions that first named somebody.
        inputs: what is judged by.

    Returns:
        The judgement, in turn order, and what the validations say of its verdicts.
    """
    spark = open_session(master)
    rows = pa.concat_tables([_dealt(turns, wanted=True), _dealt(named, wanted=False)])
    with spark_errors():
        judged = deal(spark, spark.createDataFrame(rows), inputs).toArrow().cast(JUDGED_SCHEMA)
    judged = judged.take(pa.array(_order(judged, turns)))
    verdicts = judged.filter(pc.is_null(judged["reason"]))
    used = verdicts.filter(pc.is_valid(verdicts["mentions"]))
    left = judged.filter(pc.is_valid(judged["reason"]))
    judgement = Judgement(
        verdicts.select(VERDICT_SCHEMA.names).cast(VERDICT_SCHEMA),
        left.select(UNJUDGED_SCHEMA.names).cast(UNJUDGED_SCHEMA),
        used.select(USED_SCHEMA.names).cast(USED_SCHEMA),
    )
    letters = verdicts["letters"].to_pylist()
    counts = dict(zip(*(each.to_pylist() for each in verdicts["letters"].value_counts().flatten()), strict=True))
    failed = verdicts.append_column("row", pa.array(range(1, len(letters) + 1), pa.int64()))
    failed = failed.filter(pc.is_valid(failed["failed"])).drop_columns("line").rename_columns({"row": "line"})
    return judgement, Outcomes(results_of(counts, failed.to_pylist()), letters)


def _order(judged: pa.Table, turns: pa.Table) -> pa.Array:
    """The numbers of the rows of `judged` in the order of the turns."""
    return pc.sort_indices(pc.index_in(judged["turn_id"], turns["turn_id"].combine_chunks()))


def _dealt(turns: pa.Table, *, wanted: bool) -> pa.Table:
    more = {"file": pa.nulls(turns.num_rows, pa.string()), "line": pa.nulls(turns.num_rows, pa.int64())}
    more["wanted"] = pa.repeat(wanted, turns.num_rows)
    every = [turns[name] if name in TURN_SCHEMA.names else more[name] for name in DEALT_SCHEMA.names]
    return pa.table(every, schema=DEALT_SCHEMA)
