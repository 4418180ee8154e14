"""The agreement of judges with votes, from what stands in the warehouse now."""

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from wh_judge.evaluation.people import VoteAgreement, judged_by, measure_vote_agreement
from wh_judge.evaluation.ratings import rate
from wh_judge.evaluation.rejudge import judged_again
from wh_judge.rules import RuleSettings
from wh_judge.store.evaluations import read_scores
from wh_judge.store.votes import (
    read_other_judges,
    read_tallies,
    read_unplaced,
    read_voted_sessions,
    vote_table,
)
from wh_judge.votes.rows import RULES, RULES_KEPT


def agreement_now(connection: duckdb.DuckDBPyConnection, settings: RuleSettings) -> VoteAgreement:
    """All judges beside all votes.

    Of the judge of this program the verdicts in force are the first run, and its further runs judge the voted sessions
    again.
    """
    scores = read_scores(connection, prompted=True)
    voted = judged_again(*read_voted_sessions(connection), settings)
    stored = judged_by(scores, RULES, run="0")
    # A case without a vote says nothing of how stable the judge is on those that have one.
    stored = stored.filter(pc.is_in(stored["case_id"], voted["case_id"].combine_chunks()))
    kept = judged_by(scores, RULES_KEPT, "kept")
    judged = pa.concat_tables([stored, voted, kept, read_other_judges(connection)])
    ratings = rate(read_tallies(connection))
    return measure_vote_agreement(vote_table(connection), judged, ratings, read_unplaced(connection))
