"""What runs together."""

import dagster as dg

inputs_job = dg.define_asset_job(
    "inputs", selection=["cards", "lexicon"], description="Reads the cards and the lexicon."
)
day_job = dg.define_asset_job(
    "day",
    selection=["turns", "verdicts"],
    description="Brings in new log files and judges one day (Asia/Seoul). Launch it for a range to backfill.",
)
evaluations_job = dg.define_asset_job(
    "evaluations",
    selection=["gold_agreement", "model_divergence", "published"],
    description="Measures the judge against the labels, compares the models, and publishes a snapshot for readers.",
)

JOBS = [inputs_job, day_job, evaluations_job]
