"""The assets: thin. Each reads, calls one pure function, writes, and reports."""

from wh_judge.assets.arena import arena_ratings, votes
from wh_judge.assets.drafts import drafts
from wh_judge.assets.evaluations import gold_agreement, model_divergence
from wh_judge.assets.inputs import cards, lexicon
from wh_judge.assets.probe_results import probe_results
from wh_judge.assets.profiles import capability_profiles
from wh_judge.assets.published import published
from wh_judge.assets.turns import turns
from wh_judge.assets.verdicts import verdicts
from wh_judge.assets.vote_agreement import vote_agreement

ASSETS = [
    *(cards, lexicon, turns, verdicts, drafts),
    *(gold_agreement, model_divergence, capability_profiles, votes, arena_ratings, vote_agreement, probe_results),
    published,
]

__all__ = ["ASSETS"]
