"""`capability_profiles`: what each model is good at, axis by axis."""

from typing import Any

import dagster as dg

from wh_judge.assets.evaluations import GROUP
from wh_judge.assets.inputs import OWNERS, Events
from wh_judge.assets.metadata import markdown_table, picture, sentences
from wh_judge.automation import DEPS_UPDATED
from wh_judge.evaluation.profile import CapabilityProfiles, measure_profiles
from wh_judge.evaluation.profile_picture import profile_picture
from wh_judge.evaluation.scores import AXES
from wh_judge.resources import POOL, Warehouse
from wh_judge.store import evaluations


@dg.asset(
    deps=["verdicts"],
    group_name=GROUP,
    owners=OWNERS,
    kinds={"python", "scipy"},
    pool=POOL,
    automation_condition=DEPS_UPDATED,
    description="What each model is good at, from 0 to 100 on each axis (speech style, canon, forbidden topics, "
    "recall), with the number of valid turns: turns to prompts to characters to models, equal weights at each step. "
    "Correlations between axes, and differences between models paired by prompt with bootstrap intervals.",
)
def capability_profiles(context: dg.AssetExecutionContext, warehouse: Warehouse) -> Events:
    """One document: profiles, correlations, differences."""
    with warehouse.connect() as connection:
        profiles = measure_profiles(evaluations.read_scores(connection))
        evaluations.keep(connection, "capability_profiles", profiles, context.run.run_id)
    yield dg.MaterializeResult(metadata=_metadata(profiles))


def _metadata(profiles: CapabilityProfiles) -> dict[str, Any]:
    rows = [
        [p.model_id, points(p.overall), *(f"{points(axis.score)} ({axis.turns})" for axis in p.axes)]
        for p in profiles.profiles
    ]
    correlations = [
        [c.first, c.second, c.models, points(c.pearson, 2), points(c.low, 2), points(c.high, 2)]
        for c in profiles.correlations
    ]
    differences = [
        [pair.first, pair.second, axis.axis, axis.prompts, points(axis.difference), points(axis.low), points(axis.high)]
        for pair in profiles.differences
        for axis in pair.axes
    ]
    metadata: dict[str, Any] = {
        "models": len(profiles.profiles),
        "profiles": markdown_table(["model", "overall", *(f"{axis} (turns)" for axis in AXES)], rows),
        "correlations": markdown_table(["axis", "axis", "models", "r", "low", "high"], correlations),
        "differences": markdown_table(["model", "less model", "axis", "prompts", "points", "low", "high"], differences),
        "cautions": sentences("caution", profiles.cautions),
    }
    if profiles.profiles:
        metadata["picture"] = picture(profile_picture(profiles), "capability profiles")
    return metadata


def points(value: float | None, digits: int = 1) -> str:
    """A number for a table."""
    return "not defined" if value is None else f"{value:.{digits}f}"


def interval(low: float | None, high: float | None, digits: int) -> str:
    """An interval for a table."""
    return "not defined" if low is None or high is None else f"{low:.{digits}f} – {high:.{digits}f}"
